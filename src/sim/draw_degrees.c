/* draw_degrees.c: share of the slots that work at each degree, one row of columns for each policy on common scales. */
#include <math.h>

#include "base/bits.h"
#include "sim/draw.h"
#include "sim/svg.h"
#include "sim/words.h"

enum { LEFT = 144, ROW = 74, BAR = 46, FOOT = 34 };

/* Levels 0 .. last that some policy uses. */
static int last_level(const struct hydra_report *report)
{
    int last = 0;

    for (int i = 0; i < report->npolicies; i++)
        for (int level = 0; level < 64 && report->policies[i].stats != NULL; level++)
            if (report->policies[i].stats->degree_share[level] > 0.0 && level > last)
                last = level;
    return last;
}

double hydra_draw_degrees_height(const struct hydra_report *report)
{
    int rows = 0;

    for (int i = 0; i < report->npolicies; i++)
        rows += report->policies[i].stats != NULL;
    return ROW * rows + FOOT;
}

static double greatest_share(const struct hydra_report *report)
{
    double top = 0.0;

    for (int i = 0; i < report->npolicies; i++) {
        const Hydra_Schedule_stats *stats = report->policies[i].stats;

        for (int level = 0; level < 64 && stats != NULL; level++)
            top = fmax(top, stats->degree_share[level]);
        top = stats == NULL ? top : fmax(top, stats->idle_share);
    }
    return top;
}

/* One column with its number on top; a share of 0 is a dot on the base line. */
static void draw_column(FILE *page, const char *css, double x, double base, double width, double share, double top,
                        const char *tip)
{
    double height = top > 0.0 ? share / top * BAR : 0.0;

    if (share < 5e-5) {
        hydra_svg_text(page, "soft mid", x + width / 2.0, base - 3.0, "\xc2\xb7");
        return;
    }
    hydra_svg_bar(page, css, x, base - fmax(height, 1.0), width, fmax(height, 1.0), "%s", tip);
    hydra_svg_text(page, "small mid", x + width / 2.0, base - height - 4.0, "%s", hydra_words_share(share).text);
}

static void draw_policy(FILE *page, const struct hydra_policy_result *policy, double base, int last, double step,
                        double top)
{
    const Hydra_Schedule_stats *stats = policy->stats;
    const double width = fmin(step - 8.0, 64.0);
    char tip[192];

    hydra_svg_text(page, "name", 0, base - 6.0, "%s", policy->name);
    hydra_svg_line(page, "rule", LEFT, base + 0.5, HYDRA_DRAW_WIDTH, base + 0.5);
    for (int level = 0; level <= last; level++) {
        snprintf(tip, sizeof tip, "%.80s: %s of the slots work at degree %s", policy->name,
                 hydra_words_share(stats->degree_share[level]).text, hydra_words_whole((int64_t)1 << level).text);
        draw_column(page, "f1", LEFT + step * level + (step - width) / 2.0, base, width, stats->degree_share[level],
                    top, tip);
    }
    snprintf(tip, sizeof tip, "%.80s: %s of the slots are idle", policy->name,
             hydra_words_share(stats->idle_share).text);
    draw_column(page, "k4", LEFT + step * (last + 1.25) + (step - width) / 2.0, base, width, stats->idle_share, top,
                tip);
}

void hydra_draw_degrees(FILE *page, const struct hydra_report *report)
{
    const int last = last_level(report);
    const double step = fmin(110.0, (HYDRA_DRAW_WIDTH - LEFT) / (last + 2.25)), top = greatest_share(report);
    double base = 0.0;

    for (int i = 0; i < report->npolicies; i++)
        if (report->policies[i].stats != NULL)
            draw_policy(page, &report->policies[i], base += ROW, last, step, top);
    for (int level = 0; level <= last; level++)
        hydra_svg_text(page, "soft small mid", LEFT + step * (level + 0.5), base + 17.0, "%s",
                       hydra_words_whole((int64_t)1 << level).text);
    hydra_svg_text(page, "soft small mid", LEFT + step * (last + 1.75), base + 17.0, "idle");
    hydra_svg_text(page, "soft small end", LEFT - 8, base + 17.0, "degree");
}
