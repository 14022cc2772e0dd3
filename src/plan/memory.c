/* memory.c: what Megatron-Core's two rules share: demands by memory alone, longest first, padding. */
#include "plan/memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

int64_t hydra_padded_tokens(int64_t pool, int64_t tensor_parallel, int64_t s)
{
    int64_t unit = 2 * pool * tensor_parallel; /* < 2^56 */

    return hydra_ceil_div(s, unit) * unit;
}

static int compare_demands(const void *left, const void *right)
{
    const struct hydra_demand *a = left, *b = right;

    if (a->tokens != b->tokens)
        return a->tokens > b->tokens ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

int hydra_demands_make(const struct hydra_batch *batch, struct hydra_demand **demands)
{
    const Hydra_Plan_options *o = batch->options;
    struct hydra_demand *made = hydra_alloc(batch->ndocs, sizeof *made);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "demands of %" PRId64 " documents", batch->ndocs);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        int64_t s = batch->lengths[i];
        int64_t tokens = o->padding ? hydra_padded_tokens(batch->pool, o->tensor_parallel, s) : s;

        HYDRA_REQUIRE(tokens <= HYDRA_LENGTH_LIMIT, HYDRA_ERR_INFEASIBLE,
                      "document %" PRId64 " of %" PRId64 " tokens, padded to %" PRId64 ", exceeds %" PRId64, i, s,
                      tokens, HYDRA_LENGTH_LIMIT);
        HYDRA_REQUIRE(tokens <= hydra_group_room(batch, o->max_degree), HYDRA_ERR_INFEASIBLE,
                      "document %" PRId64 " of %" PRId64 " tokens, padded to %" PRId64
                      ", needs more than budget %" PRId64 " x greatest degree %" PRId64 ": it would do without padding",
                      i, s, tokens, o->budget, o->max_degree);
        made[i] = (struct hydra_demand){i, tokens, hydra_degree_for_memory(batch, tokens),
                                        tokens == s || o->pairs != NULL
                                            ? hydra_batch_weight(batch, i)
                                            : hydra_mask_weight(o->mask, o->window, o->sink, tokens)};
    }
    qsort(made, (size_t)batch->ndocs, sizeof *made, compare_demands);
    *demands = made;
    return HYDRA_SUCCESS;

fail:
    hydra_free(made);
    return status;
}
