/* average.c: means of a job's results over several batches. */
#include "sim/job.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "sim/watch.h"

/* Numbers of a result that are averaged as they are; speeds follow from seconds and tokens. */
static const size_t fields[] = {
    offsetof(struct hydra_policy_result, seconds),   offsetof(struct hydra_policy_result, mfu),
    offsetof(struct hydra_policy_result, pp_bubble), offsetof(struct hydra_policy_result, dp_bubble),
    offsetof(struct hydra_policy_result, exposed),   offsetof(struct hydra_policy_result, busy),
    offsetof(struct hydra_policy_result, cov),       offsetof(struct hydra_policy_result, planning_seconds),
};

static double *field(struct hydra_policy_result *result, size_t i)
{
    return (double *)((char *)result + fields[i]);
}

enum { SHARES = sizeof(struct hydra_shares) / sizeof(double) };

static void add_shares(struct hydra_shares *sum, const struct hydra_shares *shares)
{
    for (int i = 0; i < SHARES; i++)
        ((double *)sum)[i] += ((const double *)shares)[i];
}

static void divide_shares(struct hydra_shares *sum, double count)
{
    for (int i = 0; i < SHARES; i++)
        ((double *)sum)[i] /= count;
}

static void add(struct hydra_run *sum, struct hydra_run *run)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *field(&sum->result, i) += *field(&run->result, i);
    add_shares(&sum->shares, &run->shares);
    add_shares(&sum->first, &run->first);
    for (int i = 0; i < 64; i++)
        sum->stats.degree_share[i] += run->stats.degree_share[i];
    sum->tokens += run->tokens;
}

static void divide(struct hydra_run *sum, double count)
{
    double seconds = sum->result.seconds;

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *field(&sum->result, i) /= count;
    divide_shares(&sum->shares, count);
    divide_shares(&sum->first, count);
    for (int i = 0; i < 64; i++)
        sum->stats.degree_share[i] /= count;
    sum->result.tokens_per_second = sum->tokens / seconds;
    sum->result.tokens_per_day = sum->result.tokens_per_second * 86400;
    sum->tokens /= count;
}

int hydra_job_average(const struct hydra_job *job, const struct hydra_batches *batches, bool pictures,
                      struct hydra_run *run)
{
    struct hydra_run other = {.schedule = HYDRA_SCHEDULE_NULL};
    char work[96];
    int status = HYDRA_SUCCESS;

    snprintf(work, sizeof work, "%s on %" PRId64 " GPUs, batch", Hydra_Policy_name(job->policy), job->cut.gpus);
    hydra_watch(work, 0, batches->count);
    HYDRA_TRY(hydra_job_run(job, batches->ndocs[0], batches->lengths[0], pictures, run));
    for (int64_t b = 1; b < batches->count; b++) {
        hydra_watch(work, b, batches->count);
        HYDRA_TRY(hydra_job_run(job, batches->ndocs[b], batches->lengths[b], false, &other));
        add(run, &other);
        hydra_run_clear(&other);
    }
    divide(run, (double)batches->count);
    return HYDRA_SUCCESS;

fail:
    hydra_run_clear(run);
    return status;
}
