/* shaped_try.c: one try of the shaped policy: shape the targets, pack under the least multiple of them, order the
 * microbatches by what came out, and run the whole plan through the pipeline. */
#include "plan/shaped_try.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "plan/column.h"
#include "plan/pipeline.h"
#include "plan/predict.h"
#include "plan/shape_targets.h"

enum {
    SCALE = 64,        /* caps are f/SCALE of the targets */
    ORDER_STEPS = 2000 /* of the search for a better order, at most */
};

static bool pack_within(struct hydra_shaped_try *it, const int64_t *targets, int64_t scale, int64_t *caps)
{
    for (int64_t m = 0; m < it->microbatches; m++)
        caps[m] = (int64_t)((__int128)targets[m] * scale / SCALE) + 1;
    return hydra_pack_long(&it->pack, caps);
}

/* The least scale under which everything packs, found by doubling steps and bisection; false when none does. */
static bool pack_tightly(struct hydra_shaped_try *it, const int64_t *targets, int64_t *caps)
{
    int64_t fails = -1, packs = -1, tried = SCALE;
    bool packed;

    for (int64_t step = 2; fails < 0 || packs < 0; step *= 2) {
        packed = pack_within(it, targets, tried, caps);
        *(packed ? &packs : &fails) = tried;
        tried += packed ? -step : step;
        if (tried > 6 * SCALE)
            return false;
        if (tried < SCALE / 4)
            fails = tried;
    }
    while (packs - fails > 1) {
        tried = (packs + fails) / 2;
        packed = pack_within(it, targets, tried, caps);
        *(packed ? &packs : &fails) = tried;
    }
    return (packed || pack_within(it, targets, packs, caps)) && hydra_pack_short(&it->pack);
}

/* Columns of a finished try, their groups timed. */
static int columns_of(const struct hydra_shaped *shaped, const struct hydra_shaped_try *it,
                      struct hydra_columns *columns)
{
    const Hydra_Plan_options *options = shaped->batch->options;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_columns_make(shaped->batch->pool, it->microbatches, it->count, options->pipeline_stages,
                                 options->pipeline_chunks, columns));
    for (int64_t i = 0, slot = 0; i < it->count; i++) {
        const struct hydra_pack_cell *cell = &it->pack.cells[it->order[i]];

        slot = i > 0 && it->pack.cells[it->order[i - 1]].microbatch == cell->microbatch ? slot : 0;
        columns->groups[i] =
            (struct hydra_pipeline_group){.first = slot, .size = shaped->documents.levels[cell->level].size};
        columns->weight[i] = cell->weight;
        columns->tokens[i] = cell->tokens;
        columns->group_begin[cell->microbatch + 1]++;
        slot += columns->groups[i].size;
    }
    for (int64_t m = 0; m < columns->microbatches; m++)
        columns->group_begin[m + 1] += columns->group_begin[m];
    hydra_columns_time(columns, shaped->cost);
fail:
    return status;
}

/* Swap microbatches as long as that does not make a column of the slowest groups later. place [out] [M] where each
 * goes; scratch [M]. */
static int order_by_peaks(const struct hydra_pipeline_graph *graph, const struct hydra_columns *columns, int64_t steps,
                          uint64_t seed, int64_t *place, int64_t *scratch)
{
    int64_t count = graph->shape.microbatches;
    int64_t *at = scratch; /* [place] microbatch */
    struct hydra_random random = hydra_random_seed(seed);
    struct hydra_column peaks;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_column_make(graph, &peaks));
    for (int64_t m = 0; m < count; m++) {
        int64_t *times = peaks.times + 2 * m;

        at[m] = m;
        for (int64_t g = columns->group_begin[m]; g < columns->group_begin[m + 1]; g++) {
            times[0] = hydra_max(times[0], columns->groups[g].forward);
            times[1] = hydra_max(times[1], columns->groups[g].backward);
        }
    }
    hydra_column_begin(&peaks);
    for (int64_t step = 0; step < steps; step++) {
        int64_t i = hydra_random_below(&random, count), j = hydra_random_below(&random, count), kept = at[i];
        const int64_t *times = peaks.times;

        if (hydra_column_change(&peaks, i, (int64_t[]){times[2 * j], times[2 * j + 1]}, j,
                                (int64_t[]){times[2 * i], times[2 * i + 1]})) {
            at[i] = at[j];
            at[j] = kept;
        }
    }
    for (int64_t m = 0; m < count; m++)
        place[at[m]] = m;
    hydra_column_clear(&peaks);
fail:
    return status;
}

/* Renumber the microbatches: cells, and their order block by block. scratch [count]. */
static void renumber(struct hydra_shaped_try *it, const int64_t *group_begin, const int64_t *place, int64_t *scratch)
{
    int64_t made = 0;

    for (int64_t to = 0; to < it->microbatches; to++)
        for (int64_t from = 0; from < it->microbatches; from++)
            for (int64_t i = group_begin[from]; place[from] == to && i < group_begin[from + 1]; i++)
                scratch[made++] = it->order[i];
    for (int64_t i = 0; i < made; i++)
        it->order[i] = scratch[i];
    for (int64_t c = 0; c < it->pack.ncells; c++)
        it->pack.cells[c].microbatch = (int32_t)place[it->pack.cells[c].microbatch];
}

/* Makespan of a packed try, and of the same with its microbatches in a better order: the sooner is kept. */
static int order_and_time(const struct hydra_shaped *shaped, const struct hydra_pipeline_graph *graph,
                          struct hydra_shaped_try *it)
{
    struct hydra_columns columns = {0};
    int64_t ordered, *place = hydra_alloc(2 * it->microbatches, sizeof *place);
    int64_t *scratch = hydra_alloc(it->count, sizeof *scratch), *back = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(place != NULL && scratch != NULL, HYDRA_ERR_NOMEM, "order of %lld microbatches",
                  (long long)it->microbatches);
    HYDRA_TRY(columns_of(shaped, it, &columns));
    HYDRA_TRY(hydra_columns_run(&columns, graph->shape.stages, graph->shape.chunks, &it->makespan));
    if (graph->shape.stages == 1)
        goto fail; /* any order takes as long */
    HYDRA_TRY(order_by_peaks(graph, &columns, hydra_shaped_steps(shaped, graph, ORDER_STEPS),
                             shaped->batch->options->seed, place, place + it->microbatches));
    renumber(it, columns.group_begin, place, scratch);
    hydra_columns_clear(&columns);
    HYDRA_TRY(columns_of(shaped, it, &columns));
    HYDRA_TRY(hydra_columns_run(&columns, graph->shape.stages, graph->shape.chunks, &ordered));
    if (ordered <= it->makespan) {
        it->makespan = ordered;
    } else {
        back = place + it->microbatches;
        for (int64_t m = 0; m < it->microbatches; m++)
            back[place[m]] = m;
        renumber(it, columns.group_begin, back, scratch);
    }
fail:
    hydra_columns_clear(&columns);
    hydra_free(place);
    hydra_free(scratch);
    return status;
}

void hydra_shaped_try_clear(struct hydra_shaped_try *it)
{
    hydra_pack_clear(&it->pack);
    hydra_free(it->order);
    it->order = NULL;
}

int hydra_shaped_try(const struct hydra_shaped *shaped, int64_t microbatches, int variant, struct hydra_shaped_try *it)
{
    const Hydra_Plan_options *options = shaped->batch->options;
    struct hydra_pipeline shape = {options->pipeline_stages, options->pipeline_chunks, microbatches};
    struct hydra_pipeline_graph graph = {0};
    struct hydra_shape_problem problem;
    int64_t *numbers = NULL; /* floors, targets, caps, scratch */
    int64_t column;          /* makespan of the targets, not needed */
    int status = HYDRA_SUCCESS;

    *it = (struct hydra_shaped_try){.microbatches = microbatches, .makespan = INT64_MAX};
    HYDRA_TRY(hydra_pipeline_graph_make(&shape, &graph));
    HYDRA_TRY(hydra_pack_make(&shaped->documents, microbatches, &it->pack));
    numbers = hydra_calloc(8 * microbatches + shape.stages, sizeof *numbers);
    it->order = hydra_alloc(it->pack.capacity, sizeof *it->order);
    HYDRA_REQUIRE(numbers != NULL && it->order != NULL, HYDRA_ERR_NOMEM, "search of %lld microbatches",
                  (long long)microbatches);
    hydra_shaped_pose(shaped, &graph, variant, numbers, &problem);
    HYDRA_TRY(hydra_shape_targets(&problem, numbers + microbatches, numbers + 3 * microbatches, &column));
    if (pack_tightly(it, numbers + microbatches, numbers + 2 * microbatches)) {
        HYDRA_TRY(hydra_pack_finish(&it->pack, it->order, &it->count));
        HYDRA_TRY(order_and_time(shaped, &graph, it));
    }
fail:
    hydra_free(numbers);
    hydra_pipeline_graph_clear(&graph);
    return status;
}

int hydra_shaped_draft(const struct hydra_shaped *shaped, const struct hydra_shaped_try *it, struct hydra_draft *draft)
{
    const struct hydra_pack_batch *documents = &shaped->documents;
    int64_t *group_of_cell = hydra_alloc(it->pack.ncells, sizeof *group_of_cell);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(group_of_cell != NULL, HYDRA_ERR_NOMEM, "draft of %lld groups", (long long)it->count);
    for (int64_t i = 0, slot = 0; i < it->count; i++) {
        const struct hydra_pack_cell *cell = &it->pack.cells[it->order[i]];

        slot = i > 0 && it->pack.cells[it->order[i - 1]].microbatch == cell->microbatch ? slot : 0;
        HYDRA_TRY(hydra_draft_add_group(draft, cell->microbatch, slot, documents->levels[cell->level].size,
                                        &group_of_cell[it->order[i]]));
        slot += documents->levels[cell->level].size;
    }
    for (int64_t d = 0; d < documents->ndocs; d++)
        draft->group_of[documents->documents[d].id] = group_of_cell[it->pack.cell_of[d]];
    draft->microbatches = it->microbatches;
fail:
    hydra_free(group_of_cell);
    return status;
}
