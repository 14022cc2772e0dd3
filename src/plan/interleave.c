/* interleave.c: interleaved pipelines want a microbatch count that is a multiple of their depth. */
#include "plan/interleave.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/layout.h"

/* What goes to one half or the other: a group of the microbatch, or a document of its only group. */
struct piece {
    int64_t index; /* of the draft's group, or document id */
    int64_t size;  /* slots; 0 for a document */
    hydra_weight weight;
};

struct splitter {
    const struct hydra_batch *batch;
    struct hydra_draft *draft;
    hydra_weight *weight;             /* of each draft group's documents */
    struct piece *pieces;             /* [max(N, groups)] */
    struct hydra_draft_group *groups; /* [max(N, groups)] of one microbatch, to be laid out */
    int64_t npieces;
};

/* Largest first; equal ones in their old order. */
static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void collect_groups(struct splitter *s, int64_t m)
{
    s->npieces = 0;
    for (int64_t g = 0; g < s->draft->ngroups; g++)
        if (s->draft->groups[g].microbatch == m)
            s->pieces[s->npieces++] = (struct piece){g, s->draft->groups[g].size, s->weight[g]};
}

static void collect_documents(struct splitter *s, int64_t group)
{
    s->npieces = 0;
    for (int64_t i = 0; i < s->batch->ndocs; i++)
        if (s->draft->group_of[i] == group)
            s->pieces[s->npieces++] = (struct piece){i, 0, hydra_batch_weight(s->batch, i)};
}

/* Grow and lay out the groups of microbatch m. */
static void fill_microbatch(struct splitter *s, int64_t m)
{
    int64_t count = 0, next = 0;

    for (int64_t g = 0; g < s->draft->ngroups; g++)
        if (s->draft->groups[g].microbatch == m)
            s->groups[count++] = s->draft->groups[g];
    hydra_layout_fill(s->batch, s->groups, count);
    for (int64_t g = 0; g < s->draft->ngroups; g++)
        if (s->draft->groups[g].microbatch == m)
            s->draft->groups[g] = s->groups[next++];
}

/* Deal the pieces, largest first, to the half that has less; move those of the second half to where `to` says. */
static void deal_pieces(struct splitter *s, void (*move)(struct splitter *, const struct piece *, int64_t), int64_t to)
{
    int64_t slots[2] = {0, 0};
    hydra_weight weight[2] = {0, 0};

    qsort(s->pieces, (size_t)s->npieces, sizeof *s->pieces, compare_pieces);
    for (int64_t i = 0; i < s->npieces; i++) {
        int half = slots[0] != slots[1] ? slots[1] < slots[0] : weight[1] < weight[0];

        if (i == 1) /* both halves get one, even when the first weighs nothing */
            half = 1;
        slots[half] += s->pieces[i].size;
        weight[half] += s->pieces[i].weight;
        if (half == 1)
            move(s, &s->pieces[i], to);
    }
}

static void move_group(struct splitter *s, const struct piece *piece, int64_t microbatch)
{
    s->draft->groups[piece->index].microbatch = microbatch;
}

static void move_document(struct splitter *s, const struct piece *piece, int64_t group)
{
    s->draft->group_of[piece->index] = group;
    s->weight[group] += piece->weight;
}

/* Split microbatch m into m and m + 1; *done false when it holds at most one document. */
static int split(struct splitter *s, int64_t m, bool *done)
{
    int64_t only = -1, added;
    bool by_group;
    int status = HYDRA_SUCCESS;

    *done = false;
    collect_groups(s, m);
    by_group = s->npieces > 1;
    if (s->npieces == 1) {
        only = s->pieces[0].index;
        collect_documents(s, only);
    }
    if (s->npieces < 2)
        return HYDRA_SUCCESS;
    for (int64_t g = 0; g < s->draft->ngroups; g++)
        s->draft->groups[g].microbatch += s->draft->groups[g].microbatch > m;
    s->draft->microbatches++;
    if (by_group) {
        deal_pieces(s, move_group, m + 1);
    } else {
        HYDRA_TRY(hydra_draft_add_group(s->draft, m + 1, 0, s->draft->groups[only].size, &added));
        s->weight[added] = 0;
        deal_pieces(s, move_document, added);
        s->weight[only] -= s->weight[added];
    }
    fill_microbatch(s, m);
    fill_microbatch(s, m + 1);
    *done = true;

fail:
    return status;
}

/* Split `wanted` microbatches, each once, from the last backwards; *made [out] how many could be. */
static int split_round(struct splitter *s, int64_t wanted, int64_t *made)
{
    int status = HYDRA_SUCCESS;

    *made = 0;
    for (int64_t m = s->draft->microbatches - 1; m >= 0 && *made < wanted; m--) {
        bool done;

        HYDRA_TRY(split(s, m, &done));
        *made += done;
    }

fail:
    return status;
}

int hydra_plan_interleave(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    const Hydra_Plan_options *o = batch->options;
    struct splitter s = {.batch = batch, .draft = draft};
    int64_t wanted, made = 1, room = draft->ngroups + o->pipeline_stages;
    int status = HYDRA_SUCCESS;

    draft->microbatches = hydra_max(1, draft->microbatches);
    wanted = (o->pipeline_stages - draft->microbatches % o->pipeline_stages) % o->pipeline_stages;
    if (o->pipeline_chunks == 1 || wanted == 0)
        return HYDRA_SUCCESS;
    s.weight = hydra_calloc(room, sizeof *s.weight);
    s.pieces = hydra_alloc(hydra_max(room, batch->ndocs), sizeof *s.pieces);
    s.groups = hydra_alloc(room, sizeof *s.groups);
    HYDRA_REQUIRE(s.weight != NULL && s.pieces != NULL && s.groups != NULL, HYDRA_ERR_NOMEM,
                  "splitting %" PRId64 " microbatches", draft->microbatches);
    for (int64_t i = 0; i < batch->ndocs; i++)
        s.weight[draft->group_of[i]] += hydra_batch_weight(batch, i);
    while (wanted > 0 && made > 0) {
        HYDRA_TRY(split_round(&s, wanted, &made));
        wanted -= made;
    }
    draft->microbatches += wanted;

fail:
    hydra_free(s.weight);
    hydra_free(s.pieces);
    hydra_free(s.groups);
    return status;
}
