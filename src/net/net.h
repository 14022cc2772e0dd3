/* net.h: the transport table: non-blocking point-to-point between the ranks of a pool. The inner all-to-all and the
 * outer ring are built on it in attn/. mpi.h is allowed here; ucp only in net_ucx.c, NCCL only in net_nccl.c. */
#ifndef HYDRA_NET_NET_H
#define HYDRA_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

struct hydra_net;     /* one transport of one context */
struct hydra_net_env; /* what a probe may look at; see net.c */

/* A posted operation. Lives in the caller's memory until done; zero it before use. */
struct hydra_net_request {
    bool active;
    bool failed;      /* the transport reported an error: status says which */
    int status;
    size_t bytes;     /* received bytes */
    union {
        MPI_Request mpi;
        void *pointer;
    } handle;
    double ready_at;  /* delay wrapper: when the message becomes visible */
};

struct hydra_net_ops {
    const char *name; /* required: as in HYDRA_DCP_RING=name */
    /* required: score for a pool of `size` ranks, greater is better; 0: not here, and why */
    int (*probe)(int size, char *why, size_t len);
    /* required: collective over pool, which the transport may use but not free */
    int (*create)(MPI_Comm pool, struct hydra_net **net);
    /* required: nulls the handle; waits for nothing */
    void (*destroy)(struct hydra_net **net);
    /* required, both: return at once. tag: 0 .. HYDRA_NET_TAGS - 1. The buffer stays untouched until done. Messages
     * between two ranks with one tag arrive in order. A message longer than the buffer is an error of the receiver. */
    int (*post_send)(struct hydra_net *net, const void *buffer, size_t bytes, int peer, int tag, struct hydra_net_request *request);
    int (*post_recv)(struct hydra_net *net, void *buffer, size_t bytes, int peer, int tag, struct hydra_net_request *request);
    /* required: poll one request; clears `active` when done */
    int (*test)(struct hydra_net *net, struct hydra_net_request *request);
    /* optional: drive everything posted; NULL: test does it */
    int (*progress)(struct hydra_net *net);
    bool device_memory; /* default false: buffers must be host memory */
};

enum { HYDRA_NET_TAGS = 32768 }; /* MPI guarantees tags up to 32767 */

struct hydra_net {
    const struct hydra_net_ops *ops;
    /* the transport's own fields follow in its own struct */
};

const struct hydra_net_ops *hydra_net_at(int index);
const struct hydra_net_ops *hydra_net_find(const char *name);

#endif
