/* draw.h: the panels that pictures and report are made of. Each draws at the origin, HYDRA_DRAW_WIDTH px wide, as many
 * px high as its _height says; the caller opens the SVG and shifts. */
#ifndef HYDRA_SIM_DRAW_H
#define HYDRA_SIM_DRAW_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/grid.h"
#include "sim/report.h"

enum { HYDRA_DRAW_WIDTH = 1200 };

/* Where each policy's time goes, as bars on a common scale; 0 px when no policy's time is known. */
double hydra_draw_times_height(const struct hydra_report *report);
void hydra_draw_times(FILE *page, const struct hydra_report *report);

/* Colours of the bars that occur in the timelines of a report. */
enum { HYDRA_DRAW_LEGEND_HEIGHT = 30 };
void hydra_draw_timeline_legend(FILE *page, const struct hydra_report *report, int replicas);

/* Timeline of one policy on an axis of `axis` seconds. named: with the policy's name above. */
double hydra_draw_timeline_height(const struct hydra_timeline *timeline);
int hydra_draw_timeline(FILE *page, const struct hydra_report *report, int which, int replicas, double axis,
                        bool named);

/* Timeline of a policy, NULL when it has none, and the longest of them all. */
const struct hydra_timeline *hydra_timeline_of(const struct hydra_policy_result *policy, int replicas);
double hydra_timeline_axis(const struct hydra_report *report, int replicas);

/* Grids of every policy that has a schedule, [npolicies], and the greatest load of a slot in all of them. */
int hydra_grids_make(const struct hydra_report *report, struct hydra_grid **grids, double *top);
void hydra_grids_free(const struct hydra_report *report, struct hydra_grid **grids);

/* Colour ramp of loads up to `top`, with its words. */
void hydra_draw_ramp(FILE *page, double top);

/* Plan grid of one policy (name NULL: said elsewhere); colours and load bars on a scale of 0..top. */
double hydra_draw_plan_height(const struct hydra_schedule *schedule);
int hydra_draw_plan(FILE *page, const char *name, const struct hydra_schedule *schedule, const struct hydra_grid *grid,
                    double top);

/* Degree histograms of every policy that has statistics, one row each on common scales. */
double hydra_draw_degrees_height(const struct hydra_report *report);
void hydra_draw_degrees(FILE *page, const struct hydra_report *report);

/* Lines and points with direct labels. */
enum { HYDRA_DRAW_CHART_HEIGHT = 380 };
int hydra_draw_chart(FILE *page, const struct hydra_chart *chart);

/* Tables of the HTML report: times, and what the plans alone decide. Nothing when no policy has the numbers. */
void hydra_table_times(FILE *page, const struct hydra_report *report);
void hydra_table_plans(FILE *page, const struct hydra_report *report);

/* Step of an axis: 1, 2 or 5 times a power of ten, so that span has at most `ticks` of them. */
double hydra_axis_step(double span, int ticks);

#endif
