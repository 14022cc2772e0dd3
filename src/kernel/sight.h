/* sight.h: which of a chunk's keys a panel of queries sees: whole, in part or none; and how far each row and key
 * reaches, so that masked tiles cost nothing. Integers only. Included by instance.h alone. */
#ifndef HYDRA_KERNEL_SIGHT_H
#define HYDRA_KERNEL_SIGHT_H

#include "kernel/mask.h"
#include "kernel/tile.h"

enum { CHUNK = 120 }; /* keys that are worked on together: a multiple of 24, so that all tiles fit */

/* What the queries of a panel see of their document, in document positions. */
struct panel_view {
    int count; /* queries, 1 .. PANEL */
    struct hydra_visible row[PANEL];
    int64_t all_begin[2], all_end[2]; /* every query sees [all_begin, all_end) in range r */
    int64_t any_begin[2], any_end[2]; /* no query sees a key outside [any_begin, any_end) in range r */
};

static void view_panel(const struct hydra_kernel_shape *shape, const struct hydra_query_run *run, int64_t first,
                       int count, struct panel_view *view)
{
    view->count = count;
    for (int r = 0; r < 2; r++) {
        view->all_begin[r] = 0;
        view->all_end[r] = view->any_begin[r] = INT64_MAX;
        view->any_end[r] = 0;
    }
    for (int i = 0; i < count; i++) {
        view->row[i] = hydra_kernel_visible(shape, run->ranges, run->position + first + i);
        for (int r = 0; r < 2; r++) {
            int64_t begin = view->row[i].begin[r], end = view->row[i].end[r];

            view->all_begin[r] = hydra_max64(view->all_begin[r], begin);
            view->all_end[r] = hydra_min64(view->all_end[r], end);
            if (begin < end) {
                view->any_begin[r] = hydra_min64(view->any_begin[r], begin);
                view->any_end[r] = hydra_max64(view->any_end[r], end);
            }
        }
    }
    for (int r = 0; r < 2; r++)
        view->any_begin[r] = hydra_min64(view->any_begin[r], view->any_end[r]); /* no query sees a key: [0, 0) */
}

/* Keys of [begin, end) that some query may see: the two hulls. An upper bound, exact for causal,
 * full and window masks. */
static int64_t view_overlap(const struct panel_view *view, int64_t begin, int64_t end)
{
    int64_t sum = 0;

    for (int r = 0; r < 2; r++)
        sum += hydra_max64(0, hydra_min64(end, view->any_end[r]) - hydra_max64(begin, view->any_begin[r]));
    return hydra_min64(sum, end - begin);
}

enum sight_kind { SEES_NONE, SEES_SOME, SEES_ALL };

/* A panel against a chunk of `count` keys. Indices count from the chunk's first key and the panel's first query. */
struct sight {
    enum sight_kind kind;
    int key_begin, key_end; /* keys outside are seen by no query */
    /* SEES_SOME only: */
    integer begin[2][PANEL] __attribute__((aligned(64))); /* keys [begin, end) that a query sees; none: padding */
    integer end[2][PANEL] __attribute__((aligned(64)));
    int row_begin[PANEL], row_end[PANEL];     /* hull of a query's keys */
    int query_begin[CHUNK], query_end[CHUNK]; /* hull of a key's queries; begin >= end: none */
};

static void look_closely(const struct panel_view *view, int64_t position, int count, struct sight *s)
{
    s->key_begin = count;
    s->key_end = 0;
    for (int k = 0; k < count; k++) {
        s->query_begin[k] = PANEL;
        s->query_end[k] = 0;
    }
    memset(s->begin, 0, sizeof s->begin);
    memset(s->end, 0, sizeof s->end);
    for (int i = 0; i < PANEL; i++) {
        s->row_begin[i] = count;
        s->row_end[i] = 0;
        for (int r = 0; r < 2 && i < view->count; r++) {
            int begin = (int)hydra_min64(hydra_max64(view->row[i].begin[r] - position, 0), count);
            int end = (int)hydra_min64(hydra_max64(view->row[i].end[r] - position, 0), count);

            if (begin >= end)
                continue;
            s->begin[r][i] = begin;
            s->end[r][i] = end;
            s->row_begin[i] = begin < s->row_begin[i] ? begin : s->row_begin[i];
            s->row_end[i] = end > s->row_end[i] ? end : s->row_end[i];
            for (int k = begin; k < end; k++) {
                s->query_begin[k] = i < s->query_begin[k] ? i : s->query_begin[k];
                s->query_end[k] = i + 1;
            }
        }
        s->key_begin = s->row_begin[i] < s->key_begin ? s->row_begin[i] : s->key_begin;
        s->key_end = s->row_end[i] > s->key_end ? s->row_end[i] : s->key_end;
    }
    s->kind = s->key_begin < s->key_end ? SEES_SOME : SEES_NONE;
}

static void look(const struct panel_view *view, int64_t position, int count, struct sight *s)
{
    s->key_begin = 0;
    s->key_end = count;
    s->kind = SEES_ALL;
    for (int r = 0; r < 2; r++)
        if (view->all_begin[r] <= position && position + count <= view->all_end[r])
            return;
    s->kind = SEES_NONE;
    if (view_overlap(view, position, position + count) > 0)
        look_closely(view, position, count, s);
}

/* Lanes that see key k, as a mask, for the vector of queries that begins with lane `at`. */
INLINE ivec sight_mask(const struct sight *s, int k, int at)
{
    ivec key = ivec_splat(k);
    ivec first = (key >= ivec_load(&s->begin[0][at])) & (key < ivec_load(&s->end[0][at]));
    ivec second = (key >= ivec_load(&s->begin[1][at])) & (key < ivec_load(&s->end[1][at]));

    return first | second;
}

#endif
