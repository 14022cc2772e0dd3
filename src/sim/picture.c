/* picture.c: single pictures as SVG files: panels of draw.h below one another. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "sim/draw.h"
#include "sim/svg.h"

enum { GAP = 18 };

int hydra_grids_make(const struct hydra_report *report, struct hydra_grid **grids, double *top)
{
    struct hydra_grid *made = hydra_calloc(report->npolicies, sizeof *made);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "grids of %d policies", report->npolicies);
    *top = 0.0;
    for (int i = 0; i < report->npolicies; i++)
        if (report->policies[i].schedule != NULL) {
            HYDRA_TRY(hydra_grid_make(report->policies[i].schedule, &made[i]));
            *top = fmax(*top, made[i].cell_max);
        }
    *grids = made;
    return HYDRA_SUCCESS;

fail:
    hydra_grids_free(report, &made);
    return status;
}

void hydra_grids_free(const struct hydra_report *report, struct hydra_grid **grids)
{
    for (int i = 0; *grids != NULL && i < report->npolicies; i++)
        hydra_grid_clear(&(*grids)[i]);
    hydra_free(*grids);
    *grids = NULL;
}

int hydra_timeline_svg(const struct hydra_report *report, int replicas, const char *path)
{
    const double axis = hydra_timeline_axis(report, replicas);
    double height = HYDRA_DRAW_LEGEND_HEIGHT + GAP, y = HYDRA_DRAW_LEGEND_HEIGHT;
    FILE *page = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(axis > 0.0, HYDRA_ERR_ARG, "no policy of the report has a timeline to draw");
    for (int i = 0; i < report->npolicies; i++)
        if (hydra_timeline_of(&report->policies[i], replicas) != NULL)
            height += hydra_draw_timeline_height(hydra_timeline_of(&report->policies[i], replicas)) + GAP;
    HYDRA_TRY(hydra_page_open(path, &page));
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, height, true, report->title);
    hydra_draw_timeline_legend(page, report, replicas);
    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_timeline *timeline = hydra_timeline_of(&report->policies[i], replicas);

        if (timeline == NULL)
            continue;
        hydra_svg_shift(page, y += GAP);
        HYDRA_TRY(hydra_draw_timeline(page, report, i, replicas, axis, true));
        hydra_svg_unshift(page);
        y += hydra_draw_timeline_height(timeline);
    }
    hydra_svg_end(page);
fail:
    return hydra_page_close(path, &page, status);
}

int hydra_plan_svg(const struct hydra_report *report, const char *path)
{
    struct hydra_grid *grids = NULL;
    double height = HYDRA_DRAW_LEGEND_HEIGHT + GAP, y = HYDRA_DRAW_LEGEND_HEIGHT, top;
    FILE *page = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_grids_make(report, &grids, &top));
    for (int i = 0; i < report->npolicies; i++)
        if (report->policies[i].schedule != NULL)
            height += hydra_draw_plan_height(report->policies[i].schedule) + GAP;
    HYDRA_TRY(hydra_page_open(path, &page));
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, height, true, report->title);
    hydra_draw_ramp(page, top);
    for (int i = 0; i < report->npolicies; i++) {
        const struct hydra_policy_result *policy = &report->policies[i];

        if (policy->schedule == NULL)
            continue;
        hydra_svg_shift(page, y += GAP);
        HYDRA_TRY(hydra_draw_plan(page, policy->name, policy->schedule, &grids[i], top));
        hydra_svg_unshift(page);
        y += hydra_draw_plan_height(policy->schedule);
    }
    hydra_svg_end(page);
fail:
    hydra_grids_free(report, &grids);
    return hydra_page_close(path, &page, status);
}

int hydra_degrees_svg(const struct hydra_report *report, const char *path)
{
    FILE *page = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_page_open(path, &page));
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, hydra_draw_degrees_height(report), true, report->title);
    hydra_draw_degrees(page, report);
    hydra_svg_end(page);
fail:
    return hydra_page_close(path, &page, status);
}

int hydra_chart_svg(const struct hydra_chart *chart, const char *path)
{
    FILE *page = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_page_open(path, &page));
    hydra_svg_begin(page, HYDRA_DRAW_WIDTH, HYDRA_DRAW_CHART_HEIGHT, true, chart->title);
    HYDRA_TRY(hydra_draw_chart(page, chart));
    hydra_svg_end(page);
fail:
    return hydra_page_close(path, &page, status);
}
