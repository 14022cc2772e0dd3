/* split.c: the split form of the forward: the caller puts Q, K and V as they become final, in any order; every rank
 * starts their all-to-alls in the order Q, V, K, so that no two ranks wait for different ones. */
#include "api/attn.h"

#include <string.h>

#include "base/error.h"
#include "base/range.h"

static const int issue_order[HYDRA_SPLIT_TENSORS] = {HYDRA_Q, HYDRA_V, HYDRA_K};
static const int part_of[HYDRA_SPLIT_TENSORS] = {
    [HYDRA_Q] = HYDRA_PART_Q, [HYDRA_K] = HYDRA_PART_K, [HYDRA_V] = HYDRA_PART_V};
static const char *const name_of[HYDRA_SPLIT_TENSORS] = {[HYDRA_Q] = "q", [HYDRA_K] = "k", [HYDRA_V] = "v"};

int Hydra_Attn_start(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, Hydra_Op *op)
{
    HYDRA_IN_RANGE(ATTN_START);
    struct hydra_use use = {.split = true, .lse = true};
    int status = HYDRA_SUCCESS;

    if ((status = hydra_attn_open(attn)) != HYDRA_SUCCESS)
        return status;
    HYDRA_REQUIRE(op != NULL, HYDRA_ERR_ARG, "op is NULL");
    HYDRA_TRY(hydra_attn_enter(attn, schedule, m, &use));
    attn->split = (struct hydra_op){.context = attn->context, .attn = attn, .schedule = schedule, .microbatch = m};
    attn->engine->busy = true;
    attn->context->under_way++;
    *op = &attn->split;

fail:
    return hydra_api_leave(attn->context, status);
}

int Hydra_Attn_put(Hydra_Op op, int which, const void *buffer)
{
    HYDRA_IN_RANGE(ATTN_PUT);
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    if (op == NULL || op->attn == NULL || !op->attn->engine->busy)
        return hydra_error(HYDRA_ERR_ARG, "op is no split forward, or one that has been waited for");
    if ((status = hydra_context_enter(op->context)) != HYDRA_SUCCESS)
        return status;
    HYDRA_REQUIRE(which >= 0 && which < HYDRA_SPLIT_TENSORS, HYDRA_ERR_ARG,
                  "which is %d, must be HYDRA_Q, HYDRA_K or HYDRA_V", which);
    HYDRA_REQUIRE(!op->put[which], HYDRA_ERR_STATE, "%s was put before", name_of[which]);
    HYDRA_TRY(hydra_attn_need(op->attn, buffer, name_of[which]));
    op->data[which] = buffer;
    op->put[which] = true;
    for (; op->issued < HYDRA_SPLIT_TENSORS && op->put[issue_order[op->issued]]; op->issued++) {
        int next = issue_order[op->issued];

        HYDRA_TRY(hydra_forward_put(op->attn->engine, part_of[next], op->data[next]));
    }

fail:
    return hydra_api_leave(op->context, status);
}

int Hydra_Attn_wait(Hydra_Op *op, void *out, void *lse, Hydra_Saved saved)
{
    HYDRA_IN_RANGE(ATTN_WAIT);
    struct hydra_kept *kept = NULL;
    Hydra_Attn attn;
    Hydra_Op o;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    if (op == NULL || *op == NULL || (*op)->attn == NULL || !(*op)->attn->engine->busy)
        return hydra_error(HYDRA_ERR_ARG, "op is no split forward, or one that has been waited for");
    o = *op;
    attn = o->attn;
    *op = NULL;
    attn->engine->busy = false;
    if (hydra_context_pool(attn->context) != NULL)
        attn->context->under_way--;
    if ((status = hydra_context_enter(attn->context)) != HYDRA_SUCCESS)
        return status;
    for (int which = 0; which < HYDRA_SPLIT_TENSORS; which++)
        HYDRA_REQUIRE(o->put[which], HYDRA_ERR_STATE, "%s was not put", name_of[which]);
    HYDRA_TRY(hydra_attn_check_out(attn, out, lse, o->data[HYDRA_Q], o->data[HYDRA_K], o->data[HYDRA_V]));
    HYDRA_TRY(hydra_saved_begin(saved, attn, &kept));
    HYDRA_TRY(hydra_forward_finish(attn->engine, out, lse, kept));
    hydra_saved_filled(kept, o->schedule, o->microbatch);

fail:
    return hydra_api_leave(attn->context, status);
}
