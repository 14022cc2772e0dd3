/* grid.h: load and tokens of every group, microbatch and slot of a schedule, ready to draw. Pure.
 *
 * Loads are shares of one slot's even part of the whole batch (sum of weights / G): a perfect plan's microbatches add
 * up to 1, whatever their number, so plans of one batch can be compared. */
#ifndef HYDRA_SIM_GRID_H
#define HYDRA_SIM_GRID_H

#include <stdint.h>

#include "plan/schedule.h"

struct hydra_grid {
    double *group_load;    /* [ngroups] of each slot of the group */
    int64_t *group_tokens; /* [ngroups] of the whole group */
    double *load_max;      /* [M] the fullest slot */
    double *load_mean;     /* [M] over all slots, idle ones too */
    double *tokens_max;    /* [M] */
    double *tokens_mean;   /* [M] */
    double *slot_load;     /* [G] over the iteration */
    double *slot_tokens;   /* [G] */
    double cell_max;       /* greatest group_load */
    double critical;       /* sum of load_max: 1 is perfect */
    double idle;           /* share of slot-microbatches without a group */
};

/* Fill the grid; hydra_grid_clear frees it, also when half made. */
int hydra_grid_make(const struct hydra_schedule *schedule, struct hydra_grid *grid);
void hydra_grid_clear(struct hydra_grid *grid);

#endif
