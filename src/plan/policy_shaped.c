/* policy_shaped.c: load as time, targets shaped to the pipeline, the number of microbatches chosen by simulation.
 *
 * For a few values of M: shape the targets (shape_targets.c), find the least multiple of them under which the documents
 * pack (shaped_pack.c), run the whole plan through the pipeline; keep the best. Candidates are tried in waves of fixed
 * size and compared in index order, so the plan does not depend on the number of threads. */
#include <stdlib.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/policy.h"
#include "plan/predict.h"
#include "plan/shape_targets.h"
#include "plan/shaped_pack.h"

enum {
    WAVE = 2,        /* values of M tried at once */
    MOST_TRIES = 10, /* values of M tried in all */
    MOST_MICROBATCHES = 4096,
    MOST_GROUPS = 1 << 23, /* beyond either the load policy answers */
    SCALE = 64,            /* caps are f/SCALE of the targets */
    SLACK = 51             /* targets add up to SLACK/50 of the work: packing is never perfect */
};

struct search {
    const struct hydra_batch *batch;
    const struct hydra_cost *cost;
    struct hydra_pack_batch documents;
    int64_t fixed_forward, fixed_backward;
    int64_t least, most, step; /* values of M: least, least + step, ... most */
    __int128 least_work;       /* ps * slots, every document on its least degree */
    __int128 work[4 * 64];     /* the same by the time that each may take, 4 for each power of two; 0: not yet known */
};

/* One value of M, packed and timed. */
struct candidate {
    int64_t microbatches;
    int status;
    int64_t makespan; /* ps, INT64_MAX when the documents do not fit */
    struct hydra_pack pack;
    int64_t *order; /* cells in slot order, microbatch after microbatch */
    int64_t count;
};

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
static int64_t lone_cap(const struct search *search, int64_t microbatches)
{
    int64_t average = (int64_t)(search->least_work / search->documents.pool / microbatches) + 4;

    return hydra_max(average + average / 4, search->documents.slowest);
}

/* Work of all documents with M microbatches, ps * slots. */
static __int128 work_of(const struct search *search, int64_t microbatches)
{
    return long_work(&search->documents, lone_cap(search, microbatches)) + search->documents.short_work;
}

/* The same to within a quarter of a power of two of the cap, remembered: for estimates. */
static __int128 rough_work_of(struct search *search, int64_t microbatches)
{
    uint64_t cap = (uint64_t)lone_cap(search, microbatches);
    int bits = hydra_log2_floor(cap);
    int quarter = (int)(cap >> (bits - 2) & 3);
    __int128 *work = &search->work[4 * bits + quarter];

    if (*work == 0)
        *work = long_work(&search->documents, (int64_t)(4 + quarter) << (bits - 2)) + search->documents.short_work + 1;
    return *work;
}

/* The column problem of M microbatches whose documents are `work`: total and floors. */
static void pose(const struct search *search, const struct hydra_pipeline_graph *graph, __int128 work, int64_t *floors,
                 struct hydra_shape_problem *problem)
{
    int64_t count = graph->shape.microbatches;

    *problem = (struct hydra_shape_problem){
        .graph = graph,
        .total = (int64_t)(work * SLACK / 50 / search->documents.pool),
        .fixed_forward = search->fixed_forward,
        .fixed_backward = search->fixed_backward,
        .forward_share = (int64_t)(0x1p20 / (1 + hydra_rate_value(search->cost->backward_compute))),
        .floors = floors,
        .seed = search->batch->options->seed,
        .steps = hydra_min(3000, ((int64_t)1 << 21) / graph->count + 200),
    };
    set_floors(&search->documents, problem->total / count, lone_cap(search, count), count, floors);
}

static bool pack_within(struct candidate *it, const int64_t *targets, int64_t scale, int64_t *caps)
{
    for (int64_t m = 0; m < it->microbatches; m++)
        caps[m] = (int64_t)((__int128)targets[m] * scale / SCALE) + 1;
    return hydra_pack_long(&it->pack, caps);
}

/* The least scale under which everything packs, found by doubling steps and bisection; false when none does. */
static bool pack_tightly(struct candidate *it, const int64_t *targets, int64_t *caps)
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

/* Columns of a finished candidate and their makespan. */
static int time_candidate(const struct search *search, struct candidate *it)
{
    const Hydra_Plan_options *options = search->batch->options;
    struct hydra_columns columns = {.pool = search->batch->pool, .microbatches = it->microbatches};
    int status = HYDRA_SUCCESS;

    columns.group_begin = hydra_calloc(it->microbatches + 1, sizeof *columns.group_begin);
    columns.groups = hydra_calloc(it->count, sizeof *columns.groups);
    columns.weight = hydra_calloc(it->count, sizeof *columns.weight);
    columns.tokens = hydra_calloc(it->count, sizeof *columns.tokens);
    HYDRA_REQUIRE(columns.group_begin != NULL && columns.groups != NULL && columns.weight != NULL &&
                      columns.tokens != NULL,
                  HYDRA_ERR_NOMEM, "timing of %lld groups", (long long)it->count);
    for (int64_t i = 0, slot = 0; i < it->count; i++) {
        const struct hydra_pack_cell *cell = &it->pack.cells[it->order[i]];

        slot = i > 0 && it->pack.cells[it->order[i - 1]].microbatch == cell->microbatch ? slot : 0;
        columns.groups[i] =
            (struct hydra_pipeline_group){.first = slot, .size = search->documents.levels[cell->level].size};
        columns.weight[i] = cell->weight;
        columns.tokens[i] = cell->tokens;
        columns.group_begin[cell->microbatch + 1]++;
        slot += columns.groups[i].size;
    }
    for (int64_t m = 0; m < it->microbatches; m++)
        columns.group_begin[m + 1] += columns.group_begin[m];
    hydra_columns_time(&columns, search->cost);
    HYDRA_TRY(hydra_columns_run(&columns, options->pipeline_stages, options->pipeline_chunks, &it->makespan));
fail:
    hydra_columns_clear(&columns);
    return status;
}

static void candidate_clear(struct candidate *it)
{
    hydra_pack_clear(&it->pack);
    hydra_free(it->order);
    it->order = NULL;
}

static int try_candidate(const struct search *search, int64_t microbatches, struct candidate *it)
{
    const Hydra_Plan_options *options = search->batch->options;
    struct hydra_pipeline shape = {options->pipeline_stages, options->pipeline_chunks, microbatches};
    struct hydra_pipeline_graph graph = {0};
    struct hydra_shape_problem problem;
    int64_t *numbers = NULL; /* floors, targets, caps, scratch */
    int status = HYDRA_SUCCESS;

    *it = (struct candidate){.microbatches = microbatches, .makespan = INT64_MAX};
    HYDRA_TRY(hydra_pipeline_graph_make(&shape, &graph));
    HYDRA_TRY(hydra_pack_make(&search->documents, microbatches, &it->pack));
    numbers = hydra_calloc(8 * microbatches + shape.stages, sizeof *numbers);
    it->order = hydra_alloc(it->pack.capacity, sizeof *it->order);
    HYDRA_REQUIRE(numbers != NULL && it->order != NULL, HYDRA_ERR_NOMEM, "search of %lld microbatches",
                  (long long)microbatches);
    pose(search, &graph, work_of(search, microbatches), numbers, &problem);
    hydra_shape_targets(&problem, numbers + microbatches, numbers + 3 * microbatches);
    if (pack_tightly(it, numbers + microbatches, numbers + 2 * microbatches)) {
        HYDRA_TRY(hydra_pack_finish(&it->pack, it->order, &it->count));
        HYDRA_TRY(time_candidate(search, it));
    }
fail:
    hydra_free(numbers);
    hydra_pipeline_graph_clear(&graph);
    return it->status = status;
}

/* Makespan of one column if M microbatches packed perfectly under flat targets. */
static int estimate(struct search *search, int64_t microbatches, int64_t *makespan)
{
    const Hydra_Plan_options *options = search->batch->options;
    struct hydra_pipeline shape = {options->pipeline_stages, options->pipeline_chunks, microbatches};
    struct hydra_pipeline_graph graph = {0};
    struct hydra_shape_problem problem;
    int64_t *numbers = hydra_calloc(8 * microbatches + shape.stages, sizeof *numbers);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(numbers != NULL, HYDRA_ERR_NOMEM, "estimate of %lld microbatches", (long long)microbatches);
    HYDRA_TRY(hydra_pipeline_graph_make(&shape, &graph));
    pose(search, &graph, rough_work_of(search, microbatches), numbers, &problem);
    problem.steps = 0;
    *makespan = hydra_shape_targets(&problem, numbers + microbatches, numbers + 3 * microbatches);
fail:
    hydra_free(numbers);
    hydra_pipeline_graph_clear(&graph);
    return status;
}

/* The M to start from: the best estimate, stopping after four that are worse. */
static int first_microbatches(struct search *search, int64_t *first)
{
    int64_t best = INT64_MAX, worse = 0;
    int status = HYDRA_SUCCESS;

    *first = search->least;
    for (int64_t m = search->least; worse < 4 && m <= search->most; m += search->step) {
        int64_t makespan = INT64_MAX;

        HYDRA_TRY(estimate(search, m, &makespan));
        worse = makespan < best ? 0 : worse + 1;
        *first = makespan < best ? m : *first;
        best = hydra_min(best, makespan);
    }
fail:
    return status;
}

static void keep_better(struct candidate *best, struct candidate *it)
{
    if (it->makespan < best->makespan) {
        struct candidate kept = *best;

        *best = *it;
        *it = kept;
    }
    candidate_clear(it);
}

/* The next M to try: next to the best while it lies at an end of what was tried, low .. high; 0: nowhere to go. */
static int64_t next_microbatches(const struct search *search, int64_t best, int64_t low, int64_t high)
{
    if (high < low)
        return low;
    /* Two beyond the best on either side: the makespan is rough in M. */
    if (best + search->step >= high && high + search->step <= search->most)
        return high + search->step;
    if (best - search->step <= low && low - search->step >= search->least)
        return low - search->step;
    return 0;
}

/* Try M in waves: `first` and its neighbours, then onwards while the best lies near an end. */
static int search_microbatches(struct search *search, struct candidate *best)
{
    int64_t low, high; /* tried: low .. high */
    int threads = (int)hydra_min(search->batch->options->threads, WAVE);
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(first_microbatches(search, &low));
    high = low - search->step;
    best->microbatches = low;
    for (int tries = 0; tries < MOST_TRIES; tries += WAVE) {
        struct candidate wave[WAVE] = {0};
        int64_t values[WAVE];
        int count = 0;

        while (count < WAVE && (values[count] = next_microbatches(
                                    search, best->makespan == INT64_MAX ? high : best->microbatches, low, high)) != 0) {
            low = hydra_min(low, values[count]);
            high = hydra_max(high, values[count]);
            count++;
        }
        if (count == 0)
            break;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int i = 0; i < count; i++)
            try_candidate(search, values[i], &wave[i]);
        for (int i = 0; i < count; i++) {
            status = status == HYDRA_SUCCESS ? wave[i].status : status;
            keep_better(best, &wave[i]);
        }
        HYDRA_TRY(status);
    }
fail:
    return status;
}

/* Groups and documents of a candidate into the draft. */
static int draft_candidate(const struct search *search, const struct candidate *it, struct hydra_draft *draft)
{
    const struct hydra_pack_batch *documents = &search->documents;
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

/* Values of M that the tokens and the pipeline allow; false when the search would be too large. */
static bool set_range(struct search *search)
{
    const struct hydra_batch *batch = search->batch;
    const Hydra_Plan_options *options = batch->options;
    __int128 room = (__int128)batch->pool * options->budget, tokens = 0;

    for (int64_t i = 0; i < batch->ndocs; i++)
        tokens += batch->lengths[i];
    search->step = options->pipeline_chunks > 1 ? options->pipeline_stages : 1;
    if ((tokens + room - 1) / room > MOST_MICROBATCHES / 2)
        return false;
    search->least = hydra_max(1, (int64_t)((tokens + room - 1) / room));
    /* Beyond 32 microbatches a stage, the bubble that more of them would save is below 3%. */
    search->most = hydra_min(batch->ndocs, hydra_max(2 * search->least, 32 * (int64_t)options->pipeline_stages));
    search->least = hydra_ceil_div(search->least, search->step) * search->step;
    search->most = hydra_max(search->least, search->most);
    return search->least * (batch->pool / options->min_degree) <= MOST_GROUPS;
}

int hydra_policy_shaped(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct hydra_cost cost;
    struct search search = {.batch = batch, .cost = &cost};
    struct candidate best = {.makespan = INT64_MAX};
    struct hydra_draft load = {0};
    int64_t load_makespan;
    int status = HYDRA_SUCCESS;

    if (batch->cost != NULL)
        cost = *batch->cost;
    else
        hydra_cost_make_load(batch, &cost);
    HYDRA_TRY(hydra_draft_init(&load, batch));
    HYDRA_TRY(hydra_policy_load(batch, &load));
    HYDRA_TRY(hydra_predict_draft(batch, &load, &cost, &load_makespan));
    if (batch->ndocs > 0 && set_range(&search)) {
        search.fixed_forward = cost.fixed;
        search.fixed_backward = hydra_rate_apply(cost.backward_compute, (hydra_weight)cost.fixed);
        HYDRA_TRY(hydra_pack_batch_make(batch, &cost, &search.documents));
        search.least_work = long_work(&search.documents, INT64_MAX) + search.documents.short_work;
        HYDRA_TRY(search_microbatches(&search, &best));
    }
    if (best.makespan <= load_makespan && best.makespan < INT64_MAX) {
        HYDRA_TRY(draft_candidate(&search, &best, draft));
    } else {
        struct hydra_draft kept = *draft;

        *draft = load;
        load = kept;
    }
fail:
    candidate_clear(&best);
    hydra_pack_batch_clear(&search.documents);
    hydra_draft_clear(&load);
    return status;
}
