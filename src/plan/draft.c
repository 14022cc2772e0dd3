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

/* Groups that hold documents, by (microbatch, first slot); how many. held [in] documents of each draft group. */
static int64_t sort_groups(const struct hydra_draft *draft, int64_t pool, const int64_t *held, struct place *places)
{
    int64_t count = 0;
    int sorted = 1;

    for (int64_t g = 0; g < draft->ngroups; g++) {
        if (held[g] == 0)
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

/* Groups of the schedule from the sorted places; cursor [out] where each draft group's documents begin. */
static void fill_groups(const struct hydra_draft *draft, const struct hydra_batch *batch, const struct place *places,
                        const int64_t *held, int64_t *cursor, struct hydra_schedule *made)
{
    int64_t size = 0, factor = 1, begin = 0;

    for (int64_t g = 0; g < made->ngroups; g++) {
        const struct hydra_draft_group *from = &draft->groups[places[g].group];

        if (from->size != size) {
            size = from->size;
            factor = choose_factor(batch, size);
        }
        made->group_begin[from->microbatch + 1]++;
        made->groups[g] = (struct hydra_group){from->first, size, factor, begin, begin + held[places[g].group]};
        cursor[places[g].group] = begin;
        begin += held[places[g].group];
    }
    for (int64_t m = 0; m < made->microbatches; m++)
        made->group_begin[m + 1] += made->group_begin[m];
}

static void keep_inputs(const struct hydra_batch *batch, struct hydra_schedule *made)
{
    size_t bytes = (size_t)batch->ndocs * sizeof *made->lengths;

    made->options = *batch->options;
    made->options.cost = NULL;
    made->options.pairs = NULL;
    made->cost = batch->options->cost != NULL ? *batch->options->cost : (Hydra_Cost)HYDRA_COST_INIT;
    if (bytes == 0)
        return;
    memcpy(made->lengths, batch->lengths, bytes);
    if (made->pairs != NULL)
        memcpy(made->pairs, batch->options->pairs, bytes);
}

int hydra_draft_finish(struct hydra_draft *draft, const struct hydra_batch *batch, Hydra_Schedule *schedule)
{
    int64_t *held = hydra_calloc(draft->ngroups, sizeof *held); /* documents of each draft group */
    int64_t *cursor = hydra_alloc(draft->ngroups, sizeof *cursor);
    struct place *places = hydra_alloc(draft->ngroups, sizeof *places);
    Hydra_Schedule made = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(held != NULL && cursor != NULL && places != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " groups",
                  draft->ngroups);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        HYDRA_REQUIRE(draft->group_of[i] >= 0 && draft->group_of[i] < draft->ngroups, HYDRA_ERR_INTERNAL,
                      "policy %s left document %" PRId64 " in group %" PRId64,
                      Hydra_Policy_name(batch->options->policy), i, draft->group_of[i]);
        held[draft->group_of[i]]++;
    }
    HYDRA_TRY(hydra_schedule_allocate(batch->pool, batch->ndocs, hydra_max(1, draft->microbatches),
                                      sort_groups(draft, batch->pool, held, places), batch->options->pairs != NULL,
                                      &made));
    keep_inputs(batch, made);
    fill_groups(draft, batch, places, held, cursor, made);
    for (int64_t i = 0; i < batch->ndocs; i++) /* ascending ids inside each group */
        made->docs[cursor[draft->group_of[i]]++] = i;
    hydra_schedule_fill_starts(made);
    HYDRA_TRY(hydra_schedule_check(made, HYDRA_ERR_INTERNAL));
    hydra_schedule_rehash(made);
    *schedule = made;
    made = NULL;

fail:
    Hydra_Schedule_free(&made);
    hydra_free(places);
    hydra_free(cursor);
    hydra_free(held);
    return status;
}
