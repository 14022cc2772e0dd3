/* order.c: the slot order: no chunk straddles that need not.
 *
 * A node with c ranks is cut into power-of-two parts, the binary digits of c (12 = 8 + 4); the parts of all nodes are
 * laid out by falling size. Then every part starts at a multiple of its size, so node i fills floor(c_i / 2^L) whole
 * chunks of level L by itself. No order can do better, at any level: a chunk that does not straddle takes 2^L ranks of
 * one node. The same rule inside each node orders packages, inside those NUMA nodes, and so on: cutting an ordered list
 * into the binary digits of its length cuts none of its whole chunks.
 */
#include "topo/place.h"

#include <stdlib.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

/* A run of equal-field ranks cut to one power of two: [begin, begin + size) of the list being ordered. */
struct part {
    int64_t begin;
    int64_t size;
    int64_t child; /* order among parts of one size */
};

struct order {
    const struct hydra_place *places;
    int64_t *ranks;     /* the list, ordered in place */
    int64_t *scratch;   /* [count] */
    struct part *parts; /* [count] */
};

static int64_t field(const struct hydra_place *place, int depth)
{
    switch (depth) {
    case 0:
        return place->node;
    case 1:
        return place->package;
    case 2:
        return place->numa;
    case 3:
        return place->gpu;
    default:
        return place->core;
    }
}

struct keyed {
    int64_t key[HYDRA_PLACE_FIELDS];
    int64_t rank;
};

static int by_place(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    for (int depth = 0; depth < HYDRA_PLACE_FIELDS; depth++)
        if (x->key[depth] != y->key[depth])
            return x->key[depth] < y->key[depth] ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_falling_size(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->child > y->child) - (x->child < y->child);
}

/* End of the run of ranks from `from` that share the field of depth. */
static int64_t run_end(const struct order *order, int64_t from, int64_t end, int depth)
{
    int64_t value = field(&order->places[order->ranks[from]], depth);
    int64_t to = from + 1;

    while (to < end && field(&order->places[order->ranks[to]], depth) == value)
        to++;
    return to;
}

/* Order ranks[begin, end), which share every field above depth. */
static void order_run(struct order *order, int64_t begin, int64_t end, int depth)
{
    int64_t nparts = 0, child = 0, at = begin;

    if (depth == HYDRA_PLACE_FIELDS)
        return;
    /* Children first: they use the same scratch. */
    for (int64_t from = begin, to; from < end; from = to) {
        to = run_end(order, from, end, depth);
        order_run(order, from, to, depth + 1);
    }
    for (int64_t from = begin, to; from < end; from = to, child++) {
        to = run_end(order, from, end, depth);
        for (int64_t cut = from; cut < to; nparts++) {
            order->parts[nparts] = (struct part){.begin = cut, .size = hydra_pow2_floor(to - cut), .child = child};
            cut += order->parts[nparts].size;
        }
    }
    qsort(order->parts, (size_t)nparts, sizeof *order->parts, by_falling_size);
    for (int64_t p = 0; p < nparts; p++)
        for (int64_t i = 0; i < order->parts[p].size; i++)
            order->scratch[at++] = order->ranks[order->parts[p].begin + i];
    for (int64_t i = begin; i < end; i++)
        order->ranks[i] = order->scratch[i];
}

int hydra_place_order(int64_t count, const struct hydra_place *places, int64_t *rank_of_slot)
{
    struct order order = {.places = places, .ranks = rank_of_slot};
    struct keyed *sorted = hydra_alloc(count, sizeof *sorted);
    int status = HYDRA_SUCCESS;

    order.scratch = hydra_alloc(count, sizeof *order.scratch);
    order.parts = hydra_alloc(count, sizeof *order.parts);
    HYDRA_REQUIRE(sorted != NULL && order.scratch != NULL && order.parts != NULL, HYDRA_ERR_NOMEM,
                  "the slot order of %lld ranks", (long long)count);
    for (int64_t rank = 0; rank < count; rank++) {
        sorted[rank].rank = rank;
        for (int depth = 0; depth < HYDRA_PLACE_FIELDS; depth++)
            sorted[rank].key[depth] = field(&places[rank], depth);
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_place);
    for (int64_t slot = 0; slot < count; slot++)
        rank_of_slot[slot] = sorted[slot].rank;
    order_run(&order, 0, count, 0);

fail:
    hydra_free(sorted);
    hydra_free(order.scratch);
    hydra_free(order.parts);
    return status;
}

struct numbered {
    int64_t node;
    int64_t rank;
};

static int by_node(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

int hydra_place_number_nodes(int64_t count, struct hydra_place *places)
{
    struct numbered *sorted = hydra_alloc(count, sizeof *sorted);
    int64_t nodes = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(sorted != NULL, HYDRA_ERR_NOMEM, "the nodes of %lld ranks", (long long)count);
    for (int64_t rank = 0; rank < count; rank++)
        sorted[rank] = (struct numbered){places[rank].node, rank};
    qsort(sorted, (size_t)count, sizeof *sorted, by_node);
    /* First every rank's node becomes its least rank, then those are counted off in rank order. */
    for (int64_t i = 0, least = 0; i < count; i++) {
        least = i > 0 && sorted[i].node == sorted[i - 1].node ? least : sorted[i].rank;
        places[sorted[i].rank].node = least;
    }
    for (int64_t rank = 0; rank < count; rank++)
        places[rank].node = places[rank].node == rank ? nodes++ : places[places[rank].node].node;

fail:
    hydra_free(sorted);
    return status;
}

bool hydra_place_straddles(const struct hydra_place *places, const int64_t *rank_of_slot, int64_t first, int64_t size)
{
    for (int64_t slot = first + 1; slot < first + size; slot++)
        if (places[rank_of_slot[slot]].node != places[rank_of_slot[first]].node)
            return true;
    return false;
}

int64_t hydra_place_straddling(int64_t count, const struct hydra_place *places, const int64_t *rank_of_slot, int level)
{
    int64_t size = (int64_t)1 << level, straddling = 0;

    for (int64_t first = 0; first + size <= count; first += size)
        straddling += hydra_place_straddles(places, rank_of_slot, first, size);
    return straddling;
}
