/* packer_core.h: the open groups of a microbatch, made twice by packer.h: with 64-bit weights where weight and group
 * number share a word, and with 128-bit weights for any length. WEIGHT and NAME() are defined there.
 *
 * Groups are numbered as they open, so the number grows with the first slot, and groups of one size are consecutive:
 * sizes never grow. A size class keeps two heaps over its groups: `light` by (weight, number), and `spent` of those
 * whose token room failed a test, by room. Documents get shorter, so a spent group comes back when it has room for the
 * next one, and no group is looked at twice for the same answer.
 */

/* The current microbatch. Arrays apart: each document touches a random group, and the fewer lines the better. */
struct NAME(pack) {
    struct packer *p;
    WEIGHT *weight;        /* [G] of each group's documents: kept in the heap key, and here when tracked or spent */
    int64_t *room;         /* [G] tokens left */
    WEIGHT *light;         /* [G + CLASS_SLACK] heap arrays, a part for each class */
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

static inline void NAME(open_group)(struct NAME(pack) * k, const struct document *d)
{
    struct packer *p = k->p;
    struct size_class *class = &p->classes[d->class];
    int64_t number = p->ngroups++;

    if (number == 0)
        k->tracked = d->class > 0;
    if (class->nlight + class->nspent == 0) { /* its part begins where four children share a line (heap.h) */
        while ((number + k->slack) % 4 != 3)
            k->slack++;
        class->begin = number + k->slack;
    }
    k->room[number] = class->room;
    p->class_of[number] = (uint8_t)d->class;
    p->next_slot += class->size;
    NAME(put)(k, class, d, number, 0);
    k->light[class->begin + class->nlight++] = (WEIGHT)d->w << p->number_bits | (WEIGHT)number;
    class->heaped = false;
}

/* Least loaded group of the class that is feasible for the document, or -1. It is then the top of `light`. */
static inline int64_t NAME(find_in_class)(struct NAME(pack) * k, struct size_class *class, const struct document *d)
{
    struct packer *p = k->p;
    WEIGHT *light = k->light + class->begin;
    uint64_t *spent = k->spent + class->begin;

    while (class->nspent > 0 && (int64_t)(~spent[0] >> NUMBER_BITS) >= d->s) {
        p->steps += NAME(light_push)(light, &class->nlight, NAME(light_key)(k, (int64_t)(~spent[0] & NUMBER_MASK)));
        p->steps += spent_pop(spent, &class->nspent);
    }
    if (!class->heaped)
        p->steps += NAME(light_build)(light, class->nlight);
    class->heaped = true;
    while (class->nlight > 0) {
        int64_t number = (int64_t)((uint64_t)light[0] & p->number_mask);

        if ((hydra_weight)(light[0] >> p->number_bits) + d->w > class->most)
            return -1;
        if (k->room[number] >= d->s)
            return number;
        k->weight[number] = light[0] >> p->number_bits;
        /* Its room is below s <= 2^40, so room and number share 64 bits. */
        p->steps += spent_push(spent, &class->nspent, ~((uint64_t)k->room[number] << NUMBER_BITS | (uint64_t)number));
        p->steps += NAME(light_pop)(light, &class->nlight);
    }
    return -1;
}

/* Put the document into the group at the top of the class's `light`. */
static inline void NAME(join_top)(struct NAME(pack) * k, struct size_class *class, const struct document *d,
                                  int64_t number)
{
    WEIGHT *light = k->light + class->begin;
    WEIGHT top = light[0];

    NAME(put)(k, class, d, number, top >> k->p->number_bits);
    k->p->steps += NAME(light_replace)(light, class->nlight, top + ((WEIGHT)d->w << k->p->number_bits));
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
                             .light = hydra_alloc(pool + CLASS_SLACK, sizeof *k->light),
                             .spent = hydra_alloc(pool + CLASS_SLACK, sizeof *k->spent)};
    if (k->weight != NULL && k->room != NULL && k->light != NULL && k->spent != NULL)
        return HYDRA_SUCCESS;
    return hydra_error(HYDRA_ERR_NOMEM, "heaps over %" PRId64 " slots", pool);
}

static inline void NAME(close_pack)(struct NAME(pack) * k)
{
    hydra_free(k->weight);
    hydra_free(k->room);
    hydra_free(k->light);
    hydra_free(k->spent);
}

static inline void NAME(open_microbatch)(struct NAME(pack) * k)
{
    k->p->ngroups = k->p->next_slot = 0;
    for (int c = 0; c < k->p->nclasses; c++)
        k->p->classes[c].nlight = k->p->classes[c].nspent = 0;
    k->slack = 0;
    k->greatest = 0;
    k->witness = 0;
}
