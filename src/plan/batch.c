/* batch.c: weights of documents, degrees of a pool, and the check of what the caller gave. */
#include "plan/batch.h"

#include <inttypes.h>

#include "base/bits.h"
#include "base/error.h"

hydra_weight hydra_mask_weight(int mask, int64_t window, int64_t sink, int64_t s)
{
    hydra_weight length = (hydra_weight)s;
    hydra_weight seen = (hydra_weight)window + (hydra_weight)sink; /* most keys that a query sees */

    switch (mask) {
    case HYDRA_MASK_CAUSAL:
        return length * length;
    case HYDRA_MASK_FULL:
        return 2 * length * length;
    default: /* query i sees min(i + 1, window + sink) keys: a ramp, then a plateau */
        return length <= seen ? length * (length + 1) : seen * (seen + 1) + 2 * (length - seen) * seen;
    }
}

hydra_weight hydra_batch_weight(const struct hydra_batch *batch, int64_t i)
{
    const Hydra_Plan_options *options = batch->options;

    if (options->pairs != NULL)
        return 2 * (hydra_weight)options->pairs[i];
    return hydra_mask_weight(options->mask, options->window, options->sink, batch->lengths[i]);
}

int hydra_pool_degrees(int64_t pool, int64_t degrees[64])
{
    int count = 0;

    for (int64_t degree = 1; degree <= pool; degree *= 2)
        degrees[count++] = degree;
    if (degrees[count - 1] != pool)
        degrees[count++] = pool;
    return count;
}

int64_t hydra_degree_ceil(int64_t pool, int64_t x)
{
    return x >= pool ? pool : hydra_min(pool, hydra_pow2_ceil(x));
}

int64_t hydra_degree_floor(int64_t pool, int64_t x)
{
    return x >= pool ? pool : hydra_pow2_floor(x);
}

int64_t hydra_degree_for_memory(const struct hydra_batch *batch, int64_t s)
{
    int64_t needed = hydra_ceil_div(s, batch->options->budget);

    return hydra_degree_ceil(batch->pool, hydra_max(needed, batch->options->min_degree));
}

int64_t hydra_group_room(const struct hydra_batch *batch, int64_t size)
{
    return batch->options->budget > HYDRA_TOKENS_LIMIT / size ? HYDRA_TOKENS_LIMIT : batch->options->budget * size;
}

/* Document i needs more than max_degree ranks: say what would do. */
static int too_long(const struct hydra_batch *batch, int64_t i)
{
    const Hydra_Plan_options *options = batch->options;
    int64_t s = batch->lengths[i];
    int64_t ranks = hydra_ceil_div(s, options->budget);
    int64_t budget = hydra_ceil_div(hydra_ceil_div(s, options->max_degree), options->align) * options->align;

    return hydra_error(HYDRA_ERR_INFEASIBLE,
                       "document %" PRId64 " of %" PRId64 " tokens needs more than budget %" PRId64
                       " x greatest degree %" PRId64 ": a budget of %" PRId64 " or a %s of %" PRId64 " would do",
                       i, s, options->budget, options->max_degree, budget,
                       ranks <= batch->pool ? "greatest degree" : "pool",
                       ranks <= batch->pool ? hydra_degree_ceil(batch->pool, ranks) : ranks);
}

int hydra_batch_check(const struct hydra_batch *batch)
{
    const int64_t *pairs = batch->options->pairs;
    int64_t tokens = 0, most = hydra_group_room(batch, batch->options->max_degree);
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < batch->ndocs; i++) {
        int64_t s = batch->lengths[i];

        HYDRA_REQUIRE(s >= 0, HYDRA_ERR_ARG, "document %" PRId64 ": length %" PRId64 " is negative", i, s);
        HYDRA_REQUIRE(s <= HYDRA_LENGTH_LIMIT, HYDRA_ERR_OVERFLOW,
                      "document %" PRId64 ": length %" PRId64 " exceeds %" PRId64, i, s, HYDRA_LENGTH_LIMIT);
        tokens += s;
        HYDRA_REQUIRE(tokens <= HYDRA_TOKENS_LIMIT, HYDRA_ERR_OVERFLOW,
                      "documents 0..%" PRId64 " have more than %" PRId64 " tokens together", i, HYDRA_TOKENS_LIMIT);
        HYDRA_REQUIRE(pairs == NULL || (pairs[i] >= 0 && (hydra_weight)pairs[i] <= (hydra_weight)s * (hydra_weight)s),
                      HYDRA_ERR_ARG, "document %" PRId64 ": %" PRId64 " attended pairs, but its length is %" PRId64, i,
                      pairs[i], s);
        if (s > most)
            HYDRA_TRY(too_long(batch, i));
    }
    return HYDRA_SUCCESS;

fail:
    return status;
}
