/* pipeline.h: makespan of one pipeline column (1F1B, or interleaved with v chunks) as an event graph. Pure.
 *
 * The shaped planner searches with it, the simulator replays with it. Times are whole picoseconds.
 * Operation order of a stage is Megatron-Core's: plain 1F1B for v = 1, its interleaved order for v > 1 (M a multiple of pp).
 */
#ifndef HYDRA_PLAN_PIPELINE_H
#define HYDRA_PLAN_PIPELINE_H

#include <stdint.h>

struct hydra_pipeline {
    int stages;            /* pp >= 1 */
    int chunks;            /* v >= 1 */
    int64_t microbatches;  /* M >= 1 */
};

struct hydra_pipeline_op {
    int64_t microbatch;
    int chunk;
    int backward;          /* 0 forward, 1 backward */
};

/* Operations in each stage: 2 * M * v. ops [out] [2*M*v] in the order that `stage` runs them. */
int hydra_pipeline_order(const struct hydra_pipeline *shape, int stage, struct hydra_pipeline_op *ops);

/* forward, backward [in] [M] ps of one microbatch on one whole stage (a chunk takes 1/v of it).
 * start [out] NULL or [stages][2*M*v] ps when each operation starts, in the stage's order.
 * makespan [out] ps from 0 until the last operation of the last stage to finish. */
int hydra_pipeline_run(const struct hydra_pipeline *shape, const int64_t *forward, const int64_t *backward,
                       int64_t *start, int64_t *makespan);

#endif
