/* forward.c: the forward pass of one microbatch: inner all-to-all, ring, inner all-to-all back. */
#include <string.h>

#include "attn/engine.h"
#include "base/error.h"

struct hydra_tensor hydra_engine_tensor(const struct hydra_engine *engine, int part, const void *data)
{
    const struct hydra_engine_config *c = &engine->config;
    struct hydra_tensor tensor;

    switch (part) {
    case HYDRA_PART_Q:
    case HYDRA_PART_DQ:
        tensor = c->q;
        break;
    case HYDRA_PART_K:
    case HYDRA_PART_DK:
        tensor = c->k;
        break;
    case HYDRA_PART_V:
    case HYDRA_PART_DV:
        tensor = c->v;
        break;
    case HYDRA_PART_OUT:
    case HYDRA_PART_DOUT:
        tensor = c->out;
        break;
    default: /* lse, delta */
        tensor = (struct hydra_tensor){NULL, c->heads, 1};
    }
    tensor.data = (void *)data; /* inputs are never written */
    return tensor;
}

int hydra_engine_gather_start(struct hydra_engine *engine, int part, int slot, const void *data,
                              struct hydra_tensor *place)
{
    struct hydra_exchanged what = hydra_engine_exchanged(engine, part);
    struct hydra_tensor from = hydra_engine_tensor(engine, part, data);

    if (engine->layout.factor == 1) {
        *place = from;
        return HYDRA_SUCCESS;
    }
    return hydra_gather_start(&engine->gathers[slot], &engine->alltoall, &engine->layout, &what, &from, place->data,
                              engine->buffers.staging[slot], engine->messages + slot * 2 * engine->message_capacity);
}

int hydra_engine_gather_finish(struct hydra_engine *engine, int slot)
{
    return engine->layout.factor == 1 ? HYDRA_SUCCESS : hydra_gather_finish(&engine->gathers[slot]);
}

int hydra_engine_gather(struct hydra_engine *engine, int part, const void *data, struct hydra_tensor *place)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_engine_gather_start(engine, part, 0, data, place));
    HYDRA_TRY(hydra_engine_gather_finish(engine, 0));

fail:
    return status;
}

int hydra_engine_scatter(struct hydra_engine *engine, int part, const void *from, const void *to)
{
    struct hydra_exchanged what = hydra_engine_exchanged(engine, part);
    struct hydra_tensor place = hydra_engine_tensor(engine, part, to);
    enum hydra_dtype dtype = part == HYDRA_PART_LSE ? what.dtype : engine->config.dtype;

    return hydra_scatter(&engine->alltoall, &engine->layout, &what, from, &place, dtype, engine->buffers.staging[0],
                         engine->messages);
}

static struct hydra_tensor *place_of(struct hydra_engine *engine, int part)
{
    struct hydra_buffers *at = &engine->buffers;

    return part == HYDRA_PART_Q ? &at->q : part == HYDRA_PART_K ? &at->k : &at->v;
}

/* From ring rows to the caller's out and lse. */
static int attend(struct hydra_engine *engine, void *out, void *lse)
{
    struct hydra_buffers *at = &engine->buffers;
    bool inner = engine->layout.factor > 1;
    int status = HYDRA_SUCCESS;

    if (!inner) {
        at->out = hydra_engine_tensor(engine, HYDRA_PART_OUT, out);
        at->lse = hydra_engine_tensor(engine, HYDRA_PART_LSE, lse);
    }
    if (at->accumulator == NULL)
        at->accumulator = at->out.data;
    HYDRA_TRY(hydra_ring_forward(engine));
    if (inner) {
        HYDRA_TRY(hydra_engine_scatter(engine, HYDRA_PART_OUT, at->out.data, out));
        if (lse != NULL)
            HYDRA_TRY(hydra_engine_scatter(engine, HYDRA_PART_LSE, at->lse.data, lse));
    }

fail:
    return status;
}

int hydra_forward_run(struct hydra_engine *engine, const void *q, const void *k, const void *v, void *out, void *lse,
                      struct hydra_kept *kept)
{
    static const int order[] = {HYDRA_PART_Q, HYDRA_PART_V, HYDRA_PART_K}; /* on every rank */
    const void *data[] = {[HYDRA_PART_Q] = q, [HYDRA_PART_K] = k, [HYDRA_PART_V] = v};
    int status = HYDRA_SUCCESS;

    if (engine->layout.size == 0)
        return HYDRA_SUCCESS;
    if (kept != NULL && engine->layout.factor > 1) {
        hydra_kept_place(kept, engine);
        engine->buffers.q = kept->q;
        engine->buffers.k = kept->k;
        engine->buffers.v = kept->v;
    }
    for (int i = 0; i < 3; i++)
        HYDRA_TRY(hydra_engine_gather(engine, order[i], data[order[i]], place_of(engine, order[i])));
    HYDRA_TRY(attend(engine, out, lse));

fail:
    return status;
}

int hydra_forward_put(struct hydra_engine *engine, int part, const void *data)
{
    return engine->layout.size == 0 ? HYDRA_SUCCESS
                                    : hydra_engine_gather_start(engine, part, part, data, place_of(engine, part));
}

/* Ring rows of one part, packed. */
static size_t part_bytes(const struct hydra_engine *engine, int part)
{
    struct hydra_exchanged what = hydra_engine_exchanged(engine, part);
    int heads = what.kv ? engine->own.kv_count : engine->own.count;

    return (size_t)(engine->layout.ring_rows * heads * what.dim) * hydra_dtype_bytes(what.dtype);
}

int hydra_forward_finish(struct hydra_engine *engine, void *out, void *lse, struct hydra_kept *kept)
{
    int status = HYDRA_SUCCESS;

    if (engine->layout.size == 0)
        return HYDRA_SUCCESS;
    HYDRA_TRY(hydra_engine_gather_finish(engine, HYDRA_PART_Q));
    HYDRA_TRY(hydra_engine_gather_finish(engine, HYDRA_PART_V));
    HYDRA_TRY(hydra_engine_gather_finish(engine, HYDRA_PART_K));
    if (kept != NULL && engine->layout.factor > 1) {
        hydra_kept_place(kept, engine);
        memcpy(kept->q.data, engine->buffers.q.data, part_bytes(engine, HYDRA_PART_Q));
        memcpy(kept->k.data, engine->buffers.k.data, part_bytes(engine, HYDRA_PART_K));
        memcpy(kept->v.data, engine->buffers.v.data, part_bytes(engine, HYDRA_PART_V));
    }
    HYDRA_TRY(attend(engine, out, lse));

fail:
    return status;
}
