/* policy_auto.c: tries the other policies and keeps the best by predicted time; ties go to the earlier in the list.
 *
 * Left out: what cannot plan this pool at all, and what would take longer than it may save (`most_pool`). */
#include "base/bits.h"
#include "base/error.h"
#include "plan/policy.h"
#include "plan/predict.h"

/* Order and bounds. skip: with the load policy's `skip`. */
static const struct {
    int policy;
    int skip;
    int64_t most_pool;
} contenders[] = {
    {HYDRA_POLICY_SHAPED, 0, INT64_MAX},    {HYDRA_POLICY_LOAD, 0, INT64_MAX}, {HYDRA_POLICY_LOAD, 1, INT64_MAX},
    {HYDRA_POLICY_BYTESCALE, 0, INT64_MAX}, {HYDRA_POLICY_WLB, 0, INT64_MAX},  {HYDRA_POLICY_STATIC, 0, INT64_MAX},
    {HYDRA_POLICY_FLEXSP, 0, 16384},        {HYDRA_POLICY_MEMORY, 0, 8192},    {HYDRA_POLICY_MEMORY_PACKED, 0, 65536},
};

/* One contender's draft and its time; planned [out] false when the policy cannot plan this. */
static int try_policy(const struct hydra_batch *batch, const struct hydra_cost *cost, int policy, int skip,
                      struct hydra_draft *draft, int64_t *makespan, bool *planned)
{
    const struct hydra_policy *entry = hydra_policy_find(policy);
    Hydra_Plan_options options = *batch->options;
    struct hydra_batch asked = *batch;
    int status = HYDRA_SUCCESS;

    *planned = false;
    if (entry == NULL)
        return HYDRA_SUCCESS;
    options.policy = policy;
    options.skip = skip != 0 || options.skip != 0;
    asked.options = &options;
    HYDRA_TRY(hydra_draft_init(draft, &asked));
    status = entry->plan(&asked, draft);
    if (status == HYDRA_ERR_INFEASIBLE || status == HYDRA_ERR_UNSUPPORTED || status == HYDRA_ERR_ARG)
        return HYDRA_SUCCESS;
    HYDRA_TRY(status);
    HYDRA_TRY(hydra_predict_draft(&asked, draft, cost, makespan));
    *planned = true;
fail:
    return status;
}

int hydra_policy_auto(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct hydra_draft tried = {0};
    struct hydra_cost cost;
    int64_t best = INT64_MAX;
    int status = HYDRA_SUCCESS;

    if (batch->cost != NULL)
        cost = *batch->cost;
    else
        hydra_cost_make_load(batch, &cost);
    for (size_t i = 0; i < sizeof contenders / sizeof contenders[0]; i++) {
        int64_t makespan;
        bool planned;

        if (batch->pool > contenders[i].most_pool)
            continue;
        HYDRA_TRY(try_policy(batch, &cost, contenders[i].policy, contenders[i].skip, &tried, &makespan, &planned));
        if (planned && makespan < best) {
            struct hydra_draft kept = *draft;

            *draft = tried;
            tried = kept;
            best = makespan;
        }
        hydra_draft_clear(&tried);
    }
    /* What static leaves: an interleaved pipeline wants a multiple of pp, as it was predicted. */
    if (batch->options->pipeline_chunks > 1)
        draft->microbatches =
            hydra_ceil_div(draft->microbatches, batch->options->pipeline_stages) * batch->options->pipeline_stages;
    HYDRA_REQUIRE(best < INT64_MAX, HYDRA_ERR_INTERNAL, "auto: no policy could plan the batch");
fail:
    hydra_draft_clear(&tried);
    return status;
}
