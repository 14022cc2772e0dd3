/* options.c: the caller's plan options, checked field by field, defaults filled in. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "plan/batch.h"
#include "plan/policy.h"

/* One field must lie in low..high. */
static int in_range(const char *field, int64_t value, int64_t low, int64_t high)
{
    if (value >= low && value <= high)
        return HYDRA_SUCCESS;
    if (high == INT64_MAX)
        return hydra_error(HYDRA_ERR_ARG, "options: %s is %" PRId64 ", must be at least %" PRId64, field, value, low);
    return hydra_error(HYDRA_ERR_ARG, "options: %s is %" PRId64 ", must be %" PRId64 " .. %" PRId64, field, value, low,
                       high);
}

static int number_in_range(const char *field, double value, double high)
{
    if (value >= 0 && value <= high && !isinf(value)) /* false for NaN */
        return HYDRA_SUCCESS;
    return hydra_error(HYDRA_ERR_ARG, "options: %s is %g, must be a number of at least 0%s", field, value,
                       high == 1 ? " and at most 1" : "");
}

static int check_cost(const Hydra_Cost *cost)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(cost->size == sizeof *cost, HYDRA_ERR_ARG, "cost: size is %zu, start from HYDRA_COST_INIT",
                  cost->size);
#define NUMBER(field, high) HYDRA_TRY(number_in_range("cost." #field, cost->field, high))
    NUMBER(theta, HUGE_VAL);
    NUMBER(phi, HUGE_VAL);
    NUMBER(fixed, HUGE_VAL);
    NUMBER(backward_compute, HUGE_VAL);
    NUMBER(backward_comm, HUGE_VAL);
    NUMBER(intra_bandwidth, HUGE_VAL);
    NUMBER(inter_bandwidth, HUGE_VAL);
    NUMBER(intra_latency, HUGE_VAL);
    NUMBER(inter_latency, HUGE_VAL);
    NUMBER(a2a_bytes_per_token, HUGE_VAL);
    NUMBER(ring_bytes_per_token, HUGE_VAL);
    NUMBER(a2a_exposed, 1);
    NUMBER(ring_overlap, 1);
#undef NUMBER
    HYDRA_TRY(in_range("cost.node_slots", cost->node_slots, 0, INT64_MAX));

fail:
    return status;
}

static int check_model(const Hydra_Plan_options *o)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(in_range("mask", o->mask, HYDRA_MASK_CAUSAL, HYDRA_MASK_WINDOW));
    if (o->mask == HYDRA_MASK_WINDOW)
        HYDRA_TRY(in_range("window", o->window, 1, INT64_MAX));
    HYDRA_TRY(in_range("sink", o->sink, 0, INT64_MAX));
    HYDRA_TRY(in_range("heads", o->heads, 0, INT32_MAX));
    HYDRA_TRY(in_range("kv_heads", o->kv_heads, 0, o->heads));
    HYDRA_TRY(in_range("factor", o->factor, HYDRA_FACTOR_COST, INT32_MAX));
    HYDRA_TRY(in_range("pipeline_stages", o->pipeline_stages, 1, INT32_MAX));
    HYDRA_TRY(in_range("pipeline_chunks", o->pipeline_chunks, 1, INT32_MAX));
    HYDRA_REQUIRE((int64_t)o->pipeline_stages * o->pipeline_chunks <= HYDRA_STAGES_LIMIT, HYDRA_ERR_ARG,
                  "options: pipeline_stages %d x pipeline_chunks %d exceeds %d", o->pipeline_stages, o->pipeline_chunks,
                  HYDRA_STAGES_LIMIT);
    HYDRA_TRY(in_range("tensor_parallel", o->tensor_parallel, 1, INT32_MAX));
    HYDRA_TRY(in_range("expert_parallel", o->expert_parallel, 0, INT32_MAX));
    HYDRA_TRY(number_in_range("theta_over_c", o->theta_over_c, HUGE_VAL));
    if (o->cost != NULL)
        HYDRA_TRY(check_cost(o->cost));

fail:
    return status;
}

static int check_planner(int64_t pool, const Hydra_Plan_options *o)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(in_range("budget", o->budget, 1, INT64_MAX));
    HYDRA_TRY(in_range("align", o->align, 1, INT64_MAX));
    HYDRA_REQUIRE(o->align <= o->budget, HYDRA_ERR_ARG, "options: align %" PRId64 " is greater than budget %" PRId64,
                  o->align, o->budget);
    HYDRA_TRY(in_range("min_degree", o->min_degree, 1, pool));
    HYDRA_TRY(in_range("max_degree", o->max_degree, 0, pool));
    HYDRA_TRY(in_range("cap", o->cap, HYDRA_CAP_BALANCED, HYDRA_CAP_PAPER));
    HYDRA_TRY(in_range("skip", o->skip, 0, 1));
    HYDRA_TRY(in_range("padding", o->padding, 0, 1));
    HYDRA_TRY(in_range("static_transport", o->static_transport, 0, 2));
    HYDRA_TRY(in_range("threads", o->threads, 1, INT32_MAX));

fail:
    return status;
}

int hydra_options_resolve(int64_t pool, const Hydra_Plan_options *options, Hydra_Plan_options *resolved)
{
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(in_range("pool", pool, 1, HYDRA_POOL_LIMIT));
    HYDRA_REQUIRE(options != NULL, HYDRA_ERR_ARG, "options is NULL (the budget is required)");
    HYDRA_REQUIRE(options->size > 0 && options->size <= sizeof o, HYDRA_ERR_UNSUPPORTED,
                  "options: size is %zu, this library knows %zu: start from HYDRA_PLAN_OPTIONS_INIT", options->size,
                  sizeof o);
    memcpy(&o, options, options->size); /* fields that an older caller does not know keep their defaults */
    o.size = sizeof o;
    HYDRA_TRY(check_model(&o));
    HYDRA_TRY(check_planner(pool, &o));
    o.budget -= o.budget % o.align;
    o.min_degree = hydra_degree_ceil(pool, o.min_degree);
    o.max_degree = o.max_degree == 0 ? pool : hydra_degree_floor(pool, o.max_degree);
    HYDRA_REQUIRE(o.min_degree <= o.max_degree, HYDRA_ERR_ARG,
                  "options: no degree of a pool of %" PRId64 " lies in min_degree %" PRId64 " .. max_degree %" PRId64,
                  pool, options->min_degree, options->max_degree);
    if (o.kv_heads == 0)
        o.kv_heads = o.heads;
    if (o.policy == HYDRA_POLICY_DEFAULT)
        o.policy =
            o.cost != NULL && hydra_policy_find(HYDRA_POLICY_AUTO) != NULL ? HYDRA_POLICY_AUTO : HYDRA_POLICY_LOAD;
    HYDRA_REQUIRE(hydra_policy_find(o.policy) != NULL, HYDRA_ERR_ARG, "options: policy %d is unknown", o.policy);
    *resolved = o;

fail:
    return status;
}
