/* load_core.h: the load policy's walk over the sorted documents, for either width of packer_core.h. WEIGHT and NAME()
 * are defined by policy_load.c. */

static bool NAME(join_group)(struct NAME(pack) * k, const struct document *d)
{
    struct packer *p = k->p;

    for (int c = d->class; c < p->nclasses; c++) {
        struct size_class *class = &p->classes[c];
        int64_t number = hydra_class_empty(class) ? -1 : NAME(find_in_class)(k, class, d);

        if (number >= 0) {
            NAME(join_least)(k, class, d, number);
            return true;
        }
    }
    return false;
}

/* One microbatch from the documents at begin..; moves those passed over up to the rest and returns
 * where that begins. */
static int64_t NAME(pack_microbatch)(struct load_packer *l, struct NAME(pack) * k, int64_t begin)
{
    const struct packer *p = k->p;
    const struct document *d = &l->document;
    int64_t at, passed = 0;
    int first_class = -1;

    NAME(open_microbatch)(k);
    for (at = begin; at < p->batch->ndocs; at++) {
        read_document(l, at);
        first_class = first_class < 0 ? d->class : first_class;
        if (p->next_slot + p->classes[d->class].size <= p->batch->pool)
            NAME(open_group)(k, d);
        else if (!NAME(join_group)(k, d)) {
            if (!p->batch->options->skip)
                break;
            l->sorted[begin + passed++] = l->sorted[at];
            continue;
        }
        if (d->class < first_class && NAME(balanced)(k)) {
            at++;
            break;
        }
    }
    memmove(l->sorted + at - passed, l->sorted + begin, (size_t)passed * sizeof *l->sorted);
    return at - passed;
}

static int NAME(pack_all)(struct load_packer *l)
{
    struct NAME(pack) k;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(NAME(open_pack)(&l->packer, &k));
    for (int64_t begin = 0, m = 0; begin < l->packer.batch->ndocs; m++) {
        begin = NAME(pack_microbatch)(l, &k, begin);
        HYDRA_TRY(hydra_packer_close_microbatch(&l->packer, m));
    }

fail:
    NAME(close_pack)(&k);
    return status;
}
