/* problem.h: one attention problem of the kernel tests: data from a seed, expected results, and a kernel run on it.
 *
 * A kernel sees the data as hard as the contract allows: every row and head is followed by poisoned slack (NaN), the
 * tensors start one element off any alignment, documents lie apart, and a ring may be played: `steps` calls, each with
 * `key_cuts` key runs of every document, for `query_pieces` query runs of every document. */
#ifndef HYDRA_TESTS_KERNEL_PROBLEM_H
#define HYDRA_TESTS_KERNEL_PROBLEM_H

#include "kernel/kernel.h"

enum { PROBLEM_DOCS = 4, PROBLEM_HEADS = 64 };

struct attention_case {
    int heads, kv_heads;
    const int *kv_of_head;
    int head_dim, value_dim;
    double scale;
    int mask; /* HYDRA_KERNEL_* */
    int64_t window, sink;
    int ndocs;
    const int64_t *lengths;
    const int64_t (*const *ranges)[4]; /* [ndocs] [length][4] */
};

struct results { /* packed [rows][heads][dim], rows of all documents in order */
    double *out, *lse, *dq, *dk, *dv;
    double largest;      /* max |S| */
    double largest_term; /* max |scale P dP|: dq and dk that cancel to nothing are measured against it */
};

struct problem {
    struct attention_case c;
    enum hydra_dtype dtype;
    uint64_t seed;
    double amplitude; /* of q; k, v and dout are of order 1 */
    int query_pieces, steps, key_cuts, threads;

    /* made by problem_make */
    int kv_of_head[PROBLEM_HEADS];
    int64_t lengths[PROBLEM_DOCS];
    int64_t (*ranges[PROBLEM_DOCS])[4];
    int64_t rows;
    double *q, *k, *v, *dout; /* values as the dtype holds them */
    struct results want, plain;
};

/* Fill lengths, heads and data of p, whose c.heads .. c.ndocs, dtype, seed and layout are set. */
void problem_make(struct problem *p, const int64_t *lengths);

/* Compute want (double; long double for fp64) and plain (same dtype). */
void problem_solve(struct problem *p);

void problem_free(struct problem *p);

/* Run forward and backward, or forward alone (gradients are then not set). results is allocated; backward takes the
 * kernel's own lse and out. */
void problem_run(const struct problem *p, const struct hydra_kernel_ops *ops, struct results *results);
void problem_run_forward(const struct problem *p, const struct hydra_kernel_ops *ops, struct results *results);

void results_free(struct results *results);

/* Error rule of the contract on every tensor; prints a diagnosis. */
bool problem_check(const struct problem *p, const char *kernel, const struct results *got);

/* The index-th kernel that runs here and has the dtype; NULL past the end. */
const struct hydra_kernel_ops *problem_kernel(enum hydra_dtype dtype, int index);

/* May query i of a document see key j? */
bool problem_sees(const struct problem *p, int document, int64_t i, int64_t j);

/* One line that makes the problem again. */
const char *problem_text(const struct problem *p);

#endif
