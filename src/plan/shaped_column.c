/* shaped_column.c: the column problem of a batch: how much work, how much time its giants need,
 * which targets to try. */
#include "plan/shaped_column.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

enum { TARGET_STEPS = 3000 }; /* of the search for targets, at most */

/* Work of the long documents, ps * slots, each at the least degree within `cap`, or else at its fastest. */
static __int128 long_work(const struct hydra_pack_batch *documents, int64_t cap)
{
    __int128 work = 0;

    for (int64_t d = 0; d < documents->nlong; d++) {
        const struct hydra_pack_document *document = &documents->documents[d];
        int level = hydra_pack_level_within(documents, document, hydra_pack_memory_level(documents, document), cap);
        int64_t time;

        if (level == documents->nlevels)
            level = hydra_pack_fast_level(documents, document, &time);
        else
            time = hydra_pack_time(&documents->levels[level], document->weight, document->tokens);
        work += (__int128)time * documents->levels[level].size;
    }
    return work;
}

/* Documents that take more than 0.4 of an average microbatch even at their fastest need microbatches that are long
 * enough: side by side on the degrees that `cap` allows, they fill the pool row by row, and a row's time is a floor. */
static void set_floors(const struct hydra_pack_batch *documents, int64_t average, int64_t cap, int64_t microbatches,
                       int64_t *floors)
{
    int64_t row = -1, free_slots = 0, time;

    for (int64_t m = 0; m < microbatches; m++)
        floors[m] = 0;
    for (int64_t d = 0; d < documents->nlong; d++) {
        const struct hydra_pack_document *document = &documents->documents[d];
        int fast = hydra_pack_fast_level(documents, document, &time);
        int level = hydra_pack_level_within(documents, document, hydra_pack_memory_level(documents, document), cap);
        int64_t size = documents->levels[hydra_min(level, fast)].size;

        if (time <= average / 5 * 2 || (free_slots < size && row == microbatches - 1))
            break;
        if (free_slots < size) {
            floors[++row] = time;
            free_slots = documents->pool;
        }
        free_slots -= size;
    }
}

/* Most time that a document may take alone in one of M microbatches: a quarter over the average (targets differ), and
 * what the slowest document needs anyway. */
static int64_t lone_cap(const struct hydra_shaped *shaped, int64_t microbatches)
{
    int64_t average = (int64_t)(shaped->least_work / shaped->documents.pool / microbatches) + 4;

    return hydra_max(average + average / 4, shaped->documents.slowest);
}

/* Work of all documents with M microbatches, ps * slots. */
static __int128 work_of(const struct hydra_shaped *shaped, int64_t microbatches)
{
    return long_work(&shaped->documents, lone_cap(shaped, microbatches)) + shaped->documents.short_work;
}

int64_t hydra_shaped_steps(const struct hydra_shaped *shaped, const struct hydra_pipeline_graph *graph, int64_t most)
{
    return hydra_min(most, hydra_min(((int64_t)1 << 20) / graph->count, 4 * shaped->batch->ndocs) + 100);
}

void hydra_shaped_pose(const struct hydra_shaped *shaped, const struct hydra_pipeline_graph *graph, int variant,
                       int64_t *floors, struct hydra_shape_problem *problem)
{
    /* The work is an estimate: variants start from a little less and a little more of it. */
    static const int percent[] = {102, 97, 107};
    int64_t count = graph->shape.microbatches;

    *problem = (struct hydra_shape_problem){
        .graph = graph,
        .total = (int64_t)(work_of(shaped, count) * percent[variant % 3] / 100 / shaped->documents.pool),
        .fixed_forward = shaped->fixed_forward,
        .fixed_backward = shaped->fixed_backward,
        .forward_share = (int64_t)(0x1p20 / (1 + hydra_rate_value(shaped->cost->backward_compute))),
        .floors = floors,
        .seed = shaped->batch->options->seed + (uint64_t)variant,
        .steps = hydra_shaped_steps(shaped, graph, TARGET_STEPS),
    };
    set_floors(&shaped->documents, problem->total / count, lone_cap(shaped, count), count, floors);
}

int hydra_shaped_estimate(const struct hydra_shaped *shaped, int64_t microbatches, int64_t *makespan)
{
    const Hydra_Plan_options *options = shaped->batch->options;
    struct hydra_pipeline shape = {options->pipeline_stages, options->pipeline_chunks, microbatches};
    struct hydra_pipeline_graph graph = {0};
    struct hydra_shape_problem problem;
    int64_t *numbers = hydra_calloc(8 * microbatches + shape.stages, sizeof *numbers); /* floors, targets, scratch */
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(numbers != NULL, HYDRA_ERR_NOMEM, "estimate of %lld microbatches", (long long)microbatches);
    HYDRA_TRY(hydra_pipeline_graph_make(&shape, &graph));
    hydra_shaped_pose(shaped, &graph, 0, numbers, &problem);
    problem.steps = 0;
    HYDRA_TRY(hydra_shape_targets(&problem, numbers + microbatches, numbers + 3 * microbatches, makespan));
fail:
    hydra_free(numbers);
    hydra_pipeline_graph_clear(&graph);
    return status;
}

int hydra_shaped_make(const struct hydra_batch *batch, const struct hydra_cost *cost, struct hydra_shaped *shaped)
{
    int status = HYDRA_SUCCESS;

    *shaped = (struct hydra_shaped){
        .batch = batch,
        .cost = cost,
        .fixed_forward = cost->fixed,
        .fixed_backward = hydra_rate_apply(cost->backward_compute, (hydra_weight)cost->fixed),
    };
    HYDRA_TRY(hydra_pack_batch_make(batch, cost, &shaped->documents));
    shaped->least_work = long_work(&shaped->documents, INT64_MAX) + shaped->documents.short_work;
fail:
    return status;
}

void hydra_shaped_clear(struct hydra_shaped *shaped)
{
    hydra_pack_batch_clear(&shaped->documents);
}
