/* forward.h: the forward pass of one instance. Included by instance.h alone.
 *
 * An item is one panel of PANEL queries of one head: its scaled Q^T [D][PANEL], its running m, l and O. A thread takes
 * a stretch of items of equal cost in the order (KV head, query run, panel, head), works on as many at a time as keep
 * the cache, and packs every chunk of K and V once for all of them. Scores are S^T [key][query], so that maximum and
 * sum of a query are lanes; they are kept in units of log2. What a query gets does not depend on the items beside it.
 */
#ifndef HYDRA_KERNEL_FORWARD_H
#define HYDRA_KERNEL_FORWARD_H

#include "kernel/room.h"
#include "kernel/pack.h"
#include "kernel/sight.h"

enum {
    ITEMS_MOST = 32,
    ITEMS_BYTES = 480 << 10, /* of Q^T and O that a thread works on at a time: they stay in L2 */
    ITEM_OVERHEAD = 16,      /* keys that packing and finishing a panel are worth */
};

/* m is raised, and O rescaled, only once a score passes it by this much (log2): sums stay below 2^8 times what they
 * are. */
#define SLACK_OF_MAXIMUM 8

struct item {
    struct panel_view view;
    int64_t row; /* of its first query */
    int head;
    bool fresh; /* O is still 0 */
    real *q;    /* [D][PANEL], times scale * log2(e) */
    real *o;    /* pieces of PANEL rows */
    real m[PANEL] __attribute__((aligned(64)));
    real l[PANEL] __attribute__((aligned(64)));
};

/* What one thread works in, carved from the workspace. */
struct forward_room {
    const struct hydra_forward *call;
    struct pieces v_pieces;
    int ldk, ldv; /* padded dims */
    int items_most, nitems;
    struct item *items;
    real *k;      /* [CHUNK][ldk] */
    real *v;      /* pieces of CHUNK rows */
    real *rows;   /* rows on their way into a layout */
    real *scores; /* [CHUNK][PANEL] */
    struct sight sight;
    bool v_finite;
    bool polls; /* this thread called the kernel */
};

/* Lay a thread's room out in the workspace and return its bytes. */
static size_t lay_out_forward(const struct hydra_kernel_shape *shape, char *base, struct forward_room *room)
{
    size_t used = 0;
    int widest;
    struct item *items;

    room->ldk = padded(shape->head_dim);
    room->ldv = padded(shape->value_dim);
    room->v_pieces = cut_pieces(shape->value_dim);
    room->items_most = (int)(ITEMS_BYTES / (PANEL * sizeof(real) * (size_t)(room->ldk + room->ldv)));
    room->items_most = room->items_most < 4 ? 4 : room->items_most > ITEMS_MOST ? ITEMS_MOST : room->items_most;
    widest = room->ldk > room->ldv ? room->ldk : room->ldv;
    items = carve(base, &used, (size_t)room->items_most * sizeof *items);
    room->items = items;
    room->k = carve(base, &used, (size_t)CHUNK * (size_t)room->ldk * sizeof(real));
    room->v = carve(base, &used, (size_t)CHUNK * (size_t)room->ldv * sizeof(real));
    room->rows = carve(base, &used, (size_t)CHUNK * (size_t)widest * sizeof(real));
    room->scores = carve(base, &used, (size_t)CHUNK * PANEL * sizeof(real));
    for (int i = 0; i < room->items_most; i++) {
        real *q = carve(base, &used, (size_t)room->ldk * PANEL * sizeof(real));
        real *o = carve(base, &used, (size_t)room->ldv * PANEL * sizeof(real));

        if (base != NULL) {
            items[i].q = q;
            items[i].o = o;
        }
    }
    return used;
}

/* S^T of the keys that any query sees, and the greatest score of each query. Masked scores become -inf. */
static void score(const struct forward_room *room, const struct item *it, int nvec, vec *greatest)
{
    const struct sight *s = &room->sight;
    int depth = room->call->shape.head_dim;

    for (int j = 0; j < nvec; j++)
        greatest[j] = vec_splat(-INFINITY);
    if (s->kind == SEES_ALL) {
        for (int k = 0; k < s->key_end; k += SCORE_ROWS)
            score_max_tiles[nvec](depth, room->k + (int64_t)k * room->ldk, room->ldk, it->q, room->scores + k * PANEL,
                                  PANEL, greatest);
        return;
    }
    for (int k = s->key_begin / SCORE_ROWS * SCORE_ROWS; k < s->key_end; k += SCORE_ROWS) {
        int begin = PANEL, end = 0;

        for (int i = k; i < k + SCORE_ROWS && i < s->key_end; i++) {
            begin = s->query_begin[i] < begin ? s->query_begin[i] : begin;
            end = s->query_end[i] > end ? s->query_end[i] : end;
        }
        if (begin < end) {
            int first = begin / LANES, last = (end + LANES - 1) / LANES;

            score_tiles[last - first](depth, room->k + (int64_t)k * room->ldk, room->ldk, it->q + first * LANES,
                                      room->scores + k * PANEL + first * LANES, PANEL, NULL);
        }
    }
    for (int j = 0; j < nvec; j++)
        for (int k = s->key_begin; k < s->key_end; k++) {
            real *at = room->scores + k * PANEL + j * LANES;
            vec x = vec_select(sight_mask(s, k, j * LANES), vec_load(at), vec_splat(-INFINITY));

            vec_store(at, x);
            greatest[j] = vec_max(x, greatest[j]);
        }
}

static void rescale(const struct forward_room *room, struct item *it, const real *by)
{
    const struct pieces *p = &room->v_pieces;

    for (int i = 0; i < it->view.count; i++)
        for (int piece = 0; by[i] != 1 && piece < p->count; piece++) {
            real *o = in_pieces(it->o, p, piece, PANEL, i);

            for (int j = 0; j < p->width[piece]; j++)
                vec_store(o + j * LANES, vec_load(o + j * LANES) * by[i]);
        }
}

/* Scores to P^T = 2^(S - m); l gains the sums. */
static void soften(const struct forward_room *room, struct item *it, int nvec, const vec *greatest)
{
    real by[PANEL] __attribute__((aligned(64)));
    bool grew = false;

    for (int j = 0; j < nvec; j++) {
        vec m = vec_load(it->m + j * LANES);
        ivec grows = greatest[j] > m + SLACK_OF_MAXIMUM;
        vec raised = vec_select(grows, greatest[j], m);
        vec factor = vec_select(grows, vec_exp2(m - raised), vec_splat(1));
        vec shift = vec_select(raised == vec_splat(-INFINITY), (vec){0}, raised);
        vec sum = {0};

        grew |= ivec_any(grows);
        vec_store(by + j * LANES, factor);
        vec_store(it->m + j * LANES, raised);
        for (int k = room->sight.key_begin; k < room->sight.key_end; k++) {
            real *at = room->scores + k * PANEL + j * LANES;
            vec p = vec_exp2(vec_load(at) - shift);

            vec_store(at, p);
            sum += p;
        }
        vec_store(it->l + j * LANES, vec_load(it->l + j * LANES) * factor + sum);
    }
    if (grew && !it->fresh)
        rescale(room, it, by);
    it->fresh = false;
}

/* O += P V, pair by pair: only what is seen is multiplied, because 0 * NaN of a masked key would reach O. */
static void gather_carefully(const struct forward_room *room, struct item *it)
{
    const struct pieces *p = &room->v_pieces;
    const struct sight *s = &room->sight;

    for (int i = 0; i < it->view.count; i++)
        for (int r = 0; r < 2; r++)
            for (int64_t k = s->begin[r][i]; k < s->end[r][i]; k++)
                for (int piece = 0; piece < p->count; piece++) {
                    real *o = in_pieces(it->o, p, piece, PANEL, i);
                    const real *v = in_pieces(room->v, p, piece, CHUNK, k);

                    for (int j = 0; j < p->width[piece] * LANES; j++)
                        o[j] += room->scores[k * PANEL + i] * v[j];
                }
}

static void gather(const struct forward_room *room, struct item *it)
{
    const struct pieces *p = &room->v_pieces;
    const struct sight *s = &room->sight;

    for (int piece = 0; piece < p->count; piece++) {
        int width = p->width[piece], rows = sum_rows[width];

        for (int i = 0; i < it->view.count; i += rows) {
            int begin = s->key_begin, end = s->key_end;

            if (s->kind == SEES_SOME) {
                begin = CHUNK;
                end = 0;
                for (int r = i; r < i + rows; r++) {
                    begin = s->row_begin[r] < begin ? s->row_begin[r] : begin;
                    end = s->row_end[r] > end ? s->row_end[r] : end;
                }
            }
            if (begin < end)
                sum_across_tiles[width](end - begin, room->scores + begin * PANEL + i, PANEL,
                                        in_pieces(room->v, p, piece, CHUNK, begin),
                                        in_pieces(it->o, p, piece, PANEL, i));
        }
    }
}

/* One item against the chunk that is packed. */
static void attend(struct forward_room *room, struct item *it, int64_t position, int count)
{
    vec greatest[3];
    int nvec = (it->view.count + LANES - 1) / LANES;

    look(&it->view, position, count, &room->sight);
    if (room->sight.kind == SEES_NONE)
        return;
    score(room, it, nvec, greatest);
    soften(room, it, nvec, greatest);
    if (room->sight.kind == SEES_SOME && !room->v_finite)
        gather_carefully(room, it);
    else
        gather(room, it);
}

static void pack_keys(struct forward_room *room, int64_t row, int count, int kv)
{
    const struct hydra_forward *call = room->call;
    const struct hydra_kernel_shape *shape = &call->shape;

    read_rows(shape->dtype, &call->k, row, kv, count, shape->head_dim, room->k, room->ldk);
    for (int i = count; i % SCORE_ROWS != 0; i++) /* a score tile's last rows: copies, so that no maximum changes */
        memcpy(room->k + (int64_t)i * room->ldk, room->k + (int64_t)(count - 1) * room->ldk,
               (size_t)room->ldk * sizeof(real));
    room->v_finite = read_rows(shape->dtype, &call->v, row, kv, count, shape->value_dim, room->rows, room->ldv);
    rows_to_pieces(room->rows, room->ldv, count, &room->v_pieces, room->v, CHUNK, 0);
}

static void begin_item(struct forward_room *room, struct item *it)
{
    const struct hydra_forward *call = room->call;
    const struct hydra_kernel_shape *shape = &call->shape;
    const struct hydra_kernel_state *state = &call->state;
    int dv = shape->value_dim;

    read_rows(shape->dtype, &call->q, it->row, it->head, it->view.count, shape->head_dim, room->rows, room->ldk);
    rows_to_panel(room->rows, room->ldk, it->view.count, shape->head_dim, (real)(shape->scale * 1.4426950408889634),
                  it->q);
    it->fresh = (call->flags & HYDRA_KERNEL_FIRST) != 0;
    for (int i = 0; i < PANEL; i++) {
        it->m[i] = -INFINITY;
        it->l[i] = 0;
    }
    memset(it->o, 0, (size_t)room->ldv * PANEL * sizeof(real));
    for (int i = 0; i < it->view.count && !it->fresh; i++) {
        int64_t at = (it->row + i) * shape->heads + it->head;
        vec taint = {0};

        it->m[i] = ((const real *)state->greatest)[at];
        it->l[i] = ((const real *)state->sum)[at];
        read_row(HYDRA_DTYPE_F32, (const real *)state->accumulator + at * dv, dv, room->rows, &taint);
        row_to_pieces(room->rows, &room->v_pieces, PANEL, i, it->o);
    }
}

static void end_item(struct forward_room *room, struct item *it)
{
    const struct hydra_forward *call = room->call;
    const struct hydra_kernel_shape *shape = &call->shape;
    int dv = shape->value_dim;

    for (int i = 0; i < it->view.count; i++) {
        int64_t row = it->row + i, at = row * shape->heads + it->head;
        real l = it->l[i];

        if ((call->flags & HYDRA_KERNEL_LAST) == 0) {
            ((real *)call->state.greatest)[at] = it->m[i];
            ((real *)call->state.sum)[at] = l;
            row_from_pieces(it->o, &room->v_pieces, PANEL, i, 1, room->rows);
            write_row(HYDRA_DTYPE_F32, room->rows, dv, (real *)call->state.accumulator + at * dv);
            continue;
        }
        row_from_pieces(it->o, &room->v_pieces, PANEL, i, l == 0 ? 0 : 1 / l, room->rows);
        write_row(shape->dtype, room->rows, dv, row_at(shape->dtype, &call->out, row, it->head));
        if (call->lse.data != NULL)
            ((real *)call->lse.data)[row * call->lse.row_stride + it->head * call->lse.head_stride] =
                l == 0 ? -INFINITY : (real)((it->m[i] + log2(l)) * 0.6931471805599453);
    }
}

/* Work off the items at hand, all of one query run and KV head. */
static void flush_items(struct forward_room *room, const struct hydra_query_run *run, int kv)
{
    const struct hydra_forward *call = room->call;

    if (run->keys_begin == run->keys_end && (call->flags & (HYDRA_KERNEL_FIRST | HYDRA_KERNEL_LAST)) == 0)
        room->nitems = 0; /* nothing to add, nothing to start or finish */
    for (int i = 0; i < room->nitems; i++)
        begin_item(room, &room->items[i]);
    for (int64_t r = run->keys_begin; r < run->keys_end && room->nitems > 0; r++) {
        const struct hydra_key_run *keys = &call->work.key_runs[r];

        for (int64_t at = 0; at < keys->count; at += CHUNK) {
            int64_t position = keys->position + at;
            int count = (int)hydra_min64(CHUNK, keys->count - at);
            bool seen = false;

            for (int i = 0; i < room->nitems && !seen; i++)
                seen = view_overlap(&room->items[i].view, position, position + count) > 0;
            if (!seen)
                continue;
            pack_keys(room, keys->row + at, count, kv);
            for (int i = 0; i < room->nitems; i++)
                attend(room, &room->items[i], position, count);
            poll(&call->hook, room->polls);
        }
    }
    for (int i = 0; i < room->nitems; i++)
        end_item(room, &room->items[i]);
    room->nitems = 0;
    poll(&call->hook, room->polls);
}

/* Keys that a panel of a query run meets. */
static int64_t panel_cost(const struct hydra_kernel_work *work, const struct hydra_query_run *run,
                          const struct panel_view *view)
{
    int64_t cost = ITEM_OVERHEAD;

    for (int64_t r = run->keys_begin; r < run->keys_end; r++) {
        const struct hydra_key_run *keys = &work->key_runs[r];

        cost += view_overlap(view, keys->position, keys->position + keys->count);
    }
    return cost;
}

static int64_t head_cost(const struct hydra_forward *call)
{
    int64_t cost = 0;
    struct panel_view view;

    for (int64_t r = 0; r < call->work.nquery_runs; r++) {
        const struct hydra_query_run *run = &call->work.query_runs[r];

        for (int64_t first = 0; first < run->count; first += PANEL) {
            view_panel(&call->shape, run, first, (int)hydra_min64(PANEL, run->count - first), &view);
            cost += panel_cost(&call->work, run, &view);
        }
    }
    return cost;
}

/* The items of one KV head whose work begins within [begin, end); at: work before this KV head. */
static void forward_heads(struct forward_room *room, int first_head, int last_head, int64_t at, int64_t begin,
                          int64_t end)
{
    const struct hydra_forward *call = room->call;
    int kv = call->shape.kv_of_head[first_head];
    struct panel_view view;

    for (int64_t r = 0; r < call->work.nquery_runs && at < end; r++) {
        const struct hydra_query_run *run = &call->work.query_runs[r];

        for (int64_t first = 0; first < run->count && at < end; first += PANEL) {
            int64_t cost;

            view_panel(&call->shape, run, first, (int)hydra_min64(PANEL, run->count - first), &view);
            cost = panel_cost(&call->work, run, &view);
            for (int head = first_head; head < last_head; head++, at += cost) {
                struct item *it = &room->items[room->nitems];

                if (at < begin || at >= end)
                    continue;
                it->view = view;
                it->row = run->row + first;
                it->head = head;
                if (++room->nitems == room->items_most)
                    flush_items(room, run, kv);
            }
        }
        if (room->nitems > 0)
            flush_items(room, run, kv);
    }
}

static void forward_share(const struct hydra_forward *call, char *workspace, int me, int team)
{
    struct forward_room room;
    size_t bytes = lay_out_forward(&call->shape, NULL, &room);
    int64_t one = head_cost(call), total = one * call->shape.heads;
    int64_t begin = total / team * me + hydra_min64(me, total % team);
    int64_t end = total / team * (me + 1) + hydra_min64(me + 1, total % team);

    lay_out_forward(&call->shape, workspace + bytes * (size_t)me, &room);
    room.call = call;
    room.nitems = 0;
    room.polls = me == 0;
    for (int head = 0, next; head < call->shape.heads; head = next) {
        for (next = head + 1; next < call->shape.heads; next++)
            if (call->shape.kv_of_head[next] != call->shape.kv_of_head[head])
                break;
        if (one * next > begin && one * head < end)
            forward_heads(&room, head, next, one * head, begin, end);
    }
}

static int forward(const struct hydra_forward *call)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(call->threads)
#endif
    forward_share(call, call->workspace, team_me(), team_size());
    return HYDRA_SUCCESS;
}

#endif
