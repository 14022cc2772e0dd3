/* draft.c: a policy's decisions become a schedule: groups in slot order, documents in group order, factors chosen. */
#include "plan/draft.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/cost.h"
#include "plan/schedule.h"

int hydra_draft_init(struct hydra_draft *draft, const struct hydra_batch *batch)
{
    int status = HYDRA_SUCCESS;

    *draft = (struct hydra_draft){.capacity = 16};
    draft->groups = hydra_calloc(draft->capacity, sizeof *draft->groups);
    draft->group_of = hydra_alloc(batch->ndocs, sizeof *draft->group_of);
    HYDRA_REQUIRE(draft->groups != NULL && draft->group_of != NULL, HYDRA_ERR_NOMEM, "draft of %" PRId64 " documents",
                  batch->ndocs);
    memset(draft->group_of, 0xff, (size_t)batch->ndocs * sizeof *draft->group_of);
    return HYDRA_SUCCESS;

fail:
    hydra_draft_clear(draft);
    return status;
}

void hydra_draft_clear(struct hydra_draft *draft)
{
    hydra_free(draft->groups);
    hydra_free(draft->group_of);
    *draft = (struct hydra_draft){0};
}

int hydra_draft_add_group(struct hydra_draft *draft, int64_t microbatch, int64_t first, int64_t size, int64_t *index)
{
    if (draft->ngroups == draft->capacity) {
        int64_t capacity = draft->capacity + draft->capacity / 2;
        struct hydra_draft_group *groups = hydra_resize(draft->groups, capacity, sizeof *groups);

        if (groups == NULL)
            return hydra_error(HYDRA_ERR_NOMEM, "draft of %" PRId64 " groups", capacity);
        draft->groups = groups;
        draft->capacity = capacity;
    }
    *index = draft->ngroups++;
    draft->groups[*index] = (struct hydra_draft_group){microbatch, first, size};
    draft->microbatches = hydra_max(draft->microbatches, microbatch + 1);
    return HYDRA_SUCCESS;
}

/* What the draft's groups hold: arrays apart, because each document touches a random group. */
struct held {
    int32_t *documents; /* [ngroups]; then the place of the group's next document in the schedule's docs */
    int64_t *tokens;    /* [ngroups] */
};

/* A group under its sort key (microbatch, first slot). */
struct place {
    int64_t key;
    int64_t group; /* of the draft */
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    return (a->key > b->key) - (a->key < b->key);
}

/* Sum up what each group holds: every document placed, every budget kept. held [in,out] zero. */
static int sum_up(const struct hydra_draft *draft, const struct hydra_batch *batch, struct held held)
{
    const char *policy = Hydra_Policy_name(batch->options->policy);
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < batch->ndocs; i++) {
        int64_t g = draft->group_of[i];

        HYDRA_REQUIRE(g >= 0 && g < draft->ngroups, HYDRA_ERR_INTERNAL, "%s: document %" PRId64 " is in group %" PRId64,
                      policy, i, g);
        held.documents[g]++;
        held.tokens[g] += batch->lengths[i];
    }
    for (int64_t g = 0; g < draft->ngroups; g++)
        HYDRA_REQUIRE(draft->groups[g].size >= 1 && held.tokens[g] <= hydra_group_room(batch, draft->groups[g].size),
                      HYDRA_ERR_INTERNAL, "%s: %" PRId64 " tokens on %" PRId64 " slots exceed budget %" PRId64, policy,
                      held.tokens[g], draft->groups[g].size, batch->options->budget);

fail:
    return status;
}

/* Groups that hold documents, by (microbatch, first slot); how many. */
static int64_t sort_groups(const struct hydra_draft *draft, int64_t pool, struct held held, struct place *places)
{
    int64_t count = 0;
    int sorted = 1;

    for (int64_t g = 0; g < draft->ngroups; g++) {
        if (held.documents[g] == 0)
            continue;
        places[count] = (struct place){draft->groups[g].microbatch * pool + draft->groups[g].first, g};
        sorted &= count == 0 || places[count - 1].key < places[count].key;
        count++;
    }
    if (!sorted)
        qsort(places, (size_t)count, sizeof *places, compare_places);
    return count;
}

static int64_t choose_factor(const struct hydra_batch *batch, int64_t size)
{
    const Hydra_Plan_options *o = batch->options;

    if (o->policy == HYDRA_POLICY_STATIC && o->static_transport != 0)
        return o->static_transport == 1 ? 1 : size; /* ring only, all-to-all only */
    return hydra_factor_choose(o->cost, o->factor, o->heads, o->kv_heads, size);
}

/* Groups of the schedule from the sorted places. */
static void fill_groups(const struct hydra_draft *draft, const struct hydra_batch *batch, const struct place *places,
                        struct held held, struct hydra_schedule *made)
{
    int64_t size = 0, factor = 1, begin = 0;

    for (int64_t g = 0; g < made->ngroups; g++) {
        const struct hydra_draft_group *from = &draft->groups[places[g].group];
        int32_t *documents = &held.documents[places[g].group];

        if (from->size != size) {
            size = from->size;
            factor = choose_factor(batch, size);
        }
        made->group_begin[from->microbatch + 1]++;
        made->groups[g] = (struct hydra_group){from->first, size, factor, begin, begin + *documents};
        *documents = (int32_t)begin;
        begin = made->groups[g].docs_end;
    }
    for (int64_t m = 0; m < made->microbatches; m++)
        made->group_begin[m + 1] += made->group_begin[m];
}

/* Documents in group order, ascending ids inside each; the inputs are kept with the plan. */
static void fill_documents(const struct hydra_draft *draft, const struct hydra_batch *batch, struct held held,
                           struct hydra_schedule *made)
{
    made->options = *batch->options;
    made->options.cost = NULL;
    made->options.pairs = NULL;
    made->cost = batch->options->cost != NULL ? *batch->options->cost : (Hydra_Cost)HYDRA_COST_INIT;
    for (int64_t i = 0; i < batch->ndocs; i++) {
        made->docs[held.documents[draft->group_of[i]]++] = i;
        made->lengths[i] = batch->lengths[i];
    }
    hydra_schedule_fill_starts(made);
    if (made->pairs != NULL)
        memcpy(made->pairs, batch->options->pairs, (size_t)batch->ndocs * sizeof *made->pairs);
}

int hydra_draft_finish(struct hydra_draft *draft, const struct hydra_batch *batch, Hydra_Schedule *schedule)
{
    struct held held = {hydra_calloc(draft->ngroups, sizeof *held.documents),
                        hydra_calloc(draft->ngroups, sizeof *held.tokens)};
    struct place *places = hydra_alloc(draft->ngroups, sizeof *places);
    Hydra_Schedule made = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(held.documents != NULL && held.tokens != NULL && places != NULL, HYDRA_ERR_NOMEM,
                  "%" PRId64 " groups", draft->ngroups);
    HYDRA_TRY(sum_up(draft, batch, held));
    HYDRA_TRY(hydra_schedule_allocate(batch->pool, batch->ndocs, hydra_max(1, draft->microbatches),
                                      sort_groups(draft, batch->pool, held, places), batch->options->pairs != NULL,
                                      &made));
    fill_groups(draft, batch, places, held, made);
    fill_documents(draft, batch, held, made);
    HYDRA_TRY(hydra_schedule_check_groups(made, HYDRA_ERR_INTERNAL));
    hydra_schedule_rehash(made);
    *schedule = made;
    made = NULL;

fail:
    Hydra_Schedule_free(&made);
    hydra_free(places);
    hydra_free(held.documents);
    hydra_free(held.tokens);
    return status;
}
