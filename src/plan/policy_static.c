/* policy_static.c: one degree for all. The least that fits the longest document; first-fit packing; bins dealt
 * round-robin. */
#include <inttypes.h>

#include "base/bits.h"
#include "base/error.h"
#include "plan/first_fit.h"
#include "plan/policy.h"

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
    struct hydra_first_fit bins = {0};
    int64_t degree = 1, groups, opened = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(choose_degree(batch, &degree));
    groups = batch->pool / degree;
    HYDRA_REQUIRE(hydra_first_fit_init(&bins, batch->ndocs, hydra_group_room(batch, degree)), HYDRA_ERR_NOMEM,
                  "bins of %" PRId64 " documents", batch->ndocs);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        int64_t bin = hydra_first_fit_find(&bins, batch->lengths[i]);

        hydra_first_fit_set(&bins, bin, hydra_first_fit_room(&bins, bin) - batch->lengths[i]);
        for (; opened <= bin; opened++) { /* bin b is group b of the draft */
            int64_t index;

            HYDRA_TRY(hydra_draft_add_group(draft, opened / groups, opened % groups * degree, degree, &index));
        }
        draft->group_of[i] = bin;
    }
    /* Splitting microbatches would make room for greater degrees, and then the degree would not be one for all. */
    if (batch->options->pipeline_chunks > 1)
        draft->microbatches = hydra_ceil_div(hydra_max(1, draft->microbatches), batch->options->pipeline_stages) *
                              batch->options->pipeline_stages;

fail:
    hydra_first_fit_clear(&bins);
    return status;
}
