/* paper.c: replays the settings of HyDra's evaluation. What is compared stands in paper_rows.def. */
#include "sim/paper.h"

#include "base/bits.h"
#include "base/error.h"

struct setting {
    const char *model, *cluster;
    int64_t gpus, budget, context;
    int64_t tokens_per_slot;
    double
        planning[HYDRA_PAPER_SYSTEMS]; /* s that the iteration waits for its plan, as the paper measured; 0: unknown */
};

/* The simulated jobs keep what their models' presets say. Only at 2,048 GPUs does the paper say how long planning
 * stalls an iteration. */
static const struct setting settings[HYDRA_PAPER_SETTINGS] = {
    [HYDRA_PAPER_T32] = {"hydra-testbed", "h20x512", 512, 4096, 32768, 32768, {0}},
    [HYDRA_PAPER_T256] = {"hydra-testbed", "h20x512", 512, 8192, 262144, 32768, {0}},
    [HYDRA_PAPER_P2048] = {"hydra-testbed",
                           "h800x2048",
                           2048,
                           8192,
                           262144,
                           65536,
                           {[HYDRA_PAPER_HYDRA] = 0.34, [HYDRA_PAPER_MCORE] = 0.78}},
    [HYDRA_PAPER_P2048F] = {"hydra-production",
                            "h800x2048",
                            2048,
                            8192,
                            262144,
                            65536,
                            {[HYDRA_PAPER_HYDRA] = 0.34, [HYDRA_PAPER_MCORE] = 0.78}},
    [HYDRA_PAPER_HY8K] = {"hy3", "h800x2048", 8192, 0, 0, 0, {0}},
    [HYDRA_PAPER_HY16K] = {"hy3", "h800x2048", 16384, 0, 0, 0, {0}},
    [HYDRA_PAPER_HY24K] = {"hy3", "h800x2048", 24576, 0, 0, 0, {0}},
    [HYDRA_PAPER_HY32K] = {"hy3", "h800x2048", 32768, 0, 0, 0, {0}},
    [HYDRA_PAPER_HY40K] = {"hy3", "h800x2048", 40960, 0, 0, 0, {0}},
    [HYDRA_PAPER_DS8K] = {"deepseek-v3", "h800x2048", 8192, 0, 0, 0, {0}},
    [HYDRA_PAPER_DS16K] = {"deepseek-v3", "h800x2048", 16384, 0, 0, 0, {0}},
    [HYDRA_PAPER_DS24K] = {"deepseek-v3", "h800x2048", 24576, 0, 0, 0, {0}},
    [HYDRA_PAPER_DS32K] = {"deepseek-v3", "h800x2048", 32768, 0, 0, 0, {0}},
    [HYDRA_PAPER_DS40K] = {"deepseek-v3", "h800x2048", 40960, 0, 0, 0, {0}},
};

struct system {
    int policy, engine;
    bool simulated; /* only in the simulated settings */
};

static const struct system systems[HYDRA_PAPER_SYSTEMS] = {
    [HYDRA_PAPER_HYDRA] = {HYDRA_POLICY_LOAD, HYDRA_ENGINE_OVERLAP, false},
    [HYDRA_PAPER_MCORE] = {HYDRA_POLICY_MEMORY, HYDRA_ENGINE_ULYSSES, false},
    [HYDRA_PAPER_STATIC] = {HYDRA_POLICY_STATIC, HYDRA_ENGINE_ULYSSES, false},
    [HYDRA_PAPER_RING] = {HYDRA_POLICY_STATIC, HYDRA_ENGINE_RING, true},
    [HYDRA_PAPER_BYTESCALE] = {HYDRA_POLICY_BYTESCALE, HYDRA_ENGINE_RING, true},
    [HYDRA_PAPER_WLB] = {HYDRA_POLICY_WLB, HYDRA_ENGINE_ULYSSES, true},
    [HYDRA_PAPER_FLEXSP] = {HYDRA_POLICY_FLEXSP, HYDRA_ENGINE_ULYSSES, true},
};

/* Above, a setting is one of those that the paper simulates. */
enum { LARGE_GPUS = 4096 };

static void keep(const struct hydra_run *run, struct hydra_paper_cell *cell)
{
    cell->known = true;
    cell->result = run->result;
    cell->result.stats = NULL;
    cell->result.schedule = NULL;
    cell->result.stages = cell->result.replicas = NULL;
    cell->shares = run->shares;
    cell->first = run->first;
    for (int i = 0; i < 64; i++)
        cell->degree_share[i] = run->stats.degree_share[i];
}

static int fill_setting(int which, int64_t batches, uint64_t seed, struct hydra_paper *paper)
{
    const struct setting *setting = &settings[which];
    bool large = setting->gpus > LARGE_GPUS;
    struct hydra_model model;
    struct hydra_cluster cluster;
    struct hydra_batches drawn = {.count = 0};
    struct hydra_job job = HYDRA_JOB_INIT;
    int64_t pool = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_model_read(setting->model, &model));
    HYDRA_TRY(hydra_cluster_read(setting->cluster, &cluster));
    job.model = &model;
    job.cluster = &cluster;
    job.cut = (struct hydra_cut){setting->gpus, model.tensor_parallel, model.pipeline_stages, model.pipeline_chunks,
                                 model.expert_parallel};
    job.budget = setting->budget > 0 ? setting->budget : model.budget;
    job.context = setting->context > 0 ? setting->context : model.context;
    job.cap = HYDRA_CAP_PAPER;
    HYDRA_TRY(hydra_cut_pool(&job.cut, &pool));
    HYDRA_TRY(hydra_batches_draw(
        seed, large ? hydra_max(1, batches / 8) : batches,
        pool * (setting->tokens_per_slot > 0 ? setting->tokens_per_slot : model.tokens_per_slot), job.context, &drawn));
    for (int s = 0; s < HYDRA_PAPER_SYSTEMS; s++) {
        struct hydra_paper_cell *cell = &paper->cells[which][s];
        struct hydra_run run = {.schedule = HYDRA_SCHEDULE_NULL};

        if (systems[s].simulated && !large)
            continue;
        job.policy = systems[s].policy;
        job.engine = systems[s].engine;
        job.planning = HYDRA_PLANNING_GIVEN;
        job.planning_seconds = setting->planning[s];
        if (hydra_job_average(&job, &drawn, false, &run) == HYDRA_SUCCESS)
            keep(&run, cell);
        else
            snprintf(cell->why, sizeof cell->why, "%.150s", hydra_error_detail());
        hydra_run_clear(&run);
    }
fail:
    hydra_batches_clear(&drawn);
    return status;
}

int hydra_paper_fill(int64_t batches, uint64_t seed, struct hydra_paper *paper)
{
    int status = HYDRA_SUCCESS;

    for (int which = 0; which < HYDRA_PAPER_SETTINGS; which++)
        HYDRA_TRY(fill_setting(which, batches, seed, paper));
fail:
    return status;
}
