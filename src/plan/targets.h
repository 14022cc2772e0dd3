/* targets.h: the closed-form targets of one iteration (HyDra section 5.1.1) and what they ask of a document. Pure
 * arithmetic. */
#ifndef HYDRA_PLAN_TARGETS_H
#define HYDRA_PLAN_TARGETS_H

#include <stdint.h>

#include "plan/batch.h"

/* The load target is target / cap, kept as a fraction so that every comparison is exact. */
struct hydra_targets {
    int64_t cap;           /* C*: greatest degree any document gets; a degree of the pool */
    hydra_weight heaviest; /* w_max; 0 when the batch has no attention work */
    hydra_weight target;   /* heaviest; more where the least degree does for every document */
    hydra_weight total;    /* W */
    int64_t microbatches;  /* M*: how many the closed form expects, at least 1 */
};

/* batch [in] checked (hydra_batch_check); targets [out]. The floating-point part is one square root of doubles, which
 * IEEE 754 rounds the same everywhere; everything else is in whole numbers. */
void hydra_targets_derive(const struct hydra_batch *batch, struct hydra_targets *targets);

/* Most weight that the documents of a group of `size` slots may have together: floor(size x load target). */
hydra_weight hydra_targets_group_weight(const struct hydra_targets *targets, int64_t size);

/* Degree of a document of s tokens and weight w: the least, up to the cap, that respects load target and budget. */
int64_t hydra_targets_degree(const struct hydra_batch *batch, const struct hydra_targets *targets, int64_t s,
                             hydra_weight w);

#endif
