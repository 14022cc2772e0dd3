/* test_threads.c: four threads with a context each, over MPI, leave the error handler of MPI_COMM_WORLD as it was. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hydra.h"
#include "tests/mpi_tap.h"

enum { THREADS = 4, TRIES = 20, ROUNDS = 300, TOKENS = 64 };

static Hydra_Context contexts[THREADS];
static Hydra_Schedule schedules[THREADS];
static int statuses[THREADS];

static void *dispatch_often(void *user)
{
    int i = (int)(intptr_t)user;
    char *from = calloc(TOKENS, 8), *to = calloc(TOKENS, 8);

    for (int round = 0; statuses[i] == HYDRA_SUCCESS && round < ROUNDS; round++)
        statuses[i] = Hydra_Dispatch(contexts[i], schedules[i], 0, 8, from, to);
    free(from);
    free(to);
    return NULL;
}

static void raised(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static bool start(int i)
{
    int64_t lengths[] = {TOKENS};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Config config = HYDRA_CONFIG_INIT;

    config.alltoall = config.ring = "mpi";
    options.budget = TOKENS;
    options.min_degree = options.max_degree = mpi_tap_size;
    return Hydra_Init(MPI_COMM_WORLD, &config, &contexts[i]) == HYDRA_SUCCESS &&
           Hydra_Plan(contexts[i], mpi_tap_rank == 0, lengths, &options, &schedules[i]) == HYDRA_SUCCESS;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    MPI_Errhandler callers, found;
    int provided, none[THREADS] = {HYDRA_SUCCESS};
    bool good = true;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi_tap_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_tap_size);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (mpi_tap_rank == 0)
            tap_skip("threads leave the caller's error handler alone", "MPI has no MPI_THREAD_MULTIPLE");
        return mpi_tap_done();
    }
    MPI_Comm_create_errhandler(raised, &callers);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, callers);
    for (int i = 0; i < THREADS; i++)
        good &= start(i);
    for (int try = 0; good && try < TRIES; try++) { /* threads meet most often when they begin */
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, dispatch_often, (void *)(intptr_t)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    good = TAP_CHECK(good && memcmp(statuses, none, sizeof none) == 0, "a dispatch failed") &&
           TAP_CHECK(found == callers, "another error handler");
    mpi_tap_result(good, "threads leave the caller's error handler alone");
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&callers);
    for (int i = 0; i < THREADS; i++) {
        Hydra_Schedule_free(&schedules[i]);
        Hydra_Finalize(&contexts[i]);
    }
    return mpi_tap_done();
}
