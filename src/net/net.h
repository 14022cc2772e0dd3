/* net.h: the transport table: non-blocking point-to-point between the ranks of a pool. The inner all-to-all and the
 * outer ring are built on it in attn/. mpi.h is allowed here; ucp only in net_ucx.c, NCCL only in net_nccl.c.
 *
 * Every transport of a context has its own message space: a tag of the ring never meets one of the all-to-all. */
#ifndef HYDRA_NET_NET_H
#define HYDRA_NET_NET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "comm/pool.h"
#include "comm/wait.h"

enum { HYDRA_NET_TAGS = 32768 }; /* tags are 0 .. 32767: what MPI guarantees */

/* What a transport is chosen for. */
enum hydra_net_use { HYDRA_NET_ALLTOALL = 0, HYDRA_NET_RING = 1 };

/* A posted operation. Lives in the caller's memory, at one place, until it is done; zero it before use. */
struct hydra_net_request {
    bool active;
    bool receive;
    int status; /* HYDRA_SUCCESS, or why it failed: set when `active` clears */
    int peer;   /* rank in the pool */
    int tag;
    int64_t room;  /* bytes posted */
    int64_t bytes; /* sent, or really received; set when `active` clears */
    /* for the transport alone */
    atomic_bool finished; /* all else is set before it */
    void *buffer;
    union {
        MPI_Request mpi;
        void *pointer;
    } handle;
    struct hydra_net_request *next;
};

struct hydra_net {
    const struct hydra_net_ops *ops;
    struct hydra_pool *pool;
    /* the transport's own fields follow in its own struct */
};

/* Callers use hydra_net_send and the rest below, not the table. */
struct hydra_net_ops {
    const char *name; /* required: as in HYDRA_DCP_RING=name */
    /* required: score for a pool of `size` ranks, greater is better; 0: not here, and why */
    int (*probe)(int size, enum hydra_net_use use, char *why, size_t len);
    /* required: collective over the pool; fails on every rank or on none, so that destroy may be collective. argument:
     * the text after "name:" in the choice, "" when there is none */
    int (*create)(struct hydra_pool *pool, const char *argument, struct hydra_net **net);
    /* required: nulls the handle; waits for no message; collective unless the pool is broken */
    void (*destroy)(struct hydra_net **net);
    /* required, both: return at once. The request is filled in, `active` too: only test clears it. */
    int (*post_send)(struct hydra_net *net, const void *buffer, struct hydra_net_request *request);
    int (*post_recv)(struct hydra_net *net, void *buffer, struct hydra_net_request *request);
    /* required: look at one active request; when done, clear `active`, set status and bytes. Returns the status of a
     * request that failed, else HYDRA_SUCCESS. Driving is the progress function's (comm/wait.h). */
    int (*test)(struct hydra_net *net, struct hydra_net_request *request);
    const char *(*version)(void); /* optional: of the library behind it, for people */
    bool device_memory;           /* default false: buffers must be host memory */
};

/* Every transport this library was built with; NULL past the end. */
const struct hydra_net_ops *hydra_net_at(int index);

/* By the name before ':' ("delay:mpi" finds delay); NULL when unknown. */
const struct hydra_net_ops *hydra_net_find(const char *name);

/**
 * Make the transport of a choice. Collective over the pool, agrees on errors.
 *
 * choice  [in]   the same on every rank. "": the greatest score, taken over the pool as the least of any rank; else a
 *                name. "delay" wraps MPI, "delay:name" another
 * net     [out]  hydra_net_destroy, before the pool is freed
 *
 * Returns HYDRA_ERR_ARG (unknown name: lists the known ones), HYDRA_ERR_UNSUPPORTED (not here, and why),
 * HYDRA_ERR_PEER, HYDRA_ERR_MISMATCH.
 */
int hydra_net_create(struct hydra_pool *pool, const char *choice, enum hydra_net_use use, struct hydra_net **net);

/* Nulls the handle; accepts NULL. Memory under unfinished requests is kept until exit when the pool is broken. */
void hydra_net_destroy(struct hydra_net **net);

/**
 * Start a message; returns at once. The buffer stays untouched until the request is done. Messages between two ranks
 * with one tag arrive in the order posted.
 *
 * bytes    [in]   0 too: the message still travels, and buffer may be NULL. Any 64-bit count
 * peer     [in]   rank in the pool, oneself included
 * request  [out]  zeroed or done before; on error not active, and the detail says why
 *
 * hydra_net_recv: bytes is the room. A shorter message is fine (request->bytes says so); a longer one ends the request
 * with HYDRA_ERR_MISMATCH.
 */
int hydra_net_send(struct hydra_net *net, const void *buffer, int64_t bytes, int peer, int tag,
                   struct hydra_net_request *request);
int hydra_net_recv(struct hydra_net *net, void *buffer, int64_t bytes, int peer, int tag,
                   struct hydra_net_request *request);

/* Look at one request (inactive ones are done). Returns its status once, when it ends. */
int hydra_net_test(struct hydra_net *net, struct hydra_net_request *request);

/* Test requests[0..count). done [out]: none is active any more. moved [out, may be NULL]: one ended just now.
 * Returns the status of the first that failed. Does not drive: call hydra_progress, or wait. */
int hydra_net_test_all(struct hydra_net *net, struct hydra_net_request *requests, int64_t count, bool *done,
                       bool *moved);

/* Wait until none of requests[0..count) is active. step and microbatch are what a timeout names; it finds the peer. */
int hydra_net_wait_all(struct hydra_net *net, struct hydra_net_request *requests, int64_t count, const char *step,
                       int64_t microbatch);

#endif
