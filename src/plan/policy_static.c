/* policy_static.c: one degree for all. The least that fits the longest document; first-fit packing; bins dealt
 * round-robin. */
#include <inttypes.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/policy.h"

/* First-fit over bins kept as a tournament tree: the leftmost bin with room is found in O(log bins). */
struct first_fit {
    int64_t leaves; /* power of two */
    int64_t *room;  /* [2 * leaves] greatest room below each node, tokens; unopened bins have all of it */
};

static int64_t take_first_fit(struct first_fit *bins, int64_t tokens)
{
    int64_t node = 1;

    while (node < bins->leaves)
        node = bins->room[2 * node] >= tokens ? 2 * node : 2 * node + 1;
    bins->room[node] -= tokens;
    for (int64_t up = node / 2; up >= 1; up /= 2)
        bins->room[up] = hydra_max(bins->room[2 * up], bins->room[2 * up + 1]);
    return node - bins->leaves;
}

/* The one degree: holds the longest document; all-to-all only can use no more ranks than heads. */
static int choose_degree(const struct hydra_batch *batch, int64_t *degree)
{
    const Hydra_Plan_options *o = batch->options;
    int64_t longest = 0;
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < batch->ndocs; i++)
        longest = hydra_max(longest, batch->lengths[i]);
    *degree = hydra_degree_for_memory(batch, longest);
    HYDRA_REQUIRE(
        o->static_transport != 2 || *degree == 1 || (o->heads > 0 && *degree <= o->heads), HYDRA_ERR_INFEASIBLE,
        "static over all-to-all alone: a document of %" PRId64 " tokens needs degree %" PRId64 ", there are %d heads",
        longest, *degree, o->heads);

fail:
    return status;
}

int hydra_policy_static(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct first_fit bins = {.leaves = hydra_pow2_ceil(batch->ndocs)};
    int64_t degree = 1, groups = 1, opened = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(choose_degree(batch, &degree));
    groups = batch->pool / degree;
    bins.room = hydra_alloc(2 * bins.leaves, sizeof *bins.room);
    HYDRA_REQUIRE(bins.room != NULL, HYDRA_ERR_NOMEM, "bins of %" PRId64 " documents", batch->ndocs);
    for (int64_t node = 0; node < 2 * bins.leaves; node++)
        bins.room[node] = hydra_group_room(batch, degree);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        int64_t bin = take_first_fit(&bins, batch->lengths[i]);

        for (; opened <= bin; opened++) { /* bin b is group b of the draft */
            int64_t index;

            HYDRA_TRY(hydra_draft_add_group(draft, opened / groups, opened % groups * degree, degree, &index));
        }
        draft->group_of[i] = bin;
    }

fail:
    hydra_free(bins.room);
    return status;
}
