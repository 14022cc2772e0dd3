/* test_sessions.c: a context on a communicator of an MPI session, without MPI_Init. */
#include <stdio.h>

#include "api/context.h"
#include "base/error.h"
#include "tests/tap.h"

int main(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    int rank = 0, size = 0, status, finalized, good, all;

    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
        tap_skip("a context on a session's communicator", "this MPI opens no session");
        return tap_done();
    }
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "hydra-dcp", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    status = Hydra_Init(comm, NULL, &context);
    good = TAP_CHECK(status == HYDRA_SUCCESS, "%s", hydra_error_detail());
    if (good) {
        good &= Hydra_Context_query(context, &size, NULL, NULL) == HYDRA_SUCCESS && size >= 1;
        finalized = Hydra_Finalize(&context);
        good &= TAP_CHECK(finalized == HYDRA_SUCCESS, "%s", hydra_error_detail());
    }
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    if (rank == 0)
        tap_result(all, "a context comes up on a session's communicator, without MPI_Init");
    if (rank == 0)
        return tap_done();
    return !all;
#else
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    if (rank > 0)
        return 0;
    tap_skip("a context on a session's communicator", "sessions came with MPI 4");
    return tap_done();
#endif
}
