/* dispatch.c: Hydra_Dispatch, Hydra_Collect and their started forms. */
#include "api/attn.h"
#include "attn/move.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/range.h"

/* Rows of microbatch m that a slot holds. */
static int64_t held_rows(Hydra_Schedule schedule, int64_t m, int64_t slot)
{
    const struct hydra_group *group = hydra_schedule_group_of(schedule, m, slot);
    int64_t rows = 0, rotation = 0;

    for (int64_t place = group != NULL ? group->docs_begin : 0; group != NULL && place < group->docs_end; place++) {
        int64_t length = schedule->lengths[schedule->docs[place]];
        struct hydra_shape shape = {length, group->size, group->factor, rotation, false};

        rows += hydra_shard_tokens(&shape, slot - group->first);
        rotation = (rotation + length % group->size) % group->size;
    }
    return rows;
}

static int start(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t token_bytes, const void *from,
                 void *to, bool collect, Hydra_Op *op)
{
    struct hydra_move_call call = {schedule, m, collect, token_bytes, from, to, 0};
    Hydra_Op made = NULL;
    int64_t loaded, held;
    int status;

    if ((status = hydra_context_enter(context)) != HYDRA_SUCCESS)
        return status;
    HYDRA_REQUIRE(op != NULL, HYDRA_ERR_ARG, "op is NULL");
    HYDRA_TRY(hydra_api_enter(context, schedule, m));
    HYDRA_REQUIRE(token_bytes >= 1, HYDRA_ERR_ARG, "bytes_per_token is 0");
    loaded = hydra_move_loaded_rows(schedule, context->pool->rank);
    held = held_rows(schedule, m, schedule->slot_of_rank[context->pool->rank]);
    HYDRA_REQUIRE(from != NULL || (collect ? held : loaded) == 0, HYDRA_ERR_ARG, "from is NULL");
    HYDRA_REQUIRE(to != NULL || (collect ? loaded : held) == 0, HYDRA_ERR_ARG, "to is NULL");
    made = hydra_calloc(1, sizeof *made);
    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "operation");
    made->context = context;
    call.operation = context->operations;
    HYDRA_TRY(hydra_move_start(context->pool, context->alltoall, &call, &made->move));
    context->under_way++;
    *op = made;
    return HYDRA_SUCCESS;

fail:
    status = hydra_api_leave(context, status);
    if (made != NULL)
        hydra_move_free(&made->move, context->pool);
    hydra_free(made);
    return status;
}

static int finish(Hydra_Op *op)
{
    Hydra_Context context;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(op != NULL && *op != NULL, HYDRA_ERR_ARG, "op is HYDRA_OP_NULL");
    HYDRA_REQUIRE((*op)->move != NULL, HYDRA_ERR_ARG, "a split forward ends with Hydra_Attn_wait");
    context = (*op)->context;
    status = hydra_context_enter(context);
    if (status == HYDRA_SUCCESS)
        status = hydra_api_leave(context, hydra_move_finish((*op)->move));
    if (hydra_context_pool(context) != NULL)
        context->under_way--;
    hydra_move_free(&(*op)->move, hydra_context_pool(context));
    hydra_free(*op);
    *op = NULL;

fail:
    return status;
}

int Hydra_Dispatch_start(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token,
                         const void *from, void *to, Hydra_Op *op)
{
    HYDRA_IN_RANGE(DISPATCH_START);

    return start(context, schedule, m, bytes_per_token, from, to, false, op);
}

int Hydra_Collect_start(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token,
                        const void *from, void *to, Hydra_Op *op)
{
    HYDRA_IN_RANGE(COLLECT_START);

    return start(context, schedule, m, bytes_per_token, from, to, true, op);
}

int Hydra_Op_wait(Hydra_Op *op)
{
    HYDRA_IN_RANGE(OP_WAIT);

    return finish(op);
}

int Hydra_Dispatch(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token, const void *from,
                   void *to)
{
    HYDRA_IN_RANGE(DISPATCH);
    Hydra_Op op = NULL;
    int status = start(context, schedule, m, bytes_per_token, from, to, false, &op);

    return status == HYDRA_SUCCESS ? finish(&op) : status;
}

int Hydra_Collect(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token, const void *from,
                  void *to)
{
    HYDRA_IN_RANGE(COLLECT);
    Hydra_Op op = NULL;
    int status = start(context, schedule, m, bytes_per_token, from, to, true, &op);

    return status == HYDRA_SUCCESS ? finish(&op) : status;
}
