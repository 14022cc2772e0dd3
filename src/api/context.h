/* context.h: what a Hydra_Context is: the pool, its transports, its kernel. One thread at a time. */
#ifndef HYDRA_API_CONTEXT_H
#define HYDRA_API_CONTEXT_H

#include "comm/agree.h"
#include "comm/pool.h"
#include "hydra.h"
#include "kernel/kernel.h"
#include "net/net.h"

struct hydra_context {
    struct hydra_pool *pool;
    struct hydra_net *alltoall; /* transport of inner all-to-alls, dispatch and collect */
    struct hydra_net *ring;     /* transport of the outer ring; its own message space, may be of the same kind */
    const struct hydra_kernel_ops *kernel; /* the same on every rank of the pool */
    int threads;                           /* OpenMP threads that kernels use, >= 1 */
    uint64_t operations;                   /* dispatches, collects and attention calls so far: tells messages apart */
    uint64_t layers;                       /* attention layers made so far */
    int64_t under_way;                     /* operations started and not waited for */
    struct hydra_context *next;            /* live contexts, newest first (context.c) */
};

/* Entry check of a public call: clears the thread's detail; HYDRA_ERR_ARG for a null or finalised handle,
 * HYDRA_ERR_STATE and HYDRA_ERR_PEER as hydra_pool_check. */
int hydra_context_enter(Hydra_Context context);

/* Its pool, as hydra_release wants it: NULL once the context is finalised. What it owned may then be under unfinished
 * messages, and is kept. */
const struct hydra_pool *hydra_context_pool(Hydra_Context context);

/* Agree over the pool, and over the peers when there are any, that every rank succeeded and holds the same hash. */
int hydra_context_agree_hash(Hydra_Context context, int status, uint64_t hash, const char *what);

/* What Hydra_Init is told: the config where it says something, else the environment. Text is borrowed. */
struct hydra_settings {
    const char *topology, *kernel, *alltoall, *ring;
    double timeout; /* s */
    MPI_Comm peers;
};

/* Always fills settings (with defaults where a value is bad), so that a rank that fails can still tell the others. */
int hydra_settings_read(const Hydra_Config *config, struct hydra_settings *settings);

/* Hash of what must be the same on every rank. */
uint64_t hydra_settings_hash(const struct hydra_settings *settings);

/* Kernel of a name, "" for the best; what the weakest rank of the pool can run. Collective, agrees. */
int hydra_settings_kernel(struct hydra_pool *pool, const char *name, const struct hydra_kernel_ops **kernel);

#endif
