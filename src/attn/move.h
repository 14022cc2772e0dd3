/* move.h: dispatch and collect: per-token payload between the ranks that loaded the documents and the shards.
 *
 * The documents that one rank loaded are consecutive in a group, so what it sends to one member is one piece of the
 * member's rows: the shard side needs no copy, the loading side packs runs.
 */
#ifndef HYDRA_ATTN_MOVE_H
#define HYDRA_ATTN_MOVE_H

#include "attn/wire.h"
#include "plan/schedule.h"

struct hydra_move;

struct hydra_move_call {
    const struct hydra_schedule *schedule; /* not used after start */
    int64_t microbatch;
    bool collect;       /* shards -> loading ranks; else the other way */
    size_t token_bytes; /* >= 1 */
    const void *from;   /* dispatch: this rank's loaded documents; collect: its shard rows */
    void *to;           /* the other one */
    uint64_t operation;
};

/* Post everything. move [out] is set also on failure once something was posted: hydra_move_free. */
int hydra_move_start(struct hydra_pool *pool, struct hydra_net *net, const struct hydra_move_call *call,
                     struct hydra_move **move);
int hydra_move_finish(struct hydra_move *move);
/* pool: for hydra_release, since that of the start may be gone. Nulls the handle. */
void hydra_move_free(struct hydra_move **move, const struct hydra_pool *pool);

/* Rows that the calling rank loaded (all microbatches) and holds of microbatch m. */
int64_t hydra_move_loaded_rows(const struct hydra_schedule *schedule, int64_t rank);

#endif
