/* interleave.h: interleaved pipelines want a microbatch count that is a multiple of their depth. Pure. */
#ifndef HYDRA_PLAN_INTERLEAVE_H
#define HYDRA_PLAN_INTERLEAVE_H

#include "plan/draft.h"

/* With more than one chunk, bring M to a multiple of pp by splitting microbatches in two, from the last backwards: at a
 * group boundary, else between the documents of the only group. What is left when nothing can be split is filled up
 * with empty microbatches. Each half's groups then grow into the slots that the other half left. */
int hydra_plan_interleave(const struct hydra_batch *batch, struct hydra_draft *draft);

#endif
