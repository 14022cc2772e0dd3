/* batch.h: what a policy plans: lengths, weights, pool and budget. Pure, no MPI. */
#ifndef HYDRA_PLAN_BATCH_H
#define HYDRA_PLAN_BATCH_H

#include <stdint.h>

#include "hydra_plan.h"

/* Attention weight: s*s causal, 2*s*s full, twice the attended pairs for any other mask. Lengths reach 2^40. */
typedef unsigned __int128 hydra_weight;

struct hydra_batch {
    int64_t pool;                       /* G */
    int64_t ndocs;                      /* N */
    const int64_t *lengths;             /* [ndocs], borrowed */
    const Hydra_Plan_options *options;  /* checked, defaults filled in (policy resolved, degrees within the pool), borrowed */
    const struct hydra_cost *cost;      /* integer cost model (plan/cost.h), NULL when unknown */
};

/* Weight of document i. */
hydra_weight hydra_batch_weight(const struct hydra_batch *batch, int64_t i);

/* Attended pairs of one document of length s under a mask, doubled as the weight is. */
hydra_weight hydra_mask_weight(int mask, int64_t window, int64_t sink, int64_t s);

/* Degrees a pool offers, ascending: 1, 2, 4, ... <= G, and G itself. degrees [out] up to 64; returns how many. */
int hydra_pool_degrees(int64_t pool, int64_t degrees[64]);

#endif
