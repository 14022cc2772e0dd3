/* ring.c: the outer ring. K,V blocks of the ring members circulate; each is used while the next one travels.
 *
 * At step t ring index b holds the block of ring index b - t. In backward the block's dK,dV follow it one hop behind: a
 * member adds its part and passes the sum on, so a block's gradient visits the members in ring order, always the same.
 * A member keeps the part of its own queries at home and cuts that work in two halves: the first hides the first hop of
 * K,V, the second, done last, hides the last hop of dK,dV.
 */
#include <stdio.h>
#include <string.h>

#include "attn/engine.h"
#include "base/error.h"
#include "base/range.h"
#include "comm/wait.h"

enum { KV_OUT, KV_IN, GRADIENT_OUT, GRADIENT_IN };

static int64_t ring_slot(const struct hydra_layout *layout, int64_t ring_index)
{
    int64_t index = (ring_index + layout->ring) % layout->ring;

    return layout->first + index * layout->factor + layout->inner;
}

/* The block that this ring index holds at step t. */
static int64_t block_at(const struct hydra_layout *layout, int64_t step)
{
    return (layout->ring_index - step % layout->ring + layout->ring) % layout->ring;
}

static int64_t block_elements(const struct hydra_engine *engine, int64_t block)
{
    return engine->layout.rows_of_ring[block] * engine->own.kv_count *
           (engine->config.head_dim + engine->config.value_dim);
}

/* The K or V half of a packed block. */
static struct hydra_tensor half(const struct hydra_engine *engine, char *block, int64_t ring_index, bool value, size_t element)
{
    int heads = engine->own.kv_count, dim = value ? engine->config.value_dim : engine->config.head_dim;
    size_t skip = value ? (size_t)(engine->layout.rows_of_ring[ring_index] * heads * engine->config.head_dim) * element : 0;

    return (struct hydra_tensor){block + skip, (int64_t)heads * dim, dim};
}

/* Kernels call this between tiles: messages move, and the time at which one completes is seen. */
static void poll(void *user)
{
    struct hydra_engine *engine = user;

    hydra_progress();
    for (int i = 0; i < 4; i++)
        if (engine->ring_messages[i].active)
            (void)hydra_message_test(&engine->ring_messages[i]); /* a failure stays in the message */
}

static int wait_for(struct hydra_engine *engine, int which, int64_t step)
{
    HYDRA_IN_RANGE(RING_WAIT);
    struct hydra_message *message = &engine->ring_messages[which];
    struct hydra_counters *counters = &engine->home.pool->counters;
    char text[64];
    double began = hydra_clock(), ended, waited;
    int status;

    snprintf(text, sizeof text, "%s step %lld of %lld", which < GRADIENT_OUT ? "ring" : "gradient ring", (long long)step + 1,
             (long long)engine->layout.ring);
    status = hydra_wire_wait(&engine->ring, message, text);
    if (status != HYDRA_SUCCESS || message->posted_at == 0)
        return status;
    waited = hydra_clock() - began;
    ended = message->done_at;
    if (which == KV_IN || which == GRADIENT_IN) {
        hydra_count(counters, HYDRA_COUNTER_ATTN_RING_EXPOSED_SECONDS, waited);
        if (ended - message->posted_at > waited)
            hydra_count(counters, HYDRA_COUNTER_ATTN_RING_HIDDEN_SECONDS, ended - message->posted_at - waited);
    }
    message->posted_at = 0;
    return HYDRA_SUCCESS;
}

/* Step t: pass the block in hand on and receive the next one. */
static int pass_block(struct hydra_engine *engine, int64_t step)
{
    const struct hydra_layout *layout = &engine->layout;
    int64_t element = (int64_t)hydra_dtype_bytes(engine->config.dtype), have = block_at(layout, step);
    int64_t out = block_elements(engine, have) * element, in = block_elements(engine, block_at(layout, step + 1)) * element;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_wire_recv(&engine->ring, &engine->ring_messages[KV_IN], HYDRA_CHANNEL_RING, step,
                              ring_slot(layout, layout->ring_index - 1), engine->buffers.block[(step + 1) % 2], in));
    HYDRA_TRY(hydra_wire_send(&engine->ring, &engine->ring_messages[KV_OUT], HYDRA_CHANNEL_RING, step,
                              ring_slot(layout, layout->ring_index + 1), engine->buffers.block[step % 2], out));
    hydra_count(&engine->home.pool->counters, HYDRA_COUNTER_ATTN_RING_BYTES, (double)out);

fail:
    return status;
}

static int block_arrived(struct hydra_engine *engine, int64_t step)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(wait_for(engine, KV_IN, step));
    HYDRA_TRY(wait_for(engine, KV_OUT, step));

fail:
    return status;
}

/* This ring index's own K and V as its first block. */
static void pack_own_block(struct hydra_engine *engine)
{
    const struct hydra_buffers *at = &engine->buffers;
    const struct hydra_engine_config *c = &engine->config;
    int64_t rows = engine->layout.ring_rows;
    size_t element = hydra_dtype_bytes(c->dtype);
    struct hydra_tensor value = half(engine, at->block[0], engine->layout.ring_index, true, element);

    hydra_pack_rows(at->block[0], &at->k, element, c->head_dim, 0, rows, 0, engine->own.kv_count);
    hydra_pack_rows(value.data, &at->v, element, c->value_dim, 0, rows, 0, engine->own.kv_count);
}

static int compute_forward(struct hydra_engine *engine, struct hydra_tensor k, struct hydra_tensor v, int64_t block,
                           unsigned flags)
{
    HYDRA_IN_RANGE(RING_COMPUTE);
    const struct hydra_buffers *at = &engine->buffers;
    struct hydra_forward call = {.shape = hydra_engine_shape(engine),
                                 .q = at->q,
                                 .k = k,
                                 .v = v,
                                 .out = at->out,
                                 .lse = at->lse,
                                 .state = {at->accumulator, at->greatest, at->sum},
                                 .flags = flags,
                                 .workspace = at->kernel,
                                 .threads = engine->home.threads,
                                 .hook = {poll, engine}};
    double began = hydra_clock();
    int status;

    hydra_layout_work(&engine->layout, &engine->config.mask, block, HYDRA_LAYOUT_WHOLE, flags != 0, &call.work);
    if (engine->own.count == 0 || call.work.nquery_runs == 0)
        return HYDRA_SUCCESS;
    status = engine->home.kernel->forward(&call);
    hydra_count(&engine->home.pool->counters, HYDRA_COUNTER_ATTN_COMPUTE_SECONDS, hydra_clock() - began);
    return status;
}

int hydra_ring_forward(struct hydra_engine *engine)
{
    struct hydra_buffers *at = &engine->buffers;
    int64_t ring = engine->layout.ring;
    size_t element = hydra_dtype_bytes(engine->config.dtype);
    int status = HYDRA_SUCCESS;

    if (ring == 1)
        return compute_forward(engine, at->k, at->v, 0, HYDRA_KERNEL_FIRST | HYDRA_KERNEL_LAST);
    pack_own_block(engine);
    for (int64_t step = 0; step < ring; step++) {
        int64_t block = block_at(&engine->layout, step);
        char *have = at->block[step % 2];
        unsigned flags = (step == 0 ? HYDRA_KERNEL_FIRST : 0u) | (step + 1 == ring ? HYDRA_KERNEL_LAST : 0u);

        if (step + 1 < ring)
            HYDRA_TRY(pass_block(engine, step));
        HYDRA_TRY(compute_forward(engine, half(engine, have, block, false, element), half(engine, have, block, true, element),
                                  block, flags));
        if (step + 1 < ring)
            HYDRA_TRY(block_arrived(engine, step));
    }

fail:
    return status;
}

static int compute_backward(struct hydra_engine *engine, struct hydra_tensor k, struct hydra_tensor v, struct hydra_tensor dk,
                            struct hydra_tensor dv, int64_t block, enum hydra_layout_part part)
{
    HYDRA_IN_RANGE(RING_COMPUTE);
    const struct hydra_buffers *at = &engine->buffers;
    struct hydra_backward call = {.shape = hydra_engine_shape(engine),
                                  .q = at->q,
                                  .k = k,
                                  .v = v,
                                  .dout = at->dout,
                                  .lse = at->lse,
                                  .delta = at->delta,
                                  .dq = at->dq,
                                  .dk = dk,
                                  .dv = dv,
                                  .workspace = at->kernel,
                                  .threads = engine->home.threads,
                                  .hook = {poll, engine}};
    double began = hydra_clock();
    int status;

    hydra_layout_work(&engine->layout, &engine->config.mask, block, part, false, &call.work);
    if (engine->own.count == 0 || call.work.nquery_runs == 0)
        return HYDRA_SUCCESS;
    status = engine->home.kernel->backward(&call);
    hydra_count(&engine->home.pool->counters, HYDRA_COUNTER_ATTN_COMPUTE_SECONDS, hydra_clock() - began);
    return status;
}

/* Zero a wide tensor. */
static void zero(const struct hydra_engine *engine, const struct hydra_tensor *tensor, int64_t rows, int heads, int dim)
{
    size_t element = hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));

    for (int64_t r = 0; r < rows; r++)
        for (int h = 0; h < heads; h++)
            memset((char *)tensor->data + (size_t)(r * tensor->row_stride + h * tensor->head_stride) * element, 0,
                   (size_t)dim * element);
}

/* tensor += packed rows of the same type. */
static void add(const struct hydra_engine *engine, const struct hydra_tensor *tensor, const struct hydra_tensor *packed,
                int64_t rows, int heads, int dim)
{
    bool is_double = engine->config.dtype == HYDRA_DTYPE_F64;

    for (int64_t r = 0; r < rows; r++)
        for (int h = 0; h < heads; h++) {
            int64_t to = r * tensor->row_stride + h * tensor->head_stride;
            int64_t from = r * packed->row_stride + h * packed->head_stride;

            for (int i = 0; i < dim; i++)
                if (is_double)
                    ((double *)tensor->data)[to + i] += ((const double *)packed->data)[from + i];
                else
                    ((float *)tensor->data)[to + i] += ((const float *)packed->data)[from + i];
        }
}

/* dk and dv += a packed block of gradients. */
static void add_block(struct hydra_engine *engine, struct hydra_tensor dk, struct hydra_tensor dv, char *from, int64_t block)
{
    HYDRA_IN_RANGE(MERGE);
    const struct hydra_engine_config *c = &engine->config;
    size_t element = hydra_dtype_bytes(hydra_dtype_wide(c->dtype));
    int64_t rows = engine->layout.rows_of_ring[block];
    struct hydra_tensor key = half(engine, from, block, false, element), value = half(engine, from, block, true, element);

    add(engine, &dk, &key, rows, engine->own.kv_count, c->head_dim);
    add(engine, &dv, &value, rows, engine->own.kv_count, c->value_dim);
}

/* Expect the gradient of the block that this member holds at `step`, summed by the members before it. */
static int expect_gradient(struct hydra_engine *engine, int64_t step)
{
    const struct hydra_layout *layout = &engine->layout;
    int64_t wide = (int64_t)hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));

    return hydra_wire_recv(&engine->ring, &engine->ring_messages[GRADIENT_IN], HYDRA_CHANNEL_GRADIENT, step,
                           ring_slot(layout, layout->ring_index - 1), engine->buffers.gradient[step % 2],
                           block_elements(engine, block_at(layout, step)) * wide);
}

/* Pass the gradient of the block of `step` on; its buffer is free again once the next one is passed. */
static int pass_gradient(struct hydra_engine *engine, int64_t step)
{
    const struct hydra_layout *layout = &engine->layout;
    int64_t bytes = block_elements(engine, block_at(layout, step)) *
                    (int64_t)hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));

    hydra_count(&engine->home.pool->counters, HYDRA_COUNTER_ATTN_RING_BYTES, (double)bytes);
    return hydra_wire_send(&engine->ring, &engine->ring_messages[GRADIENT_OUT], HYDRA_CHANNEL_GRADIENT, step + 1,
                           ring_slot(layout, layout->ring_index + 1), engine->buffers.gradient[step % 2], bytes);
}

/* One step on another ring index's block: compute into fresh memory, add what came before, pass the sum on. */
static int foreign_step(struct hydra_engine *engine, int64_t step)
{
    struct hydra_buffers *at = &engine->buffers;
    int64_t block = block_at(&engine->layout, step);
    size_t element = hydra_dtype_bytes(engine->config.dtype);
    size_t wide = hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));
    char *have = at->block[step % 2], *sum = at->gradient[step % 2], *fresh = step == 1 ? sum : at->gradient[2];
    struct hydra_tensor dk = half(engine, fresh, block, false, wide), dv = half(engine, fresh, block, true, wide);
    int status = HYDRA_SUCCESS;

    if (step > 1)
        HYDRA_TRY(expect_gradient(engine, step));
    memset(fresh, 0, (size_t)block_elements(engine, block) * wide);
    HYDRA_TRY(compute_backward(engine, half(engine, have, block, false, element), half(engine, have, block, true, element), dk,
                               dv, block, HYDRA_LAYOUT_WHOLE));
    if (step > 1) {
        HYDRA_TRY(wait_for(engine, GRADIENT_IN, step));
        add_block(engine, half(engine, sum, block, false, wide), half(engine, sum, block, true, wide), fresh, block);
        HYDRA_TRY(wait_for(engine, GRADIENT_OUT, step - 1));
    }
    HYDRA_TRY(pass_gradient(engine, step));

fail:
    return status;
}

int hydra_ring_backward(struct hydra_engine *engine)
{
    struct hydra_buffers *at = &engine->buffers;
    const struct hydra_engine_config *c = &engine->config;
    int64_t ring = engine->layout.ring, own = engine->layout.ring_index, rows = engine->layout.ring_rows;
    int status = HYDRA_SUCCESS;

    zero(engine, &at->dq, rows, engine->own.count, c->head_dim);
    zero(engine, &at->dk, rows, engine->own.kv_count, c->head_dim);
    zero(engine, &at->dv, rows, engine->own.kv_count, c->value_dim);
    if (ring == 1)
        return compute_backward(engine, at->k, at->v, at->dk, at->dv, 0, HYDRA_LAYOUT_WHOLE);
    pack_own_block(engine);
    HYDRA_TRY(pass_block(engine, 0));
    HYDRA_TRY(compute_backward(engine, at->k, at->v, at->dk, at->dv, own, HYDRA_LAYOUT_HEAD));
    HYDRA_TRY(block_arrived(engine, 0));
    for (int64_t step = 1; step < ring; step++) {
        if (step + 1 < ring)
            HYDRA_TRY(pass_block(engine, step));
        HYDRA_TRY(foreign_step(engine, step));
        if (step + 1 < ring)
            HYDRA_TRY(block_arrived(engine, step));
    }
    HYDRA_TRY(expect_gradient(engine, ring));
    HYDRA_TRY(compute_backward(engine, at->k, at->v, at->dk, at->dv, own, HYDRA_LAYOUT_TAIL));
    HYDRA_TRY(wait_for(engine, GRADIENT_IN, ring - 1));
    add_block(engine, at->dk, at->dv, at->gradient[ring % 2], own);
    HYDRA_TRY(wait_for(engine, GRADIENT_OUT, ring - 1));

fail:
    return status;
}
