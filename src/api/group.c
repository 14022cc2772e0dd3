/* group.c: a microbatch's group communicator. */
#include <inttypes.h>
#include <string.h>

#include "api/context.h"
#include "base/error.h"
#include "plan/schedule.h"

int Hydra_Group_comm(Hydra_Context context, Hydra_Schedule schedule, int64_t m, MPI_Comm *comm)
{
    const struct hydra_group *group;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_context_enter(context));
    HYDRA_REQUIRE(schedule != NULL && comm != NULL, HYDRA_ERR_ARG, "Hydra_Group_comm: %s is NULL",
                  schedule == NULL ? "schedule" : "comm");
    HYDRA_REQUIRE(schedule->pool == context->pool->size, HYDRA_ERR_ARG,
                  "Hydra_Group_comm: the schedule is for %" PRId64 " ranks, the context has %d", schedule->pool,
                  context->pool->size);
    HYDRA_REQUIRE(m >= 0 && m < schedule->microbatches, HYDRA_ERR_ARG,
                  "Hydra_Group_comm: microbatch %" PRId64 " is outside 0 .. %" PRId64, m, schedule->microbatches - 1);
    HYDRA_REQUIRE(memcmp(schedule->slot_of_rank, context->pool->slot_of_rank,
                         (size_t)schedule->pool * sizeof *schedule->slot_of_rank) == 0,
                  HYDRA_ERR_ARG, "Hydra_Group_comm: the schedule gives ranks other slots than the context does");
    group = hydra_schedule_group_of(schedule, m, context->pool->slot);
    *comm = group == NULL ? MPI_COMM_NULL : hydra_pool_group_comm(context->pool, group->first, group->size);

fail:
    return status;
}
