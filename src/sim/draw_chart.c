/* draw_chart.c: lines and points over linear or logarithmic axes, each labelled where it ends. Sweeps and rooflines. */
#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "sim/draw.h"
#include "sim/svg.h"
#include "sim/words.h"

enum { LEFT = 76, RIGHT = 190, TOP = 52, BOTTOM = 48, LINE = 15, MOST_TICKS = 24 };

struct axis {
    bool log;
    double low, high; /* data at the ends */
    double from, to;  /* px at the ends */
    int nticks;
    double ticks[MOST_TICKS];
};

/* A label that wants to stand at y. */
struct label {
    double x, y;
    int series;
};

double hydra_axis_step(double span, int ticks)
{
    double raw = span / ticks, power, digit;

    if (!(raw > 0.0))
        return 1.0;
    power = pow(10.0, floor(log10(raw)));
    digit = raw / power;
    return power * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
}

static double place(const struct axis *axis, double value)
{
    double at = axis->log ? (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low))
                          : (value - axis->low) / (axis->high - axis->low);

    return axis->from + at * (axis->to - axis->from);
}

/* Span of one coordinate over all series; false when there is no number, or one that the axis cannot hold. */
static bool data_range(const struct hydra_chart *chart, bool y, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int s = 0; s < chart->nseries; s++)
        for (int64_t i = 0; i < chart->series[s].npoints; i++) {
            double value = y ? chart->series[s].y[i] : chart->series[s].x[i];

            if (isnan(value) && y)
                continue;
            if (!isfinite(value) || ((y ? chart->log_y : chart->log_x) && value <= 0.0))
                return false;
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
    return *low <= *high;
}

static void linear_ticks(struct axis *axis, int most)
{
    double step = hydra_axis_step(axis->high - axis->low, most);
    double first = floor(axis->low / step);

    axis->high = ceil(axis->high / step - 1e-9) * step;
    axis->low = first * step;
    for (axis->nticks = 0; axis->nticks < MOST_TICKS && (first + axis->nticks) * step <= axis->high * (1.0 + 1e-9);)
        axis->ticks[axis->nticks] = (first + axis->nticks) * step, axis->nticks++;
}

/* Powers of two for sizes that double, else 1, 2, 5 times powers of ten, else powers of ten. */
static void log_ticks(struct axis *axis, bool doubling)
{
    const double decades = log10(axis->high / axis->low);

    axis->nticks = 0;
    for (int power = -12; power <= 60 && axis->nticks < MOST_TICKS; power++) {
        static const double steps[] = {1.0, 2.0, 5.0};
        const int nsteps = doubling || decades > 3.5 ? 1 : 3;

        for (int i = 0; i < nsteps && axis->nticks < MOST_TICKS; i++) {
            double tick = doubling ? ldexp(1.0, power) : pow(10.0, power) * steps[i];

            if (tick >= axis->low * (1.0 - 1e-9) && tick <= axis->high * (1.0 + 1e-9))
                axis->ticks[axis->nticks++] = tick;
        }
    }
}

/* True when every x is a whole power of two. */
static bool all_doubling(const struct hydra_chart *chart)
{
    for (int s = 0; s < chart->nseries; s++)
        for (int64_t i = 0; i < chart->series[s].npoints; i++) {
            int exponent;

            if (chart->series[s].x[i] < 1.0 || frexp(chart->series[s].x[i], &exponent) != 0.5)
                return false;
        }
    return true;
}

static int make_axis(const struct hydra_chart *chart, bool y, struct axis *axis)
{
    int status = HYDRA_SUCCESS;

    *axis = (struct axis){.log = y ? chart->log_y : chart->log_x};
    HYDRA_REQUIRE(data_range(chart, y, &axis->low, &axis->high), HYDRA_ERR_ARG,
                  "chart %s: %s has no value that its axis can hold", chart->title,
                  y ? chart->y_label : chart->x_label);
    axis->from = y ? HYDRA_DRAW_CHART_HEIGHT - BOTTOM : LEFT;
    axis->to = y ? TOP : HYDRA_DRAW_WIDTH - RIGHT;
    if (!axis->log && y && axis->low > 0.0)
        axis->low = 0.0; /* lengths are compared by eye: start them at zero */
    if (axis->high <= axis->low) {
        axis->high = axis->high > 0.0 ? axis->high * 2.0 : axis->high + 1.0;
        axis->low = axis->log ? axis->low / 2.0 : axis->low;
    }
    if (axis->log && y) {
        axis->low /= 1.15;
        axis->high *= 1.15;
    }
    if (axis->log)
        log_ticks(axis, !y && all_doubling(chart));
    else
        linear_ticks(axis, y ? 6 : 10);
fail:
    return status;
}

/* Ticks of a linear axis all with the decimals that their step asks for. */
static void tick_words(const struct axis *axis, int i, char *text, size_t len)
{
    const double step = axis->nticks > 1 ? axis->ticks[1] - axis->ticks[0] : axis->ticks[i];
    const double value = axis->ticks[i];

    if (!axis->log && fabs(axis->high) < 1e3 && step >= 1e-3)
        snprintf(text, len, "%.*f", step >= 1.0 ? 0 : (int)ceil(-log10(step) - 1e-9), value);
    else if (value >= 1.0 && value < 1e5 && value == floor(value))
        snprintf(text, len, "%s", hydra_words_whole((int64_t)value).text);
    else
        snprintf(text, len, "%s", hydra_words_count(value).text);
}

static void draw_axes(FILE *page, const struct hydra_chart *chart, const struct axis *x, const struct axis *y)
{
    const double bottom = y->from;
    char words[32];

    for (int i = 0; i < y->nticks; i++) {
        double at = place(y, y->ticks[i]);

        hydra_svg_line(page, "rule", LEFT, at, HYDRA_DRAW_WIDTH - RIGHT, at);
        tick_words(y, i, words, sizeof words);
        hydra_svg_text(page, "soft small end", LEFT - 8, at + 4.0, "%s", words);
    }
    hydra_svg_line(page, "axis", LEFT, bottom, HYDRA_DRAW_WIDTH - RIGHT, bottom);
    for (int i = 0; i < x->nticks; i++) {
        double at = place(x, x->ticks[i]);

        hydra_svg_line(page, "axis", at, bottom, at, bottom + 4.0);
        tick_words(x, i, words, sizeof words);
        hydra_svg_text(page, "soft small mid", at, bottom + 17.0, "%s", words);
    }
    hydra_svg_text(page, "name", 0, 14, "%s", chart->title);
    hydra_svg_text(page, "soft", LEFT, TOP - 14, "%s", chart->y_label);
    hydra_svg_text(page, "soft mid", (x->from + x->to) / 2.0, bottom + 36.0, "%s", chart->x_label);
}

static bool drawn_as_points(const struct hydra_chart *chart, int s)
{
    return chart->marks != NULL && chart->marks[s] == HYDRA_CHART_POINTS;
}

/* Line through the points, broken where y is not known. */
static void draw_line(FILE *page, const struct hydra_series *series, int colour, const struct axis *x,
                      const struct axis *y)
{
    bool pen = false;

    fprintf(page, "<path class=\"curve s%d%s\" d=\"", colour % HYDRA_CATEGORIES,
            colour >= HYDRA_CATEGORIES ? " dash" : ""); /* the second round of colours is dashed */
    for (int64_t i = 0; i < series->npoints; i++) {
        if (isnan(series->y[i])) {
            pen = false;
            continue;
        }
        fputc(pen ? 'L' : 'M', page);
        hydra_svg_number(page, place(x, series->x[i]));
        fputc(' ', page);
        hydra_svg_number(page, place(y, series->y[i]));
        pen = true;
    }
    fputs("\"/>\n", page);
}

static void draw_series(FILE *page, const struct hydra_chart *chart, int s, const struct axis *x, const struct axis *y)
{
    const struct hydra_series *series = &chart->series[s];
    const int colour = s % HYDRA_CATEGORIES;
    const double radius = drawn_as_points(chart, s) ? 5.0 : 3.0;

    if (!drawn_as_points(chart, s))
        draw_line(page, series, s, x, y);
    for (int64_t i = 0; i < series->npoints; i++) {
        if (isnan(series->y[i]))
            continue;
        fprintf(page, "<circle class=\"p%d\" r=\"%d\" cx=\"", colour, (int)radius);
        hydra_svg_number(page, place(x, series->x[i]));
        fputs("\" cy=\"", page);
        hydra_svg_number(page, place(y, series->y[i]));
        fputs("\"><title>", page);
        hydra_xml_printf(page, "%s: %s at %s", series->name, hydra_words_count(series->y[i]).text,
                         hydra_words_count(series->x[i]).text);
        fputs("</title></circle>\n", page);
        if (drawn_as_points(chart, s))
            hydra_svg_text(page, "small", place(x, series->x[i]) + 9.0, place(y, series->y[i]) + 4.0, "%s",
                           series->name);
    }
}

/* Last known point of a series; false when it has none. */
static bool last_point(const struct hydra_series *series, int64_t *last)
{
    for (int64_t i = series->npoints - 1; i >= 0; i--)
        if (!isnan(series->y[i])) {
            *last = i;
            return true;
        }
    return false;
}

/* Push labels apart, top to bottom, then back up when they ran out at the bottom. */
static void spread(struct label *labels, int nlabels, double bottom)
{
    for (int i = 1; i < nlabels; i++)
        for (int j = i; j > 0 && labels[j].y < labels[j - 1].y; j--) {
            struct label swap = labels[j];

            labels[j] = labels[j - 1];
            labels[j - 1] = swap;
        }
    for (int i = 1; i < nlabels; i++)
        labels[i].y = fmax(labels[i].y, labels[i - 1].y + LINE);
    for (int i = nlabels - 1; i >= 0; i--)
        labels[i].y = fmin(labels[i].y, i == nlabels - 1 ? bottom : labels[i + 1].y - LINE);
}

/* Names of lines at the right, each beside its end; names of points stand beside them. */
static int draw_names(FILE *page, const struct hydra_chart *chart, const struct axis *x, const struct axis *y)
{
    struct label *labels = hydra_calloc(chart->nseries, sizeof *labels);
    int nlabels = 0, status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(labels != NULL, HYDRA_ERR_NOMEM, "chart of %d series", chart->nseries);
    for (int s = 0; s < chart->nseries; s++) {
        int64_t last;

        if (!drawn_as_points(chart, s) && last_point(&chart->series[s], &last))
            labels[nlabels++] =
                (struct label){place(x, chart->series[s].x[last]), place(y, chart->series[s].y[last]), s};
    }
    spread(labels, nlabels, y->from);
    for (int i = 0; i < nlabels; i++) {
        char css[16];

        snprintf(css, sizeof css, "strong p%d", labels[i].series % HYDRA_CATEGORIES);
        hydra_svg_text(page, css, x->to + 14.0, labels[i].y + 4.0, "%s", chart->series[labels[i].series].name);
    }
fail:
    hydra_free(labels);
    return status;
}

int hydra_draw_chart(FILE *page, const struct hydra_chart *chart)
{
    struct axis x, y;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(make_axis(chart, false, &x));
    HYDRA_TRY(make_axis(chart, true, &y));
    draw_axes(page, chart, &x, &y);
    for (int s = 0; s < chart->nseries; s++)
        draw_series(page, chart, s, &x, &y);
    HYDRA_TRY(draw_names(page, chart, &x, &y));
fail:
    return status;
}
