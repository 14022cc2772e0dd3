/* words.c: numbers as people read them, and sentences made from the numbers. */
#include "sim/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Decimals that leave three significant digits of a value from 1 up. */
static int decimals(double value)
{
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

static struct hydra_word scaled(double value, const char *unit)
{
    struct hydra_word word;

    snprintf(word.text, sizeof word.text, "%.*f%s", decimals(fabs(value)), value, unit);
    return word;
}

struct hydra_word hydra_words_seconds(double seconds)
{
    if (seconds == 0.0)
        return (struct hydra_word){"0 s"};
    if (seconds < 0.9995e-3)
        return scaled(seconds * 1e6, " \xc2\xb5s");
    if (seconds < 0.9995)
        return scaled(seconds * 1e3, " ms");
    if (seconds < 180.0)
        return scaled(seconds, " s");
    return seconds < 2.0 * 3600.0 ? scaled(seconds / 60.0, " min") : scaled(seconds / 3600.0, " h");
}

struct hydra_word hydra_words_count(double count)
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P"};
    double size = fabs(count);
    int unit = 0;
    struct hydra_word word;

    while (size >= 999.5 && unit < 5) {
        size /= 1000.0;
        unit++;
    }
    if (unit == 0 && size == floor(size)) {
        snprintf(word.text, sizeof word.text, "%.0f", count);
        return word;
    }
    if (unit == 0 && size < 1.0) {
        snprintf(word.text, sizeof word.text, "%.3g", count);
        return word;
    }
    return scaled(count < 0.0 ? -size : size, units[unit]);
}

struct hydra_word hydra_words_whole(int64_t count)
{
    struct hydra_word word;
    char digits[24];
    size_t length, at = 0;

    snprintf(digits, sizeof digits, "%" PRId64, count);
    length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        word.text[at++] = digits[i];
        if ((length - 1 - i) % 3 == 0 && i + 1 < length && digits[i] != '-')
            word.text[at++] = ',';
    }
    word.text[at] = '\0';
    return word;
}

struct hydra_word hydra_words_share(double share)
{
    struct hydra_word word;
    double percent = share * 100.0;

    if (fabs(percent) < 0.005)
        return percent > 1e-9 ? (struct hydra_word){"<0.01%"} : (struct hydra_word){"0%"};
    snprintf(word.text, sizeof word.text, "%.*f%%", fabs(percent) < 0.995 ? 2 : fabs(percent) < 99.95 ? 1 : 0, percent);
    return word;
}

struct hydra_word hydra_words_ratio(double ratio)
{
    return scaled(ratio, "\xc3\x97");
}

const char *hydra_bar_word(int kind)
{
    static const char *const words[HYDRA_BAR_KINDS] = {"forward", "backward", "reduce-scatter", "optimizer",
                                                       "planning"};

    return words[kind];
}

/* Append to a text of len bytes; what does not fit is left out. */
static void append(char *text, size_t len, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t len, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, len - used, format, arguments);
    va_end(arguments);
}

/* Without times: whose plan comes closest to even loads. */
static void append_closest(const struct hydra_report *report, char *text, size_t len)
{
    const struct hydra_policy_result *best = NULL;
    const char *joint = ". Others: ";

    for (int i = 0; i < report->npolicies; i++)
        if (report->policies[i].stats != NULL &&
            (best == NULL || report->policies[i].stats->critical_ratio < best->stats->critical_ratio))
            best = &report->policies[i];
    if (best == NULL)
        return;
    append(text, len, "%s is the most even: the fullest slots of its microbatches add up to %s of an even share",
           best->name, hydra_words_share(best->stats->critical_ratio).text);
    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_policy_result *policy = &report->policies[i];

        if (policy == best || policy->stats == NULL)
            continue;
        append(text, len, "%s%s %s", joint, policy->name, hydra_words_share(policy->stats->critical_ratio).text);
        joint = ", ";
    }
    append(text, len, ".");
}

const struct hydra_policy_result *hydra_report_fastest(const struct hydra_report *report)
{
    const struct hydra_policy_result *best = NULL;

    for (int i = 0; i < report->npolicies; i++)
        if (isfinite(report->policies[i].seconds) && (best == NULL || report->policies[i].seconds < best->seconds))
            best = &report->policies[i];
    return best;
}

void hydra_words_headline(const struct hydra_report *report, char *text, size_t len)
{
    const struct hydra_policy_result *best = hydra_report_fastest(report);
    const char *joint = "";

    text[0] = '\0';
    if (best == NULL) {
        append_closest(report, text, len);
        return;
    }
    append(text, len, "%s is the fastest: %s an iteration", best->name, hydra_words_seconds(best->seconds).text);
    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_policy_result *policy = &report->policies[i];

        if (policy == best || !isfinite(policy->seconds))
            continue;
        append(text, len, "%s%s%s %s", joint[0] == '\0' ? ". " : joint, policy->name, joint[0] == '\0' ? " takes" : "",
               hydra_words_ratio(policy->seconds / best->seconds).text);
        append(text, len, "%s", joint[0] == '\0' ? " as long" : "");
        joint = ", ";
    }
    append(text, len, ".");
}

/* Where the time goes that is not computation: losses of 3% and more, the greatest first. */
static void append_losses(const struct hydra_policy_result *policy, char *text, size_t len)
{
    struct {
        double share;
        const char *words;
    } losses[] = {{policy->pp_bubble, "stages waiting in the pipeline"},
                  {policy->dp_bubble, "replicas waiting for the slowest"},
                  {policy->exposed, "communication that nothing hides"}};
    const char *joint = " Lost: ";

    for (int i = 0; i < 3; i++) {
        int greatest = 0;

        for (int j = 1; j < 3; j++)
            if (isnan(losses[greatest].share) || losses[j].share > losses[greatest].share)
                greatest = j;
        if (!(losses[greatest].share >= 0.03))
            break;
        append(text, len, "%s%s to %s", joint, hydra_words_share(losses[greatest].share).text, losses[greatest].words);
        losses[greatest].share = -1.0;
        joint = ", ";
    }
    append(text, len, "%s", joint[0] == ',' ? "." : "");
}

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* How long the longest microbatch keeps the first stage, against the median one. */
static void append_longest(const struct hydra_policy_result *policy, char *text, size_t len)
{
    const struct hydra_timeline *timeline = policy->stages;
    const int64_t m = policy->schedule != NULL ? policy->schedule->microbatches : 0;
    double *seconds = m > 1 && timeline != NULL ? hydra_calloc(m, sizeof *seconds) : NULL;
    double greatest;
    int64_t longest = 0;

    if (seconds == NULL)
        return; /* one sentence less is no error */
    for (int64_t b = 0; b < timeline->nbars; b++)
        if (timeline->bars[b].row == 0 && timeline->bars[b].microbatch >= 0 && timeline->bars[b].microbatch < m)
            seconds[timeline->bars[b].microbatch] += timeline->bars[b].end - timeline->bars[b].start;
    for (int64_t i = 1; i < m; i++)
        longest = seconds[i] > seconds[longest] ? i : longest;
    greatest = seconds[longest];
    qsort(seconds, (size_t)m, sizeof *seconds, compare_seconds);
    if (greatest <= 1.1 * seconds[m / 2])
        append(text, len, " All microbatches keep a stage about as long, %s at most.",
               hydra_words_seconds(greatest).text);
    else
        append(text, len, " Microbatch %s is the longest here: it keeps a stage for %s, %s the median one.",
               hydra_words_whole(longest).text, hydra_words_seconds(greatest).text,
               seconds[m / 2] > 0.0 ? hydra_words_ratio(greatest / seconds[m / 2]).text : "many times");
    hydra_free(seconds);
}

void hydra_words_time(const struct hydra_report *report, int which, char *text, size_t len)
{
    const struct hydra_policy_result *policy = &report->policies[which], *best = hydra_report_fastest(report);

    text[0] = '\0';
    if (policy->note != NULL) {
        append(text, len, "%s", policy->note);
        return;
    }
    if (!isfinite(policy->seconds))
        return;
    append(text, len, "One iteration takes %s", hydra_words_seconds(policy->seconds).text);
    if (policy != best)
        append(text, len, ", %s as long as %s", hydra_words_ratio(policy->seconds / best->seconds).text, best->name);
    append(text, len, report->npolicies > 1 && policy == best ? ", the least of all." : ".");
    append_losses(policy, text, len);
    append_longest(policy, text, len);
}

void hydra_words_replicas(const struct hydra_timeline *timeline, char *text, size_t len)
{
    double *ends = hydra_calloc(timeline->rows, sizeof *ends);
    int64_t first = 0, last = 0;
    double wait = 0.0;

    text[0] = '\0';
    if (ends == NULL)
        return;
    for (int64_t b = 0; b < timeline->nbars; b++) {
        const struct hydra_bar *bar = &timeline->bars[b];

        if (bar->kind <= HYDRA_BAR_BACKWARD && bar->row >= 0 && bar->row < timeline->rows)
            ends[bar->row] = fmax(ends[bar->row], bar->end);
    }
    for (int64_t row = 1; row < timeline->rows; row++) {
        first = ends[row] < ends[first] ? row : first;
        last = ends[row] > ends[last] ? row : last;
    }
    for (int64_t row = 0; row < timeline->rows; row++)
        wait += (ends[last] - ends[row]) / (double)timeline->rows;
    append(text, len, "The first of %s %ss is ready at %s, the last at %s: on average they wait %s for it.",
           hydra_words_whole(timeline->rows).text, timeline->row_word, hydra_words_seconds(ends[first]).text,
           hydra_words_seconds(ends[last]).text, hydra_words_seconds(wait).text);
    hydra_free(ends);
}

/* Longest document of a group, tokens. */
static int64_t longest_of(const struct hydra_schedule *schedule, const struct hydra_group *group)
{
    int64_t longest = 0;

    for (int64_t i = group->docs_begin; i < group->docs_end; i++)
        if (schedule->lengths[schedule->docs[i]] > longest)
            longest = schedule->lengths[schedule->docs[i]];
    return longest;
}

void hydra_words_plan(const struct hydra_schedule *schedule, const struct hydra_grid *grid, char *text, size_t len)
{
    int64_t worst = 0, fullest = -1;

    text[0] = '\0';
    if (schedule->microbatches == 1)
        append(text, len, "1 microbatch; its fullest slot has %s of an even share",
               hydra_words_share(grid->critical).text);
    else
        append(text, len, "%s microbatches; their fullest slots add up to %s of an even share",
               hydra_words_whole(schedule->microbatches).text, hydra_words_share(grid->critical).text);
    for (int64_t m = 1; m < schedule->microbatches; m++)
        if (grid->load_max[m] - grid->load_mean[m] > grid->load_max[worst] - grid->load_mean[worst])
            worst = m;
    for (int64_t g = schedule->group_begin[worst]; g < schedule->group_begin[worst + 1]; g++)
        if (fullest < 0 || grid->group_load[g] > grid->group_load[fullest])
            fullest = g;
    if (grid->critical > 1.01 && fullest >= 0)
        append(text, len,
               ". Most is lost in microbatch %s: %s on its fullest slot against %s on average, where a document of "
               "%s tokens runs at degree %s",
               hydra_words_whole(worst).text, hydra_words_share(grid->load_max[worst]).text,
               hydra_words_share(grid->load_mean[worst]).text,
               hydra_words_whole(longest_of(schedule, &schedule->groups[fullest])).text,
               hydra_words_whole(schedule->groups[fullest].size).text);
    append(text, len, grid->idle > 0.0005 ? "; %s of the slots are idle." : ".", hydra_words_share(grid->idle).text);
}

void hydra_words_degrees(const Hydra_Schedule_stats *stats, char *text, size_t len)
{
    int most = 0;

    for (int level = 1; level < 64; level++)
        if (stats->degree_share[level] > stats->degree_share[most])
            most = level;
    text[0] = '\0';
    append(text, len, "%s of the slots work at degree %s", hydra_words_share(stats->degree_share[most]).text,
           hydra_words_whole((int64_t)1 << (most < 62 ? most : 62)).text);
    if (stats->idle_share > 0.0005)
        append(text, len, ", %s are idle", hydra_words_share(stats->idle_share).text);
    append(text, len, ".");
}
