/* check.c: is a schedule executable? The same check for what a policy made and for what a file says. */
#include <inttypes.h>
#include <stdbool.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/schedule.h"

static int check_group(const struct hydra_schedule *s, int64_t m, int64_t g, int64_t free_slot, int fault)
{
    const struct hydra_group *group = &s->groups[g];
    bool aligned = hydra_is_pow2(group->size) ? group->first % group->size == 0 : group->size == s->pool;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(group->size >= s->options.min_degree && group->size <= s->options.max_degree, fault,
                  "microbatch %" PRId64 ": a group of %" PRId64 " slots, degrees are %" PRId64 " .. %" PRId64, m,
                  group->size, s->options.min_degree, s->options.max_degree);
    HYDRA_REQUIRE(aligned, fault,
                  "microbatch %" PRId64 ": group of %" PRId64 " slots at slot %" PRId64 " is not aligned", m,
                  group->size, group->first);
    HYDRA_REQUIRE(group->first >= free_slot && group->first <= s->pool - group->size, fault,
                  "microbatch %" PRId64 ": group of %" PRId64 " slots at slot %" PRId64
                  " overlaps another or leaves the pool",
                  m, group->size, group->first);
    HYDRA_REQUIRE(group->factor >= 1 && group->factor <= group->size && group->size % group->factor == 0, fault,
                  "microbatch %" PRId64 ": factor %" PRId64 " does not divide a group of %" PRId64, m, group->factor,
                  group->size);
    HYDRA_REQUIRE(group->docs_end >= group->docs_begin && group->docs_end <= s->ndocs &&
                      group->docs_begin == (g == 0 ? 0 : s->groups[g - 1].docs_end),
                  fault, "microbatch %" PRId64 ": group at slot %" PRId64 " has documents %" PRId64 " .. %" PRId64, m,
                  group->first, group->docs_begin, group->docs_end);

fail:
    return status;
}

static int check_documents(const struct hydra_schedule *s, int64_t m, const struct hydra_group *group, uint8_t *seen,
                           int fault)
{
    int64_t tokens = 0;
    int status = HYDRA_SUCCESS;

    for (int64_t d = group->docs_begin; d < group->docs_end; d++) {
        int64_t id = s->docs[d];

        HYDRA_REQUIRE(id >= 0 && id < s->ndocs && !(seen[id / 8] >> id % 8 & 1), fault,
                      "microbatch %" PRId64 ": document %" PRId64 " does not exist or is placed twice", m, id);
        HYDRA_REQUIRE(d == group->docs_begin || id > s->docs[d - 1], fault,
                      "microbatch %" PRId64 ": document %" PRId64 " is out of order", m, id);
        seen[id / 8] |= (uint8_t)(1 << id % 8);
        tokens += s->lengths[id];
    }
    HYDRA_REQUIRE(hydra_ceil_div(tokens, group->size) <= s->options.budget, fault,
                  "microbatch %" PRId64 ": %" PRId64 " tokens on the %" PRId64 " slots from %" PRId64
                  " exceed budget %" PRId64,
                  m, tokens, group->size, group->first, s->options.budget);

fail:
    return status;
}

int hydra_schedule_check_groups(const struct hydra_schedule *s, int fault)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(s->group_begin[0] == 0 && s->group_begin[s->microbatches] == s->ngroups, fault,
                  "the microbatches do not hold all %" PRId64 " groups", s->ngroups);
    for (int64_t m = 0; m < s->microbatches; m++) {
        int64_t free_slot = 0; /* first slot after the groups so far */

        HYDRA_REQUIRE(s->group_begin[m] <= s->group_begin[m + 1] && s->group_begin[m + 1] <= s->ngroups, fault,
                      "microbatch %" PRId64 " has groups %" PRId64 " .. %" PRId64, m, s->group_begin[m],
                      s->group_begin[m + 1]);
        for (int64_t g = s->group_begin[m]; g < s->group_begin[m + 1]; g++) {
            HYDRA_TRY(check_group(s, m, g, free_slot, fault));
            free_slot = s->groups[g].first + s->groups[g].size;
        }
    }
    HYDRA_REQUIRE(s->ndocs == (s->ngroups == 0 ? 0 : s->groups[s->ngroups - 1].docs_end), fault,
                  "%" PRId64 " documents, but the groups do not hold them all", s->ndocs);

fail:
    return status;
}

int hydra_schedule_check_documents(const struct hydra_schedule *s, int fault)
{
    uint8_t *seen = hydra_calloc(s->ndocs / 8 + 1, 1);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(seen != NULL, HYDRA_ERR_NOMEM, "marks of %" PRId64 " documents", s->ndocs);
    for (int64_t m = 0; m < s->microbatches; m++)
        for (int64_t g = s->group_begin[m]; g < s->group_begin[m + 1]; g++)
            HYDRA_TRY(check_documents(s, m, &s->groups[g], seen, fault));

fail:
    hydra_free(seen);
    return status;
}
