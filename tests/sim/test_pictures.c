/* test_pictures.c: pictures show as many boxes and bars as plan and timeline have, and their files are well formed
 * whatever the names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/grid.h"
#include "sim/report.h"
#include "tests/json_check.h"
#include "tests/tap.h"

static char folder[] = "/tmp/hydra-pictures-XXXXXX";

/* A file of the folder; valid until the next call. */
static const char *in_folder(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Contents of a file, to be freed; "" when it cannot be read. */
static char *contents(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1);
    long length;

    if (file == NULL)
        return text;
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    text = realloc(text, (size_t)length + 1);
    text[fread(text, 1, (size_t)length, file)] = '\0';
    fclose(file);
    return text;
}

static int64_t occurrences(const char *text, const char *what)
{
    int64_t count = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

/* Plan of `microbatches` over `pool` slots; microbatch m is cut into groups of 2^(m mod levels) slots, the last group
 * of every odd microbatch is left idle; each group holds two documents. Freed by free_plan. */
static struct hydra_schedule *make_plan(int64_t pool, int64_t microbatches, int levels)
{
    struct hydra_schedule *plan = calloc(1, sizeof *plan);

    plan->pool = pool;
    plan->microbatches = microbatches;
    plan->options = (Hydra_Plan_options)HYDRA_PLAN_OPTIONS_INIT;
    plan->options.budget = 4096;
    plan->group_begin = calloc((size_t)microbatches + 1, sizeof *plan->group_begin);
    plan->groups = calloc((size_t)(pool * microbatches), sizeof *plan->groups);
    for (int64_t m = 0; m < microbatches; m++) {
        int64_t size = (int64_t)1 << m % levels;

        for (int64_t first = 0; first + size * (1 + m % 2) <= pool; first += size) {
            plan->groups[plan->ngroups] =
                (struct hydra_group){first, size, size > 4 ? 4 : size, plan->ndocs, plan->ndocs + 2};
            plan->ngroups++;
            plan->ndocs += 2;
        }
        plan->group_begin[m + 1] = plan->ngroups;
    }
    plan->lengths = calloc((size_t)plan->ndocs + 1, sizeof *plan->lengths);
    plan->docs = calloc((size_t)plan->ndocs + 1, sizeof *plan->docs);
    for (int64_t i = 0; i < plan->ndocs; i++) {
        plan->docs[i] = plan->ndocs - 1 - i;
        plan->lengths[i] = i * 37 % 1000;
    }
    return plan;
}

static void free_plan(struct hydra_schedule *plan)
{
    free(plan->group_begin);
    free(plan->groups);
    free(plan->lengths);
    free(plan->docs);
    free(plan);
}

/* Timeline of `rows` rows, each with `each` bars of every kind in turn. Freed by free_timeline. */
static struct hydra_timeline *make_timeline(int64_t rows, int64_t each, double length)
{
    struct hydra_timeline *timeline = calloc(1, sizeof *timeline);
    struct hydra_bar *bars = calloc((size_t)(rows * each), sizeof *bars);

    for (int64_t i = 0; i < rows * each; i++)
        bars[i] = (struct hydra_bar){(double)(i / rows) * length,
                                     ((double)(i / rows) + 0.9) * length,
                                     i % 5 < 2 ? i / rows : -1,
                                     (int32_t)(i % rows),
                                     (int16_t)(i % 3),
                                     (int16_t)(i % 5)};
    *timeline =
        (struct hydra_timeline){"every kind of bar", "stage", rows, NULL, 3, (double)each * length, rows * each, bars};
    return timeline;
}

static void free_timeline(struct hydra_timeline *timeline)
{
    free((void *)(uintptr_t)timeline->bars);
    free(timeline);
}

static struct hydra_policy_result result(const char *name, double seconds)
{
    struct hydra_policy_result made = HYDRA_POLICY_RESULT_INIT;

    made.name = name;
    made.seconds = seconds;
    made.pp_bubble = 0.25;
    made.cost = 1234.5;
    return made;
}

static void a_plan_picture_has_a_box_for_every_group(void)
{
    struct hydra_schedule *plan = make_plan(128, 9, 6);
    struct hydra_policy_result policy = result("load", NAN);
    struct hydra_report report = {.title = "plan", .npolicies = 1, .policies = &policy};
    bool good;
    char *text;

    policy.schedule = plan;
    good = TAP_CHECK(hydra_plan_svg(&report, in_folder("plan.svg")) == HYDRA_SUCCESS, "status");
    text = contents(in_folder("plan.svg"));
    good &= TAP_CHECK(occurrences(text, "slot") > 0 && occurrences(text, "2 documents, ") == plan->ngroups,
                      "%ld boxes for %ld groups", (long)occurrences(text, "2 documents, "), (long)plan->ngroups);
    good &= TAP_CHECK(occurrences(text, "pooled") == 0, "no cell is pooled");
    good &= TAP_CHECK(occurrences(text, "on the fullest slot") == 2 * plan->microbatches,
                      "a load and a token bar a microbatch");
    tap_result(good, "a plan picture has one box for every group and two bars for every microbatch");
    free(text);
    free_plan(plan);
}

static void a_large_plan_picture_is_pooled_and_small(void)
{
    struct hydra_schedule *plan = make_plan(16384, 12, 12);
    struct hydra_policy_result policy = result("load", NAN);
    struct hydra_report report = {.title = "plan", .npolicies = 1, .policies = &policy};
    int64_t wide = 0;
    bool good;
    char *text;

    policy.schedule = plan;
    for (int64_t g = 0; g < plan->ngroups; g++)
        wide += plan->groups[g].size >= 64; /* 816 px for 16,384 slots: 2 px are 41 slots, cells are 64 */
    good = TAP_CHECK(hydra_plan_svg(&report, in_folder("large.svg")) == HYDRA_SUCCESS, "status");
    text = contents(in_folder("large.svg"));
    good &= TAP_CHECK(occurrences(text, "2 documents, ") == wide, "%ld boxes for %ld wide groups",
                      (long)occurrences(text, "2 documents, "), (long)wide);
    good &= TAP_CHECK(occurrences(text, "a cell is the mean of 64 slots") == 1, "the picture says that it pools");
    good &= TAP_CHECK(strlen(text) < 1000000, "%zu bytes", strlen(text));
    tap_result(good, "a plan of 16,384 slots is drawn with pooled cells in under a megabyte, and says so");
    free(text);
    free_plan(plan);
}

static void loads_of_a_grid_add_up(void)
{
    struct hydra_schedule *plan = make_plan(64, 7, 5);
    struct hydra_grid grid;
    double load = 0.0, tokens = 0.0, slots = 0.0;
    int64_t batch_tokens = 0;
    bool good = TAP_CHECK(hydra_grid_make(plan, &grid) == HYDRA_SUCCESS, "status");

    for (int64_t slot = 0; slot < plan->pool; slot++) {
        load += grid.slot_load[slot];
        tokens += grid.slot_tokens[slot];
    }
    for (int64_t i = 0; i < plan->ndocs; i++)
        batch_tokens += plan->lengths[i];
    for (int64_t g = 0; g < plan->ngroups; g++)
        slots += (double)plan->groups[g].size;
    good &= TAP_CHECK(fabs(load - 64.0) < 1e-9, "slots' loads add up to %g even shares", load);
    good &= TAP_CHECK(fabs(tokens - (double)batch_tokens) < 1e-6, "%g tokens of %ld", tokens, (long)batch_tokens);
    good &= TAP_CHECK(fabs(grid.idle - (1.0 - slots / (64.0 * 7.0))) < 1e-12, "idle %g", grid.idle);
    tap_result(good, "loads of the slots add up to the batch, tokens too, and idle slots are the rest");
    hydra_grid_clear(&grid);
    free_plan(plan);
}

static void a_timeline_has_a_bar_for_every_operation(void)
{
    struct hydra_timeline *timeline = make_timeline(8, 30, 0.1);
    struct hydra_policy_result policy = result("load", 3.0);
    struct hydra_report report = {.title = "time", .npolicies = 1, .policies = &policy};
    bool good;
    char *text;

    policy.stages = timeline;
    good = TAP_CHECK(hydra_timeline_svg(&report, 0, in_folder("time.svg")) == HYDRA_SUCCESS, "status");
    text = contents(in_folder("time.svg"));
    good &= TAP_CHECK(occurrences(text, "<title>") == timeline->nbars, "%ld tool-tips for %ld bars",
                      (long)occurrences(text, "<title>"), (long)timeline->nbars);
    good &=
        TAP_CHECK(occurrences(text, "class=\"idle\"") == timeline->rows + 1, "an empty track a row, and the legend's");
    tap_result(good, "a timeline has one bar for every operation and one track for every row");
    free(text);
    free_timeline(timeline);
}

static void narrow_bars_are_pooled(void)
{
    struct hydra_timeline *timeline = make_timeline(200, 4000, 0.001);
    struct hydra_policy_result policy = result("load", 4.0);
    struct hydra_report report = {.title = "time", .npolicies = 1, .policies = &policy};
    bool good;
    char *text;

    policy.replicas = timeline;
    good = TAP_CHECK(hydra_timeline_svg(&report, 1, in_folder("narrow.svg")) == HYDRA_SUCCESS, "status");
    text = contents(in_folder("narrow.svg"));
    good &= TAP_CHECK(strstr(text, "too narrow to draw are pooled") != NULL, "the picture says that it pools");
    good &= TAP_CHECK(strstr(text, "one row in 3 of 200 is drawn") != NULL, "the picture says that it leaves rows out");
    good &= TAP_CHECK(strlen(text) < 20000000, "%zu bytes for 800,000 bars", strlen(text));
    tap_result(good, "a timeline of 800,000 bars is drawn with pooled columns and every third row, and says so");
    free(text);
    free_timeline(timeline);
}

/* Two policies with all their shares: four causes each, and what they leave for the fifth part of the bar. */
static void shares_and_degrees_have_a_bar_each(void)
{
    Hydra_Schedule_stats stats = {.degree_share = {0.5, 0.0, 0.25, 0.125}, .idle_share = 0.125};
    struct hydra_policy_result policies[] = {result("one", 1.0), result("two", 2.0)};
    struct hydra_report report = {.title = "shares", .npolicies = 2, .policies = policies};
    bool good;
    char *text;

    for (int i = 0; i < 2; i++) {
        policies[i].busy = 0.5;
        policies[i].exposed = policies[i].dp_bubble = 0.1;
        policies[i].stats = &stats;
    }
    good = TAP_CHECK(hydra_report_html(&report, in_folder("shares.html")) == HYDRA_SUCCESS, "status");
    text = contents(in_folder("shares.html"));
    good &= TAP_CHECK(occurrences(text, ">one: ") == 5 + 4, "%ld bars", (long)occurrences(text, ">one: "));
    good &= TAP_CHECK(strstr(text, "two: 5.0% for all else, 100 ms") != NULL, "the rest is drawn");
    good &= TAP_CHECK(occurrences(text, "of the slots work at degree ") == 2 * 3 + 2, "three degrees, and a sentence");
    tap_result(good, "every cause of time, every degree and the idle slots have a bar, and what is left over has one");
    free(text);
}

/* Every picture of one report with hostile names, in the folder. */
static bool write_hostile(void)
{
    static const char hostile[] = "<script>\"&'\\]]> \x01\x7f \xff\xc0\xaf \xed\xa0\x80 \xef\xbf\xbf %s%n \xe2\x82\xac";
    struct hydra_schedule *plan = make_plan(16, 3, 3);
    struct hydra_timeline *timeline = make_timeline(3, 7, 0.1);
    const char *rows[] = {hostile, "", "b"};
    const double x[] = {1, 2, 4}, y[] = {3, NAN, 5};
    struct hydra_series series[] = {{hostile, 3, x, y}, {"one point", 1, x, y}};
    const int marks[] = {HYDRA_CHART_LINES, HYDRA_CHART_POINTS};
    struct hydra_chart chart = {hostile, hostile, hostile, 1, 1, 2, series, marks, hostile};
    struct hydra_fact fact = {hostile, hostile};
    Hydra_Schedule_stats stats = {.degree_share = {0.5, 0.0, 0.25}, .idle_share = 0.25};
    struct hydra_policy_result policies[] = {result(hostile, 1.0), result("two", 2.0)};
    struct hydra_report report = {hostile, hostile, hostile, 1, &fact, 2, policies, 1, &chart};
    bool good = true;

    timeline->row_names = rows;
    timeline->caption = hostile;
    timeline->row_word = hostile;
    policies[0].note = hostile;
    policies[0].schedule = policies[1].schedule = plan;
    policies[0].stages = policies[1].stages = policies[1].replicas = timeline;
    policies[0].stats = &stats;
    good &= TAP_CHECK(hydra_report_html(&report, in_folder("a.html")) == HYDRA_SUCCESS, "html");
    good &= TAP_CHECK(hydra_report_html(&report, in_folder("b.html")) == HYDRA_SUCCESS, "html again");
    good &= TAP_CHECK(hydra_timeline_svg(&report, 0, in_folder("a.svg")) == HYDRA_SUCCESS, "timeline");
    good &= TAP_CHECK(hydra_plan_svg(&report, in_folder("b.svg")) == HYDRA_SUCCESS, "plan");
    good &= TAP_CHECK(hydra_degrees_svg(&report, in_folder("c.svg")) == HYDRA_SUCCESS, "degrees");
    good &= TAP_CHECK(hydra_chart_svg(&chart, in_folder("d.svg")) == HYDRA_SUCCESS, "chart");
    good &= TAP_CHECK(hydra_trace_json(&report, in_folder("a.json")) == HYDRA_SUCCESS, "trace");
    free_timeline(timeline);
    free_plan(plan);
    return good;
}

static void hostile_names_stay_text(void)
{
    bool good = write_hostile();
    char *page = contents(in_folder("a.html")), *again = contents(in_folder("b.html")),
         *trace = contents(in_folder("a.json"));
    long wrong = json_check(trace, strlen(trace));

    good &=
        TAP_CHECK(occurrences(page, "<script>") == 1 && strstr(page, "&lt;script&gt;") != NULL, "only our own script");
    tap_result(good, "names with markup, controls and broken UTF-8 are drawn as text");
    tap_result(TAP_CHECK(wrong < 0, "byte %ld: %.40s", wrong, wrong < 0 ? "" : trace + wrong),
               "the trace is strict JSON");
    tap_result(strlen(page) > 1000 && strcmp(page, again) == 0, "the same report gives the same bytes");
    tap_result(strstr(page, "http://") == strstr(page, "http://www.w3.org/") && strstr(page, "https://") == NULL &&
                   strstr(page, "url(") == NULL && strstr(page, "@import") == NULL && strstr(page, "src=") == NULL,
               "the report fetches nothing");
    free(page);
    free(again);
    free(trace);
}

static void files_are_well_formed(void)
{
    char command[256];

    if (system("xmllint --version > /dev/null 2>&1") != 0) {
        tap_skip("every SVG and HTML file is well-formed XML", "xmllint is not installed");
        return;
    }
    snprintf(command, sizeof command,
             "xmllint --noout --nonet %s/*.svg %s/*.html 2>&1 | head -20 | sed 's/^/# /' | tee %s/xml.log", folder,
             folder, folder);
    if (system(command) == 0) {
        char *log = contents(in_folder("xml.log"));

        tap_result(log[0] == '\0', "every SVG and HTML file is well-formed XML");
        free(log);
        return;
    }
    tap_result(false, "every SVG and HTML file is well-formed XML");
}

static void bad_input_is_an_error(void)
{
    struct hydra_timeline *timeline = make_timeline(2, 2, 0.1);
    struct hydra_policy_result policy = result("load", 1.0);
    struct hydra_report report = {.title = "bad", .npolicies = 1, .policies = &policy};
    const double x[] = {0.0}, y[] = {1.0};
    struct hydra_series series = {"zero", 1, x, y};
    struct hydra_chart chart = {"bad", "x", "y", 1, 0, 1, &series, NULL, NULL};
    bool good;

    good = TAP_CHECK(hydra_timeline_svg(&report, 0, in_folder("no.svg")) == HYDRA_ERR_ARG, "no timeline");
    policy.stages = timeline;
    timeline->rows = 1; /* bars of row 1 now hang in the air */
    good &= TAP_CHECK(hydra_timeline_svg(&report, 0, in_folder("no.svg")) == HYDRA_ERR_ARG, "row out of range");
    good &= TAP_CHECK(hydra_chart_svg(&chart, in_folder("no.svg")) == HYDRA_ERR_ARG, "0 on a logarithmic axis");
    good &= TAP_CHECK(hydra_report_html(&report, "/nonexistent/x.html") == HYDRA_ERR_IO, "no such folder");
    good &= TAP_CHECK(hydra_report_html(&report, "/dev/full") != HYDRA_SUCCESS, "a full device");
    tap_result(good, "a bar without a row, zero on a logarithmic axis and a path that cannot be written are errors");
    free_timeline(timeline);
}

static void the_checker_of_json_is_strict(void)
{
    static const char *const good_texts[] = {"{}", " [1, -0.5e+3, \"\\u00e9\xc3\xa9\", true, null, {\"a\":[]}] "};
    static const char *const bad_texts[] = {"",         "[1,]",  "{a:1}", "01",      "1.", "\"\x01\"",
                                            "\"\xff\"", "[1] 2", "nul",   "\"\\x\"", "NaN"};
    bool good = true;

    for (size_t i = 0; i < sizeof good_texts / sizeof good_texts[0]; i++)
        good &= TAP_CHECK(json_check(good_texts[i], strlen(good_texts[i])) < 0, "%s", good_texts[i]);
    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++)
        good &= TAP_CHECK(json_check(bad_texts[i], strlen(bad_texts[i])) >= 0, "%s", bad_texts[i]);
    tap_result(good, "the checker of JSON accepts JSON and nothing else");
}

int main(void)
{
    char command[64];

    if (mkdtemp(folder) == NULL)
        return 99;
    the_checker_of_json_is_strict();
    loads_of_a_grid_add_up();
    a_plan_picture_has_a_box_for_every_group();
    a_large_plan_picture_is_pooled_and_small();
    a_timeline_has_a_bar_for_every_operation();
    narrow_bars_are_pooled();
    shares_and_degrees_have_a_bar_each();
    hostile_names_stay_text();
    bad_input_is_an_error();
    (void)remove(in_folder("no.svg"));
    files_are_well_formed();
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0 ? 99 : tap_done();
}
