/* layout.h: slots for the groups of one microbatch, once their sizes are known. Pure. */
#ifndef HYDRA_PLAN_LAYOUT_H
#define HYDRA_PLAN_LAYOUT_H

#include "plan/draft.h"

/* Give idle slots to the groups of one microbatch: while the sizes leave room, move the smallest (ties: first in the
 * array) to the next degree, up to max_degree. Then lay all out from slot 0, largest first (ties: first in the array),
 * so that every group is aligned. O(degrees x count). */
void hydra_layout_fill(const struct hydra_batch *batch, struct hydra_draft_group *groups, int64_t count);

/* The second half alone: lay the groups out from slot 0, largest first. Their sizes fit the pool. */
void hydra_layout_descending(const struct hydra_batch *batch, struct hydra_draft_group *groups, int64_t count);

#endif
