/* plan.h: from documents and options to a schedule. Hydra_Plan_serial and the MPI layer's Hydra_Plan both end here.
 * Pure. */
#ifndef HYDRA_PLAN_PLAN_H
#define HYDRA_PLAN_PLAN_H

#include <stdint.h>

#include "hydra_plan.h"

/**
 * Check, resolve defaults, plan and make the schedule. Deterministic: ranks that pass the same get the same.
 *
 * pool          [in]   G
 * ndocs         [in]   N documents of the whole pool, numbered rank by rank
 * lengths       [in]   [ndocs]
 * loaded_begin  [in]   [G + 1], rank r loaded documents loaded_begin[r] .. loaded_begin[r+1); NULL: rank 0 loaded all
 * slot_of_rank  [in]   [G], a permutation; NULL: slot = rank
 * options       [in]   the caller's, unchecked; pairs, when given, is [ndocs] of the whole pool
 * schedule      [out]  set only on success; Hydra_Schedule_free
 */
int hydra_plan_make(int64_t pool, int64_t ndocs, const int64_t *lengths, const int64_t *loaded_begin,
                    const int64_t *slot_of_rank, const Hydra_Plan_options *options, Hydra_Schedule *schedule);

#endif
