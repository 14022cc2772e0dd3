// consumer.cc: a C++ program that uses the installed library: plans a batch and prints how many microbatches it takes.
#include <hydra.h>

#include <cstdio>
#include <vector>

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    std::vector<int64_t> lengths{900, 30, 5000};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    int64_t microbatches = 0;

    options.budget = 4096;
    int status = Hydra_Plan_serial(4, static_cast<int64_t>(lengths.size()), lengths.data(), &options, &schedule);
    if (status == HYDRA_SUCCESS)
        status = Hydra_Schedule_count(schedule, &microbatches);
    std::printf("%s: %lld microbatches\n", Hydra_Error_string(status), static_cast<long long>(microbatches));
    Hydra_Schedule_free(&schedule);
    MPI_Finalize();
    return status;
}
