/* policy_flexsp.c: FlexSP: for each microbatch, group degrees and an assignment that minimise the slowest group.
 *
 * Documents sorted by time are cut into runs of equal tokens, a microbatch each, as the paper's blaster does; a few
 * numbers of microbatches are tried and the best by predicted time is kept. The paper solves an integer program for
 * each microbatch; here a bound T on the slowest group is bisected: up to EXACT documents by complete search of who
 * shares a group with whom (the least degree that keeps T follows), more by best fit (shaped_pack.c), to 1/1000 of the
 * time. */
#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/interleave.h"
#include "plan/layout.h"
#include "plan/policy.h"
#include "plan/predict.h"
#include "plan/shaped_pack.h"

enum { EXACT = 8, MORE_MICROBATCHES = 2, PRECISION = 1000, FUTILE = 16 };

/* Who shares a group with whom: a complete search, document after document. */
struct partition {
    const struct hydra_pack_batch *batch; /* at most EXACT documents */
    int64_t bound;                        /* ps */
    int nblocks;
    struct block {
        hydra_weight weight;
        int64_t tokens;
        int level; /* least that keeps bound and budget */
    } blocks[EXACT];
    int block_of[EXACT];
};

/* Least level for a block, nlevels when none will do. */
static int block_level(const struct partition *p, const struct block *block)
{
    const struct hydra_pack_batch *batch = p->batch;
    int level = batch->first_level;

    while (level < batch->nlevels && (block->tokens > batch->levels[level].room ||
                                      hydra_pack_time(&batch->levels[level], block->weight, block->tokens) > p->bound))
        level++;
    return level;
}

/* Place document d and those after it into blocks that take at most `slots` more; a document more never needs less. */
static bool complete(struct partition *p, int d, int64_t slots)
{
    const struct hydra_pack_batch *batch = p->batch;

    if (d == batch->ndocs)
        return true;
    for (int b = 0; b <= p->nblocks; b++) {
        struct block old = b < p->nblocks ? p->blocks[b] : (struct block){.level = -1};
        struct block with = {old.weight + batch->documents[d].weight, old.tokens + batch->documents[d].tokens, 0};
        int64_t more;

        with.level = block_level(p, &with);
        if (with.level == batch->nlevels)
            continue;
        more = batch->levels[with.level].size - (old.level < 0 ? 0 : batch->levels[old.level].size);
        if (more > slots)
            continue;
        p->blocks[b] = with;
        p->block_of[d] = b;
        p->nblocks += old.level < 0;
        if (complete(p, d + 1, slots - more))
            return true;
        p->nblocks -= old.level < 0;
        if (old.level >= 0)
            p->blocks[b] = old;
    }
    return false;
}

/* One microbatch as bisection sees it: packed either way. */
struct microbatch {
    struct hydra_pack_batch batch;
    struct partition exact;
    struct hydra_pack pack; /* not made for exact ones */
};

static bool fits(struct microbatch *it, int64_t bound)
{
    if (it->batch.ndocs <= EXACT) {
        it->exact = (struct partition){.batch = &it->batch, .bound = bound};
        return complete(&it->exact, 0, it->batch.pool);
    }
    return hydra_pack_long(&it->pack, &bound) && hydra_pack_short(&it->pack);
}

/* Slowest group of a packed microbatch: best fit may exceed the bound by a short document. */
static int64_t slowest(const struct microbatch *it)
{
    int64_t most = 0;

    for (int64_t c = 0; c < it->pack.ncells; c++)
        most = hydra_max(most, it->pack.cells[c].time);
    return most;
}

/* Bisect the bound; false when the tokens do not fit. */
static bool minimise(struct microbatch *it)
{
    int64_t low = -1, high = HYDRA_TIME_MAX, best, best_slowest, precision;

    if (!fits(it, high))
        return false;
    best = high;
    best_slowest = it->batch.ndocs <= EXACT ? high : slowest(it);
    high = hydra_min(high, best_slowest);
    while (high - low > (precision = it->batch.ndocs <= EXACT ? 1 : high / PRECISION + 1)) {
        int64_t middle = low + (high - low) / 2;

        if (!fits(it, middle)) {
            low = middle;
            continue;
        }
        high = middle;
        if (it->batch.ndocs <= EXACT || slowest(it) <= best_slowest) {
            best = middle;
            best_slowest = it->batch.ndocs <= EXACT ? middle : slowest(it);
        }
    }
    return fits(it, best);
}

/* Groups of a minimised microbatch into the draft. */
static int emit(const struct microbatch *it, int64_t m, const struct hydra_batch *batch, struct hydra_draft *draft)
{
    int64_t begin = draft->ngroups;
    bool exact = it->batch.ndocs <= EXACT;
    int64_t count = exact ? it->exact.nblocks : it->pack.ncells;
    int status = HYDRA_SUCCESS;

    for (int64_t g = 0; g < count; g++) {
        int level = exact ? it->exact.blocks[g].level : it->pack.cells[g].level;
        int64_t index;

        HYDRA_TRY(hydra_draft_add_group(draft, m, 0, it->batch.levels[level].size, &index));
    }
    for (int64_t d = 0; d < it->batch.ndocs; d++)
        draft->group_of[it->batch.documents[d].id] = begin + (exact ? it->exact.block_of[d] : it->pack.cell_of[d]);
    hydra_layout_descending(batch, draft->groups + begin, count);
fail:
    return status;
}

/* One microbatch from the documents at `begin`; fitted [out] false when their tokens do not fit. */
static int plan_microbatch(const struct hydra_pack_batch *documents, int64_t begin, int64_t end, int64_t m,
                           const struct hydra_batch *batch, struct hydra_draft *draft, bool *fitted)
{
    struct microbatch it = {0};
    int status = HYDRA_SUCCESS;

    hydra_pack_batch_slice(documents, begin, end, &it.batch);
    if (it.batch.ndocs > EXACT)
        HYDRA_TRY(hydra_pack_make(&it.batch, 1, &it.pack));
    *fitted = minimise(&it);
    if (*fitted)
        HYDRA_TRY(emit(&it, m, batch, draft));
fail:
    hydra_pack_clear(&it.pack);
    return status;
}

/* All microbatches, of equal tokens or (apart) of a document each; fitted [out] false when one does not fit. */
static int plan_microbatches(const struct hydra_pack_batch *documents, int64_t tokens, int64_t microbatches, bool apart,
                             const struct hydra_batch *batch, struct hydra_draft *draft, bool *fitted)
{
    int64_t begin = 0, taken = 0;
    int status = HYDRA_SUCCESS;

    *fitted = true;
    for (int64_t m = 0; m < microbatches && *fitted; m++) {
        int64_t until = (int64_t)((__int128)tokens * (m + 1) / microbatches), end = begin;

        for (; end < documents->ndocs && (apart ? end == begin : taken < until || m == microbatches - 1); end++)
            taken += documents->documents[end].tokens;
        if (end > begin)
            HYDRA_TRY(plan_microbatch(documents, begin, end, m, batch, draft, fitted));
        begin = end;
    }
    draft->microbatches = microbatches;
fail:
    return status;
}

/* Keep the sooner of two drafts in `best`; the other is cleared. */
static void keep_sooner(struct hydra_draft *best, int64_t *best_makespan, struct hydra_draft *tried, int64_t makespan)
{
    if (makespan < *best_makespan) {
        struct hydra_draft kept = *best;

        *best = *tried;
        *tried = kept;
        *best_makespan = makespan;
    }
    hydra_draft_clear(tried);
}

static int search(const struct hydra_batch *batch, const struct hydra_cost *cost,
                  const struct hydra_pack_batch *documents, struct hydra_draft *draft)
{
    __int128 room = (__int128)batch->pool * batch->options->budget;
    int64_t tokens = 0, best = INT64_MAX, tries = 0, least;
    struct hydra_draft tried = {0};
    bool apart = false;
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < batch->ndocs; i++)
        tokens += batch->lengths[i];
    least = hydra_max(1, (int64_t)((tokens + room - 1) / room));
    for (int64_t m = least; tries <= MORE_MICROBATCHES;) {
        int64_t makespan;
        bool fitted;

        /* By then the tokens fit whatever the degrees; not so times that are too long to count (HYDRA_TIME_MAX). */
        HYDRA_REQUIRE(m / FUTILE <= least + batch->ndocs, HYDRA_ERR_UNSUPPORTED,
                      "flexsp: the documents fit into no number of microbatches up to %lld", (long long)m);
        HYDRA_TRY(hydra_draft_init(&tried, batch));
        HYDRA_TRY(plan_microbatches(documents, tokens, m, apart, batch, &tried, &fitted));
        if (fitted) {
            HYDRA_TRY(hydra_plan_interleave(batch, &tried));
            HYDRA_TRY(hydra_predict_draft(batch, &tried, cost, &makespan));
            keep_sooner(draft, &best, &tried, makespan);
            tries++;
        }
        hydra_draft_clear(&tried);
        if (m >= batch->ndocs && best < INT64_MAX)
            break; /* a document each: nothing more to cut */
        HYDRA_REQUIRE(!apart, HYDRA_ERR_INTERNAL, "flexsp: a document does not fit alone");
        /* Equal tokens never part documents without any. */
        apart = m >= batch->ndocs;
        m = apart ? batch->ndocs : m + (fitted ? 1 : 1 + m / 16);
    }
fail:
    hydra_draft_clear(&tried);
    return status;
}

int hydra_policy_flexsp(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct hydra_pack_batch documents = {0};
    struct hydra_cost cost;
    int status = HYDRA_SUCCESS;

    if (batch->ndocs == 0)
        return HYDRA_SUCCESS;
    if (batch->cost != NULL)
        cost = *batch->cost;
    else
        hydra_cost_make_load(batch, &cost);
    HYDRA_TRY(hydra_pack_batch_make(batch, &cost, &documents));
    HYDRA_TRY(search(batch, &cost, &documents, draft));
fail:
    hydra_pack_batch_clear(&documents);
    return status;
}
