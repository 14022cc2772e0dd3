/* cmd_sim.c: `hydra-dcp sim`: what would dynamic context parallelism give on this model, cluster and data? Needs no GPU
 * and no rank. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parse.h"
#include "sim/compare.h"
#include "sim/paper.h"
#include "sim/words.h"
#include "sim/watch.h"
#include "tools/commands.h"
#include "tools/progress.h"

enum { PAPER_BATCHES = 16 };

/* What the command line says; 0 or NULL where the preset decides. */
struct request {
    const char *model, *cluster, *policy, *engine, *cap, *planning, *lengths, *sweep, *svg, *html, *trace;
    int64_t gpus, tp, pp, chunks, ep, budget, context, tokens_per_slot, max_degree, batches, seed, slow_slot;
    double noise, slow_factor, price, tokens;
    bool json, paper;
    char command[TOOL_COMMAND_LINE];
};

static const char usage[] =
    "usage: hydra-dcp sim [options]\n\n"
    "Replays one training iteration under each planning policy and compares them. Models and clusters are presets\n"
    "(--model deepseek-v3, hy3, llama3-8b, qwen3.5-35b-a3b, moe-770b-a49b, hydra-testbed; --cluster h20x512, "
    "h800x2048,\n"
    "h100, h200, gb200x8, a100-p4de) or files of the same form.";

static int read_request(int argc, char **argv, struct request *r, bool *done)
{
    const struct tool_option options[] = {
        {"model", TOOL_STRING, &r->model, "NAME", "model preset or file", 0, 0},
        {"cluster", TOOL_STRING, &r->cluster, "NAME", "cluster preset or file", 0, 0},
        {"gpus", TOOL_INT, &r->gpus, "N", "GPUs of the job; 0: the cluster's", 0, 1e7},
        {"tp", TOOL_INT, &r->tp, "N", "tensor-parallel ranks; 0: the model's", 0, 1024},
        {"pp", TOOL_INT, &r->pp, "N", "pipeline stages; 0: the model's", 0, 1024},
        {"chunks", TOOL_INT, &r->chunks, "N", "interleaved chunks; 0: the model's", 0, 1024},
        {"ep", TOOL_INT, &r->ep, "N", "ranks of an expert-parallel block; -1: the model's", -1, 65536},
        {"budget", TOOL_INT, &r->budget, "B", "most tokens a slot holds in a microbatch; 0: the model's", 0, 1e9},
        {"context", TOOL_INT, &r->context, "S", "longest document, others are cut to it; 0: the model's", 0, 1e9},
        {"tokens-per-slot", TOOL_INT, &r->tokens_per_slot, "T", "of the global batch; 0: the model's", 0, 1e9},
        {"lengths", TOOL_STRING, &r->lengths, "FILE", "document lengths, one a line, instead of HyDra's Figure 1", 0,
         0},
        {"batches", TOOL_INT, &r->batches, "N", "batches to average over; 0: 1, with --paper 16", 0, 10000},
        {"seed", TOOL_INT, &r->seed, "N", "of the batches, the noise and searches", 0, 1e15},
        {"policy", TOOL_STRING, &r->policy, "LIST", "all, or policies with commas between", 0, 0},
        {"engine", TOOL_STRING, &r->engine, "NAME",
         "ring, ulysses, overlap or near; auto: what each policy's system runs", 0, 0},
        {"cap", TOOL_STRING, &r->cap, "RULE", "of the load policy: balanced or paper", 0, 0},
        {"max-degree", TOOL_INT, &r->max_degree, "P", "greatest degree; 0: the pool's", 0, 1e7},
        {"planning", TOOL_STRING, &r->planning, "HOW", "hidden, measured, or seconds that the iteration waits", 0, 0},
        {"noise", TOOL_DOUBLE, &r->noise, "SIGMA", "relative deviation of every operation's compute", 0, 1},
        {"slow-slot", TOOL_INT, &r->slow_slot, "SLOT", "a slot that computes slower; -1: none", -1, 1e7},
        {"slow-factor", TOOL_DOUBLE, &r->slow_factor, "F", "how many times longer its compute takes", 1, 1000},
        {"price-per-gpu-hour", TOOL_DOUBLE, &r->price, "PRICE", "with --tokens: cost of the training", 0, 1e6},
        {"tokens", TOOL_DOUBLE, &r->tokens, "N", "tokens to train on, e.g. 2e12: days and cost", 0, 1e20},
        {"sweep", TOOL_STRING, &r->sweep, "WHAT=A,B,...", "curve over pool, budget, context or cap", 0, 0},
        {"paper", TOOL_FLAG, &r->paper, NULL, "compare with HyDra's evaluation, row by row", 0, 0},
        {"json", TOOL_FLAG, &r->json, NULL, "print JSON", 0, 0},
        {"svg", TOOL_STRING, &r->svg, "PREFIX", "write PREFIX-stages.svg, -replicas, -plan, -degrees (or -sweep)", 0,
         0},
        {"html", TOOL_STRING, &r->html, "FILE", "write a report with all pictures", 0, 0},
        {"trace", TOOL_STRING, &r->trace, "FILE", "write the timelines as Chrome trace JSON", 0, 0},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };

    tool_command_line(argc, argv, r->command);
    return tool_options_read(argc, argv, usage, options, done);
}

static int64_t or_preset(int64_t asked, int64_t preset)
{
    return asked > 0 ? asked : preset;
}

static int make_job(const struct request *r, const struct hydra_model *model, const struct hydra_cluster *cluster,
                    struct hydra_job *job)
{
    int status = HYDRA_SUCCESS;

    *job = HYDRA_JOB_INIT;
    job->model = model;
    job->cluster = cluster;
    job->cut = (struct hydra_cut){
        .gpus = or_preset(r->gpus, cluster->gpus),
        .tensor_parallel = or_preset(r->tp, model->tensor_parallel),
        .pipeline_stages = or_preset(r->pp, model->pipeline_stages),
        .pipeline_chunks = or_preset(r->chunks, model->pipeline_chunks),
        .expert_parallel = r->ep >= 0 ? r->ep : model->expert_parallel,
    };
    job->budget = or_preset(r->budget, model->budget);
    job->context = or_preset(r->context, model->context);
    job->max_degree = r->max_degree;
    job->disturbance = (struct hydra_disturbance){r->noise, (uint64_t)r->seed, r->slow_slot, r->slow_factor};
    if (strcmp(r->engine, "auto") != 0)
        HYDRA_TRY(hydra_engine_from_name(r->engine, &job->engine));
    HYDRA_REQUIRE(strcmp(r->cap, "balanced") == 0 || strcmp(r->cap, "paper") == 0, HYDRA_ERR_ARG,
                  "--cap: '%s' is neither balanced nor paper", r->cap);
    job->cap = strcmp(r->cap, "paper") == 0 ? HYDRA_CAP_PAPER : HYDRA_CAP_BALANCED;
    job->planning = strcmp(r->planning, "hidden") == 0     ? HYDRA_PLANNING_HIDDEN
                    : strcmp(r->planning, "measured") == 0 ? HYDRA_PLANNING_MEASURED
                                                           : HYDRA_PLANNING_GIVEN;
    if (job->planning == HYDRA_PLANNING_GIVEN)
        HYDRA_TRY(hydra_parse_double("--planning", r->planning, 0, 1e6, &job->planning_seconds));
fail:
    return status;
}

static int get_batches(const struct request *r, const struct hydra_job *job, int64_t pool, char *data, size_t len,
                       struct hydra_batches *batches)
{
    int64_t per_slot = or_preset(r->tokens_per_slot, job->model->tokens_per_slot);
    int64_t tokens = 0;

    if (r->lengths != NULL) {
        snprintf(data, len, "%s", r->lengths);
        return hydra_batches_read(r->lengths, job->context, batches);
    }
    if (__builtin_mul_overflow(pool, per_slot, &tokens))
        return hydra_error(HYDRA_ERR_OVERFLOW, "%" PRId64 " slots of %" PRId64 " tokens", pool, per_slot);
    snprintf(data, len, "%s tokens drawn from HyDra's Figure 1, seed %" PRId64, hydra_words_whole(tokens).text,
             r->seed);
    return hydra_batches_draw((uint64_t)r->seed, or_preset(r->batches, 1), tokens, job->context, batches);
}

static int write_svg(const struct hydra_report *report, const char *prefix)
{
    char path[1100];
    int status = HYDRA_SUCCESS;

    snprintf(path, sizeof path, "%s-stages.svg", prefix);
    HYDRA_TRY(hydra_timeline_svg(report, 0, path));
    snprintf(path, sizeof path, "%s-replicas.svg", prefix);
    HYDRA_TRY(hydra_timeline_svg(report, 1, path));
    snprintf(path, sizeof path, "%s-plan.svg", prefix);
    HYDRA_TRY(hydra_plan_svg(report, path));
    snprintf(path, sizeof path, "%s-degrees.svg", prefix);
    HYDRA_TRY(hydra_degrees_svg(report, path));
fail:
    return status;
}

/* True when a picture goes to standard output, which then holds nothing else. */
static bool quiet(const struct request *r)
{
    return (r->html != NULL && strcmp(r->html, "-") == 0) || (r->trace != NULL && strcmp(r->trace, "-") == 0);
}

enum { FACTS = 5 };

/* Lines under the title: what was simulated. data: where the documents come from. texts [out] what
 * the facts point at. */
static void make_facts(const struct hydra_job *job, int64_t pool, const char *data, char texts[2][160],
                       struct hydra_fact facts[FACTS])
{
    snprintf(texts[0], 160,
             "%s GPUs, tp %" PRId64 ", pp %" PRId64 " in %" PRId64 " chunk%s, ep %" PRId64 ": a pool of %s slots",
             hydra_words_whole(job->cut.gpus).text, job->cut.tensor_parallel, job->cut.pipeline_stages,
             job->cut.pipeline_chunks, job->cut.pipeline_chunks == 1 ? "" : "s", job->cut.expert_parallel,
             hydra_words_whole(pool).text);
    snprintf(texts[1], 160, "documents up to %s tokens, %s tokens a slot and microbatch",
             hydra_words_whole(job->context).text, hydra_words_whole(job->budget).text);
    facts[0] = (struct hydra_fact){"Model", job->model->name};
    facts[1] = (struct hydra_fact){"Cluster", job->cluster->name};
    facts[2] = (struct hydra_fact){"Job", texts[0]};
    facts[3] = (struct hydra_fact){"Limits", texts[1]};
    facts[4] = (struct hydra_fact){"Data", data};
}

static int write_pictures(const struct request *r, const struct hydra_job *job, const struct hydra_scene *scene,
                          const struct hydra_outcome *outcomes, int count)
{
    struct hydra_policy_result results[HYDRA_COMPARE_MAX];
    struct hydra_fact facts[FACTS];
    char texts[2][160];
    struct hydra_report report = {
        .title = "Dynamic context parallelism, simulated",
        .command = r->command,
        .nfacts = FACTS,
        .facts = facts,
        .policies = results,
    };
    int status = HYDRA_SUCCESS;

    make_facts(job, scene->pool, scene->data, texts, facts);
    for (int i = 0; i < count; i++)
        if (outcomes[i].status == HYDRA_SUCCESS)
            results[report.npolicies++] = outcomes[i].run.result;
    if (r->svg != NULL)
        HYDRA_TRY(write_svg(&report, r->svg));
    if (r->html != NULL)
        HYDRA_TRY(hydra_report_html(&report, r->html));
    if (r->trace != NULL)
        HYDRA_TRY(hydra_trace_json(&report, r->trace));
fail:
    return status;
}

static int run_sweep(const struct request *r, const struct hydra_job *job, const int *policies, int count)
{
    struct hydra_sweep sweep = {.count = 0};
    struct hydra_fact facts[FACTS];
    char path[1100], texts[2][160];
    int64_t pool;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(r->lengths == NULL, HYDRA_ERR_ARG, "--sweep draws its own batches: leave out --lengths");
    HYDRA_TRY(hydra_sweep_read(r->sweep, &sweep));
    HYDRA_TRY(hydra_sweep_run(job, (uint64_t)r->seed, or_preset(r->batches, 1),
                              or_preset(r->tokens_per_slot, job->model->tokens_per_slot), policies, count, &sweep));
    tool_progress_end();
    if (r->json && !quiet(r))
        hydra_sweep_print_json(stdout, &sweep, policies, count);
    else if (!quiet(r))
        hydra_sweep_print(stdout, &sweep, policies, count);
    if (r->svg != NULL) {
        snprintf(path, sizeof path, "%s-sweep.svg", r->svg);
        HYDRA_TRY(hydra_sweep_svg(&sweep, policies, count, path));
    }
    if (r->html != NULL) {
        HYDRA_TRY(hydra_cut_pool(&job->cut, &pool));
        make_facts(job, pool, "drawn from HyDra's Figure 1; what is swept replaces its value here", texts, facts);
        HYDRA_TRY(hydra_sweep_html(&sweep, policies, count, facts, FACTS, r->command, r->html));
    }
fail:
    hydra_sweep_clear(&sweep);
    return status;
}

static int run_compare(const struct request *r, const struct hydra_job *job, const int *policies, int count)
{
    struct hydra_outcome outcomes[HYDRA_COMPARE_MAX] = {{.policy = 0}};
    struct hydra_batches batches = {.count = 0};
    bool pictures = r->svg != NULL || r->html != NULL || r->trace != NULL;
    char data[1200];
    struct hydra_scene scene = {.model = job->model,
                                .cluster = job->cluster,
                                .cut = job->cut,
                                .budget = job->budget,
                                .context = job->context,
                                .data = data};
    int planned = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_cut_pool(&job->cut, &scene.pool));
    HYDRA_TRY(get_batches(r, job, scene.pool, data, sizeof data, &batches));
    scene.batches = batches.count;
    HYDRA_TRY(hydra_compare(job, &batches, policies, count, pictures, outcomes));
    tool_progress_end();
    for (int i = 0; i < count; i++) {
        planned += outcomes[i].status == HYDRA_SUCCESS;
        if (outcomes[i].status == HYDRA_SUCCESS && r->tokens > 0)
            hydra_result_price(&outcomes[i].run.result, r->tokens, (double)job->cut.gpus, r->price);
    }
    HYDRA_REQUIRE(planned > 0, outcomes[0].status, "%s: %s", Hydra_Policy_name(policies[0]), outcomes[0].why);
    if (pictures)
        HYDRA_TRY(write_pictures(r, job, &scene, outcomes, count));
    if (r->json && !quiet(r))
        hydra_print_json(stdout, &scene, outcomes, count);
    else if (!quiet(r))
        hydra_print_table(stdout, &scene, outcomes, count);
fail:
    hydra_outcomes_clear(outcomes, count);
    hydra_batches_clear(&batches);
    return status;
}

static int run_paper(const struct request *r)
{
    struct hydra_paper *paper = hydra_calloc(1, sizeof *paper);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(paper != NULL, HYDRA_ERR_NOMEM, "rows of the paper");
    HYDRA_TRY(hydra_paper_fill(r->batches > 0 ? r->batches : PAPER_BATCHES, (uint64_t)r->seed, paper));
    tool_progress_end();
    if (r->json)
        hydra_paper_print_json(stdout, paper);
    else
        hydra_paper_print(stdout, paper);
fail:
    hydra_free(paper);
    return status;
}

int hydra_cmd_sim(int argc, char **argv)
{
    struct request r = {.model = "hydra-testbed",
                        .cluster = "h20x512",
                        .policy = "all",
                        .engine = "auto",
                        .cap = "balanced",
                        .planning = "hidden",
                        .ep = -1,
                        .batches = 0,
                        .seed = 1,
                        .slow_slot = -1,
                        .slow_factor = 1};
    int policies[HYDRA_COMPARE_MAX], count = 0;
    struct hydra_model model;
    struct hydra_cluster cluster;
    struct hydra_job job;
    bool done = false;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(read_request(argc, argv, &r, &done));
    if (done)
        return 0;
    hydra_watch_by(tool_progress);
    if (r.paper) {
        HYDRA_TRY(run_paper(&r));
        return 0;
    }
    HYDRA_TRY(hydra_model_read(r.model, &model));
    HYDRA_TRY(hydra_cluster_read(r.cluster, &cluster));
    HYDRA_TRY(make_job(&r, &model, &cluster, &job));
    HYDRA_TRY(hydra_policies_read(r.policy, policies, &count));
    HYDRA_TRY(r.sweep != NULL ? run_sweep(&r, &job, policies, count) : run_compare(&r, &job, policies, count));
    return 0;

fail:
    return tool_fail(status);
}
