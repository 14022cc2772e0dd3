/* words.h: numbers as people read them, and the sentences that say what to see, made from the numbers. */
#ifndef HYDRA_SIM_WORDS_H
#define HYDRA_SIM_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/grid.h"
#include "sim/report.h"

/* A short number with its unit; the text lives inside the struct: hydra_words_seconds(x).text. */
struct hydra_word {
    char text[32];
};

struct hydra_word hydra_words_seconds(double seconds); /* "812 ms", "4.31 s", "2.4 h" */
struct hydra_word hydra_words_count(double count);     /* "950", "32.8K", "4.19M": powers of 1,000 */
struct hydra_word hydra_words_whole(int64_t count);    /* "262,144" */
struct hydra_word hydra_words_share(double share);     /* 0.269 -> "26.9%" */
struct hydra_word hydra_words_ratio(double ratio);     /* "1.18x" with a true multiplication sign */

/* The policy with the least time, NULL when no time is known: what the others are compared with. */
const struct hydra_policy_result *hydra_report_fastest(const struct hydra_report *report);

/* "forward", ... of an enum hydra_bar_kind. */
const char *hydra_bar_word(int kind);

/* One sentence each, up to len bytes with the final 0. `which`: index of a policy. */
void hydra_words_headline(const struct hydra_report *report, char *text, size_t len);
void hydra_words_time(const struct hydra_report *report, int which, char *text, size_t len);
void hydra_words_replicas(const struct hydra_timeline *timeline, char *text, size_t len);
void hydra_words_plan(const struct hydra_schedule *schedule, const struct hydra_grid *grid, char *text, size_t len);
void hydra_words_degrees(const Hydra_Schedule_stats *stats, char *text, size_t len);

#endif
