/* paper.h: HyDra's evaluation (arXiv 2609.34318, sections 6.2-6.4), reproduced row by row. */
#ifndef HYDRA_SIM_PAPER_H
#define HYDRA_SIM_PAPER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/job.h"

/* The systems compared; each is a policy with the communication that it is run with. */
enum hydra_paper_system {
    HYDRA_PAPER_HYDRA,
    HYDRA_PAPER_MCORE,
    HYDRA_PAPER_STATIC,
    HYDRA_PAPER_RING,
    HYDRA_PAPER_BYTESCALE,
    HYDRA_PAPER_WLB,
    HYDRA_PAPER_FLEXSP,
    HYDRA_PAPER_SYSTEMS
};

/* The jobs that are replayed, and two names for means over the simulated sizes. */
enum hydra_paper_setting {
    HYDRA_PAPER_T32,
    HYDRA_PAPER_T256,
    HYDRA_PAPER_P2048,
    HYDRA_PAPER_P2048F,
    HYDRA_PAPER_HY8K,
    HYDRA_PAPER_HY16K,
    HYDRA_PAPER_HY24K,
    HYDRA_PAPER_HY32K,
    HYDRA_PAPER_HY40K,
    HYDRA_PAPER_DS8K,
    HYDRA_PAPER_DS16K,
    HYDRA_PAPER_DS24K,
    HYDRA_PAPER_DS32K,
    HYDRA_PAPER_DS40K,
    HYDRA_PAPER_SETTINGS,
    HYDRA_PAPER_HYWEAK = HYDRA_PAPER_SETTINGS,
    HYDRA_PAPER_DSWEAK
};

enum { HYDRA_PAPER_SIZES = 5 };

/* What remains of a run. */
struct hydra_paper_cell {
    bool known;
    char why[160]; /* it is not */
    struct hydra_policy_result result;
    struct hydra_shares shares;
    struct hydra_shares first; /* slot 0 */
    double degree_share[64];
};

struct hydra_paper {
    struct hydra_paper_cell cells[HYDRA_PAPER_SETTINGS][HYDRA_PAPER_SYSTEMS];
};

/* Replay every setting under every system. batches: of each setting up to 2,048 GPUs; the larger ones take an eighth of
 * it, at least one. */
int hydra_paper_fill(int64_t batches, uint64_t seed, struct hydra_paper *paper);

/* Print the rows: the paper's value, ours, and whether ours lies in the paper's range or within a tenth of its mean. */
void hydra_paper_print(FILE *to, const struct hydra_paper *paper);
void hydra_paper_print_json(FILE *to, const struct hydra_paper *paper);

/* Rows that count, and how many of them agree. */
void hydra_paper_count(const struct hydra_paper *paper, int *counted, int *agreeing);

#endif
