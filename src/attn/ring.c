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

enum { KV_OUT, KV_IN };

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

int64_t hydra_ring_most(const struct hydra_engine *engine)
{
    return engine->layout.greatest_ring_rows * engine->own.kv_count *
           (engine->config.head_dim + engine->config.value_dim) *
           (int64_t)hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));
}

/* The K or V half of a packed block. */
static struct hydra_tensor half(const struct hydra_engine *engine, char *block, int64_t ring_index, bool value,
                                size_t element)
{
    int heads = engine->own.kv_count, dim = value ? engine->config.value_dim : engine->config.head_dim;
    size_t skip =
        value ? (size_t)(engine->layout.rows_of_ring[ring_index] * heads * engine->config.head_dim) * element : 0;

    return (struct hydra_tensor){block + skip, (int64_t)heads * dim, dim};
}

/* Kernels call this between tiles: messages move, and the time at which one completes is seen. */
static void poll(void *user)
{
    struct hydra_engine *engine = user;

    hydra_progress();
    for (int i = 0; i < 2; i++)
        if (engine->ring_messages[i].active)
            (void)hydra_message_test(&engine->ring_messages[i]); /* a failure stays in the message */
    hydra_relay_turn(&engine->relay);
}

/* Waits for K,V call this: the gradient moves meanwhile. */
static void turn_relay(void *user)
{
    hydra_relay_turn(user);
}

/* What a transfer took: the part that was waited for, and the part that went by meanwhile. */
static void count_transfer(struct hydra_engine *engine, double waited, double hidden)
{
    hydra_count(&engine->home.pool->counters, HYDRA_COUNTER_ATTN_RING_EXPOSED_SECONDS, waited);
    hydra_count(&engine->home.pool->counters, HYDRA_COUNTER_ATTN_RING_HIDDEN_SECONDS, hidden);
}

static int wait_for(struct hydra_engine *engine, int which, int64_t step)
{
    HYDRA_IN_RANGE(RING_WAIT);
    struct hydra_message *message = &engine->ring_messages[which];
    char text[64];
    double began = hydra_clock(), waited, hidden;
    int status = HYDRA_SUCCESS;

    snprintf(text, sizeof text, "ring step %lld of %lld", (long long)step + 1, (long long)engine->layout.ring);
    HYDRA_TRY(hydra_wire_wait(&engine->ring, message, text));
    waited = hydra_clock() - began;
    hidden = message->done_at - message->posted_at - waited;
    if (which == KV_IN && message->posted_at > 0)
        count_transfer(engine, waited, hidden > 0 ? hidden : 0);
    message->posted_at = 0;

fail:
    return status;
}

/* Step t: pass the block in hand on and receive the next one. */
static int pass_block(struct hydra_engine *engine, int64_t step)
{
    const struct hydra_layout *layout = &engine->layout;
    int64_t element = (int64_t)hydra_dtype_bytes(engine->config.dtype), have = block_at(layout, step);
    int64_t out = block_elements(engine, have) * element,
            in = block_elements(engine, block_at(layout, step + 1)) * element;
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
        HYDRA_TRY(compute_forward(engine, half(engine, have, block, false, element),
                                  half(engine, have, block, true, element), block, flags));
        if (step + 1 < ring)
            HYDRA_TRY(block_arrived(engine, step));
    }

fail:
    return status;
}

static int compute_backward(struct hydra_engine *engine, struct hydra_tensor k, struct hydra_tensor v,
                            struct hydra_tensor dk, struct hydra_tensor dv, int64_t block, enum hydra_layout_part part)
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

/* to[0 .. bytes) += from, of the wide type. */
static void add(const struct hydra_engine *engine, void *to, const void *from, int64_t bytes)
{
    if (engine->config.dtype == HYDRA_DTYPE_F64)
        for (int64_t i = 0; i < bytes / (int64_t)sizeof(double); i++)
            ((double *)to)[i] += ((const double *)from)[i];
    else
        for (int64_t i = 0; i < bytes / (int64_t)sizeof(float); i++)
            ((float *)to)[i] += ((const float *)from)[i];
}

static int64_t gradient_bytes(const struct hydra_engine *engine, int64_t block)
{
    return block_elements(engine, block) * (int64_t)hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));
}

/* The sum in hand += fresh memory. */
static void add_fresh(struct hydra_engine *engine, int64_t block)
{
    HYDRA_IN_RANGE(MERGE);
    int64_t bytes = gradient_bytes(engine, block);

    for (int64_t at = 0, run; at < bytes; at += run) {
        void *sum;

        run = bytes - at;
        sum = hydra_relay_at(&engine->relay, at, &run);
        add(engine, sum, engine->buffers.fresh + at, run);
    }
}

/* tensor += the rows that begin at byte `at` of the sum in hand; returns where they end. */
static int64_t add_rows(struct hydra_engine *engine, const struct hydra_tensor *tensor, int64_t at, int dim)
{
    int64_t element = (int64_t)hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));

    for (int64_t r = 0; r < engine->layout.ring_rows; r++)
        for (int h = 0; h < engine->own.kv_count; h++) {
            char *to = (char *)tensor->data + (r * tensor->row_stride + h * tensor->head_stride) * element;

            for (int64_t left = dim * element, run; left > 0; left -= run, at += run, to += run) {
                void *sum;

                run = left;
                sum = hydra_relay_at(&engine->relay, at, &run);
                add(engine, to, sum, run);
            }
        }
    return at;
}

/* dk and dv of this ring index's own block += the sum in hand. */
static void add_to_own(struct hydra_engine *engine)
{
    HYDRA_IN_RANGE(MERGE);
    struct hydra_buffers *at = &engine->buffers;
    int64_t end_of_dk = add_rows(engine, &at->dk, 0, engine->config.head_dim);

    (void)add_rows(engine, &at->dv, end_of_dk, engine->config.value_dim);
}

/* Pass the sum of the block of `step` on; expect that of the block that this member holds at the step after. */
static int pass_gradient(struct hydra_engine *engine, int64_t step)
{
    const struct hydra_layout *layout = &engine->layout;
    struct hydra_relay_pass pass = {.part = step + 1,
                                    .to = ring_slot(layout, layout->ring_index + 1),
                                    .out = gradient_bytes(engine, block_at(layout, step)),
                                    .from = ring_slot(layout, layout->ring_index - 1),
                                    .in = gradient_bytes(engine, block_at(layout, step + 1))};

    hydra_count(&engine->home.pool->counters, HYDRA_COUNTER_ATTN_RING_BYTES, (double)pass.out);
    return hydra_relay_start(&engine->relay, &pass);
}

/* Wait for the sum of the block of `step`, as the members before this one left it. */
static int gradient_arrived(struct hydra_engine *engine, int64_t step)
{
    HYDRA_IN_RANGE(RING_WAIT);
    char text[64];
    double waited, hidden;
    int status = HYDRA_SUCCESS;

    snprintf(text, sizeof text, "gradient ring step %lld of %lld", (long long)step, (long long)engine->layout.ring);
    HYDRA_TRY(hydra_relay_finish(&engine->relay, text, &waited, &hidden));
    count_transfer(engine, waited, hidden);

fail:
    return status;
}

/* One step on another ring index's block: compute into fresh memory, add what came before, pass the sum on. The first
 * one to compute a block begins its sum. */
static int foreign_step(struct hydra_engine *engine, int64_t step)
{
    struct hydra_buffers *at = &engine->buffers;
    int64_t block = block_at(&engine->layout, step);
    size_t element = hydra_dtype_bytes(engine->config.dtype);
    size_t wide = hydra_dtype_bytes(hydra_dtype_wide(engine->config.dtype));
    char *have = at->block[step % 2], *to = step == 1 ? at->sums : at->fresh;
    int status = HYDRA_SUCCESS;

    memset(to, 0, (size_t)gradient_bytes(engine, block));
    HYDRA_TRY(compute_backward(engine, half(engine, have, block, false, element),
                               half(engine, have, block, true, element), half(engine, to, block, false, wide),
                               half(engine, to, block, true, wide), block, HYDRA_LAYOUT_WHOLE));
    if (step > 1) {
        HYDRA_TRY(gradient_arrived(engine, step));
        add_fresh(engine, block);
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
    hydra_relay_begin(&engine->relay, &engine->ring, at->sums, hydra_ring_most(engine));
    engine->ring.turn = turn_relay;
    engine->ring.user = &engine->relay;
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
    HYDRA_TRY(compute_backward(engine, at->k, at->v, at->dk, at->dv, own, HYDRA_LAYOUT_TAIL));
    HYDRA_TRY(gradient_arrived(engine, ring));
    add_to_own(engine);

fail:
    return status;
}
