/* ideal_column.h: how early a plan could end if its work were even over the slots and its microbatches any size. */
#ifndef HYDRA_TOOLS_IDEAL_COLUMN_H
#define HYDRA_TOOLS_IDEAL_COLUMN_H

#include "plan/schedule.h"

/* Seconds of the ideal column of a plan under a cost model: one pipeline column that carries the average work of a slot
 * in as many microbatches, each as long as suits the pipeline best. What documents cost at their degrees stays as it
 * is; what packing and shaping could still gain is all gained. The search for the sizes is the shaped policy's, from
 * more starts: a yardstick, not a proven bound. */
int tool_ideal_column(const struct hydra_schedule *schedule, const Hydra_Cost *model, double *seconds);

#endif
