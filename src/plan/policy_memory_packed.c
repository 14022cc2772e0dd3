/* policy_memory_packed.c: Megatron-Core dynamic CP, packing-aware rule: every remaining document, longest first, into
 * the smallest size from its demand up, the oldest group with token room before a new one.
 *
 * The rule also keeps the projected greatest load within tallest x budget x 1.05. It never binds: documents of w <=
 * tallest x s that share at most budget x size tokens have at most tallest x budget x size weight. So it is first-fit
 * by tokens. */
#include "base/error.h"
#include "plan/first_fit.h"
#include "plan/interleave.h"
#include "plan/layout.h"
#include "plan/memory.h"
#include "plan/policy.h"

#include <inttypes.h>

struct sized_groups {
    int64_t size;
    struct hydra_first_fit fit; /* by token room, in the order they opened */
    int64_t count;              /* opened in this microbatch */
    int64_t *index;             /* [pool / size] in the draft */
};

struct packed {
    const struct hydra_batch *batch;
    struct hydra_draft *draft;
    struct sized_groups sizes[64]; /* ascending */
    int nsizes;
    int64_t next_slot;
};

static int make_sizes(struct packed *p)
{
    int64_t degrees[64];
    int status = HYDRA_SUCCESS;

    p->nsizes = hydra_pool_degrees(p->batch->pool, degrees);
    for (int level = 0; level < p->nsizes; level++) {
        struct sized_groups *sized = &p->sizes[level];
        int64_t most = p->batch->pool / degrees[level];

        sized->size = degrees[level];
        sized->index = hydra_alloc(most, sizeof *sized->index);
        HYDRA_REQUIRE(sized->index != NULL && hydra_first_fit_init(&sized->fit, most, -1), HYDRA_ERR_NOMEM,
                      "%" PRId64 " groups of %" PRId64 " slots", most, degrees[level]);
    }

fail:
    return status;
}

/* *group [out] the draft's group for the document, or -1. */
static int place(struct packed *p, const struct hydra_demand *demand, int64_t m, int64_t *group)
{
    int status = HYDRA_SUCCESS;

    *group = -1;
    for (int level = 0; level < p->nsizes && p->sizes[level].size <= p->batch->options->max_degree; level++) {
        struct sized_groups *sized = &p->sizes[level];
        int64_t number;

        if (sized->size < demand->degree)
            continue;
        number = hydra_first_fit_find(&sized->fit, demand->tokens);
        if (number < 0 && p->next_slot + sized->size <= p->batch->pool) {
            number = sized->count++;
            HYDRA_TRY(hydra_draft_add_group(p->draft, m, p->next_slot, sized->size, &sized->index[number]));
            hydra_first_fit_set(&sized->fit, number, hydra_group_room(p->batch, sized->size));
            p->next_slot += sized->size;
        }
        if (number >= 0) {
            hydra_first_fit_set(&sized->fit, number, hydra_first_fit_room(&sized->fit, number) - demand->tokens);
            *group = sized->index[number];
            return HYDRA_SUCCESS;
        }
    }

fail:
    return status;
}

/* One microbatch from the remaining documents; those left over stay in order at the front. *left [in,out] how many. */
static int fill_microbatch(struct packed *p, struct hydra_demand *demands, int64_t m, int64_t *left)
{
    int64_t first_group = p->draft->ngroups, kept = 0;
    int status = HYDRA_SUCCESS;

    p->next_slot = 0;
    for (int level = 0; level < p->nsizes; level++)
        while (p->sizes[level].count > 0)
            hydra_first_fit_set(&p->sizes[level].fit, --p->sizes[level].count, -1);
    for (int64_t at = 0; at < *left; at++) {
        int64_t group;

        HYDRA_TRY(place(p, &demands[at], m, &group));
        if (group < 0)
            demands[kept++] = demands[at];
        else
            p->draft->group_of[demands[at].id] = group;
    }
    hydra_layout_fill(p->batch, p->draft->groups + first_group, p->draft->ngroups - first_group);
    *left = kept;

fail:
    return status;
}

int hydra_policy_memory_packed(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct packed p = {.batch = batch, .draft = draft};
    struct hydra_demand *demands = NULL;
    int64_t left = batch->ndocs;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_demands_make(batch, &demands));
    HYDRA_TRY(make_sizes(&p));
    for (int64_t m = 0; left > 0; m++)
        HYDRA_TRY(fill_microbatch(&p, demands, m, &left));
    HYDRA_TRY(hydra_plan_interleave(batch, draft));

fail:
    for (int level = 0; level < p.nsizes; level++) {
        hydra_free(p.sizes[level].index);
        hydra_first_fit_clear(&p.sizes[level].fit);
    }
    hydra_free(demands);
    return status;
}
