/* draw_plan.c: microbatch x slot grid of a schedule, coloured by load, with the loads and tokens of each microbatch
 * beside it and of each slot below. Groups too narrow to draw become cells that say the mean of several slots. */
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "sim/draw.h"
#include "sim/svg.h"
#include "sim/words.h"

enum {
    LEFT = 40,
    GRID = 816,     /* px of all slots */
    LOAD_X = 884,   /* bars of a microbatch's load */
    TOKEN_X = 1052, /* and tokens */
    BAR_WIDTH = 148,
    LABEL = 46, /* px that a bar's number takes */
    HEADER = 44,
    PROFILE = 34, /* px of a slot profile */
    PROFILE_GAP = 21,
    MOST_ROWS = 150
};

/* What one plan's panel is drawn with. */
struct panel {
    FILE *page;
    const struct hydra_schedule *schedule;
    const struct hydra_grid *grid;
    double top;      /* load of the last colour */
    int64_t per_row; /* microbatches in a row of the picture */
    int64_t rows;
    int64_t per_cell; /* slots in a cell, a power of two */
    int64_t cells;
    double slot_px;
    double row_px;
    double *cell_load; /* [cells] sum over the row's slot-microbatches */
    bool *cell_used;   /* [cells] */
};

static int64_t microbatches_per_row(const struct hydra_schedule *schedule)
{
    return hydra_ceil_div(schedule->microbatches, MOST_ROWS);
}

static double row_px(const struct hydra_schedule *schedule)
{
    double px = floor(440.0 / (double)hydra_ceil_div(schedule->microbatches, microbatches_per_row(schedule)));

    return px > 24.0 ? 24.0 : px;
}

double hydra_draw_plan_height(const struct hydra_schedule *schedule)
{
    int64_t rows = hydra_ceil_div(schedule->microbatches, microbatches_per_row(schedule));

    return HEADER + row_px(schedule) * (double)rows + 2.0 * (PROFILE + PROFILE_GAP) + 22.0;
}

static int panel_make(FILE *page, const struct hydra_schedule *schedule, const struct hydra_grid *grid, double top,
                      struct panel *panel)
{
    int64_t per_row = microbatches_per_row(schedule);
    int64_t per_cell = hydra_pow2_ceil(hydra_ceil_div(2 * schedule->pool, GRID));

    *panel = (struct panel){.page = page, .schedule = schedule, .grid = grid, .top = top, .per_row = per_row};
    panel->rows = hydra_ceil_div(schedule->microbatches, per_row);
    panel->per_cell = 2 * schedule->pool <= GRID ? 1 : per_cell;
    panel->cells = hydra_ceil_div(schedule->pool, panel->per_cell);
    panel->slot_px = (double)GRID / (double)schedule->pool;
    panel->row_px = row_px(schedule);
    panel->cell_load = hydra_calloc(panel->cells, sizeof *panel->cell_load);
    panel->cell_used = hydra_calloc(panel->cells, sizeof *panel->cell_used);
    if (panel->cell_load == NULL || panel->cell_used == NULL)
        return hydra_error(HYDRA_ERR_NOMEM, "plan picture of %lld slots", (long long)schedule->pool);
    return HYDRA_SUCCESS;
}

static void panel_clear(struct panel *panel)
{
    hydra_free(panel->cell_load);
    hydra_free(panel->cell_used);
}

static double row_y(const struct panel *panel, int64_t row)
{
    return HEADER + (double)row * panel->row_px;
}

static double slot_x(const struct panel *panel, int64_t slot)
{
    return LEFT + (double)slot * panel->slot_px;
}

/* Add a group to the cells that it covers. */
static void pool_group(struct panel *panel, const struct hydra_group *group, double load)
{
    int64_t end = group->first + group->size;

    for (int64_t slot = group->first; slot < end;) {
        int64_t cell = slot / panel->per_cell;
        int64_t next = hydra_min(end, (cell + 1) * panel->per_cell);

        panel->cell_load[cell] += load * (double)(next - slot);
        panel->cell_used[cell] = true;
        slot = next;
    }
}

/* Draw the pooled cells of a row, neighbours of one colour as one, and forget them. */
static void draw_cells(struct panel *panel, int64_t row)
{
    for (int64_t cell = 0; cell < panel->cells;) {
        int64_t end = cell, width = 0;
        int level = -1;
        char css[16];

        for (; end < panel->cells && panel->cell_used[end]; end++) {
            int64_t slots = hydra_min(panel->per_cell, panel->schedule->pool - end * panel->per_cell);
            int here = hydra_ramp_level(panel->cell_load[end] / (double)(slots * panel->per_row), panel->top);

            if (level >= 0 && here != level)
                break;
            level = here;
            width += slots;
        }
        if (level < 0) {
            cell++;
            continue;
        }
        snprintf(css, sizeof css, "q%d", level);
        hydra_svg_rect(panel->page, css, slot_x(panel, cell * panel->per_cell), row_y(panel, row),
                       (double)width * panel->slot_px, panel->row_px - (panel->row_px > 6.0 ? 1.0 : 0.0));
        cell = end;
    }
    memset(panel->cell_load, 0, (size_t)panel->cells * sizeof *panel->cell_load);
    memset(panel->cell_used, 0, (size_t)panel->cells * sizeof *panel->cell_used);
}

/* One group as an outlined box that says what it holds. */
static void draw_group(const struct panel *panel, int64_t row, int64_t g)
{
    const struct hydra_group *group = &panel->schedule->groups[g];
    const int64_t ndocs = group->docs_end - group->docs_begin, tokens = panel->grid->group_tokens[g];
    const double width = (double)group->size * panel->slot_px, x = slot_x(panel, group->first), y = row_y(panel, row);
    const int level = hydra_ramp_level(panel->grid->group_load[g], panel->top);
    char css[16], words[24], label[96], slots[192];

    snprintf(css, sizeof css, "%s q%d", width >= 6.0 ? "group" : "thin", level);
    if (group->size == 1)
        snprintf(slots, sizeof slots, "slot %s", hydra_words_whole(group->first).text);
    else
        snprintf(slots, sizeof slots, "slots %s to %s, degree %s = %lld \xc3\x97 %lld",
                 hydra_words_whole(group->first).text, hydra_words_whole(group->first + group->size - 1).text,
                 hydra_words_whole(group->size).text, (long long)group->factor,
                 (long long)(group->size / group->factor));
    hydra_svg_bar(panel->page, css, x, y, width, panel->row_px,
                  "microbatch %lld, %s: %s document%s, %s tokens (%s a slot), load %s", (long long)row, slots,
                  hydra_words_whole(ndocs).text, ndocs == 1 ? "" : "s", hydra_words_whole(tokens).text,
                  hydra_words_whole(hydra_ceil_div(tokens, group->size)).text,
                  hydra_words_share(panel->grid->group_load[g]).text);
    snprintf(words, sizeof words, "tiny mid t%d", level);
    snprintf(label, sizeof label, "degree %s, %s document%s", hydra_words_whole(group->size).text,
             hydra_words_whole(ndocs).text, ndocs == 1 ? "" : "s");
    if (hydra_text_width(label, 10.0) + 6.0 > width)
        snprintf(label, sizeof label, "%s", hydra_words_whole(group->size).text);
    if (panel->row_px >= 13.0 && hydra_text_width(label, 10.0) + 2.0 <= width)
        hydra_svg_text(panel->page, words, x + width / 2.0, y + panel->row_px / 2.0 + 3.5, "%s", label);
}

static void draw_row(struct panel *panel, int64_t row)
{
    const struct hydra_schedule *schedule = panel->schedule;
    const int64_t begin = row * panel->per_row, end = hydra_min(begin + panel->per_row, schedule->microbatches);

    for (int64_t g = schedule->group_begin[begin]; g < schedule->group_begin[end]; g++)
        if (panel->per_row > 1 || schedule->groups[g].size < panel->per_cell)
            pool_group(panel, &schedule->groups[g], panel->grid->group_load[g]);
    draw_cells(panel, row);
    for (int64_t g = schedule->group_begin[begin]; panel->per_row == 1 && g < schedule->group_begin[end]; g++)
        if (schedule->groups[g].size >= panel->per_cell)
            draw_group(panel, row, g);
}

/* A microbatch's bar: greatest over the slots in colour, mean as a tick. */
static void draw_bar(const struct panel *panel, const char *css, double x, double y, double value, double mean,
                     double top, const char *label, const char *tip)
{
    const double px = BAR_WIDTH - LABEL, height = panel->row_px > 6.0 ? panel->row_px - 3.0 : panel->row_px;
    const double scale = top > 0.0 ? px / top : 0.0;

    hydra_svg_bar(panel->page, css, x, y + (panel->row_px - height) / 2.0, value * scale, height, "%s", tip);
    hydra_svg_line(panel->page, "tick", x + mean * scale, y + 1.0, x + mean * scale, y + panel->row_px - 1.0);
    if (panel->row_px >= 12.0)
        hydra_svg_text(panel->page, "small", x + value * scale + 5.0, y + panel->row_px / 2.0 + 4.0, "%s", label);
}

static void draw_bars(const struct panel *panel, int64_t row, double load_top, double token_top)
{
    const struct hydra_grid *grid = panel->grid;
    const int64_t begin = row * panel->per_row, end = hydra_min(begin + panel->per_row, panel->schedule->microbatches);
    const double y = row_y(panel, row), n = (double)(end - begin);
    double load = 0.0, load_mean = 0.0, tokens = 0.0, tokens_mean = 0.0;
    char tip[160], css[16];

    for (int64_t m = begin; m < end; m++) {
        load += grid->load_max[m] / n;
        load_mean += grid->load_mean[m] / n;
        tokens += grid->tokens_max[m] / n;
        tokens_mean += grid->tokens_mean[m] / n;
    }
    snprintf(css, sizeof css, "q%d", hydra_ramp_level(load, panel->top));
    snprintf(tip, sizeof tip, "microbatch %lld: load %s on the fullest slot, %s on average", (long long)begin,
             hydra_words_share(load).text, hydra_words_share(load_mean).text);
    draw_bar(panel, css, LOAD_X, y, load, load_mean, load_top, hydra_words_share(load).text, tip);
    snprintf(tip, sizeof tip, "microbatch %lld: %s tokens on the fullest slot, %s on average", (long long)begin,
             hydra_words_whole((int64_t)tokens).text, hydra_words_whole((int64_t)tokens_mean).text);
    draw_bar(panel, "grey", TOKEN_X, y, tokens, tokens_mean, token_top,
             tokens < 1e5 ? hydra_words_whole((int64_t)tokens).text : hydra_words_count(tokens).text, tip);
}

/* Names of the rows, every few where rows are low. */
static void draw_row_names(const struct panel *panel)
{
    const int64_t every = hydra_ceil_div(13, (int64_t)panel->row_px);

    for (int64_t row = 0; row < panel->rows; row += every)
        hydra_svg_text(panel->page, "soft small end", LEFT - 8,
                       row_y(panel, row) + fmin(panel->row_px, 24.0) / 2.0 + 4.0, "%lld",
                       (long long)(row * panel->per_row));
}

/* One value a slot over the whole iteration as a skyline: greatest of each cell, the mean as a line. */
static void draw_profile(const struct panel *panel, double y, const double *values, const char *css, const char *name,
                         const char *mean_words, double mean)
{
    const int64_t pool = panel->schedule->pool;
    double top = 0.0;

    for (int64_t slot = 0; slot < pool; slot++)
        top = fmax(top, values[slot]);
    top = fmax(top, mean) * 1.02;
    fprintf(panel->page, "<path class=\"%s\" d=\"M%d ", css, LEFT);
    hydra_svg_number(panel->page, y + PROFILE);
    for (int64_t cell = 0; cell < panel->cells; cell++) {
        const int64_t begin = cell * panel->per_cell, end = hydra_min(begin + panel->per_cell, pool);
        double greatest = 0.0;

        for (int64_t slot = begin; slot < end; slot++)
            greatest = fmax(greatest, values[slot]);
        fputc('V', panel->page);
        hydra_svg_number(panel->page, y + PROFILE - (top > 0.0 ? greatest / top * PROFILE : 0.0));
        fputc('H', panel->page);
        hydra_svg_number(panel->page, slot_x(panel, end));
    }
    fputc('V', panel->page);
    hydra_svg_number(panel->page, y + PROFILE);
    fputs("Z\"/>\n", panel->page);
    if (top > 0.0) {
        hydra_svg_line(panel->page, "tick", LEFT, y + PROFILE - mean / top * PROFILE, LEFT + GRID,
                       y + PROFILE - mean / top * PROFILE);
        hydra_svg_text(panel->page, "small", LEFT + GRID + 6, y + PROFILE - mean / top * PROFILE + 4.0, "%s",
                       mean_words);
    }
    hydra_svg_text(panel->page, "soft small", LEFT, y - 5.0, "%s", name);
}

/* Slot numbers below the profiles. */
static void draw_slot_axis(const struct panel *panel, double y)
{
    const int64_t pool = panel->schedule->pool;
    const int64_t step = hydra_max(1, hydra_pow2_ceil(pool) / 8);

    for (int64_t slot = 0; slot < pool; slot += step)
        hydra_svg_text(panel->page, "soft small mid",
                       panel->slot_px * (double)step > 30.0 && step == 1 ? slot_x(panel, slot) + panel->slot_px / 2.0
                                                                         : slot_x(panel, slot),
                       y, slot == 0 ? "slot %s" : "%s", hydra_words_whole(slot).text);
}

static void draw_header(const struct panel *panel, const char *name)
{
    const struct hydra_schedule *schedule = panel->schedule;
    char pooled[128] = "", facts[384];

    if (panel->per_cell > 1)
        snprintf(pooled, sizeof pooled,
                 " \xc2\xb7 groups below degree %lld are pooled: a cell is the mean of %lld slots",
                 (long long)panel->per_cell, (long long)panel->per_cell);
    if (panel->per_row > 1)
        snprintf(pooled, sizeof pooled, " \xc2\xb7 pooled: a cell is the mean of %lld slots in %lld microbatches",
                 (long long)panel->per_cell, (long long)panel->per_row);
    snprintf(facts, sizeof facts,
             "%s microbatch%s \xc3\x97 %s slots \xc2\xb7 %s group%s \xc2\xb7 idle %s \xc2\xb7 budget %s tokens%s",
             hydra_words_whole(schedule->microbatches).text, schedule->microbatches == 1 ? "" : "es",
             hydra_words_whole(schedule->pool).text, hydra_words_whole(schedule->ngroups).text,
             schedule->ngroups == 1 ? "" : "s", hydra_words_share(panel->grid->idle).text,
             hydra_words_whole(schedule->options.budget).text, pooled);
    hydra_svg_heading(panel->page, name, facts);
    hydra_svg_text(panel->page, "soft small", LEFT, HEADER - 7, "microbatch \xe2\x86\x93  slot \xe2\x86\x92");
    hydra_svg_text(panel->page, "soft small", LOAD_X, HEADER - 7, "greatest load | mean");
    hydra_svg_text(panel->page, "soft small", TOKEN_X, HEADER - 7, "most tokens | mean");
}

int hydra_draw_plan(FILE *page, const char *name, const struct hydra_schedule *schedule, const struct hydra_grid *grid,
                    double top)
{
    struct panel panel;
    double token_top = (double)schedule->options.budget, y, tokens = 0.0;
    char mean_words[48];
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(panel_make(page, schedule, grid, top, &panel));
    draw_header(&panel, name);
    for (int64_t m = 0; m < schedule->microbatches; m++) {
        token_top = fmax(token_top, grid->tokens_max[m]);
        tokens += grid->tokens_mean[m];
    }
    hydra_svg_rect(page, "idle", LEFT, HEADER, GRID, panel.row_px * (double)panel.rows);
    for (int64_t row = 0; row < panel.rows; row++) {
        draw_row(&panel, row);
        draw_bars(&panel, row, top, token_top);
    }
    draw_row_names(&panel);
    y = row_y(&panel, panel.rows) + PROFILE_GAP;
    draw_profile(&panel, y, grid->slot_load, "f1", "load of each slot over the iteration", "even share, 100%", 1.0);
    y += PROFILE + PROFILE_GAP;
    snprintf(mean_words, sizeof mean_words, "mean %s", hydra_words_count(tokens).text);
    draw_profile(&panel, y, grid->slot_tokens, "grey", "tokens of each slot over the iteration", mean_words, tokens);
    draw_slot_axis(&panel, y + PROFILE + 15.0);
fail:
    panel_clear(&panel);
    return status;
}

void hydra_draw_ramp(FILE *page, double top)
{
    enum { RAMP_X = 480, STEP = 20 };

    hydra_svg_text(page, "soft", LEFT, 12, "load of a slot, in %% of its even share of the whole batch");
    for (int level = 0; level < HYDRA_RAMP; level++) {
        char css[16];

        snprintf(css, sizeof css, "q%d", level);
        hydra_svg_rect(page, css, RAMP_X + level * STEP, 2, STEP, 10);
    }
    for (int part = 0; part <= 4; part++) /* where the colours of 1/16, 1/4, 9/16 of the greatest load stand */
        hydra_svg_text(page, "soft small mid", RAMP_X + part * STEP * HYDRA_RAMP / 4, 24, "%s",
                       hydra_words_share(top * part * part / 16.0).text);
    hydra_svg_rect(page, "idle", RAMP_X + (HYDRA_RAMP + 2) * STEP, 2, STEP, 10);
    hydra_svg_text(page, "soft small mid", RAMP_X + (HYDRA_RAMP + 2) * STEP + STEP / 2, 24, "idle");
}
