/* packer_core.h: the open groups of a microbatch, made twice by packer.h: with 64-bit weights where weight and group
 * number share a word, and with 128-bit weights for any length. WEIGHT and NAME() are defined there.
 *
 * Groups are numbered as they open, so the number grows with the first slot, and groups of one size are consecutive:
 * sizes never grow. A size class keeps its groups by (weight, number), and `spent`, a heap of those whose token room
 * failed a test, by room. Documents get shorter, so a spent group comes back when it has room for the next one, and no
 * group is looked at twice for the same answer.
 *
 * The order by (weight, number) is a sorted `run` and the heap `light` beside it; the least is the lesser of their two
 * heads. A group that takes a document goes to `light`, and once the run is used up the heap is sorted into the next
 * one. Documents get lighter and the least group heavier, so most groups wait for the next run: they are only appended
 * and sorted, front to back, where a heap alone would walk all its levels for each document.
 */

/* The current microbatch. Arrays apart: each document touches a random group, and the fewer lines the better. */
struct NAME(pack) {
    struct packer *p;
    WEIGHT *weight;        /* [G] of each group's documents: kept in the heap key, and here when tracked or spent */
    int64_t *room;         /* [G] tokens left */
    WEIGHT *run;           /* [G + CLASS_SLACK] keys, a part for each class, here and in the heap arrays */
    WEIGHT *light;         /* [G + CLASS_SLACK] */
    uint64_t *spent;       /* [G + CLASS_SLACK] */
    int64_t slack;         /* by how much the parts are shifted so far */
    bool tracked;          /* degrees differ, so balance may be asked for */
    hydra_weight greatest; /* comparable load of the most loaded group */
    int64_t witness;       /* a group too light for balance, looked at first */
};

static inline WEIGHT NAME(light_key)(const struct NAME(pack) * k, int64_t number)
{
    return k->weight[number] << k->p->number_bits | (WEIGHT)number;
}

/* weight [in] of the group so far: from its heap key, so that the next document need not wait for the group itself. */
static inline void NAME(put)(struct NAME(pack) * k, const struct size_class *class, const struct document *d,
                             int64_t number, WEIGHT weight)
{
    k->room[number] -= d->s;
    k->p->draft->group_of[d->id] = k->p->draft->ngroups + number;
    if (k->tracked) {
        hydra_weight load = (hydra_weight)(weight + (WEIGHT)d->w) << class->shift;

        k->weight[number] = weight + (WEIGHT)d->w;
        k->greatest = load > k->greatest ? load : k->greatest;
    }
}

/* Into `light`: at its end, the least first, until it is asked for more than its least. */
static inline void NAME(add)(struct NAME(pack) * k, struct size_class *class, WEIGHT key)
{
    WEIGHT *light = k->light + class->begin;

    if (class->heaped) {
        k->p->steps += NAME(light_push)(light, &class->nlight, key);
        return;
    }
    light[class->nlight] = key;
    if (key < light[0]) {
        light[class->nlight] = light[0];
        light[0] = key;
    }
    class->nlight++;
    k->p->steps++;
}

/* A new run out of `light`, when the last one is used up and there are enough keys for sorting to be cheaper. */
static inline void NAME(start_run)(struct NAME(pack) * k, struct size_class *class)
{
    WEIGHT *run = k->run + class->begin, *sorted;

    if (class->at < class->nrun || class->nlight < RUN_LEAST)
        return;
    sorted = NAME(sort)(k->light + class->begin, run, class->nlight);
    if (sorted != run)
        memcpy(run, sorted, (size_t) class->nlight * sizeof *run);
    k->p->steps += class->nlight;
    class->nrun = class->nlight;
    class->at = class->nlight = 0;
    class->heaped = false;
}

/* Does the run, and not `light`, have the class's least key? One of them has it. */
static inline bool NAME(least_in_run)(const struct NAME(pack) * k, const struct size_class *class)
{
    return class->at < class->nrun && (class->nlight == 0 || k->run[class->begin + class->at] < k->light[class->begin]);
}

/* Key of the least loaded group that is not spent; there is one. */
static inline WEIGHT NAME(least)(const struct NAME(pack) * k, const struct size_class *class)
{
    return NAME(least_in_run)(k, class) ? k->run[class->begin + class->at] : k->light[class->begin];
}

static inline void NAME(make_heap)(struct NAME(pack) * k, struct size_class *class)
{
    if (!class->heaped)
        k->p->steps += NAME(light_build)(k->light + class->begin, class->nlight);
    class->heaped = true;
}

static inline void NAME(drop_least)(struct NAME(pack) * k, struct size_class *class)
{
    if (NAME(least_in_run)(k, class)) {
        class->at++;
        return;
    }
    NAME(make_heap)(k, class);
    k->p->steps += NAME(light_pop)(k->light + class->begin, &class->nlight);
}

static inline void NAME(open_group)(struct NAME(pack) * k, const struct document *d)
{
    struct packer *p = k->p;
    struct size_class *class = &p->classes[d->class];
    int64_t number = p->ngroups++;

    if (number == 0)
        k->tracked = d->class > 0;
    if (hydra_class_empty(class)) { /* its part begins where four children share a line (heap.h) */
        while ((number + k->slack) % 4 != 3)
            k->slack++;
        class->begin = number + k->slack;
    }
    k->room[number] = class->room;
    p->class_of[number] = (uint8_t)d->class;
    p->next_slot += class->size;
    NAME(put)(k, class, d, number, 0);
    NAME(add)(k, class, (WEIGHT)d->w << p->number_bits | (WEIGHT)number);
}

/* Least loaded group of the class that is feasible for the document, or -1. It is then the class's least. */
static inline int64_t NAME(find_in_class)(struct NAME(pack) * k, struct size_class *class, const struct document *d)
{
    struct packer *p = k->p;
    uint64_t *spent = k->spent + class->begin;

    while (class->nspent > 0 && (int64_t)(~spent[0] >> NUMBER_BITS) >= d->s) {
        NAME(add)(k, class, NAME(light_key)(k, (int64_t)(~spent[0] & NUMBER_MASK)));
        p->steps += spent_pop(spent, &class->nspent);
    }
    NAME(start_run)(k, class);
    while (class->nlight > 0 || class->at < class->nrun) {
        WEIGHT least = NAME(least)(k, class);
        int64_t number = (int64_t)((uint64_t)least & p->number_mask);

        if ((hydra_weight)(least >> p->number_bits) + d->w > class->most)
            return -1;
        if (k->room[number] >= d->s)
            return number;
        k->weight[number] = least >> p->number_bits;
        /* Its room is below s <= 2^40, so room and number share 64 bits. */
        p->steps += spent_push(spent, &class->nspent, ~((uint64_t)k->room[number] << NUMBER_BITS | (uint64_t)number));
        NAME(drop_least)(k, class);
    }
    return -1;
}

/* Put the document into the least loaded group of the class. */
static inline void NAME(join_least)(struct NAME(pack) * k, struct size_class *class, const struct document *d,
                                    int64_t number)
{
    WEIGHT least = NAME(least)(k, class), more = least + ((WEIGHT)d->w << k->p->number_bits);

    NAME(put)(k, class, d, number, least >> k->p->number_bits);
    if (NAME(least_in_run)(k, class)) {
        class->at++;
        NAME(add)(k, class, more);
        return;
    }
    NAME(make_heap)(k, class);
    k->p->steps += NAME(light_replace)(k->light + class->begin, class->nlight, more);
}

/* Every slot taken, and loads within 5% of the greatest. The witness makes this O(1) while it stays too light. */
static inline bool NAME(balanced)(struct NAME(pack) * k)
{
    struct packer *p = k->p;

    if (p->next_slot < p->batch->pool)
        return false;
    for (int64_t tried = 0; tried < p->ngroups; tried++) {
        int shift = p->classes[p->class_of[k->witness]].shift;

        if (20 * ((hydra_weight)k->weight[k->witness] << shift) < 19 * k->greatest)
            return false;
        k->witness = k->witness + 1 < p->ngroups ? k->witness + 1 : 0;
    }
    return true;
}

static inline int NAME(open_pack)(struct packer *p, struct NAME(pack) * k)
{
    int64_t pool = p->batch->pool;

    *k = (struct NAME(pack)){.p = p,
                             .weight = hydra_alloc(pool, sizeof *k->weight),
                             .room = hydra_alloc(pool, sizeof *k->room),
                             .run = hydra_alloc(pool + CLASS_SLACK, sizeof *k->run),
                             .light = hydra_alloc(pool + CLASS_SLACK, sizeof *k->light),
                             .spent = hydra_alloc(pool + CLASS_SLACK, sizeof *k->spent)};
    if (k->weight != NULL && k->room != NULL && k->run != NULL && k->light != NULL && k->spent != NULL)
        return HYDRA_SUCCESS;
    return hydra_error(HYDRA_ERR_NOMEM, "heaps over %" PRId64 " slots", pool);
}

static inline void NAME(close_pack)(struct NAME(pack) * k)
{
    hydra_free(k->weight);
    hydra_free(k->room);
    hydra_free(k->run);
    hydra_free(k->light);
    hydra_free(k->spent);
}

static inline void NAME(open_microbatch)(struct NAME(pack) * k)
{
    k->p->ngroups = k->p->next_slot = 0;
    for (int c = 0; c < k->p->nclasses; c++)
        hydra_class_clear(&k->p->classes[c]);
    k->slack = 0;
    k->greatest = 0;
    k->witness = 0;
}
