/* hydra.h: dynamic context parallelism inside an MPI application: plan, move tokens, attend. Includes hydra_plan.h.
 *
 * Errors, handles and words are as said at the top of hydra_plan.h. Setup and planning calls agree: when one rank
 * fails, all return an error (the others HYDRA_ERR_PEER). No wait is endless: HYDRA_DCP_TIMEOUT (600 s).
 *
 * After an error in dispatch, collect or attention, or a timeout anywhere, the context is broken; the other ranks hear
 * of it where they wait, or in their next call (HYDRA_ERR_PEER). From then on all calls return HYDRA_ERR_STATE but
 * Hydra_Finalize, those that free, the waits (which free their operation) and Hydra_Counter_get. Messages may still be
 * under way: what the library owns under them is kept until exit, and so must be `from` and `to` of a dispatch or
 * collect, which they use directly. Buffers of attention may be freed at once.
 *
 * Threads: MPI_THREAD_FUNNELED suffices. A context is used by one thread at a time; several contexts may live in one
 * process.
 */
#ifndef HYDRA_H
#define HYDRA_H

#include <mpi.h>

#include "hydra_plan.h"

/* Two MPI libraries in one program crash. pkg-config --cflags says which one the library was built with. */
#if defined(HYDRA_DCP_OPEN_MPI) && HYDRA_DCP_OPEN_MPI != defined(OPEN_MPI)
#error "hydra-dcp was built with another MPI library: compile with $(pkg-config --variable=mpicc hydra-dcp)"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hydra_context *Hydra_Context;
typedef struct hydra_attn *Hydra_Attn;
typedef struct hydra_saved *Hydra_Saved;
typedef struct hydra_op *Hydra_Op;
#define HYDRA_CONTEXT_NULL ((Hydra_Context)0)
#define HYDRA_ATTN_NULL    ((Hydra_Attn)0)
#define HYDRA_SAVED_NULL   ((Hydra_Saved)0)
#define HYDRA_OP_NULL      ((Hydra_Op)0)

typedef enum { HYDRA_FLOAT32 = 0, HYDRA_FLOAT64 = 1, HYDRA_BFLOAT16 = 2, HYDRA_FLOAT16 = 3 } Hydra_Dtype;
typedef enum { HYDRA_MEMORY_HOST = 0, HYDRA_MEMORY_CUDA = 1 } Hydra_Memory;
enum { HYDRA_LOG_ERROR = 0, HYDRA_LOG_WARN = 1, HYDRA_LOG_INFO = 2, HYDRA_LOG_DEBUG = 3 };

typedef void (*Hydra_Log_function)(int level, const char *module, const char *text, void *user);

/** How to set a context up. Start from HYDRA_CONFIG_INIT; NULL names mean "the best here" or the environment's word. */
typedef struct Hydra_Config {
    size_t size;          /* sizeof(Hydra_Config) */
    MPI_Comm peers;       /* tensor- and pipeline-parallel ranks that must hold the same tokens; MPI_COMM_NULL: none */
    const char *topology; /* synthetic machine, e.g. "2*[core:6 pu:1]"; NULL: HYDRA_DCP_TOPOLOGY, else the real one */
    const char *kernel;   /* attention kernel; NULL: HYDRA_DCP_KERNEL, else the best that every rank of the pool has */
    const char *alltoall; /* transport of the inner all-to-all; NULL: HYDRA_DCP_ALLTOALL, else the best */
    const char *ring;     /* transport of the outer ring; NULL: HYDRA_DCP_RING, else the best */
    double timeout;       /* s a wait may take; 0: HYDRA_DCP_TIMEOUT, else 600. May differ: the least acts first */
} Hydra_Config;

#define HYDRA_CONFIG_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(Hydra_Config), MPI_COMM_NULL, NULL, NULL, NULL, NULL, 0.0                                               \
    }

/**
 * Set up a context over the ranks of `pool`. Collective over pool (and over config->peers when given).
 *
 * pool     [in]   any intra-communicator; duplicated, so the caller's stays free for other use
 * config   [in]   NULL: defaults. Must be the same on every rank but for the timeout, and peers given on all or none
 * context  [out]  set only on success; Hydra_Finalize, or MPI_Finalize does it
 *
 * Returns HYDRA_ERR_ARG, HYDRA_ERR_FORMAT (an environment variable), HYDRA_ERR_UNSUPPORTED (thread level, transport or
 * kernel), HYDRA_ERR_PEER, HYDRA_ERR_MISMATCH (config, variables or slot maps differ), HYDRA_ERR_STATE (MPI does not
 * run), HYDRA_ERR_TIMEOUT, HYDRA_ERR_NET, HYDRA_ERR_NOMEM.
 */
HYDRA_API int Hydra_Init(MPI_Comm pool, const Hydra_Config *config, Hydra_Context *context);

/**
 * Release a context and null the handle. Collective over the pool unless the context is broken.
 *
 * HYDRA_ERR_STATE, and HYDRA_ERR_PEER on the other ranks, when an operation has not been waited for: the context is
 * gone all the same, but what its messages use is kept until exit.
 */
HYDRA_API int Hydra_Finalize(Hydra_Context *context);

/** Size of the pool and this process's rank (in the caller's communicator) and slot. Any output may be NULL. */
HYDRA_API int Hydra_Context_query(Hydra_Context context, int *size, int *rank, int *slot);

/**
 * Plan the documents that the ranks of the pool have loaded. Collective over the pool.
 *
 * ndocs     [in]   documents this rank loaded, >= 0
 * lengths   [in]   [ndocs] tokens; NULL when ndocs is 0
 * options   [in]   the same on every rank (pairs, when given, is [ndocs] for this rank's documents)
 * schedule  [out]  the same on every rank; Hydra_Schedule_free
 *
 * Documents are numbered rank by rank. Returns what Hydra_Plan_serial returns, and HYDRA_ERR_PEER,
 * HYDRA_ERR_MISMATCH (options, lengths or slot maps differ).
 */
HYDRA_API int Hydra_Plan(Hydra_Context context, int64_t ndocs, const int64_t lengths[],
                         const Hydra_Plan_options *options, Hydra_Schedule *schedule);

/**
 * Send a schedule from `root` to the other ranks of comm (a pipeline, say). Collective over comm, agrees on errors.
 *
 * schedule  [in,out]  in: the root's; out: the same on the others, set only on success; Hydra_Schedule_free
 * root      [in]      rank in comm, the same on every rank
 *
 * Returns HYDRA_ERR_ARG, HYDRA_ERR_FORMAT (HYDRA_DCP_TIMEOUT), HYDRA_ERR_PEER, HYDRA_ERR_MISMATCH (other roots),
 * HYDRA_ERR_TIMEOUT, HYDRA_ERR_NOMEM.
 */
HYDRA_API int Hydra_Schedule_bcast(Hydra_Schedule *schedule, int root, MPI_Comm comm);

/**
 * Communicator of this rank's group in microbatch m: one of the chunk communicators made at init. Borrowed: do not
 * free; MPI_COMM_NULL when the rank is idle. Local. HYDRA_ERR_ARG for a schedule that gives ranks other slots than the
 * context does (Hydra_Plan_serial's rank is its slot).
 */
HYDRA_API int Hydra_Group_comm(Hydra_Context context, Hydra_Schedule schedule, int64_t m, MPI_Comm *comm);

/**
 * Move any per-token payload from the ranks that loaded the documents to the shards of microbatch m. Collective.
 *
 * bytes_per_token  [in]   >= 1
 * from             [in]   this rank's loaded documents, one after another, [sum of its lengths][bytes_per_token];
 *                         only the documents of microbatch m are read
 * to               [out]  [T][bytes_per_token], T tokens of this rank in m
 *
 * Either may be NULL where it has no rows; they do not overlap. Returns HYDRA_ERR_ARG, HYDRA_ERR_STATE,
 * HYDRA_ERR_MISMATCH, HYDRA_ERR_NET, HYDRA_ERR_TIMEOUT, HYDRA_ERR_PEER, HYDRA_ERR_OVERFLOW, HYDRA_ERR_NOMEM.
 */
HYDRA_API int Hydra_Dispatch(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token,
                             const void *from, void *to);

/** The exact inverse: from [T][bytes_per_token] shards back to the loaded documents; writes only those of m. */
HYDRA_API int Hydra_Collect(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token,
                            const void *from, void *to);

/**
 * The same, started and waited for apart; buffers stay untouched in between, the schedule may be freed. Several may be
 * under way, started in the same order on every rank. Hydra_Op_wait frees the operation and nulls the handle, on error
 * too.
 */
HYDRA_API int Hydra_Dispatch_start(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token,
                                   const void *from, void *to, Hydra_Op *op);
HYDRA_API int Hydra_Collect_start(Hydra_Context context, Hydra_Schedule schedule, int64_t m, size_t bytes_per_token,
                                  const void *from, void *to, Hydra_Op *op);
HYDRA_API int Hydra_Op_wait(Hydra_Op *op);

/** One attention layer's shape. Start from HYDRA_ATTN_CONFIG_INIT. Strides in elements; 0: packed row-major. */
typedef struct Hydra_Attn_config {
    size_t size;       /* sizeof(Hydra_Attn_config) */
    int heads;         /* H query heads, >= 1 */
    int kv_heads;      /* G KV heads, >= 1; query head h reads KV head h*G/H (floor): any ratio H >= G */
    int head_dim;      /* D of q and k, 1..256 */
    int value_dim;     /* Dv of v and out; 0: head_dim */
    Hydra_Dtype dtype; /* of q, k, v, out, dout, dq, dk, dv */
    int mask;          /* HYDRA_MASK_* */
    int64_t window;    /* HYDRA_MASK_WINDOW */
    int64_t sink;      /* HYDRA_MASK_WINDOW */
    double scale;      /* softmax scale; 0: 1/sqrt(D) */
    int64_t q_token_stride, q_head_stride;
    int64_t k_token_stride, k_head_stride;
    int64_t v_token_stride, v_head_stride;
    int64_t out_token_stride, out_head_stride;
    Hydra_Memory memory; /* where the buffers are */
    void *stream;        /* CUDA stream; NULL on hosts */
} Hydra_Attn_config;

#define HYDRA_ATTN_CONFIG_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(Hydra_Attn_config), 0, 0, 0, 0, HYDRA_FLOAT32, HYDRA_MASK_CAUSAL, 0, 0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0,    \
            HYDRA_MEMORY_HOST, NULL                                                                                    \
    }

/** Make an attention layer on a context. Local. attn [out]: Hydra_Attn_free, best before Hydra_Finalize: later, its
 * memory is kept until exit. So are saved tensors and operations. */
HYDRA_API int Hydra_Attn_create(Hydra_Context context, const Hydra_Attn_config *config, Hydra_Attn *attn);
HYDRA_API int Hydra_Attn_free(Hydra_Attn *attn);

/**
 * Allocate the workspace for every microbatch of a schedule beforehand, forward and backward. Local; else the first
 * call on the schedule does it. Room for the split form comes with the first Hydra_Attn_start. HYDRA_ERR_NOMEM leaves
 * the layer usable.
 */
HYDRA_API int Hydra_Attn_reserve(Hydra_Attn attn, Hydra_Schedule schedule);

/**
 * Make an object that keeps the forward's head-sharded tensors, so that backward exchanges only dO. Caller-owned;
 * local. Serves the layer it was made for, one microbatch at a time; its memory comes with the first forward.
 */
HYDRA_API int Hydra_Saved_create(Hydra_Attn attn, Hydra_Saved *saved);
HYDRA_API int Hydra_Saved_free(Hydra_Saved *saved);

/**
 * Compute attention outputs for this rank's tokens of one microbatch.
 *
 * Collective over the groups of the microbatch; every rank of the pool calls, also with 0 tokens.
 * T local tokens, H query heads, G KV heads, D and Dv head dims.
 *
 * q      [in]      [T][H][D]   dtype and strides of `attn`
 * k      [in]      [T][G][D]
 * v      [in]      [T][G][Dv]
 * out    [out]     [T][H][Dv]  must not overlap an input, gaps between strides included; nor must lse
 * lse    [out]     [T][H] float (double for fp64), natural log of the softmax denominator; NULL if no backward follows
 * saved  [in,out]  HYDRA_SAVED_NULL, or filled for the backward of this microbatch
 *
 * A query that sees no key gives out = 0 and lse = -inf. Buffers may be NULL when T is 0.
 * Returns HYDRA_ERR_ARG, HYDRA_ERR_STATE, HYDRA_ERR_MISMATCH, HYDRA_ERR_NET, HYDRA_ERR_TIMEOUT, HYDRA_ERR_PEER,
 * HYDRA_ERR_NOMEM. On error the outputs are undefined and the inputs unchanged. Source: HyDra section 5.2.
 */
HYDRA_API int Hydra_Attn_forward(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, const void *q, const void *k,
                                 const void *v, void *out, void *lse, Hydra_Saved saved);

/**
 * Compute the gradients of Hydra_Attn_forward. Collective as the forward.
 *
 * q, k, v, out, lse  [in]   as given to and returned by the forward
 * saved              [in]   as filled by the forward (else HYDRA_ERR_STATE), or HYDRA_SAVED_NULL: Q, K, V are then
 *                           exchanged again
 * dout               [in]   [T][H][Dv], strides of out
 * dq, dk, dv         [out]  shapes, strides and dtype of q, k, v; overwritten; must not overlap an input
 *
 * Returns what the forward returns.
 */
HYDRA_API int Hydra_Attn_backward(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, const void *q, const void *k,
                                  const void *v, const void *out, const void *lse, Hydra_Saved saved, const void *dout,
                                  void *dq, void *dk, void *dv);

/**
 * Split form of the forward: put tensors as they become final, in any order; wait computes. start and wait are
 * collective as the forward; wait frees the operation and nulls the handle, on error too.
 *
 * A layer has one split forward at a time. Schedule and buffers stay until wait has returned. The all-to-alls start in
 * the order Q, V, K on every rank, each as soon as it and those before it have been put; so when attention of another
 * layer comes in between, every rank must have put the same tensors by then (dispatch and collect may come at any
 * time).
 */
enum { HYDRA_Q = 0, HYDRA_K = 1, HYDRA_V = 2 };
HYDRA_API int Hydra_Attn_start(Hydra_Attn attn, Hydra_Schedule schedule, int64_t m, Hydra_Op *op);
HYDRA_API int Hydra_Attn_put(Hydra_Op op, int which, const void *buffer);
HYDRA_API int Hydra_Attn_wait(Hydra_Op *op, void *out, void *lse, Hydra_Saved saved);

/** Send log lines of this process to `function` (NULL: stderr) up to `level`. Also HYDRA_DCP_LOG=level[:module]. */
HYDRA_API int Hydra_Set_log(Hydra_Log_function function, void *user, int level);

/** Counters of a context by name ("attn.ring.bytes", ...). Hydra_Counter_name gives the i-th name,
 * NULL past the end. */
HYDRA_API int Hydra_Counter_get(Hydra_Context context, const char *name, double *value);
HYDRA_API const char *Hydra_Counter_name(int index);

#ifdef __cplusplus
}
#endif

#endif /* HYDRA_H */
