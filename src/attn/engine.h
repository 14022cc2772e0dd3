/* engine.h: one attention layer's machinery behind Hydra_Attn: its shape, layout, workspace and messages. One operation
 * at a time. Forward and backward neither allocate nor create communicators once the workspace is reserved. */
#ifndef HYDRA_ATTN_ENGINE_H
#define HYDRA_ATTN_ENGINE_H

#include "attn/exchange.h"
#include "attn/heads.h"
#include "attn/layout.h"
#include "attn/relay.h"
#include "attn/wire.h"
#include "kernel/kernel.h"
#include "plan/schedule.h"

/* What the engine takes from a context: borrowed. */
struct hydra_engine_home {
    struct hydra_pool *pool;
    struct hydra_net *alltoall;
    struct hydra_net *ring;
    const struct hydra_kernel_ops *kernel;
    int threads;
    uint64_t *operations; /* the context's count */
};

/* Checked, no defaults left. */
struct hydra_engine_config {
    int heads;
    int kv_heads;
    int head_dim;
    int value_dim;
    enum hydra_dtype dtype;
    struct hydra_mask mask;
    double scale;
    struct hydra_tensor q, k, v, out; /* strides of the caller's buffers; data is NULL */
};

enum {
    HYDRA_PART_Q,
    HYDRA_PART_K,
    HYDRA_PART_V,
    HYDRA_PART_OUT,
    HYDRA_PART_LSE,
    HYDRA_PART_DOUT,
    HYDRA_PART_DELTA,
    HYDRA_PART_DQ,
    HYDRA_PART_DK,
    HYDRA_PART_DV
};

enum { HYDRA_SPLIT_TENSORS = 3 };

/* Where the tensors of one call are. Ring rows: the caller's own buffers when U = 1, packed memory otherwise. */
struct hydra_buffers {
    struct hydra_tensor q, k, v, out, lse, dout, delta; /* ring rows */
    struct hydra_tensor dq, dk, dv;                     /* ring rows, wide; dk, dv of this ring index's own block */
    void *member_delta;                                 /* member rows [rows][H], wide */
    char *block[2];                                     /* K and V of one ring block, packed [K rows][V rows] */
    char *sums;        /* dK and dV of ring blocks on their way, wide, packed as above: the relay's memory */
    char *fresh;       /* this member's part of them; only with R > 2 */
    void *accumulator; /* forward state between ring steps; the output itself where its dtype and strides allow */
    void *greatest;
    void *sum;
    void *staging[HYDRA_SPLIT_TENSORS]; /* [1] and [2] only in the split form */
    void *kernel;                       /* the kernel's workspace */
};

struct hydra_engine {
    struct hydra_engine_home home;
    struct hydra_engine_config config;
    uint64_t shape_hash;
    int *kv_of_head; /* [H] of the heads here */
    struct hydra_layout layout;
    struct hydra_heads own;           /* heads of this inner index */
    struct hydra_wire alltoall, ring; /* frames of the current operation */
    struct hydra_message *messages;   /* [HYDRA_SPLIT_TENSORS][2 U] inner all-to-all */
    int64_t message_capacity;         /* U that fits */
    struct hydra_gather gathers[HYDRA_SPLIT_TENSORS];
    struct hydra_message ring_messages[2]; /* K,V out and in */
    struct hydra_relay relay;              /* dK,dV */
    char *memory;                          /* workspace */
    int64_t capacity;                      /* bytes */
    struct hydra_buffers buffers;
    bool busy;     /* a split operation is under way */
    bool reserved; /* the workspace was sized for this schedule, perhaps for the split form too */
    bool reserved_split;
    uint64_t reserved_hash;
    int64_t kept_bytes; /* greatest saved tensors of that schedule */
};

/* Which buffers a call needs; the same description sizes the workspace and carves it. */
struct hydra_use {
    bool backward;
    bool split; /* three all-to-alls at a time */
    bool saved; /* Q, K, V of the ring rows live in a saved object */
    bool lse;
};

/* Head-sharded Q, K and V of one microbatch's forward, kept for its backward. */
struct hydra_kept {
    char *memory;
    int64_t capacity;
    bool filled;
    uint64_t hash;
    int64_t microbatch;
    struct hydra_tensor q, k, v;
};

int hydra_engine_create(const struct hydra_engine_home *home, const struct hydra_engine_config *config,
                        struct hydra_engine **engine);

/* pool: for hydra_release, since the home's may be gone. Nulls the handle. */
void hydra_engine_free(struct hydra_engine **engine, const struct hydra_pool *pool);

/* Make room for every microbatch of a schedule, both directions. Local. */
int hydra_engine_reserve(struct hydra_engine *engine, const struct hydra_schedule *schedule, bool split);

/* Begin an operation on microbatch m: count it, lay it out, carve the workspace. */
int hydra_engine_begin(struct hydra_engine *engine, const struct hydra_schedule *schedule, int64_t m,
                       const struct hydra_use *use);

/* After hydra_engine_begin: room for every microbatch of its schedule, and the tensors' places in the current one. */
int hydra_kept_reserve(struct hydra_kept *kept, const struct hydra_engine *engine);
void hydra_kept_place(struct hydra_kept *kept, const struct hydra_engine *engine);
void hydra_kept_clear(struct hydra_kept *kept, const struct hydra_pool *pool);

/* What the all-to-all needs to know about a tensor. */
struct hydra_exchanged hydra_engine_exchanged(const struct hydra_engine *engine, int part);

/* The kernel's view of the heads here. */
struct hydra_kernel_shape hydra_engine_shape(const struct hydra_engine *engine);

/* A tensor of the caller with the strides of the configuration. */
struct hydra_tensor hydra_engine_tensor(const struct hydra_engine *engine, int part, const void *data);

/* Bring one of the caller's tensors to the ring rows: *place is where, on entry packed memory for it (U > 1), on return
 * what the ring reads (the caller's own with U = 1). start/finish: `slot` tells the tensors apart that are under way.
 */
int hydra_engine_gather_start(struct hydra_engine *engine, int part, int slot, const void *data,
                              struct hydra_tensor *place);
int hydra_engine_gather_finish(struct hydra_engine *engine, int slot);
int hydra_engine_gather(struct hydra_engine *engine, int part, const void *data, struct hydra_tensor *place);

/* Bring one tensor of the ring rows to the caller's buffer. */
int hydra_engine_scatter(struct hydra_engine *engine, int part, const void *from, const void *to);

/* Forward from ring rows in buffers.q, k, v to buffers.out and lse (ring.c). */
int hydra_ring_forward(struct hydra_engine *engine);
/* Most bytes of one block's dK,dV (ring.c). */
int64_t hydra_ring_most(const struct hydra_engine *engine);
/* Backward from buffers.q, k, v, dout, lse, delta to buffers.dq, dk, dv, which it zeroes (ring.c). */
int hydra_ring_backward(struct hydra_engine *engine);

/* The forward after hydra_engine_begin (forward.c): Q, V and K put in this order, then the rest. kept, out and lse as
 * in Hydra_Attn_forward; `kept` was reserved. */
int hydra_forward_run(struct hydra_engine *engine, const void *q, const void *k, const void *v, void *out, void *lse,
                      struct hydra_kept *kept);
/* Split form: put in the order Q, V, K, then finish, which copies to `kept`. */
int hydra_forward_put(struct hydra_engine *engine, int part, const void *data);
int hydra_forward_finish(struct hydra_engine *engine, void *out, void *lse, struct hydra_kept *kept);

/* The backward after hydra_engine_begin (backward.c). kept: NULL, or filled by the forward of this microbatch. */
int hydra_backward_run(struct hydra_engine *engine, const void *q, const void *k, const void *v, const void *out,
                       const void *lse, const struct hydra_kept *kept, const void *dout, void *dq, void *dk, void *dv);

#endif
