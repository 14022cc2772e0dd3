/* layout.c: rows of a group before and after the inner all-to-all, and the meetings of queries and keys. */
#include "attn/layout.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

/* Rows at which a run may be cut in halves: a kernel's query tile. */
enum { CUT_ROWS = 64 };

/* Replace an array by a larger one; its old content is not kept. */
static int renew(void *slot, int64_t count, size_t size)
{
    void **array = slot;
    void *made = hydra_calloc(count, size);

    if (made == NULL)
        return hydra_error(HYDRA_ERR_NOMEM, "layout of %lld entries", (long long)count);
    hydra_free(*array);
    *array = made;
    return HYDRA_SUCCESS;
}

int hydra_layout_reserve(struct hydra_layout *layout, const struct hydra_schedule *schedule, int64_t slot)
{
    int status = HYDRA_SUCCESS;
    int64_t docs = 0, size = 0, pieces = 0;

    for (int64_t m = 0; m < schedule->microbatches; m++) {
        const struct hydra_group *group = hydra_schedule_group_of(schedule, m, slot);
        int64_t ndocs = group != NULL ? group->docs_end - group->docs_begin : 0;

        if (group == NULL)
            continue;
        docs = hydra_max(docs, ndocs);
        size = hydra_max(size, group->size);
        pieces = hydra_max(pieces, ndocs * group->factor);
    }
    if (docs > layout->doc_capacity) {
        HYDRA_TRY(renew(&layout->shapes, docs, sizeof *layout->shapes));
        HYDRA_TRY(renew(&layout->rotations, docs, sizeof *layout->rotations));
        HYDRA_TRY(renew(&layout->query_runs, 2 * docs + 1, sizeof *layout->query_runs));
        HYDRA_TRY(renew(&layout->key_runs, 2 * docs, sizeof *layout->key_runs));
        layout->doc_capacity = docs;
    }
    if (size > layout->size_capacity) {
        HYDRA_TRY(renew(&layout->member_rows, size, sizeof *layout->member_rows));
        HYDRA_TRY(renew(&layout->rows_of_ring, size, sizeof *layout->rows_of_ring));
        HYDRA_TRY(renew(&layout->piece_begin, size + 1, sizeof *layout->piece_begin));
        layout->size_capacity = size;
    }
    if (pieces > layout->piece_capacity) {
        HYDRA_TRY(renew(&layout->pieces, pieces, sizeof *layout->pieces));
        layout->piece_capacity = pieces;
    }
    return HYDRA_SUCCESS;

fail:
    return status;
}

void hydra_layout_clear(struct hydra_layout *layout)
{
    hydra_free(layout->shapes);
    hydra_free(layout->rotations);
    hydra_free(layout->query_runs);
    hydra_free(layout->key_runs);
    hydra_free(layout->member_rows);
    hydra_free(layout->rows_of_ring);
    hydra_free(layout->piece_begin);
    hydra_free(layout->pieces);
    memset(layout, 0, sizeof *layout);
}

/* Tokens of a document on ring index b. */
static int64_t tokens_of_ring(const struct hydra_shape *shape, int64_t b)
{
    return hydra_shard_tokens_before(shape, (b + 1) * shape->factor) -
           hydra_shard_tokens_before(shape, b * shape->factor);
}

/* Where the rows of inner index j of this ring index go, document by document. */
static void lay_pieces(struct hydra_layout *layout)
{
    int64_t count = 0, base = layout->ring_index * layout->factor;

    for (int64_t j = 0; j < layout->factor; j++) {
        int64_t member_row = 0, document_row = 0;

        layout->piece_begin[j] = count;
        for (int64_t d = 0; d < layout->ndocs; d++) {
            const struct hydra_shape *shape = &layout->shapes[d];
            int64_t before = hydra_shard_tokens_before(shape, base);
            int64_t skip = hydra_shard_tokens_before(shape, base + j) - before;
            struct hydra_piece piece = {member_row, document_row + skip, hydra_shard_tokens(shape, base + j)};
            struct hydra_piece *last = count > layout->piece_begin[j] ? &layout->pieces[count - 1] : NULL;

            document_row += hydra_shard_tokens_before(shape, base + layout->factor) - before;
            member_row += piece.count;
            if (piece.count == 0)
                continue;
            if (last != NULL && last->ring_row + last->count == piece.ring_row)
                last->count += piece.count;
            else
                layout->pieces[count++] = piece;
        }
        layout->member_rows[j] = member_row;
    }
    layout->piece_begin[layout->factor] = count;
}

int hydra_layout_build(struct hydra_layout *layout, const struct hydra_schedule *schedule, int64_t m, int64_t slot)
{
    const struct hydra_group *group = hydra_schedule_group_of(schedule, m, slot);
    bool zigzag;

    layout->size = layout->ndocs = layout->rows = layout->ring_rows = layout->greatest_ring_rows = 0;
    if (group == NULL)
        return HYDRA_SUCCESS;
    layout->ndocs = group->docs_end - group->docs_begin;
    if (layout->ndocs > layout->doc_capacity || group->size > layout->size_capacity ||
        layout->ndocs * group->factor > layout->piece_capacity)
        return hydra_error(HYDRA_ERR_INTERNAL, "microbatch %lld: layout was not reserved", (long long)m);
    layout->first = group->first;
    layout->size = group->size;
    layout->factor = group->factor;
    layout->ring = group->size / group->factor;
    layout->member = slot - group->first;
    layout->inner = layout->member % layout->factor;
    layout->ring_index = layout->member / layout->factor;

    zigzag = hydra_schedule_zigzag(schedule, group);
    hydra_schedule_rotations(schedule, group, layout->rotations);
    memset(layout->rows_of_ring, 0, (size_t)layout->ring * sizeof *layout->rows_of_ring);
    for (int64_t d = 0; d < layout->ndocs; d++) {
        int64_t length = schedule->lengths[schedule->docs[group->docs_begin + d]];

        layout->shapes[d] = (struct hydra_shape){length, group->size, group->factor, layout->rotations[d], zigzag};
        for (int64_t b = 0; b < layout->ring; b++)
            layout->rows_of_ring[b] += tokens_of_ring(&layout->shapes[d], b);
    }
    for (int64_t b = 0; b < layout->ring; b++)
        layout->greatest_ring_rows = hydra_max(layout->greatest_ring_rows, layout->rows_of_ring[b]);
    layout->ring_rows = layout->rows_of_ring[layout->ring_index];
    lay_pieces(layout);
    layout->rows = layout->member_rows[layout->inner];
    return HYDRA_SUCCESS;
}

/* The runs of a document on a ring index, joined when they follow one another; returns how many are not empty. */
static int runs_of_ring(const struct hydra_shape *shape, int64_t b, struct hydra_run runs[2])
{
    hydra_shard_ring_runs(shape, b, runs);
    if (runs[0].count == 0)
        runs[0] = runs[1], runs[1].count = 0;
    if (runs[1].count > 0 && runs[0].begin + runs[0].count == runs[1].begin) {
        runs[0].count += runs[1].count;
        runs[1].count = 0;
    }
    return (runs[0].count > 0) + (runs[1].count > 0);
}

/* Does any of the queries see any of the keys? */
static bool sees(const struct hydra_mask *mask, const struct hydra_query_run *query, const struct hydra_key_run *key)
{
    int64_t last_query = query->position + query->count - 1, last_key = key->position + key->count - 1;

    if (mask->kind == HYDRA_KERNEL_FULL)
        return true;
    if (key->position > last_query)
        return false;
    return mask->kind == HYDRA_KERNEL_CAUSAL || last_key > query->position - mask->window || key->position < mask->sink;
}

/* Sum over y = 1..x of min(y, most). */
static double capped_triangle(int64_t x, int64_t most)
{
    double low = (double)hydra_max(0, hydra_min(x, most)), high = (double)hydra_max(0, x - most);

    return low * (low + 1) / 2 + high * (double)most;
}

/* About how many pairs the first `count` queries of a run have with its keys: only halves are balanced with it. */
static double pairs(const struct hydra_mask *mask, const struct hydra_query_run *query,
                    const struct hydra_key_run *keys, int64_t count)
{
    double sum = 0;

    for (int64_t k = query->keys_begin; k < query->keys_end; k++) {
        int64_t first = query->position + 1 - keys[k].position, most = keys[k].count;

        if (mask->kind == HYDRA_KERNEL_WINDOW) /* window and sink may be as great as INT64_MAX */
            most = hydra_min(most, hydra_min(most, mask->window) + hydra_min(most, mask->sink));
        sum += mask->kind == HYDRA_KERNEL_FULL
                   ? (double)count * (double)most
                   : capped_triangle(first + count - 1, most) - capped_triangle(first - 1, most);
    }
    return sum;
}

/* Cut the list of query runs where half of the pairs are behind, and keep one side. */
static int64_t keep_half(const struct hydra_mask *mask, struct hydra_query_run *runs, int64_t nruns,
                         const struct hydra_key_run *keys, bool head)
{
    double left = 0;
    int64_t r = 0, cut = 0;

    for (int64_t i = 0; i < nruns; i++)
        left += pairs(mask, &runs[i], keys, runs[i].count);
    left /= 2;
    for (; r < nruns; r++) {
        double all = pairs(mask, &runs[r], keys, runs[r].count);

        if (all > left)
            break;
        left -= all;
    }
    if (r == nruns)
        return head ? nruns : 0;
    while (cut + CUT_ROWS <= runs[r].count && pairs(mask, &runs[r], keys, cut + CUT_ROWS) <= left)
        cut += CUT_ROWS;
    if (head) {
        runs[r].count = cut;
        return r + (cut > 0);
    }
    runs[r].row += cut;
    runs[r].position += cut;
    runs[r].count -= cut;
    memmove(runs, runs + r, (size_t)(nruns - r) * sizeof *runs);
    return nruns - r;
}

void hydra_layout_work(struct hydra_layout *layout, const struct hydra_mask *mask, int64_t block,
                       enum hydra_layout_part part, bool all, struct hydra_kernel_work *work)
{
    int64_t query_row = 0, key_row = 0, nqueries = 0, nkeys = 0;

    /* Both ends of the key ranges never decrease along the query runs: the kernels' contract. */
    for (int64_t d = 0; d < layout->ndocs; d++) {
        struct hydra_run mine[2], theirs[2];
        int nmine = runs_of_ring(&layout->shapes[d], layout->ring_index, mine);
        int ntheirs = runs_of_ring(&layout->shapes[d], block, theirs);
        struct hydra_key_run *keys = layout->key_runs + nkeys;
        int64_t least_end = nkeys;

        for (int k = 0; k < ntheirs; k++) {
            keys[k] = (struct hydra_key_run){key_row, theirs[k].count, theirs[k].begin};
            key_row += theirs[k].count;
        }
        for (int q = 0; q < nmine; q++) {
            struct hydra_query_run query = {query_row, mine[q].count, mine[q].begin, nkeys, nkeys + ntheirs, NULL};

            query_row += query.count;
            while (query.keys_end > query.keys_begin && !sees(mask, &query, &layout->key_runs[query.keys_end - 1]))
                query.keys_end--;
            while (query.keys_end > query.keys_begin && !sees(mask, &query, &layout->key_runs[query.keys_begin]))
                query.keys_begin++;
            if (query.keys_end <= query.keys_begin)
                query.keys_begin = query.keys_end = least_end;
            least_end = query.keys_end;
            if (all || query.keys_end > query.keys_begin)
                layout->query_runs[nqueries++] = query;
        }
        nkeys += ntheirs;
    }
    if (part != HYDRA_LAYOUT_WHOLE)
        nqueries = keep_half(mask, layout->query_runs, nqueries, layout->key_runs, part == HYDRA_LAYOUT_HEAD);
    *work = (struct hydra_kernel_work){layout->query_runs, nqueries, layout->key_runs, nkeys};
}
