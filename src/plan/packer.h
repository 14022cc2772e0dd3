/* packer.h: open groups in size classes, the ground of the policies that pack in descending order (load, memory).
 * Header only, so that each width of weight gets its own code. */
#ifndef HYDRA_PLAN_PACKER_H
#define HYDRA_PLAN_PACKER_H

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/memory.h"
#include "base/sort.h"
#include "plan/draft.h"
#include "plan/layout.h"

enum { NUMBER_BITS = 24 /* of HYDRA_POOL_LIMIT */, CLASSES = 32, CLASS_SLACK = 4 * CLASSES, RUN_LEAST = 64 };
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)

/* Open groups of one size in the current microbatch. */
struct size_class {
    int64_t size;
    hydra_weight most; /* weight that a group may have: all by default */
    int64_t room;      /* tokens that a new group holds */
    int shift;         /* weight << shift compares loads of different sizes */
    int64_t begin;     /* of its part of the keys' arrays */
    int64_t at, nrun;  /* run[at .. nrun) are left of the sorted keys */
    int64_t nlight;
    int64_t nspent;
    bool heaped; /* light is in heap order, not just its least first */
};

static inline bool hydra_class_empty(const struct size_class *class)
{
    return class->nrun - class->at + class->nlight + class->nspent == 0;
}

static inline void hydra_class_clear(struct size_class *class)
{
    class->at = class->nrun = class->nlight = class->nspent = 0;
    class->heaped = false;
}

struct document {
    int64_t id;
    int64_t s;
    hydra_weight w;
    int class; /* its degree */
};

struct packer {
    const struct hydra_batch *batch;
    struct hydra_draft *draft;
    int number_bits; /* of a group's number below its weight */
    uint64_t number_mask;
    struct size_class classes[CLASSES];
    int nclasses;
    int64_t ngroups;   /* of the current microbatch */
    int64_t next_slot; /* slots from here on are free */
    uint8_t *class_of; /* [G] of each group of the current microbatch */
    int64_t steps;     /* keys moved by a level or sorted, in the whole plan */
};

/* class_of is the packer's: hydra_packer_clear. */
static inline int hydra_packer_init(struct packer *p, const struct hydra_batch *batch, struct hydra_draft *draft)
{
    int64_t degrees[64];

    *p = (struct packer){.batch = batch, .draft = draft, .class_of = hydra_alloc(batch->pool, sizeof *p->class_of)};
    if (p->class_of == NULL)
        return hydra_error(HYDRA_ERR_NOMEM, "classes of %" PRId64 " slots", batch->pool);
    p->number_bits = hydra_log2_floor((uint64_t)batch->pool) + 1;
    p->number_mask = ((uint64_t)1 << p->number_bits) - 1;
    p->nclasses = hydra_pool_degrees(batch->pool, degrees);
    for (int c = 0; c < p->nclasses; c++)
        p->classes[c] = (struct size_class){.size = degrees[c],
                                            .most = ~(hydra_weight)0 >> 1,
                                            .room = hydra_group_room(batch, degrees[c]),
                                            .shift = NUMBER_BITS - hydra_log2_floor((uint64_t)degrees[c])};
    return HYDRA_SUCCESS;
}

static inline void hydra_packer_clear(struct packer *p)
{
    hydra_free(p->class_of);
}

static inline int hydra_packer_class(const struct packer *p, int64_t degree)
{
    return degree == p->batch->pool ? p->nclasses - 1 : hydra_log2_floor((uint64_t)degree);
}

/* Groups go into the draft; idle slots go to the smallest of them. */
static inline int hydra_packer_close_microbatch(struct packer *p, int64_t m)
{
    int64_t index;
    int status = HYDRA_SUCCESS;

    for (int64_t number = 0; number < p->ngroups; number++)
        HYDRA_TRY(hydra_draft_add_group(p->draft, m, 0, p->classes[p->class_of[number]].size, &index));
    hydra_layout_fill(p->batch, p->draft->groups + p->draft->ngroups - p->ngroups, p->ngroups);

fail:
    return status;
}

HYDRA_HEAP(narrow_light, uint64_t) /* weight of a group, then its number: least first */
HYDRA_HEAP(wide_light, hydra_weight)
HYDRA_HEAP(spent, uint64_t) /* complement of (room, number): most room first */

static inline uint64_t *narrow_sort(uint64_t *keys, uint64_t *scratch, int64_t count)
{
    return hydra_radix_sort_words(keys, scratch, count, 0);
}

static inline hydra_weight *wide_sort(hydra_weight *keys, hydra_weight *scratch, int64_t count)
{
    return hydra_radix_sort_wide(keys, scratch, count);
}

#define WEIGHT     uint64_t
#define NAME(name) narrow_##name
#include "plan/packer_core.h"
#undef WEIGHT
#undef NAME

#define WEIGHT     hydra_weight
#define NAME(name) wide_##name
#include "plan/packer_core.h"
#undef WEIGHT
#undef NAME

#endif
