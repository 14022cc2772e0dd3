/* column.h: one pipeline column under a local search that changes two microbatches at a time. Pure.
 *
 * A makespan is the length of the longest chain of operations, each waiting for the one before. Which chains there are
 * does not depend on the times: one that was longest once bounds every later makespan from below. Most changes that
 * would end later are refused by such a chain, in a few multiplications instead of a run of the whole column. */
#ifndef HYDRA_PLAN_COLUMN_H
#define HYDRA_PLAN_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/pipeline.h"

enum { HYDRA_COLUMN_CHAINS = 32 };

struct hydra_column {
    const struct hydra_pipeline_graph *graph; /* borrowed */
    int64_t *times;                           /* [2*M] as hydra_pipeline_graph_run takes them */
    int64_t makespan;                         /* ps */
    int64_t runs;                             /* of the whole column so far */
    int64_t *scratch;                         /* [pp + M] */
    bool *after_stage;                        /* [operations] waited for its stage last, not for its microbatch */
    int32_t (*before)[2];                 /* [operations] the one before in its microbatch, on its stage; -1: none */
    int32_t *last_of_stage;               /* [pp] */
    int64_t nchains, next;                /* the newest replaces the oldest */
    int64_t lengths[HYDRA_COLUMN_CHAINS]; /* under `times`, in 1/v ps */
    int32_t *passes;                      /* [CHAINS][2*M] how often the chain passes each of the times */
};

/* A column of the graph, all times 0; the caller fills `times` and calls hydra_column_begin. HYDRA_ERR_NOMEM only. */
int hydra_column_make(const struct hydra_pipeline_graph *graph, struct hydra_column *column);
void hydra_column_clear(struct hydra_column *column);

/* Run the column as its times are. */
void hydra_column_begin(struct hydra_column *column);

/* Give microbatches i and j other times (forward, backward) unless that ends later. Returns whether they have them;
 * `makespan` is then the new one. i == j is no change. */
bool hydra_column_change(struct hydra_column *column, int64_t i, const int64_t times_i[2], int64_t j,
                         const int64_t times_j[2]);

#endif
