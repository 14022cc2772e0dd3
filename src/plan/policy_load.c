/* policy_load.c: HyDra: one load target for the iteration, piggyback packing in descending order, lazy heaps.
 *
 * The plan is that of the linear scan in policy_load_scan.c, document by document; this file is the O(N log G) way to it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/memory.h"
#include "base/sort.h"
#include "plan/interleave.h"
#include "plan/layout.h"
#include "plan/policy.h"
#include "plan/targets.h"

enum { NUMBER_BITS = 24 /* of HYDRA_POOL_LIMIT */, CLASSES = 32 };
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)

/* Open groups of one size in the current microbatch. */
struct size_class {
    int64_t size;
    hydra_weight most; /* weight that the load target allows a group */
    int64_t room;      /* tokens that a new group holds */
    int shift;         /* weight << shift compares loads of different sizes */
    int64_t begin;     /* number of its first group: its part of the heaps' arrays */
    int64_t nlight;
    int64_t nspent;
    bool heaped;       /* light is in heap order: it is built when first asked; most groups have opened by then */
};

struct document {
    uint64_t rank; /* place in the order of (degree, weight); equal ones share it */
    int64_t id;
    int64_t s;
    hydra_weight w;
    int class; /* its degree */
};

struct packer {
    const struct hydra_batch *batch;
    struct hydra_draft *draft;
    struct hydra_targets targets;
    uint64_t *sorted; /* [ndocs] rank << id_bits | id, ascending; those still to place are at begin.. */
    int id_bits;
    int64_t longest;      /* rank is longest - length; -1: ranks are dense */
    int number_bits;      /* of a group's number below its weight */
    uint64_t number_mask;
    struct size_class classes[CLASSES];
    int nclasses;
    int64_t ngroups;      /* of the current microbatch */
    int64_t next_slot;    /* slots from here on are free */
    uint8_t *class_of;    /* [G] of each group of the current microbatch */
    int64_t steps;        /* heap steps of the whole plan */
};

HYDRA_HEAP(narrow_light, uint64_t)   /* weight of a group, then its number: least first */
HYDRA_HEAP(wide_light, hydra_weight)
HYDRA_HEAP(spent, uint64_t) /* complement of (room, number): most room first */

/* What the order is made of when weight does not follow length, or length and id share no word. */
struct ordered {
    int64_t degree;
    hydra_weight weight;
    int64_t id;
};

static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    if (a->degree != b->degree)
        return a->degree > b->degree ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Sort by degree and weight themselves and number the distinct ones. */
static int order_by_weight(struct packer *p, uint64_t *words)
{
    const struct hydra_batch *batch = p->batch;
    struct ordered *documents = hydra_alloc(batch->ndocs, sizeof *documents);
    uint64_t rank = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(documents != NULL, HYDRA_ERR_NOMEM, "order of %" PRId64 " documents", batch->ndocs);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        hydra_weight w = hydra_batch_weight(batch, i);

        documents[i] = (struct ordered){hydra_targets_degree(batch, &p->targets, batch->lengths[i], w), w, i};
    }
    qsort(documents, (size_t)batch->ndocs, sizeof *documents, compare_ordered);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        rank += i > 0 && (documents[i].degree != documents[i - 1].degree || documents[i].weight != documents[i - 1].weight);
        words[i] = rank << p->id_bits | (uint64_t)documents[i].id;
    }
    p->longest = -1;
    p->sorted = words;

fail:
    hydra_free(documents);
    return status;
}

/* Longest first: weight and degree follow the length. words, scratch [in,out] [ndocs]. */
static int order_documents(struct packer *p, uint64_t *words, uint64_t *scratch)
{
    const struct hydra_batch *batch = p->batch;

    p->id_bits = batch->ndocs <= 1 ? 0 : hydra_log2_floor((uint64_t)batch->ndocs - 1) + 1;
    p->longest = 0;
    for (int64_t i = 0; i < batch->ndocs; i++)
        p->longest = hydra_max(p->longest, batch->lengths[i]);
    if (batch->options->pairs != NULL || (p->longest > 0 && hydra_log2_floor((uint64_t)p->longest) + 1 + p->id_bits > 64))
        return order_by_weight(p, words);
    for (int64_t i = 0; i < batch->ndocs; i++)
        words[i] = (uint64_t)(p->longest - batch->lengths[i]) << p->id_bits | (uint64_t)i;
    p->sorted = hydra_radix_sort(words, scratch, batch->ndocs, p->id_bits);
    return HYDRA_SUCCESS;
}

static void make_classes(struct packer *p)
{
    int64_t degrees[64];

    p->nclasses = hydra_pool_degrees(p->batch->pool, degrees);
    for (int c = 0; c < p->nclasses; c++)
        p->classes[c] = (struct size_class){.size = degrees[c],
                                            .most = hydra_targets_group_weight(&p->targets, degrees[c]),
                                            .room = hydra_group_room(p->batch, degrees[c]),
                                            .shift = NUMBER_BITS - hydra_log2_floor((uint64_t)degrees[c])};
}

/* The document at `at`. document [in,out] holds the one before, whose length, weight and degree it often shares. */
static inline void read_document(const struct packer *p, int64_t at, struct document *document)
{
    const struct hydra_batch *batch = p->batch;
    uint64_t rank = p->sorted[at] >> p->id_bits;
    int64_t degree;

    document->id = (int64_t)(p->sorted[at] ^ rank << p->id_bits);
    if (rank == document->rank && p->longest >= 0)
        return;
    document->rank = rank;
    document->s = p->longest >= 0 ? p->longest - (int64_t)rank : batch->lengths[document->id];
    document->w = hydra_batch_weight(batch, document->id);
    degree = hydra_targets_degree(batch, &p->targets, document->s, document->w);
    document->class = degree == batch->pool ? p->nclasses - 1 : hydra_log2_floor((uint64_t)degree);
}

static void open_microbatch(struct packer *p)
{
    p->ngroups = p->next_slot = 0;
    for (int c = 0; c < p->nclasses; c++)
        p->classes[c].nlight = p->classes[c].nspent = 0;
}

/* Groups go into the draft; idle slots go to the smallest of them. */
static int close_microbatch(struct packer *p, int64_t m)
{
    int64_t index;
    int status = HYDRA_SUCCESS;

    for (int64_t number = 0; number < p->ngroups; number++)
        HYDRA_TRY(hydra_draft_add_group(p->draft, m, 0, p->classes[p->class_of[number]].size, &index));
    hydra_layout_fill(p->batch, p->draft->groups + p->draft->ngroups - p->ngroups, p->ngroups);

fail:
    return status;
}

#define WEIGHT     uint64_t
#define NAME(name) narrow_##name
#include "plan/load_core.h"
#undef WEIGHT
#undef NAME

#define WEIGHT     hydra_weight
#define NAME(name) wide_##name
#include "plan/load_core.h"
#undef WEIGHT
#undef NAME

/* No group of a microbatch outweighs the heaviest document: the load target is heaviest / cap, and no group that is being
 * packed has more slots than the cap. So weight and number share a word when this does. */
static bool fits_a_word(const struct packer *p)
{
    return p->targets.heaviest >> (64 - p->number_bits) == 0;
}

int hydra_policy_load_counted(const struct hydra_batch *batch, struct hydra_draft *draft, int64_t *steps)
{
    struct packer p = {.batch = batch, .draft = draft};
    uint64_t *words = hydra_alloc(batch->ndocs, sizeof *words);
    uint64_t *scratch = hydra_alloc(batch->ndocs, sizeof *scratch);
    int status = HYDRA_SUCCESS;

    p.class_of = hydra_alloc(batch->pool, sizeof *p.class_of);
    HYDRA_REQUIRE(words != NULL && scratch != NULL && p.class_of != NULL, HYDRA_ERR_NOMEM,
                  "load policy: %" PRId64 " documents on %" PRId64 " slots", batch->ndocs, batch->pool);
    p.number_bits = hydra_log2_floor((uint64_t)batch->pool) + 1;
    p.number_mask = ((uint64_t)1 << p.number_bits) - 1;
    hydra_targets_derive(batch, &p.targets);
    make_classes(&p);
    HYDRA_TRY(order_documents(&p, words, scratch));
    HYDRA_TRY(fits_a_word(&p) ? narrow_pack_all(&p) : wide_pack_all(&p));
    HYDRA_TRY(hydra_plan_interleave(batch, draft));
    *steps = p.steps;

fail:
    hydra_free(words);
    hydra_free(scratch);
    hydra_free(p.class_of);
    return status;
}

int hydra_policy_load(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    int64_t steps;

    return hydra_policy_load_counted(batch, draft, &steps);
}
