/* kernel.h: the attention kernel table: exact attention of this process's rows, forward and backward. No MPI.
 *
 * The unit of work is a query run: consecutive query rows of one document, with the key runs it meets in this call.
 * A ring calls accumulate once per arriving key block and finishes once; running state (m, l, O) stays in fp32
 * (double for fp64), so the ring needs no separate merge pass.
 */
#ifndef HYDRA_KERNEL_KERNEL_H
#define HYDRA_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hydra_dtype {
    HYDRA_DTYPE_F32 = 0,
    HYDRA_DTYPE_F64 = 1,
    HYDRA_DTYPE_BF16 = 2,
    HYDRA_DTYPE_F16 = 3
}; /* as Hydra_Dtype */

/* A matrix of rows x heads x dim; strides in elements; elements of one head's row are contiguous. */
struct hydra_tensor {
    void *data;
    int64_t row_stride;
    int64_t head_stride;
};

/* Consecutive key rows of one document. No row stands in two runs of a call. */
struct hydra_key_run {
    int64_t row; /* first row in k and v */
    int64_t count;
    int64_t position; /* of the first row in its document */
};

/* Consecutive query rows of one document, and the key runs of the same document that they meet in this call. Several
 * query runs may meet the same key run (the two pieces of a zigzag shard do), but keys_begin and keys_end never
 * decrease along query_runs: so the query runs that meet a key run stand together. */
struct hydra_query_run {
    int64_t row;
    int64_t count;
    int64_t position;
    int64_t keys_begin; /* key_runs[keys_begin .. keys_end), ascending positions; none: the rows only get first/last
                           treatment */
    int64_t keys_end;
    const int64_t (
        *ranges)[4]; /* HYDRA_MASK_RANGES: by document position, key positions [0],[1]) and [2],[3]); else NULL */
};

enum hydra_mask_kind {
    HYDRA_KERNEL_CAUSAL = 0, /* as HYDRA_MASK_* */
    HYDRA_KERNEL_FULL = 1,
    HYDRA_KERNEL_WINDOW = 2,
    HYDRA_KERNEL_RANGES = 3
};

struct hydra_kernel_shape {
    enum hydra_dtype dtype; /* of q, k, v, out, dout; state and gradients are fp32 (double for F64) */
    int heads;              /* query heads here */
    int kv_heads;           /* KV heads here */
    const int *kv_of_head;  /* [heads] which KV head a query head reads, non-decreasing */
    int head_dim;           /* D, 1..256 */
    int value_dim;          /* Dv, 1..256 */
    double scale;
    enum hydra_mask_kind mask;
    int64_t window; /* HYDRA_KERNEL_WINDOW: of the keys [0, i], those in (i - window, i] and [0, sink) */
    int64_t sink;
};

struct hydra_kernel_work {
    const struct hydra_query_run *query_runs; /* every row at most once */
    int64_t nquery_runs;
    const struct hydra_key_run *key_runs;
    int64_t nkey_runs;
};

/* Running state of the forward between ring steps. fp32, double for F64. Row-major [rows][heads]
 * and [rows][heads][Dv]. */
struct hydra_kernel_state {
    void *accumulator; /* O, not yet divided by l. May be out.data itself where out is packed and of the state's type */
    void *greatest;    /* m: in units of the kernel's own; only the kernel that wrote it can read it */
    void *sum;         /* l */
};

/* Called between tiles (every 0.1 to 5 ms of work) by the thread that called the kernel and by no other, so that a ring
 * can be polled. It must not call a kernel. `call` may be NULL. */
struct hydra_kernel_hook {
    void (*call)(void *user);
    void *user;
};

enum {
    HYDRA_KERNEL_FIRST = 1, /* the state is empty on entry and need not be initialised */
    HYDRA_KERNEL_LAST = 2   /* write out and lse; the state is dead afterwards. FIRST|LAST: state may be all NULL */
};

struct hydra_forward {
    struct hydra_kernel_shape shape;
    struct hydra_kernel_work work;
    struct hydra_tensor q, k, v, out; /* out is written with LAST and never read; inputs are not changed */
    struct hydra_tensor lse;          /* float (double for F64) per row and head: element = row * row_stride + head *
                                         head_stride; data may be NULL */
    struct hydra_kernel_state state;
    unsigned flags;
    void *
        workspace; /* workspace_bytes of the same shape, threads and direction; 64-byte aligned; no allocation inside */
    int threads;   /* OpenMP threads to use, >= 1: a nested region may get fewer. The result does not depend on it */
    struct hydra_kernel_hook hook;
};

/* Backward of the rows and keys of one ring step: dq, dk, dv are accumulated in fp32 (double for F64), which the caller
 * zeroes once. delta[row][head] = rowsum(dout * out), lse as the forward returned it (natural log, -inf: no key). */
struct hydra_backward {
    struct hydra_kernel_shape shape;
    struct hydra_kernel_work work;
    struct hydra_tensor q, k, v, dout;
    struct hydra_tensor lse, delta; /* float (double for F64) per row and head, as above */
    struct hydra_tensor dq, dk, dv; /* accumulated */
    void *workspace;
    int threads;
    struct hydra_kernel_hook hook;
};

/* A door for kernels of other number formats (AVX512_BF16, AMX): another table entry whose `supports` wants bf16. */
struct hydra_kernel_ops {
    const char *name;                    /* required: as in HYDRA_DCP_KERNEL=name */
    int (*probe)(char *why, size_t len); /* required: score, greater is better; 0: not here, and why */
    bool (*supports)(
        const struct hydra_kernel_shape *shape); /* required; the shape has passed hydra_kernel_check's ranges */
    /* required: bytes of workspace for calls whose query rows and key rows do not pass max_rows */
    size_t (*workspace_bytes)(const struct hydra_kernel_shape *shape, int64_t max_rows, int threads, bool backward);
    int (*forward)(const struct hydra_forward *call);   /* required */
    int (*backward)(const struct hydra_backward *call); /* required */

    /* optional yardsticks of benchmarks: run a product that stays in L1, or bare multiply-adds, with this kernel's
     * instructions in the dtype's arithmetic; return the FLOPs done */
    double (*canary)(enum hydra_dtype dtype, int64_t rounds);
    double (*peak)(enum hydra_dtype dtype, int64_t rounds);
};

/* Every kernel this library was built with, best first by intent; NULL past the end. */
const struct hydra_kernel_ops *hydra_kernel_at(int index);

/* By name; NULL when unknown. It may not run here: ask its probe. */
const struct hydra_kernel_ops *hydra_kernel_find(const char *name);

/* The kernel with the greatest score here. Never NULL: ref runs everywhere. */
const struct hydra_kernel_ops *hydra_kernel_best(void);

/* Once per shape, before its first call: HYDRA_ERR_ARG names the value out of range, HYDRA_ERR_UNSUPPORTED the kernel
 * that cannot do this shape. Calls trust it. */
int hydra_kernel_check(const struct hydra_kernel_ops *ops, const struct hydra_kernel_shape *shape);

#endif
