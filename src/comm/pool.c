/* pool.c: make and release a pool: duplicate, place, order, split, agree. */
#include "comm/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "comm/agree.h"
#include "comm/alarm.h"
#include "comm/wait.h"

/* FNV-1a over bytes. */
static uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Where this rank really sits; the node is a hash of the processor name, which ranks of one node share. */
static int locate(struct hydra_place *place)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_place_locate(false, place));
    HYDRA_TRY_MPI(MPI_Get_processor_name(name, &length));
    place->node = (int64_t)(hash_bytes(name, (size_t)length) >> 1);

fail:
    return status;
}

/* Every rank's place and, from them, the slot map: the same on every rank. */
static int place_ranks(struct hydra_pool *pool, const char *topology)
{
    struct hydra_comm comm = hydra_comm_of(pool);
    struct hydra_place here;
    int status;

    if (topology[0] == '\0')
        status = locate(&here);
    else
        status = hydra_place_synthetic(topology, pool->size, pool->places);
    HYDRA_TRY(hydra_agree_same(comm, status, hash_bytes(topology, strlen(topology)), "topology (HYDRA_DCP_TOPOLOGY)"));
    if (topology[0] == '\0')
        HYDRA_TRY(hydra_allgather(comm, &here.node, HYDRA_PLACE_FIELDS, &pool->places[0].node, "the ranks' places"));
    HYDRA_TRY(hydra_place_number_nodes(pool->size, pool->places));
    HYDRA_TRY(hydra_place_order(pool->size, pool->places, pool->rank_of_slot));

fail:
    return status;
}

/* Peers hold the same tokens, so they share one slot map: that of the peers' rank 0. Whether all of those sat in one
 * pool shows in the hash that the pool then compares. A pool that has failed comes here too, to tell its peers. */
static int share_slots(struct hydra_pool *pool, MPI_Comm peers, int failed)
{
    struct hydra_comm comm = {.mpi = peers, .timeout = pool->timeout};
    uint64_t identity = (uint64_t)pool->size << 32 | (uint64_t)pool->rank;
    struct hydra_comm patient = hydra_comm_of(pool);
    uint64_t hash = 0;
    int status = failed;

    patient.timeout *= 2; /* one of us may wait in vain for its peers first, and then says so */
    if (peers != MPI_COMM_NULL) {
        status = hydra_comm_duplicate(
            comm, "Hydra_Init: duplicating Hydra_Config.peers, which all of its ranks must give", &pool->peers);
        comm.mpi = pool->peers;
        if (status == HYDRA_SUCCESS)
            status = hydra_agree_same(comm, failed, identity, "size of the peers' pools, or the rank in them");
        if (status == HYDRA_SUCCESS)
            status = hydra_bcast(comm, pool->rank_of_slot, pool->size * (int64_t)sizeof *pool->rank_of_slot, 0,
                                 "the peers' slot map");
    }
    if (status == HYDRA_SUCCESS)
        hash = hash_bytes(pool->rank_of_slot, (size_t)pool->size * sizeof *pool->rank_of_slot);
    return hydra_agree_same(patient, status, hash,
                            "slot map (rank 0 of every peers communicator must be in the same pool)");
}

/* Split level by level, each chunk from the one around it, so that few ranks meet in each call. A chunk that passes the
 * end of the pool serves those below it, but is not handed out. MPI_Comm_split blocks, but every rank has just agreed,
 * so each comes at once. */
static int split_chunks(struct hydra_pool *pool)
{
    MPI_Comm around = MPI_COMM_NULL;
    int64_t members = pool->size;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY_MPI(MPI_Comm_split(pool->comm, 0, pool->slot, &pool->split[pool->levels]));
    around = pool->chunk[pool->levels] = pool->split[pool->levels];
    for (int level = pool->levels - 1; level >= 0; level--) {
        int64_t size = (int64_t)1 << level, first = pool->slot / size * size;
        int64_t inside = hydra_min(size, pool->size - first);

        if (inside < members) {
            HYDRA_TRY_MPI(MPI_Comm_split(around, pool->slot >> level, pool->slot, &pool->split[level]));
            around = pool->split[level];
            members = inside;
        }
        pool->chunk[level] = inside == size ? around : MPI_COMM_NULL;
    }

fail:
    return status;
}

static int allocate(struct hydra_pool *pool)
{
    int status = HYDRA_SUCCESS;

    pool->levels = hydra_log2_floor((uint64_t)pool->size) + 1;
    pool->slot_of_rank = hydra_calloc(pool->size, sizeof *pool->slot_of_rank);
    pool->rank_of_slot = hydra_calloc(pool->size, sizeof *pool->rank_of_slot);
    pool->places = hydra_calloc(pool->size, sizeof *pool->places);
    pool->chunk = hydra_calloc(pool->levels + 1, sizeof(MPI_Comm));
    pool->split = hydra_calloc(pool->levels + 1, sizeof(MPI_Comm));
    for (int level = 0; pool->split != NULL && level <= pool->levels; level++)
        pool->split[level] = MPI_COMM_NULL;
    HYDRA_REQUIRE(pool->slot_of_rank != NULL && pool->rank_of_slot != NULL && pool->places != NULL &&
                      pool->chunk != NULL && pool->split != NULL,
                  HYDRA_ERR_NOMEM, "the tables of a pool of %d ranks", pool->size);
    for (int level = 0; level <= pool->levels; level++)
        pool->chunk[level] = MPI_COMM_NULL;

fail:
    return status;
}

/* Release what a pool holds. */
static void clear(struct hydra_pool *old)
{
    hydra_alarm_free(old);
    for (int level = 0; old->split != NULL && !old->broken && level <= old->levels; level++)
        if (old->split[level] != MPI_COMM_NULL)
            MPI_Comm_free(&old->split[level]);
    if (old->peers != MPI_COMM_NULL && !old->broken)
        MPI_Comm_free(&old->peers);
    if (old->comm != MPI_COMM_NULL && !old->broken)
        MPI_Comm_free(&old->comm);
    hydra_free(old->chunk);
    hydra_free(old->split);
    hydra_free(old->slot_of_rank);
    hydra_free(old->rank_of_slot);
    hydra_free(old->places);
}

int hydra_pool_create(MPI_Comm from, const struct hydra_pool_settings *settings, int failed, struct hydra_pool **pool)
{
    struct hydra_comm caller = {.mpi = from, .timeout = settings->timeout};
    struct hydra_pool *made = hydra_calloc(1, sizeof *made), spare = {0};
    int status = HYDRA_SUCCESS;

    if (made == NULL) { /* the others must hear of it */
        made = &spare;
        failed = failed != HYDRA_SUCCESS ? failed : hydra_error(HYDRA_ERR_NOMEM, "a pool");
    }
    made->comm = made->peers = MPI_COMM_NULL;
    made->timeout = settings->timeout;
    made->next_tag = HYDRA_POOL_FIRST_TAG;
    HYDRA_TRY(hydra_comm_duplicate(caller, "Hydra_Init: duplicating the communicator", &made->comm));
    HYDRA_TRY_MPI(MPI_Comm_size(made->comm, &made->size));
    HYDRA_TRY_MPI(MPI_Comm_rank(made->comm, &made->rank));
    if (failed == HYDRA_SUCCESS)
        failed = allocate(made);
    failed = hydra_agree_same(hydra_comm_of(made), failed, settings->peers != MPI_COMM_NULL,
                              "question whether Hydra_Config.peers is given");
    if (failed == HYDRA_SUCCESS)
        failed = place_ranks(made, settings->topology);
    HYDRA_TRY(share_slots(made, settings->peers, failed));
    for (int64_t slot = 0; slot < made->size; slot++)
        made->slot_of_rank[made->rank_of_slot[slot]] = slot;
    made->slot = (int)made->slot_of_rank[made->rank];
    status = split_chunks(made);
    if (status == HYDRA_SUCCESS)
        status = hydra_alarm_create(made);
    HYDRA_TRY(hydra_agree(hydra_comm_of(made), status, "Hydra_Init: splitting the pool into chunks"));
    hydra_log(HYDRA_LEVEL_INFO, "comm", "pool of %d ranks: rank %d is slot %d", made->size, made->rank, made->slot);
    *pool = made;
    return HYDRA_SUCCESS;

fail:
    made->broken |= status == HYDRA_ERR_TIMEOUT;
    clear(made);
    if (made != &spare)
        hydra_free(made);
    return status;
}

void hydra_pool_free(struct hydra_pool **pool)
{
    struct hydra_pool *old = *pool;

    *pool = NULL;
    if (old != NULL)
        clear(old);
    hydra_free(old);
}

MPI_Comm hydra_pool_group_comm(const struct hydra_pool *pool, int64_t first, int64_t size)
{
    if (pool->slot < first || pool->slot >= first + size)
        return MPI_COMM_NULL;
    if (first == 0 && size == pool->size)
        return pool->chunk[pool->levels];
    return hydra_is_pow2(size) && first % size == 0 ? pool->chunk[hydra_log2_floor((uint64_t)size)] : MPI_COMM_NULL;
}

int hydra_pool_check(struct hydra_pool *pool)
{
    if (pool->broken)
        return hydra_error(HYDRA_ERR_STATE,
                           "the context is broken by an earlier error: only Hydra_Finalize may follow");
    hydra_progress();
    return hydra_alarm_heard(pool) ? hydra_alarm_error(pool) : HYDRA_SUCCESS;
}

int hydra_pool_fail(struct hydra_pool *pool, int status)
{
    if (status == HYDRA_SUCCESS || pool->broken)
        return status;
    pool->broken = true;
    hydra_alarm_raise(pool, status);
    return status;
}
