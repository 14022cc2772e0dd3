/* policy_bytescale.c: ByteScale: the least degree that fits, then work dealt so that ranks are even over the iteration.
 *
 * Degree by degree, greatest first, heaviest document first: each goes to the aligned run of slots with least work so
 * far, there into the first microbatch with token room, else into one more. Where the paper lets ranks run different
 * numbers of microbatches, every rank here runs all of them: the shorter ones end with idle slots. */
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/memory.h"
#include "plan/interleave.h"
#include "plan/order.h"
#include "plan/policy.h"

enum {
    RUN_BITS = 24, /* pools are at most 2^24 slots */
    LOOK_BACK = 64 /* groups of a run looked at for room, newest first */
};

HYDRA_HEAP(even, hydra_weight) /* work of a run, then its number */

/* Runs of the current degree. */
struct dealer {
    const struct hydra_batch *batch;
    struct hydra_draft *draft;
    int64_t degree, nruns;
    hydra_weight *work;      /* [G] a rank's work of each run */
    int64_t *used;           /* [G] microbatches that the run's slots have groups in */
    int64_t *last;           /* [G] the run's newest group, -1: none of this degree */
    hydra_weight *heap;      /* [G] */
    hydra_weight *slot_work; /* [G] of each slot, before the current degree */
    int64_t *slot_used;      /* [G] likewise */
    int64_t *earlier, *room; /* [N] of each group of the draft: the run's group before it, tokens left */
};

/* Go down to a lesser degree. Every slot of an aligned run has the same past: greater degrees took
 * all of it or none. */
static void set_degree(struct dealer *dealer, int64_t degree)
{
    for (int64_t r = 0; r < dealer->nruns; r++)
        for (int64_t slot = r * dealer->degree; slot < (r + 1) * dealer->degree; slot++) {
            dealer->slot_work[slot] = dealer->work[r];
            dealer->slot_used[slot] = dealer->used[r];
        }
    dealer->degree = degree;
    dealer->nruns = dealer->batch->pool / degree;
    for (int64_t r = 0; r < dealer->nruns; r++) {
        dealer->work[r] = dealer->slot_work[r * degree];
        dealer->used[r] = dealer->slot_used[r * degree];
        dealer->last[r] = -1;
        dealer->heap[r] = dealer->work[r] << RUN_BITS | (hydra_weight)r;
    }
    even_build(dealer->heap, dealer->nruns);
}

/* The run's earliest group with room, or a new one in its next microbatch. */
static int find_group(struct dealer *dealer, int64_t run, int64_t tokens, int64_t *group)
{
    int looks = LOOK_BACK, status = HYDRA_SUCCESS;

    *group = -1;
    for (int64_t g = dealer->last[run]; g >= 0 && looks > 0; g = dealer->earlier[g], looks--)
        if (dealer->room[g] >= tokens)
            *group = g;
    if (*group >= 0)
        return HYDRA_SUCCESS;
    HYDRA_TRY(hydra_draft_add_group(dealer->draft, dealer->used[run]++, run * dealer->degree, dealer->degree, group));
    dealer->room[*group] = hydra_group_room(dealer->batch, dealer->degree);
    dealer->earlier[*group] = dealer->last[run];
    dealer->last[run] = *group;
fail:
    return status;
}

static int deal(struct dealer *dealer, int64_t id)
{
    int64_t run = (int64_t)(dealer->heap[0] & (((hydra_weight)1 << RUN_BITS) - 1));
    int64_t group;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(find_group(dealer, run, dealer->batch->lengths[id], &group));
    dealer->room[group] -= dealer->batch->lengths[id];
    dealer->draft->group_of[id] = group;
    dealer->work[run] += hydra_batch_weight(dealer->batch, id) / (hydra_weight)dealer->degree;
    even_replace(dealer->heap, dealer->nruns, dealer->work[run] << RUN_BITS | (hydra_weight)run);
fail:
    return status;
}

int hydra_policy_bytescale(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct dealer dealer = {.batch = batch, .draft = draft};
    int64_t degrees[64], *ids = hydra_alloc(batch->ndocs, sizeof *ids);
    int status = HYDRA_SUCCESS;

    dealer.work = hydra_alloc(batch->pool, sizeof *dealer.work);
    dealer.used = hydra_alloc(batch->pool, sizeof *dealer.used);
    dealer.last = hydra_alloc(batch->pool, sizeof *dealer.last);
    dealer.heap = hydra_alloc(batch->pool, sizeof *dealer.heap);
    dealer.slot_work = hydra_calloc(batch->pool, sizeof *dealer.slot_work);
    dealer.slot_used = hydra_calloc(batch->pool, sizeof *dealer.slot_used);
    dealer.earlier = hydra_alloc(batch->ndocs, sizeof *dealer.earlier);
    dealer.room = hydra_alloc(batch->ndocs, sizeof *dealer.room);
    HYDRA_REQUIRE(ids != NULL && dealer.work != NULL && dealer.used != NULL && dealer.last != NULL &&
                      dealer.heap != NULL && dealer.slot_work != NULL && dealer.slot_used != NULL &&
                      dealer.earlier != NULL && dealer.room != NULL,
                  HYDRA_ERR_NOMEM, "bytescale policy: %lld documents on %lld slots", (long long)batch->ndocs,
                  (long long)batch->pool);
    HYDRA_TRY(hydra_order_by_weight(batch, ids));
    for (int level = hydra_pool_degrees(batch->pool, degrees) - 1; level >= 0; level--) {
        set_degree(&dealer, degrees[level]);
        for (int64_t i = 0; i < batch->ndocs; i++)
            if (hydra_degree_for_memory(batch, batch->lengths[ids[i]]) == degrees[level])
                HYDRA_TRY(deal(&dealer, ids[i]));
    }
    HYDRA_TRY(hydra_plan_interleave(batch, draft));
fail:
    hydra_free(ids);
    hydra_free(dealer.work);
    hydra_free(dealer.used);
    hydra_free(dealer.last);
    hydra_free(dealer.heap);
    hydra_free(dealer.slot_work);
    hydra_free(dealer.slot_used);
    hydra_free(dealer.earlier);
    hydra_free(dealer.room);
    return status;
}
