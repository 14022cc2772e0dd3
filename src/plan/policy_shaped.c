/* policy_shaped.c: load as time, targets shaped to the pipeline, the number of microbatches chosen by simulation.
 *
 * Tries (shaped_try.c) run in waves of fixed size and are compared in index order, so the plan does not depend on the
 * number of threads. When the load policy's plan is predicted to end sooner, that is the plan. */
#include <pthread.h>
#include <stdbool.h>

#include "base/bits.h"
#include "base/error.h"
#include "plan/policy.h"
#include "plan/predict.h"
#include "plan/shaped_try.h"

enum {
    WAVE = 2,        /* tries at once */
    MOST_TRIES = 10, /* values of M */
    LEAST_VARIANTS = 4,
    MOST_VARIANTS = 16,
    VARIANT_DOCUMENTS = 64 << 10, /* variants times documents, at most, beyond the least */
    MOST_MICROBATCHES = 4096,
    MOST_GROUPS = 1 << 21 /* beyond either the load policy answers */
};

/* Values of M: least, least + step, ... most. */
struct range {
    int64_t least, most, step;
};

/* The M to start from: the best estimate, stopping after four that are worse. */
static int first_microbatches(const struct hydra_shaped *shaped, const struct range *range, int64_t *first)
{
    int64_t best = INT64_MAX, worse = 0;
    int status = HYDRA_SUCCESS;

    *first = range->least;
    for (int64_t m = range->least; worse < 4 && m <= range->most; m += range->step) {
        int64_t makespan = INT64_MAX;

        HYDRA_TRY(hydra_shaped_estimate(shaped, m, &makespan));
        worse = makespan < best ? 0 : worse + 1;
        *first = makespan < best ? m : *first;
        best = hydra_min(best, makespan);
    }
fail:
    return status;
}

static void keep_better(struct hydra_shaped_try *best, struct hydra_shaped_try *it)
{
    if (it->makespan < best->makespan) {
        struct hydra_shaped_try kept = *best;

        *best = *it;
        *it = kept;
    }
    hydra_shaped_try_clear(it);
}

/* The next M to try: next to the best while it lies near an end of what was tried, low .. high; 0: nowhere to go. */
static int64_t next_microbatches(const struct range *range, int64_t best, int64_t low, int64_t high)
{
    if (high < low)
        return low;
    /* Two beyond the best on either side: the makespan is rough in M. */
    if (best + range->step >= high && high + range->step <= range->most)
        return high + range->step;
    if (best - range->step <= low && low - range->step >= range->least)
        return low - range->step;
    return 0;
}

/* Tries (M, variant) that run at once. */
struct wave {
    const struct hydra_shaped *shaped;
    int count;
    int64_t values[WAVE];
    int variants[WAVE];
    int results[WAVE];
    struct hydra_shaped_try tries[WAVE];
};

static void *run_second(void *argument)
{
    struct wave *wave = argument;

    wave->results[1] = hydra_shaped_try(wave->shaped, wave->values[1], wave->variants[1], &wave->tries[1]);
    return NULL;
}

/* Run a wave; the best of all so far is kept. A plain thread, joined at once: a pool of them would spin beside the
 * caller's own work. Without a thread to be had, one after the other. */
static int run_wave(struct wave *wave, struct hydra_shaped_try *best)
{
    pthread_t second;
    bool both = wave->count > 1, apart = both && wave->shaped->batch->options->threads > 1;
    int status = HYDRA_SUCCESS;

    apart = apart && pthread_create(&second, NULL, run_second, wave) == 0;
    wave->results[0] = hydra_shaped_try(wave->shaped, wave->values[0], wave->variants[0], &wave->tries[0]);
    if (apart)
        pthread_join(second, NULL);
    else if (both)
        run_second(wave);
    for (int i = 0; i < wave->count; i++) {
        if (wave->results[i] != HYDRA_SUCCESS) /* the sentence is the worker's */
            status = hydra_error(wave->results[i], "planning %lld microbatches failed", (long long)wave->values[i]);
        keep_better(best, &wave->tries[i]);
    }
    return status;
}

/* Try M in waves: `first` and its neighbours, then onwards while the best lies near an end. */
static int search_microbatches(const struct hydra_shaped *shaped, const struct range *range,
                               struct hydra_shaped_try *best)
{
    int64_t low, high; /* tried: low .. high */
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(first_microbatches(shaped, range, &low));
    high = low - range->step;
    best->microbatches = low;
    for (int tries = 0; tries < MOST_TRIES; tries += WAVE) {
        struct wave wave = {.shaped = shaped};

        while (wave.count < WAVE &&
               (wave.values[wave.count] = next_microbatches(
                    range, best->makespan == INT64_MAX ? high : best->microbatches, low, high)) != 0) {
            low = hydra_min(low, wave.values[wave.count]);
            high = hydra_max(high, wave.values[wave.count]);
            wave.count++;
        }
        if (wave.count == 0)
            break;
        HYDRA_TRY(run_wave(&wave, best));
    }
fail:
    return status;
}

/* Other shapes for the best M and its neighbours: packing is rough, so a few starts are worth more than one. Small
 * batches can afford many. */
static int search_variants(const struct hydra_shaped *shaped, const struct range *range, struct hydra_shaped_try *best)
{
    int64_t ndocs = shaped->batch->ndocs;
    int64_t most = hydra_max(LEAST_VARIANTS, VARIANT_DOCUMENTS / (ndocs + 1));
    int64_t tries = hydra_min(hydra_min(MOST_VARIANTS, ndocs / 8), most);
    int status = HYDRA_SUCCESS;

    for (int64_t tried = 0; tried < tries && best->makespan < INT64_MAX; tried += WAVE) {
        struct wave wave = {.shaped = shaped, .count = WAVE};

        for (int i = 0; i < WAVE; i++) {
            int64_t beside = (tried + i) % 4 == 2 ? range->step : (tried + i) % 4 == 3 ? -range->step : 0;

            wave.variants[i] = 1 + (int)tried + i;
            wave.values[i] = hydra_max(range->least, hydra_min(range->most, best->microbatches + beside));
        }
        HYDRA_TRY(run_wave(&wave, best));
    }
fail:
    return status;
}

/* Values of M that the tokens and the pipeline allow; false when the search would be too large. */
static bool set_range(const struct hydra_batch *batch, struct range *range)
{
    const Hydra_Plan_options *options = batch->options;
    __int128 room = (__int128)batch->pool * options->budget, tokens = 0;

    for (int64_t i = 0; i < batch->ndocs; i++)
        tokens += batch->lengths[i];
    range->step = options->pipeline_chunks > 1 ? options->pipeline_stages : 1;
    if ((tokens + room - 1) / room > MOST_MICROBATCHES / 2)
        return false;
    range->least = hydra_max(1, (int64_t)((tokens + room - 1) / room));
    /* Beyond 32 microbatches a stage, the bubble that more of them would save is below 3%. */
    range->most = hydra_min(batch->ndocs, hydra_max(2 * range->least, 32 * (int64_t)options->pipeline_stages));
    range->most = hydra_min(range->most, 2 * MOST_GROUPS / (batch->pool / options->min_degree));
    range->least = hydra_ceil_div(range->least, range->step) * range->step;
    range->most = hydra_max(range->least, range->most / range->step * range->step);
    return range->least * (batch->pool / options->min_degree) <= MOST_GROUPS;
}

int hydra_policy_shaped(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct hydra_cost cost;
    struct hydra_shaped shaped = {0};
    struct hydra_shaped_try best = {.makespan = INT64_MAX};
    struct range range;
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
    if (batch->ndocs > 0 && set_range(batch, &range)) {
        HYDRA_TRY(hydra_shaped_make(batch, &cost, &shaped));
        HYDRA_TRY(search_microbatches(&shaped, &range, &best));
        HYDRA_TRY(search_variants(&shaped, &range, &best));
    }
    if (best.makespan <= load_makespan && best.makespan < INT64_MAX) {
        HYDRA_TRY(hydra_shaped_draft(&shaped, &best, draft));
    } else {
        struct hydra_draft kept = *draft;

        *draft = load;
        load = kept;
    }
fail:
    hydra_shaped_try_clear(&best);
    hydra_shaped_clear(&shaped);
    hydra_draft_clear(&load);
    return status;
}
