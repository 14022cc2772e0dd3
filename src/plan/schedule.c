/* schedule.c: the schedule object: made, placed on ranks, hashed, asked. What one rank holds is view.c. */
#include "plan/schedule.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

int hydra_schedule_allocate(int64_t pool, int64_t ndocs, int64_t microbatches, int64_t ngroups, int with_pairs,
                            Hydra_Schedule *made)
{
    struct hydra_schedule *s = hydra_calloc(1, sizeof *s);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(s != NULL, HYDRA_ERR_NOMEM, "schedule object");
    s->pool = pool;
    s->ndocs = ndocs;
    s->microbatches = microbatches;
    s->ngroups = ngroups;
    s->lengths = hydra_alloc(ndocs, sizeof *s->lengths);
    s->pairs = with_pairs ? hydra_alloc(ndocs, sizeof *s->pairs) : NULL;
    s->starts = hydra_alloc(ndocs + 1, sizeof *s->starts);
    s->group_begin = hydra_calloc(microbatches + 1, sizeof *s->group_begin);
    s->groups = hydra_alloc(ngroups, sizeof *s->groups);
    s->docs = hydra_alloc(ndocs, sizeof *s->docs);
    s->loaded_begin = hydra_alloc(pool + 1, sizeof *s->loaded_begin);
    s->slot_of_rank = hydra_alloc(pool, sizeof *s->slot_of_rank);
    s->rank_of_slot = hydra_alloc(pool, sizeof *s->rank_of_slot);
    HYDRA_REQUIRE(s->lengths != NULL && (s->pairs != NULL || !with_pairs) && s->starts != NULL &&
                      s->group_begin != NULL && s->groups != NULL && s->docs != NULL && s->loaded_begin != NULL &&
                      s->slot_of_rank != NULL && s->rank_of_slot != NULL,
                  HYDRA_ERR_NOMEM, "schedule of %" PRId64 " documents on %" PRId64 " ranks", ndocs, pool);
    for (int64_t rank = 0; rank < pool; rank++) {
        s->slot_of_rank[rank] = s->rank_of_slot[rank] = rank;
        s->loaded_begin[rank + 1] = ndocs;
    }
    s->loaded_begin[0] = 0;
    *made = s;
    return HYDRA_SUCCESS;

fail:
    Hydra_Schedule_free(&s);
    return status;
}

int Hydra_Schedule_free(Hydra_Schedule *schedule)
{
    struct hydra_schedule *s = schedule == NULL ? NULL : *schedule;

    if (s == NULL)
        return HYDRA_SUCCESS;
    hydra_free(s->lengths);
    hydra_free(s->pairs);
    hydra_free(s->starts);
    hydra_free(s->group_begin);
    hydra_free(s->groups);
    hydra_free(s->docs);
    hydra_free(s->loaded_begin);
    hydra_free(s->slot_of_rank);
    hydra_free(s->rank_of_slot);
    hydra_free(s);
    *schedule = NULL;
    return HYDRA_SUCCESS;
}

int hydra_schedule_place(struct hydra_schedule *schedule, const int64_t *loaded_begin, const int64_t *slot_of_rank)
{
    int64_t pool = schedule->pool;
    int status = HYDRA_SUCCESS;

    if (loaded_begin != NULL)
        memmove(schedule->loaded_begin, loaded_begin, (size_t)(pool + 1) * sizeof *loaded_begin);
    if (slot_of_rank != NULL) {
        for (int64_t slot = 0; slot < pool; slot++)
            schedule->rank_of_slot[slot] = -1;
        for (int64_t rank = 0; rank < pool; rank++) {
            int64_t slot = slot_of_rank[rank];

            HYDRA_REQUIRE(slot >= 0 && slot < pool && schedule->rank_of_slot[slot] < 0, HYDRA_ERR_ARG,
                          "slot %" PRId64 " of rank %" PRId64 " is outside the pool or taken", slot, rank);
            schedule->slot_of_rank[rank] = slot;
            schedule->rank_of_slot[slot] = rank;
        }
    }
    for (int64_t rank = 0; loaded_begin != NULL && rank < pool; rank++)
        HYDRA_REQUIRE(loaded_begin[rank] <= loaded_begin[rank + 1], HYDRA_ERR_ARG,
                      "rank %" PRId64 " loaded documents %" PRId64 " .. %" PRId64, rank, loaded_begin[rank],
                      loaded_begin[rank + 1]);
    HYDRA_REQUIRE(schedule->loaded_begin[0] == 0 && schedule->loaded_begin[pool] == schedule->ndocs, HYDRA_ERR_ARG,
                  "loaded documents end at %" PRId64 ", the batch has %" PRId64, schedule->loaded_begin[pool],
                  schedule->ndocs);
    if (loaded_begin != NULL || slot_of_rank != NULL)
        hydra_schedule_rehash(schedule);

fail:
    return status;
}

void hydra_schedule_fill_starts(struct hydra_schedule *schedule)
{
    schedule->starts[0] = 0;
    for (int64_t i = 0; i < schedule->ndocs; i++)
        schedule->starts[i + 1] = schedule->starts[i] + schedule->lengths[i];
}

/* One step of the hash. For a fixed word it is a bijection of the state, so a single difference never cancels. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    return hash ^ (hash >> 29);
}

/* Long arrays in two chains, so that a multiplication need not wait for the one before. The second starts from a
 * constant: were it made of the state too, the two would cancel in part where they meet, and states run together. */
static uint64_t mix_array(uint64_t hash, const int64_t *values, int64_t count)
{
    uint64_t other = 0x6A09E667F3BCC909ull;
    int64_t i = 0;

    for (; i + 1 < count; i += 2) {
        hash = mix(hash, (uint64_t)values[i]);
        other = mix(other, (uint64_t)values[i + 1]);
    }
    return mix(i < count ? mix(hash, (uint64_t)values[i]) : hash, other);
}

void hydra_schedule_rehash(struct hydra_schedule *s)
{
    uint64_t hash = mix(0, 1); /* version of the hash */
    uint64_t theta_over_c;

#define OPTION(field) hash = mix(hash, (uint64_t)s->options.field);
#include "plan/options.def"
#undef OPTION
    memcpy(&theta_over_c, &s->options.theta_over_c, sizeof theta_over_c);
    hash = mix(hash, theta_over_c);
    hash = mix_array(hash, (const int64_t[]){s->pool, s->ndocs, s->microbatches, s->ngroups, s->pairs != NULL}, 5);
    hash = mix_array(hash, s->lengths, s->ndocs);
    if (s->pairs != NULL)
        hash = mix_array(hash, s->pairs, s->ndocs);
    hash = mix_array(hash, s->group_begin, s->microbatches + 1);
    for (int64_t g = 0; g < s->ngroups; g++) {
        const struct hydra_group *group = &s->groups[g];

        hash = mix_array(hash, (const int64_t[]){group->first, group->size, group->factor, group->docs_end}, 4);
    }
    hash = mix_array(hash, s->docs, s->ndocs);
    hash = mix_array(hash, s->loaded_begin, s->pool + 1);
    s->hash = mix_array(hash, s->slot_of_rank, s->pool);
}

hydra_weight hydra_schedule_weight(const struct hydra_schedule *schedule, int64_t i)
{
    const Hydra_Plan_options *options = &schedule->options;

    if (schedule->pairs != NULL)
        return 2 * (hydra_weight)schedule->pairs[i];
    return hydra_mask_weight(options->mask, options->window, options->sink, schedule->lengths[i]);
}

const struct hydra_group *hydra_schedule_group_of(const struct hydra_schedule *schedule, int64_t m, int64_t slot)
{
    int64_t low = schedule->group_begin[m];
    int64_t high = schedule->group_begin[m + 1];

    while (low < high) { /* groups before low start at or before slot, groups from high on after it */
        int64_t middle = low + (high - low) / 2;

        if (schedule->groups[middle].first <= slot)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == schedule->group_begin[m])
        return NULL;
    low--;
    return slot < schedule->groups[low].first + schedule->groups[low].size ? &schedule->groups[low] : NULL;
}

int hydra_schedule_zigzag(const struct hydra_schedule *schedule, const struct hydra_group *group)
{
    return schedule->options.mask != HYDRA_MASK_FULL && group->size != group->factor;
}

void hydra_schedule_rotations(const struct hydra_schedule *schedule, const struct hydra_group *group, int64_t *offsets)
{
    int64_t rotation = 0;

    for (int64_t d = group->docs_begin; d < group->docs_end; d++) {
        offsets[d - group->docs_begin] = rotation;
        rotation = (rotation + schedule->lengths[schedule->docs[d]] % group->size) % group->size;
    }
}

int Hydra_Schedule_count(Hydra_Schedule schedule, int64_t *microbatches)
{
    hydra_error_clear();
    if (schedule == NULL || microbatches == NULL)
        return hydra_error(HYDRA_ERR_ARG, "Hydra_Schedule_count: schedule or microbatches is NULL");
    *microbatches = schedule->microbatches;
    return HYDRA_SUCCESS;
}

int Hydra_Schedule_hash(Hydra_Schedule schedule, uint64_t *hash)
{
    hydra_error_clear();
    if (schedule == NULL || hash == NULL)
        return hydra_error(HYDRA_ERR_ARG, "Hydra_Schedule_hash: schedule or hash is NULL");
    *hash = schedule->hash;
    return HYDRA_SUCCESS;
}
