/* job.h: a training job under one planning policy: plan a batch, replay the iteration, sum up. */
#ifndef HYDRA_SIM_JOB_H
#define HYDRA_SIM_JOB_H

#include <stdbool.h>

#include "plan/schedule.h"
#include "sim/batches.h"
#include "sim/iteration.h"
#include "sim/report.h"
#include "sim/stage.h"

enum hydra_planning { HYDRA_PLANNING_HIDDEN = 0, HYDRA_PLANNING_MEASURED = 1, HYDRA_PLANNING_GIVEN = 2 };

struct hydra_job {
    const struct hydra_model *model;
    const struct hydra_cluster *cluster;
    struct hydra_cut cut;
    int policy;              /* HYDRA_POLICY_* */
    int engine;              /* enum hydra_engine; -1: that of the policy's system */
    int64_t budget;          /* B */
    int64_t context;         /* longest document that may come: static CP is sized for it */
    int64_t max_degree;      /* 0: the pool's greatest */
    int cap;                 /* HYDRA_CAP_* */
    int planning;            /* enum hydra_planning: does the iteration wait for its plan? */
    double planning_seconds; /* HYDRA_PLANNING_GIVEN */
    struct hydra_disturbance disturbance;
};

#define HYDRA_JOB_INIT ((struct hydra_job){.engine = -1, .disturbance = {0.0, 0, -1, 1.0}})

/* Shares of time x ranks over all stages, 0..1: together 1. */
struct hydra_shares {
    double planning, compute, comm, meeting, pipeline, replicas, reduce, optimizer;
};

enum { HYDRA_TIMELINE_REPLICAS = 16 }; /* as many as HyDra's Figure 16 draws */

struct hydra_run {
    Hydra_Schedule schedule;
    Hydra_Schedule_stats stats;
    struct hydra_stage stage;
    struct hydra_iteration iteration;
    struct hydra_shares shares;
    struct hydra_shares first; /* of slot 0 alone: what a profiler on rank 0 sees */
    int engine;
    double tokens;
    struct hydra_policy_result result; /* points into this struct: it must not move */
    struct hydra_timeline stages, replicas;
    struct hydra_bar *bars[2];
    char caption[80]; /* of stages */
    char slot_names[HYDRA_TIMELINE_REPLICAS][24];
    const char *row_names[HYDRA_TIMELINE_REPLICAS]; /* of replicas */
};

/* Plan, replay and sum up. pictures: also record the timelines. run [out] set only on success; hydra_run_clear. */
int hydra_job_run(const struct hydra_job *job, int64_t ndocs, const int64_t *lengths, bool pictures,
                  struct hydra_run *run);
void hydra_run_clear(struct hydra_run *run);

/* Run every batch; the numbers of run->result, run->shares and run->first become means over batches (speeds: all tokens
 * over all time), degree shares too. Schedule, iteration and pictures are those of the first batch. */
int hydra_job_average(const struct hydra_job *job, const struct hydra_batches *batches, bool pictures,
                      struct hydra_run *run);

/* Options that the job gives to the planner; cost [out] is what options->cost points at. */
Hydra_Plan_options hydra_job_options(const struct hydra_job *job, const struct hydra_stage *stage, int64_t pool,
                                     Hydra_Cost *cost);

/* Days and money that `tokens` take at a result's speed. */
void hydra_result_price(struct hydra_policy_result *result, double tokens, double gpus, double price_per_gpu_hour);

#endif
