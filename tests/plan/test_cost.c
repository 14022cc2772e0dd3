/* test_cost.c: the integer cost model against the same formula in long doubles, and the factor of a group. */
#include <math.h>

#include "base/random.h"
#include "plan/cost.h"
#include "tests/tap.h"

/* A node of 8, 35% of the all-to-all exposed: the testbed of HyDra as ALGORITHMS section 9 models it. */
static Hydra_Cost testbed(void)
{
    Hydra_Cost cost = HYDRA_COST_INIT;

    cost.phi = 41e-6;
    cost.theta = 41e-6 / 24000;
    cost.fixed = 10e-3;
    cost.node_slots = 8;
    cost.intra_bandwidth = 330e9;
    cost.inter_bandwidth = 42e9;
    cost.a2a_bytes_per_token = 15 * 4 * 32768.0;
    cost.ring_bytes_per_token = 15 * 4 * 4096.0;
    cost.a2a_exposed = 0.35;
    return cost;
}

static void times_match_the_formula(void)
{
    bool good = true;

    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        Hydra_Cost model = HYDRA_COST_INIT;
        Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
        struct hydra_cost cost;
        int64_t tokens = hydra_random_below(&random, 100000);
        hydra_weight weight = (hydra_weight)tokens * (hydra_weight)hydra_random_below(&random, 1 << 20);

        model.theta = 1e-6 * pow(2, -20 * hydra_random_unit(&random));
        model.phi = 1e-4 * hydra_random_unit(&random);
        model.fixed = 1e-2 * hydra_random_unit(&random);
        hydra_cost_make(&model, &options, 64, &cost);

        long double compute =
            (long double)model.theta * (long double)weight + (long double)model.phi * (long double)tokens;
        long double seconds = compute + (long double)model.fixed;
        double forward = (double)hydra_cost_forward(&cost, 1, weight, tokens) * 1e-12;
        double backward = (double)hydra_cost_backward(&cost, 1, weight, tokens) * 1e-12;

        if (seconds > 4000)
            continue;
        good &= TAP_CHECK(fabs(forward - (double)seconds) <= 1e-8 * (double)seconds + 1e-11,
                          "seed %lu: %.15g, formula %.15Lg", (unsigned long)seed, forward, seconds);
        if (seconds < 2000)
            good &= TAP_CHECK(fabs(backward - 2 * (double)seconds) <= 1e-8 * (double)seconds + 1e-11,
                              "seed %lu: backward %.15g", (unsigned long)seed, backward);
    }
    tap_result(good, "forward is theta load + phi tokens + fixed, and backward twice that, to eight digits");
}

/* Degree 16 over two nodes of 8, U = 8: the all-to-all stays inside, the one ring step crosses. */
static void communication_takes_the_links_it_crosses(void)
{
    Hydra_Cost model = testbed();
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    struct hydra_cost cost;
    struct hydra_cost_parts parts;

    options.heads = 32;
    options.kv_heads = 8;
    options.factor = 8;
    hydra_cost_make(&model, &options, 64, &cost);
    parts = hydra_cost_parts_of(&cost, 16, 0, 1000);

    double alltoall = 0.35 * 1000 * model.a2a_bytes_per_token * 7 / 8 / 330e9 * 1e12;
    double ring = 1000 * model.ring_bytes_per_token / 42e9 * 1e12;
    bool good = TAP_CHECK(fabs((double)parts.alltoall / alltoall - 1) < 1e-6, "all-to-all %ld ps, expected %.0f",
                          (long)parts.alltoall, alltoall);

    good &= TAP_CHECK(fabs((double)parts.ring / ring - 1) < 1e-6, "ring %ld ps, expected %.0f", (long)parts.ring, ring);
    parts = hydra_cost_parts_of(&cost, 16, (hydra_weight)(ring / (model.theta * 1e12) / 2), 1000);
    good &= TAP_CHECK(fabs((double)parts.ring / ring - 0.5) < 1e-3, "half hidden leaves %ld of %.0f", (long)parts.ring,
                      ring);
    parts = hydra_cost_parts_of(&cost, 16, (hydra_weight)(ring / (model.theta * 1e12) * 2), 1000);
    good &= TAP_CHECK(parts.ring == 0, "attention twice as long leaves %ld", (long)parts.ring);
    tap_result(good, "the all-to-all stays in the node, the ring crosses it, and attention hides the ring");
}

static void the_factor_divides_and_stays_below_the_heads(void)
{
    Hydra_Cost model = testbed();
    const int factors[] = {HYDRA_FACTOR_PAPER, HYDRA_FACTOR_COST, 1, 2, 3, 4, 7, 8, 1000};
    bool good = true;

    for (int64_t size = 1; size <= 130; size++)
        for (int heads = 0; heads <= 40; heads++)
            for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
                int64_t u = hydra_factor_choose(f % 2 ? &model : NULL, factors[f], heads, 0, size);

                good &=
                    TAP_CHECK(u >= 1 && size % u == 0 && (u == 1 || u <= heads) && (factors[f] < 1 || u <= factors[f]),
                              "P %ld h %d factor %d: U %ld", (long)size, heads, factors[f], (long)u);
            }
    good &= TAP_CHECK(hydra_factor_choose(NULL, HYDRA_FACTOR_PAPER, 32, 8, 256) == 32, "paper: min(P, h)");
    good &= TAP_CHECK(hydra_factor_choose(NULL, HYDRA_FACTOR_PAPER, 40, 8, 96) == 32, "paper: any divisor");
    tap_result(good, "U divides the degree, whatever the pool, and never exceeds the heads or what was asked");
}

/* What ALGORITHMS section 8 reports of nodes of 8: P up to 8, then mostly 8. */
static void cost_keeps_the_all_to_all_inside_the_node(void)
{
    Hydra_Cost model = testbed();
    bool good = true;

    for (int64_t size = 1; size <= 64; size *= 2) {
        int64_t u = hydra_factor_choose(&model, HYDRA_FACTOR_COST, 64, 8, size);

        good &= TAP_CHECK(u == (size < 8 ? size : 8) || u < size, "P %ld: U %ld", (long)size, (long)u);
        good &= TAP_CHECK(u <= 8, "P %ld: U %ld leaves the node", (long)size, (long)u);
    }
    tap_result(good, "the cost factor keeps the all-to-all inside a node of 8");
}

static void huge_weights_saturate(void)
{
    Hydra_Cost model = testbed();
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    struct hydra_cost cost;
    bool good = true;

    hydra_cost_make(&model, &options, 3, &cost);
    for (int bits = 0; bits < 128; bits++) {
        int64_t forward = hydra_cost_forward(&cost, 3, (hydra_weight)1 << bits, (int64_t)1 << (bits / 3));

        good &= TAP_CHECK(forward >= cost.fixed && forward <= HYDRA_TIME_MAX, "2^%d: %ld ps", bits, (long)forward);
        good &= TAP_CHECK(bits < 60 || forward == HYDRA_TIME_MAX, "2^%d: %ld ps", bits, (long)forward);
    }
    tap_result(good, "weights up to 2^127 give times within bounds");
}

/* The short way through 64 bits is the long one through 128, also at the bounds. */
static void small_values_take_the_same_time(void)
{
    struct hydra_random random = hydra_random_seed(5);
    bool good = true;

    for (int i = 0; good && i < 200000; i++) {
        int bits = (int)hydra_random_below(&random, 100);
        hydra_weight value = ((hydra_weight)hydra_random_next(&random) << 64 | hydra_random_next(&random)) >> bits;
        struct hydra_rate rate = {(uint32_t)(hydra_random_next(&random) >> (33 + hydra_random_below(&random, 31))),
                                  (int)hydra_random_below(&random, 200) - 60};

        good = TAP_CHECK(hydra_rate_apply(rate, value) == hydra_rate_apply_wide(rate, value), "%lu 2^%d of 2^%d: %ld",
                         (unsigned long)rate.mantissa, -rate.shift, 128 - bits, (long)hydra_rate_apply(rate, value));
    }
    tap_result(good, "a small value times a rate is what 128-bit arithmetic makes of it");
}

int main(void)
{
    times_match_the_formula();
    communication_takes_the_links_it_crosses();
    the_factor_divides_and_stays_below_the_heads();
    cost_keeps_the_all_to_all_inside_the_node();
    huge_weights_saturate();
    small_values_take_the_same_time();
    return tap_done();
}
