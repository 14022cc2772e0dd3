/* draft.h: what a policy decides, before it becomes a schedule: groups, and each document's group. */
#ifndef HYDRA_PLAN_DRAFT_H
#define HYDRA_PLAN_DRAFT_H

#include <stdint.h>

#include "plan/batch.h"

struct hydra_draft_group {
    int64_t microbatch;
    int64_t first; /* slot */
    int64_t size;
};

struct hydra_draft {
    int64_t ngroups;
    int64_t capacity;
    struct hydra_draft_group *groups;
    int64_t *group_of;    /* [ndocs] index into groups; -1: not placed yet */
    int64_t microbatches; /* M; microbatches without groups are allowed (every rank idle) */
};

/* Empty draft for a batch: every document unplaced, M = 0. */
int hydra_draft_init(struct hydra_draft *draft, const struct hydra_batch *batch);
void hydra_draft_clear(struct hydra_draft *draft);

/* Add a group; index [out] stays valid. Groups of one microbatch must not overlap (hydra_draft_finish checks). */
int hydra_draft_add_group(struct hydra_draft *draft, int64_t microbatch, int64_t first, int64_t size, int64_t *index);

/* Check (each document once, budget, alignment, overlap), choose each group's factor, sort, and make the schedule.
 * Slots and ranks are the same, rank 0 loaded everything: hydra_comm sets them afterwards. A failed check is
 * HYDRA_ERR_INTERNAL: a policy's fault, never the caller's. */
int hydra_draft_finish(struct hydra_draft *draft, const struct hydra_batch *batch, Hydra_Schedule *schedule);

#endif
