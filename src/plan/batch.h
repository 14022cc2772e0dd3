/* batch.h: what a policy plans: lengths, weights, pool and budget. Pure, no MPI. */
#ifndef HYDRA_PLAN_BATCH_H
#define HYDRA_PLAN_BATCH_H

#include <stdint.h>

#include "hydra_plan.h"

/* Limits that keep every product of the planner within 128 bits: weight x pool x 32 < 2^128. */
#define HYDRA_POOL_LIMIT   ((int64_t)1 << 24) /* ranks */
#define HYDRA_DOCS_LIMIT   (((int64_t)1 << 31) - 1)
#define HYDRA_LENGTH_LIMIT ((int64_t)1 << 40) /* tokens of one document */
#define HYDRA_TOKENS_LIMIT ((int64_t)1 << 56) /* tokens of a batch */
#define HYDRA_STAGES_LIMIT 4096 /* stages x chunks: predictions walk through every one of every microbatch */

/* Attention weight: s*s causal, 2*s*s full, twice the attended pairs for any other mask. Lengths reach 2^40. */
typedef unsigned __int128 hydra_weight;

struct hydra_batch {
    int64_t pool;                      /* G */
    int64_t ndocs;                     /* N */
    const int64_t *lengths;            /* [ndocs], borrowed */
    const Hydra_Plan_options *options; /* from hydra_options_resolve: no default is left, borrowed */
    const struct hydra_cost *cost;     /* integer cost model (plan/cost.h), NULL when unknown */
};

/* Weight of document i. */
hydra_weight hydra_batch_weight(const struct hydra_batch *batch, int64_t i);

/* Attended pairs of one document of length s under a mask, doubled as the weight is. */
hydra_weight hydra_mask_weight(int mask, int64_t window, int64_t sink, int64_t s);

/* Degrees a pool offers, ascending: 1, 2, 4, ... <= G, and G itself. degrees [out] up to 64; returns how many. */
int hydra_pool_degrees(int64_t pool, int64_t degrees[64]);

/* Least degree of the pool that is >= x, for x <= pool; the pool's greatest for a greater x. */
int64_t hydra_degree_ceil(int64_t pool, int64_t x);

/* Greatest degree of the pool that is <= x, for x >= 1. */
int64_t hydra_degree_floor(int64_t pool, int64_t x);

/* Least degree whose ranks hold s tokens within the budget: at least min_degree. The caller knows
 * that max_degree does. */
int64_t hydra_degree_for_memory(const struct hydra_batch *batch, int64_t s);

/* Most tokens that a group of `size` slots may hold: budget x size, at most HYDRA_TOKENS_LIMIT. */
int64_t hydra_group_room(const struct hydra_batch *batch, int64_t size);

/**
 * Check the caller's options against pool and fill defaults in: policy resolved (never DEFAULT), budget a multiple of
 * align, min_degree and max_degree degrees of the pool (rounded inwards), kv_heads set, cost and pairs as given.
 * Returns HYDRA_ERR_ARG naming the field and its value, HYDRA_ERR_UNSUPPORTED for a struct of a newer version.
 */
int hydra_options_resolve(int64_t pool, const Hydra_Plan_options *options, Hydra_Plan_options *resolved);

/**
 * Check the documents of a batch: lengths (and pairs) in range, sums representable, each holdable by max_degree ranks.
 * Returns HYDRA_ERR_ARG, HYDRA_ERR_OVERFLOW, HYDRA_ERR_INFEASIBLE; the detail names the document.
 */
int hydra_batch_check(const struct hydra_batch *batch);

#endif
