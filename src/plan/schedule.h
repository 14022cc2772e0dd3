/* schedule.h: the schedule object behind Hydra_Schedule. Pure, no MPI. Immutable once
 * hydra_draft_finish has made it. */
#ifndef HYDRA_PLAN_SCHEDULE_H
#define HYDRA_PLAN_SCHEDULE_H

#include <stdint.h>

#include "hydra_plan.h"
#include "plan/batch.h"

struct hydra_group {
    int64_t first;      /* first slot */
    int64_t size;       /* degree P; a power of two aligned to itself, or the whole pool */
    int64_t factor;     /* U: inner factor, divides size */
    int64_t docs_begin; /* documents docs[docs_begin .. docs_end), ascending ids */
    int64_t docs_end;
};

struct hydra_schedule {
    int64_t pool;         /* G */
    int64_t ndocs;        /* N */
    int64_t microbatches; /* M >= 1 */
    int64_t ngroups;      /* over all microbatches */
    int64_t *lengths;     /* [ndocs] */
    int64_t *pairs;       /* NULL, or [ndocs] attended pairs given by the caller */
    int64_t *starts;      /* [ndocs + 1] tokens of the batch before each document */
    int64_t
        *group_begin; /* [M + 1]: microbatch m has groups[group_begin[m] .. group_begin[m+1]), ascending first slot */
    struct hydra_group *groups;
    int64_t *docs;              /* [ndocs] document ids, group after group */
    int64_t *loaded_begin;      /* [G + 1]: rank r loaded documents loaded_begin[r] .. loaded_begin[r+1) */
    int64_t *slot_of_rank;      /* [G] */
    int64_t *rank_of_slot;      /* [G] */
    Hydra_Plan_options options; /* as planned, resolved; pointers are NULL */
    Hydra_Cost cost;            /* as planned; theta 0 and phi 0 when unknown */
    uint64_t hash;              /* over all of the above but cost */
};

/* Attention weight of document i, as the planner counted it. */
hydra_weight hydra_schedule_weight(const struct hydra_schedule *schedule, int64_t i);

/* The group that holds `slot` in microbatch m, or NULL when the slot is idle. O(log groups). */
const struct hydra_group *hydra_schedule_group_of(const struct hydra_schedule *schedule, int64_t m, int64_t slot);

/* True when the group's documents are laid out in zigzag pieces: causal-like mask and a ring. */
int hydra_schedule_zigzag(const struct hydra_schedule *schedule, const struct hydra_group *group);

/* Rotation o of each of a group's documents (shard.h). offsets [out] [docs_end - docs_begin]. */
void hydra_schedule_rotations(const struct hydra_schedule *schedule, const struct hydra_group *group, int64_t *offsets);

/* Allocate a schedule's arrays: lengths, starts, group_begin, groups, docs, slot maps (identity), loaded_begin (rank 0
 * loaded all); pairs when asked for. Only the maps and group_begin (zero) are set. made [out]: Hydra_Schedule_free. */
int hydra_schedule_allocate(int64_t pool, int64_t ndocs, int64_t microbatches, int64_t ngroups, int with_pairs,
                            Hydra_Schedule *made);

/* Set who loaded what and which slot each rank has (either NULL: leave it), and rehash. HYDRA_ERR_ARG when they are no
 * partition or no permutation. */
int hydra_schedule_place(struct hydra_schedule *schedule, const int64_t *loaded_begin, const int64_t *slot_of_rank);

/* Check what makes a schedule executable: degrees, alignment, overlap and factors of its groups; then each document
 * once, budget kept. A fault is reported with code `fault`: HYDRA_ERR_INTERNAL for a policy's, HYDRA_ERR_FORMAT for a
 * file's. */
int hydra_schedule_check_groups(const struct hydra_schedule *schedule, int fault);
int hydra_schedule_check_documents(const struct hydra_schedule *schedule, int fault);

/* Recompute starts from lengths. */
void hydra_schedule_fill_starts(struct hydra_schedule *schedule);

/* Recompute and store the hash: after the slot map was set. */
void hydra_schedule_rehash(struct hydra_schedule *schedule);

#endif
