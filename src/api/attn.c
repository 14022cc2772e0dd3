/* attn.c: Hydra_Attn_*: an attention layer, its forward and backward. */
#include "api/attn.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/range.h"

int hydra_api_enter(Hydra_Context context, Hydra_Schedule schedule, int64_t m)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(schedule != NULL, HYDRA_ERR_ARG, "schedule is HYDRA_SCHEDULE_NULL");
    HYDRA_REQUIRE(schedule->pool == context->pool->size, HYDRA_ERR_ARG,
                  "the schedule is for %" PRId64 " ranks, the pool has %d", schedule->pool, context->pool->size);
    HYDRA_REQUIRE(m >= 0 && m < schedule->microbatches, HYDRA_ERR_ARG, "microbatch %" PRId64 " is not in 0 .. %" PRId64,
                  m, schedule->microbatches - 1);
    context->operations++;

fail:
    return status;
}

int hydra_api_leave(Hydra_Context context, int status)
{
    return status == HYDRA_SUCCESS ? HYDRA_SUCCESS : hydra_pool_fail(context->pool, status);
}

int hydra_attn_open(Hydra_Attn attn)
{
    hydra_error_clear();
    return attn == NULL ? hydra_error(HYDRA_ERR_ARG, "attn is HYDRA_ATTN_NULL") : hydra_context_enter(attn->context);
}

int hydra_attn_enter(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, const struct hydra_use *use)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(!attn->engine->busy, HYDRA_ERR_STATE, "a split forward of this attention layer is still under way");
    HYDRA_TRY(hydra_api_enter(attn->context, schedule, m));
    HYDRA_TRY(hydra_engine_begin(attn->engine, schedule, m, use));

fail:
    return status;
}

int hydra_attn_need(Hydra_Attn attn, const void *buffer, const char *name)
{
    int64_t rows = attn->engine->layout.size > 0 ? attn->engine->layout.rows : 0;

    if (buffer == NULL && rows > 0)
        return hydra_error(HYDRA_ERR_ARG, "%s is NULL, but this rank holds %" PRId64 " tokens", name, rows);
    return HYDRA_SUCCESS;
}

/* One of the caller's, with the strides and the type of its part. */
struct buffer {
    int part;
    const void *data;
    const char *name;
};

/* Bytes from the first to the last element of a buffer. */
static size_t extent(Hydra_Attn attn, int part)
{
    struct hydra_exchanged what = hydra_engine_exchanged(attn->engine, part);
    struct hydra_tensor tensor = hydra_engine_tensor(attn->engine, part, NULL);
    int heads = what.kv ? what.kv_heads : what.heads;
    enum hydra_dtype dtype = part == HYDRA_PART_LSE ? what.dtype : attn->engine->config.dtype;
    int64_t rows = attn->engine->layout.size > 0 ? attn->engine->layout.rows : 0;

    return rows == 0 ? 0
                     : (size_t)((rows - 1) * tensor.row_stride + (heads - 1) * tensor.head_stride + what.dim) *
                           hydra_dtype_bytes(dtype);
}

/* HYDRA_ERR_ARG when one of the outputs overlaps one of the inputs. */
static int check_apart(Hydra_Attn attn, const struct buffer *outputs, int noutputs, const struct buffer *inputs,
                       int ninputs)
{
    for (const struct buffer *out = outputs; out < outputs + noutputs; out++)
        for (const struct buffer *in = inputs; in < inputs + ninputs; in++) {
            const char *a = out->data, *b = in->data;

            if (a != NULL && b != NULL && a + extent(attn, out->part) > b && b + extent(attn, in->part) > a)
                return hydra_error(HYDRA_ERR_ARG, "%s and %s overlap", out->name, in->name);
        }
    return HYDRA_SUCCESS;
}

int hydra_attn_check_out(Hydra_Attn attn, const void *out, const void *lse, const void *q, const void *k, const void *v)
{
    const struct buffer outputs[] = {{HYDRA_PART_OUT, out, "out"}, {HYDRA_PART_LSE, lse, "lse"}};
    const struct buffer inputs[] = {{HYDRA_PART_Q, q, "q"}, {HYDRA_PART_K, k, "k"}, {HYDRA_PART_V, v, "v"}};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_attn_need(attn, out, "out"));
    HYDRA_TRY(check_apart(attn, outputs, 2, inputs, 3));

fail:
    return status;
}

/* One tensor's strides: 0 is packed row-major. */
static int resolve_strides(struct hydra_tensor *tensor, int64_t token, int64_t head, int heads, int dim,
                           const char *name)
{
    int status = HYDRA_SUCCESS;

    *tensor = (struct hydra_tensor){NULL, token != 0 ? token : (int64_t)heads * dim, head != 0 ? head : dim};
    HYDRA_REQUIRE(tensor->row_stride >= dim && tensor->head_stride >= dim, HYDRA_ERR_ARG,
                  "%s: token stride %" PRId64 " and head stride %" PRId64 " must be at least the head dim %d", name,
                  tensor->row_stride, tensor->head_stride, dim);

fail:
    return status;
}

static int resolve_config(const Hydra_Attn_config *given, struct hydra_engine_config *config)
{
    Hydra_Attn_config c = HYDRA_ATTN_CONFIG_INIT;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(given != NULL, HYDRA_ERR_ARG, "config is NULL");
    HYDRA_REQUIRE(given->size > 0 && given->size <= sizeof c, HYDRA_ERR_UNSUPPORTED,
                  "Hydra_Attn_config.size is %zu, not 1 .. %zu: start from HYDRA_ATTN_CONFIG_INIT", given->size,
                  sizeof c);
    memcpy(&c, given, given->size);
    HYDRA_REQUIRE(c.heads >= 1 && c.heads <= 65536, HYDRA_ERR_ARG, "heads is %d, must be 1 .. 65536", c.heads);
    HYDRA_REQUIRE(c.kv_heads >= 1 && c.kv_heads <= c.heads, HYDRA_ERR_ARG, "kv_heads is %d, must be 1 .. heads (%d)",
                  c.kv_heads, c.heads);
    HYDRA_REQUIRE(c.head_dim >= 1 && c.head_dim <= 256, HYDRA_ERR_ARG, "head_dim is %d, must be 1 .. 256", c.head_dim);
    HYDRA_REQUIRE(c.value_dim >= 0 && c.value_dim <= 256, HYDRA_ERR_ARG, "value_dim is %d, must be 0 .. 256",
                  c.value_dim);
    HYDRA_REQUIRE(c.dtype >= HYDRA_FLOAT32 && c.dtype <= HYDRA_FLOAT16, HYDRA_ERR_ARG, "dtype %d is unknown",
                  (int)c.dtype);
    HYDRA_REQUIRE(c.mask >= HYDRA_MASK_CAUSAL && c.mask <= HYDRA_MASK_WINDOW, HYDRA_ERR_ARG, "mask %d is unknown",
                  c.mask);
    HYDRA_REQUIRE(c.mask != HYDRA_MASK_WINDOW || (c.window >= 1 && c.sink >= 0), HYDRA_ERR_ARG,
                  "window is %" PRId64 " and sink %" PRId64 ": at least 1 and 0", c.window, c.sink);
    HYDRA_REQUIRE(isfinite(c.scale) && c.scale >= 0, HYDRA_ERR_ARG, "scale is %g, must be finite and not negative",
                  c.scale);
    HYDRA_REQUIRE(c.memory == HYDRA_MEMORY_HOST, HYDRA_ERR_UNSUPPORTED, "memory kind %d: only host memory here",
                  (int)c.memory);
    if (c.value_dim == 0)
        c.value_dim = c.head_dim;
    *config = (struct hydra_engine_config){.heads = c.heads,
                                           .kv_heads = c.kv_heads,
                                           .head_dim = c.head_dim,
                                           .value_dim = c.value_dim,
                                           .dtype = (enum hydra_dtype)c.dtype,
                                           .mask = {(enum hydra_mask_kind)c.mask, c.window, c.sink},
                                           .scale = c.scale > 0 ? c.scale : 1 / sqrt(c.head_dim)};
    HYDRA_TRY(resolve_strides(&config->q, c.q_token_stride, c.q_head_stride, c.heads, c.head_dim, "q"));
    HYDRA_TRY(resolve_strides(&config->k, c.k_token_stride, c.k_head_stride, c.kv_heads, c.head_dim, "k"));
    HYDRA_TRY(resolve_strides(&config->v, c.v_token_stride, c.v_head_stride, c.kv_heads, c.value_dim, "v"));
    HYDRA_TRY(resolve_strides(&config->out, c.out_token_stride, c.out_head_stride, c.heads, c.value_dim, "out"));

fail:
    return status;
}

int Hydra_Attn_create(Hydra_Context context, const Hydra_Attn_config *config, Hydra_Attn *attn)
{
    struct hydra_engine_config resolved;
    struct hydra_engine_home home;
    Hydra_Attn made = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_context_enter(context));
    HYDRA_REQUIRE(attn != NULL, HYDRA_ERR_ARG, "attn is NULL");
    HYDRA_TRY(resolve_config(config, &resolved));
    made = hydra_calloc(1, sizeof *made);
    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "attention layer");
    made->context = context;
    home = (struct hydra_engine_home){context->pool,   context->alltoall, context->ring,
                                      context->kernel, context->threads,  &context->operations};
    HYDRA_TRY(hydra_engine_create(&home, &resolved, &made->engine));
    made->layer = context->layers++;
    *attn = made;
    return HYDRA_SUCCESS;

fail:
    hydra_free(made);
    return status;
}

int Hydra_Attn_free(Hydra_Attn *attn)
{
    const struct hydra_pool *pool;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    if (attn == NULL || *attn == NULL)
        return HYDRA_SUCCESS;
    pool = hydra_context_pool((*attn)->context);
    HYDRA_REQUIRE(!(*attn)->engine->busy || pool == NULL || pool->broken, HYDRA_ERR_STATE,
                  "a split forward of this attention layer is still under way");
    hydra_engine_free(&(*attn)->engine, pool);
    hydra_free(*attn);
    *attn = NULL;

fail:
    return status;
}

int Hydra_Attn_reserve(Hydra_Attn attn, Hydra_Schedule schedule)
{
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(attn != NULL, HYDRA_ERR_ARG, "attn is HYDRA_ATTN_NULL");
    HYDRA_REQUIRE(schedule != NULL, HYDRA_ERR_ARG, "schedule is HYDRA_SCHEDULE_NULL");
    HYDRA_TRY(hydra_context_enter(attn->context));
    HYDRA_REQUIRE(!attn->engine->busy, HYDRA_ERR_STATE, "a split forward of this attention layer is still under way");
    HYDRA_REQUIRE(schedule->pool == attn->context->pool->size, HYDRA_ERR_ARG,
                  "the schedule is for %" PRId64 " ranks, the pool has %d", schedule->pool, attn->context->pool->size);
    HYDRA_TRY(hydra_engine_reserve(attn->engine, schedule, attn->engine->reserved_split));

fail:
    return status;
}

int Hydra_Attn_forward(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, const void *q, const void *k, const void *v,
                       void *out, void *lse, Hydra_Saved saved)
{
    HYDRA_IN_RANGE(ATTN_FORWARD);
    struct hydra_use use = {.saved = saved != NULL, .lse = lse != NULL};
    struct hydra_kept *kept = NULL;
    int status = HYDRA_SUCCESS;

    if ((status = hydra_attn_open(attn)) != HYDRA_SUCCESS)
        return status;
    HYDRA_TRY(hydra_attn_enter(attn, schedule, m, &use));
    HYDRA_TRY(hydra_saved_begin(saved, attn, &kept));
    HYDRA_TRY(hydra_attn_need(attn, q, "q"));
    HYDRA_TRY(hydra_attn_need(attn, k, "k"));
    HYDRA_TRY(hydra_attn_need(attn, v, "v"));
    HYDRA_TRY(hydra_attn_check_out(attn, out, lse, q, k, v));
    HYDRA_TRY(hydra_forward_run(attn->engine, q, k, v, out, lse, kept));
    hydra_saved_filled(kept, schedule, m);

fail:
    return hydra_api_leave(attn->context, status);
}

int Hydra_Attn_backward(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, const void *q, const void *k,
                        const void *v, const void *out, const void *lse, Hydra_Saved saved, const void *dout, void *dq,
                        void *dk, void *dv)
{
    HYDRA_IN_RANGE(ATTN_BACKWARD);
    enum { INPUTS = 6, BUFFERS = 9 };
    const struct buffer buffers[BUFFERS] = {
        {HYDRA_PART_Q, q, "q"},       {HYDRA_PART_K, k, "k"},       {HYDRA_PART_V, v, "v"},
        {HYDRA_PART_OUT, out, "out"}, {HYDRA_PART_LSE, lse, "lse"}, {HYDRA_PART_DOUT, dout, "dout"},
        {HYDRA_PART_DQ, dq, "dq"},    {HYDRA_PART_DK, dk, "dk"},    {HYDRA_PART_DV, dv, "dv"}};
    struct hydra_use use = {.backward = true, .saved = saved != NULL, .lse = true};
    int status = HYDRA_SUCCESS;

    if ((status = hydra_attn_open(attn)) != HYDRA_SUCCESS)
        return status;
    HYDRA_TRY(hydra_attn_enter(attn, schedule, m, &use));
    if (saved != NULL)
        HYDRA_REQUIRE(hydra_saved_of(saved, attn) && saved->kept.filled && saved->kept.hash == schedule->hash &&
                          saved->kept.microbatch == m,
                      HYDRA_ERR_STATE, "saved was not filled by this layer's forward of microbatch %" PRId64, m);
    for (int i = 0; i < BUFFERS; i++)
        HYDRA_TRY(hydra_attn_need(attn, buffers[i].data, buffers[i].name));
    HYDRA_TRY(check_apart(attn, buffers + INPUTS, BUFFERS - INPUTS, buffers, INPUTS));
    HYDRA_TRY(
        hydra_backward_run(attn->engine, q, k, v, out, lse, saved != NULL ? &saved->kept : NULL, dout, dq, dk, dv));

fail:
    return hydra_api_leave(attn->context, status);
}
