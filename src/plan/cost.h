/* cost.h: load as time. Hydra_Cost (doubles, seconds) becomes a table of whole picoseconds, so that plans compare the
 * same everywhere. Planner, simulator and engine share the factor function. Pure. */
#ifndef HYDRA_PLAN_COST_H
#define HYDRA_PLAN_COST_H

#include <stdint.h>

#include "plan/batch.h"

/* Greatest time of one microbatch on one stage (75 minutes): longer ones count as this, so that
 * sums cannot overflow. */
#define HYDRA_TIME_MAX ((int64_t)1 << 52)

/* Picoseconds a unit: mantissa * 2^-shift. */
struct hydra_rate {
    uint32_t mantissa;
    int shift;
};

/* value * rate, rounded down, at most HYDRA_TIME_MAX; any value and rate. */
int64_t hydra_rate_apply_wide(struct hydra_rate rate, hydra_weight value);

/* The same; planners ask for millions of these, nearly all of them small. */
static inline int64_t hydra_rate_apply(struct hydra_rate rate, hydra_weight value)
{
    if (value >> 64 == 0 && (unsigned)rate.shift < 64) {
        hydra_weight product = (hydra_weight)(uint64_t)value * rate.mantissa;
        uint64_t high = (uint64_t)(product >> 64);
        uint64_t whole = (uint64_t)product >> rate.shift | high << 1 << (63 - rate.shift);

        return high >> rate.shift != 0 || whole > (uint64_t)HYDRA_TIME_MAX ? HYDRA_TIME_MAX : (int64_t)whole;
    }
    return hydra_rate_apply_wide(rate, value);
}

/* What a group of one size pays. */
struct hydra_cost_degree {
    int64_t size;               /* P */
    int64_t factor;             /* U */
    struct hydra_rate load;     /* a unit of load, with the surplus of uneven heads */
    struct hydra_rate hidden;   /* ring time that a unit of load hides */
    struct hydra_rate alltoall; /* exposed, a token */
    struct hydra_rate ring;     /* all steps, a token */
    int64_t alltoall_latency;   /* exposed, ps */
    int64_t ring_latency;       /* all steps, ps */
};

struct hydra_cost {
    int ndegrees;
    struct hydra_cost_degree degrees[64]; /* ascending: powers of two, and the pool */
    struct hydra_rate token;
    int64_t fixed; /* ps of a microbatch */
    struct hydra_rate backward_compute, backward_comm;
};

/* Exposed times of one microbatch on one rank, ps. */
struct hydra_cost_parts {
    int64_t compute; /* attention and everything per token */
    int64_t alltoall;
    int64_t ring; /* what attention does not hide */
    int64_t fixed;
};

/* Inner factor U of a group of `size` slots for `heads` query heads under `factor` (HYDRA_FACTOR_* or U, of which the
 * greatest divisor of size not above it is taken). Always divides size; 1 when heads is 0. cost may be NULL (then as
 * HYDRA_FACTOR_PAPER). HYDRA_FACTOR_COST compares at 4,096 tokens a rank of one document. */
int64_t hydra_factor_choose(const Hydra_Cost *cost, int factor, int heads, int kv_heads, int64_t size);

/* The integer model of a checked `model` for a pool under the options' heads and factor. */
void hydra_cost_make(const Hydra_Cost *model, const Hydra_Plan_options *options, int64_t pool, struct hydra_cost *cost);

/* Give groups of one size another factor than the options choose (a no-op when it is the one they have). */
void hydra_cost_set_factor(struct hydra_cost *cost, const Hydra_Cost *model, const Hydra_Plan_options *options,
                           int64_t size, int64_t factor);

/* A model for batches without one: time is load, scaled so that the batch's whole weight takes at most 2^44 ps. */
void hydra_cost_make_load(const struct hydra_batch *batch, struct hydra_cost *cost);

/* Forward parts of a group's rank that holds load w/P and t tokens. */
struct hydra_cost_parts hydra_cost_parts_of(const struct hydra_cost *cost, int64_t size, hydra_weight weight_per_rank,
                                            int64_t tokens_per_rank);

/* Forward time of a group's rank that holds load w/P and t tokens, picoseconds, under the integer model. */
int64_t hydra_cost_forward(const struct hydra_cost *cost, int64_t size, hydra_weight weight_per_rank,
                           int64_t tokens_per_rank);

/* Backward time of the same: backward_compute * (compute + fixed) + backward_comm * communication. */
int64_t hydra_cost_backward(const struct hydra_cost *cost, int64_t size, hydra_weight weight_per_rank,
                            int64_t tokens_per_rank);

/* ps a unit, exactly. */
double hydra_rate_value(struct hydra_rate rate);

/* Nearest rate to x >= 0 ps a unit, 31 bits of it. */
struct hydra_rate hydra_rate_of(double x);

#endif
