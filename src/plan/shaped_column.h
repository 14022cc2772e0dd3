/* shaped_column.h: what a batch asks of one pipeline column: its work, room for its giants, and how early it could end.
 * The shaped policy poses its targets here. Pure. */
#ifndef HYDRA_PLAN_SHAPED_COLUMN_H
#define HYDRA_PLAN_SHAPED_COLUMN_H

#include <stdint.h>

#include "plan/batch.h"
#include "plan/cost.h"
#include "plan/shape_targets.h"
#include "plan/shaped_pack.h"

/* What every try of one batch shares; read only while tries run. */
struct hydra_shaped {
    const struct hydra_batch *batch;
    const struct hydra_cost *cost;
    struct hydra_pack_batch documents;
    int64_t fixed_forward, fixed_backward; /* ps of every microbatch */
    __int128 least_work;                   /* ps * slots, every document on its least degree */
};

int hydra_shaped_make(const struct hydra_batch *batch, const struct hydra_cost *cost, struct hydra_shaped *shaped);
void hydra_shaped_clear(struct hydra_shaped *shaped);

/* Steps that a local search over a column may take: few for long pipelines and for small batches. */
int64_t hydra_shaped_steps(const struct hydra_shaped *shaped, const struct hydra_pipeline_graph *graph, int64_t most);

/* The column problem of the graph's M microbatches; variants differ in their start. floors [out] [M] the problem's. */
void hydra_shaped_pose(const struct hydra_shaped *shaped, const struct hydra_pipeline_graph *graph, int variant,
                       int64_t *floors, struct hydra_shape_problem *problem);

/* Makespan of one column if M microbatches packed perfectly, roughly: without a search. */
int hydra_shaped_estimate(const struct hydra_shaped *shaped, int64_t microbatches, int64_t *makespan);

#endif
