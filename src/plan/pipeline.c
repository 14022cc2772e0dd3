/* pipeline.c: the pipeline's event graph: operation order, graph, and the sweeps over it. */
#include "plan/pipeline.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

/* The k-th forward of a stage under Megatron-Core's interleaving: pp microbatches a chunk, chunk after chunk. */
static struct hydra_pipeline_op virtual_op(const struct hydra_pipeline *shape, int64_t k, int backward)
{
    int64_t round = (int64_t)shape->stages * shape->chunks;
    int chunk = shape->chunks == 1 ? 0 : (int)(k % round / shape->stages);
    int64_t microbatch = shape->chunks == 1 ? k : k / round * shape->stages + k % shape->stages;

    return (struct hydra_pipeline_op){microbatch, backward ? shape->chunks - 1 - chunk : chunk, backward};
}

/* Forwards that a stage runs before its first backward. */
static int64_t warmup_of(const struct hydra_pipeline *shape, int stage)
{
    int64_t behind = shape->stages - 1 - stage;
    int64_t warmup = shape->chunks == 1 ? behind : 2 * behind + (int64_t)(shape->chunks - 1) * shape->stages;

    return hydra_min(warmup, shape->microbatches * shape->chunks);
}

struct hydra_pipeline_op hydra_pipeline_op_at(const struct hydra_pipeline *shape, int stage, int64_t place)
{
    int64_t forwards = shape->microbatches * shape->chunks;
    int64_t warmup = warmup_of(shape, stage);

    if (place < warmup)
        return virtual_op(shape, place, 0);
    if (place >= 2 * forwards - warmup)
        return virtual_op(shape, place - forwards, 1);
    /* Steady state: one forward, one backward. */
    return (place - warmup) % 2 == 0 ? virtual_op(shape, warmup + (place - warmup) / 2, 0)
                                     : virtual_op(shape, (place - warmup) / 2, 1);
}

static int shape_check(const struct hydra_pipeline *shape)
{
    int status = HYDRA_SUCCESS;
    int64_t count;

    HYDRA_REQUIRE(shape->stages >= 1 && shape->chunks >= 1 && shape->microbatches >= 1, HYDRA_ERR_ARG,
                  "pipeline of %d stages, %d chunks and %lld microbatches: each must be at least 1", shape->stages,
                  shape->chunks, (long long)shape->microbatches);
    HYDRA_REQUIRE(shape->chunks == 1 || shape->microbatches % shape->stages == 0, HYDRA_ERR_ARG,
                  "interleaved pipeline: %lld microbatches are no multiple of %d stages",
                  (long long)shape->microbatches, shape->stages);
    HYDRA_REQUIRE(shape->chunks <= INT16_MAX && shape->microbatches <= INT32_MAX / 2 &&
                      !__builtin_mul_overflow(2 * shape->microbatches * shape->chunks, shape->stages, &count) &&
                      2 * shape->microbatches * shape->chunks <= INT32_MAX,
                  HYDRA_ERR_OVERFLOW, "pipeline of %d stages, %d chunks and %lld microbatches has too many operations",
                  shape->stages, shape->chunks, (long long)shape->microbatches);
fail:
    return status;
}

int hydra_pipeline_order(const struct hydra_pipeline *shape, int stage, struct hydra_pipeline_op *ops)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(shape_check(shape));
    HYDRA_REQUIRE(stage >= 0 && stage < shape->stages, HYDRA_ERR_ARG, "stage %d of a pipeline of %d", stage,
                  shape->stages);
    for (int64_t place = 0; place < 2 * shape->microbatches * shape->chunks; place++)
        ops[place] = hydra_pipeline_op_at(shape, stage, place);
fail:
    return status;
}

/* How many operations a microbatch has behind it when this one is next: forward through all
 * virtual stages, then back. */
static int64_t turn_of(const struct hydra_pipeline *shape, int stage, const struct hydra_pipeline_op *op)
{
    int64_t virtual_stage = (int64_t)op->chunk * shape->stages + stage;
    int64_t last = 2 * (int64_t)shape->stages * shape->chunks - 1;

    return op->backward ? last - virtual_stage : virtual_stage;
}

/* Run each stage as far as its inputs allow, over and over, and note the order. */
static int fill_steps(struct hydra_pipeline_graph *graph, int64_t *place, int64_t *turn)
{
    const struct hydra_pipeline *shape = &graph->shape;
    int64_t per_stage = 2 * shape->microbatches * shape->chunks;
    int64_t made = 0, before = -1;

    while (made < graph->count && made != before) {
        before = made;
        for (int stage = 0; stage < shape->stages; stage++) {
            for (; place[stage] < per_stage; place[stage]++) {
                struct hydra_pipeline_op op = hydra_pipeline_op_at(shape, stage, place[stage]);
                int64_t at = turn_of(shape, stage, &op);

                if (turn[op.microbatch] != at)
                    break;
                turn[op.microbatch]++;
                graph->steps[made++] = (struct hydra_pipeline_step){
                    .stage = stage,
                    .microbatch = (int32_t)op.microbatch,
                    .place = (int32_t)place[stage],
                    .chunk = (int16_t)op.chunk,
                    .backward = op.backward,
                    .crosses = shape->stages > 1 && at > 0 && at != (int64_t)shape->stages * shape->chunks,
                };
            }
        }
    }
    return made == graph->count ? HYDRA_SUCCESS
                                : hydra_error(HYDRA_ERR_INTERNAL, "pipeline order of %d stages deadlocks at step %lld",
                                              shape->stages, (long long)made);
}

int hydra_pipeline_graph_make(const struct hydra_pipeline *shape, struct hydra_pipeline_graph *graph)
{
    struct hydra_pipeline_graph made = {.shape = *shape};
    int64_t *counters = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(shape_check(shape));
    made.count = 2 * shape->microbatches * shape->chunks * shape->stages;
    made.steps = hydra_alloc(made.count, sizeof *made.steps);
    counters = hydra_calloc(shape->stages + shape->microbatches, sizeof *counters);
    HYDRA_REQUIRE(made.steps != NULL && counters != NULL, HYDRA_ERR_NOMEM, "pipeline graph of %lld operations",
                  (long long)made.count);
    HYDRA_TRY(fill_steps(&made, counters, counters + shape->stages));
    hydra_free(counters);
    *graph = made;
    return HYDRA_SUCCESS;

fail:
    hydra_free(counters);
    hydra_pipeline_graph_clear(&made);
    return status;
}

void hydra_pipeline_graph_clear(struct hydra_pipeline_graph *graph)
{
    hydra_free(graph->steps);
    graph->steps = NULL;
    graph->count = 0;
}

/* The greatest of n times. */
static int64_t latest(const int64_t *times, int64_t n)
{
    int64_t most = 0;

    for (int64_t i = 0; i < n; i++)
        most = hydra_max(most, times[i]);
    return most;
}

int64_t hydra_pipeline_graph_run(const struct hydra_pipeline_graph *graph, const int64_t *times, int64_t *scratch)
{
    int64_t *ready = scratch;                         /* [pp] when the stage is free */
    int64_t *arrived = scratch + graph->shape.stages; /* [M] when the microbatch's last operation ended */

    memset(scratch, 0, (size_t)(graph->shape.stages + graph->shape.microbatches) * sizeof *scratch);
    /* The clock counts 1/v ps, so that a chunk's share of a time is whole. */
    for (int64_t i = 0; i < graph->count; i++) {
        const struct hydra_pipeline_step *step = &graph->steps[i];
        int64_t begin = hydra_max(ready[step->stage], arrived[step->microbatch]);

        ready[step->stage] = arrived[step->microbatch] = begin + times[2 * step->microbatch + step->backward];
    }
    return hydra_ceil_div(latest(ready, graph->shape.stages), graph->shape.chunks);
}

int64_t hydra_pipeline_graph_replay(const struct hydra_pipeline_graph *graph, const int64_t *durations, int64_t delay,
                                    int64_t *start, int64_t *scratch)
{
    int64_t per_stage = 2 * graph->shape.microbatches * graph->shape.chunks;
    int64_t *ready = scratch, *arrived = scratch + graph->shape.stages;

    memset(scratch, 0, (size_t)(graph->shape.stages + graph->shape.microbatches) * sizeof *scratch);
    for (int64_t i = 0; i < graph->count; i++) {
        const struct hydra_pipeline_step *step = &graph->steps[i];
        int64_t at = step->stage * per_stage + step->place;
        int64_t begin = hydra_max(ready[step->stage], arrived[step->microbatch] + (step->crosses ? delay : 0));

        if (start != NULL)
            start[at] = begin;
        ready[step->stage] = arrived[step->microbatch] = begin + durations[at];
    }
    return latest(ready, graph->shape.stages);
}

int64_t hydra_pipeline_graph_pool(const struct hydra_pipeline_graph *graph, int64_t pool, const int64_t *group_begin,
                                  const struct hydra_pipeline_group *groups, int64_t *scratch)
{
    int64_t slots = graph->shape.stages * pool;
    int64_t *arrived = scratch + slots; /* [groups] when the group's last operation ended */

    memset(scratch, 0, (size_t)(slots + group_begin[graph->shape.microbatches]) * sizeof *scratch);
    for (int64_t i = 0; i < graph->count; i++) {
        const struct hydra_pipeline_step *step = &graph->steps[i];

        for (int64_t g = group_begin[step->microbatch]; g < group_begin[step->microbatch + 1]; g++) {
            int64_t *ready = scratch + step->stage * pool + groups[g].first, size = groups[g].size;
            int64_t begin = hydra_max(arrived[g], ready[0]);
            int64_t end = (size == 1 ? begin : hydra_max(begin, latest(ready + 1, size - 1))) +
                          (step->backward ? groups[g].backward : groups[g].forward);

            arrived[g] = ready[0] = end;
            for (int64_t slot = 1; slot < size; slot++)
                ready[slot] = end;
        }
    }
    return hydra_ceil_div(latest(scratch, slots), graph->shape.chunks);
}

int hydra_pipeline_run(const struct hydra_pipeline *shape, const int64_t *forward, const int64_t *backward,
                       int64_t *start, int64_t *makespan)
{
    struct hydra_pipeline_graph graph = {0};
    int64_t *scratch = NULL, *durations = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_pipeline_graph_make(shape, &graph));
    durations = hydra_alloc(graph.count, sizeof *durations);
    scratch = hydra_alloc(shape->stages + shape->microbatches, sizeof *scratch);
    HYDRA_REQUIRE(durations != NULL && scratch != NULL, HYDRA_ERR_NOMEM, "pipeline run of %lld operations",
                  (long long)graph.count);
    for (int64_t i = 0; i < graph.count; i++) {
        const struct hydra_pipeline_step *step = &graph.steps[i];

        durations[step->stage * (graph.count / shape->stages) + step->place] =
            (step->backward ? backward : forward)[step->microbatch];
    }
    /* Durations are whole stages': the clock counts 1/v ps. */
    *makespan = hydra_ceil_div(hydra_pipeline_graph_replay(&graph, durations, 0, start, scratch), shape->chunks);
    for (int64_t i = 0; start != NULL && i < graph.count; i++)
        start[i] /= shape->chunks;
fail:
    hydra_free(durations);
    hydra_free(scratch);
    hydra_pipeline_graph_clear(&graph);
    return status;
}
