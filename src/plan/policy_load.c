/* policy_load.c: HyDra: one load target for the iteration, piggyback packing in descending order, lazy heaps.
 *
 * The plan is that of the linear scan in policy_load_scan.c, document by document; this file is the O(N log G) way to
 * it. Groups of a microbatch are numbered as they open, so the number grows with the first slot, and groups of one size
 * are consecutive. A size class keeps two heaps over its groups: `light` by (weight, number), and `spent` of those
 * whose token room failed a test, by room. Documents get shorter, so a spent group comes back when it has room for the
 * next one, and no group is looked at twice for the same answer.
 */
#include <inttypes.h>
#include <stdbool.h>
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

enum { NUMBER_BITS = 24, CLASSES = 32 };
#define NUMBER_MASK (((uint64_t)1 << NUMBER_BITS) - 1)

/* Greatest length (or pair count) that a sort key is taken from: keys ascend as documents get lighter. */
#define KEY_TOP ((uint64_t)1 << 63)

HYDRA_HEAP(light, hydra_weight) /* weight of the group's documents, then its number: least first */
HYDRA_HEAP(spent, uint64_t)     /* complement of (room, number): most room first */

/* Open groups of one size in the current microbatch. */
struct size_class {
    int64_t size;
    hydra_weight most; /* weight that the load target allows a group */
    int64_t room;      /* tokens that a new group holds */
    int shift;         /* weight << shift compares loads of different sizes */
    int64_t begin;     /* number of its first group: its part of the heaps' arrays */
    int64_t nlight;
    int64_t nspent;
    bool heaped; /* light is in heap order: it is built when first asked, groups mostly open before */
};

struct document {
    int64_t id;
    int64_t s;
    hydra_weight w;
    int class; /* its degree */
};

struct packer {
    const struct hydra_batch *batch;
    struct hydra_draft *draft;
    struct hydra_targets targets;
    struct hydra_record *sorted; /* [ndocs] value: id; those still to place are at begin.. */
    struct size_class classes[CLASSES];
    int nclasses;
    /* The current microbatch. */
    int64_t ngroups;
    int64_t next_slot;     /* slots from here on are free */
    hydra_weight *weight;  /* [G] of each group's documents */
    int64_t *room;         /* [G] tokens left */
    uint8_t *class_of;     /* [G] */
    hydra_weight *light;   /* [G] heap arrays, a part for each class */
    uint64_t *spent;       /* [G] */
    hydra_weight greatest; /* shifted load of the most loaded group */
    int64_t witness;       /* a group too light for balance, checked first */
    int64_t steps;         /* heap steps of the whole plan */
};

static void order_documents(struct packer *p, struct hydra_record *records, struct hydra_record *scratch)
{
    const struct hydra_batch *batch = p->batch;
    const int64_t *keys = batch->options->pairs != NULL ? batch->options->pairs : batch->lengths;

    for (int64_t i = 0; i < batch->ndocs; i++)
        records[i] = (struct hydra_record){KEY_TOP - (uint64_t)keys[i], i};
    p->sorted = hydra_radix_sort(records, scratch, batch->ndocs);
    if (batch->options->pairs == NULL) /* weight and degree grow with length: done */
        return;
    for (int64_t i = 0; i < batch->ndocs; i++) {
        int64_t id = p->sorted[i].value;

        p->sorted[i].key = (uint64_t)(batch->pool - hydra_targets_degree(batch, &p->targets, batch->lengths[id],
                                                                         hydra_batch_weight(batch, id)));
    }
    p->sorted = hydra_radix_sort(p->sorted, p->sorted == records ? scratch : records, batch->ndocs);
}

static void make_classes(struct packer *p)
{
    int64_t degrees[64];

    p->nclasses = hydra_pool_degrees(p->batch->pool, degrees);
    for (int c = 0; c < p->nclasses; c++) {
        p->classes[c] = (struct size_class){.size = degrees[c],
                                            .most = hydra_targets_group_weight(&p->targets, degrees[c]),
                                            .room = hydra_group_room(p->batch, degrees[c]),
                                            .shift = NUMBER_BITS - hydra_log2_floor((uint64_t)degrees[c])};
    }
}

/* The document at `at`. document [in,out] holds the one before, whose degree and weight it often shares. */
static void read_document(const struct packer *p, int64_t at, struct document *document)
{
    const struct hydra_batch *batch = p->batch;
    int64_t id = p->sorted[at].value;
    bool by_length = batch->options->pairs == NULL;
    int64_t s = by_length ? (int64_t)(KEY_TOP - p->sorted[at].key) : batch->lengths[id];
    int64_t degree;

    document->id = id;
    if (by_length && document->s == s)
        return;
    document->s = s;
    document->w = hydra_batch_weight(batch, id);
    degree = hydra_targets_degree(batch, &p->targets, s, document->w);
    document->class = degree == batch->pool ? p->nclasses - 1 : hydra_log2_floor((uint64_t)degree);
}

static void open_microbatch(struct packer *p)
{
    p->ngroups = p->next_slot = p->witness = 0;
    p->greatest = 0;
    for (int c = 0; c < p->nclasses; c++)
        p->classes[c].nlight = p->classes[c].nspent = 0;
}

static hydra_weight light_key(const struct packer *p, int64_t number)
{
    return p->weight[number] << NUMBER_BITS | (hydra_weight)number;
}

static void put(struct packer *p, const struct document *d, int64_t number)
{
    hydra_weight load;

    p->weight[number] += d->w;
    p->room[number] -= d->s;
    p->draft->group_of[d->id] = p->draft->ngroups + number;
    load = p->weight[number] << p->classes[p->class_of[number]].shift;
    p->greatest = load > p->greatest ? load : p->greatest;
}

static void open_group(struct packer *p, const struct document *d)
{
    struct size_class *class = &p->classes[d->class];
    int64_t number = p->ngroups++;

    if (class->nlight + class->nspent == 0)
        class->begin = number;
    p->weight[number] = 0;
    p->room[number] = class->room;
    p->class_of[number] = (uint8_t)d->class;
    p->next_slot += class->size;
    put(p, d, number);
    p->light[class->begin + class->nlight++] = light_key(p, number);
    class->heaped = false;
}

/* Least loaded group of the class that is feasible for the document, or -1. It is then the top of `light`. */
static int64_t find_in_class(struct packer *p, struct size_class *class, const struct document *d)
{
    hydra_weight *light = p->light + class->begin;
    uint64_t *spent = p->spent + class->begin;

    while (class->nspent > 0 && (int64_t)(~spent[0] >> NUMBER_BITS) >= d->s) {
        p->steps += light_push(light, &class->nlight, light_key(p, (int64_t)(~spent[0] & NUMBER_MASK)));
        p->steps += spent_pop(spent, &class->nspent);
    }
    if (!class->heaped)
        p->steps += light_build(light, class->nlight);
    class->heaped = true;
    while (class->nlight > 0) {
        int64_t number = (int64_t)((uint64_t)light[0] & NUMBER_MASK);

        if ((light[0] >> NUMBER_BITS) + d->w > class->most)
            return -1;
        if (p->room[number] >= d->s)
            return number;
        /* Its room is below s <= 2^40, so room and number share 64 bits. */
        p->steps += spent_push(spent, &class->nspent, ~((uint64_t)p->room[number] << NUMBER_BITS | (uint64_t)number));
        p->steps += light_pop(light, &class->nlight);
    }
    return -1;
}

static bool join_group(struct packer *p, const struct document *d)
{
    for (int c = d->class; c < p->nclasses; c++) {
        struct size_class *class = &p->classes[c];
        int64_t number = class->nlight + class->nspent == 0 ? -1 : find_in_class(p, class, d);

        if (number >= 0) {
            put(p, d, number);
            p->steps += light_replace(p->light + class->begin, class->nlight, light_key(p, number));
            return true;
        }
    }
    return false;
}

/* Every slot taken, and loads within 5% of the greatest. The witness makes this O(1) while it stays too light. */
static bool balanced(struct packer *p)
{
    if (p->next_slot < p->batch->pool)
        return false;
    for (int64_t tried = 0; tried < p->ngroups; tried++) {
        hydra_weight load = p->weight[p->witness] << p->classes[p->class_of[p->witness]].shift;

        if (20 * load < 19 * p->greatest)
            return false;
        p->witness = p->witness + 1 < p->ngroups ? p->witness + 1 : 0;
    }
    return true;
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

/* One microbatch from the documents at begin..; moves those passed over up to the rest and returns where that begins.
 */
static int64_t pack_microbatch(struct packer *p, int64_t begin)
{
    struct document d = {.s = -1};
    int64_t at, passed = 0;
    int first_class = -1;

    open_microbatch(p);
    for (at = begin; at < p->batch->ndocs; at++) {
        read_document(p, at, &d);
        first_class = first_class < 0 ? d.class : first_class;
        if (p->next_slot + p->classes[d.class].size <= p->batch->pool)
            open_group(p, &d);
        else if (!join_group(p, &d)) {
            if (!p->batch->options->skip)
                break;
            p->sorted[begin + passed++] = p->sorted[at];
            continue;
        }
        if (d.class < first_class && balanced(p)) {
            at++;
            break;
        }
    }
    memmove(p->sorted + at - passed, p->sorted + begin, (size_t)passed * sizeof *p->sorted);
    return at - passed;
}

int hydra_policy_load_counted(const struct hydra_batch *batch, struct hydra_draft *draft, int64_t *steps)
{
    struct packer p = {.batch = batch, .draft = draft};
    struct hydra_record *records = hydra_alloc(batch->ndocs, sizeof *records);
    struct hydra_record *scratch = hydra_alloc(batch->ndocs, sizeof *scratch);
    int status = HYDRA_SUCCESS;

    p.weight = hydra_alloc(batch->pool, sizeof *p.weight);
    p.room = hydra_alloc(batch->pool, sizeof *p.room);
    p.class_of = hydra_alloc(batch->pool, sizeof *p.class_of);
    p.light = hydra_alloc(batch->pool, sizeof *p.light);
    p.spent = hydra_alloc(batch->pool, sizeof *p.spent);
    HYDRA_REQUIRE(records != NULL && scratch != NULL && p.weight != NULL && p.room != NULL && p.class_of != NULL &&
                      p.light != NULL && p.spent != NULL,
                  HYDRA_ERR_NOMEM, "load policy: %" PRId64 " documents on %" PRId64 " slots", batch->ndocs,
                  batch->pool);
    hydra_targets_derive(batch, &p.targets);
    make_classes(&p);
    order_documents(&p, records, scratch);
    for (int64_t begin = 0, m = 0; begin < batch->ndocs; m++) {
        begin = pack_microbatch(&p, begin);
        HYDRA_TRY(close_microbatch(&p, m));
    }
    HYDRA_TRY(hydra_plan_interleave(batch, draft));
    *steps = p.steps;

fail:
    hydra_free(records);
    hydra_free(scratch);
    hydra_free(p.weight);
    hydra_free(p.room);
    hydra_free(p.class_of);
    hydra_free(p.light);
    hydra_free(p.spent);
    return status;
}

int hydra_policy_load(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    int64_t steps;

    return hydra_policy_load_counted(batch, draft, &steps);
}
