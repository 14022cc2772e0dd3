/* memory.h: what Megatron-Core's two rules share: demands by memory alone, longest first, padding. Pure. */
#ifndef HYDRA_PLAN_MEMORY_H
#define HYDRA_PLAN_MEMORY_H

#include "plan/batch.h"

/* A document as those rules see it. */
struct hydra_demand {
    int64_t id;
    int64_t tokens; /* padded when the options say so */
    int64_t degree; /* least that holds the tokens, at least min_degree */
    hydra_weight weight;
};

/* Documents by tokens, most first (ties: lower id). demands [out] hydra_free. HYDRA_ERR_INFEASIBLE when padding makes a
 * document too long for the pool, or longer than a document may be. */
int hydra_demands_make(const struct hydra_batch *batch, struct hydra_demand **demands);

/* Tokens that Megatron-Core computes for a document of s: the next multiple of 2 x dp x cp (x tp),
 * dp x cp = the pool. */
int64_t hydra_padded_tokens(int64_t pool, int64_t tensor_parallel, int64_t s);

#endif
