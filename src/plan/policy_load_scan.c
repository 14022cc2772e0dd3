/* policy_load_scan.c: the load policy as written down, by linear scan, O(N x G). The oracle of policy_load.c and the
 * baseline of the bench; plain on purpose, and it shares only the targets and the splitting of tail microbatches. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/interleave.h"
#include "plan/policy.h"
#include "plan/targets.h"

struct scanned {
    int64_t id;
    int64_t tokens;
    int64_t degree;
    hydra_weight weight;
    bool placed;
};

/* An open group of the current microbatch. */
struct open_group {
    int64_t first;
    int64_t size;
    int64_t tokens;
    hydra_weight weight;
    int64_t index; /* in the draft */
};

struct scan {
    const struct hydra_batch *batch;
    struct hydra_draft *draft;
    struct hydra_targets targets;
    struct scanned *documents;
    struct open_group *groups;
    int64_t ngroups;
    bool *taken; /* [G] slots of open groups */
};

static int compare_documents(const void *left, const void *right)
{
    const struct scanned *a = left, *b = right;

    if (a->degree != b->degree)
        return a->degree < b->degree ? 1 : -1;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return a->id < b->id ? -1 : 1;
}

/* First slot of the lowest aligned free chunk, or -1. */
static int64_t find_chunk(const struct scan *s, int64_t size)
{
    for (int64_t first = 0; first + size <= s->batch->pool; first += size) {
        int64_t slot = first;

        while (slot < first + size && !s->taken[slot])
            slot++;
        if (slot == first + size)
            return first;
    }
    return -1;
}

static bool feasible(const struct scan *s, const struct open_group *group, const struct scanned *document)
{
    hydra_weight load = (group->weight + document->weight) * (hydra_weight)s->targets.cap;
    int64_t tokens = group->tokens + document->tokens;

    return load <= s->targets.target * (hydra_weight)group->size &&
           (tokens + group->size - 1) / group->size <= s->batch->options->budget;
}

/* Is group a the better choice: smaller, less loaded, lower slot? */
static bool better(const struct open_group *a, const struct open_group *b)
{
    if (a->size != b->size)
        return a->size < b->size;
    if (a->weight != b->weight)
        return a->weight < b->weight;
    return a->first < b->first;
}

static struct open_group *choose_group(const struct scan *s, const struct scanned *document)
{
    struct open_group *chosen = NULL;

    for (int64_t g = 0; g < s->ngroups; g++) {
        struct open_group *group = &s->groups[g];

        if (group->size >= document->degree && feasible(s, group, document) &&
            (chosen == NULL || better(group, chosen)))
            chosen = group;
    }
    return chosen;
}

/* Every slot occupied, (max - min) rank load at most 5% of max. */
static bool is_balanced(const struct scan *s)
{
    const struct open_group *most = &s->groups[0], *least = &s->groups[0];
    int64_t occupied = 0;

    for (int64_t g = 0; g < s->ngroups; g++) {
        const struct open_group *group = &s->groups[g];

        occupied += group->size;
        if (group->weight * (hydra_weight)most->size > most->weight * (hydra_weight)group->size)
            most = group;
        if (group->weight * (hydra_weight)least->size < least->weight * (hydra_weight)group->size)
            least = group;
    }
    return occupied == s->batch->pool &&
           20 * least->weight * (hydra_weight)most->size >= 19 * most->weight * (hydra_weight)least->size;
}

/* Double the smallest group while there is room; on other pools the step after the greatest power
 * of two is the pool. */
static void use_idle_slots(struct scan *s)
{
    for (;;) {
        struct open_group *smallest = &s->groups[0];
        int64_t idle = s->batch->pool, grown;

        for (int64_t g = 0; g < s->ngroups; g++) {
            idle -= s->groups[g].size;
            if (s->groups[g].size < smallest->size)
                smallest = &s->groups[g];
        }
        grown = 2 * smallest->size <= s->batch->pool ? 2 * smallest->size : s->batch->pool;
        if (grown == smallest->size || grown > s->batch->options->max_degree || grown - smallest->size > idle)
            return;
        smallest->size = grown;
    }
}

static void lay_out(struct scan *s)
{
    int64_t slot = 0;

    for (int64_t size = s->batch->pool; size >= 1; size = size == 1 ? 0 : hydra_pow2_floor(size - 1))
        for (int64_t g = 0; g < s->ngroups; g++)
            if (s->groups[g].size == size) {
                s->groups[g].first = slot;
                slot += size;
            }
    for (int64_t g = 0; g < s->ngroups; g++) {
        s->draft->groups[s->groups[g].index].first = s->groups[g].first;
        s->draft->groups[s->groups[g].index].size = s->groups[g].size;
    }
}

static int fill_microbatch(struct scan *s, int64_t m, int64_t *placed)
{
    int64_t first_degree = 0;
    int status = HYDRA_SUCCESS;

    s->ngroups = 0;
    memset(s->taken, 0, (size_t)s->batch->pool * sizeof *s->taken);
    for (int64_t i = 0; i < s->batch->ndocs; i++) {
        struct scanned *document = &s->documents[i];
        struct open_group *group = NULL;
        int64_t chunk;

        if (document->placed)
            continue;
        if (first_degree == 0)
            first_degree = document->degree;
        chunk = find_chunk(s, document->degree);
        if (chunk >= 0) {
            group = &s->groups[s->ngroups++];
            *group = (struct open_group){.first = chunk, .size = document->degree};
            memset(s->taken + chunk, true, (size_t)document->degree * sizeof *s->taken);
            HYDRA_TRY(hydra_draft_add_group(s->draft, m, chunk, document->degree, &group->index));
        } else {
            group = choose_group(s, document);
        }
        if (group == NULL && s->batch->options->skip)
            continue;
        if (group == NULL)
            break;
        group->weight += document->weight;
        group->tokens += document->tokens;
        s->draft->group_of[document->id] = group->index;
        document->placed = true;
        (*placed)++;
        if (document->degree < first_degree && is_balanced(s))
            break;
    }
    use_idle_slots(s);
    lay_out(s);

fail:
    return status;
}

int hydra_policy_load_scan(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    struct scan s = {.batch = batch, .draft = draft};
    int64_t placed = 0;
    int status = HYDRA_SUCCESS;

    s.documents = hydra_calloc(batch->ndocs, sizeof *s.documents);
    s.groups = hydra_calloc(batch->pool, sizeof *s.groups);
    s.taken = hydra_calloc(batch->pool, sizeof *s.taken);
    HYDRA_REQUIRE(s.documents != NULL && s.groups != NULL && s.taken != NULL, HYDRA_ERR_NOMEM,
                  "linear scan of %" PRId64 " documents", batch->ndocs);
    hydra_targets_derive(batch, &s.targets);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        hydra_weight weight = hydra_batch_weight(batch, i);
        int64_t degree = hydra_targets_degree(batch, &s.targets, batch->lengths[i], weight);

        s.documents[i] = (struct scanned){i, batch->lengths[i], degree, weight, false};
    }
    qsort(s.documents, (size_t)batch->ndocs, sizeof *s.documents, compare_documents);
    for (int64_t m = 0; placed < batch->ndocs; m++)
        HYDRA_TRY(fill_microbatch(&s, m, &placed));
    HYDRA_TRY(hydra_plan_interleave(batch, draft));

fail:
    hydra_free(s.documents);
    hydra_free(s.groups);
    hydra_free(s.taken);
    return status;
}
