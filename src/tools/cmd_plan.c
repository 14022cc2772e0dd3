/* cmd_plan.c: hydra-dcp plan: plan a batch for any pool, on this machine, and say how good the plan is. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parse.h"
#include "plan/figure1.h"
#include "plan/lengths.h"
#include "plan/policy.h"
#include "plan/schedule.h"
#include "tools/commands.h"
#include "tools/plan_table.h"
#include "tools/setting.h"
#include "tools/progress.h"

static const char usage[] =
    "usage: hydra-dcp plan --lengths FILE|- --pool G --budget B [options]\n"
    "       hydra-dcp plan --load FILE [--html FILE ...]\n"
    "Plan one batch of documents and print the plan's figures. One length a line; # begins a comment.";

/* What the command line says, in the types of the option table. */
struct request {
    const char *lengths, *load, *policy, *mask, *factor, *cost, *cap, *transport, *save, *svg, *html;
    char command[TOOL_COMMAND_LINE], files[4096];
    bool all;
    int64_t pool, budget, draw, align, min_degree, max_degree, heads, kv_heads, window, sink;
    int64_t stages, chunks, tensor, expert, threads, seed;
    double theta_over_c;
    bool skip, padding, json, explain;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_request(int argc, char **argv, struct request *r, bool *done)
{
    const double huge = 0x1p62;
    const struct tool_option options[] = {
        {"lengths", TOOL_STRING, &r->lengths, "FILE", "document lengths; - is standard input", 0, 0},
        {"draw", TOOL_INT, &r->draw, "K", "instead: draw K x G x B tokens from HyDra's Figure 1", 0, 1e6},
        {"load", TOOL_STRING, &r->load, "FILES", "instead of planning: schedules that were saved, commas between", 0,
         0},
        {"pool", TOOL_INT, &r->pool, "G", "ranks that context and data parallelism share; required", 1, 1 << 24},
        {"budget", TOOL_INT, &r->budget, "B", "most tokens a rank holds in one microbatch; required", 1, huge},
        {"policy", TOOL_STRING, &r->policy, "NAME", "policy, or all for a table of every one", 0, 0},
        {"mask", TOOL_STRING, &r->mask, "NAME", "causal, full or window", 0, 0},
        {"window", TOOL_INT, &r->window, "W", "keys that the window mask sees", 1, huge},
        {"sink", TOOL_INT, &r->sink, "S", "first keys that the window mask always sees", 0, huge},
        {"align", TOOL_INT, &r->align, "A", "tokens of a rank are allocated in multiples of this", 1, huge},
        {"min-degree", TOOL_INT, &r->min_degree, "P", "least degree", 1, huge},
        {"max-degree", TOOL_INT, &r->max_degree, "P", "greatest degree; 0: the pool", 0, huge},
        {"heads", TOOL_INT, &r->heads, "H", "query heads of a rank; 0: unknown", 0, 1 << 20},
        {"kv-heads", TOOL_INT, &r->kv_heads, "H", "key/value heads of a rank; 0: as --heads", 0, 1 << 20},
        {"factor", TOOL_STRING, &r->factor, "RULE", "inner factor U: paper, cost or a number", 0, 0},
        {"cost", TOOL_STRING, &r->cost, "FILE",
         "cost model: that of a setting (share/settings); times are predicted by it", 0, 0},
        {"cap", TOOL_STRING, &r->cap, "RULE", "bound of the degree: balanced or paper", 0, 0},
        {"skip", TOOL_FLAG, &r->skip, NULL, "load: try the following documents when one does not fit", 0, 0},
        {"padding", TOOL_FLAG, &r->padding, NULL, "memory rules: pad documents as Megatron-Core does", 0, 0},
        {"transport", TOOL_STRING, &r->transport, "NAME", "static: both, ring or all-to-all", 0, 0},
        {"pp", TOOL_INT, &r->stages, "N", "pipeline stages", 1, 1 << 20},
        {"chunks", TOOL_INT, &r->chunks, "N", "interleaved chunks of a stage", 1, 1 << 20},
        {"tp", TOOL_INT, &r->tensor, "N", "tensor-parallel ranks", 1, 1 << 20},
        {"ep", TOOL_INT, &r->expert, "N", "slots of one expert-parallel block; 0: none", 0, 1 << 20},
        {"theta-over-c", TOOL_DOUBLE, &r->theta_over_c, "X",
         "load: time of a unit of load over the fixed time of a microbatch; 0: no pipeline term", 0, 1e30},
        {"threads", TOOL_INT, &r->threads, "N", "threads a policy may use", 1, 4096},
        {"seed", TOOL_INT, &r->seed, "N", "of policies that search", 0, huge},
        {"json", TOOL_FLAG, &r->json, NULL, "print JSON", 0, 0},
        {"explain", TOOL_FLAG, &r->explain, NULL, "print every group too", 0, 0},
        {"save", TOOL_STRING, &r->save, "FILE", "save the schedule", 0, 0},
        {"svg", TOOL_STRING, &r->svg, "FILE", "draw the plans; - is standard output", 0, 0},
        {"html", TOOL_STRING, &r->html, "FILE", "write a report of the plans; - is standard output", 0, 0},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };

    tool_command_line(argc, argv, r->command);
    return tool_options_read(argc, argv, usage, options, done);
}

/* Index of a word in a list that ends with NULL. */
static int choose(const char *option, const char *word, const char *const words[], int *index)
{
    char all[128] = "";

    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], word) == 0) {
            *index = i;
            return HYDRA_SUCCESS;
        }
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    return hydra_error(HYDRA_ERR_ARG, "--%s: '%s' is none of %s", option, word, all);
}

static int read_factor(const char *word, int *factor)
{
    int64_t number;
    int status;

    if (strcmp(word, "paper") == 0 || strcmp(word, "cost") == 0) {
        *factor = word[0] == 'p' ? HYDRA_FACTOR_PAPER : HYDRA_FACTOR_COST;
        return HYDRA_SUCCESS;
    }
    status = hydra_parse_int("--factor", word, 1, 1 << 24, &number);
    *factor = status == HYDRA_SUCCESS ? (int)number : 0;
    return status;
}

/* Policy is left out: "all" is none. */
static int make_options(const struct request *r, Hydra_Plan_options *o)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(r->pool > 0, HYDRA_ERR_ARG, "--pool is required");
    HYDRA_REQUIRE(r->budget > 0, HYDRA_ERR_ARG, "--budget is required");
    HYDRA_REQUIRE((r->lengths != NULL) != (r->draw > 0), HYDRA_ERR_ARG, "either --lengths or --draw is required");
    HYDRA_TRY(choose("mask", r->mask, (const char *const[]){"causal", "full", "window", NULL}, &o->mask));
    HYDRA_TRY(choose("cap", r->cap, (const char *const[]){"balanced", "paper", NULL}, &o->cap));
    HYDRA_TRY(choose("transport", r->transport, (const char *const[]){"both", "ring", "all-to-all", NULL},
                     &o->static_transport));
    HYDRA_TRY(read_factor(r->factor, &o->factor));
    o->window = r->window;
    o->sink = r->sink;
    o->budget = r->budget;
    o->align = r->align;
    o->min_degree = r->min_degree;
    o->max_degree = r->max_degree;
    o->heads = (int)r->heads;
    o->kv_heads = (int)r->kv_heads;
    o->skip = r->skip;
    o->padding = r->padding;
    o->pipeline_stages = (int)r->stages;
    o->pipeline_chunks = (int)r->chunks;
    o->tensor_parallel = (int)r->tensor;
    o->expert_parallel = (int)r->expert;
    o->threads = (int)r->threads;
    o->theta_over_c = r->theta_over_c;
    o->seed = (uint64_t)r->seed;

fail:
    return status;
}

/* Plan by one policy. An infeasible batch is a row of the table when `all` are asked for, else an error. */
static int plan_one(const struct request *r, Hydra_Plan_options *options, int policy, int64_t ndocs,
                    const int64_t *lengths, bool all, struct tool_outcome *outcome)
{
    struct tool_plan *plan = &outcome->plan;
    double start = now();
    int status;

    options->policy = policy;
    *plan = (struct tool_plan){.name = Hydra_Policy_name(policy)};
    status = Hydra_Plan_serial(r->pool, ndocs, lengths, options, &plan->schedule);
    plan->planning_seconds = now() - start;
    if (status == HYDRA_SUCCESS) {
        plan->name = Hydra_Policy_name(plan->schedule->options.policy); /* what "default" stands for */
        return Hydra_Schedule_stats_get(plan->schedule, &plan->stats);
    }
    Hydra_Error_detail(outcome->failure, sizeof outcome->failure);
    return all && status == HYDRA_ERR_INFEASIBLE ? HYDRA_SUCCESS : status;
}

/* Every policy of the table, with a progress line while someone watches. *count [out] how many have been tried. */
static int plan_all(const struct request *r, Hydra_Plan_options *options, int64_t ndocs, const int64_t *lengths,
                    struct tool_outcome *outcomes, int *count)
{
    char work[64];
    int status = HYDRA_SUCCESS;

    for (int policy = 1; policy < HYDRA_POLICY_COUNT; policy++) {
        if (hydra_policy_find(policy) == NULL)
            continue;
        snprintf(work, sizeof work, "planning: %s", Hydra_Policy_name(policy));
        tool_progress(work, 0, 1);
        HYDRA_TRY(plan_one(r, options, policy, ndocs, lengths, true, &outcomes[(*count)++]));
    }

fail:
    tool_progress_end();
    return status;
}

/* Schedules from files instead of plans, named by their policies; by their files when a policy comes twice.
 * files [in,out] cut at its commas. */
static int load_all(char *files, struct tool_outcome *outcomes, int *count)
{
    const char *names[HYDRA_POLICY_COUNT];
    char *rest = files;
    bool twice = false;
    int status = HYDRA_SUCCESS;

    while (rest != NULL) {
        struct tool_plan *plan = &outcomes[*count].plan;
        const char *file = strsep(&rest, ",");

        HYDRA_REQUIRE(*count < HYDRA_POLICY_COUNT, HYDRA_ERR_ARG, "--load: more than %d files", HYDRA_POLICY_COUNT);
        HYDRA_TRY(Hydra_Schedule_load(file, &plan->schedule));
        plan->name = Hydra_Policy_name(plan->schedule->options.policy);
        for (int i = 0; i < *count; i++)
            twice |= outcomes[i].plan.name == plan->name;
        names[(*count)++] = file;
        plan->planning_seconds = NAN;
        HYDRA_TRY(Hydra_Schedule_stats_get(plan->schedule, &plan->stats));
    }
    for (int i = 0; i < *count && twice; i++)
        outcomes[i].plan.name = names[i];

fail:
    return status;
}

/* What the options ask for: one plan, every policy's, or schedules from files. */
static int get_plans(struct request *r, struct tool_outcome *outcomes, int *count)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    struct tool_setting setting;
    int64_t *lengths = NULL, ndocs = 0;
    int policy = 0, status = HYDRA_SUCCESS;

    if (r->load != NULL) {
        HYDRA_REQUIRE(r->lengths == NULL && r->draw == 0 && r->pool == 0, HYDRA_ERR_ARG,
                      "--load goes without --lengths, --draw and --pool: the schedule has them");
        snprintf(r->files, sizeof r->files, "%s", r->load);
        HYDRA_REQUIRE(strlen(r->load) < sizeof r->files, HYDRA_ERR_ARG, "--load: longer than %zu bytes",
                      sizeof r->files);
        return load_all(r->files, outcomes, count);
    }
    HYDRA_TRY(make_options(r, &options));
    if (r->cost != NULL) {
        HYDRA_TRY(tool_setting_read(r->cost, &setting));
        options.cost = &setting.cost;
    }
    if (!r->all)
        HYDRA_TRY(Hydra_Policy_from_name(r->policy, &policy));
    HYDRA_TRY(r->lengths != NULL ? hydra_lengths_read(r->lengths, &lengths, &ndocs)
                                 : hydra_figure1_draw(r->pool, r->draw, r->budget, &lengths, &ndocs));
    if (r->all)
        HYDRA_TRY(plan_all(r, &options, ndocs, lengths, outcomes, count));
    else
        HYDRA_TRY(plan_one(r, &options, policy, ndocs, lengths, false, &outcomes[(*count)++]));

fail:
    hydra_free(lengths);
    return status;
}

static int print_explanation(const struct tool_plan *plan)
{
    size_t needed = 0;
    char *text = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(Hydra_Schedule_explain(plan->schedule, NULL, 0, &needed));
    text = hydra_calloc((int64_t)needed, 1);
    HYDRA_REQUIRE(text != NULL, HYDRA_ERR_NOMEM, "explanation of %zu bytes", needed);
    HYDRA_TRY(Hydra_Schedule_explain(plan->schedule, text, needed, NULL));
    fputs(text, stdout);

fail:
    hydra_free(text);
    return status;
}

/* The plans that there are, for the pictures. */
static int draw(const struct request *r, int count, const struct tool_outcome *outcomes)
{
    struct tool_plan plans[HYDRA_POLICY_COUNT];
    int drawn = 0;

    for (int i = 0; i < count; i++)
        if (outcomes[i].plan.schedule != NULL)
            plans[drawn++] = outcomes[i].plan;
    return drawn == 0 || (r->svg == NULL && r->html == NULL)
               ? HYDRA_SUCCESS
               : tool_plan_pictures(drawn, plans, r->command, r->svg, r->html);
}

static int show(const struct request *r, int count, const struct tool_outcome *outcomes)
{
    bool quiet = (r->svg != NULL && strcmp(r->svg, "-") == 0) || (r->html != NULL && strcmp(r->html, "-") == 0);
    int status = HYDRA_SUCCESS;

    if (r->json && !quiet)
        tool_plan_print_json(count, outcomes);
    else if ((r->all || count > 1) && !quiet)
        tool_plan_print_rows(count, outcomes, r->cost != NULL);
    else if (!quiet)
        tool_plan_print_one(&outcomes[0].plan);
    for (int i = 0; i < count && r->explain && !quiet && !r->json; i++)
        if (outcomes[i].plan.schedule != NULL)
            HYDRA_TRY(print_explanation(&outcomes[i].plan));
    if (r->save != NULL)
        HYDRA_TRY(Hydra_Schedule_save(outcomes[0].plan.schedule, r->save));
    HYDRA_TRY(draw(r, count, outcomes));

fail:
    return status;
}

int hydra_cmd_plan(int argc, char **argv)
{
    struct request r = {.policy = "default",
                        .mask = "causal",
                        .factor = "paper",
                        .cap = "balanced",
                        .transport = "both",
                        .align = 1,
                        .min_degree = 1,
                        .window = 4096,
                        .stages = 1,
                        .chunks = 1,
                        .tensor = 1,
                        .threads = 1};
    struct tool_outcome *outcomes = hydra_calloc(HYDRA_POLICY_COUNT, sizeof *outcomes);
    int count = 0, status = HYDRA_SUCCESS;
    bool done;

    HYDRA_REQUIRE(outcomes != NULL, HYDRA_ERR_NOMEM, "outcomes of %d policies", HYDRA_POLICY_COUNT);
    HYDRA_TRY(read_request(argc, argv, &r, &done));
    if (done) {
        hydra_free(outcomes);
        return 0;
    }
    r.all = strcmp(r.policy, "all") == 0;
    HYDRA_REQUIRE(r.save == NULL || !(r.all || r.load != NULL), HYDRA_ERR_ARG, "--save needs one policy and no --load");
    HYDRA_TRY(get_plans(&r, outcomes, &count));
    HYDRA_TRY(show(&r, count, outcomes));

fail:
    for (int i = 0; outcomes != NULL && i < count; i++)
        Hydra_Schedule_free(&outcomes[i].plan.schedule);
    hydra_free(outcomes);
    return status == HYDRA_SUCCESS ? 0 : tool_fail(status);
}
