/* cost.h: load as time. Hydra_Cost (doubles, seconds) becomes a table of whole picoseconds, so that plans compare the
 * same everywhere. Planner, simulator and engine share the factor function. Pure. */
#ifndef HYDRA_PLAN_COST_H
#define HYDRA_PLAN_COST_H

#include <stdint.h>

#include "plan/batch.h"

struct hydra_cost;

/* Inner factor U of a group of `size` slots for `heads` query heads under `factor` (HYDRA_FACTOR_* or U).
 * Always divides size; 1 when heads is 0. cost may be NULL (then as HYDRA_FACTOR_PAPER). */
int64_t hydra_factor_choose(const Hydra_Cost *cost, int factor, int heads, int kv_heads, int64_t size);

/* Forward time of a group's rank that holds load w/P and t tokens, picoseconds, under the integer model. */
int64_t hydra_cost_forward(const struct hydra_cost *cost, int64_t size, hydra_weight weight_per_rank, int64_t tokens_per_rank);

#endif
