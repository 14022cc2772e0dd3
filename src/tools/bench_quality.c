/* bench_quality.c: hydra-dcp bench quality: how much sooner shaped ends than load, judged by replaying whole plans.
 *
 * A judge knows nothing of the planner: every group's time comes from the schedule's documents under a cost model whose
 * theta and phi are off by a quarter, each group and microbatch is 5% noisy, and all slots run through the pipeline. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "plan/cost.h"
#include "plan/predict.h"
#include "plan/schedule.h"
#include "plan/figure1.h"
#include "sim/preset.h"
#include "tools/commands.h"
#include "tools/ideal_column.h"
#include "tools/setting.h"
#include "tools/progress.h"

#define BENCH(name, function, summary) int function(int argc, char **argv);
#include "tools/bench.def"
#undef BENCH

enum { MOST_SETTINGS = 64 };

struct ratios {
    int64_t count;
    double sum, least, greatest;
};

static void note(struct ratios *ratios, double value)
{
    ratios->least = ratios->count == 0 ? value : fmin(ratios->least, value);
    ratios->greatest = ratios->count == 0 ? value : fmax(ratios->greatest, value);
    ratios->sum += value;
    ratios->count++;
}

/* What one setting, or the random batches, came to: load's time over shaped's. */
struct outcome {
    struct ratios quiet, disturbed; /* as predicted; with wrong coefficients and noise */
    struct ratios ideal;            /* time of the ideal column over shaped's, as predicted */
    struct ratios time, sorts;      /* CPU seconds of planning, and in qsorts of the same lengths */
    int64_t fallbacks;
};

/* CPU time of all threads: a busy machine disturbs it little. */
static double cpu_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Standard normal deviate, from twelve uniform ones. */
static double deviate(struct hydra_random *random)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += hydra_random_unit(random);
    return sum;
}

/* Seconds of the iteration when theta and phi are really `theta` and `phi` times what was planned for. */
static int judge(const struct hydra_schedule *schedule, const Hydra_Cost *model, double theta, double phi, double noise,
                 uint64_t seed, double *seconds)
{
    const Hydra_Plan_options *options = &schedule->options;
    struct hydra_random random = hydra_random_seed(seed);
    struct hydra_columns columns = {0};
    Hydra_Cost real = *model;
    struct hydra_cost planned, cost;
    int64_t makespan = 0;
    int status = HYDRA_SUCCESS;

    real.theta *= theta;
    real.phi *= phi;
    hydra_cost_make(model, options, schedule->pool, &planned);
    hydra_cost_make(&real, options, schedule->pool, &cost);
    for (int i = 0; i < cost.ndegrees; i++) /* groups keep the factor they were planned with */
        hydra_cost_set_factor(&cost, &real, options, planned.degrees[i].size, planned.degrees[i].factor);
    HYDRA_TRY(hydra_columns_of_schedule(schedule, options->pipeline_stages, options->pipeline_chunks, &columns));
    hydra_columns_time(&columns, &cost);
    for (int64_t g = 0; g < schedule->ngroups; g++) {
        double factor = fmax(0.5, 1 + noise * deviate(&random));

        columns.groups[g].forward = (int64_t)((double)columns.groups[g].forward * factor);
        columns.groups[g].backward = (int64_t)((double)columns.groups[g].backward * factor);
    }
    HYDRA_TRY(hydra_columns_run(&columns, options->pipeline_stages, options->pipeline_chunks, &makespan));
    *seconds = (double)makespan * 1e-12;
fail:
    hydra_columns_clear(&columns);
    return status;
}

static int compare_lengths(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static double qsort_seconds(const int64_t *lengths, int64_t ndocs)
{
    int64_t *copy = hydra_alloc(ndocs, sizeof *copy);
    double before;

    if (copy == NULL)
        return NAN;
    memcpy(copy, lengths, (size_t)ndocs * sizeof *copy);
    before = cpu_now();
    qsort(copy, (size_t)ndocs, sizeof *copy, compare_lengths);
    before = cpu_now() - before;
    hydra_free(copy);
    return before;
}

/* One batch: plan twice, judge both. */
static int compare(const struct tool_setting *setting, const int64_t *lengths, int64_t ndocs, int64_t threads,
                   uint64_t seed, bool disturb, struct outcome *outcome)
{
    static const double off[] = {0.75, 1.25};
    Hydra_Plan_options options = setting->options;
    Hydra_Schedule load = NULL, shaped = NULL;
    double a, b, ideal, planning, sorting;
    int status = HYDRA_SUCCESS;

    options.cost = &setting->cost;
    options.threads = (int)threads;
    options.policy = HYDRA_POLICY_LOAD;
    HYDRA_TRY(Hydra_Plan_serial(setting->pool, ndocs, lengths, &options, &load));
    options.policy = HYDRA_POLICY_SHAPED;
    sorting = qsort_seconds(lengths, ndocs);
    planning = cpu_now();
    HYDRA_TRY(Hydra_Plan_serial(setting->pool, ndocs, lengths, &options, &shaped));
    planning = cpu_now() - planning;
    note(&outcome->time, planning);
    note(&outcome->sorts, planning / sorting);
    HYDRA_TRY(judge(load, &setting->cost, 1, 1, 0, 0, &a));
    HYDRA_TRY(judge(shaped, &setting->cost, 1, 1, 0, 0, &b));
    note(&outcome->quiet, a / b);
    HYDRA_TRY(tool_ideal_column(shaped, &setting->cost, &ideal));
    note(&outcome->ideal, ideal / b);
    outcome->fallbacks += a == b && load->ngroups == shaped->ngroups;
    for (int i = 0; disturb && i < 4; i++) {
        HYDRA_TRY(judge(load, &setting->cost, off[i / 2], off[i % 2], 0.05, seed + (uint64_t)i, &a));
        HYDRA_TRY(judge(shaped, &setting->cost, off[i / 2], off[i % 2], 0.05, seed + (uint64_t)i, &b));
        note(&outcome->disturbed, a / b);
    }
fail:
    Hydra_Schedule_free(&load);
    Hydra_Schedule_free(&shaped);
    return status;
}

/* Draw one batch of a setting and compare. */
static int draw_and_compare(const struct tool_setting *setting, int64_t threads, uint64_t seed, bool disturb,
                            struct outcome *outcome)
{
    int64_t *lengths = NULL, ndocs;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_figure1_sample(0x9E3779B97F4A7C15ull * (seed + 1), setting->pool * setting->tokens_per_slot,
                                   setting->context, &lengths, &ndocs));
    HYDRA_TRY(compare(setting, lengths, ndocs, threads, seed, disturb, outcome));
fail:
    hydra_free(lengths);
    return status;
}

/* A setting like none of the files: any pool, pipeline, budget and context. */
static struct tool_setting random_setting(const struct tool_setting *like, uint64_t seed)
{
    struct hydra_random generator = hydra_random_seed(seed), *random = &generator;
    struct tool_setting setting = *like;

    setting.pool = hydra_random_below(random, 2) == 0 ? (int64_t)1 << hydra_random_below(random, 9)
                                                      : 1 + hydra_random_below(random, 256);
    setting.options.budget = (int64_t)2048 << hydra_random_below(random, 4);
    setting.options.pipeline_stages = 1 << hydra_random_below(random, 4);
    setting.options.pipeline_chunks = 1 + (int)hydra_random_below(random, 3);
    setting.context = (int64_t)1 << (12 + hydra_random_below(random, 7));
    while (setting.context > setting.pool * setting.options.budget)
        setting.context /= 2;
    setting.tokens_per_slot = setting.options.budget * (1 + hydra_random_below(random, 12));
    setting.cost.phi *= hydra_random_unit(random) * 2;
    setting.cost.theta *= hydra_random_unit(random) * 2;
    setting.cost.fixed *= hydra_random_unit(random) * 2;
    return setting;
}

static void print_row(const char *name, const struct outcome *o)
{
    double quiet = o->quiet.sum / (double)o->quiet.count, ideal = o->ideal.sum / (double)o->ideal.count;
    char range[32];

    printf("%-20s %5" PRId64 "  %5.3f (%.3f-%.3f)", name, o->quiet.count, quiet, o->quiet.least, o->quiet.greatest);
    if (o->disturbed.count > 0)
        printf("  %5.3f (%.3f-%.3f)", o->disturbed.sum / (double)o->disturbed.count, o->disturbed.least,
               o->disturbed.greatest);
    else
        printf("  %5s %13s", "-", "");
    snprintf(range, sizeof range, "(%.1f-%.1f)", 100 * o->ideal.least, 100 * o->ideal.greatest);
    printf("  %5.1f%% %-13s", 100 * ideal, range);
    if (quiet > ideal)
        printf("  %4.0f%%", 100 * (quiet - 1) / (quiet - ideal));
    else
        printf("  %5s", "-");
    printf("  %5.1f%%  %7.1f  %6.1f\n", 100.0 * (double)o->fallbacks / (double)o->quiet.count,
           1e3 * o->time.sum / (double)o->time.count, o->sorts.sum / (double)o->sorts.count);
    fflush(stdout);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Every .cfg file of a folder, by name. paths [out] hydra_free each. */
static int list_settings(const char *folder, char **paths, int *count)
{
    DIR *directory = opendir(folder);
    int status = HYDRA_SUCCESS;

    *count = 0;
    HYDRA_REQUIRE(directory != NULL, HYDRA_ERR_IO, "--settings %s: no such folder", folder);
    for (struct dirent *entry; *count < MOST_SETTINGS && (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        char path[1300];

        if (length < 5 || strcmp(entry->d_name + length - 4, ".cfg") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        paths[*count] = hydra_strdup(path);
        HYDRA_REQUIRE(paths[*count] != NULL, HYDRA_ERR_NOMEM, "list of settings");
        (*count)++;
    }
    HYDRA_REQUIRE(*count > 0, HYDRA_ERR_IO, "--settings %s: no .cfg file in it", folder);
    qsort(paths, (size_t)*count, sizeof *paths, compare_names);
fail:
    if (directory != NULL)
        closedir(directory);
    return status;
}

/* The folder of the settings that come along, where presets are looked for: beside the program too. */
static const char *known_settings(char *path, size_t len)
{
    char *slash;

    if (hydra_preset_find("settings", "testbed-32k", path, (int64_t)len) != HYDRA_SUCCESS ||
        (slash = strrchr(path, '/')) == NULL)
        return HYDRA_PKGDATADIR "/settings";
    *slash = '\0';
    return path;
}

int hydra_bench_quality(int argc, char **argv)
{
    char known[1024];
    const char *folder = NULL;
    int64_t batches = 6, random = 200, threads = 2;
    const struct tool_option options[] = {
        {"settings", TOOL_STRING, &folder, "DIR", "folder of settings; without: those that come along", 0, 0},
        {"batches", TOOL_INT, &batches, "N", "batches drawn for each setting", 1, 10000},
        {"random", TOOL_INT, &random, "N", "batches of random settings, without noise", 0, 100000},
        {"threads", TOOL_INT, &threads, "N", "worker threads of the planner", 1, 1024},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };
    char *paths[MOST_SETTINGS] = {NULL};
    struct tool_setting setting;
    struct outcome all = {0};
    double sum = 0;
    int count = 0, status = HYDRA_SUCCESS;
    bool done;

    HYDRA_TRY(tool_options_read(argc, argv, "usage: hydra-dcp bench quality [options]", options, &done));
    if (done)
        return 0;
    HYDRA_TRY(list_settings(folder != NULL ? folder : known_settings(known, sizeof known), paths, &count));
    printf(
        "load's iteration time over shaped's, as predicted, and with theta and phi off by a quarter and 5%% noise;\n"
        "the ideal column's time over shaped's (one column, the plan's average work, microbatches of any size but for\n"
        "giants), and the share of the gap between load and it that shaped closes; the share of batches where load's\n"
        "plan was kept; CPU time of planning, also in qsorts of the lengths\n\n");
    printf("%-20s %5s  %-19s  %-19s  %-20s  %5s  %6s  %7s  %6s\n", "setting", "plans", "predicted", "disturbed",
           "ideal", "gap", "load's", "CPU ms", "qsorts");
    for (int i = 0; i < count; i++) {
        struct outcome outcome = {0};

        HYDRA_TRY(tool_setting_read(paths[i], &setting));
        for (int64_t b = 0; b < batches; b++) {
            tool_progress(setting.name, b, batches);
            HYDRA_TRY(draw_and_compare(&setting, threads, (uint64_t)b, true, &outcome));
        }
        tool_progress_end();
        print_row(setting.name, &outcome);
        sum += outcome.disturbed.sum / (double)outcome.disturbed.count;
    }
    printf("%-20s %5s  %-19s  %5.3f\n", "mean of settings", "", "", sum / count);
    if (random > 0) {
        for (int64_t b = 0; b < random; b++) {
            struct tool_setting other = random_setting(&setting, (uint64_t)b);

            tool_progress("random settings", b, random);
            HYDRA_TRY(draw_and_compare(&other, threads, (uint64_t)b, false, &all));
        }
        tool_progress_end();
        print_row("random", &all);
    }
fail:
    for (int i = 0; i < count; i++)
        hydra_free(paths[i]);
    return status == HYDRA_SUCCESS ? 0 : tool_fail(status);
}
