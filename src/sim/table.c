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
    const double ratio = policy->seconds / report->policies[0].seconds;

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
    fputs("<table><thead><tr><th>policy</th><th title=\"time relative to the first row\">relative</th>", page);
    for (size_t c = 0; c < sizeof time_columns / sizeof time_columns[0]; c++)
        if (column_best(report, &time_columns[c], &any))
            fprintf(page, "<th title=\"%s\">%s</th>", time_columns[c].meaning, time_columns[c].head);
    fputs("</tr></thead><tbody>\n", page);
    for (int i = 0; i < report->npolicies; i++)
        put_time_row(page, report, &report->policies[i]);
    fputs("</tbody></table>\n", page);
}

/* The plans' own numbers: what planner and batch decide before any time is spent. */
void hydra_table_plans(FILE *page, const struct hydra_report *report)
{
    bool any = false;

    for (int i = 0; i < report->npolicies; i++)
        any |= report->policies[i].stats != NULL;
    if (!any)
        return;
    fputs("<table><thead><tr><th>plan</th><th>micro-<br/>batches</th><th>groups</th><th>greatest<br/>degree</th>"
          "<th title=\"sum over microbatches of the fullest slot, over the even share: 100% is "
          "perfect\">critical<br/>load</th>"
          "<th title=\"greatest over mean of the slots' loads over the iteration\">load<br/>max/mean</th>"
          "<th title=\"greatest over mean of the slots' tokens over the iteration\">tokens<br/>max/mean</th>"
          "<th>most tokens<br/>of a "
          "slot</th><th>idle<br/>slots</th><th>padded<br/>tokens</th><th>planning</th></tr></thead><tbody>\n",
          page);
    for (int i = 0; i < report->npolicies; i++) {
        const Hydra_Schedule_stats *stats = report->policies[i].stats;

        if (stats == NULL)
            continue;
        fputs("<tr><td>", page);
        hydra_xml_text(page, report->policies[i].name);
        fputs("</td>", page);
        put_cell(page, false, hydra_words_whole(stats->microbatches).text);
        put_cell(page, false, hydra_words_whole(stats->groups).text);
        put_cell(page, false, hydra_words_whole(stats->greatest_degree).text);
        put_cell(page, false, hydra_words_share(stats->critical_ratio).text);
        put_cell(page, false, hydra_words_ratio(stats->load_imbalance).text);
        put_cell(page, false, hydra_words_ratio(stats->token_imbalance).text);
        put_cell(page, false, hydra_words_whole((int64_t)ceil(stats->token_max)).text);
        put_cell(page, false, hydra_words_share(stats->idle_share).text);
        put_cell(page, false,
                 stats->tokens > 0 ? hydra_words_ratio(stats->padded_tokens / (double)stats->tokens).text : "");
        put_cell(page, false,
                 isfinite(report->policies[i].planning_seconds)
                     ? hydra_words_seconds(report->policies[i].planning_seconds).text
                     : "\xe2\x80\x93");
        fputs("</tr>\n", page);
    }
    fputs("</tbody></table>\n", page);
}
