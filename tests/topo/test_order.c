/* test_order.c: the slot order straddles no more than it must, closes neighbours up, and depends on places alone. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/random.h"
#include "tests/tap.h"
#include "topo/place.h"

enum { MOST = 64 };

struct pool {
    int64_t count;
    struct hydra_place places[MOST];
    int64_t rank_of_slot[MOST];
};

static bool order(struct pool *pool)
{
    bool good =
        TAP_CHECK(hydra_place_number_nodes(pool->count, pool->places) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    bool seen[MOST] = {false};

    good &= TAP_CHECK(hydra_place_order(pool->count, pool->places, pool->rank_of_slot) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    for (int64_t slot = 0; good && slot < pool->count; slot++) {
        int64_t rank = pool->rank_of_slot[slot];

        good &= TAP_CHECK(rank >= 0 && rank < pool->count && !seen[rank], "slot %d has rank %d", (int)slot, (int)rank);
        seen[rank] = good;
    }
    return good;
}

/* Ranks on a synthetic machine; then the straddling chunks of every level. */
static bool straddles(const char *machine, int64_t count, const int64_t expected[])
{
    struct pool pool = {.count = count};
    bool good =
        TAP_CHECK(hydra_place_synthetic(machine, count, pool.places) == HYDRA_SUCCESS, "%s", hydra_error_detail());

    good = good && order(&pool);
    for (int level = 0; good && (int64_t)1 << level <= count; level++) {
        int64_t found = hydra_place_straddling(count, pool.places, pool.rank_of_slot, level);

        good &= TAP_CHECK(found == expected[level], "%s, %d ranks: %d chunks of level %d straddle, not %d", machine,
                          (int)count, (int)found, level, (int)expected[level]);
    }
    return good;
}

static void known_machines(void)
{
    static const int64_t zero[8] = {0};

    tap_result(straddles("2*[core:8 pu:1]/round-robin", 16, (int64_t[]){0, 0, 0, 0, 1}),
               "a round-robin launch on 8-rank nodes is undone: only the chunk of all ranks straddles");
    tap_result(straddles("4*[pu:4]/round-robin", 16, (int64_t[]){0, 0, 0, 2, 1}),
               "four nodes of four: levels 0 to 2 are clean");
    tap_result(straddles("1*[core:12 pu:1]", 12, zero), "12 ranks on a node are 8 + 4");
    tap_result(straddles("2*[core:12 pu:1]/round-robin", 24, (int64_t[]){0, 0, 0, 1, 1}),
               "two nodes of 12 are 8, 8 and two halves of a chunk");
    tap_result(straddles("2*[core:6 pu:1]", 12, (int64_t[]){0, 0, 1, 1}),
               "two nodes of 6: one chunk of 4 cannot be clean");
    tap_result(straddles("1*[pu:12]+1*[pu:4]/round-robin", 16, (int64_t[]){0, 0, 0, 1, 1}),
               "nodes of 12 and 4 leave the chunks of 4 clean");
}

/* Fewest straddling chunks of one level that any slot order has, by trying every way to fill slots from nodes. */
static int64_t least_straddling(int64_t slots, int64_t left[], int nodes, int level)
{
    int64_t size = (int64_t)1 << level, straddling = slots / size;
    int64_t best = straddling;

    /* Chunks that one node fills, taken from any node, in any number. */
    for (int node = 0; node < nodes; node++)
        if (left[node] >= size && slots >= size) {
            int64_t rest;

            left[node] -= size;
            rest = least_straddling(slots - size, left, nodes, level);
            left[node] += size;
            best = hydra_min(best, rest);
        }
    return best;
}

/* Every split of up to 12 ranks over up to 4 nodes, launched at random. */
static bool small_pools(void)
{
    struct hydra_random random = hydra_random_seed(20);
    bool good = true;
    int pools = 0;

    for (int code = 0; good && code < 13 * 13 * 13 * 13; code++) {
        int64_t ranks[4] = {code % 13, code / 13 % 13, code / 169 % 13, code / 2197};
        struct pool pool = {.count = ranks[0] + ranks[1] + ranks[2] + ranks[3]};
        int64_t left[4];

        if (pool.count == 0 || pool.count > 12)
            continue;
        memcpy(left, ranks, sizeof left);
        for (int64_t rank = 0; rank < pool.count; rank++) {
            int64_t node;

            do
                node = hydra_random_below(&random, 4);
            while (left[node] == 0);
            left[node]--;
            pool.places[rank] =
                (struct hydra_place){.node = 1000 - node, .package = -1, .numa = -1, .gpu = -1, .core = -1};
        }
        good = order(&pool);
        for (int level = 0; good && (int64_t)1 << level <= pool.count; level++) {
            int64_t found = hydra_place_straddling(pool.count, pool.places, pool.rank_of_slot, level);
            int64_t least = least_straddling(pool.count, ranks, 4, level);

            good &=
                TAP_CHECK(found == least, "nodes of %d %d %d %d: %d chunks of level %d straddle, %d could",
                          (int)ranks[0], (int)ranks[1], (int)ranks[2], (int)ranks[3], (int)found, level, (int)least);
        }
        pools++;
    }
    return good & TAP_CHECK(pools == 1819, "%d pools", pools);
}

/* The search above counts chunks; this one tries real slot orders: every distinct arrangement of nodes over 8 slots. */
static int64_t least_by_orders(int64_t slots, int64_t at, int64_t left[], int nodes, int64_t on[], int level)
{
    int64_t best = INT64_MAX;

    if (at == slots) {
        int64_t size = (int64_t)1 << level, straddling = 0;

        for (int64_t first = 0; first + size <= slots; first += size) {
            bool mixed = false;

            for (int64_t slot = first + 1; slot < first + size; slot++)
                mixed |= on[slot] != on[first];
            straddling += mixed;
        }
        return straddling;
    }
    for (int node = 0; node < nodes; node++)
        if (left[node] > 0) {
            left[node]--;
            on[at] = node;
            best = hydra_min(best, least_by_orders(slots, at + 1, left, nodes, on, level));
            left[node]++;
        }
    return best;
}

static bool search_agrees(void)
{
    bool good = true;

    for (int64_t a = 0; a <= 8; a++)
        for (int64_t b = 0; a + b <= 8; b++)
            for (int level = 1; level <= 3; level++) {
                int64_t left[3] = {a, b, 8 - a - b}, on[8];
                int64_t orders = least_by_orders(8, 0, left, 3, on, level),
                        chunks = least_straddling(8, left, 3, level);

                good &= TAP_CHECK(orders == chunks, "nodes of %d %d %d, level %d: %d by orders, %d by chunks", (int)a,
                                  (int)b, (int)(8 - a - b), level, (int)orders, (int)chunks);
            }
    return good;
}

/* The launch order does not matter: shuffled ranks give the same places slot by slot, whole nodes swapped at most. */
static bool launch_order_is_undone(uint64_t seed)
{
    struct hydra_random random = hydra_random_seed(seed);
    struct pool block = {.count = 24}, shuffled = {.count = 24};
    bool good = hydra_place_synthetic("3*[package:2 numa:1 core:4 pu:1]", 24, block.places) == HYDRA_SUCCESS;

    memcpy(shuffled.places, block.places, sizeof block.places);
    for (int64_t i = 23; i > 0; i--) {
        int64_t j = hydra_random_below(&random, i + 1);
        struct hydra_place swap = shuffled.places[i];

        shuffled.places[i] = shuffled.places[j];
        shuffled.places[j] = swap;
    }
    good = good && order(&block) && order(&shuffled);
    for (int64_t slot = 0; good && slot < 24; slot++) {
        const struct hydra_place *a = &block.places[block.rank_of_slot[slot]];
        const struct hydra_place *b = &shuffled.places[shuffled.rank_of_slot[slot]];

        /* Nodes are numbered by their least rank, so they may be swapped; the rest must be the same. */
        good &= TAP_CHECK(a->package == b->package && a->core == b->core, "slot %d, seed %d", (int)slot, (int)seed);
    }
    return good;
}

/* Inside nodes too: chunks of a level straddle packages only where the packages' counts force them to. */
static bool packages_are_kept(void)
{
    struct pool pool = {.count = 24};
    bool good =
        TAP_CHECK(hydra_place_synthetic("2*[package:2 core:6 pu:1]/round-robin", 24, pool.places) == HYDRA_SUCCESS,
                  "%s", hydra_error_detail());
    int64_t clean[4] = {0};

    good = good && order(&pool);
    for (int level = 0; level < 4; level++)
        for (int64_t first = 0; first + ((int64_t)1 << level) <= 24; first += (int64_t)1 << level) {
            bool mixed = false;

            for (int64_t slot = first; slot < first + ((int64_t)1 << level); slot++) {
                const struct hydra_place *here = &pool.places[pool.rank_of_slot[slot]];
                const struct hydra_place *there = &pool.places[pool.rank_of_slot[first]];

                mixed |= here->node != there->node || here->package != there->package;
            }
            clean[level] += !mixed;
        }
    /* 4 packages of 6 = 4 + 2: 12 pairs and 4 fours lie inside one package, at most. */
    return good & TAP_CHECK(clean[1] == 12 && clean[2] == 4 && clean[3] == 0, "clean: %d pairs, %d fours, %d eights",
                            (int)clean[1], (int)clean[2], (int)clean[3]);
}

static bool bad_machine(const char *text, const char *word)
{
    struct hydra_place places[4];
    int status = hydra_place_synthetic(text, 4, places);

    return TAP_CHECK(status == HYDRA_ERR_FORMAT, "'%s' gives status %d", text, status) &&
           TAP_CHECK(strstr(hydra_error_detail(), word) != NULL, "'%s' does not say %s", hydra_error_detail(), word);
}

static bool bad_machines(void)
{
    return bad_machine("", "MACHINES*") && bad_machine("core:6", "MACHINES*") && bad_machine("0*[pu:1]", "0") &&
           bad_machine("2*[pu:1", "MACHINES*") && bad_machine("2*[cow:1]", "cow:1") &&
           bad_machine("2*[pu:1]/upside-down", "/upside-down") && bad_machine("2*[pu:1]+", "MACHINES*") &&
           bad_machine("99999999999*[pu:1]", "99999999999") && bad_machine("2x[pu:1]", "MACHINES*");
}

/* More ranks than PUs: the machine is filled again. */
static bool crowded(void)
{
    struct pool pool = {.count = 10};
    int64_t on[2] = {0};
    bool good =
        TAP_CHECK(hydra_place_synthetic("2*[pu:2]", 10, pool.places) == HYDRA_SUCCESS, "%s", hydra_error_detail());

    for (int i = 0; good && i < 10; i++)
        on[pool.places[i].node]++;
    return good && TAP_CHECK(on[0] == 6 && on[1] == 4, "%d and %d", (int)on[0], (int)on[1]) && order(&pool);
}

static bool locate(void)
{
    struct hydra_place quick, full;
    bool good = TAP_CHECK(hydra_place_locate(false, &quick) == HYDRA_SUCCESS, "%s", hydra_error_detail());

    good &= TAP_CHECK(hydra_place_locate(true, &full) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    return good & TAP_CHECK(full.package >= -1 && full.numa >= -1 && full.core >= -1, "package %d", (int)full.package);
}

int main(void)
{
    bool undone = true;

    known_machines();
    tap_result(small_pools(), "up to 12 ranks on up to 4 nodes straddle as little as an exhaustive search can");
    tap_result(search_agrees(), "that search agrees with trying every slot order of 8 ranks on 3 nodes");
    for (uint64_t seed = 1; seed <= 20; seed++)
        undone &= launch_order_is_undone(seed);
    tap_result(undone, "the launch order changes at most which node comes first");
    tap_result(packages_are_kept(), "inside nodes the same holds for packages");
    tap_result(crowded(), "more ranks than PUs start over");
    tap_result(bad_machines(), "a bad machine is quoted");
    tap_result(locate(), "this process finds its place");
    return tap_done();
}
