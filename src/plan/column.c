/* column.c: a pipeline column that refuses changes which end later, by chains of operations it has seen. */
#include "plan/column.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

/* Which operation each one follows, on its stage and in its microbatch. scratch: stage then microbatch, overwritten. */
static void link_operations(struct hydra_column *column)
{
    const struct hydra_pipeline_graph *graph = column->graph;
    int64_t *stage_last = column->scratch, *microbatch_last = stage_last + graph->shape.stages;

    memset(column->scratch, 0xff,
           (size_t)(graph->shape.stages + graph->shape.microbatches) * sizeof *column->scratch); /* -1: none yet */
    for (int64_t i = 0; i < graph->count; i++) {
        const struct hydra_pipeline_step *step = &graph->steps[i];

        column->before[i][0] = (int32_t)microbatch_last[step->microbatch];
        column->before[i][1] = (int32_t)stage_last[step->stage];
        microbatch_last[step->microbatch] = stage_last[step->stage] = i;
    }
    for (int stage = 0; stage < graph->shape.stages; stage++)
        column->last_of_stage[stage] = (int32_t)stage_last[stage];
}

int hydra_column_make(const struct hydra_pipeline_graph *graph, struct hydra_column *column)
{
    int64_t count = graph->shape.microbatches;
    int status = HYDRA_SUCCESS;

    *column = (struct hydra_column){.graph = graph};
    column->times = hydra_calloc(2 * count, sizeof *column->times);
    column->scratch = hydra_calloc(graph->shape.stages + count, sizeof *column->scratch);
    column->after_stage = hydra_calloc(graph->count, sizeof *column->after_stage);
    column->before = hydra_calloc(graph->count, sizeof *column->before);
    column->last_of_stage = hydra_calloc(graph->shape.stages, sizeof *column->last_of_stage);
    column->passes = hydra_calloc(HYDRA_COLUMN_CHAINS * 2 * count, sizeof *column->passes);
    HYDRA_REQUIRE(column->times != NULL && column->scratch != NULL && column->after_stage != NULL &&
                      column->before != NULL && column->last_of_stage != NULL && column->passes != NULL,
                  HYDRA_ERR_NOMEM, "column of %lld microbatches", (long long)count);
    link_operations(column);
    return HYDRA_SUCCESS;

fail:
    hydra_column_clear(column);
    return status;
}

void hydra_column_clear(struct hydra_column *column)
{
    hydra_free(column->times);
    hydra_free(column->scratch);
    hydra_free(column->after_stage);
    hydra_free(column->before);
    hydra_free(column->last_of_stage);
    hydra_free(column->passes);
    *column = (struct hydra_column){0};
}

/* hydra_pipeline_graph_run that notes what each operation waited for. last [out] the stage that ends last.
 * Returns the makespan in 1/v ps. */
static int64_t run(struct hydra_column *column, int *last)
{
    const struct hydra_pipeline_graph *graph = column->graph;
    int64_t *ready = column->scratch, *arrived = ready + graph->shape.stages;

    column->runs++;
    memset(ready, 0, (size_t)(graph->shape.stages + graph->shape.microbatches) * sizeof *ready);
    for (int64_t i = 0; i < graph->count; i++) {
        const struct hydra_pipeline_step *step = &graph->steps[i];
        int64_t stage_ready = ready[step->stage], input = arrived[step->microbatch];
        int64_t begin = hydra_max(stage_ready, input);

        column->after_stage[i] = stage_ready >= input;
        ready[step->stage] = arrived[step->microbatch] = begin + column->times[2 * step->microbatch + step->backward];
    }
    *last = 0;
    for (int stage = 1; stage < graph->shape.stages; stage++)
        *last = ready[stage] > ready[*last] ? stage : *last;
    return ready[*last];
}

/* Keep the longest chain of the run just made, which ended on stage `last`: walk it backwards. */
static void keep_chain(struct hydra_column *column, int last)
{
    const struct hydra_pipeline_graph *graph = column->graph;
    int64_t slot = column->next, count = 2 * graph->shape.microbatches, length = 0;
    int32_t *passes = column->passes + slot * count;

    memset(passes, 0, (size_t)count * sizeof *passes);
    for (int32_t i = column->last_of_stage[last]; i >= 0; i = column->before[i][column->after_stage[i]]) {
        const struct hydra_pipeline_step *step = &graph->steps[i];
        int64_t time = 2 * step->microbatch + step->backward;

        passes[time]++;
        length += column->times[time];
    }
    column->next = (slot + 1) % HYDRA_COLUMN_CHAINS;
    column->nchains = hydra_max(column->nchains, slot + 1);
    column->lengths[slot] = length;
}

void hydra_column_begin(struct hydra_column *column)
{
    int last;

    column->nchains = column->next = 0;
    column->makespan = hydra_ceil_div(run(column, &last), column->graph->shape.chunks);
    keep_chain(column, last);
}

/* How much longer the chain gets by `more` on the times of microbatches i and j. */
static int64_t growth(const struct hydra_column *column, int64_t chain, int64_t i, int64_t j, const int64_t more[4])
{
    const int32_t *passes = column->passes + chain * 2 * column->graph->shape.microbatches;

    return passes[2 * i] * more[0] + passes[2 * i + 1] * more[1] + passes[2 * j] * more[2] +
           passes[2 * j + 1] * more[3];
}

/* Does a chain say that this ends later? The newest is asked first. */
static bool refused(const struct hydra_column *column, int64_t i, int64_t j, const int64_t more[4])
{
    int64_t limit = column->makespan * column->graph->shape.chunks;

    for (int64_t back = 1; back <= column->nchains; back++) {
        int64_t chain = (column->next + HYDRA_COLUMN_CHAINS - back) % HYDRA_COLUMN_CHAINS;

        if (column->lengths[chain] + growth(column, chain, i, j, more) > limit)
            return true;
    }
    return false;
}

static void add(struct hydra_column *column, int64_t i, int64_t j, const int64_t more[4], int sign)
{
    for (int part = 0; part < 2; part++) {
        column->times[2 * i + part] += sign * more[part];
        column->times[2 * j + part] += sign * more[2 + part];
    }
}

bool hydra_column_change(struct hydra_column *column, int64_t i, const int64_t times_i[2], int64_t j,
                         const int64_t times_j[2])
{
    const int64_t *times = column->times;
    const int64_t more[4] = {times_i[0] - times[2 * i], times_i[1] - times[2 * i + 1], times_j[0] - times[2 * j],
                             times_j[1] - times[2 * j + 1]};
    int64_t end, makespan;
    bool known = false;
    int last;

    if (i == j)
        return true;
    if (refused(column, i, j, more))
        return false;
    add(column, i, j, more, 1);
    end = run(column, &last);
    makespan = hydra_ceil_div(end, column->graph->shape.chunks);
    if (makespan > column->makespan) {
        add(column, i, j, more, -1);
        keep_chain(column, last);
        return false;
    }
    for (int64_t chain = 0; chain < column->nchains; chain++) {
        column->lengths[chain] += growth(column, chain, i, j, more);
        known |= column->lengths[chain] == end;
    }
    column->makespan = makespan;
    if (!known)
        keep_chain(column, last);
    return true;
}
