/* draw_timeline.c: rows x time: what every stage or replica does when; idle time is the empty track. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "sim/draw.h"
#include "sim/svg.h"
#include "sim/words.h"

enum { LEFT = 76, RIGHT = 70, HEADER = 24, AXIS = 20, MARK = 12, MOST_ROWS = 96 };

/* Bars narrower than NARROW px have no tool-tip. Where a picture would hold more than MOST_BARS, those narrower than
 * POOL px are pooled into columns of POOL px. */
static const double NARROW = 0.8, POOL = 2.0;
enum { MOST_BARS = 20000 };

/* One row being drawn, and what is pooled of it so far. */
struct track {
    FILE *page;
    const struct hydra_timeline *timeline;
    double scale; /* px per second */
    double y, height;
    bool pools;
    double pool_at;                 /* px where the pooled column starts; < 0: nothing pooled */
    double pooled[HYDRA_BAR_KINDS]; /* px of each kind in it */
    bool *pooled_any;
};

const struct hydra_timeline *hydra_timeline_of(const struct hydra_policy_result *policy, int replicas)
{
    return replicas ? policy->replicas : policy->stages;
}

double hydra_timeline_axis(const struct hydra_report *report, int replicas)
{
    double axis = 0.0;

    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_timeline *timeline = hydra_timeline_of(&report->policies[i], replicas);

        if (timeline == NULL)
            continue;
        axis = fmax(axis, timeline->seconds);
        for (int64_t b = 0; b < timeline->nbars; b++)
            axis = fmax(axis, timeline->bars[b].end);
    }
    return axis;
}

/* Rows that are drawn are every stride-th. */
static int64_t row_stride(const struct hydra_timeline *timeline)
{
    return hydra_max(1, hydra_ceil_div(timeline->rows, MOST_ROWS));
}

static double row_height(const struct hydra_timeline *timeline)
{
    double height = 300.0 / (double)hydra_ceil_div(timeline->rows, row_stride(timeline));

    return height > 18.0 ? 18.0 : floor(height);
}

double hydra_draw_timeline_height(const struct hydra_timeline *timeline)
{
    return HEADER + row_height(timeline) * (double)hydra_ceil_div(timeline->rows, row_stride(timeline)) + AXIS + MARK;
}

static int compare_bars(const void *a, const void *b)
{
    const struct hydra_bar *const *x = a, *const *y = b;

    if ((*x)->row != (*y)->row)
        return (*x)->row < (*y)->row ? -1 : 1;
    if ((*x)->start != (*y)->start)
        return (*x)->start < (*y)->start ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* Bars by row and start. */
static int sort_bars(const struct hydra_timeline *timeline, const struct hydra_bar ***sorted)
{
    const struct hydra_bar **order = hydra_calloc(timeline->nbars, sizeof *order);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(order != NULL, HYDRA_ERR_NOMEM, "timeline of %lld bars", (long long)timeline->nbars);
    for (int64_t b = 0; b < timeline->nbars; b++) {
        const struct hydra_bar *bar = &timeline->bars[b];

        HYDRA_REQUIRE(bar->row >= 0 && bar->row < timeline->rows && bar->kind >= 0 && bar->kind < HYDRA_BAR_KINDS &&
                          bar->chunk >= 0 && isfinite(bar->start) && isfinite(bar->end) && bar->start <= bar->end,
                      HYDRA_ERR_ARG, "timeline bar %lld: row %d of %lld, kind %d, %g s to %g s", (long long)b, bar->row,
                      (long long)timeline->rows, bar->kind, bar->start, bar->end);
        order[b] = bar;
    }
    qsort(order, (size_t)timeline->nbars, sizeof *order, compare_bars);
    *sorted = order;
    return HYDRA_SUCCESS;

fail:
    hydra_free(order);
    return status;
}

static void row_name(const struct hydra_timeline *timeline, int64_t row, char *name, size_t len)
{
    if (timeline->row_names != NULL)
        snprintf(name, len, "%s", timeline->row_names[row]);
    else
        snprintf(name, len, "%s %lld", timeline->row_word, (long long)row);
}

/* Classes of a bar (colour, and microbatch for the page that lights one up), and of words on it. */
static void bar_colour(const struct hydra_bar *bar, int chunks, char css[32], const char **words)
{
    int shade = hydra_shade(bar->chunk, chunks);

    if (bar->kind > HYDRA_BAR_BACKWARD)
        snprintf(css, 32, "k%d", bar->kind);
    else
        snprintf(css, 32, "%c%d m%lld", bar->kind == HYDRA_BAR_FORWARD ? 'f' : 'b', shade, (long long)bar->microbatch);
    *words = bar->kind <= HYDRA_BAR_BACKWARD && shade + (bar->kind == HYDRA_BAR_BACKWARD) >= 2 ? "tiny mid on1"
                                                                                               : "tiny mid on0";
}

/* A column of pooled bars: each kind takes its share of the height, the rest stays empty. */
static void flush_pool(struct track *track)
{
    double y = track->y + track->height - 1.0;

    if (track->pool_at < 0.0)
        return;
    *track->pooled_any = true;
    for (int kind = 0; kind < HYDRA_BAR_KINDS; kind++) {
        static const char *const css[] = {"f1", "b1", "k2", "k3", "k4"};
        double height = fmin(1.0, track->pooled[kind] / POOL) * (track->height - 1.0);

        if (height > 0.0)
            hydra_svg_rect(track->page, css[kind], track->pool_at, y - height, POOL, height);
        y -= height;
        track->pooled[kind] = 0.0;
    }
    track->pool_at = -1.0;
}

/* Tool-tip of a bar. */
static void bar_words(const struct hydra_timeline *timeline, const struct hydra_bar *bar, char *text, size_t len)
{
    char row[64], which[64] = "", chunk[32] = "";

    row_name(timeline, bar->row, row, sizeof row);
    if (bar->microbatch >= 0)
        snprintf(which, sizeof which, " of microbatch %lld", (long long)bar->microbatch);
    if (timeline->chunks > 1 && bar->kind <= HYDRA_BAR_BACKWARD)
        snprintf(chunk, sizeof chunk, ", chunk %d", bar->chunk);
    snprintf(text, len, "%s: %s%s%s: %s, from %s", row, hydra_bar_word(bar->kind), which, chunk,
             hydra_words_seconds(bar->end - bar->start).text, hydra_words_seconds(bar->start).text);
}

static void draw_bar(struct track *track, const struct hydra_bar *bar)
{
    const double x = LEFT + bar->start * track->scale, width = (bar->end - bar->start) * track->scale;
    char css[32], label[32], what[256];
    const char *words;

    if (track->pool_at >= 0.0 && x >= track->pool_at + POOL)
        flush_pool(track);
    if (track->pools && width < POOL) {
        if (track->pool_at < 0.0)
            track->pool_at = LEFT + floor((x - LEFT) / POOL) * POOL;
        track->pooled[bar->kind] += width;
        return;
    }
    bar_colour(bar, track->timeline->chunks, css, &words);
    if (width < NARROW) {
        hydra_svg_rect(track->page, css, x, track->y, width, track->height - 1.0);
        return;
    }
    bar_words(track->timeline, bar, what, sizeof what);
    hydra_svg_bar(track->page, css, x, track->y, width > 2.0 ? width - 0.5 : width, track->height - 1.0, "%s", what);
    snprintf(label, sizeof label, "%lld", (long long)bar->microbatch);
    if (bar->microbatch >= 0 && track->height >= 13.0 && hydra_text_width(label, 10.0) + 3.0 < width)
        hydra_svg_text(track->page, words, x + width / 2.0, track->y + track->height / 2.0 + 3.0, "%s", label);
}

/* Name, bubbles, and what the picture leaves out. */
static void draw_header(FILE *page, const struct hydra_policy_result *policy, const struct hydra_timeline *timeline,
                        bool pooled, bool named)
{
    const int64_t stride = row_stride(timeline);
    const char *parts[5] = {timeline->caption};
    char words[4][96];
    char line[512] = "";
    int nparts = timeline->caption != NULL;

    if (timeline == policy->stages && isfinite(policy->pp_bubble)) {
        snprintf(words[0], sizeof words[0], "pipeline bubble %s", hydra_words_share(policy->pp_bubble).text);
        parts[nparts++] = words[0];
    }
    if (timeline == policy->replicas && isfinite(policy->dp_bubble)) {
        snprintf(words[1], sizeof words[1], "replica bubble %s", hydra_words_share(policy->dp_bubble).text);
        parts[nparts++] = words[1];
    }
    if (stride > 1) {
        snprintf(words[2], sizeof words[2], "one row in %lld of %s is drawn", (long long)stride,
                 hydra_words_whole(timeline->rows).text);
        parts[nparts++] = words[2];
    }
    if (pooled)
        parts[nparts++] = "bars too narrow to draw are pooled: height is their share of the time";
    for (int i = 0; i < nparts; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", i > 0 ? " \xc2\xb7 " : "", parts[i]);
    hydra_svg_heading(page, named ? policy->name : NULL, line);
}

static void draw_rows(FILE *page, const struct hydra_timeline *timeline, double scale, const struct hydra_bar **sorted,
                      bool *pooled)
{
    const double height = row_height(timeline);
    const int64_t stride = row_stride(timeline);
    const int64_t shown = hydra_ceil_div(timeline->rows, stride);
    const int64_t names = height >= 12.0 ? 1 : hydra_ceil_div(14, (int64_t)height);
    int64_t next = 0;

    for (int64_t i = 0; i < shown; i++) {
        const int64_t row = i * stride;
        struct track track = {
            page, timeline, scale, HEADER + (double)i * height, height, timeline->nbars / stride > MOST_BARS,
            -1.0, {0.0},    pooled};
        char name[64];

        if (i % names == 0) {
            row_name(timeline, row, name, sizeof name);
            hydra_svg_text(page, "soft small end", LEFT - 8, track.y + fmin(height, 18.0) / 2.0 + 3.5, "%s", name);
        }
        hydra_svg_rect(page, "idle", LEFT, track.y, timeline->seconds * scale, height - 1.0);
        while (next < timeline->nbars && sorted[next]->row < row)
            next++;
        for (; next < timeline->nbars && sorted[next]->row == row; next++)
            draw_bar(&track, sorted[next]);
        flush_pool(&track);
    }
}

/* Decimals of an axis whose ticks are `step` apart. */
static int step_decimals(double step)
{
    return step >= 1.0 ? 0 : (int)ceil(-log10(step) - 1e-9);
}

/* Time axis below the rows, the end of this timeline, and the end of the fastest policy's to compare with. */
static void draw_axis(FILE *page, const struct hydra_report *report, int which, int replicas, double axis)
{
    const struct hydra_timeline *timeline = hydra_timeline_of(&report->policies[which], replicas);
    const struct hydra_policy_result *fastest = hydra_report_fastest(report);
    const struct hydra_timeline *best = fastest == NULL ? NULL : hydra_timeline_of(fastest, replicas);
    const double scale = (HYDRA_DRAW_WIDTH - LEFT - RIGHT) / axis, step = hydra_axis_step(axis, 12);
    const double bottom = hydra_draw_timeline_height(timeline) - AXIS - MARK;
    const double end = LEFT + timeline->seconds * scale, unit = axis < 1.0 ? 1e3 : 1.0;

    for (int64_t i = 0; (double)i * step <= axis * (1.0 + 1e-9); i++) {
        const double x = LEFT + (double)i * step * scale;

        hydra_svg_line(page, "rule", x, bottom, x, bottom + 4.0);
        hydra_svg_text(page, "soft small mid", x, bottom + 15.0, "%.*f%s", step_decimals(step * unit),
                       (double)i * step * unit,
                       i > 0        ? ""
                       : unit > 1.0 ? " ms"
                                    : " s");
    }
    hydra_svg_line(page, "rule", LEFT, bottom + 0.5, HYDRA_DRAW_WIDTH - RIGHT, bottom + 0.5);
    hydra_svg_line(page, "tick", end, HEADER - 2.0, end, bottom);
    hydra_svg_text(page, "strong", end + 5.0, (HEADER + bottom) / 2.0 + 4.0, "%s",
                   hydra_words_seconds(timeline->seconds).text);
    if (best != NULL && best->seconds < timeline->seconds * 0.999) {
        const double x = LEFT + best->seconds * scale;

        hydra_svg_line(page, "limit", x, HEADER, x, bottom + 20.0);
        hydra_svg_text(page, "mark small", x + 5.0, bottom + 27.0, "%s ends here", fastest->name);
    }
}

int hydra_draw_timeline(FILE *page, const struct hydra_report *report, int which, int replicas, double axis, bool named)
{
    const struct hydra_policy_result *policy = &report->policies[which];
    const struct hydra_timeline *timeline = hydra_timeline_of(policy, replicas);
    const struct hydra_bar **sorted = NULL;
    bool pooled = false;
    int status = HYDRA_SUCCESS;
    const double scale = (HYDRA_DRAW_WIDTH - LEFT - RIGHT) / axis;

    HYDRA_REQUIRE(axis > 0.0 && timeline->rows >= 1 && timeline->chunks >= 1, HYDRA_ERR_ARG,
                  "timeline of %s: %lld rows, %d chunks, %g s", policy->name, (long long)timeline->rows,
                  timeline->chunks, axis);
    HYDRA_TRY(sort_bars(timeline, &sorted));
    draw_rows(page, timeline, scale, sorted, &pooled);
    draw_header(page, policy, timeline, pooled, named);
    draw_axis(page, report, which, replicas, axis);
fail:
    hydra_free(sorted);
    return status;
}

void hydra_draw_timeline_legend(FILE *page, const struct hydra_report *report, int replicas)
{
    bool seen[HYDRA_BAR_KINDS] = {false};
    int chunks = 1;
    double x = LEFT;

    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_timeline *timeline = hydra_timeline_of(&report->policies[i], replicas);

        for (int64_t b = 0; timeline != NULL && b < timeline->nbars; b++) {
            if (timeline->bars[b].kind >= 0 && timeline->bars[b].kind < HYDRA_BAR_KINDS)
                seen[timeline->bars[b].kind] = true;
        }
        if (timeline != NULL && timeline->chunks > chunks)
            chunks = timeline->chunks;
    }
    for (int kind = 0; kind < HYDRA_BAR_KINDS; kind++) {
        const int swatches = kind <= HYDRA_BAR_BACKWARD ? (int)hydra_min(chunks, HYDRA_SHADES) : 1;

        if (!seen[kind])
            continue;
        for (int i = 0; i < swatches; i++, x += 13.0) {
            char css[32];
            const char *words;

            bar_colour(&(struct hydra_bar){.microbatch = -1, .chunk = (int16_t)i, .kind = (int16_t)kind}, swatches, css,
                       &words);
            hydra_svg_rect(page, css, x, 4, 12, 12);
        }
        hydra_svg_text(page, "", x + 5.0, 14, swatches > 1 ? "%s, chunk 0 to %d" : "%s", hydra_bar_word(kind),
                       chunks - 1);
        x += 5.0 + hydra_text_width(hydra_bar_word(kind), 12.0) + (swatches > 1 ? 110.0 : 24.0);
    }
    hydra_svg_rect(page, "idle", x, 4, 12, 12);
    hydra_svg_text(page, "", x + 17.0, 14, "idle");
}
