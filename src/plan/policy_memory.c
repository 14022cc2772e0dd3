/* policy_memory.c: Megatron-Core dynamic CP, legacy rule: least degree that fits, buckets of equal work, least-loaded
 * group of exactly that degree. Source: Megatron-Core's hybrid context parallel scheduler, as HyDra's authors measured
 * it. */
#include <string.h>

#include "plan/interleave.h"
#include "plan/memory.h"
#include "plan/packer.h"
#include "plan/policy.h"

/* Work of a rank, comparable between degrees: weight / degree in units of 2^-24. */
static hydra_weight rank_work(const struct hydra_demand *demand)
{
    return (demand->weight << NUMBER_BITS) / (hydra_weight)demand->degree;
}

/* Mark where buckets begin in the remaining documents: as many as there are distinct demands, each closed before its
 * work would pass 1.1 of an equal share. begins [out] [count + 1]. */
static void cut_buckets(const struct hydra_demand *demands, int64_t count, bool *begins)
{
    hydra_weight total = 0, work = 0, limit;
    int64_t distinct = 0;

    for (int64_t i = 0; i < count; i++) {
        total += rank_work(&demands[i]);
        distinct += i == 0 || demands[i].degree != demands[i - 1].degree;
    }
    limit = total / (hydra_weight)(10 * distinct) * 11;
    for (int64_t i = 0; i < count; i++) {
        hydra_weight here = rank_work(&demands[i]);

        begins[i] = i == 0 || work + here > limit;
        work = begins[i] ? here : work + here;
    }
}

/* Place a document: the least-loaded group of exactly its degree, or a new one when that is less loaded (has nothing to
 * do). False when there is neither. */
static bool place(struct wide_pack *k, const struct document *d)
{
    struct packer *p = k->p;
    struct size_class *class = &p->classes[d->class];
    bool room_for_new = p->next_slot + class->size <= p->batch->pool;
    int64_t number = hydra_class_empty(class) ? -1 : wide_find_in_class(k, class, d);

    if (room_for_new && (number < 0 || wide_least(k, class) >> p->number_bits > 0))
        wide_open_group(k, d);
    else if (number >= 0)
        wide_join_least(k, class, d, number);
    else
        return false;
    return true;
}

/* One microbatch from the remaining documents; those left over stay in order at the front. Returns how many. */
static int64_t fill_microbatch(struct wide_pack *k, struct hydra_demand *demands, int64_t count, const bool *begins)
{
    int64_t kept = 0, at = 0, first_degree = demands[0].degree;
    bool blocked = false, smaller = false; /* blocked: the bucket's head fits nowhere, so nothing behind it is tried */

    wide_open_microbatch(k);
    for (; at < count; at++) {
        struct hydra_demand demand = demands[at];
        struct document d = {demand.id, demand.tokens, demand.weight, hydra_packer_class(k->p, demand.degree)};

        blocked &= !begins[at];
        blocked = blocked || !place(k, &d);
        if (blocked) {
            demands[kept++] = demand;
            continue;
        }
        smaller |= demand.degree < first_degree;
        if (smaller && wide_balanced(k)) {
            at++;
            break;
        }
    }
    memmove(demands + kept, demands + at, (size_t)(count - at) * sizeof *demands);
    return kept + count - at;
}

int hydra_policy_memory(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct packer p = {0};
    struct wide_pack k = {0};
    struct hydra_demand *demands = NULL;
    bool *begins = hydra_alloc(batch->ndocs, sizeof *begins);
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_packer_init(&p, batch, draft));
    HYDRA_TRY(wide_open_pack(&p, &k));
    HYDRA_TRY(hydra_demands_make(batch, &demands));
    HYDRA_REQUIRE(begins != NULL, HYDRA_ERR_NOMEM, "buckets of %" PRId64 " documents", batch->ndocs);
    for (int64_t left = batch->ndocs, m = 0; left > 0; m++) {
        cut_buckets(demands, left, begins);
        left = fill_microbatch(&k, demands, left, begins);
        HYDRA_TRY(hydra_packer_close_microbatch(&p, m));
    }
    HYDRA_TRY(hydra_plan_interleave(batch, draft));

fail:
    hydra_free(begins);
    hydra_free(demands);
    wide_close_pack(&k);
    hydra_packer_clear(&p);
    return status;
}
