/* sweep.c: the same job over pool sizes, budgets, context lengths or caps: where does it stop paying? */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parse.h"
#include "sim/compare.h"
#include "sim/words.h"

static const char *const names[] = {"pool", "budget", "context", "cap"};
static const char *const labels[] = {"slots of the pool", "tokens a slot and microbatch", "longest document, tokens",
                                     "greatest degree"};
enum { NAMES = 4, VALUES = 64 };

int hydra_sweep_read(const char *text, struct hydra_sweep *sweep)
{
    const char *equals = strchr(text, '=');
    char value[32];
    int status = HYDRA_SUCCESS;

    *sweep = (struct hydra_sweep){.over = -1};
    for (int i = 0; i < NAMES && equals != NULL; i++)
        if (strlen(names[i]) == (size_t)(equals - text) && strncmp(text, names[i], strlen(names[i])) == 0)
            sweep->over = i;
    HYDRA_REQUIRE(sweep->over >= 0, HYDRA_ERR_ARG, "--sweep: '%s' is not pool=, budget=, context= or cap= with values",
                  text);
    for (const char *at = equals + 1;; at++) {
        size_t length = strcspn(at, ",");

        HYDRA_REQUIRE(sweep->count < VALUES, HYDRA_ERR_ARG, "--sweep: more than %d values", VALUES);
        snprintf(value, sizeof value, "%.*s", (int)(length < sizeof value ? length : sizeof value - 1), at);
        HYDRA_TRY(hydra_parse_int("--sweep", value, 1, (int64_t)1 << 30, &sweep->values[sweep->count]));
        sweep->count++;
        at += length;
        if (*at == '\0')
            break;
    }
fail:
    return status;
}

static void set_value(int over, int64_t value, struct hydra_job *job)
{
    switch (over) {
    case HYDRA_SWEEP_POOL:
        job->cut.gpus = value * job->cut.tensor_parallel * job->cut.pipeline_stages;
        break;
    case HYDRA_SWEEP_BUDGET:
        job->budget = value;
        break;
    case HYDRA_SWEEP_CONTEXT:
        job->context = value;
        break;
    default:
        job->max_degree = value;
    }
}

static int run_value(const struct hydra_job *job, const struct hydra_batches *batches, const int *policies, int count,
                     int at, struct hydra_sweep *sweep)
{
    struct hydra_outcome outcomes[HYDRA_COMPARE_MAX] = {{.policy = 0}};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_compare(job, batches, policies, count, false, outcomes));
    for (int p = 0; p < count; p++)
        if (outcomes[p].status == HYDRA_SUCCESS) {
            sweep->per_gpu[p * sweep->count + at] = outcomes[p].run.result.tokens_per_second / (double)job->cut.gpus;
            sweep->seconds[p * sweep->count + at] = outcomes[p].run.result.seconds;
        }
fail:
    hydra_outcomes_clear(outcomes, count);
    return status;
}

int hydra_sweep_run(const struct hydra_job *job, uint64_t seed, int64_t batches, int64_t tokens_per_slot,
                    const int *policies, int count, struct hydra_sweep *sweep)
{
    struct hydra_batches drawn = {.count = 0};
    int status = HYDRA_SUCCESS;

    sweep->per_gpu = hydra_calloc((int64_t)count * sweep->count, sizeof *sweep->per_gpu);
    sweep->seconds = hydra_calloc((int64_t)count * sweep->count, sizeof *sweep->seconds);
    HYDRA_REQUIRE(sweep->per_gpu != NULL && sweep->seconds != NULL, HYDRA_ERR_NOMEM, "sweep of %d values",
                  sweep->count);
    for (int i = 0; i < count * sweep->count; i++)
        sweep->per_gpu[i] = sweep->seconds[i] = NAN;
    for (int at = 0; at < sweep->count; at++) {
        struct hydra_job one = *job;
        int64_t pool = 0, tokens = 0;

        set_value(sweep->over, sweep->values[at], &one);
        HYDRA_TRY(hydra_cut_pool(&one.cut, &pool));
        HYDRA_REQUIRE(!__builtin_mul_overflow(pool, tokens_per_slot, &tokens), HYDRA_ERR_OVERFLOW,
                      "%" PRId64 " slots of %" PRId64 " tokens", pool, tokens_per_slot);
        HYDRA_TRY(hydra_batches_draw(seed, batches, tokens, one.context, &drawn));
        HYDRA_TRY(run_value(&one, &drawn, policies, count, at, sweep));
        hydra_batches_clear(&drawn);
    }
fail:
    hydra_batches_clear(&drawn);
    return status;
}

void hydra_sweep_clear(struct hydra_sweep *sweep)
{
    hydra_free(sweep->per_gpu);
    hydra_free(sweep->seconds);
    *sweep = (struct hydra_sweep){.count = 0};
}

void hydra_sweep_print(FILE *to, const struct hydra_sweep *sweep, const int *policies, int count)
{
    fprintf(to, "Tokens per second and GPU over %s:\n\n%-14s", labels[sweep->over], names[sweep->over]);
    for (int at = 0; at < sweep->count; at++)
        fprintf(to, " %10" PRId64, sweep->values[at]);
    fprintf(to, "\n");
    for (int p = 0; p < count; p++) {
        fprintf(to, "%-14s", Hydra_Policy_name(policies[p]));
        for (int at = 0; at < sweep->count; at++)
            if (isnan(sweep->per_gpu[p * sweep->count + at]))
                fprintf(to, " %10s", "-");
            else
                fprintf(to, " %10.1f", sweep->per_gpu[p * sweep->count + at]);
        fprintf(to, "\n");
    }
}

void hydra_sweep_print_json(FILE *to, const struct hydra_sweep *sweep, const int *policies, int count)
{
    fprintf(to, "{\n  \"over\": \"%s\", \"values\": [", names[sweep->over]);
    for (int at = 0; at < sweep->count; at++)
        fprintf(to, "%s%" PRId64, at == 0 ? "" : ", ", sweep->values[at]);
    fprintf(to, "],\n  \"policies\": [\n");
    for (int p = 0; p < count; p++) {
        fprintf(to, "    {\"policy\": ");
        hydra_json_text(to, Hydra_Policy_name(policies[p]));
        fprintf(to, ", \"tokens_per_second_and_gpu\": [");
        for (int at = 0; at < sweep->count; at++) {
            fprintf(to, at == 0 ? "" : ", ");
            hydra_json_number(to, sweep->per_gpu[p * sweep->count + at]);
        }
        fprintf(to, "], \"seconds\": [");
        for (int at = 0; at < sweep->count; at++) {
            fprintf(to, at == 0 ? "" : ", ");
            hydra_json_number(to, sweep->seconds[p * sweep->count + at]);
        }
        fprintf(to, p + 1 < count ? "]},\n" : "]}\n");
    }
    fprintf(to, "  ]\n}\n");
}

/* The curves: tokens per second and GPU, and seconds of an iteration. series [out] [count], x [out] [VALUES]. */
static struct hydra_chart sweep_chart(const struct hydra_sweep *sweep, const int *policies, int count, bool seconds,
                                      struct hydra_series *series, double *x)
{
    const double *y = seconds ? sweep->seconds : sweep->per_gpu;

    for (int at = 0; at < sweep->count; at++)
        x[at] = (double)sweep->values[at];
    for (int p = 0; p < count; p++)
        series[p] =
            (struct hydra_series){Hydra_Policy_name(policies[p]), sweep->count, x, y + (int64_t)p * sweep->count};
    return (struct hydra_chart){
        .title = seconds ? "How long does an iteration take?" : "Where does it stop paying?",
        .x_label = labels[sweep->over],
        .y_label = seconds ? "seconds of an iteration" : "tokens per second and GPU",
        .log_x = 1,
        .nseries = count,
        .series = series,
    };
}

/* Policy with the most tokens per second at a value, and the next best; -1 when none could plan. */
static void leaders(const struct hydra_sweep *sweep, int count, int at, int *first, int *second)
{
    *first = *second = -1;
    for (int p = 0; p < count; p++) {
        const double here = sweep->per_gpu[p * sweep->count + at];

        if (isnan(here))
            continue;
        if (*first < 0 || here > sweep->per_gpu[*first * sweep->count + at]) {
            *second = *first;
            *first = p;
        } else if (*second < 0 || here > sweep->per_gpu[*second * sweep->count + at])
            *second = p;
    }
}

/* What to see: who leads from which value on, and by how much at the ends. */
static void sweep_note(const struct hydra_sweep *sweep, const int *policies, int count, char *text, size_t len)
{
    int leader = -1;
    size_t used = 0;

    text[0] = '\0';
    for (int at = 0; at < sweep->count && used < len; at++) {
        int first, second;

        leaders(sweep, count, at, &first, &second);
        if (first < 0 || (first == leader && at + 1 < sweep->count))
            continue;
        used += (size_t)snprintf(
            text + used, len - used, first != leader ? "%s%s leads from %s on" : "%s%s still leads at %s",
            leader < 0 ? "" : "; ", Hydra_Policy_name(policies[first]), hydra_words_whole(sweep->values[at]).text);
        if (second >= 0 && used < len)
            used += (size_t)snprintf(text + used, len - used, ", there %s the next best, %s",
                                     hydra_words_ratio(sweep->per_gpu[first * sweep->count + at] /
                                                       sweep->per_gpu[second * sweep->count + at])
                                         .text,
                                     Hydra_Policy_name(policies[second]));
        leader = first;
    }
    if (used < len && leader >= 0)
        snprintf(text + used, len - used, ".");
}

int hydra_sweep_svg(const struct hydra_sweep *sweep, const int *policies, int count, const char *path)
{
    struct hydra_series series[HYDRA_COMPARE_MAX];
    double x[VALUES];
    struct hydra_chart chart = sweep_chart(sweep, policies, count, false, series, x);

    return hydra_chart_svg(&chart, path);
}

int hydra_sweep_html(const struct hydra_sweep *sweep, const int *policies, int count, const struct hydra_fact *facts,
                     int nfacts, const char *command, const char *path)
{
    struct hydra_series series[2][HYDRA_COMPARE_MAX];
    double x[VALUES];
    char note[1024];
    struct hydra_chart charts[] = {sweep_chart(sweep, policies, count, false, series[0], x),
                                   sweep_chart(sweep, policies, count, true, series[1], x)};
    const struct hydra_report report = {.title = "Dynamic context parallelism, simulated over a range",
                                        .command = command,
                                        .nfacts = nfacts,
                                        .facts = facts,
                                        .ncharts = 2,
                                        .charts = charts};

    sweep_note(sweep, policies, count, note, sizeof note);
    charts[0].note = note;
    return hydra_report_html(&report, path);
}
