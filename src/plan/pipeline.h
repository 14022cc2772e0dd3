/* pipeline.h: makespan of one training iteration's pipeline (1F1B, or interleaved with v chunks) as an event graph.
 * Pure.
 *
 * The shaped planner searches with it, the simulator replays with it. Times are whole picoseconds.
 * Operation order of a stage is Megatron-Core's: plain 1F1B for v = 1, its interleaved order for v > 1 (M a multiple of
 * pp).
 *
 * The work of one microbatch passes the pp * v virtual stages one after another, forward and then backward, so an
 * operation waits for two things only: its stage, and the same microbatch's operation before it. The order in which
 * both are known does not depend on the times: a graph is made once per shape and swept once per run, O(operations).
 */
#ifndef HYDRA_PLAN_PIPELINE_H
#define HYDRA_PLAN_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

struct hydra_pipeline {
    int stages;           /* pp >= 1 */
    int chunks;           /* v >= 1 */
    int64_t microbatches; /* M >= 1 */
};

struct hydra_pipeline_op {
    int64_t microbatch;
    int chunk;
    int backward; /* 0 forward, 1 backward */
};

/* One operation of a graph. Steps stand in an order in which each follows whatever it waits for. */
struct hydra_pipeline_step {
    int32_t stage;
    int32_t microbatch;
    int32_t place; /* in the stage's order, 0 .. 2*M*v - 1 */
    int16_t chunk;
    bool backward;
    bool crosses; /* its input comes from another stage */
};

struct hydra_pipeline_graph {
    struct hydra_pipeline shape;
    int64_t count; /* 2 * pp * v * M */
    struct hydra_pipeline_step *steps;
};

/* Groups of a whole plan, as the pipeline sees them: a group's slots start and end an operation together. */
struct hydra_pipeline_group {
    int64_t first; /* slot */
    int64_t size;
    int64_t forward; /* ps on one whole stage (a chunk takes 1/v of it) */
    int64_t backward;
};

/* Operation `place` of a stage's order. */
struct hydra_pipeline_op hydra_pipeline_op_at(const struct hydra_pipeline *shape, int stage, int64_t place);

/* Operations in each stage: 2 * M * v. ops [out] [2*M*v] in the order that `stage` runs them. */
int hydra_pipeline_order(const struct hydra_pipeline *shape, int stage, struct hydra_pipeline_op *ops);

/* Make a shape's graph. HYDRA_ERR_ARG: pp, v or M below 1, or v > 1 and M no multiple of pp; HYDRA_ERR_OVERFLOW. */
int hydra_pipeline_graph_make(const struct hydra_pipeline *shape, struct hydra_pipeline_graph *graph);
void hydra_pipeline_graph_clear(struct hydra_pipeline_graph *graph);

/* Makespan of one column, allocating nothing: for searches.
 * times [in] [2*M] ps of one whole stage, forward of m at 2m and backward at 2m + 1; their sum times v*pp below 2^62
 * scratch [pp + M] overwritten */
int64_t hydra_pipeline_graph_run(const struct hydra_pipeline_graph *graph, const int64_t *times, int64_t *scratch);

/* Makespan with a time of its own for each operation, e.g. uneven stages.
 * durations [in] [pp][2*M*v] ps, in each stage's order
 * delay     [in] ps that a result takes to the next stage, on top
 * start     [out] NULL or [pp][2*M*v] ps when each operation starts
 * scratch   [pp + M] overwritten */
int64_t hydra_pipeline_graph_replay(const struct hydra_pipeline_graph *graph, const int64_t *durations, int64_t delay,
                                    int64_t *start, int64_t *scratch);

/* Makespan of a whole plan: every slot is a column, and a group's slots wait for each other at every operation.
 * group_begin [in] [M + 1] microbatch m has groups [group_begin[m], group_begin[m+1]), not overlapping
 * groups      [in] their times; a slot without a group passes through in no time
 * scratch     [pp * pool + groups] overwritten
 * O(pp * v * M * pool). */
int64_t hydra_pipeline_graph_pool(const struct hydra_pipeline_graph *graph, int64_t pool, const int64_t *group_begin,
                                  const struct hydra_pipeline_group *groups, int64_t *scratch);

/* forward, backward [in] [M] ps of one microbatch on one whole stage (a chunk takes 1/v of it).
 * start [out] NULL or [stages][2*M*v] ps when each operation starts, in the stage's order.
 * makespan [out] ps from 0 until the last operation of the last stage to finish. */
int hydra_pipeline_run(const struct hydra_pipeline *shape, const int64_t *forward, const int64_t *backward,
                       int64_t *start, int64_t *makespan);

#endif
