/* plan_table.c: the figures of plans, as a table for people and as JSON for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/plan_table.h"

void tool_plan_print_one(const struct tool_plan *plan)
{
    const Hydra_Schedule_stats *s = &plan->stats;
    uint64_t hash = 0;

    Hydra_Schedule_hash(plan->schedule, &hash);
    printf("policy                %s\n", plan->name);
    printf("documents             %" PRId64 ", %" PRId64 " tokens\n", s->documents, s->tokens);
    printf("pool                  %" PRId64 " slots\n", s->pool);
    printf("microbatches          %" PRId64 ", %" PRId64 " groups\n", s->microbatches, s->groups);
    printf("greatest degree       %" PRId64 "\n", s->greatest_degree);
    printf("load max/mean         %.4f   (per slot, over the iteration)\n", s->load_imbalance);
    printf("critical load         %.4f   (sum over microbatches of the greatest load, over sum(w)/G)\n",
           s->critical_ratio);
    printf("load of a slot        %.6g at most, %.6g on average, in one microbatch\n", s->load_max, s->load_mean);
    printf("tokens max/mean       %.4f   (per slot, over the iteration)\n", s->token_imbalance);
    printf("tokens of a slot      %.0f at most, %.1f on average, in one microbatch\n", s->token_max, s->token_mean);
    printf("idle slots            %.2f %%\n", 100 * s->idle_share);
    if (s->padded_tokens > (double)s->tokens)
        printf("padded tokens         %.3f x\n", s->padded_tokens / (double)s->tokens);
    if (s->predicted_seconds > 0)
        printf("predicted iteration   %.6g s\n", s->predicted_seconds);
    if (!isnan(plan->planning_seconds))
        printf("planning time         %.3f ms\n", 1e3 * plan->planning_seconds);
    printf("hash                  %016" PRIx64 "\n", hash);
    printf("degrees               share of slots\n");
    for (int level = 0; level < 64; level++)
        if (s->degree_share[level] > 0)
            printf("  %-19" PRId64 " %.2f %%\n", (int64_t)1 << level, 100 * s->degree_share[level]);
}

void tool_plan_print_rows(int count, const struct tool_outcome outcomes[], bool with_times)
{
    printf("%-14s %6s %8s %7s %10s %10s %10s %8s %s%12s\n", "policy", "M", "groups", "degree", "load", "critical",
           "tokens", "idle", with_times ? " predicted s " : "", "planning ms");
    printf("%-14s %6s %8s %7s %10s %10s %10s %8s %s%12s\n", "", "", "", "max", "max/mean", "load", "max/mean", "%",
           with_times ? "             " : "", "");
    for (int i = 0; i < count; i++) {
        const struct tool_plan *plan = &outcomes[i].plan;
        const Hydra_Schedule_stats *s = &plan->stats;

        if (plan->schedule == NULL) {
            printf("%-14s %s\n", plan->name, outcomes[i].failure);
            continue;
        }
        printf("%-14s %6" PRId64 " %8" PRId64 " %7" PRId64 " %10.4f %10.4f %10.4f %8.2f ", plan->name, s->microbatches,
               s->groups, s->greatest_degree, s->load_imbalance, s->critical_ratio, s->token_imbalance,
               100 * s->idle_share);
        if (with_times)
            printf("%12.6g ", s->predicted_seconds);
        if (isnan(plan->planning_seconds))
            printf("%12s\n", "-");
        else
            printf("%12.3f\n", 1e3 * plan->planning_seconds);
    }
}

/* A JSON string of one of our own sentences: quotes and backslashes are all that needs care; control bytes become
 * spaces. */
static void print_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < 0x20 ? ' ' : *text);
    }
    putchar('"');
}

static void print_plan(const struct tool_plan *plan)
{
    const Hydra_Schedule_stats *s = &plan->stats;
    uint64_t hash = 0;
    bool first = true;

    Hydra_Schedule_hash(plan->schedule, &hash);
    printf("\"pool\": %" PRId64 ", \"documents\": %" PRId64 ", \"tokens\": %" PRId64 ", ", s->pool, s->documents,
           s->tokens);
    printf("\"microbatches\": %" PRId64 ", \"groups\": %" PRId64 ", \"greatest_degree\": %" PRId64 ", ",
           s->microbatches, s->groups, s->greatest_degree);
#define FIGURE(name) printf("\"" #name "\": %.17g, ", s->name)
    FIGURE(load_mean);
    FIGURE(load_max);
    FIGURE(load_imbalance);
    FIGURE(critical_load);
    FIGURE(critical_ratio);
    FIGURE(token_max);
    FIGURE(token_mean);
    FIGURE(token_imbalance);
    FIGURE(idle_share);
    FIGURE(padded_tokens);
    FIGURE(predicted_seconds);
#undef FIGURE
    if (!isnan(plan->planning_seconds))
        printf("\"planning_seconds\": %.9g, ", plan->planning_seconds);
    printf("\"hash\": \"%016" PRIx64 "\", \"degree_share\": {", hash);
    for (int level = 0; level < 63; level++)
        if (s->degree_share[level] > 0) {
            printf("%s\"%" PRId64 "\": %.17g", first ? "" : ", ", (int64_t)1 << level, s->degree_share[level]);
            first = false;
        }
    printf("}");
}

void tool_plan_print_json(int count, const struct tool_outcome outcomes[])
{
    printf("{\"plans\": [");
    for (int i = 0; i < count; i++) {
        printf("%s\n  {\"policy\": ", i == 0 ? "" : ",");
        print_string(outcomes[i].plan.name);
        printf(", ");
        if (outcomes[i].plan.schedule != NULL) {
            print_plan(&outcomes[i].plan);
        } else {
            printf("\"error\": ");
            print_string(outcomes[i].failure);
        }
        printf("}");
    }
    printf("\n]}\n");
}
