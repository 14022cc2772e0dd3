/* plan_pictures.h: the pictures of plans alone, for the commands that have schedules and no simulation. */
#ifndef HYDRA_TOOLS_PLAN_PICTURES_H
#define HYDRA_TOOLS_PLAN_PICTURES_H

#include "hydra_plan.h"

struct tool_plan {
    const char *name; /* policy, or file that it was loaded from */
    Hydra_Schedule schedule;
    Hydra_Schedule_stats stats;
    double planning_seconds; /* NAN: not measured, since it was read from a file */
};

/* Draw the plans of one batch as SVG (grids) and as HTML (the whole report). svg, html: paths, "-" standard output, or
 * NULL. command: the line that made them, NULL: not shown. HYDRA_ERR_IO names the path. */
int tool_plan_pictures(int nplans, const struct tool_plan plans[], const char *command, const char *svg,
                       const char *html);

#endif
