/* load_core.h: the packing of policy_load.c, made twice: with 64-bit weights where weight and group number share a word,
 * and with 128-bit weights for any length. Included there only, with WEIGHT and NAME() defined.
 *
 * Groups of a microbatch are numbered as they open, so the number grows with the first slot, and groups of one size are
 * consecutive. A size class keeps two heaps over its groups: `light` by (weight, number), and `spent` of those whose
 * token room failed a test, by room. Documents get shorter, so a spent group comes back when it has room for the next
 * one, and no group is looked at twice for the same answer.
 */

struct NAME(group) {
    WEIGHT weight; /* of its documents */
    int64_t room;  /* tokens left */
};

/* The current microbatch. */
struct NAME(pack) {
    struct packer *p;
    struct NAME(group) *groups; /* [G] */
    WEIGHT *light;              /* [G] heap arrays, a part for each class */
    uint64_t *spent;            /* [G] */
    hydra_weight greatest;      /* comparable load of the most loaded group */
    int64_t witness;            /* a group too light for balance, looked at first */
};

static inline WEIGHT NAME(light_key)(const struct NAME(pack) *k, int64_t number)
{
    return k->groups[number].weight << k->p->number_bits | (WEIGHT)number;
}

/* weight [in] of the group so far: from its heap key, so that the next document need not wait for the group itself. */
static inline void NAME(put)(struct NAME(pack) *k, const struct size_class *class, const struct document *d, int64_t number,
                             WEIGHT weight)
{
    struct NAME(group) *group = &k->groups[number];
    hydra_weight load;

    group->weight = weight + (WEIGHT)d->w;
    group->room -= d->s;
    k->p->draft->group_of[d->id] = k->p->draft->ngroups + number;
    load = (hydra_weight)(weight + (WEIGHT)d->w) << class->shift;
    k->greatest = load > k->greatest ? load : k->greatest;
}

static void NAME(open_group)(struct NAME(pack) *k, const struct document *d)
{
    struct packer *p = k->p;
    struct size_class *class = &p->classes[d->class];
    int64_t number = p->ngroups++;

    if (class->nlight + class->nspent == 0)
        class->begin = number;
    k->groups[number] = (struct NAME(group)){0, class->room};
    p->class_of[number] = (uint8_t)d->class;
    p->next_slot += class->size;
    NAME(put)(k, class, d, number, 0);
    k->light[class->begin + class->nlight++] = NAME(light_key)(k, number);
    class->heaped = false;
}

/* Least loaded group of the class that is feasible for the document, or -1. It is then the top of `light`. */
static int64_t NAME(find_in_class)(struct NAME(pack) *k, struct size_class *class, const struct document *d)
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
        if (k->groups[number].room >= d->s)
            return number;
        /* Its room is below s <= 2^40, so room and number share 64 bits. */
        p->steps += spent_push(spent, &class->nspent, ~((uint64_t)k->groups[number].room << NUMBER_BITS | (uint64_t)number));
        p->steps += NAME(light_pop)(light, &class->nlight);
    }
    return -1;
}

static bool NAME(join_group)(struct NAME(pack) *k, const struct document *d)
{
    struct packer *p = k->p;

    for (int c = d->class; c < p->nclasses; c++) {
        struct size_class *class = &p->classes[c];
        int64_t number = class->nlight + class->nspent == 0 ? -1 : NAME(find_in_class)(k, class, d);

        if (number >= 0) {
            WEIGHT top = k->light[class->begin];

            NAME(put)(k, class, d, number, top >> p->number_bits);
            p->steps += NAME(light_replace)(k->light + class->begin, class->nlight, top + ((WEIGHT)d->w << p->number_bits));
            return true;
        }
    }
    return false;
}

/* Every slot taken, and loads within 5% of the greatest. The witness makes this O(1) while it stays too light. */
static bool NAME(balanced)(struct NAME(pack) *k)
{
    struct packer *p = k->p;

    if (p->next_slot < p->batch->pool)
        return false;
    for (int64_t tried = 0; tried < p->ngroups; tried++) {
        int shift = p->classes[p->class_of[k->witness]].shift;

        if (20 * ((hydra_weight)k->groups[k->witness].weight << shift) < 19 * k->greatest)
            return false;
        k->witness = k->witness + 1 < p->ngroups ? k->witness + 1 : 0;
    }
    return true;
}

/* One microbatch from the documents at begin..; moves those passed over up to the rest and returns where that begins. */
static int64_t NAME(pack_microbatch)(struct NAME(pack) *k, int64_t begin)
{
    struct packer *p = k->p;
    struct document d = {.rank = UINT64_MAX};
    int64_t at, passed = 0;
    int first_class = -1;

    open_microbatch(p);
    k->greatest = 0;
    k->witness = 0;
    for (at = begin; at < p->batch->ndocs; at++) {
        read_document(p, at, &d);
        first_class = first_class < 0 ? d.class : first_class;
        if (p->next_slot + p->classes[d.class].size <= p->batch->pool)
            NAME(open_group)(k, &d);
        else if (!NAME(join_group)(k, &d)) {
            if (!p->batch->options->skip)
                break;
            p->sorted[begin + passed++] = p->sorted[at];
            continue;
        }
        if (d.class < first_class && NAME(balanced)(k)) {
            at++;
            break;
        }
    }
    memmove(p->sorted + at - passed, p->sorted + begin, (size_t)passed * sizeof *p->sorted);
    return at - passed;
}

static int NAME(pack_all)(struct packer *p)
{
    struct NAME(pack) k = {.p = p};
    int64_t pool = p->batch->pool;
    int status = HYDRA_SUCCESS;

    k.groups = hydra_alloc(pool, sizeof *k.groups);
    k.light = hydra_alloc(pool, sizeof *k.light);
    k.spent = hydra_alloc(pool, sizeof *k.spent);
    HYDRA_REQUIRE(k.groups != NULL && k.light != NULL && k.spent != NULL, HYDRA_ERR_NOMEM,
                  "load policy: heaps over %" PRId64 " slots", pool);
    for (int64_t begin = 0, m = 0; begin < p->batch->ndocs; m++) {
        begin = NAME(pack_microbatch)(&k, begin);
        HYDRA_TRY(close_microbatch(p, m));
    }

fail:
    hydra_free(k.groups);
    hydra_free(k.light);
    hydra_free(k.spent);
    return status;
}
