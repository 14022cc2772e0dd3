/* bench_plan.c: hydra-dcp bench plan: planning time beside a sort of the same lengths, the linear scan, and other
 * policies.
 *
 * Times are of this thread's CPU, medians of interleaved repetitions, so that a busy machine disturbs the ratios
 * little. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parse.h"
#include "plan/figure1.h"
#include "plan/policy.h"
#include "tools/commands.h"

#define BENCH(name, function, summary) int function(int argc, char **argv);
#include "tools/bench.def"
#include "tools/median.h"
#include "tools/progress.h"
#undef BENCH

static const char usage[] =
    "usage: hydra-dcp bench plan [options]\n"
    "Plan batches drawn from HyDra's Figure 1 and compare the time with qsort() of the same lengths.";

enum { MOST_REPEATS = 99 };

struct request {
    const char *pools, *policies;
    int64_t repeats, multiple, budget, scan_limit, stages, chunks;
    bool json;
};

/* One pool's batch and what was measured on it; times in seconds, negative: not measured. */
struct measured {
    int64_t pool, ndocs, microbatches;
    int64_t *lengths;
    double sort, load, scan;
    double steps;         /* keys moved by a level of a heap, or sorted, a document over log2 G */
    double bytes_per_doc; /* at the peak of a plan, the schedule included; 100 bytes a slot are set aside first */
    double policy[HYDRA_POLICY_COUNT];
};

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_lengths(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static Hydra_Plan_options options_of(const struct request *r, int policy)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;

    options.policy = policy;
    options.budget = r->budget;
    options.pipeline_stages = (int)r->stages;
    options.pipeline_chunks = (int)r->chunks;
    return options;
}

static int time_sort(const struct measured *m, int64_t *copy, double *seconds)
{
    double start;

    memcpy(copy, m->lengths, (size_t)m->ndocs * sizeof *copy);
    start = cpu_now();
    qsort(copy, (size_t)m->ndocs, sizeof *copy, compare_lengths);
    *seconds = cpu_now() - start;
    return HYDRA_SUCCESS;
}

/* The whole of Hydra_Plan_serial: checks, policy, schedule, hash. */
static int time_plan(const struct request *r, struct measured *m, int policy, double *seconds)
{
    Hydra_Plan_options options = options_of(r, policy);
    Hydra_Schedule schedule = NULL;
    double start = cpu_now();
    int status = Hydra_Plan_serial(m->pool, m->ndocs, m->lengths, &options, &schedule);

    *seconds = cpu_now() - start;
    if (status == HYDRA_SUCCESS && policy == HYDRA_POLICY_LOAD)
        status = Hydra_Schedule_count(schedule, &m->microbatches);
    Hydra_Schedule_free(&schedule);
    return status;
}

/* The bare policy, for the linear scan and for the count of heap steps. */
static int time_bare(const struct request *r, struct measured *m, bool scan, double *seconds)
{
    Hydra_Plan_options options = options_of(r, HYDRA_POLICY_LOAD), resolved;
    struct hydra_batch batch = {.pool = m->pool, .ndocs = m->ndocs, .lengths = m->lengths, .options = &resolved};
    struct hydra_draft draft = {0};
    int64_t steps = 0;
    double start;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_options_resolve(m->pool, &options, &resolved));
    HYDRA_TRY(hydra_draft_init(&draft, &batch));
    start = cpu_now();
    HYDRA_TRY(scan ? hydra_policy_load_scan(&batch, &draft) : hydra_policy_load_counted(&batch, &draft, &steps));
    *seconds = cpu_now() - start;
    if (!scan && m->ndocs > 0)
        m->steps = (double)steps / (double)m->ndocs / (double)(hydra_log2_floor((uint64_t)hydra_max(m->pool, 2)));

fail:
    hydra_draft_clear(&draft);
    return status;
}

/* Peak memory that one plan adds, measured in a child: resident pages now against the greatest
 * ever. Negative: unknown. */
static double plan_bytes(const struct request *r, struct measured *m)
{
    int ends[2];
    double bytes = -1, seconds;
    pid_t child;

    if (pipe(ends) != 0)
        return -1;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct rusage used;
        long pages = 0, resident = 0;
        FILE *statm = fopen("/proc/self/statm", "r");
        bool known = statm != NULL && fscanf(statm, "%ld %ld", &pages, &resident) == 2;

        known = known && time_plan(r, m, HYDRA_POLICY_LOAD, &seconds) == HYDRA_SUCCESS &&
                getrusage(RUSAGE_SELF, &used) == 0;
        if (known)
            bytes = 1024.0 * (double)used.ru_maxrss - (double)resident * (double)sysconf(_SC_PAGESIZE);
        _exit(write(ends[1], &bytes, sizeof bytes) != (ssize_t)sizeof bytes);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &bytes, sizeof bytes) != (ssize_t)sizeof bytes)
        bytes = -1;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return bytes;
}

static bool wanted(const struct request *r, int policy)
{
    const char *name = Hydra_Policy_name(policy), *found;

    if (policy == HYDRA_POLICY_LOAD || hydra_policy_find(policy) == NULL)
        return false;
    if (strcmp(r->policies, "all") == 0)
        return true;
    for (found = r->policies; (found = strstr(found, name)) != NULL; found++) {
        char before = found == r->policies ? ',' : found[-1], after = found[strlen(name)];

        if (before == ',' && (after == ',' || after == '\0'))
            return true;
    }
    return false;
}

static int measure(const struct request *r, struct measured *m)
{
    int64_t *copy = NULL;
    double sort[MOST_REPEATS], load[MOST_REPEATS], policy[HYDRA_POLICY_COUNT][MOST_REPEATS], bytes;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_figure1_draw(m->pool, r->multiple, r->budget, &m->lengths, &m->ndocs));
    bytes = plan_bytes(r, m);
    m->bytes_per_doc = bytes < 0 ? -1 : (bytes - 100.0 * (double)m->pool) / (double)m->ndocs;
    copy = hydra_alloc(m->ndocs, sizeof *copy);
    HYDRA_REQUIRE(copy != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " lengths", m->ndocs);
    for (int64_t repeat = 0; repeat < r->repeats; repeat++) {
        HYDRA_TRY(time_sort(m, copy, &sort[repeat]));
        HYDRA_TRY(time_plan(r, m, HYDRA_POLICY_LOAD, &load[repeat]));
        for (int p = 1; p < HYDRA_POLICY_COUNT; p++)
            if (wanted(r, p))
                HYDRA_TRY(time_plan(r, m, p, &policy[p][repeat]));
    }
    m->sort = tool_median(sort, r->repeats);
    m->load = tool_median(load, r->repeats);
    m->scan = -1;
    HYDRA_TRY(time_bare(r, m, false, &bytes)); /* for the steps */
    if (m->pool <= r->scan_limit)
        HYDRA_TRY(time_bare(r, m, true, &m->scan)); /* once: it takes seconds */
    for (int p = 1; p < HYDRA_POLICY_COUNT; p++)
        m->policy[p] = wanted(r, p) ? tool_median(policy[p], r->repeats) : -1;

fail:
    hydra_free(copy);
    hydra_free(m->lengths);
    m->lengths = NULL;
    return status;
}

static void print_head(const struct request *r)
{
    printf("%9s %10s %4s %10s %10s %11s %12s %11s %11s", "pool", "documents", "M", "qsort ms", "load ms", "load/qsort",
           "scan ms", "steps/logG", "bytes/doc");
    for (int p = 1; p < HYDRA_POLICY_COUNT; p++)
        if (wanted(r, p))
            printf(" %13s", Hydra_Policy_name(p));
    printf("\n");
}

static void print_row(const struct request *r, const struct measured *m)
{
    printf("%9" PRId64 " %10" PRId64 " %4" PRId64 " %10.3f %10.3f %11.3f ", m->pool, m->ndocs, m->microbatches,
           1e3 * m->sort, 1e3 * m->load, m->load / m->sort);
    if (m->scan < 0)
        printf("%12s ", "-");
    else
        printf("%12.1f ", 1e3 * m->scan);
    printf("%11.3f %11.1f", m->steps, m->bytes_per_doc);
    for (int p = 1; p < HYDRA_POLICY_COUNT; p++)
        if (wanted(r, p))
            printf(" %13.3f", 1e3 * m->policy[p]);
    printf("\n");
    fflush(stdout);
}

static void print_json(const struct measured *m, bool first)
{
    printf("%s  {\"pool\": %" PRId64 ", \"documents\": %" PRId64 ", \"microbatches\": %" PRId64 ", ",
           first ? "" : ",\n", m->pool, m->ndocs, m->microbatches);
    printf("\"qsort_seconds\": %.9g, \"load_seconds\": %.9g, \"load_over_qsort\": %.6g, ", m->sort, m->load,
           m->load / m->sort);
    printf("\"steps_per_document_per_log2\": %.6g, \"bytes_per_document\": %.6g", m->steps, m->bytes_per_doc);
    if (m->scan >= 0)
        printf(", \"scan_seconds\": %.9g", m->scan);
    for (int p = 1; p < HYDRA_POLICY_COUNT; p++)
        if (m->policy[p] >= 0)
            printf(", \"%s_seconds\": %.9g", Hydra_Policy_name(p), m->policy[p]);
    printf("}");
}

static int run_pools(const struct request *r)
{
    char list[256], work[300], *rest = NULL;
    bool first = true;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(strlen(r->pools) < sizeof list, HYDRA_ERR_ARG, "--pools is longer than %zu bytes", sizeof list - 1);
    strcpy(list, r->pools);
    if (r->json)
        printf("[\n");
    else
        print_head(r);
    for (char *word = strtok_r(list, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest), first = false) {
        struct measured m = {0};

        HYDRA_TRY(hydra_parse_int("--pools", word, 1, 1 << 24, &m.pool));
        snprintf(work, sizeof work, "measuring a pool of %s", word);
        tool_progress(work, 0, 1);
        HYDRA_TRY(measure(r, &m));
        tool_progress_end();
        if (r->json)
            print_json(&m, first);
        else
            print_row(r, &m);
    }
    if (r->json)
        printf("\n]\n");

fail:
    return status;
}

int hydra_bench_plan(int argc, char **argv)
{
    struct request r = {.pools = "512,4096,16384,65536",
                        .policies = "",
                        .repeats = 9,
                        .multiple = 4,
                        .budget = 8192,
                        .scan_limit = 1024,
                        .stages = 1,
                        .chunks = 1};
    const struct tool_option options[] = {
        {"pools", TOOL_STRING, &r.pools, "G,...", "pools to plan for", 0, 0},
        {"repeats", TOOL_INT, &r.repeats, "N", "interleaved repetitions, of which the median counts", 1, MOST_REPEATS},
        {"multiple", TOOL_INT, &r.multiple, "K", "tokens of a batch over pool x budget", 1, 1e6},
        {"budget", TOOL_INT, &r.budget, "B", "tokens a rank holds in one microbatch", 1, 0x1p30},
        {"policies", TOOL_STRING, &r.policies, "NAME,...", "other policies to time too; all for every one", 0, 0},
        {"scan-limit", TOOL_INT, &r.scan_limit, "G", "greatest pool that the linear scan is timed on", 0, 1 << 24},
        {"pp", TOOL_INT, &r.stages, "N", "pipeline stages", 1, 1 << 20},
        {"chunks", TOOL_INT, &r.chunks, "N", "interleaved chunks of a stage", 1, 1 << 20},
        {"json", TOOL_FLAG, &r.json, NULL, "print JSON", 0, 0},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };
    bool done;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(tool_options_read(argc, argv, usage, options, &done));
    if (!done)
        HYDRA_TRY(run_pools(&r));
    return 0;

fail:
    return tool_fail(status);
}
