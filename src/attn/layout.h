/* layout.h: where the rows of one group lie before and after the inner all-to-all, and which query rows meet which key
 * rows at each ring step. Pure arithmetic on a schedule: no MPI, no data.
 *
 * A member's rows are its documents in order, each its shard's two runs one after another (Hydra_Microbatch's order).
 * The rows of a ring index are ordered the same way, so the rows that member j contributes of a document are one piece:
 * a document's tokens on a ring index are cut among its U members in order.
 */
#ifndef HYDRA_ATTN_LAYOUT_H
#define HYDRA_ATTN_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel.h"
#include "plan/schedule.h"
#include "plan/shard.h"

/* Consecutive rows of a member that lie consecutively on its ring index. */
struct hydra_piece {
    int64_t member_row;
    int64_t ring_row;
    int64_t count;
};

struct hydra_mask {
    enum hydra_mask_kind kind; /* HYDRA_KERNEL_RANGES is not laid out here */
    int64_t window;
    int64_t sink;
};

struct hydra_layout {
    int64_t first;  /* slot of member 0 */
    int64_t size;   /* P; 0: this slot is idle, nothing below is set */
    int64_t factor; /* U */
    int64_t ring;   /* R */
    int64_t member;
    int64_t inner;      /* a */
    int64_t ring_index; /* b */
    int64_t ndocs;
    int64_t rows;      /* of this member */
    int64_t ring_rows; /* of this ring index */
    int64_t greatest_ring_rows;
    struct hydra_shape *shapes; /* [ndocs] */
    int64_t *member_rows;       /* [U] rows of each member of this ring index */
    int64_t *rows_of_ring;      /* [R] */
    int64_t *piece_begin;       /* [U + 1] pieces of inner index j: pieces[piece_begin[j] .. piece_begin[j + 1]) */
    struct hydra_piece *pieces; /* at most U * ndocs */
    struct hydra_query_run *query_runs; /* at most 2 * ndocs + 1, filled by hydra_layout_work */
    struct hydra_key_run *key_runs;     /* at most 2 * ndocs */
    int64_t *rotations;                 /* [ndocs] scratch */
    int64_t doc_capacity, size_capacity, piece_capacity;
};

/* Which part of the meeting of this ring index's queries with a block. HEAD and TAIL cut it in halves of about equal
 * work. */
enum hydra_layout_part { HYDRA_LAYOUT_WHOLE, HYDRA_LAYOUT_HEAD, HYDRA_LAYOUT_TAIL };

/* Make room for every microbatch of a schedule on `slot`. Only this allocates; a layout starts zeroed. */
int hydra_layout_reserve(struct hydra_layout *layout, const struct hydra_schedule *schedule, int64_t slot);
void hydra_layout_clear(struct hydra_layout *layout);

/* Lay out microbatch m on `slot`. HYDRA_ERR_INTERNAL when there was not room. */
int hydra_layout_build(struct hydra_layout *layout, const struct hydra_schedule *schedule, int64_t m, int64_t slot);

/* The work of this ring index's queries with the block of ring index `block`. Query runs that see none of its keys are
 * left out unless `all`; then they come without keys. work [out] borrows the layout's arrays, until the next call. */
void hydra_layout_work(struct hydra_layout *layout, const struct hydra_mask *mask, int64_t block,
                       enum hydra_layout_part part, bool all, struct hydra_kernel_work *work);

#endif
