/* test_comm.c: agreement, large exchanges, the alarm, and waits that end. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "comm/agree.h"
#include "comm/keep.h"
#include "comm/pool.h"
#include "comm/wait.h"
#include "net/net.h"
#include "tests/mpi_tap.h"

static const struct hydra_pool_settings settings = {.timeout = 60, .topology = "", .peers = MPI_COMM_NULL};

static struct hydra_pool *new_pool(double timeout)
{
    struct hydra_pool_settings mine = settings;
    struct hydra_pool *pool = NULL;

    mine.timeout = timeout;
    if (!TAP_CHECK(hydra_pool_create(MPI_COMM_WORLD, &mine, HYDRA_SUCCESS, &pool) == HYDRA_SUCCESS, "%s",
                   hydra_error_detail()))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return pool;
}

/* Every rank in turn fails: it keeps its own status and sentence, the others hear which rank it was. */
static bool failures_reach_everybody(struct hydra_pool *pool)
{
    bool good = true;

    good &= TAP_CHECK(hydra_agree(hydra_comm_of(pool), HYDRA_SUCCESS, "a test") == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    for (int culprit = 0; culprit < pool->size; culprit++) {
        char word[48] = "no tokens left";
        int mine = pool->rank == culprit ? hydra_error(HYDRA_ERR_INFEASIBLE, "%s", word) : HYDRA_SUCCESS;
        int status = hydra_agree(hydra_comm_of(pool), mine, "a test");

        if (pool->rank != culprit)
            snprintf(word, sizeof word, "rank %d failed in a test", culprit);
        good &=
            TAP_CHECK(status == (pool->rank == culprit ? HYDRA_ERR_INFEASIBLE : HYDRA_ERR_PEER), "status %d", status);
        good &= TAP_CHECK(strstr(hydra_error_detail(), word) != NULL, "'%s' lacks '%s'", hydra_error_detail(), word);
    }
    return good;
}

static bool different_values_are_seen(struct hydra_pool *pool)
{
    static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 12345};
    bool good = true;

    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            uint64_t value = pool->rank == pool->size - 1 ? values[j] : values[i];
            int expected = i == j || pool->size == 1 ? HYDRA_SUCCESS : HYDRA_ERR_MISMATCH;
            int status = hydra_agree_same(hydra_comm_of(pool), HYDRA_SUCCESS, value, "number");

            good &= TAP_CHECK(status == expected, "%d and %d give %d", i, j, status);
        }
    return good;
}

/* Uneven blocks, empty ones too, whole and in pieces of 100 bytes. */
static bool blocks_are_gathered(struct hydra_pool *pool, int64_t piece)
{
    int64_t before = hydra_comm_piece, mine = pool->rank % 3 == 1 ? 0 : 37 + 211 * pool->rank, total = 0, at = 0;
    int64_t *bytes = hydra_calloc(pool->size, sizeof *bytes);
    unsigned char *block = hydra_alloc(mine, 1), *all;
    bool good = true;

    hydra_comm_piece = piece;
    good &= TAP_CHECK(hydra_allgather(hydra_comm_of(pool), &mine, 1, bytes, "a test") == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    for (int r = 0; r < pool->size; r++)
        total += bytes[r];
    all = hydra_alloc(total, 1);
    memset(block, pool->rank + 1, (size_t)mine);
    good &= TAP_CHECK(hydra_allgatherv(hydra_comm_of(pool), mine == 0 ? NULL : block, bytes, all, "a test") ==
                          HYDRA_SUCCESS,
                      "%s", hydra_error_detail());
    for (int r = 0; r < pool->size; r++)
        for (int64_t i = 0; i < bytes[r]; i++, at++)
            good = good && TAP_CHECK(all[at] == r + 1, "byte %d of rank %d is %d", (int)i, r, all[at]);
    for (int root = 0; root < pool->size; root++) {
        if (pool->rank == root)
            memset(all, 200 - root, (size_t)total);
        good &= TAP_CHECK(hydra_bcast(hydra_comm_of(pool), all, total, root, "a test") == HYDRA_SUCCESS, "%s",
                          hydra_error_detail());
        for (int64_t i = 0; i < total; i++)
            good = good && TAP_CHECK(all[i] == 200 - root, "byte %d from %d is %d", (int)i, root, all[i]);
    }
    hydra_comm_piece = before;
    hydra_free(bytes);
    hydra_free(block);
    hydra_free(all);
    return good;
}

static bool sums_do_not_overflow(struct hydra_pool *pool)
{
    int64_t sum = 0, most = 0, large = INT64_MAX / pool->size;
    bool good = TAP_CHECK(hydra_sum_max(hydra_comm_of(pool), large, &sum, &most, "a test") == HYDRA_SUCCESS, "%s",
                          hydra_error_detail());

    good &= TAP_CHECK(sum == large * pool->size && most == large, "sum %lld", (long long)sum);
    if (pool->size > 1)
        good &= TAP_CHECK(hydra_sum_max(hydra_comm_of(pool), INT64_MAX, &sum, NULL, "a test") == HYDRA_ERR_OVERFLOW,
                          "sum %lld", (long long)sum);
    return good;
}

/* The last rank never comes: the others' wait ends and says what it waited for; the first to end tells the rest. */
static bool a_collective_ends(void)
{
    struct hydra_pool *pool = new_pool(60);
    int last = pool->size - 1, status = HYDRA_SUCCESS;
    bool good = true;

    pool->timeout = 0.3;
    if (pool->size > 1 && pool->rank != last) {
        status = hydra_agree(hydra_comm_of(pool), HYDRA_SUCCESS, "the counting of heads");
        good = TAP_CHECK(status == HYDRA_ERR_TIMEOUT || (pool->size > 2 && status == HYDRA_ERR_PEER), "status %d",
                         status) &&
               TAP_CHECK(strstr(hydra_error_detail(), "the counting of heads") != NULL, "'%s'", hydra_error_detail()) &&
               TAP_CHECK(pool->broken, "the pool is still whole");
    }
    pool->broken = true; /* the reduction is still under way */
    hydra_pool_free(&pool);
    return good;
}

/* A receive whose message never comes names peer, microbatch and step, over each transport. */
static bool a_receive_ends(const char *transport)
{
    struct hydra_pool *pool = new_pool(60);
    struct hydra_net *net = NULL;
    struct hydra_net_request *request = hydra_calloc(1, sizeof *request); /* both kept: the receive stays posted */
    char *buffer = hydra_calloc(1, 100), word[96];
    int peer = (pool->rank + 1) % pool->size, status;
    bool good =
        TAP_CHECK(hydra_net_create(pool, transport, HYDRA_NET_RING, &net) == HYDRA_SUCCESS, "%s", hydra_error_detail());

    pool->timeout = 0.3; /* setting up may take longer on a busy machine */
    hydra_net_recv(net, buffer, 100, peer, 3, request);
    status = hydra_net_wait_all(net, request, 1, "ring step 2 of 4", 17);
    snprintf(word, sizeof word, "waited 0.3 s for rank %d in ring step 2 of 4, microbatch 17", peer);
    good &= TAP_CHECK(status == HYDRA_ERR_TIMEOUT && strcmp(hydra_error_detail(), word) == 0, "status %d: '%s'", status,
                      hydra_error_detail());
    pool->broken = true;
    MPI_Barrier(MPI_COMM_WORLD);
    hydra_net_destroy(&net);
    hydra_release(request, pool);
    hydra_release(buffer, pool);
    hydra_pool_free(&pool);
    return good;
}

/* One rank fails while the others wait for a message of it: they end at once, long before their timeout. */
static bool the_alarm_is_heard(void)
{
    struct hydra_pool *pool = new_pool(600);
    struct hydra_net *net = NULL;
    struct hydra_net_request *request = hydra_calloc(1, sizeof *request);
    char *buffer = hydra_calloc(1, 100);
    int culprit = pool->size / 2, status;
    bool good =
        TAP_CHECK(hydra_net_create(pool, "mpi", HYDRA_NET_RING, &net) == HYDRA_SUCCESS, "%s", hydra_error_detail());

    MPI_Barrier(MPI_COMM_WORLD); /* nobody is still agreeing */
    if (pool->rank == culprit) {
        status = hydra_pool_fail(pool, hydra_error(HYDRA_ERR_NOMEM, "no room for 17 elephants"));
        good &= TAP_CHECK(status == HYDRA_ERR_NOMEM, "status %d", status);
        /* Elsewhere the culprit would go on; here it must only drive what it has sent. */
        for (double began = hydra_clock(); hydra_clock() - began < 0.05;)
            hydra_progress();
    } else {
        hydra_net_recv(net, buffer, 100, culprit, 3, request);
        status = hydra_net_wait_all(net, request, 1, "a test", 0);
        good &= TAP_CHECK(status == HYDRA_ERR_PEER, "status %d: %s", status, hydra_error_detail());
        good &= TAP_CHECK(strstr(hydra_error_detail(), "17 elephants") != NULL, "'%s'", hydra_error_detail());
    }
    good &= TAP_CHECK(hydra_pool_check(pool) == HYDRA_ERR_STATE, "a broken pool goes on");
    MPI_Barrier(MPI_COMM_WORLD);
    hydra_net_destroy(&net);
    hydra_release(request, pool);
    hydra_release(buffer, pool);
    hydra_pool_free(&pool);
    return good;
}

/* Rank 0 starts 4 MB to everybody over MPI, then waits in a ring over the other transport for ranks that enter the ring
 * only when those 4 MB have come. Without driving MPI in the ring's wait this never ends. */
static bool mpi_moves_in_the_ring(struct hydra_pool *pool, const char *ring_name)
{
    enum { BYTES = 4 << 20 };
    struct hydra_net *alltoall = NULL, *ring = NULL;
    struct hydra_net_request *sends = hydra_calloc(pool->size, sizeof *sends), receive = {0}, round[2] = {0};
    char *out = hydra_calloc(BYTES, 1), *in = hydra_calloc(BYTES, 1), token = 1, got = 0;
    int next = (pool->rank + 1) % pool->size, previous = (pool->rank + pool->size - 1) % pool->size;
    bool good = hydra_net_create(pool, "mpi", HYDRA_NET_ALLTOALL, &alltoall) == HYDRA_SUCCESS &&
                hydra_net_create(pool, ring_name, HYDRA_NET_RING, &ring) == HYDRA_SUCCESS;

    if (!TAP_CHECK(good, "%s", hydra_error_detail()))
        return false;
    memset(out, 42, BYTES);
    for (int peer = 1; pool->rank == 0 && peer < pool->size; peer++)
        good &= hydra_net_send(alltoall, out, BYTES, peer, 1, &sends[peer]) == HYDRA_SUCCESS;
    if (pool->rank != 0) {
        good &= hydra_net_recv(alltoall, in, BYTES, 0, 1, &receive) == HYDRA_SUCCESS;
        good &= TAP_CHECK(hydra_net_wait_all(alltoall, &receive, 1, "4 MB", 0) == HYDRA_SUCCESS, "%s",
                          hydra_error_detail());
        good &= TAP_CHECK(in[0] == 42 && in[BYTES - 1] == 42, "%d", in[0]);
    }
    hydra_net_recv(ring, &got, 1, previous, 1, &round[0]);
    hydra_net_send(ring, &token, 1, next, 1, &round[1]);
    good &= TAP_CHECK(hydra_net_wait_all(ring, round, 2, "the ring", 0) == HYDRA_SUCCESS && got == 1, "%s",
                      hydra_error_detail());
    good &= TAP_CHECK(hydra_net_wait_all(alltoall, sends, pool->size, "4 MB", 0) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    hydra_net_destroy(&ring);
    hydra_net_destroy(&alltoall);
    hydra_free(sends);
    hydra_free(out);
    hydra_free(in);
    return good;
}

static int count_call(void *calls)
{
    ++*(int *)calls;
    return 0;
}

/* A driver that rests seven turns of eight, under 800 waits of one turn each and then one that has spun long enough. */
static bool short_waits_drive_all(struct hydra_pool *pool)
{
    int calls = 0;
    struct hydra_driver driver = {.drive = count_call, .state = &calls, .rests = 7};
    struct hydra_wait wait;
    bool good = true;

    hydra_progress_add(&driver);
    for (int i = 0; i < 800; i++) {
        hydra_wait_begin(&wait, pool, "a test", -1, -1);
        good &= TAP_CHECK(hydra_wait_turn(&wait, false) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    }
    good &= TAP_CHECK(calls == 100, "driven in %d of 800 turns", calls);
    while (good && wait.spinning)
        good &= TAP_CHECK(hydra_wait_turn(&wait, false) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    calls = 0;
    for (int i = 0; i < 10; i++)
        good &= hydra_wait_turn(&wait, false) == HYDRA_SUCCESS;
    good &= TAP_CHECK(calls == 10, "driven in %d of 10 turns that do not spin", calls);
    hydra_progress_remove(&driver);
    return good;
}

int main(int argc, char **argv)
{
    const char *other;
    struct hydra_pool *pool;
    char why[96];

    setenv("HYDRA_DCP_DELAY", "0,1e12", 1);
    mpi_tap_begin(&argc, &argv);
    pool = new_pool(60);
    other = hydra_net_find("ucx")->probe(pool->size, HYDRA_NET_RING, why, sizeof why) > 0 ? "ucx" : "delay";
    mpi_tap_result(failures_reach_everybody(pool), "whichever rank fails, it keeps its error and the others name it");
    mpi_tap_result(different_values_are_seen(pool), "one rank with another value is seen by all");
    mpi_tap_result(blocks_are_gathered(pool, INT64_C(1) << 30), "uneven blocks are gathered and broadcast in one call");
    mpi_tap_result(blocks_are_gathered(pool, 100), "and in pieces, as beyond 1 GiB");
    mpi_tap_result(sums_do_not_overflow(pool), "sums beyond 2^63 are an error");
    mpi_tap_result(mpi_moves_in_the_ring(pool, other),
                   "4 MB over MPI move while their sender waits in a ring over another transport");
    mpi_tap_result(short_waits_drive_all(pool), "waits that end at once drive MPI now and then, longer ones always");
    hydra_pool_free(&pool);
    mpi_tap_result(a_collective_ends(), "an agreement that a rank never joins times out");
    mpi_tap_result(a_receive_ends("mpi"), "a receive over MPI times out and names peer, microbatch and step");
    if (strcmp(other, "ucx") == 0)
        mpi_tap_result(a_receive_ends("ucx"), "so does one over UCX");
    mpi_tap_result(the_alarm_is_heard(), "a rank that fails ends the waits of all others at once");
    return mpi_tap_done();
}
