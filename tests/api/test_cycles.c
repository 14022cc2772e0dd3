/* test_cycles.c: 5,000 plans on one context, each handing out its group's communicator, create none: MPI is watched. */
#include "hydra.h"
#include "base/error.h"
#include "tests/mpi_tap.h"

static int created;

/* The profiling interface lets these stand before MPI's own. */
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    created++;
    return PMPI_Comm_dup(comm, made);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    created++;
    return PMPI_Comm_idup(comm, made, request);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    created++;
    return PMPI_Comm_split(comm, color, key, made);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
    created++;
    return PMPI_Comm_create(comm, group, made);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    created++;
    return PMPI_Comm_create_group(comm, group, tag, made);
}

int main(int argc, char **argv)
{
    enum { CYCLES = 5000 };
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    bool good;
    int groups = 0;

    mpi_tap_begin(&argc, &argv);
    options.budget = 64;
    good = TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, &context) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    good &= TAP_CHECK(created > 0, "the watch sees nothing");
    created = 0;
    for (int cycle = 0; good && cycle < CYCLES; cycle++) {
        int64_t lengths[2] = {100 + cycle % 20, cycle % 7};
        Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
        MPI_Comm comm = MPI_COMM_NULL;

        good &= TAP_CHECK(Hydra_Plan(context, 2, lengths, &options, &schedule) == HYDRA_SUCCESS, "plan %d: %s", cycle,
                          hydra_error_detail());
        good = good && TAP_CHECK(Hydra_Group_comm(context, schedule, 0, &comm) == HYDRA_SUCCESS, "plan %d: %s", cycle,
                                 hydra_error_detail());
        groups += comm != MPI_COMM_NULL;
        Hydra_Schedule_free(&schedule);
    }
    good &= TAP_CHECK(created == 0, "%d communicators were created", created) &&
            TAP_CHECK(groups > 0, "no group was handed out");
    mpi_tap_result(good, "5,000 plan and free cycles create no communicator");
    Hydra_Finalize(&context);
    return mpi_tap_done();
}
