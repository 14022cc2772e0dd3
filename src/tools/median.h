/* median.h: the figure that benchmarks report. */
#ifndef HYDRA_TOOLS_MEDIAN_H
#define HYDRA_TOOLS_MEDIAN_H

#include <stdint.h>

/* Median of values[0..count), which it sorts; of an even count the mean of the two in the middle. count > 0. */
double tool_median(double *values, int64_t count);

#endif
