/* test_job.c: from document lengths to results: sums against independent counts, outputs that programs read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "sim/compare.h"
#include "sim/work.h"
#include "tests/json_check.h"
#include "tests/tap.h"

static struct hydra_model model;
static struct hydra_cluster cluster;

static struct hydra_job small_job(void)
{
    struct hydra_job job = HYDRA_JOB_INIT;
    const char *top = getenv("top_srcdir");
    char share[1024];

    snprintf(share, sizeof share, "%s/share", top == NULL ? "." : top);
    setenv("HYDRA_DCP_SHARE", share, 1);
    if (hydra_model_read("hydra-testbed", &model) != HYDRA_SUCCESS ||
        hydra_cluster_read("h20x512", &cluster) != HYDRA_SUCCESS)
        printf("# %s\n", hydra_error_detail());
    job.model = &model;
    job.cluster = &cluster;
    job.cut = (struct hydra_cut){128, 1, 4, 3, 8};
    job.budget = 4096;
    job.context = 32768;
    job.policy = HYDRA_POLICY_LOAD;
    return job;
}

/* Bars of a row follow one another, and every row reduces its gradients as long: waiting for the slowest is no bar. */
static bool waits_are_empty(const struct hydra_timeline *timeline)
{
    double reduction = -1;
    bool good = true;

    for (int64_t b = 1; b < timeline->nbars; b++) {
        const struct hydra_bar *before = &timeline->bars[b - 1], *bar = &timeline->bars[b];

        good &= TAP_CHECK(before->row != bar->row || before->end <= bar->start + 1e-9, "bar %ld starts at %g before %g",
                          (long)b, bar->start, before->end);
        if (bar->kind != HYDRA_BAR_REDUCE)
            continue;
        reduction = reduction < 0 ? bar->end - bar->start : reduction;
        good &= TAP_CHECK(fabs(bar->end - bar->start - reduction) < 1e-9, "row %d reduces for %g s, not %g", bar->row,
                          bar->end - bar->start, reduction);
    }
    return good && TAP_CHECK(reduction > 0, "no reduction is drawn");
}

/* Compute of the whole iteration, from the documents alone: theta and phi of every document, c of every slot and
 * microbatch, three times (forward, and twice that backward). The testbed's 64 heads leave no surplus. */
static void compute_is_what_the_documents_ask_for(void)
{
    struct hydra_job job = small_job();
    struct hydra_batches batches = {.count = 0};
    struct hydra_run run = {.schedule = HYDRA_SCHEDULE_NULL};
    double right = 0, ours = 0;
    bool good = true;

    good &= TAP_CHECK(hydra_batches_draw(7, 1, 32 * 16384, job.context, &batches) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    good &= TAP_CHECK(hydra_job_run(&job, batches.ndocs[0], batches.lengths[0], true, &run) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    if (good) {
        for (int64_t i = 0; i < batches.ndocs[0]; i++) {
            double s = (double)batches.lengths[0][i];

            right += 41e-6 * s + 41e-6 / 24576 * s * s;
        }
        right = 3 * (right + 10e-3 * 32 * (double)run.stats.microbatches) * 4;
        for (int s = 0; s < 4; s++)
            ours += (double)run.iteration.stages[s].compute / 1e12;
        /* Shards round up to whole tokens: at most one token a group and microbatch. */
        good &= TAP_CHECK(ours >= right * (1 - 1e-9) && ours <= right * 1.002, "compute %.9g s, from documents %.9g",
                          ours, right);
        good &=
            TAP_CHECK(run.stages.nbars == 4 * (2 * 3 * run.stats.microbatches + 2), "%ld bars", (long)run.stages.nbars);
        good &= waits_are_empty(&run.stages) && waits_are_empty(&run.replicas);
        good &= TAP_CHECK(fabs(run.shares.compute + run.shares.comm + run.shares.meeting + run.shares.pipeline +
                               run.shares.replicas + run.shares.reduce + run.shares.optimizer + run.shares.planning -
                               1) < 1e-12,
                          "shares");
    }
    hydra_run_clear(&run);
    hydra_batches_clear(&batches);
    tap_result(
        good,
        "the compute of an iteration is what its documents ask for, and its pictures have a bar for each operation");
}

/* One slot, no communication: the replay must take as long as the planner's own pipeline with the same times. */
static void one_column_equals_the_planners_pipeline(void)
{
    struct hydra_job job = small_job();
    const int64_t lengths[] = {4000, 3000, 3500, 2000, 1000, 1200, 3900};
    struct hydra_run run = {.schedule = HYDRA_SCHEDULE_NULL};
    struct hydra_work work = {.pool = 0};
    bool good = true;

    job.cut = (struct hydra_cut){4, 1, 4, 1, 0};
    model.layers = 24;
    cluster.intra_bandwidth = cluster.inter_bandwidth = 1e14;
    cluster.inter_latency = 0;
    cluster.gradient_exposed = 0;
    good &= TAP_CHECK(hydra_job_run(&job, 7, lengths, false, &run) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    good &= TAP_CHECK(hydra_work_make(run.schedule, &run.stage, &job.cut, 0, &work) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    if (good) {
        int64_t times[2][64], makespan = 0;

        for (int64_t m = 0; m < work.shape.microbatches; m++)
            for (int way = 0; way < 2; way++)
                times[way][m] = work.layers * (work.groups[m].compute[way] + work.groups[m].comm[way]);
        good &= hydra_pipeline_run(&work.shape, times[0], times[1], NULL, &makespan) == HYDRA_SUCCESS;
        /* Hops cost next to nothing at this bandwidth: below a microsecond each. */
        good &= TAP_CHECK(llabs(run.iteration.time - work.optimizer - makespan) < 64 * 1000000LL, "%ld, planner %ld",
                          (long)(run.iteration.time - work.optimizer), (long)makespan);
    }
    hydra_work_clear(&work);
    hydra_run_clear(&run);
    tap_result(good, "a pool of one slot takes as long as the planner's pipeline of the same times");
}

static char *printed(const struct hydra_job *job, bool json)
{
    static char text[2][1 << 16];
    static int turn;
    int policies[HYDRA_COMPARE_MAX], count = 0;
    struct hydra_outcome outcomes[HYDRA_COMPARE_MAX] = {{.policy = 0}};
    struct hydra_batches batches = {.count = 0};
    struct hydra_scene scene = {&model, &cluster, job->cut, 32, job->budget, job->context, 2, "\"quoted\" \\ data\n"};
    FILE *file = tmpfile();
    char *out = text[turn ^= 1];

    out[0] = '\0';
    if (file != NULL && hydra_policies_read("load,static", policies, &count) == HYDRA_SUCCESS &&
        hydra_batches_draw(3, 2, 32 * 16384, job->context, &batches) == HYDRA_SUCCESS &&
        hydra_compare(job, &batches, policies, count, false, outcomes) == HYDRA_SUCCESS) {
        for (int i = 0; i < count; i++)
            outcomes[i].run.result.planning_seconds = 0; /* measured: the one number that may differ */
        outcomes[1].status = HYDRA_ERR_INFEASIBLE;
        strcpy(outcomes[1].why, "a \"reason\"");
        (json ? hydra_print_json : hydra_print_table)(file, &scene, outcomes, count);
        rewind(file);
        out[fread(out, 1, sizeof text[0] - 1, file)] = '\0';
    }
    hydra_outcomes_clear(outcomes, count);
    hydra_batches_clear(&batches);
    if (file != NULL)
        fclose(file);
    return out;
}

static void results_are_valid_json_and_the_same_twice(void)
{
    struct hydra_job job = small_job();
    const char *first = printed(&job, true), *again = printed(&job, true);
    long wrong = json_check(first, strlen(first));
    bool good = TAP_CHECK(wrong < 0 && strlen(first) > 100, "JSON wrong at %ld of: %s", wrong, first);

    good &= TAP_CHECK(strcmp(first, again) == 0, "two runs differ");
    good &= TAP_CHECK(strstr(first, "a \\\"reason\\\"") != NULL, "no reason in %s", first);
    good &= TAP_CHECK(strstr(printed(&job, false), "no plan: a \"reason\"") != NULL, "no reason in the table");
    tap_result(good, "results are valid JSON, the same in every run, and say why a policy has no plan");
}

static void faster_links_never_slow_an_iteration(void)
{
    struct hydra_job job = small_job();
    struct hydra_batches batches = {.count = 0};
    bool good = TAP_CHECK(hydra_batches_draw(11, 1, 32 * 16384, job.context, &batches) == HYDRA_SUCCESS, "%s",
                          hydra_error_detail());
    double *links[] = {&cluster.intra_bandwidth, &cluster.inter_bandwidth, &cluster.memory_bandwidth};

    job.policy = HYDRA_POLICY_STATIC;
    for (size_t i = 0; good && i < sizeof links / sizeof links[0]; i++) {
        struct hydra_run slow = {.schedule = HYDRA_SCHEDULE_NULL}, fast = {.schedule = HYDRA_SCHEDULE_NULL};

        good &= hydra_job_run(&job, batches.ndocs[0], batches.lengths[0], false, &slow) == HYDRA_SUCCESS;
        *links[i] *= 1.7;
        good &= hydra_job_run(&job, batches.ndocs[0], batches.lengths[0], false, &fast) == HYDRA_SUCCESS;
        good &= TAP_CHECK(fast.iteration.time <= slow.iteration.time, "link %ld: %ld, faster %ld", (long)i,
                          (long)slow.iteration.time, (long)fast.iteration.time);
        hydra_run_clear(&slow);
        hydra_run_clear(&fast);
    }
    hydra_batches_clear(&batches);
    tap_result(good, "faster links never slow an iteration");
}

static void drawn_batches_have_their_tokens_and_no_longer_documents(void)
{
    struct hydra_batches batches = {.count = 0}, again = {.count = 0};
    bool good = TAP_CHECK(hydra_batches_draw(5, 3, 1000003, 32768, &batches) == HYDRA_SUCCESS &&
                              hydra_batches_draw(5, 3, 1000003, 32768, &again) == HYDRA_SUCCESS,
                          "%s", hydra_error_detail());

    for (int64_t b = 0; good && b < 3; b++) {
        int64_t sum = 0;

        for (int64_t i = 0; i < batches.ndocs[b]; i++) {
            sum += batches.lengths[b][i];
            good &= batches.lengths[b][i] >= 1 && batches.lengths[b][i] <= 32768;
        }
        good &= TAP_CHECK(sum == 1000003, "batch %ld has %ld tokens", (long)b, (long)sum);
        good &= batches.ndocs[b] == again.ndocs[b] &&
                memcmp(batches.lengths[b], again.lengths[b], (size_t)batches.ndocs[b] * sizeof(int64_t)) == 0;
    }
    good &= TAP_CHECK(batches.ndocs[0] != batches.ndocs[1] || batches.lengths[0][0] != batches.lengths[1][0],
                      "batches are alike");
    hydra_batches_clear(&batches);
    hydra_batches_clear(&again);
    tap_result(good,
               "drawn batches have exactly their tokens, no longer documents than asked, and come again from a seed");
}

static void a_file_of_lengths_is_read_strictly(void)
{
    static const struct {
        const char *text;
        const char *says; /* NULL: good */
    } cases[] = {{"100\n\n# comment\n 200 # more\n32K\n", NULL},
                 {"100\n-5\n", ":2: "},
                 {"1\n2\nx\n", ":3: "},
                 {"7 8\n", ":1: "},
                 {"# nothing\n", "holds no length"}};
    char path[] = "lengths_XXXXXX";
    int made = mkstemp(path);
    bool good = TAP_CHECK(made >= 0, "no file %s", path);

    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++) {
        struct hydra_batches batches = {.count = 0};
        FILE *file = fopen(path, "w");
        int status;

        fputs(cases[i].text, file);
        fclose(file);
        status = hydra_batches_read(path, 1000, &batches);
        if (cases[i].says == NULL)
            good &= TAP_CHECK(status == HYDRA_SUCCESS && batches.ndocs[0] == 3 && batches.lengths[0][0] == 100 &&
                                  batches.lengths[0][1] == 200 && batches.lengths[0][2] == 1000,
                              "status %d %s", status, hydra_error_detail());
        else
            good &= TAP_CHECK(status == HYDRA_ERR_FORMAT && strstr(hydra_error_detail(), cases[i].says) != NULL &&
                                  strncmp(hydra_error_detail(), path, strlen(path)) == 0,
                              "case %ld: '%s'", (long)i, hydra_error_detail());
        hydra_batches_clear(&batches);
    }
    if (made >= 0) {
        close(made);
        unlink(path);
    }
    tap_result(good, "a file of lengths is read strictly, its documents cut to the context, its faults named by line");
}

static void a_sweep_runs_every_value(void)
{
    struct hydra_job job = small_job();
    struct hydra_sweep sweep = {.count = 0};
    int policies[HYDRA_COMPARE_MAX], count = 0;
    static const char *const bad[] = {"budget", "colour=1", "cap=", "pool=8,x", "context=0"};
    bool good = true;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        good &= TAP_CHECK(hydra_sweep_read(bad[i], &sweep) != HYDRA_SUCCESS, "'%s' was read", bad[i]);
    good &= TAP_CHECK(hydra_policies_read("load,static", policies, &count) == HYDRA_SUCCESS && count == 2, "%d", count);
    good &= TAP_CHECK(hydra_sweep_read("pool=8,16,32", &sweep) == HYDRA_SUCCESS && sweep.count == 3, "%s",
                      hydra_error_detail());
    good &= TAP_CHECK(hydra_sweep_run(&job, 1, 1, 16384, policies, count, &sweep) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    if (good) {
        FILE *file = tmpfile();
        static char text[1 << 14];
        long wrong;

        for (int i = 0; i < 6; i++)
            good &= TAP_CHECK(sweep.per_gpu[i] > 0 && sweep.seconds[i] > 0, "cell %d is %g", i, sweep.per_gpu[i]);
        hydra_sweep_print_json(file, &sweep, policies, count);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        wrong = json_check(text, strlen(text));
        good &= TAP_CHECK(wrong < 0, "JSON wrong at %ld of: %s", wrong, text);
    }
    hydra_sweep_clear(&sweep);
    tap_result(good, "a sweep runs every policy at every value, and refuses what it cannot read");
}

int main(void)
{
    compute_is_what_the_documents_ask_for();
    one_column_equals_the_planners_pipeline();
    results_are_valid_json_and_the_same_twice();
    faster_links_never_slow_an_iteration();
    drawn_batches_have_their_tokens_and_no_longer_documents();
    a_file_of_lengths_is_read_strictly();
    a_sweep_runs_every_value();
    return tap_done();
}
