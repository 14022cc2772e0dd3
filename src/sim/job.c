/* job.c: runs one policy on one batch: options, plan, work, replay, sums. */
#include "sim/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "sim/timeline.h"
#include "sim/work.h"

static const double ps_per_second = 1e12;
static const double seconds_per_day = 86400;

Hydra_Plan_options hydra_job_options(const struct hydra_job *job, const struct hydra_stage *stage, int64_t pool,
                                     Hydra_Cost *cost)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    int64_t most = hydra_pow2_floor(pool);
    int64_t for_context = hydra_pow2_ceil(hydra_ceil_div(job->context, job->budget));
    int engine = job->engine >= 0 ? job->engine : hydra_engine_of_policy(job->policy);

    *cost = hydra_stage_plan_cost(stage);
    options.policy = job->policy;
    options.budget = job->budget;
    options.heads = stage->heads;
    options.kv_heads = stage->kv_heads;
    options.factor = stage->factor;
    options.cap = job->cap;
    options.pipeline_stages = (int)job->cut.pipeline_stages;
    options.pipeline_chunks = (int)job->cut.pipeline_chunks;
    options.tensor_parallel = (int)job->cut.tensor_parallel;
    options.expert_parallel = stage->block_slots > 1 ? (int)stage->block_slots : 0;
    options.max_degree = job->max_degree;
    /* All-to-all alone ends at the head count, unless memory asks for more: then a ring carries the rest. */
    if (engine == HYDRA_ENGINE_ULYSSES && job->max_degree == 0 && for_context <= stage->heads)
        options.max_degree = hydra_min(most, hydra_pow2_floor(stage->heads));
    if (job->policy == HYDRA_POLICY_STATIC || job->policy == HYDRA_POLICY_WLB)
        options.min_degree = hydra_min(most, for_context);
    options.cost = cost;
    options.seed = job->disturbance.seed;
    return options;
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int plan(const struct hydra_job *job, int64_t pool, int64_t ndocs, const int64_t *lengths, struct hydra_run *run,
                double *seconds)
{
    Hydra_Cost cost;
    Hydra_Plan_options options = hydra_job_options(job, &run->stage, pool, &cost);
    double begin = cpu_seconds();
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(Hydra_Plan_serial(pool, ndocs, lengths, &options, &run->schedule));
    *seconds = cpu_seconds() - begin;
    HYDRA_TRY(Hydra_Schedule_stats_get(run->schedule, &run->stats));
fail:
    return status;
}

/* Shares of all stages, of which each has `slots` slots' time. */
static struct hydra_shares share_out(const struct hydra_job *job, const struct hydra_iteration *iteration,
                                     const struct hydra_stage_time *stages, int64_t slots)
{
    double all = (double)iteration->time * (double)(slots * job->cut.pipeline_stages);
    struct hydra_shares shares = {.planning = 0};

    for (int s = 0; s < job->cut.pipeline_stages; s++) {
        shares.planning += (double)stages[s].planning / all;
        shares.compute += (double)stages[s].compute / all;
        shares.comm += (double)stages[s].comm / all;
        shares.meeting += (double)stages[s].meeting / all;
        shares.pipeline += (double)stages[s].pipeline / all;
        shares.replicas += (double)stages[s].replicas / all;
        shares.reduce += (double)stages[s].reduce / all;
        shares.optimizer += (double)stages[s].optimizer / all;
    }
    return shares;
}

static void sum_up(const struct hydra_job *job, double planning, struct hydra_run *run)
{
    struct hydra_policy_result *result = &run->result;
    double seconds = (double)run->iteration.time / ps_per_second;
    /* Forward and twice that backward, as everyone counts; attention counted under its mask. */
    double flops =
        3 * (run->stage.token_flops * run->tokens + run->stage.weight_flops * hydra_work_weight(run->schedule));

    *result = (struct hydra_policy_result)HYDRA_POLICY_RESULT_INIT;
    result->name = Hydra_Policy_name(job->policy);
    result->seconds = seconds;
    result->tokens_per_second = run->tokens / seconds;
    result->tokens_per_day = result->tokens_per_second * seconds_per_day;
    result->mfu = flops / (seconds * (double)job->cut.gpus * job->cluster->peak_flops);
    /* Stages wait for other stages between operations and for other slots inside them. */
    result->pp_bubble = run->shares.pipeline + run->shares.meeting;
    result->dp_bubble = run->shares.replicas;
    result->exposed = run->shares.comm + run->shares.reduce;
    result->busy = run->shares.compute;
    result->cov = run->iteration.variation;
    result->planning_seconds = planning;
    result->stats = &run->stats;
    result->schedule = run->schedule;
}

int hydra_job_run(const struct hydra_job *job, int64_t ndocs, const int64_t *lengths, bool pictures,
                  struct hydra_run *run)
{
    struct hydra_work work = {.pool = 0};
    struct hydra_recorder recorder = {.trace = {.nslots = 0}};
    int64_t pool = 0;
    double planning = 0, waited = 0;
    int status = HYDRA_SUCCESS;

    *run = (struct hydra_run){.engine = job->engine >= 0 ? job->engine : hydra_engine_of_policy(job->policy)};
    HYDRA_TRY(hydra_cut_pool(&job->cut, &pool));
    HYDRA_TRY(hydra_stage_derive(job->model, job->cluster, &job->cut, run->engine, &run->stage));
    HYDRA_TRY(plan(job, pool, ndocs, lengths, run, &planning));
    waited = job->planning == HYDRA_PLANNING_MEASURED ? planning
             : job->planning == HYDRA_PLANNING_GIVEN  ? job->planning_seconds
                                                      : 0;
    HYDRA_TRY(hydra_work_make(run->schedule, &run->stage, &job->cut, waited, &work));
    if (pictures)
        HYDRA_TRY(hydra_recorder_make(&work, &recorder));
    HYDRA_TRY(hydra_iteration_run(&work, &job->disturbance, pictures ? &recorder.trace : NULL, &run->iteration));
    run->tokens = (double)run->stats.tokens;
    run->shares = share_out(job, &run->iteration, run->iteration.stages, pool);
    run->first = share_out(job, &run->iteration, run->iteration.first, 1);
    sum_up(job, planning, run);
    if (pictures)
        HYDRA_TRY(hydra_recorder_draw(&recorder, &work, run));
    hydra_recorder_clear(&recorder);
    hydra_work_clear(&work);
    return HYDRA_SUCCESS;

fail:
    hydra_recorder_clear(&recorder);
    hydra_work_clear(&work);
    hydra_run_clear(run);
    return status;
}

void hydra_run_clear(struct hydra_run *run)
{
    Hydra_Schedule_free(&run->schedule);
    hydra_iteration_clear(&run->iteration);
    for (int i = 0; i < 2; i++)
        hydra_free(run->bars[i]);
    *run = (struct hydra_run){.schedule = HYDRA_SCHEDULE_NULL};
}

void hydra_result_price(struct hydra_policy_result *result, double tokens, double gpus, double price_per_gpu_hour)
{
    result->days = tokens / result->tokens_per_day;
    result->cost = result->days * 24 * gpus * price_per_gpu_hour;
}
