/* exchange.c: the inner all-to-all, one tensor at a time, as non-blocking messages between the
 * members of a ring index. */
#include "attn/exchange.h"

#include <string.h>

#include "base/error.h"
#include "base/range.h"
#include "comm/wait.h"
#include "kernel/convert.h"

size_t hydra_dtype_bytes(enum hydra_dtype dtype)
{
    return dtype == HYDRA_DTYPE_F64 ? 8 : dtype == HYDRA_DTYPE_F32 ? 4 : 2;
}

enum hydra_dtype hydra_dtype_wide(enum hydra_dtype dtype)
{
    return dtype == HYDRA_DTYPE_F64 ? HYDRA_DTYPE_F64 : HYDRA_DTYPE_F32;
}

/* The heads of the tensor that inner index a holds. */
struct span {
    int first;
    int count;
};

static struct span span_of(const struct hydra_exchanged *what, int64_t factor, int64_t inner)
{
    struct hydra_heads own = hydra_heads_of_inner(what->heads, what->kv_heads, factor, inner);

    return what->kv ? (struct span){own.kv_first, own.kv_count} : (struct span){own.first, own.count};
}

static size_t cell_bytes(const struct hydra_exchanged *what)
{
    return hydra_dtype_bytes(what->dtype) * (size_t)what->dim;
}

/* The rows of member j lie consecutively on the ring index: no packing or unpacking there. */
static bool in_one_piece(const struct hydra_layout *layout, int64_t j)
{
    return layout->piece_begin[j + 1] - layout->piece_begin[j] <= 1;
}

static int64_t slot_of_inner(const struct hydra_layout *layout, int64_t inner)
{
    return layout->first + layout->ring_index * layout->factor + inner;
}

/* Bytes between this member's rows and inner index `other`'s heads, and between `other`'s rows and
 * this member's heads. */
static int64_t bytes_row_side(const struct hydra_layout *layout, const struct hydra_exchanged *what, int64_t other)
{
    return layout->rows * span_of(what, layout->factor, other).count * (int64_t)cell_bytes(what);
}

static int64_t bytes_head_side(const struct hydra_layout *layout, const struct hydra_exchanged *what, int64_t other)
{
    return layout->member_rows[other] * span_of(what, layout->factor, layout->inner).count * (int64_t)cell_bytes(what);
}

/* Row side always passes through staging (heads are picked or placed), head side only where rows are in pieces. */
int64_t hydra_exchange_staging(const struct hydra_layout *layout, const struct hydra_exchanged *what)
{
    int64_t bytes = 0;

    for (int64_t j = 0; layout->size > 0 && j < layout->factor; j++)
        if (j != layout->inner)
            bytes += bytes_row_side(layout, what, j) + (in_one_piece(layout, j) ? 0 : bytes_head_side(layout, what, j));
    return bytes;
}

void hydra_pack_rows(char *to, const struct hydra_tensor *from, size_t element, int dim, int64_t row, int64_t rows,
                     int first_head, int heads)
{
    size_t cell = element * (size_t)dim;

    for (int64_t r = row; r < row + rows; r++) {
        const char *line = (const char *)from->data + (size_t)(r * from->row_stride) * element;

        if (from->head_stride == dim) {
            memcpy(to, line + (size_t)first_head * cell, (size_t)heads * cell);
            to += (size_t)heads * cell;
            continue;
        }
        for (int h = first_head; h < first_head + heads; h++, to += cell)
            memcpy(to, line + (size_t)(h * from->head_stride) * element, cell);
    }
}

/* Packed rows of member j to their places on the ring rows. */
static void unpack_pieces(const struct hydra_layout *layout, int64_t j, const char *from, char *to, size_t line)
{
    for (int64_t p = layout->piece_begin[j]; p < layout->piece_begin[j + 1]; p++) {
        const struct hydra_piece *piece = &layout->pieces[p];

        memcpy(to + (size_t)piece->ring_row * line, from + (size_t)piece->member_row * line,
               (size_t)piece->count * line);
    }
}

static void pack_pieces(const struct hydra_layout *layout, int64_t j, const char *from, char *to, size_t line)
{
    for (int64_t p = layout->piece_begin[j]; p < layout->piece_begin[j + 1]; p++) {
        const struct hydra_piece *piece = &layout->pieces[p];

        memcpy(to + (size_t)piece->member_row * line, from + (size_t)piece->ring_row * line,
               (size_t)piece->count * line);
    }
}

int hydra_gather_start(struct hydra_gather *gather, const struct hydra_wire *wire, const struct hydra_layout *layout,
                       const struct hydra_exchanged *what, const struct hydra_tensor *from, void *to, void *staging,
                       struct hydra_message *messages)
{
    HYDRA_IN_RANGE(ALLTOALL_POST);
    struct span own = span_of(what, layout->factor, layout->inner);
    size_t element = hydra_dtype_bytes(what->dtype), line = cell_bytes(what) * (size_t)own.count;
    char *stage = staging;
    int status = HYDRA_SUCCESS;

    *gather = (struct hydra_gather){wire, layout, *what, to, NULL, messages};
    for (int64_t j = 0; j < layout->factor; j++)
        messages[j].active = messages[layout->factor + j].active = false;
    for (int64_t j = 0; j < layout->factor; j++)
        if (j != layout->inner && in_one_piece(layout, j)) {
            const struct hydra_piece *piece = &layout->pieces[layout->piece_begin[j]];
            char *place = layout->member_rows[j] > 0 ? gather->to + (size_t)piece->ring_row * line : gather->to;

            HYDRA_TRY(hydra_wire_recv(wire, &messages[layout->factor + j], HYDRA_CHANNEL_ALLTOALL, what->part,
                                      slot_of_inner(layout, j), place, bytes_head_side(layout, what, j)));
        }
    for (int64_t j = 0; j < layout->factor; j++) {
        struct span theirs = span_of(what, layout->factor, j);
        int64_t bytes = bytes_row_side(layout, what, j);

        if (j == layout->inner)
            continue;
        hydra_pack_rows(stage, from, element, what->dim, 0, layout->rows, theirs.first, theirs.count);
        HYDRA_TRY(hydra_wire_send(wire, &messages[j], HYDRA_CHANNEL_ALLTOALL, what->part, slot_of_inner(layout, j),
                                  stage, bytes));
        hydra_count(&wire->pool->counters, HYDRA_COUNTER_ATTN_ALLTOALL_BYTES, (double)bytes);
        stage += bytes;
    }
    gather->received = stage;
    for (int64_t j = 0; j < layout->factor; j++)
        if (j != layout->inner && !in_one_piece(layout, j)) {
            HYDRA_TRY(hydra_wire_recv(wire, &messages[layout->factor + j], HYDRA_CHANNEL_ALLTOALL, what->part,
                                      slot_of_inner(layout, j), stage, bytes_head_side(layout, what, j)));
            stage += bytes_head_side(layout, what, j);
        }
    for (int64_t p = layout->piece_begin[layout->inner]; p < layout->piece_begin[layout->inner + 1]; p++) {
        const struct hydra_piece *piece = &layout->pieces[p];

        hydra_pack_rows(gather->to + (size_t)piece->ring_row * line, from, element, what->dim, piece->member_row,
                        piece->count, own.first, own.count);
    }

fail:
    return status;
}

/* Until all messages of one tensor's all-to-all are through. */
static int wait_all(const struct hydra_wire *wire, int64_t factor, struct hydra_message *messages)
{
    HYDRA_IN_RANGE(ALLTOALL_WAIT);
    double began = hydra_clock();
    int64_t index = 0;
    int status = HYDRA_SUCCESS;

    while (index >= 0)
        HYDRA_TRY(hydra_wire_wait_any(wire, messages, 2 * factor, "the inner all-to-all", &index));
    hydra_count(&wire->pool->counters, HYDRA_COUNTER_ATTN_ALLTOALL_SECONDS, hydra_clock() - began);

fail:
    return status;
}

static void unpack_all(const struct hydra_gather *gather)
{
    HYDRA_IN_RANGE(ALLTOALL_UNPACK);
    const struct hydra_layout *layout = gather->layout;
    const struct hydra_exchanged *what = &gather->what;
    size_t line = cell_bytes(what) * (size_t)span_of(what, layout->factor, layout->inner).count;
    const char *received = gather->received;

    for (int64_t j = 0; j < layout->factor; j++)
        if (j != layout->inner && !in_one_piece(layout, j)) {
            unpack_pieces(layout, j, received, gather->to, line);
            received += bytes_head_side(layout, what, j);
        }
}

int hydra_gather_finish(struct hydra_gather *gather)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(wait_all(gather->wire, gather->layout->factor, gather->messages));
    unpack_all(gather);

fail:
    return status;
}

/* Post a scatter's messages. parts [out] [U] where each inner index's packed part will be; this
 * member's own is NULL. */
static int post_scatter(const struct hydra_wire *wire, const struct hydra_layout *layout,
                        const struct hydra_exchanged *what, const char *from, char *stage,
                        struct hydra_message *messages)
{
    HYDRA_IN_RANGE(ALLTOALL_POST);
    size_t line = cell_bytes(what) * (size_t)span_of(what, layout->factor, layout->inner).count;
    int status = HYDRA_SUCCESS;

    for (int64_t j = 0; j < layout->factor; j++)
        messages[j].active = messages[layout->factor + j].active = false;
    for (int64_t j = 0; j < layout->factor; j++)
        if (j != layout->inner) {
            HYDRA_TRY(hydra_wire_recv(wire, &messages[layout->factor + j], HYDRA_CHANNEL_ALLTOALL, what->part,
                                      slot_of_inner(layout, j), stage, bytes_row_side(layout, what, j)));
            stage += bytes_row_side(layout, what, j);
        }
    for (int64_t j = 0; j < layout->factor; j++) {
        int64_t bytes = bytes_head_side(layout, what, j);
        const char *packed = stage;

        if (j == layout->inner)
            continue;
        if (in_one_piece(layout, j)) {
            packed = bytes > 0 ? from + (size_t)layout->pieces[layout->piece_begin[j]].ring_row * line : from;
        } else {
            pack_pieces(layout, j, from, stage, line);
            stage += bytes;
        }
        HYDRA_TRY(hydra_wire_send(wire, &messages[j], HYDRA_CHANNEL_ALLTOALL, what->part, slot_of_inner(layout, j),
                                  packed, bytes));
        hydra_count(&wire->pool->counters, HYDRA_COUNTER_ATTN_ALLTOALL_BYTES, (double)bytes);
    }

fail:
    return status;
}

/* An element of a wide row to the caller's dtype. */
static void store_wide(void *to, enum hydra_dtype to_dtype, const float *row, int dim)
{
    switch (to_dtype) {
    case HYDRA_DTYPE_BF16:
        for (int i = 0; i < dim; i++)
            ((uint16_t *)to)[i] = hydra_bf16_of_float(row[i]);
        break;
    case HYDRA_DTYPE_F16:
        for (int i = 0; i < dim; i++)
            ((uint16_t *)to)[i] = hydra_f16_of_float(row[i]);
        break;
    default:
        memcpy(to, row, (size_t)dim * sizeof *row);
    }
}

/* Where one member row's parts are: packed [own heads of a][dim] for each inner index a. */
struct parts {
    const struct hydra_layout *layout;
    const struct hydra_exchanged *what;
    const char *own;    /* ring rows */
    const char *staged; /* [member rows][heads of a][dim], inner index after inner index without this one */
};

/* The cell of `head` at inner index a, whose heads start at `first`. */
static const char *cell_of(const struct parts *parts, int64_t a, const char *base, int64_t member_row, int64_t ring_row,
                           struct span span, int head)
{
    bool own = a == parts->layout->inner;
    int64_t row = own ? ring_row : member_row;

    return (own ? parts->own : base) + (size_t)(row * span.count + head - span.first) * cell_bytes(parts->what);
}

/* Add the parts of one head's row in the order of inner indices. `a` is the first inner index that holds the head. */
static void combine_cell(const struct parts *parts, int64_t a, const char *base, int64_t member_row, int64_t ring_row,
                         int head, char *to, enum hydra_dtype to_dtype)
{
    const struct hydra_exchanged *what = parts->what;
    int64_t factor = parts->layout->factor;
    float sum[256];
    double sum64[256];

    for (bool first = true; a < factor; first = false, a++) {
        struct span span = span_of(what, factor, a);
        const char *cell = cell_of(parts, a, base, member_row, ring_row, span, head);

        if (a != parts->layout->inner)
            base += bytes_row_side(parts->layout, what, a);
        if (span.count == 0)
            continue;
        if (head < span.first)
            break;
        if (what->dtype == HYDRA_DTYPE_F64)
            for (int i = 0; i < what->dim; i++)
                sum64[i] = (first ? 0 : sum64[i]) + ((const double *)(const void *)cell)[i];
        else
            for (int i = 0; i < what->dim; i++)
                sum[i] = (first ? 0 : sum[i]) + ((const float *)(const void *)cell)[i];
    }
    if (what->dtype == HYDRA_DTYPE_F64)
        memcpy(to, sum64, cell_bytes(what));
    else
        store_wide(to, to_dtype, sum, what->dim);
}

/* Does an inner index after a hold `head` too? */
static bool held_again(const struct hydra_exchanged *what, int64_t factor, int64_t a, int head)
{
    for (a++; a < factor; a++) {
        struct span span = span_of(what, factor, a);

        if (span.count > 0)
            return head >= span.first;
    }
    return false;
}

/* The heads of which inner index a is the first holder, for all rows of one piece of this member. */
static void combine_heads(const struct parts *parts, int64_t a, const char *base, int done,
                          const struct hydra_tensor *to, enum hydra_dtype to_dtype, const struct hydra_piece *piece)
{
    const struct hydra_exchanged *what = parts->what;
    struct span span = span_of(what, parts->layout->factor, a);
    size_t element = hydra_dtype_bytes(to_dtype);

    for (int head = done > span.first ? done : span.first; head < span.first + span.count; head++) {
        bool again = held_again(what, parts->layout->factor, a, head);

        for (int64_t r = 0; r < piece->count; r++) {
            int64_t member_row = piece->member_row + r, ring_row = piece->ring_row + r;
            char *place = (char *)to->data + (size_t)(member_row * to->row_stride + head * to->head_stride) * element;

            if (again || what->dtype != to_dtype)
                combine_cell(parts, a, base, member_row, ring_row, head, place, to_dtype);
            else
                memcpy(place, cell_of(parts, a, base, member_row, ring_row, span, head), cell_bytes(what));
        }
    }
}

/* All rows of this member, each from the inner indices that hold its heads. */
static void combine_all(const struct parts *parts, const struct hydra_tensor *to, enum hydra_dtype to_dtype)
{
    HYDRA_IN_RANGE(ALLTOALL_UNPACK);
    const struct hydra_layout *layout = parts->layout;
    const char *base = parts->staged;
    int done = 0;

    for (int64_t a = 0; a < layout->factor; a++) {
        struct span span = span_of(parts->what, layout->factor, a);

        for (int64_t p = layout->piece_begin[layout->inner]; p < layout->piece_begin[layout->inner + 1]; p++)
            combine_heads(parts, a, base, done, to, to_dtype, &layout->pieces[p]);
        if (span.count > 0)
            done = span.first + span.count;
        if (a != layout->inner)
            base += bytes_row_side(layout, parts->what, a);
    }
}

int hydra_scatter(const struct hydra_wire *wire, const struct hydra_layout *layout, const struct hydra_exchanged *what,
                  const void *from, const struct hydra_tensor *to, enum hydra_dtype to_dtype, void *staging,
                  struct hydra_message *messages)
{
    struct parts parts = {layout, what, from, staging};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(post_scatter(wire, layout, what, from, staging, messages));
    HYDRA_TRY(wait_all(wire, layout->factor, messages));
    combine_all(&parts, to, to_dtype);

fail:
    return status;
}
