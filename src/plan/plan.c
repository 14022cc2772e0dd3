/* plan.c: from documents and options to a schedule: check, resolve, ask the policy, finish. */
#include "plan/plan.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/range.h"
#include "plan/batch.h"
#include "plan/cost.h"
#include "plan/draft.h"
#include "plan/policy.h"
#include "plan/schedule.h"

static int check_arguments(int64_t ndocs, const int64_t *lengths, const Hydra_Schedule *schedule)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(schedule != NULL, HYDRA_ERR_ARG, "schedule is NULL");
    HYDRA_REQUIRE(ndocs >= 0, HYDRA_ERR_ARG, "ndocs is %" PRId64 ", must be at least 0", ndocs);
    HYDRA_REQUIRE(ndocs <= HYDRA_DOCS_LIMIT, HYDRA_ERR_OVERFLOW, "ndocs %" PRId64 " exceeds %" PRId64, ndocs,
                  HYDRA_DOCS_LIMIT);
    HYDRA_REQUIRE(lengths != NULL || ndocs == 0, HYDRA_ERR_ARG, "lengths is NULL, but ndocs is %" PRId64, ndocs);

fail:
    return status;
}

int hydra_plan_make(int64_t pool, int64_t ndocs, const int64_t *lengths, const int64_t *loaded_begin,
                    const int64_t *slot_of_rank, const Hydra_Plan_options *options, Hydra_Schedule *schedule)
{
    HYDRA_IN_RANGE(PLANNING);
    Hydra_Plan_options resolved;
    struct hydra_batch batch = {.pool = pool, .ndocs = ndocs, .lengths = lengths, .options = &resolved};
    struct hydra_draft draft = {0};
    struct hydra_cost cost;
    Hydra_Schedule made = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(check_arguments(ndocs, lengths, schedule));
    HYDRA_TRY(hydra_options_resolve(pool, options, &resolved));
    HYDRA_TRY(hydra_batch_check(&batch));
    if (resolved.cost != NULL) {
        hydra_cost_make(resolved.cost, &resolved, pool, &cost);
        batch.cost = &cost;
    }
    HYDRA_TRY(hydra_draft_init(&draft, &batch));
    HYDRA_TRY(hydra_policy_find(resolved.policy)->plan(&batch, &draft));
    HYDRA_TRY(hydra_draft_finish(&draft, &batch, &made));
    HYDRA_TRY(hydra_schedule_place(made, loaded_begin, slot_of_rank));
    *schedule = made;
    hydra_draft_clear(&draft);
    return HYDRA_SUCCESS;

fail:
    hydra_draft_clear(&draft);
    Hydra_Schedule_free(&made);
    return status;
}

int Hydra_Plan_serial(int64_t pool_size, int64_t ndocs, const int64_t lengths[], const Hydra_Plan_options *options,
                      Hydra_Schedule *schedule)
{
    HYDRA_IN_RANGE(PLAN_SERIAL);

    hydra_error_clear();
    return hydra_plan_make(pool_size, ndocs, lengths, NULL, NULL, options, schedule);
}
