/* agree.c: collective agreement with bounded waits, and large-count exchanges. */
#include "comm/agree.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "comm/keep.h"
#include "comm/pool.h"
#include "comm/wait.h"

int64_t hydra_comm_piece = INT64_C(1) << 30;

/* Failing ranks as numbers whose minimum is the lowest rank's: rank * 64 + status. */
enum { KEY_STATUSES = 64 };
_Static_assert((int)HYDRA_ERROR_COUNT <= (int)KEY_STATUSES, "a status fits its key");

struct hydra_comm hydra_comm_of(struct hydra_pool *pool)
{
    return (struct hydra_comm){.mpi = pool->comm, .pool = pool, .timeout = pool->timeout};
}

/* Wait for a collective's request. On error it may still be active: the caller keeps its block. */
static int finish(struct hydra_comm comm, MPI_Request *request, const char *step)
{
    struct hydra_wait wait;
    int status;

    hydra_wait_begin_setup(&wait, comm.timeout, step);
    wait.pool = comm.pool;
    if (comm.pool != NULL)
        hydra_count(&comm.pool->counters, HYDRA_COUNTER_COMM_COLLECTIVES, 1);
    status = hydra_wait_mpi(&wait, request, MPI_STATUS_IGNORE);
    /* The others may still complete it, and what follows on this communicator would no longer match; or they wait in it
     * too, with more patience. */
    return comm.pool == NULL ? status : hydra_pool_fail(comm.pool, status);
}

/* Small blocks for a rank whose memory is out: it must still come to the reduction that tells the others. One that an
 * unfinished request uses is never given again. */
enum { RESERVED = 8, RESERVED_WORDS = 8 };

static int64_t reserve[RESERVED][RESERVED_WORDS];
static atomic_flag reserve_taken[RESERVED];

static void *take(int64_t words)
{
    void *block = hydra_alloc(words, sizeof(int64_t));

    for (int i = 0; block == NULL && words <= RESERVED_WORDS && i < RESERVED; i++)
        if (!atomic_flag_test_and_set(&reserve_taken[i]))
            block = reserve[i];
    return block;
}

/* A block that an unfinished request uses is kept until exit. */
static void let_go(void *block, bool unfinished)
{
    for (int i = 0; i < RESERVED; i++)
        if (block == reserve[i]) {
            if (!unfinished)
                atomic_flag_clear(&reserve_taken[i]);
            return;
        }
    if (unfinished)
        hydra_release(block, NULL);
    else
        hydra_free(block);
}

/* Reduce count numbers in place through a block of our own, which an unfinished reduction keeps. */
static int reduce(struct hydra_comm comm, int64_t *values, int count, MPI_Op op, const char *step)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t *block = take(2 * (int64_t)count);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(block != NULL, HYDRA_ERR_NOMEM, "%d numbers to reduce in %s", count, step);
    memcpy(block, values, (size_t)count * sizeof *block);
    HYDRA_TRY_MPI(MPI_Iallreduce(block, block + count, count, MPI_INT64_T, op, comm.mpi, &request));
    HYDRA_TRY(finish(comm, &request, step));
    memcpy(values, block + count, (size_t)count * sizeof *block);

fail:
    let_go(block, request != MPI_REQUEST_NULL);
    return status;
}

static int64_t key_of(struct hydra_comm comm, int status)
{
    int rank = 0;

    MPI_Comm_rank(comm.mpi, &rank);
    return status == HYDRA_SUCCESS ? INT64_MAX : (int64_t)rank * KEY_STATUSES + status;
}

static int peer_error(int64_t key, const char *step)
{
    return hydra_error(HYDRA_ERR_PEER, "rank %" PRId64 " failed in %s: %s", key / KEY_STATUSES, step,
                       Hydra_Error_string((int)(key % KEY_STATUSES)));
}

int hydra_comm_duplicate(struct hydra_comm from, const char *step, MPI_Comm *copy)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm *made = take(1); /* MPI writes it when the request is done: maybe never */
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "a communicator's handle in %s", step);
    HYDRA_TRY_MPI(MPI_Comm_idup(from.mpi, made, &request));
    HYDRA_TRY(finish(from, &request, step));
    HYDRA_TRY_MPI(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN));
    *copy = *made;

fail:
    let_go(made, request != MPI_REQUEST_NULL);
    return status;
}

int hydra_agree(struct hydra_comm comm, int status, const char *step)
{
    int64_t key = key_of(comm, status);
    int reduced;

    /* A rank that has failed keeps its own sentence, also when the reduction fails after it. */
    if (status != HYDRA_SUCCESS) {
        char detail[1024];

        Hydra_Error_detail(detail, sizeof detail);
        reduce(comm, &key, 1, MPI_MIN, step);
        return hydra_error(status, "%s", detail);
    }
    reduced = reduce(comm, &key, 1, MPI_MIN, step);
    if (reduced != HYDRA_SUCCESS)
        return reduced;
    return key == INT64_MAX ? HYDRA_SUCCESS : peer_error(key, step);
}

int hydra_agree_same(struct hydra_comm comm, int status, uint64_t value, const char *what)
{
    int64_t signed_value = (int64_t)value;
    int64_t least[3] = {key_of(comm, status), signed_value, ~signed_value};
    char detail[1024];
    int reduced;

    Hydra_Error_detail(detail, sizeof detail);
    reduced = reduce(comm, least, 3, MPI_MIN, what);
    if (status != HYDRA_SUCCESS)
        return hydra_error(status, "%s", detail);
    if (reduced != HYDRA_SUCCESS)
        return reduced;
    if (least[0] != INT64_MAX)
        return peer_error(least[0], what);
    /* ~x falls as x rises, so its least is the complement of the greatest x. */
    if (least[1] != ~least[2])
        return hydra_error(HYDRA_ERR_MISMATCH, "ranks disagree on the %s", what);
    return HYDRA_SUCCESS;
}

int hydra_sum_max(struct hydra_comm comm, int64_t mine, int64_t *sum, int64_t *greatest, const char *step)
{
    int64_t halves[2] = {mine >> 32, mine & INT64_C(0xffffffff)}; /* sums of 2^31 ranks cannot overflow */
    int64_t most = mine;
    int status = HYDRA_SUCCESS;

    if (sum != NULL) {
        HYDRA_TRY(reduce(comm, halves, 2, MPI_SUM, step));
        halves[0] += halves[1] >> 32;
        HYDRA_REQUIRE(halves[0] <= INT32_MAX, HYDRA_ERR_OVERFLOW, "the ranks' numbers in %s add up to 2^63 or more",
                      step);
    }
    if (greatest != NULL)
        HYDRA_TRY(reduce(comm, &most, 1, MPI_MAX, step));
    if (sum != NULL)
        *sum = (halves[0] << 32) + (halves[1] & INT64_C(0xffffffff));
    if (greatest != NULL)
        *greatest = most;

fail:
    return status;
}

int hydra_least(struct hydra_comm comm, int64_t *values, int count, const char *step)
{
    return count == 0 ? HYDRA_SUCCESS : reduce(comm, values, count, MPI_MIN, step);
}

int hydra_allgather(struct hydra_comm comm, const int64_t *mine, int64_t count, int64_t *all, const char *step)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t *block = NULL;
    int size = 1;
    int status = HYDRA_SUCCESS;

    MPI_Comm_size(comm.mpi, &size);
    HYDRA_REQUIRE(count >= 0 && count <= INT32_MAX, HYDRA_ERR_OVERFLOW, "%" PRId64 " numbers of a rank in %s", count,
                  step);
    block = hydra_alloc(count * (size + 1), sizeof *block);
    HYDRA_REQUIRE(block != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " numbers of %d ranks in %s", count, size, step);
    if (count > 0)
        memcpy(block, mine, (size_t)count * sizeof *block);
    HYDRA_TRY_MPI(
        MPI_Iallgather(block, (int)count, MPI_INT64_T, block + count, (int)count, MPI_INT64_T, comm.mpi, &request));
    HYDRA_TRY(finish(comm, &request, step));
    if (count > 0)
        memcpy(all, block + count, (size_t)(count * size) * sizeof *block);

fail:
    let_go(block, request != MPI_REQUEST_NULL);
    return status;
}

/* One broadcast of at most hydra_comm_piece bytes, in place in a block that outlives the call when it is cut short. */
static int bcast_pieces(struct hydra_comm comm, char *block, int64_t bytes, int root, const char *step,
                        bool *unfinished)
{
    int status = HYDRA_SUCCESS;

    *unfinished = false;
    for (int64_t at = 0; at < bytes; at += hydra_comm_piece) {
        MPI_Request request = MPI_REQUEST_NULL;

        HYDRA_TRY_MPI(
            MPI_Ibcast(block + at, (int)hydra_min(hydra_comm_piece, bytes - at), MPI_BYTE, root, comm.mpi, &request));
        status = finish(comm, &request, step);
        *unfinished = request != MPI_REQUEST_NULL;
        HYDRA_TRY(status);
    }

fail:
    return status;
}

int hydra_bcast(struct hydra_comm comm, void *data, int64_t bytes, int root, const char *step)
{
    char *block = hydra_alloc(bytes, 1);
    bool unfinished = false;
    int rank = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(block != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " bytes to broadcast in %s", bytes, step);
    MPI_Comm_rank(comm.mpi, &rank);
    if (rank == root && bytes > 0)
        memcpy(block, data, (size_t)bytes);
    HYDRA_TRY(bcast_pieces(comm, block, bytes, root, step, &unfinished));
    if (rank != root && bytes > 0)
        memcpy(data, block, (size_t)bytes);

fail:
    let_go(block, unfinished);
    return status;
}

/* The whole fits one call: counts and displacements are ints. ints [2 * size] and block belong to the caller, who keeps
 * them while *request is active. */
static int allgatherv_once(struct hydra_comm comm, char *block, const int64_t *bytes, int size, int rank, int *ints,
                           MPI_Request *request, const char *step)
{
    int status = HYDRA_SUCCESS;
    int64_t at = 0;

    for (int r = 0; r < size; r++) {
        ints[r] = (int)bytes[r];
        ints[size + r] = (int)at;
        at += bytes[r];
    }
    HYDRA_TRY_MPI(
        MPI_Iallgatherv(MPI_IN_PLACE, ints[rank], MPI_BYTE, block, ints, ints + size, MPI_BYTE, comm.mpi, request));
    HYDRA_TRY(finish(comm, request, step));

fail:
    return status;
}

int hydra_allgatherv(struct hydra_comm comm, const void *mine, const int64_t *bytes, void *all, const char *step)
{
    MPI_Request request = MPI_REQUEST_NULL;
    char *block = NULL;
    int *ints = NULL;
    int64_t total = 0, before = 0;
    bool unfinished = false;
    int size = 1, rank = 0;
    int status = HYDRA_SUCCESS;

    MPI_Comm_size(comm.mpi, &size);
    MPI_Comm_rank(comm.mpi, &rank);
    for (int r = 0; r < size; r++) {
        before += r < rank ? bytes[r] : 0;
        HYDRA_REQUIRE(bytes[r] >= 0 && !__builtin_add_overflow(total, bytes[r], &total), HYDRA_ERR_OVERFLOW,
                      "%" PRId64 " bytes of rank %d in %s", bytes[r], r, step);
    }
    block = hydra_alloc(total, 1);
    ints = hydra_alloc(2 * (int64_t)size, sizeof *ints);
    HYDRA_REQUIRE(block != NULL && ints != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " bytes to gather in %s", total, step);
    if (bytes[rank] > 0)
        memcpy(block + before, mine, (size_t)bytes[rank]);
    if (total <= hydra_comm_piece) {
        HYDRA_TRY(allgatherv_once(comm, block, bytes, size, rank, ints, &request, step));
    } else {
        int64_t at = 0;

        for (int r = 0; r < size; at += bytes[r++])
            HYDRA_TRY(bcast_pieces(comm, block + at, bytes[r], r, step, &unfinished));
    }
    if (total > 0)
        memcpy(all, block, (size_t)total);

fail:
    let_go(block, unfinished || request != MPI_REQUEST_NULL);
    let_go(ints, unfinished || request != MPI_REQUEST_NULL);
    return status;
}
