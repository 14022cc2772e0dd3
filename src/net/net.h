/* net.h: the transport table: non-blocking point-to-point between the ranks of a pool. The inner all-to-all and the
 * outer ring are built on it in attn/. mpi.h is allowed here; ucp only in net_ucx.c, NCCL only in net_nccl.c.
 *
 * Every transport of a context has its own message space: a tag of the ring never meets one of the all-to-all. */
#ifndef HYDRA_NET_NET_H
#define HYDRA_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "comm/pool.h"
#include "comm/wait.h"

/* A posted operation. Lives in the caller's memory, at one place, until it is done; zero it before use. */
struct hydra_net_request {
    bool active;
    int status;       /* HYDRA_SUCCESS, or why it failed: set when `active` clears */
    int64_t bytes;    /* received, or sent */
    int64_t room;     /* bytes posted */
    int peer;
    int tag;
    bool receive;
    union {
        MPI_Request mpi;
        void *pointer;
    } handle;
};

struct hydra_net;

struct hydra_net_ops {
    const char *name; /* required: as in HYDRA_DCP_RING=name */
    /* required: score for a pool of `size` ranks, greater is better; 0: not here, and why */
    int (*probe)(int size, char *why, size_t len);
    /* required: collective over the pool; argument: the text after "name:" in the choice, "" when there is none */
    int (*create)(struct hydra_pool *pool, const char *argument, struct hydra_net **net);
    /* required: nulls the handle; waits for nothing; collective unless the pool is broken */
    void (*destroy)(struct hydra_net **net);
    /* required, both: return at once. peer: rank in the pool, oneself included. tag: 0 .. HYDRA_NET_TAGS - 1. bytes: any
     * 64-bit count, 0 included (the message still travels; buffer may then be NULL). The buffer stays untouched until
     * done. Messages between two ranks with one tag arrive in the order posted. */
    int (*post_send)(struct hydra_net *net, const void *buffer, int64_t bytes, int peer, int tag, struct hydra_net_request *request);
    /* bytes: room. A shorter message is fine (request->bytes says), a longer one is HYDRA_ERR_MISMATCH of the receiver. */
    int (*post_recv)(struct hydra_net *net, void *buffer, int64_t bytes, int peer, int tag, struct hydra_net_request *request);
    /* required: poll one active request; clears `active` and sets `status` when done. Returns the request's status
     * when it failed, else HYDRA_SUCCESS. */
    int (*test)(struct hydra_net *net, struct hydra_net_request *request);
    bool device_memory; /* default false: buffers must be host memory */
};

enum { HYDRA_NET_TAGS = 32768 }; /* MPI guarantees tags up to 32767 */

struct hydra_net {
    const struct hydra_net_ops *ops;
    struct hydra_pool *pool;
    /* the transport's own fields follow in its own struct */
};

/* Every transport this library was built with; NULL past the end. */
const struct hydra_net_ops *hydra_net_at(int index);

/* By the name before ':' ("delay:mpi" finds delay); NULL when unknown. */
const struct hydra_net_ops *hydra_net_find(const char *name);

/**
 * Make the transport of a choice. Collective over the pool, agrees on errors.
 * choice  [in]  "" or NULL: the best here; else a name, "delay" (over the best) or "delay:name"
 * use     [in]  "HYDRA_DCP_RING" or the like: where the choice comes from, for the error
 */
int hydra_net_create(struct hydra_pool *pool, const char *choice, const char *use, struct hydra_net **net);
void hydra_net_destroy(struct hydra_net **net);

/* Post with the table's function. On error the request is not active and the sentence is set. */
int hydra_net_send(struct hydra_net *net, const void *buffer, int64_t bytes, int peer, int tag, struct hydra_net_request *request);
int hydra_net_recv(struct hydra_net *net, void *buffer, int64_t bytes, int peer, int tag, struct hydra_net_request *request);

/* Test requests[0..count), skipping inactive ones. *done [out]: none is active any more. *moved [out, may be NULL]: one
 * became inactive. The first failed request's status is returned. */
int hydra_net_test_all(struct hydra_net *net, struct hydra_net_request *requests, int64_t count, bool *done, bool *moved);

/* Wait until none of requests[0..count) is active. step and microbatch are what a timeout names; it finds the peer. */
int hydra_net_wait_all(struct hydra_net *net, struct hydra_net_request *requests, int64_t count, const char *step,
                       int64_t microbatch);

#endif
