/* test_words.c: numbers read well at every size, and the sentences hold the numbers that they are about. */
#include <math.h>
#include <string.h>

#include "sim/words.h"
#include "tests/tap.h"

static bool reads(struct hydra_word word, const char *text)
{
    return TAP_CHECK(strcmp(word.text, text) == 0, "'%s' is not '%s'", word.text, text);
}

static void numbers_keep_three_digits(void)
{
    bool good = reads(hydra_words_seconds(0.0), "0 s");

    good &= reads(hydra_words_seconds(1.234e-6), "1.23 \xc2\xb5s");
    good &= reads(hydra_words_seconds(0.9996e-3), "1.00 ms");
    good &= reads(hydra_words_seconds(0.0999), "99.9 ms");
    good &= reads(hydra_words_seconds(0.9996), "1.00 s");
    good &= reads(hydra_words_seconds(179.6), "180 s");
    good &= reads(hydra_words_seconds(600.0), "10.0 min");
    good &= reads(hydra_words_seconds(86400.0), "24.0 h");
    good &= reads(hydra_words_count(0.0), "0");
    good &= reads(hydra_words_count(999.0), "999");
    good &= reads(hydra_words_count(999.7), "1.00K");
    good &= reads(hydra_words_count(32768.0), "32.8K");
    good &= reads(hydra_words_count(4.19e6), "4.19M");
    good &= reads(hydra_words_count(-1.5e9), "-1.50G");
    good &= reads(hydra_words_share(0.269), "26.9%");
    good &= reads(hydra_words_share(0.00012), "0.01%");
    good &= reads(hydra_words_share(1e-6), "<0.01%");
    good &= reads(hydra_words_share(-1e-17), "0%");
    good &= reads(hydra_words_share(1.216), "122%");
    good &= reads(hydra_words_ratio(1.18), "1.18\xc3\x97");
    tap_result(good, "numbers keep three digits and change their unit before a fourth");
}

static void whole_numbers_are_grouped(void)
{
    bool good = reads(hydra_words_whole(0), "0");

    good &= reads(hydra_words_whole(999), "999");
    good &= reads(hydra_words_whole(1000), "1,000");
    good &= reads(hydra_words_whole(-123456), "-123,456");
    good &= reads(hydra_words_whole(INT64_MIN), "-9,223,372,036,854,775,808");
    tap_result(good, "whole numbers are grouped by thousands, the least one too");
}

/* Two policies: the second loses most to replicas. */
static void sentences_follow_the_numbers(void)
{
    struct hydra_policy_result policies[2] = {HYDRA_POLICY_RESULT_INIT, HYDRA_POLICY_RESULT_INIT};
    struct hydra_report report = {.title = "two", .npolicies = 2, .policies = policies};
    char text[512];
    bool good;

    policies[0].name = "load";
    policies[0].seconds = 2.0;
    policies[0].pp_bubble = 0.2;
    policies[1].name = "static";
    policies[1].seconds = 3.0;
    policies[1].pp_bubble = 0.1;
    policies[1].dp_bubble = 0.15;
    hydra_words_headline(&report, text, sizeof text);
    good = TAP_CHECK(strcmp(text, "load is the fastest: 2.00 s an iteration. static takes 1.50\xc3\x97 as long.") == 0,
                     "%s", text);
    hydra_words_time(&report, 1, text, sizeof text);
    good &= TAP_CHECK(strstr(text, "3.00 s, 1.50\xc3\x97 as long as load") != NULL, "%s", text);
    good &= TAP_CHECK(
        strstr(text, "Lost: 15.0% to replicas waiting for the slowest, 10.0% to stages waiting in the pipeline.") !=
            NULL,
        "%s", text);
    policies[1].note = "own words";
    hydra_words_time(&report, 1, text, sizeof text);
    good &= TAP_CHECK(strcmp(text, "own words") == 0, "%s", text);
    hydra_words_headline(&report, text, 24);
    good &= TAP_CHECK(strlen(text) == 23, "a short text is cut to its room: '%s'", text);
    tap_result(good,
               "sentences name the fastest policy, the ratios and the greatest loss; a caller's own sentence wins");
}

static void replicas_wait_for_the_last(void)
{
    const struct hydra_bar bars[] = {{0.0, 1.0, -1, 0, 0, HYDRA_BAR_BACKWARD},
                                     {0.0, 3.0, -1, 1, 0, HYDRA_BAR_BACKWARD},
                                     {3.0, 4.0, -1, 0, 0, HYDRA_BAR_REDUCE}};
    const struct hydra_timeline timeline = {NULL, "replica", 2, NULL, 1, 4.0, 3, bars};
    char text[256];

    hydra_words_replicas(&timeline, text, sizeof text);
    tap_result(
        TAP_CHECK(strstr(text, "at 1.00 s, the last at 3.00 s: on average they wait 1.00 s") != NULL, "%s", text),
        "the sentence on replicas counts computation, not the reduce-scatter");
}

int main(void)
{
    numbers_keep_three_digits();
    whole_numbers_are_grouped();
    sentences_follow_the_numbers();
    replicas_wait_for_the_last();
    return tap_done();
}
