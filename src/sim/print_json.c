/* print_json.c: results as JSON. */
#include <inttypes.h>
#include <math.h>

#include "sim/print.h"

void hydra_json_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(to, "\\u%04x", *c);
        else
            fputc(*c, to);
    }
    fputc('"', to);
}

void hydra_json_number(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, "%.9g", value);
    else
        fprintf(to, "null");
}

static void member(FILE *to, const char *name, double value)
{
    fprintf(to, ", \"%s\": ", name);
    hydra_json_number(to, value);
}

static void print_degrees(FILE *to, const Hydra_Schedule_stats *stats)
{
    const char *between = "";

    fprintf(to, ", \"degrees\": {");
    for (int level = 0; level < 63; level++)
        if (stats->degree_share[level] > 0) {
            fprintf(to, "%s\"%" PRId64 "\": ", between, (int64_t)1 << level);
            hydra_json_number(to, stats->degree_share[level]);
            between = ", ";
        }
    fprintf(to, "}");
}

static void print_shares(FILE *to, const char *name, const struct hydra_shares *shares)
{
    fprintf(to, ", \"%s\": {\"planning\": ", name);
    hydra_json_number(to, shares->planning);
    member(to, "compute", shares->compute);
    member(to, "communication", shares->comm);
    member(to, "meeting", shares->meeting);
    member(to, "pipeline", shares->pipeline);
    member(to, "replicas", shares->replicas);
    member(to, "reduce", shares->reduce);
    member(to, "optimizer", shares->optimizer);
    fprintf(to, "}");
}

static void print_outcome(FILE *to, const struct hydra_outcome *outcome)
{
    const struct hydra_policy_result *r = &outcome->run.result;

    fprintf(to, "    {\"policy\": ");
    hydra_json_text(to, Hydra_Policy_name(outcome->policy));
    if (outcome->status != HYDRA_SUCCESS) {
        fprintf(to, ", \"error\": ");
        hydra_json_text(to, outcome->why);
        fprintf(to, "}");
        return;
    }
    fprintf(to, ", \"engine\": ");
    hydra_json_text(to, hydra_engine_name(outcome->run.engine));
    member(to, "microbatches", (double)outcome->run.stats.microbatches);
    member(to, "tokens", outcome->run.tokens);
    member(to, "seconds", r->seconds);
    member(to, "tokens_per_second", r->tokens_per_second);
    member(to, "tokens_per_day", r->tokens_per_day);
    member(to, "mfu", r->mfu);
    member(to, "pp_bubble", r->pp_bubble);
    member(to, "dp_bubble", r->dp_bubble);
    member(to, "exposed_communication", r->exposed);
    member(to, "busy", r->busy);
    member(to, "microbatch_variation", r->cov);
    member(to, "planning_seconds", r->planning_seconds);
    member(to, "days", r->days);
    member(to, "cost", r->cost);
    print_shares(to, "shares", &outcome->run.shares);
    print_shares(to, "rank_0_shares", &outcome->run.first);
    print_degrees(to, &outcome->run.stats);
    fprintf(to, "}");
}

void hydra_print_json(FILE *to, const struct hydra_scene *scene, const struct hydra_outcome *outcomes, int count)
{
    fprintf(to, "{\n  \"model\": ");
    hydra_json_text(to, scene->model->name);
    fprintf(to, ", \"cluster\": ");
    hydra_json_text(to, scene->cluster->name);
    fprintf(to, ", \"data\": ");
    hydra_json_text(to, scene->data);
    member(to, "gpus", (double)scene->cut.gpus);
    member(to, "tensor_parallel", (double)scene->cut.tensor_parallel);
    member(to, "pipeline_stages", (double)scene->cut.pipeline_stages);
    member(to, "pipeline_chunks", (double)scene->cut.pipeline_chunks);
    member(to, "expert_parallel", (double)scene->cut.expert_parallel);
    member(to, "pool", (double)scene->pool);
    member(to, "budget", (double)scene->budget);
    member(to, "context", (double)scene->context);
    member(to, "batches", (double)scene->batches);
    fprintf(to, ", \"fitted\": %s,\n  \"policies\": [\n",
            hydra_model_fit_for(scene->model, scene->cluster) != NULL ? "true" : "false");
    for (int i = 0; i < count; i++) {
        print_outcome(to, &outcomes[i]);
        fprintf(to, i + 1 < count ? ",\n" : "\n");
    }
    fprintf(to, "  ]\n}\n");
}
