/* test_paper.c: how rows of the paper are judged and printed, on made-up results. What is really simulated is printed
 * by `hydra-dcp sim --paper`. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/paper.h"
#include "tests/json_check.h"
#include "tests/tap.h"

static int agreeing(const struct hydra_paper *paper)
{
    int counted = 0, agree = 0;

    hydra_paper_count(paper, &counted, &agree);
    return agree;
}

static void set_speed(struct hydra_paper *paper, int setting, int system, double tokens_per_second)
{
    paper->cells[setting][system].known = true;
    paper->cells[setting][system].result.tokens_per_second = tokens_per_second;
    /* Nothing else may agree by chance. */
    paper->cells[setting][system].result.busy = paper->cells[setting][system].first.compute = -9;
    paper->cells[setting][system].result.dp_bubble = paper->cells[setting][system].first.replicas = -9;
    paper->cells[setting][system].shares.replicas = -9;
}

/* HyDra 1.18 times as fast as Megatron-Core at 32K is the paper's mean; 1.09 its least; 1.0 lies outside. Step and
 * tokens a day are fitted or other forms: they count for nothing. */
static void a_row_agrees_inside_its_range(void)
{
    struct hydra_paper *paper = hydra_calloc(1, sizeof *paper);
    int counted = 0, none = -1;
    bool good = true;

    hydra_paper_count(paper, &counted, &none);
    good &= TAP_CHECK(none == 0 && counted >= 40, "%d of %d rows agree without any result", none, counted);
    set_speed(paper, HYDRA_PAPER_T32, HYDRA_PAPER_HYDRA, 1.18);
    set_speed(paper, HYDRA_PAPER_T32, HYDRA_PAPER_MCORE, 1);
    good &= TAP_CHECK(agreeing(paper) == 1, "%d rows agree at 1.18", agreeing(paper));
    paper->cells[HYDRA_PAPER_T32][HYDRA_PAPER_HYDRA].result.tokens_per_second = 1.0901;
    good &= TAP_CHECK(agreeing(paper) == 1, "%d rows agree at 1.0901", agreeing(paper));
    paper->cells[HYDRA_PAPER_T32][HYDRA_PAPER_HYDRA].result.tokens_per_second = 1.0;
    good &= TAP_CHECK(agreeing(paper) == 0, "%d rows agree at 1.0", agreeing(paper));
    hydra_free(paper);
    tap_result(good,
               "a row agrees inside the paper's range or within a tenth of its mean, and fitted rows never count");
}

/* The mean over sizes takes those that both systems plan: 1.2 and 1.36 make 1.28, ByteScale's row. */
static void means_take_the_sizes_that_both_plan(void)
{
    struct hydra_paper *paper = hydra_calloc(1, sizeof *paper);
    bool good = true;

    set_speed(paper, HYDRA_PAPER_HY16K, HYDRA_PAPER_HYDRA, 1.2);
    set_speed(paper, HYDRA_PAPER_HY16K, HYDRA_PAPER_BYTESCALE, 1);
    set_speed(paper, HYDRA_PAPER_HY40K, HYDRA_PAPER_HYDRA, 2.72);
    set_speed(paper, HYDRA_PAPER_HY40K, HYDRA_PAPER_BYTESCALE, 2);
    set_speed(paper, HYDRA_PAPER_HY32K, HYDRA_PAPER_HYDRA, 1000);
    good &= TAP_CHECK(agreeing(paper) == 1, "%d rows agree", agreeing(paper));
    hydra_free(paper);
    tap_result(good, "a mean over sizes takes those that both systems plan");
}

static void rows_are_printed_with_and_without_results(void)
{
    struct hydra_paper *paper = hydra_calloc(1, sizeof *paper);
    static char text[1 << 17];
    bool good = true;

    for (int known = 0; known < 2; known++) {
        FILE *file = tmpfile();
        long wrong;

        for (int s = 0; s < HYDRA_PAPER_SETTINGS; s++)
            for (int i = 0; i < HYDRA_PAPER_SYSTEMS; i++) {
                paper->cells[s][i].known = known;
                paper->cells[s][i].result.seconds = paper->cells[s][i].result.tokens_per_second = 1 + s + i;
                paper->cells[s][i].result.tokens_per_day = 1e9;
                strcpy(paper->cells[s][i].why, known ? "" : "a \"reason\"");
            }
        hydra_paper_print_json(file, paper);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        wrong = json_check(text, strlen(text));
        good &= TAP_CHECK(wrong < 0 && strlen(text) > 1000, "JSON wrong at %ld", wrong);
        good &= TAP_CHECK((strstr(text, "\"ours\": null") != NULL) == !known, "nulls of unknown results");
        fclose(file);
        file = tmpfile();
        hydra_paper_print(file, paper);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        good &= TAP_CHECK((strstr(text, "no plan") != NULL) == !known, "rows without a plan");
        good &= TAP_CHECK(strstr(text, "rows that count agree") != NULL, "no sum");
        fclose(file);
    }
    hydra_free(paper);
    tap_result(good, "the rows are printed as a table and as valid JSON, also where a policy has no plan");
}

int main(void)
{
    a_row_agrees_inside_its_range();
    means_take_the_sizes_that_both_plan();
    rows_are_printed_with_and_without_results();
    return tap_done();
}
