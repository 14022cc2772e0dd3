/* print.c: the table of results. */
#include "sim/print.h"

#include <inttypes.h>
#include <math.h>

static void print_scene(FILE *to, const struct hydra_scene *scene)
{
    fprintf(to,
            "%s on %s: %" PRId64 " GPUs, tp %" PRId64 ", pp %" PRId64 ", v %" PRId64 ", ep %" PRId64
            ": a pool of %" PRId64 " slots, %" PRId64 " tokens a slot and microbatch\n",
            scene->model->name, scene->cluster->name, scene->cut.gpus, scene->cut.tensor_parallel,
            scene->cut.pipeline_stages, scene->cut.pipeline_chunks, scene->cut.expert_parallel, scene->pool,
            scene->budget);
    fprintf(to, "Documents up to %" PRId64 " tokens: %s", scene->context, scene->data);
    if (scene->batches > 1)
        fprintf(to, ", means over %" PRId64 " batches", scene->batches);
    if (hydra_model_fit_for(scene->model, scene->cluster) != NULL)
        fprintf(to, "; stage times fitted, not derived");
    fprintf(to, "\n\n");
}

static void print_result(FILE *to, const struct hydra_outcome *outcome, double slowest, bool priced)
{
    const struct hydra_policy_result *r = &outcome->run.result;

    fprintf(to, "%-14s %-8s %9.3f %7.2f %12.0f %9.2f %6.1f %6.1f %6.1f %7.1f %6.1f %7.0f %4" PRId64 " %9.4f", r->name,
            hydra_engine_name(outcome->run.engine), r->seconds, slowest / r->seconds, r->tokens_per_second,
            r->tokens_per_day / 1e9, 100 * r->mfu, 100 * r->pp_bubble, 100 * r->dp_bubble, 100 * r->exposed,
            100 * r->busy, 100 * r->cov, outcome->run.stats.microbatches, r->planning_seconds);
    if (priced)
        fprintf(to, " %8.2f %12.0f", r->days, r->cost);
    fprintf(to, "\n");
}

static void print_degrees(FILE *to, const struct hydra_outcome *outcome)
{
    fprintf(to, "%-14s", outcome->run.result.name);
    for (int level = 0; level < 63; level++)
        if (outcome->run.stats.degree_share[level] > 0.0005)
            fprintf(to, "  %" PRId64 ": %.1f", (int64_t)1 << level, 100 * outcome->run.stats.degree_share[level]);
    fprintf(to, "\n");
}

void hydra_print_table(FILE *to, const struct hydra_scene *scene, const struct hydra_outcome *outcomes, int count)
{
    double slowest = 0;
    bool priced = false;

    for (int i = 0; i < count; i++)
        if (outcomes[i].status == HYDRA_SUCCESS) {
            slowest = fmax(slowest, outcomes[i].run.result.seconds);
            priced |= !isnan(outcomes[i].run.result.days);
        }
    print_scene(to, scene);
    fprintf(to, "%-14s %-8s %9s %7s %12s %9s %6s %6s %6s %7s %6s %7s %4s %9s", "policy", "engine", "iter s", "speedup",
            "tokens/s", "B tok/day", "MFU %", "PP %", "DP %", "comm %", "busy %", "MB CoV%", "M", "plan s");
    if (priced)
        fprintf(to, " %8s %12s", "days", "cost");
    fprintf(to, "\n");
    for (int i = 0; i < count; i++)
        if (outcomes[i].status == HYDRA_SUCCESS)
            print_result(to, &outcomes[i], slowest, priced);
        else
            fprintf(to, "%-14s no plan: %s\n", Hydra_Policy_name(outcomes[i].policy), outcomes[i].why);
    fprintf(to,
            "\nPP: stages wait in the pipeline or for slots of their group or expert block; DP: replicas wait for the "
            "slowest;\ncomm: communication that nothing hides; busy: the compute stream computes. Shares of time x "
            "ranks.\n\nShare of slots and microbatches at each degree, %%:\n");
    for (int i = 0; i < count; i++)
        if (outcomes[i].status == HYDRA_SUCCESS)
            print_degrees(to, &outcomes[i]);
}
