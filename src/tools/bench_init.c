/* bench_init.c: hydra-dcp bench init: what joining and leaving costs, beside the communicators that it makes anyhow. */
#include <mpi.h>
#include <stdio.h>

#include "base/error.h"
#include "comm/wait.h"
#include "hydra.h"
#include "tools/median.h"
#include "tools/ranks.h"

int hydra_bench_init(int argc, char **argv);

enum { MOST_REPETITIONS = 1001, MOST_LEVELS = 32 };

/* A communicator and the halvings below it, as a program would make them by hand. */
static void make_chain(int rank)
{
    MPI_Comm chain[MOST_LEVELS];
    int count = 0, size;

    MPI_Comm_dup(MPI_COMM_WORLD, &chain[count++]);
    for (MPI_Comm_size(chain[0], &size); size > 1; MPI_Comm_size(chain[count - 1], &size)) {
        int place;

        MPI_Comm_rank(chain[count - 1], &place);
        MPI_Comm_split(chain[count - 1], place >= (size + 1) / 2, rank, &chain[count]);
        count++;
    }
    while (count > 0)
        MPI_Comm_free(&chain[--count]);
}

static int join_and_leave(void)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(Hydra_Init(MPI_COMM_WORLD, &config, &context));
    HYDRA_TRY(Hydra_Finalize(&context));

fail:
    return status;
}

static int run(int rank, int size, void *state)
{
    int64_t repetitions = *(const int64_t *)state;
    double init[MOST_REPETITIONS], chain[MOST_REPETITIONS], ratio[MOST_REPETITIONS];
    int status = HYDRA_SUCCESS;

    for (int64_t i = -1; i < repetitions; i++) { /* the first warms up */
        double began, seconds[2];

        MPI_Barrier(MPI_COMM_WORLD);
        began = hydra_clock();
        HYDRA_TRY(join_and_leave());
        seconds[0] = tool_slowest(hydra_clock() - began);
        MPI_Barrier(MPI_COMM_WORLD);
        began = hydra_clock();
        make_chain(rank);
        seconds[1] = tool_slowest(hydra_clock() - began);
        if (i >= 0) {
            init[i] = seconds[0];
            chain[i] = seconds[1];
            ratio[i] = seconds[0] / seconds[1];
        }
    }
    if (rank == 0)
        printf("%d ranks, medians of %lld interleaved repetitions\n"
               "  Hydra_Init and Hydra_Finalize         %10.3f ms\n"
               "  MPI_Comm_dup and halvings, and freed  %10.3f ms\n"
               "  ratio                                 %10.2f   (wanted on 8 ranks: below 3)\n",
               size, (long long)repetitions, 1e3 * tool_median(init, repetitions),
               1e3 * tool_median(chain, repetitions), tool_median(ratio, repetitions));

fail:
    return status;
}

int hydra_bench_init(int argc, char **argv)
{
    int64_t repetitions = 21;
    const struct tool_option options[] = {
        {"repetitions", TOOL_INT, &repetitions, "N", "times each", 1, MOST_REPETITIONS},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };

    return tool_run_ranks(
        argc, argv,
        "usage: mpiexec -n 8 hydra-dcp bench init [options]\n\nTime Hydra_Init and Hydra_Finalize beside "
        "an MPI_Comm_dup and MPI_Comm_splits that halve it down to one rank.",
        options, run, &repetitions);
}
