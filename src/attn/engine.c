/* engine.c: an attention layer's workspace: what each call needs, sized and carved by one description. */
#include "attn/engine.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/range.h"
#include "comm/keep.h"

/* Hands out pieces of a block; with base NULL it only counts. */
struct arena {
    char *base;
    int64_t used;
};

static void *take(struct arena *arena, int64_t bytes)
{
    char *piece = arena->base != NULL ? arena->base + arena->used : NULL;

    arena->used += hydra_ceil_div(bytes, 64) * 64;
    return piece;
}

static struct hydra_tensor packed(void *data, int heads, int dim)
{
    return (struct hydra_tensor){data, (int64_t)heads * dim, dim};
}

struct hydra_exchanged hydra_engine_exchanged(const struct hydra_engine *engine, int part)
{
    const struct hydra_engine_config *c = &engine->config;
    enum hydra_dtype wide = hydra_dtype_wide(c->dtype);
    struct hydra_exchanged what = {c->heads, c->kv_heads, false, c->head_dim, c->dtype, part};

    switch (part) {
    case HYDRA_PART_K:
        what.kv = true;
        break;
    case HYDRA_PART_V:
        what.kv = true;
        what.dim = c->value_dim;
        break;
    case HYDRA_PART_OUT:
    case HYDRA_PART_DOUT:
        what.dim = c->value_dim;
        break;
    case HYDRA_PART_LSE:
    case HYDRA_PART_DELTA:
        what.dim = 1;
        what.dtype = wide;
        break;
    case HYDRA_PART_DQ:
        what.dtype = wide;
        break;
    case HYDRA_PART_DK:
        what.kv = true;
        what.dtype = wide;
        break;
    case HYDRA_PART_DV:
        what.kv = true;
        what.dim = c->value_dim;
        what.dtype = wide;
        break;
    default:
        break;
    }
    return what;
}

struct hydra_kernel_shape hydra_engine_shape(const struct hydra_engine *engine)
{
    const struct hydra_engine_config *c = &engine->config;

    return (struct hydra_kernel_shape){.dtype = c->dtype,
                                       .heads = engine->own.count,
                                       .kv_heads = engine->own.kv_count,
                                       .kv_of_head = engine->kv_of_head,
                                       .head_dim = c->head_dim,
                                       .value_dim = c->value_dim,
                                       .scale = c->scale,
                                       .mask = c->mask.kind,
                                       .window = c->mask.window,
                                       .sink = c->mask.sink};
}

/* A tensor of the ring rows in packed memory. */
static struct hydra_tensor take_part(struct arena *arena, const struct hydra_engine *engine, int part)
{
    struct hydra_exchanged what = hydra_engine_exchanged(engine, part);
    int heads = what.kv ? engine->own.kv_count : engine->own.count;
    int64_t bytes = engine->layout.ring_rows * heads * what.dim * (int64_t)hydra_dtype_bytes(what.dtype);

    return packed(take(arena, bytes), heads, what.dim);
}

/* The forward state can live in the output: same type, same order. */
static bool output_holds_state(const struct hydra_engine *engine)
{
    const struct hydra_engine_config *c = &engine->config;
    bool is_packed = engine->layout.factor > 1 ||
                     (c->out.head_stride == c->value_dim && c->out.row_stride == (int64_t)c->heads * c->value_dim);

    return c->dtype == hydra_dtype_wide(c->dtype) && is_packed;
}

static void carve_staging(struct hydra_buffers *to, const struct hydra_engine *engine, const struct hydra_use *use,
                          struct arena *arena)
{
    static const int forward_parts[] = {HYDRA_PART_Q, HYDRA_PART_K, HYDRA_PART_V, HYDRA_PART_OUT, HYDRA_PART_LSE};
    int64_t greatest = 0;

    for (int part = use->backward ? HYDRA_PART_LSE : 0; part <= (use->backward ? HYDRA_PART_DV : HYDRA_PART_LSE);
         part++) {
        struct hydra_exchanged what = hydra_engine_exchanged(engine, part);

        greatest = hydra_max(greatest, hydra_exchange_staging(&engine->layout, &what));
    }
    for (int i = 0; use->backward && !use->saved && i < HYDRA_SPLIT_TENSORS; i++) {
        struct hydra_exchanged what = hydra_engine_exchanged(engine, forward_parts[i]);

        greatest = hydra_max(greatest, hydra_exchange_staging(&engine->layout, &what));
    }
    to->staging[0] = take(arena, greatest);
    for (int i = 1; use->split && i < HYDRA_SPLIT_TENSORS; i++) {
        struct hydra_exchanged what = hydra_engine_exchanged(engine, forward_parts[i]);

        to->staging[i] = take(arena, hydra_exchange_staging(&engine->layout, &what));
    }
}

static void carve_ring(struct hydra_buffers *to, const struct hydra_engine *engine, const struct hydra_use *use,
                       struct arena *arena)
{
    const struct hydra_engine_config *c = &engine->config;
    const struct hydra_layout *layout = &engine->layout;
    int64_t wide = (int64_t)hydra_dtype_bytes(hydra_dtype_wide(c->dtype));
    int64_t block = layout->greatest_ring_rows * engine->own.kv_count * (c->head_dim + c->value_dim);
    int64_t states = layout->ring_rows * engine->own.count;

    for (int i = 0; i < 2; i++)
        to->block[i] = take(arena, block * (int64_t)hydra_dtype_bytes(c->dtype));
    if (use->backward) {
        to->sums = take(arena, hydra_relay_bytes(hydra_ring_most(engine)));
        if (layout->ring > 2)
            to->fresh = take(arena, hydra_ring_most(engine));
        return;
    }
    to->greatest = take(arena, states * wide);
    to->sum = take(arena, states * wide);
    if (!output_holds_state(engine))
        to->accumulator = take(arena, states * c->value_dim * wide);
}

/* Carve everything that a call needs for the current layout. */
static void carve(struct hydra_buffers *to, const struct hydra_engine *engine, const struct hydra_use *use,
                  struct arena *arena)
{
    const struct hydra_engine_config *c = &engine->config;
    const struct hydra_layout *layout = &engine->layout;
    enum hydra_dtype wide = hydra_dtype_wide(c->dtype);
    struct hydra_kernel_shape shape = hydra_engine_shape(engine);

    memset(to, 0, sizeof *to);
    if (layout->size == 0)
        return;
    if (use->backward)
        to->member_delta = take(arena, layout->rows * c->heads * (int64_t)hydra_dtype_bytes(wide));
    if (layout->factor > 1) {
        if (!use->saved) {
            to->q = take_part(arena, engine, HYDRA_PART_Q);
            to->k = take_part(arena, engine, HYDRA_PART_K);
            to->v = take_part(arena, engine, HYDRA_PART_V);
        }
        if (use->lse || use->backward)
            to->lse = take_part(arena, engine, HYDRA_PART_LSE);
        if (use->backward) {
            to->dout = take_part(arena, engine, HYDRA_PART_DOUT);
            to->delta = take_part(arena, engine, HYDRA_PART_DELTA);
        } else {
            to->out = take_part(arena, engine, HYDRA_PART_OUT);
        }
        carve_staging(to, engine, use, arena);
    }
    if (use->backward && (layout->factor > 1 || c->dtype != wide)) {
        to->dq = take_part(arena, engine, HYDRA_PART_DQ);
        to->dk = take_part(arena, engine, HYDRA_PART_DK);
        to->dv = take_part(arena, engine, HYDRA_PART_DV);
    }
    if (layout->ring > 1)
        carve_ring(to, engine, use, arena);
    if (shape.heads > 0)
        to->kernel = take(arena, (int64_t)engine->home.kernel->workspace_bytes(&shape, layout->greatest_ring_rows,
                                                                               engine->home.threads, use->backward));
}

/* Lay out a microbatch and deal the heads. */
static int lay_out(struct hydra_engine *engine, const struct hydra_schedule *schedule, int64_t m)
{
    const struct hydra_engine_config *c = &engine->config;
    struct hydra_layout *layout = &engine->layout;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_layout_build(layout, schedule, m, schedule->slot_of_rank[engine->home.pool->rank]));
    memset(&engine->own, 0, sizeof engine->own);
    if (layout->size == 0)
        return HYDRA_SUCCESS;
    engine->own = hydra_heads_of_inner(c->heads, c->kv_heads, layout->factor, layout->inner);
    for (int h = 0; h < engine->own.count; h++)
        engine->kv_of_head[h] = hydra_heads_kv_of(c->heads, c->kv_heads, engine->own.first + h) - engine->own.kv_first;

fail:
    return status;
}

/* What ranks must have in common; strides may differ. */
static uint64_t hash_shape(const struct hydra_engine_config *c)
{
    uint64_t scale, hash = 0xcbf29ce484222325u;
    int64_t values[] = {c->heads, c->kv_heads,  c->head_dim,    c->value_dim,
                        c->dtype, c->mask.kind, c->mask.window, c->mask.sink};

    memcpy(&scale, &c->scale, sizeof scale);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        hash = (hash ^ (uint64_t)values[i]) * 0x9E3779B97F4A7C15u;
    return (hash ^ scale) * 0x9E3779B97F4A7C15u;
}

int hydra_engine_create(const struct hydra_engine_home *home, const struct hydra_engine_config *config,
                        struct hydra_engine **engine)
{
    struct hydra_engine *made = hydra_calloc(1, sizeof *made);
    struct hydra_kernel_shape shape;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "attention layer");
    made->home = *home;
    made->config = *config;
    made->shape_hash = hash_shape(config);
    made->kv_of_head = hydra_calloc(config->heads, sizeof *made->kv_of_head);
    HYDRA_REQUIRE(made->kv_of_head != NULL, HYDRA_ERR_NOMEM, "table of %d heads", config->heads);
    made->own = hydra_heads_of_inner(config->heads, config->kv_heads, 1, 0);
    for (int h = 0; h < config->heads; h++)
        made->kv_of_head[h] = hydra_heads_kv_of(config->heads, config->kv_heads, h);
    shape = hydra_engine_shape(made);
    HYDRA_TRY(hydra_kernel_check(home->kernel, &shape));
    *engine = made;
    return HYDRA_SUCCESS;

fail:
    hydra_engine_free(&made, home->pool);
    return status;
}

void hydra_engine_free(struct hydra_engine **engine, const struct hydra_pool *pool)
{
    struct hydra_engine *e = *engine;

    if (e == NULL)
        return;
    hydra_layout_clear(&e->layout);
    hydra_free(e->kv_of_head);
    hydra_release(e->memory, pool);
    hydra_release(e->messages, pool);
    hydra_release(e, pool); /* ring messages live in it */
    *engine = NULL;
}

static int grow(char **memory, int64_t *capacity, int64_t bytes, const char *what)
{
    if (bytes <= *capacity)
        return HYDRA_SUCCESS;
    hydra_free(*memory);
    *capacity = 0;
    *memory = hydra_alloc(bytes, 1);
    if (*memory == NULL)
        return hydra_error(HYDRA_ERR_NOMEM, "%s of %lld bytes", what, (long long)bytes);
    *capacity = bytes;
    return HYDRA_SUCCESS;
}

static void carve_kept(struct hydra_kept *kept, const struct hydra_engine *engine, struct arena *arena)
{
    kept->q = take_part(arena, engine, HYDRA_PART_Q);
    kept->k = take_part(arena, engine, HYDRA_PART_K);
    kept->v = take_part(arena, engine, HYDRA_PART_V);
}

/* With U = 1 nothing is kept: backward reads the caller's own buffers. */
static int64_t kept_bytes_of(const struct hydra_engine *engine)
{
    struct hydra_kept kept;
    struct arena arena = {NULL, 0};

    if (engine->layout.factor > 1)
        carve_kept(&kept, engine, &arena);
    return arena.used;
}

int hydra_engine_reserve(struct hydra_engine *engine, const struct hydra_schedule *schedule, bool split)
{
    HYDRA_IN_RANGE(RESERVE);
    int64_t bytes = 0, kept_bytes = 0, factor = 1, slot = schedule->slot_of_rank[engine->home.pool->rank];
    int status = HYDRA_SUCCESS;

    engine->reserved = false; /* until all of it is there */
    HYDRA_TRY(hydra_layout_reserve(&engine->layout, schedule, slot));
    for (int64_t m = 0; m < schedule->microbatches; m++) {
        HYDRA_TRY(lay_out(engine, schedule, m));
        if (engine->layout.size == 0)
            continue;
        factor = hydra_max(factor, engine->layout.factor);
        kept_bytes = hydra_max(kept_bytes, kept_bytes_of(engine));
        for (int backward = 0; backward <= 1; backward++) {
            struct hydra_use use = {.backward = backward != 0, .split = split && !backward, .lse = true};
            struct arena arena = {NULL, 0};

            carve(&engine->buffers, engine, &use, &arena);
            bytes = hydra_max(bytes, arena.used);
        }
    }
    HYDRA_TRY(grow(&engine->memory, &engine->capacity, bytes, "attention workspace"));
    if (factor > engine->message_capacity) {
        hydra_free(engine->messages);
        engine->message_capacity = 0;
        engine->messages = hydra_calloc(HYDRA_SPLIT_TENSORS * 2 * factor, sizeof *engine->messages);
        HYDRA_REQUIRE(engine->messages != NULL, HYDRA_ERR_NOMEM, "messages of %lld members", (long long)factor);
        engine->message_capacity = factor;
    }
    engine->kept_bytes = kept_bytes;
    engine->reserved_hash = schedule->hash;
    engine->reserved = true;
    engine->reserved_split = split;

fail:
    return status;
}

int hydra_engine_begin(struct hydra_engine *engine, const struct hydra_schedule *schedule, int64_t m,
                       const struct hydra_use *use)
{
    struct hydra_engine_home *home = &engine->home;
    struct arena arena;
    int status = HYDRA_SUCCESS;

    if (!engine->reserved || engine->reserved_hash != schedule->hash || (use->split && !engine->reserved_split))
        HYDRA_TRY(hydra_engine_reserve(engine, schedule, use->split || engine->reserved_split));
    HYDRA_TRY(lay_out(engine, schedule, m));
    arena = (struct arena){engine->memory, 0};
    carve(&engine->buffers, engine, use, &arena);
    HYDRA_REQUIRE(arena.used <= engine->capacity, HYDRA_ERR_INTERNAL, "microbatch %lld needs %lld bytes of %lld",
                  (long long)m, (long long)arena.used, (long long)engine->capacity);
    engine->alltoall =
        (struct hydra_wire){home->pool,
                            home->alltoall,
                            schedule->rank_of_slot,
                            {schedule->hash, m, *home->operations,
                             use->backward ? HYDRA_CALL_BACKWARD : HYDRA_CALL_FORWARD, engine->shape_hash, 0, 0},
                            NULL,
                            NULL};
    engine->ring = engine->alltoall;
    engine->ring.net = home->ring;

fail:
    return status;
}

int hydra_kept_reserve(struct hydra_kept *kept, const struct hydra_engine *engine)
{
    kept->filled = false;
    return grow(&kept->memory, &kept->capacity, engine->kept_bytes, "saved tensors");
}

void hydra_kept_place(struct hydra_kept *kept, const struct hydra_engine *engine)
{
    struct arena arena = {kept->memory, 0};

    if (engine->layout.size > 0 && engine->layout.factor > 1)
        carve_kept(kept, engine, &arena);
}

void hydra_kept_clear(struct hydra_kept *kept, const struct hydra_pool *pool)
{
    hydra_release(kept->memory, pool);
    memset(kept, 0, sizeof *kept);
}
