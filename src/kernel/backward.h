/* backward.h: the backward pass of one instance. Included by instance.h alone.
 *
 * A unit is a stretch of up to SUPER keys of one KV head: it owns their dK and dV. It meets the query blocks that see
 * it, packs each block once, and works through it chunk by chunk of keys:
 *   S^T = K Q^T, dP^T = V (scale dO)^T     scores per key and query, in place
 *   P = 2^(S - lse), dS = P (dP - delta)   scale is inside dO and delta
 *   dV += P^T dO, dK += dS^T Q, dQ += dS K
 * dQ of a block is added to the caller's in the order of the units: a unit waits until the last one before it that sees
 * the block has added its own. So the sums have one order for any number of threads, without a second dQ. Blocks are
 * met from the last to the first: under causal masks and windows a unit then begins together with the one before it and
 * ends sooner; the other way round it would begin with blocks that the one before reaches late.
 */
#ifndef HYDRA_KERNEL_BACKWARD_H
#define HYDRA_KERNEL_BACKWARD_H

#include <sched.h>

#include "kernel/room.h"

enum {
    BLOCK = 144, /* queries of a block: whole panels for every instance */
    PANELS = BLOCK / PANEL,
    SUPER = 4 * CHUNK,   /* keys of a unit, most */
    UNITS_ENOUGH = 32,   /* a key run that makes fewer is cut finer, to share it among threads */
    UNITS_MANY = 8,      /* so many that cutting a little finer costs less than threads without a last unit */
    TEAM_MOST = 256,     /* threads that are used, most */
    BLOCK_OVERHEAD = 12, /* keys that packing a block is worth */
};

/* How far a thread is: unit << 32 | step of the last block added (step_of), INT64_MAX at the end.
 * One cache line each. */
struct progress {
    int64_t value;
    char rest[56];
};

/* The last unit of a KV head so far, the thread that has it, and its keys; unit 0: none. */
struct predecessor {
    int64_t unit;
    int owner;
    int64_t run, begin, end; /* key run and positions */
};

struct backward_room {
    const struct hydra_backward *call;
    struct pieces d_pieces, v_pieces;
    int ldk, ldv;

    int64_t key_position; /* of the unit's first key */
    int nkeys;
    bool k_finite;
    real *k, *v;   /* [SUPER][ld]: broadcast against queries */
    real *k_piece; /* pieces of SUPER rows */
    real *dk, *dv; /* pieces of SUPER rows */

    int nqueries, npanels;
    bool q_finite;
    struct panel_view *view;         /* [PANELS] */
    real *q_panel;                   /* [PANELS][D][PANEL], times scale log2(e) */
    real *dout_panel;                /* [PANELS][Dv][PANEL], times scale */
    real *q_piece, *dout_piece, *dq; /* pieces of BLOCK rows */
    real *lse, *delta;               /* [BLOCK]: log2 units, and times scale */

    struct sight *sight;          /* [PANELS] */
    real *p, *ds;                 /* [CHUNK][BLOCK] */
    int *query_begin, *query_end; /* [CHUNK]: hull of a key's queries in the block */
    real *rows;

    struct predecessor *previous; /* [kv_heads] */
    struct progress *progress;    /* [team] */
    int me, team;
    int groups;     /* KV heads that are read: units of a stretch */
    int64_t blocks; /* of all query runs */
};

static size_t lay_out_backward(const struct hydra_kernel_shape *shape, char *base, struct backward_room *room)
{
    size_t used = 0, ldk = (size_t)padded(shape->head_dim), ldv = (size_t)padded(shape->value_dim);
    size_t widest = ldk > ldv ? ldk : ldv;

    room->ldk = (int)ldk;
    room->ldv = (int)ldv;
    room->d_pieces = cut_pieces(shape->head_dim);
    room->v_pieces = cut_pieces(shape->value_dim);
    room->k = carve(base, &used, SUPER * ldk * sizeof(real));
    room->v = carve(base, &used, SUPER * ldv * sizeof(real));
    room->k_piece = carve(base, &used, SUPER * ldk * sizeof(real));
    room->dk = carve(base, &used, SUPER * ldk * sizeof(real));
    room->dv = carve(base, &used, SUPER * ldv * sizeof(real));
    room->view = carve(base, &used, PANELS * sizeof *room->view);
    room->previous = carve(base, &used, (size_t)shape->kv_heads * sizeof *room->previous);
    room->q_panel = carve(base, &used, BLOCK * ldk * sizeof(real));
    room->dout_panel = carve(base, &used, BLOCK * ldv * sizeof(real));
    room->q_piece = carve(base, &used, BLOCK * ldk * sizeof(real));
    room->dout_piece = carve(base, &used, BLOCK * ldv * sizeof(real));
    room->dq = carve(base, &used, BLOCK * ldk * sizeof(real));
    room->lse = carve(base, &used, BLOCK * sizeof(real));
    room->delta = carve(base, &used, BLOCK * sizeof(real));
    room->sight = carve(base, &used, PANELS * sizeof *room->sight);
    room->p = carve(base, &used, (size_t)CHUNK * BLOCK * sizeof(real));
    room->ds = carve(base, &used, (size_t)CHUNK * BLOCK * sizeof(real));
    room->query_begin = carve(base, &used, CHUNK * sizeof(int));
    room->query_end = carve(base, &used, CHUNK * sizeof(int));
    room->rows = carve(base, &used, (size_t)PANEL * widest * sizeof(real));
    return used;
}

/* P and dS of `SCORE_ROWS` keys from k on and the vectors [first, last) of one panel. */
static void differentiate(const struct backward_room *room, int panel, int64_t chunk, int k, int first, int last)
{
    const struct hydra_kernel_shape *shape = &room->call->shape;
    const struct sight *s = &room->sight[panel];
    int64_t at = (int64_t)k * BLOCK + panel * PANEL + first * LANES;
    int lane = panel * PANEL + first * LANES;

    score_tiles[last - first](shape->head_dim, room->k + (chunk + k) * room->ldk, room->ldk,
                              room->q_panel + (int64_t)panel * PANEL * room->ldk + first * LANES, room->p + at, BLOCK,
                              NULL);
    score_tiles[last - first](shape->value_dim, room->v + (chunk + k) * room->ldv, room->ldv,
                              room->dout_panel + (int64_t)panel * PANEL * room->ldv + first * LANES, room->ds + at,
                              BLOCK, NULL);
    for (int j = first; j < last; j++, at += LANES, lane += LANES) {
        vec lse = vec_load(room->lse + lane), delta = vec_load(room->delta + lane);

        UNROLL for (int i = 0; i < SCORE_ROWS; i++)
        {
            real *p_at = room->p + at + i * BLOCK, *ds_at = room->ds + at + i * BLOCK;
            vec p = vec_exp2(vec_load(p_at) - lse);
            vec ds = p * (vec_load(ds_at) - delta);

            if (s->kind == SEES_SOME) {
                ivec seen = sight_mask(s, k + i, j * LANES);

                p = vec_select(seen, p, (vec){0});
                ds = vec_select(seen, ds, (vec){0});
            }
            vec_store(p_at, p);
            vec_store(ds_at, ds);
        }
    }
}

/* All panels of the block against the chunk of `count` keys that begins at key `chunk` of the unit. */
static void differentiate_chunk(const struct backward_room *room, int64_t chunk, int count, bool masked)
{
    if (masked)
        for (int64_t e = 0; e < (int64_t)CHUNK * BLOCK; e += LANES) {
            vec_store(room->p + e, (vec){0});
            vec_store(room->ds + e, (vec){0});
        }
    for (int panel = 0; panel < room->npanels; panel++) {
        const struct sight *s = &room->sight[panel];
        int nvec = (room->view[panel].count + LANES - 1) / LANES;

        if (s->kind == SEES_NONE)
            continue;
        for (int k = s->key_begin / SCORE_ROWS * SCORE_ROWS; k < s->key_end; k += SCORE_ROWS) {
            int begin = PANEL, end = 0;

            for (int i = k; s->kind == SEES_SOME && i < k + SCORE_ROWS && i < count; i++) {
                begin = s->query_begin[i] < begin ? s->query_begin[i] : begin;
                end = s->query_end[i] > end ? s->query_end[i] : end;
            }
            if (s->kind == SEES_ALL)
                differentiate(room, panel, chunk, k, 0, nvec);
            else if (begin < end)
                differentiate(room, panel, chunk, k, begin / LANES, (end + LANES - 1) / LANES);
        }
    }
}

/* Hull of the queries of every key over the panels. */
static void join_sights(const struct backward_room *room, int count)
{
    for (int k = 0; k < count; k++) {
        int begin = BLOCK, end = 0;

        for (int panel = 0; panel < room->npanels; panel++) {
            const struct sight *s = &room->sight[panel];
            int from = panel * PANEL + (s->kind == SEES_ALL ? 0 : s->query_begin[k]);
            int to = panel * PANEL + (s->kind == SEES_ALL ? room->view[panel].count : s->query_end[k]);

            if (s->kind == SEES_NONE || from >= to)
                continue;
            begin = from < begin ? from : begin;
            end = to;
        }
        room->query_begin[k] = begin;
        room->query_end[k] = end;
    }
}

/* gradient[key] += weights[key][query] of[query], for the keys of a chunk: dV from P and dO, dK from dS and Q. */
static void to_keys(const struct backward_room *room, const struct pieces *pieces, const real *weights, const real *of,
                    real *gradient, int64_t chunk, int count, bool masked)
{
    for (int piece = 0; piece < pieces->count; piece++) {
        int width = pieces->width[piece], rows = sum_rows[width];

        for (int k = 0; k < count; k += rows) {
            int begin = 0, end = room->nqueries;

            if (masked) {
                begin = BLOCK;
                end = 0;
                for (int i = k; i < k + rows && i < count; i++) {
                    begin = room->query_begin[i] < begin ? room->query_begin[i] : begin;
                    end = room->query_end[i] > end ? room->query_end[i] : end;
                }
            }
            if (begin < end)
                sum_along_tiles[width](end - begin, weights + (int64_t)k * BLOCK + begin, BLOCK,
                                       in_pieces((real *)(uintptr_t)of, pieces, piece, BLOCK, begin),
                                       in_pieces(gradient, pieces, piece, SUPER, chunk + k));
        }
    }
}

/* dQ[query] += dS[query][key] K[key]. */
static void to_queries(const struct backward_room *room, int64_t chunk, int count)
{
    const struct pieces *pieces = &room->d_pieces;

    for (int piece = 0; piece < pieces->count; piece++) {
        int width = pieces->width[piece], rows = sum_rows[width];

        for (int i = 0; i < room->nqueries; i += rows) {
            const struct sight *s = &room->sight[i / PANEL];
            int begin = 0, end = s->kind == SEES_NONE ? 0 : count;

            if (s->kind == SEES_SOME) {
                begin = CHUNK;
                end = 0;
                for (int r = i % PANEL; r < i % PANEL + rows; r++) {
                    begin = s->row_begin[r] < begin ? s->row_begin[r] : begin;
                    end = s->row_end[r] > end ? s->row_end[r] : end;
                }
            }
            if (begin < end)
                sum_across_tiles[width](end - begin, room->ds + (int64_t)begin * BLOCK + i, BLOCK,
                                        in_pieces(room->k_piece, pieces, piece, SUPER, chunk + begin),
                                        in_pieces(room->dq, pieces, piece, BLOCK, i));
        }
    }
}

/* to[..] += weight * from[..] for one row of a matrix in pieces. */
static void add_in_pieces(const struct pieces *p, real weight, const real *from, int64_t from_rows, int64_t i, real *to,
                          int64_t to_rows, int64_t j)
{
    for (int piece = 0; piece < p->count; piece++) {
        const real *f = in_pieces((real *)(uintptr_t)from, p, piece, from_rows, i);
        real *t = in_pieces(to, p, piece, to_rows, j);

        for (int e = 0; e < p->width[piece] * LANES; e++)
            t[e] += weight * f[e];
    }
}

/* The three products pair by pair: only what is seen is multiplied, because 0 * NaN of a masked pair would spread. */
static void spread_carefully(const struct backward_room *room, int64_t chunk, int count)
{
    for (int i = 0; i < room->nqueries; i++) {
        const struct sight *s = &room->sight[i / PANEL];

        for (int r = 0; r < 2; r++) {
            int begin = s->kind == SEES_SOME ? (int)s->begin[r][i % PANEL] : 0;
            int end = s->kind == SEES_SOME ? (int)s->end[r][i % PANEL] : s->kind == SEES_ALL && r == 0 ? count : 0;

            for (int64_t k = begin; k < end; k++) {
                real p = room->p[k * BLOCK + i], ds = room->ds[k * BLOCK + i];

                add_in_pieces(&room->v_pieces, p, room->dout_piece, BLOCK, i, room->dv, SUPER, chunk + k);
                add_in_pieces(&room->d_pieces, ds, room->q_piece, BLOCK, i, room->dk, SUPER, chunk + k);
                add_in_pieces(&room->d_pieces, ds, room->k_piece, SUPER, chunk + k, room->dq, BLOCK, i);
            }
        }
    }
}

/* The packed block against one chunk of the unit. */
static void work_chunk(const struct backward_room *room, int64_t chunk, int count)
{
    bool any = false, masked = false;

    for (int panel = 0; panel < room->npanels; panel++) {
        look(&room->view[panel], room->key_position + chunk, count, &room->sight[panel]);
        any |= room->sight[panel].kind != SEES_NONE;
        masked |= room->sight[panel].kind != SEES_ALL;
    }
    if (!any)
        return;
    differentiate_chunk(room, chunk, count, masked);
    if (masked && !(room->k_finite && room->q_finite)) {
        spread_carefully(room, chunk, count);
        return;
    }
    if (masked)
        join_sights(room, count);
    to_keys(room, &room->v_pieces, room->p, room->dout_piece, room->dv, chunk, count, masked);
    to_keys(room, &room->d_pieces, room->ds, room->q_piece, room->dk, chunk, count, masked);
    to_queries(room, chunk, count);
}

/* Whether the block in view sees keys at positions [begin, end). */
static bool block_sees(const struct backward_room *room, int64_t begin, int64_t end)
{
    for (int panel = 0; panel < room->npanels; panel++)
        if (view_overlap(&room->view[panel], begin, end) > 0)
            return true;
    return false;
}

/* View the block that begins with query `first` of a run; false when it sees none of the unit's keys. */
static bool see_block(struct backward_room *room, const struct hydra_query_run *run, int64_t first)
{
    room->nqueries = (int)hydra_min64(BLOCK, run->count - first);
    room->npanels = (room->nqueries + PANEL - 1) / PANEL;
    for (int panel = 0; panel < room->npanels; panel++) {
        int done = panel * PANEL, left = room->nqueries - done;

        view_panel(&room->call->shape, run, first + done, left < PANEL ? left : PANEL, &room->view[panel]);
    }
    return block_sees(room, room->key_position, room->key_position + room->nkeys);
}

static void pack_block(struct backward_room *room, int64_t row, int head)
{
    const struct hydra_backward *call = room->call;
    const struct hydra_kernel_shape *shape = &call->shape;

    room->q_finite = true;
    for (int panel = 0; panel < room->npanels; panel++) {
        int first = panel * PANEL, count = room->view[panel].count;

        room->q_finite &=
            read_rows(shape->dtype, &call->q, row + first, head, count, shape->head_dim, room->rows, room->ldk);
        rows_to_panel(room->rows, room->ldk, count, shape->head_dim, (real)(shape->scale * 1.4426950408889634),
                      room->q_panel + (int64_t)first * room->ldk);
        rows_to_pieces(room->rows, room->ldk, count, &room->d_pieces, room->q_piece, BLOCK, first);
        room->q_finite &=
            read_rows(shape->dtype, &call->dout, row + first, head, count, shape->value_dim, room->rows, room->ldv);
        rows_to_panel(room->rows, room->ldv, count, shape->value_dim, (real)shape->scale,
                      room->dout_panel + (int64_t)first * room->ldv);
        rows_to_pieces(room->rows, room->ldv, count, &room->v_pieces, room->dout_piece, BLOCK, first);
    }
    for (int i = 0; i < room->npanels * PANEL; i++) {
        real lse = -INFINITY, delta = 0;

        if (i < room->nqueries) {
            lse = ((const real *)call->lse.data)[(row + i) * call->lse.row_stride + head * call->lse.head_stride];
            delta =
                ((const real *)call->delta.data)[(row + i) * call->delta.row_stride + head * call->delta.head_stride];
        }
        room->lse[i] = lse == -INFINITY ? INFINITY : (real)(lse * 1.4426950408889634); /* no key: P = 0 */
        room->delta[i] = (real)(delta * shape->scale);
    }
    memset(room->dq, 0, (size_t)BLOCK * (size_t)room->ldk * sizeof(real));
}

/* Wait until a thread has passed `value`. */
static void wait_for(const struct backward_room *room, int owner, int64_t value)
{
    for (int spins = 0; __atomic_load_n(&room->progress[owner].value, __ATOMIC_ACQUIRE) < value; spins++)
        if (spins > 200) {
            poll(&room->call->hook, room->me == 0);
            sched_yield();
        }
}

static void publish(const struct backward_room *room, int64_t value)
{
    __atomic_store_n(&room->progress[room->me].value, value, __ATOMIC_RELEASE);
}

static void add_queries(struct backward_room *room, int64_t row, int head)
{
    const struct hydra_tensor *dq = &room->call->dq;

    for (int i = 0; i < room->nqueries; i++) {
        row_from_pieces(room->dq, &room->d_pieces, BLOCK, i, 1, room->rows);
        add_row(room->rows, room->call->shape.head_dim,
                (real *)dq->data + (row + i) * dq->row_stride + head * dq->head_stride);
    }
}

static void begin_unit(struct backward_room *room, const struct hydra_key_run *keys, int64_t first, int count, int kv)
{
    const struct hydra_backward *call = room->call;
    const struct hydra_kernel_shape *shape = &call->shape;

    room->key_position = keys->position + first;
    room->nkeys = count;
    room->k_finite =
        read_rows(shape->dtype, &call->k, keys->row + first, kv, count, shape->head_dim, room->k, room->ldk);
    rows_to_pieces(room->k, room->ldk, count, &room->d_pieces, room->k_piece, SUPER, 0);
    read_rows(shape->dtype, &call->v, keys->row + first, kv, count, shape->value_dim, room->v, room->ldv);
    memset(room->dk, 0, SUPER * (size_t)room->ldk * sizeof(real));
    memset(room->dv, 0, SUPER * (size_t)room->ldv * sizeof(real));
}

static void end_unit(struct backward_room *room, const struct hydra_key_run *keys, int64_t first, int kv)
{
    const struct hydra_backward *call = room->call;

    for (int i = 0; i < room->nkeys; i++) {
        int64_t row = keys->row + first + i;

        row_from_pieces(room->dk, &room->d_pieces, SUPER, i, 1, room->rows);
        add_row(room->rows, call->shape.head_dim,
                (real *)call->dk.data + row * call->dk.row_stride + kv * call->dk.head_stride);
        row_from_pieces(room->dv, &room->v_pieces, SUPER, i, 1, room->rows);
        add_row(room->rows, call->shape.value_dim,
                (real *)call->dv.data + row * call->dv.row_stride + kv * call->dv.head_stride);
    }
}

/* Where the walk over all units stands; every thread walks it alike. */
struct walk {
    int64_t unit;                   /* number of this unit, from 1 */
    int64_t run;                    /* key run */
    int64_t stretch;                /* keys of its units */
    int64_t query_begin, query_end; /* query runs that meet the key run */
    int64_t block;                  /* number of the first block of query_begin */
    struct predecessor before;      /* unit before this one that adds to the same dQ */
};

static int64_t blocks_of(const struct hydra_query_run *run)
{
    return (run->count + BLOCK - 1) / BLOCK;
}

/* Steps of a unit ascend from its last block to its first, and count alike in all units of a KV head. */
static int64_t step_of(const struct backward_room *room, int64_t block, int head, int heads)
{
    return (room->blocks - block) * heads + head + 1;
}

/* The last unit before this one that sees the block in view, which is of query run `q`, or a later one; 0: there is
 * none. Units of a KV head are `groups` apart, one for every stretch. */
static int64_t unit_before(const struct backward_room *room, const struct walk *w, int64_t first, int64_t q)
{
    const struct hydra_key_run *keys = &room->call->work.key_runs[w->run];
    int64_t unit = w->unit - room->groups;

    for (int64_t at = first - w->stretch; at >= 0; at -= w->stretch, unit -= room->groups)
        if (block_sees(room, keys->position + at, keys->position + at + w->stretch))
            return unit;
    return room->call->work.query_runs[q].keys_begin < w->run ? unit : 0;
}

/* Wait until the units before this one have added to the block in view all that they will. */
static void await_turn(const struct backward_room *room, const struct walk *w, int64_t first, int64_t q, int64_t step)
{
    const struct predecessor *before = &w->before;
    int64_t unit;

    if (before->unit == 0)
        return;
    if (before->run >= room->call->work.query_runs[q].keys_begin && block_sees(room, before->begin, before->end)) {
        wait_for(room, before->owner, (before->unit << 32) + step);
        return;
    }
    unit = unit_before(room, w, first, q);
    for (int t = 0; unit > 0 && t < room->team; t++) /* rarely: whose it was is forgotten */
        if (t != room->me)
            wait_for(room, t, (unit + 1) << 32);
}

/* One unit: every block of every query run that meets it, head by head. */
static void work_unit(struct backward_room *room, const struct walk *w, int64_t first, int count, int first_head,
                      int last_head)
{
    const struct hydra_backward *call = room->call;
    const struct hydra_key_run *keys = &call->work.key_runs[w->run];
    int kv = call->shape.kv_of_head[first_head];
    int64_t mine = w->unit << 32, block = w->block;

    publish(room, mine);
    begin_unit(room, keys, first, count, kv);
    for (int64_t q = w->query_begin; q < w->query_end; q++)
        block += blocks_of(&call->work.query_runs[q]);
    for (int64_t q = w->query_end - 1; q >= w->query_begin; q--) {
        const struct hydra_query_run *run = &call->work.query_runs[q];

        for (int64_t at = (blocks_of(run) - 1) * BLOCK; at >= 0; at -= BLOCK) {
            block--;
            if (!see_block(room, run, at))
                continue;
            for (int head = first_head; head < last_head; head++) {
                int64_t step = step_of(room, block, head - first_head, last_head - first_head);

                pack_block(room, run->row + at, head);
                for (int64_t chunk = 0; chunk < count; chunk += CHUNK) {
                    work_chunk(room, chunk, (int)hydra_min64(CHUNK, count - chunk));
                    poll(&call->hook, room->me == 0);
                }
                await_turn(room, w, first, q, step);
                add_queries(room, run->row + at, head);
                publish(room, mine + step);
            }
        }
    }
    end_unit(room, keys, first, kv);
}

/* Pairs of the unit, as bounded by panels. */
static int64_t unit_cost(const struct hydra_backward *call, const struct walk *w, int64_t begin, int64_t end)
{
    int64_t cost = end - begin;
    struct panel_view view;

    for (int64_t q = w->query_begin; q < w->query_end; q++) {
        const struct hydra_query_run *run = &call->work.query_runs[q];

        for (int64_t at = 0; at < run->count; at += PANEL) {
            int64_t overlap;

            view_panel(&call->shape, run, at, (int)hydra_min64(PANEL, run->count - at), &view);
            overlap = view_overlap(&view, begin, end);
            cost += overlap > 0 ? overlap + BLOCK_OVERHEAD : 0;
        }
    }
    return cost;
}

/* Move on to key run w->run: which query runs meet it. They only move forward. */
static void meet_queries(const struct hydra_kernel_work *work, struct walk *w)
{
    while (w->query_begin < work->nquery_runs && work->query_runs[w->query_begin].keys_end <= w->run)
        w->block += blocks_of(&work->query_runs[w->query_begin++]);
    w->query_end = hydra_max64(w->query_end, w->query_begin);
    while (w->query_end < work->nquery_runs && work->query_runs[w->query_end].keys_begin <= w->run)
        w->query_end++;
}

/* First head after `head` that reads another KV head. */
static int next_group(const struct hydra_kernel_shape *shape, int head)
{
    int next = head + 1;

    while (next < shape->heads && shape->kv_of_head[next] == shape->kv_of_head[head])
        next++;
    return next;
}

/* The units of one stretch of keys, one for each KV head, each given to the thread with least work so far. KV heads
 * come one after the other so that a unit's predecessor, the stretch before it, is mostly done when it begins. */
static void backward_stretch(struct backward_room *room, struct walk *w, int64_t *load, int64_t first, int count,
                             bool chained)
{
    const struct hydra_backward *call = room->call;
    int64_t position = call->work.key_runs[w->run].position + first;
    int64_t cost = unit_cost(call, w, position, position + count);

    for (int head = 0, next; head < call->shape.heads; head = next) {
        struct predecessor *previous = &room->previous[call->shape.kv_of_head[head]];
        int owner = 0;

        next = next_group(&call->shape, head);
        for (int t = 1; t < room->team; t++)
            if (load[t] < load[owner])
                owner = t;
        load[owner] += cost * (next - head);
        w->unit++;
        w->before = chained ? *previous : (struct predecessor){0};
        *previous = (struct predecessor){w->unit, owner, w->run, position, position + count};
        if (owner == room->me)
            work_unit(room, w, first, count, head, next);
    }
}

/* Keys of a unit of the key run at hand. Where all cost alike, as without a mask, nothing small is left to even out
 * what threads get: then units are of one size and their number is a multiple of 2 or 4, whatever the threads. */
static int64_t stretch_of(const struct backward_room *room, const struct walk *w, const struct hydra_key_run *keys)
{
    const struct hydra_backward *call = room->call;
    int64_t most = keys->count / SUPER * call->shape.kv_heads >= UNITS_ENOUGH ? SUPER : SUPER / 2;
    int64_t units = (keys->count + most - 1) / most, end = keys->position + keys->count;
    int64_t multiple = room->groups % 4 == 0 ? 1 : units < 2 * UNITS_MANY || room->groups % 2 == 0 ? 2 : 4;

    if (units < UNITS_MANY ||
        unit_cost(call, w, keys->position, keys->position + most) != unit_cost(call, w, end - most, end))
        return most;
    units = (units + multiple - 1) / multiple * multiple;
    return (keys->count + units * SCORE_ROWS - 1) / (units * SCORE_ROWS) * SCORE_ROWS;
}

static void backward_share(const struct hydra_backward *call, int me, int team)
{
    struct backward_room room;
    struct walk w = {0};
    int64_t load[TEAM_MOST] = {0}, met_until = 0; /* end of the query runs that the stretch before met */
    size_t bytes = lay_out_backward(&call->shape, NULL, &room);

    if (me >= TEAM_MOST)
        return;
    room.progress = call->workspace;
    lay_out_backward(&call->shape, (char *)(room.progress + call->threads) + bytes * (size_t)me, &room);
    room.call = call;
    room.me = me;
    room.team = team < TEAM_MOST ? team : TEAM_MOST;
    room.groups = 0;
    for (int head = 0; head < call->shape.heads; head = next_group(&call->shape, head))
        room.groups++;
    room.blocks = 0;
    for (int64_t q = 0; q < call->work.nquery_runs; q++)
        room.blocks += blocks_of(&call->work.query_runs[q]);
    for (w.run = 0; w.run < call->work.nkey_runs; w.run++) {
        int64_t keys = call->work.key_runs[w.run].count;

        meet_queries(&call->work, &w);
        w.stretch = stretch_of(&room, &w, &call->work.key_runs[w.run]);
        for (int64_t first = 0; first < keys && w.query_begin < w.query_end; first += w.stretch) {
            backward_stretch(&room, &w, load, first, (int)hydra_min64(w.stretch, keys - first),
                             w.query_begin < met_until);
            met_until = w.query_end;
        }
    }
    publish(&room, INT64_MAX);
}

static int backward(const struct hydra_backward *call)
{
    struct progress *progress = call->workspace;

    for (int t = 0; t < call->threads; t++)
        progress[t].value = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(call->threads)
#endif
    backward_share(call, team_me(), team_size());
    poll(&call->hook, true);
    return HYDRA_SUCCESS;
}

#endif
