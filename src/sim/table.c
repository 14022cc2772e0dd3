/* table.c: tables of the HTML report: the times of every policy, and what the plans alone decide. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/draw.h"
#include "sim/svg.h"
#include "sim/words.h"

/* A column of the table: a number of each policy, how to write it, and which end of the scale is good. */
struct column {
    const char *head;
    const char *meaning; /* tool-tip */
    size_t offset;       /* of a double in struct hydra_policy_result */
    struct hydra_word (*word)(double);
    int best; /* -1 the least, +1 the greatest, 0 neither */
};

#define RESULT(field) offsetof(struct hydra_policy_result, field)

static const struct column time_columns[] = {
    {"iteration", "time of one training iteration", RESULT(seconds), hydra_words_seconds, -1},
    {"tokens/s", "tokens trained each second by the whole machine", RESULT(tokens_per_second), hydra_words_count, 1},
    {"tokens/day", "tokens trained each day by the whole machine", RESULT(tokens_per_day), hydra_words_count, 1},
    {"MFU", "model FLOP/s over the machine's peak", RESULT(mfu), hydra_words_share, 1},
    {"PP bubble", "share of the time that stages wait in the pipeline", RESULT(pp_bubble), hydra_words_share, -1},
    {"DP bubble", "share of the time that replicas wait for the slowest", RESULT(dp_bubble), hydra_words_share, -1},
    {"exposed", "share of the time in communication that nothing hides", RESULT(exposed), hydra_words_share, -1},
    {"busy", "share of the time that the compute stream computes", RESULT(busy), hydra_words_share, 1},
    {"CoV", "standard deviation over mean of the microbatches' times", RESULT(cov), hydra_words_share, -1},
    {"days", "to train the tokens asked for", RESULT(days), hydra_words_count, -1},
    {"cost", "of those days", RESULT(cost), hydra_words_count, -1},
};

static double number_of(const struct hydra_policy_result *policy, const struct column *column)
{
    return *(const double *)(const void *)((const char *)policy + column->offset);
}

/* Best value of a column over all policies; false when no policy has the number. */
static bool column_best(const struct hydra_report *report, const struct column *column, double *best)
{
    bool any = false;

    for (int i = 0; i < report->npolicies; i++) {
        double value = number_of(&report->policies[i], column);

        if (!isfinite(value))
            continue;
        if (!any || column->best * (value - *best) > 0.0)
            *best = value;
        any = true;
    }
    return any;
}

/* True when this policy's number is the best of several that differ. */
static bool stands_out(const struct hydra_report *report, const struct column *column, double value)
{
    const struct column worst = {.offset = column->offset, .best = -column->best};
    double best, least;

    return column->best != 0 && column_best(report, column, &best) && column_best(report, &worst, &least) &&
           value == best && best != least;
}

static void put_cell(FILE *page, bool best, const char *text)
{
    fputs(best ? "<td class=\"best\">" : "<td>", page);
    hydra_xml_text(page, text);
    fputs("</td>", page);
}

/* Number of a column as it stands in the table: money after its currency, a dash when it is not known. */
static void put_number(FILE *page, const struct hydra_report *report, const struct column *column, double value)
{
    char text[64];

    snprintf(text, sizeof text, "%s%s",
             column->offset != RESULT(cost) ? ""
             : report->currency != NULL     ? report->currency
                                            : "$",
             column->word(value).text);
    put_cell(page, stands_out(report, column, value), isfinite(value) ? text : "\xe2\x80\x93");
}

static void put_time_row(FILE *page, const struct hydra_report *report, const struct hydra_policy_result *policy)
{
    const double ratio = policy->seconds / hydra_report_fastest(report)->seconds;

    fputs("<tr><td>", page);
    hydra_xml_text(page, policy->name);
    fputs("</td>", page);
    put_cell(page, false, isfinite(ratio) ? hydra_words_ratio(ratio).text : "");
    for (size_t c = 0; c < sizeof time_columns / sizeof time_columns[0]; c++) {
        const struct column *column = &time_columns[c];
        const double value = number_of(policy, column);
        double best;

        if (!column_best(report, column, &best))
            continue;
        put_number(page, report, column, value);
    }
    fputs("</tr>\n", page);
}

void hydra_table_times(FILE *page, const struct hydra_report *report)
{
    double any;

    if (!column_best(report, &time_columns[0], &any))
        return;
    fputs("<table><thead><tr><th>policy</th><th title=\"time relative to the fastest\">relative</th>", page);
    for (size_t c = 0; c < sizeof time_columns / sizeof time_columns[0]; c++)
        if (column_best(report, &time_columns[c], &any))
            fprintf(page, "<th title=\"%s\">%s</th>", time_columns[c].meaning, time_columns[c].head);
    fputs("</tr></thead><tbody>\n", page);
    for (int i = 0; i < report->npolicies; i++)
        put_time_row(page, report, &report->policies[i]);
    fputs("</tbody></table>\n", page);
}

/* Heads of the plans' columns; the last only where a planning time is known. */
static const char *const plan_heads[][2] = {
    {"micro-<br/>batches", "microbatches of the iteration"},
    {"groups", "groups of slots over all microbatches"},
    {"greatest<br/>degree", "slots of the largest group"},
    {"critical<br/>load", "sum over microbatches of the fullest slot, over the even share: 100% is perfect"},
    {"load<br/>max/mean", "greatest over mean of the slots' loads over the iteration"},
    {"tokens<br/>max/mean", "greatest over mean of the slots' tokens over the iteration"},
    {"most tokens<br/>of a slot", "in one microbatch"},
    {"idle<br/>slots", "share of slots and microbatches without a group"},
    {"padded<br/>tokens", "tokens as the policy pads them, over the batch's"},
    {"planning", "time to make the plan"},
};

enum { PLAN_COLUMNS = sizeof plan_heads / sizeof plan_heads[0] };

static void put_plan_row(FILE *page, const struct hydra_policy_result *policy, int columns)
{
    const Hydra_Schedule_stats *stats = policy->stats;
    const double padding = stats->tokens > 0 ? stats->padded_tokens / (double)stats->tokens : 1.0;
    const struct hydra_word words[PLAN_COLUMNS] = {
        hydra_words_whole(stats->microbatches),
        hydra_words_whole(stats->groups),
        hydra_words_whole(stats->greatest_degree),
        hydra_words_share(stats->critical_ratio),
        hydra_words_ratio(stats->load_imbalance),
        hydra_words_ratio(stats->token_imbalance),
        hydra_words_whole((int64_t)ceil(stats->token_max)),
        hydra_words_share(stats->idle_share),
        hydra_words_ratio(padding),
        isfinite(policy->planning_seconds) ? hydra_words_seconds(policy->planning_seconds)
                                           : (struct hydra_word){"\xe2\x80\x93"},
    };

    fputs("<tr><td>", page);
    hydra_xml_text(page, policy->name);
    fputs("</td>", page);
    for (int c = 0; c < columns; c++)
        put_cell(page, false, words[c].text);
    fputs("</tr>\n", page);
}

void hydra_table_plans(FILE *page, const struct hydra_report *report)
{
    bool any = false;
    int columns = PLAN_COLUMNS - 1;

    for (int i = 0; i < report->npolicies; i++) {
        any |= report->policies[i].stats != NULL;
        if (isfinite(report->policies[i].planning_seconds))
            columns = PLAN_COLUMNS;
    }
    if (!any)
        return;
    fputs("<table><thead><tr><th>plan</th>", page);
    for (int c = 0; c < columns; c++)
        fprintf(page, "<th title=\"%s\">%s</th>", plan_heads[c][1], plan_heads[c][0]);
    fputs("</tr></thead><tbody>\n", page);
    for (int i = 0; i < report->npolicies; i++)
        if (report->policies[i].stats != NULL)
            put_plan_row(page, &report->policies[i], columns);
    fputs("</tbody></table>\n", page);
}
