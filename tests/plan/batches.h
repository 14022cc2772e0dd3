/* batches.h: random and hostile batches for the planner's tests, each from a seed that failures print. */
#ifndef HYDRA_TESTS_PLAN_BATCHES_H
#define HYDRA_TESTS_PLAN_BATCHES_H

#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/random.h"
#include "hydra_plan.h"

struct test_batch {
    uint64_t seed;
    int64_t pool;
    int64_t ndocs;
    int64_t *lengths;
    int64_t *pairs; /* NULL, or given to options.pairs */
    Hydra_Plan_options options;
};

/* A length of one of several kinds; some kinds make the whole batch of one sort. */
__attribute__((unused)) static int64_t draw_length(struct hydra_random *random, int kind, int64_t longest)
{
    switch (kind) {
    case 0: /* long tail: uniform in the logarithm */
        return hydra_random_below(
            random, hydra_max(2, (int64_t)1 << hydra_random_below(random, hydra_log2_floor((uint64_t)longest) + 1)));
    case 1:
        return hydra_random_below(random, longest + 1);
    case 2: /* all equal */
        return longest;
    case 3: /* ones only */
        return 1;
    case 4: /* zeros */
        return 0;
    case 5: /* few distinct lengths: many ties */
        return longest / (1 + hydra_random_below(random, 5));
    default: /* ones and giants */
        return hydra_random_below(random, 20) == 0 ? longest - hydra_random_below(random, hydra_max(1, longest / 8))
                                                   : 1;
    }
}

/* Everything about the batch follows from the seed. pool_limit: greatest pool; a third of the pools are no power of
 * two. */
__attribute__((unused)) static struct test_batch make_batch(uint64_t seed, int64_t pool_limit, int64_t docs_limit)
{
    static const int64_t budgets[] = {1, 7, 64, 512, 8192, (int64_t)1 << 36};
    struct hydra_random random = hydra_random_seed(seed);
    struct test_batch batch = {.seed = seed, .options = HYDRA_PLAN_OPTIONS_INIT};
    Hydra_Plan_options *o = &batch.options;
    int64_t longest, kind = hydra_random_below(&random, 7);

    batch.pool = hydra_random_below(&random, 3) == 0
                     ? 1 + hydra_random_below(&random, pool_limit)
                     : (int64_t)1 << hydra_random_below(&random, hydra_log2_floor((uint64_t)pool_limit) + 1);
    batch.ndocs = hydra_random_below(&random, docs_limit + 1);
    o->budget = budgets[hydra_random_below(&random, 6)];
    if (hydra_random_below(&random, 4) == 0)
        o->max_degree = 1 + hydra_random_below(&random, batch.pool);
    if (hydra_random_below(&random, 4) == 0)
        o->min_degree = 1 + hydra_random_below(&random, hydra_min(batch.pool, 8));
    if (o->max_degree != 0 && hydra_pow2_floor(o->max_degree) < hydra_pow2_ceil(o->min_degree))
        o->max_degree = o->min_degree = batch.pool;
    if (hydra_random_below(&random, 4) == 0)
        o->align = 1 + hydra_random_below(&random, hydra_min(o->budget, 16));
    o->mask = (int)hydra_random_below(&random, 3);
    o->window = 1 + hydra_random_below(&random, 3000);
    o->sink = hydra_random_below(&random, 100);
    o->heads = (int)hydra_random_below(&random, 17);
    o->kv_heads = o->heads / 2;
    o->cap = (int)hydra_random_below(&random, 2);
    o->skip = (int)hydra_random_below(&random, 2);
    o->pipeline_stages = 1 + (int)hydra_random_below(&random, 6);
    o->pipeline_chunks = 1 + (int)hydra_random_below(&random, 2);
    o->theta_over_c = hydra_random_below(&random, 3) == 0 ? 1e-8 : 0;
    longest = o->max_degree == 0 ? batch.pool : hydra_max(1, hydra_pow2_floor(o->max_degree));
    longest = hydra_min((int64_t)1 << 40, (o->budget - o->budget % o->align) * longest);
    longest = hydra_max(1, longest >> hydra_random_below(&random, 12));
    batch.lengths = calloc((size_t)batch.ndocs + 1, sizeof *batch.lengths);
    for (int64_t i = 0; i < batch.ndocs; i++)
        batch.lengths[i] = hydra_min(longest, draw_length(&random, (int)kind, longest));
    if (hydra_random_below(&random, 5) == 0 && longest < (int64_t)1 << 31) {
        batch.pairs = calloc((size_t)batch.ndocs + 1, sizeof *batch.pairs);
        for (int64_t i = 0; i < batch.ndocs; i++)
            batch.pairs[i] = hydra_random_below(&random, batch.lengths[i] * batch.lengths[i] + 1);
        o->pairs = batch.pairs;
    }
    return batch;
}

/* A cost model like the testbed's (doc/design.md): nodes of 8, 35% of the all-to-all exposed. */
__attribute__((unused)) static Hydra_Cost testbed_cost(void)
{
    Hydra_Cost cost = HYDRA_COST_INIT;

    cost.phi = 41e-6;
    cost.theta = 41e-6 / 24000;
    cost.fixed = 10e-3;
    cost.node_slots = 8;
    cost.intra_bandwidth = 330e9;
    cost.inter_bandwidth = 42e9;
    cost.a2a_bytes_per_token = 1e6;
    cost.ring_bytes_per_token = 6e4;
    cost.a2a_exposed = 0.35;
    return cost;
}

__attribute__((unused)) static void free_batch(struct test_batch *batch)
{
    free(batch->lengths);
    free(batch->pairs);
}

#endif
