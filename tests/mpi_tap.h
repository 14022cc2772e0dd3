/* mpi_tap.h: tap.h for MPI tests: a sentence is true when it is true on every rank; rank 0 reports it. */
#ifndef HYDRA_TESTS_MPI_TAP_H
#define HYDRA_TESTS_MPI_TAP_H

#include <mpi.h>

#include "tap.h"

static int mpi_tap_rank, mpi_tap_size;

__attribute__((unused)) static void mpi_tap_begin(int *argc, char ***argv)
{
    int provided;

    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi_tap_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_tap_size);
}

/* Collective over MPI_COMM_WORLD. */
__attribute__((unused)) static void mpi_tap_result(bool good, const char *sentence)
{
    int mine = good, all = 0;

    if (!good)
        printf("# the above is from rank %d\n", mpi_tap_rank);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    tap_failures += !all;
    tap_count++;
    if (mpi_tap_rank == 0)
        printf("%s %d - %s\n", all ? "ok" : "not ok", tap_count, sentence);
}

__attribute__((unused)) static int mpi_tap_done(void)
{
    if (mpi_tap_rank == 0)
        printf("1..%d\n", tap_count);
    MPI_Finalize();
    return tap_failures != 0;
}

#endif
