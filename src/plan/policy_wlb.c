/* policy_wlb.c: WLB-LLM: one degree for all, documents packed so that every microbatch of every group has equal work.
 *
 * The degree is the least that holds the longest document. Heaviest first, each document goes to the bin with least
 * attention work among those with token room. The paper delays outliers to a later iteration; a plan must place every
 * document, so here the heaviest bins run last, side by side: outliers wait for one another instead of holding up the
 * rest. Guarantee: bins that hold no document of more than the mean differ by at most their heaviest document, as long
 * as tokens permit. */
#include "base/bits.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/memory.h"
#include "base/sort.h"
#include "plan/order.h"
#include "plan/policy.h"

enum { BIN_BITS = 31 };
#define BIN_MASK (((uint64_t)1 << BIN_BITS) - 1)

HYDRA_HEAP(idle, hydra_weight) /* work of a bin, then its number */
HYDRA_HEAP(full, hydra_weight) /* complement of a bin's token room, then its number: most room first */

struct bins {
    int64_t count;
    int shift;        /* weights are compared after >> shift, so that work and number share a key */
    int64_t capacity; /* tokens */
    hydra_weight *work;
    int64_t *room;
    hydra_weight *idle, *full; /* heaps: bins to look at, and those whose tokens ran out */
    int64_t nidle, nfull;
};

static hydra_weight full_key(const struct bins *bins, int64_t bin)
{
    return (hydra_weight)(INT64_MAX - bins->room[bin]) << BIN_BITS | (hydra_weight)bin;
}

static hydra_weight idle_key(const struct bins *bins, int64_t bin)
{
    return bins->work[bin] << BIN_BITS | (hydra_weight)bin;
}

static void bins_free(struct bins *bins)
{
    hydra_free(bins->work);
    hydra_free(bins->room);
    hydra_free(bins->idle);
    hydra_free(bins->full);
}

/* Empty bins, as many as `count`. */
static int bins_open(struct bins *bins, int64_t count)
{
    int status = HYDRA_SUCCESS;

    bins_free(bins);
    bins->count = bins->nidle = count;
    bins->nfull = 0;
    bins->work = hydra_calloc(count, sizeof *bins->work);
    bins->room = hydra_alloc(count, sizeof *bins->room);
    bins->idle = hydra_alloc(count, sizeof *bins->idle);
    bins->full = hydra_alloc(count, sizeof *bins->full);
    HYDRA_REQUIRE(bins->work != NULL && bins->room != NULL && bins->idle != NULL && bins->full != NULL, HYDRA_ERR_NOMEM,
                  "%lld bins", (long long)count);
    for (int64_t bin = 0; bin < count; bin++) {
        bins->room[bin] = bins->capacity;
        bins->idle[bin] = (hydra_weight)bin; /* no work: ascending numbers are a heap */
    }
fail:
    return status;
}

/* The bin with least work that has room for the tokens: now on top of `idle`; -1: none. */
static int64_t find_bin(struct bins *bins, int64_t tokens)
{
    while (bins->nfull > 0) {
        int64_t bin = (int64_t)((uint64_t)bins->full[0] & BIN_MASK);

        if (bins->room[bin] < tokens)
            break;
        full_pop(bins->full, &bins->nfull);
        idle_push(bins->idle, &bins->nidle, idle_key(bins, bin));
    }
    while (bins->nidle > 0) {
        int64_t bin = (int64_t)((uint64_t)bins->idle[0] & BIN_MASK);

        if (bins->room[bin] >= tokens)
            return bin;
        idle_pop(bins->idle, &bins->nidle);
        full_push(bins->full, &bins->nfull, full_key(bins, bin));
    }
    return -1;
}

/* Pack everything; false when the tokens do not fit into the bins. bin_of [out] [ndocs]. */
static bool pack(struct bins *bins, const struct hydra_batch *batch, const int64_t *ids, int64_t *bin_of)
{
    for (int64_t i = 0; i < batch->ndocs; i++) {
        int64_t bin = find_bin(bins, batch->lengths[ids[i]]);

        if (bin < 0)
            return false;
        bins->work[bin] += hydra_batch_weight(batch, ids[i]) >> bins->shift;
        bins->room[bin] -= batch->lengths[ids[i]];
        bin_of[ids[i]] = bin;
        idle_replace(bins->idle, bins->nidle, idle_key(bins, bin));
    }
    return true;
}

/* Bins become groups: lightest microbatches first. */
static int deal(const struct bins *bins, int64_t degree, int64_t groups, const struct hydra_batch *batch,
                const int64_t *bin_of, struct hydra_draft *draft)
{
    struct hydra_record *records = hydra_alloc(2 * bins->count, sizeof *records), *sorted;
    int64_t *group_of_bin = hydra_alloc(bins->count, sizeof *group_of_bin);
    hydra_weight most = 0;
    int shift = 0, status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(records != NULL && group_of_bin != NULL, HYDRA_ERR_NOMEM, "%lld bins", (long long)bins->count);
    for (int64_t bin = 0; bin < bins->count; bin++)
        most = bins->work[bin] > most ? bins->work[bin] : most;
    while (most >> shift >> 63 != 0)
        shift++;
    for (int64_t bin = 0; bin < bins->count; bin++)
        records[bin] = (struct hydra_record){(uint64_t)(bins->work[bin] >> shift), bin};
    sorted = hydra_radix_sort(records, records + bins->count, bins->count);
    for (int64_t i = 0; i < bins->count; i++)
        HYDRA_TRY(
            hydra_draft_add_group(draft, i / groups, i % groups * degree, degree, &group_of_bin[sorted[i].value]));
    for (int64_t i = 0; i < batch->ndocs; i++)
        draft->group_of[i] = group_of_bin[bin_of[i]];
fail:
    hydra_free(records);
    hydra_free(group_of_bin);
    return status;
}

int hydra_policy_wlb(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    int64_t *ids = hydra_alloc(batch->ndocs, sizeof *ids), *bin_of = hydra_alloc(batch->ndocs, sizeof *bin_of);
    int64_t longest = 0, tokens = 0, degree, groups, microbatches, step;
    hydra_weight total = 0;
    struct bins bins = {0};
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(ids != NULL && bin_of != NULL, HYDRA_ERR_NOMEM, "wlb policy: %lld documents",
                  (long long)batch->ndocs);
    HYDRA_TRY(hydra_order_by_weight(batch, ids));
    for (int64_t i = 0; i < batch->ndocs; i++) {
        longest = hydra_max(longest, batch->lengths[i]);
        tokens += batch->lengths[i];
        total += hydra_batch_weight(batch, i);
    }
    while (total >> bins.shift >> (128 - BIN_BITS) != 0)
        bins.shift++;
    degree = hydra_degree_for_memory(batch, longest);
    groups = batch->pool / degree;
    bins.capacity = hydra_group_room(batch, degree);
    /* As few microbatches as the tokens allow; one more until every document finds room. An interleaved pipeline wants
     * a multiple of pp: bins for all of them, because microbatches that are split leave room for greater degrees. */
    step = batch->options->pipeline_chunks > 1 ? batch->options->pipeline_stages : 1;
    microbatches = batch->ndocs == 0 ? 0 : hydra_max(1, hydra_ceil_div(hydra_ceil_div(tokens, bins.capacity), groups));
    microbatches = hydra_ceil_div(microbatches, step) * step;
    HYDRA_TRY(bins_open(&bins, microbatches * groups));
    while (!pack(&bins, batch, ids, bin_of)) {
        microbatches += hydra_ceil_div(1 + microbatches / 16, step) * step;
        HYDRA_TRY(bins_open(&bins, microbatches * groups));
    }
    HYDRA_TRY(deal(&bins, degree, groups, batch, bin_of, draft));
fail:
    hydra_free(ids);
    hydra_free(bin_of);
    bins_free(&bins);
    return status;
}
