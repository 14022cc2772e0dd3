/* test_single.c: MPI_THREAD_SINGLE with OpenMP threads is refused with a reason; with one thread it is fine. */
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "api/context.h"
#include "base/error.h"
#include "tests/mpi_tap.h"

int main(int argc, char **argv)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    int provided = MPI_THREAD_FUNNELED, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi_tap_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi_tap_size);
    status = Hydra_Init(MPI_COMM_WORLD, NULL, &context); /* OMP_NUM_THREADS=1 in tests */
    mpi_tap_result(TAP_CHECK(status == HYDRA_SUCCESS, "%s", hydra_error_detail()), "one thread needs no thread level");
    Hydra_Finalize(&context);
#ifdef _OPENMP
    if (provided == MPI_THREAD_SINGLE) {
        /* On one rank alone: the others must hear of it. */
        if (mpi_tap_rank == 0)
            omp_set_num_threads(2);
        status = Hydra_Init(MPI_COMM_WORLD, NULL, &context);
        mpi_tap_result(TAP_CHECK(status == (mpi_tap_rank == 0 ? HYDRA_ERR_UNSUPPORTED : HYDRA_ERR_PEER), "%d: %s",
                                 status, hydra_error_detail()) &&
                           TAP_CHECK(mpi_tap_rank != 0 || strstr(hydra_error_detail(), "MPI_THREAD_FUNNELED") != NULL,
                                     "%s", hydra_error_detail()),
                       "OpenMP threads under MPI_THREAD_SINGLE are refused with a reason");
    }
#endif
    return mpi_tap_done();
}
