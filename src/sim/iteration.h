/* iteration.h: one training iteration as an event graph: every slot is a column of pipeline stages; groups and
 * expert-parallel blocks tie the slots of a stage together in every layer. Knows no model, cluster or schedule.
 *
 * Times are whole picoseconds, so that sums are exact and equal input gives equal results everywhere. Every result is
 * made of sums and maxima of the costs: raising any cost lowers no time.
 */
#ifndef HYDRA_SIM_ITERATION_H
#define HYDRA_SIM_ITERATION_H

#include <stdint.h>

#include "plan/pipeline.h"

/* Slots that meet in every layer of a microbatch: a context-parallel group, or one slot alone. Costs of one layer. */
struct hydra_work_group {
    int64_t first;
    int64_t size;
    int64_t compute[2]; /* [0] forward, [1] backward */
    int64_t comm[2];    /* exposed communication */
    int64_t hop;        /* sending the result to the next stage */
};

/* Experts of one block in one layer: every slot of the block waits for the others before and after. */
struct hydra_work_block {
    int64_t compute[2];
    int64_t comm[2];
};

struct hydra_work {
    int64_t pool;        /* G */
    int64_t layers;      /* meetings in one operation, at least 1 */
    int64_t block_slots; /* slots of a block, the last one may be smaller; 0: no blocks */
    int64_t nblocks;
    struct hydra_pipeline shape;
    int64_t *group_begin; /* [M + 1]; the groups of a microbatch cover the pool in ascending order */
    struct hydra_work_group *groups;
    struct hydra_work_block *blocks; /* [M][nblocks], NULL without */
    int64_t planning;                /* before the first operation */
    int64_t reduce;                  /* gradient reduction of a stage, after its slowest slot */
    int64_t optimizer;               /* after the last reduction */
};

struct hydra_disturbance {
    double noise; /* standard deviation of an operation's compute, relative, 0..1 */
    uint64_t seed;
    int64_t slow_slot;  /* -1: none */
    double slow_factor; /* its compute takes this many times longer, >= 1 */
};

#define HYDRA_DISTURBANCE_NONE ((struct hydra_disturbance){0.0, 0, -1, 1.0})

/* Picoseconds summed over slots: 100,000 slots of 100 s pass 2^63. */
typedef __int128 hydra_slot_time;

/* Where a stage's time goes, summed over its slots. The parts of a stage add up to time x pool exactly. */
struct hydra_stage_time {
    hydra_slot_time planning;
    hydra_slot_time compute;
    hydra_slot_time comm;     /* exposed */
    hydra_slot_time meeting;  /* waiting for other slots inside an operation */
    hydra_slot_time pipeline; /* waiting between operations, at the start, and for other stages at the end */
    hydra_slot_time replicas; /* waiting for the slowest slot before the gradient reduction */
    hydra_slot_time reduce;
    hydra_slot_time optimizer;
};

/* Operations of some columns as they ran, for pictures. */
struct hydra_trace {
    int64_t nslots;       /* [in] */
    const int64_t *slots; /* [in] [nslots] ascending */
    int64_t *start;       /* [out] [nslots][pp][2*M*v] ps, in the stage's order; caller's */
    int64_t *end;
    int64_t *last;    /* [out] [nslots][pp] end of the last operation */
    int64_t *reduced; /* [out] [pp] end of the stage's gradient reduction */
};

struct hydra_iteration {
    int64_t time;                    /* of the whole iteration */
    struct hydra_stage_time *stages; /* [pp] */
    struct hydra_stage_time *first;  /* [pp] slot 0 alone: what a profiler on rank 0 sees; adds up to time */
    double variation;                /* coefficient of variation of the microbatches' forward times over slots */
};

/* Replay the work. trace [in,out] NULL or what to record. result [out] set only on success; hydra_iteration_clear. */
int hydra_iteration_run(const struct hydra_work *work, const struct hydra_disturbance *disturbance,
                        struct hydra_trace *trace, struct hydra_iteration *result);
void hydra_iteration_clear(struct hydra_iteration *result);

void hydra_work_clear(struct hydra_work *work);

#endif
