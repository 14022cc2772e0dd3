/* shape_targets.h: how much time each microbatch of an iteration should take, so that one pipeline column ends early.
 *
 * Equal microbatches are not the best for a pipeline: small first and last ones fill and drain it sooner, and one long
 * document hides best where the column has slack. Pure; integers and a seeded generator: the same on every machine. */
#ifndef HYDRA_PLAN_SHAPE_TARGETS_H
#define HYDRA_PLAN_SHAPE_TARGETS_H

#include <stdint.h>

#include "plan/pipeline.h"

struct hydra_shape_problem {
    const struct hydra_pipeline_graph *graph; /* M and the pipeline */
    int64_t total;                         /* ps, forward and backward of one slot, to spread over the microbatches */
    int64_t fixed_forward, fixed_backward; /* ps that every microbatch takes besides */
    int64_t forward_share;                 /* of a microbatch's time, in 2^20ths */
    int64_t *floors; /* [M] least times, in any order: what documents that fill a microbatch alone need. Reordered */
    uint64_t seed;
    int64_t steps; /* tries of the local search */
};

/* targets [out] [M] ps, floors[m] <= targets[m] in the floors' new order, their sum the total (or the floors' sum when
 * that is greater). scratch [5*M + pp] overwritten. makespan [out] the column's, in ps. HYDRA_ERR_NOMEM only. */
int hydra_shape_targets(const struct hydra_shape_problem *problem, int64_t *targets, int64_t *scratch,
                        int64_t *makespan);

#endif
