/* ranks.c: options, MPI, a command, and what its failure looks like from outside. */
#include "tools/ranks.h"

#include <mpi.h>

#include "base/error.h"

int tool_run_ranks(int argc, char **argv, const char *usage, const struct tool_option *options, tool_ranks_function run,
                   void *state)
{
    int provided = 0, rank = 0, size = 1, code = 0;
    bool done = false;
    int status = tool_options_read(argc, argv, usage, options, &done);

    if (status != HYDRA_SUCCESS)
        return tool_fail(status);
    if (done)
        return 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    status = run(rank, size, state);
    if (status != HYDRA_SUCCESS)
        code = rank == 0 || status != HYDRA_ERR_PEER ? tool_fail(status) : 1;
    MPI_Finalize();
    return code;
}

double tool_slowest(double seconds)
{
    double slowest = 0;

    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}
