/* predict.h: iteration time of a plan under the integer cost model. Pure.
 *
 * Every slot is a column of the pipeline; a group's slots start and end each operation together. Interleaved pipelines
 * take M rounded up to a multiple of pp, with empty microbatches. */
#ifndef HYDRA_PLAN_PREDICT_H
#define HYDRA_PLAN_PREDICT_H

#include <stdint.h>

#include "plan/batch.h"
#include "plan/cost.h"
#include "plan/draft.h"
#include "plan/pipeline.h"
#include "plan/schedule.h"

/* A plan's groups by microbatch, with what each of a group's ranks carries. */
struct hydra_columns {
    int64_t pool;
    int64_t microbatches; /* as the pipeline runs them */
    int64_t *group_begin; /* [microbatches + 1] */
    struct hydra_pipeline_group *groups;
    hydra_weight *weight; /* [groups] of all documents of a group */
    int64_t *tokens;      /* [groups] likewise */
};

/* Room for so many groups, all zero. stages, chunks: of the pipeline, which may run more microbatches. */
int hydra_columns_make(int64_t pool, int64_t microbatches, int64_t groups, int stages, int chunks,
                       struct hydra_columns *columns);

/* Groups of a schedule or of a draft (those with documents), without times. */
int hydra_columns_of_schedule(const struct hydra_schedule *schedule, int stages, int chunks,
                              struct hydra_columns *columns);
int hydra_columns_of_draft(const struct hydra_batch *batch, const struct hydra_draft *draft,
                           struct hydra_columns *columns);
void hydra_columns_clear(struct hydra_columns *columns);

/* Set every group's times from a cost model, by the factor of its size. */
void hydra_columns_time(struct hydra_columns *columns, const struct hydra_cost *cost);

/* Makespan in ps of the columns as timed; at most INT64_MAX / 2. */
int hydra_columns_run(const struct hydra_columns *columns, int stages, int chunks, int64_t *makespan);

/* Iteration time of a draft under batch->options' pipeline and a cost model. */
int hydra_predict_draft(const struct hydra_batch *batch, const struct hydra_draft *draft, const struct hydra_cost *cost,
                        int64_t *makespan);

/* Iteration time of a schedule under its own cost model and factors, in seconds; 0 when it has no cost model. */
int hydra_predict_schedule(const struct hydra_schedule *schedule, double *seconds);

#endif
