/* draw_times.c: where the time of an iteration goes: one bar for each policy on a common scale, cut by cause. */
#include <math.h>
#include <stddef.h>

#include "sim/draw.h"
#include "sim/svg.h"
#include "sim/words.h"

enum { LEFT = 144, RIGHT = 80, LEGEND = 30, ROW = 30, BAR = 22 };

/* Causes in the order of the bar; what none of them takes is the last. */
static const struct cause {
    size_t offset; /* of a share in struct hydra_policy_result */
    const char *css, *on;
    const char *words;
} causes[] = {
    {offsetof(struct hydra_policy_result, busy), "f1", "small mid on0", "computing"},
    {offsetof(struct hydra_policy_result, exposed), "k3", "small mid on0", "communication that nothing hides"},
    {offsetof(struct hydra_policy_result, pp_bubble), "w0", "small mid", "waiting in the pipeline"},
    {offsetof(struct hydra_policy_result, dp_bubble), "w1", "small mid", "waiting for the slowest replica"},
};

enum { CAUSES = sizeof causes / sizeof causes[0] };

static double share_of(const struct hydra_policy_result *policy, int cause)
{
    const double share = *(const double *)(const void *)((const char *)policy + causes[cause].offset);

    return share > 0.0 ? share : 0.0;
}

/* Policies whose time is known, and the longest of them. */
static int timed(const struct hydra_report *report, double *longest)
{
    int n = 0;

    *longest = 0.0;
    for (int i = 0; i < report->npolicies; i++)
        if (isfinite(report->policies[i].seconds)) {
            *longest = fmax(*longest, report->policies[i].seconds);
            n++;
        }
    return *longest > 0.0 ? n : 0;
}

double hydra_draw_times_height(const struct hydra_report *report)
{
    double longest;
    int rows = timed(report, &longest);

    return rows == 0 ? 0.0 : LEGEND + ROW * rows;
}

static void draw_part(FILE *page, const struct hydra_policy_result *policy, const char *css, const char *on,
                      const char *words, double x, double y, double width, double share)
{
    struct hydra_word percent = hydra_words_share(share);

    hydra_svg_bar(page, css, x, y, width, BAR, "%s: %s %s, %s", policy->name, percent.text, words,
                  hydra_words_seconds(share * policy->seconds).text);
    if (hydra_text_width(percent.text, 11.0) + 4.0 < width)
        hydra_svg_text(page, on, x + width / 2.0, y + BAR / 2.0 + 4.0, "%s", percent.text);
}

static void draw_policy(FILE *page, const struct hydra_policy_result *policy, double y, double scale)
{
    double x = LEFT, left = 1.0;

    hydra_svg_text(page, "name", 0, y + BAR / 2.0 + 5.0, "%s", policy->name);
    for (int c = 0; c < CAUSES; c++) {
        const double share = fmin(share_of(policy, c), left), width = share * policy->seconds * scale;

        if (share > 0.0)
            draw_part(page, policy, causes[c].css, causes[c].on, causes[c].words, x, y, width, share);
        x += width;
        left -= share;
    }
    if (left > 0.0)
        draw_part(page, policy, "k2", "small mid on0", "for all else", x, y, left * policy->seconds * scale, left);
    hydra_svg_text(page, "strong", LEFT + policy->seconds * scale + 8.0, y + BAR / 2.0 + 4.0, "%s",
                   hydra_words_seconds(policy->seconds).text);
}

static void draw_legend(FILE *page)
{
    double x = LEFT;

    for (int c = 0; c <= CAUSES; c++) {
        const char *words = c < CAUSES ? causes[c].words : "reducing, updating, all else";

        hydra_svg_rect(page, c < CAUSES ? causes[c].css : "k2", x, 4, 12, 12);
        hydra_svg_text(page, "", x + 17.0, 14, "%s", words);
        x += 36.0 + hydra_text_width(words, 12.0) * 0.92;
    }
}

void hydra_draw_times(FILE *page, const struct hydra_report *report)
{
    double longest, y = LEGEND;

    if (timed(report, &longest) == 0)
        return;
    draw_legend(page);
    for (int i = 0; i < report->npolicies; i++)
        if (isfinite(report->policies[i].seconds)) {
            draw_policy(page, &report->policies[i], y, (HYDRA_DRAW_WIDTH - LEFT - RIGHT) / longest);
            y += ROW;
        }
}
