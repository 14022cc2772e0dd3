/* pool.h: the ranks that context and data parallelism share: a duplicated communicator, the slot map, and one chunk
 * communicator per level, all made once at init. Plans and attention create no communicator. */
#ifndef HYDRA_COMM_POOL_H
#define HYDRA_COMM_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "base/counters.h"
#include "topo/place.h"

enum { HYDRA_POOL_ALARM_TAG = 1, HYDRA_POOL_FIRST_TAG = 2 }; /* tags on hydra_pool.comm */

struct hydra_pool {
    MPI_Comm comm;  /* ours, ranks as in the caller's communicator; errors return */
    MPI_Comm peers; /* ours: ranks of other pools that hold the same tokens; MPI_COMM_NULL: none */
    int size;       /* G */
    int rank;
    int slot;
    int64_t *slot_of_rank;      /* [G] */
    int64_t *rank_of_slot;      /* [G] */
    struct hydra_place *places; /* [G] by rank: where each rank sits */
    int levels;                 /* floor(log2 G) + 1 */
    MPI_Comm *chunk; /* [levels + 1]: this rank's chunk of 2^level slots, ranks in slot order; MPI_COMM_NULL when the
                        chunk would pass G. [levels]: the whole pool in slot order */
    MPI_Comm *split; /* [levels + 1]: the communicators behind chunk, each once */
    bool broken;     /* an operation failed here or elsewhere: only Hydra_Finalize may follow */
    double timeout;  /* s */
    struct hydra_counters counters;
    int next_tag;              /* on comm, for what transports tell each other; taken collectively */
    struct hydra_alarm *alarm; /* pool.c */
};

struct hydra_pool_settings {
    double timeout;       /* s > 0 */
    const char *topology; /* synthetic machine, "" : the real one */
    MPI_Comm peers;       /* MPI_COMM_NULL: none. Duplicated; the slot map is agreed over it too */
};

/**
 * Make a pool. Collective over `from`; agrees: when one rank fails, all return an error.
 *
 * from      [in]   intra-communicator; duplicated
 * settings  [in]   a rank whose own setup failed before passes its code in `failed`: the others get HYDRA_ERR_PEER
 * failed    [in]   HYDRA_SUCCESS, or this rank's error, which it keeps
 * pool      [out]  set only on success; hydra_pool_free
 */
int hydra_pool_create(MPI_Comm from, const struct hydra_pool_settings *settings, int failed, struct hydra_pool **pool);

/* Collective unless broken (then communicators under unfinished requests are kept until exit). Nulls the handle. */
void hydra_pool_free(struct hydra_pool **pool);

/* Communicator of the aligned group [first, first + size): a chunk or the whole pool; MPI_COMM_NULL when this rank is
 * not in it or there is none. Borrowed. */
MPI_Comm hydra_pool_group_comm(const struct hydra_pool *pool, int64_t first, int64_t size);

/* Entry check of every public call: HYDRA_ERR_STATE once broken; hears the alarm (HYDRA_ERR_PEER, once). */
int hydra_pool_check(struct hydra_pool *pool);

/* This rank's operation failed with `status` (its sentence is the thread's detail): break the pool and tell every other
 * rank, unless the failure came from an alarm. Returns status. Never waits. */
int hydra_pool_fail(struct hydra_pool *pool, int status);

#endif
