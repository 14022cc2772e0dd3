/* view.c: what one rank holds of one microbatch. */
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/schedule.h"
#include "plan/shard.h"

int Hydra_Microbatch_free(Hydra_Microbatch *view)
{
    if (view == NULL)
        return HYDRA_SUCCESS;
    hydra_free(view->doc_ids);
    hydra_free(view->doc_lengths);
    hydra_free(view->cu_seqlens);
    hydra_free(view->token_share);
    hydra_free(view->positions);
    hydra_free(view->global_positions);
    hydra_free(view->group_ranks);
    memset(view, 0, sizeof *view);
    return HYDRA_SUCCESS;
}

static struct hydra_shape shape_of(const struct hydra_schedule *s, const struct hydra_group *group, int64_t id,
                                   int64_t rotation)
{
    return (struct hydra_shape){.length = s->lengths[id],
                                .size = group->size,
                                .factor = group->factor,
                                .rotation = rotation,
                                .zigzag = hydra_schedule_zigzag(s, group)};
}

/* Documents, and how many of their tokens this member holds. rotations [in] [ndocs]. */
static void fill_documents(const struct hydra_schedule *s, const struct hydra_group *group, const int64_t *rotations,
                           Hydra_Microbatch *view)
{
    view->cu_seqlens[0] = 0;
    for (int64_t d = 0; d < view->ndocs; d++) {
        int64_t id = s->docs[group->docs_begin + d];
        struct hydra_shape shape = shape_of(s, group, id, rotations[d]);
        int64_t tokens = hydra_shard_tokens(&shape, view->member);

        view->doc_ids[d] = id;
        view->doc_lengths[d] = s->lengths[id];
        view->cu_seqlens[d + 1] = view->cu_seqlens[d] + tokens;
        view->token_share[d] = s->lengths[id] == 0 ? 0.0 : (double)tokens / (double)s->lengths[id];
    }
    view->tokens = view->cu_seqlens[view->ndocs];
}

static void fill_positions(const struct hydra_schedule *s, const struct hydra_group *group, const int64_t *rotations,
                           Hydra_Microbatch *view)
{
    for (int64_t d = 0; d < view->ndocs; d++) {
        struct hydra_shape shape = shape_of(s, group, view->doc_ids[d], rotations[d]);
        struct hydra_run runs[2];
        int64_t row = view->cu_seqlens[d];

        hydra_shard_member_runs(&shape, view->member, runs);
        for (int piece = 0; piece < 2; piece++)
            for (int64_t i = 0; i < runs[piece].count; i++, row++) {
                view->positions[row] = runs[piece].begin + i;
                view->global_positions[row] = s->starts[view->doc_ids[d]] + runs[piece].begin + i;
            }
    }
}

int Hydra_Schedule_microbatch(Hydra_Schedule schedule, int64_t m, int64_t rank, Hydra_Microbatch *view)
{
    Hydra_Microbatch made = {.index = m};
    const struct hydra_group *group;
    int64_t *rotations = NULL;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(schedule != NULL && view != NULL, HYDRA_ERR_ARG,
                  "Hydra_Schedule_microbatch: schedule or view is NULL");
    HYDRA_REQUIRE(m >= 0 && m < schedule->microbatches, HYDRA_ERR_ARG, "microbatch %" PRId64 " of %" PRId64, m,
                  schedule->microbatches);
    HYDRA_REQUIRE(rank >= 0 && rank < schedule->pool, HYDRA_ERR_ARG, "rank %" PRId64 " of a pool of %" PRId64, rank,
                  schedule->pool);
    made.slot = schedule->slot_of_rank[rank];
    group = hydra_schedule_group_of(schedule, m, made.slot);
    made.first_slot = group == NULL ? made.slot : group->first;
    made.degree = group == NULL ? 0 : group->size;
    made.member = made.slot - made.first_slot;
    made.ulysses = group == NULL ? 1 : group->factor;
    made.ring = group == NULL ? 1 : group->size / group->factor;
    made.ndocs = group == NULL ? 0 : group->docs_end - group->docs_begin;
    made.doc_ids = hydra_alloc(made.ndocs, sizeof *made.doc_ids);
    made.doc_lengths = hydra_alloc(made.ndocs, sizeof *made.doc_lengths);
    made.cu_seqlens = hydra_calloc(made.ndocs + 1, sizeof *made.cu_seqlens);
    made.token_share = hydra_alloc(made.ndocs, sizeof *made.token_share);
    made.group_ranks = hydra_alloc(made.degree, sizeof *made.group_ranks);
    rotations = hydra_alloc(made.ndocs, sizeof *rotations);
    HYDRA_REQUIRE(made.doc_ids != NULL && made.doc_lengths != NULL && made.cu_seqlens != NULL &&
                      made.token_share != NULL && made.group_ranks != NULL && rotations != NULL,
                  HYDRA_ERR_NOMEM, "view of %" PRId64 " documents", made.ndocs);
    if (group != NULL) {
        memcpy(made.group_ranks, schedule->rank_of_slot + group->first, (size_t)group->size * sizeof *made.group_ranks);
        hydra_schedule_rotations(schedule, group, rotations);
        fill_documents(schedule, group, rotations, &made);
    }
    made.tokens_aligned = hydra_ceil_div(made.tokens, schedule->options.align) * schedule->options.align;
    made.positions = hydra_alloc(made.tokens, sizeof *made.positions);
    made.global_positions = hydra_alloc(made.tokens, sizeof *made.global_positions);
    HYDRA_REQUIRE(made.positions != NULL && made.global_positions != NULL, HYDRA_ERR_NOMEM,
                  "view of %" PRId64 " tokens", made.tokens);
    if (group != NULL)
        fill_positions(schedule, group, rotations, &made);
    hydra_free(rotations);
    *view = made;
    return HYDRA_SUCCESS;

fail:
    hydra_free(rotations);
    Hydra_Microbatch_free(&made);
    return status;
}
