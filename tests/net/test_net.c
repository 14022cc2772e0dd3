/* test_net.c: every transport that is here moves messages as its table promises. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "tests/mpi_tap.h"
#include "net/net.h"

static struct hydra_pool *pool;
static struct hydra_net *net;

/* A byte that depends on who sends what to whom. */
static unsigned char pattern(int from, int to, int64_t i)
{
    return (unsigned char)(from * 131 + to * 31 + i * 7 + (i >> 8));
}

/* Everybody to everybody, oneself included, `bytes` long with a tag each way. */
static bool everybody_to_everybody(int64_t bytes, int tag)
{
    int size = pool->size, rank = pool->rank;
    struct hydra_net_request *requests = hydra_calloc(2 * size, sizeof *requests);
    unsigned char *out = hydra_alloc(size * bytes, 1), *in = hydra_calloc(size * bytes, 1);
    bool good = true;

    for (int peer = 0; peer < size; peer++)
        for (int64_t i = 0; i < bytes; i++)
            out[peer * bytes + i] = pattern(rank, peer, i);
    for (int peer = 0; peer < size; peer++) {
        good &= hydra_net_recv(net, bytes == 0 ? NULL : in + peer * bytes, bytes, peer, tag, &requests[peer]) ==
                HYDRA_SUCCESS;
        good &= hydra_net_send(net, bytes == 0 ? NULL : out + peer * bytes, bytes, peer, tag, &requests[size + peer]) ==
                HYDRA_SUCCESS;
    }
    good &= TAP_CHECK(hydra_net_wait_all(net, requests, 2 * size, "a test", 0) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    for (int peer = 0; good && peer < size; peer++) {
        good &= TAP_CHECK(requests[peer].bytes == bytes, "got %lld of %lld bytes", (long long)requests[peer].bytes,
                          (long long)bytes);
        for (int64_t i = 0; good && i < bytes; i++)
            good &= TAP_CHECK(in[peer * bytes + i] == pattern(peer, rank, i), "byte %lld from %d", (long long)i, peer);
    }
    hydra_free(requests);
    hydra_free(out);
    hydra_free(in);
    return good;
}

static bool messages_of_every_size(void)
{
    static const int64_t sizes[] = {0, 1, 7, 1000, 8192, 24575, 24577, 65536, 300001, 1 << 20};
    bool good = true;

    for (int i = 0; i < 10; i++)
        good &= everybody_to_everybody(sizes[i], i * 1000 + i % 2 * (HYDRA_NET_TAGS - 1 - i * 1000));
    return good;
}

/* Twenty messages of one tag to the next rank, receives posted before some and after others. */
static bool one_tag_keeps_order(void)
{
    enum { COUNT = 20 };
    int next = (pool->rank + 1) % pool->size, previous = (pool->rank + pool->size - 1) % pool->size;
    struct hydra_net_request requests[2 * COUNT] = {0};
    int64_t out[COUNT], in[COUNT];
    bool good = true;

    for (int i = 0; i < COUNT; i++) {
        out[i] = pool->rank * 100 + i;
        if (i % 3 == 0)
            hydra_net_recv(net, &in[i / 3], sizeof in[0], previous, 5, &requests[i / 3]);
        hydra_net_send(net, &out[i], sizeof out[0], next, 5, &requests[COUNT + i]);
    }
    for (int i = (COUNT + 2) / 3; i < COUNT; i++)
        hydra_net_recv(net, &in[i], sizeof in[0], previous, 5, &requests[i]);
    good &= TAP_CHECK(hydra_net_wait_all(net, requests, 2 * COUNT, "a test", 0) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    for (int i = 0; i < COUNT; i++)
        good &= TAP_CHECK(in[i] == previous * 100 + i, "message %d is %lld", i, (long long)in[i]);
    return good;
}

/* 10 bytes fit in 100, and request->bytes says 10; 100 do not fit in 10. Small and large. */
static bool length_of_a_message(int64_t sent, int64_t room, int expected)
{
    int next = (pool->rank + 1) % pool->size, previous = (pool->rank + pool->size - 1) % pool->size;
    struct hydra_net_request requests[2] = {0};
    char *out = hydra_calloc(sent, 1), *in = hydra_calloc(room, 1);
    int status;
    bool good = true;

    hydra_net_recv(net, in, room, previous, 6, &requests[0]);
    hydra_net_send(net, out, sent, next, 6, &requests[1]);
    status = hydra_net_wait_all(net, requests, 1, "a test", 0);
    good &= TAP_CHECK(status == expected, "status %d: %s", status, hydra_error_detail());
    if (expected == HYDRA_SUCCESS)
        good &= TAP_CHECK(requests[0].bytes == sent, "%lld bytes", (long long)requests[0].bytes);
    good &=
        TAP_CHECK(hydra_net_wait_all(net, requests + 1, 1, "a test", 0) == HYDRA_SUCCESS, "%s", hydra_error_detail());
    hydra_free(out);
    hydra_free(in);
    return good;
}

/* The message carries when it was sent. Only a floor: machines are busy, so there is no upper bound to hold. */
static bool delay_holds_messages_back(void)
{
    int next = (pool->rank + 1) % pool->size, previous = (pool->rank + pool->size - 1) % pool->size;
    struct hydra_net_request requests[2] = {0};
    static char out[50000], in[50000];
    double sent = hydra_clock(), seconds;

    memcpy(out, &sent, sizeof sent);
    hydra_net_recv(net, in, sizeof in, previous, 7, &requests[0]);
    hydra_net_send(net, out, sizeof out, next, 7, &requests[1]);
    hydra_net_wait_all(net, requests, 2, "a test", 0);
    memcpy(&sent, in, sizeof sent);
    seconds = hydra_clock() - sent;
    return TAP_CHECK(pool->size == 1 || seconds >= 0.001 + 50000 / 2e8, "seen after %g s", seconds);
}

static void test_transport(const char *name)
{
    struct hydra_pool_settings settings = {.timeout = 60, .topology = "", .peers = MPI_COMM_NULL};
    char sentence[128];
    int status = hydra_pool_create(MPI_COMM_WORLD, &settings, HYDRA_SUCCESS, &pool);

    if (status != HYDRA_SUCCESS || (status = hydra_net_create(pool, name, HYDRA_NET_RING, &net)) != HYDRA_SUCCESS) {
        snprintf(sentence, sizeof sentence, "transport %s refuses pools it cannot serve", name);
        mpi_tap_result(TAP_CHECK(status == HYDRA_ERR_UNSUPPORTED, "status %d: %s", status, hydra_error_detail()),
                       sentence);
        hydra_pool_free(&pool);
        return;
    }
#define RESULT(call, text)                                                                                             \
    snprintf(sentence, sizeof sentence, "%s: %s", name, text);                                                         \
    mpi_tap_result(call, sentence)
    RESULT(messages_of_every_size(), "everybody reaches everybody, from 0 bytes to 1 MiB");
    RESULT(one_tag_keeps_order(), "messages of one tag arrive in the order posted");
    RESULT(length_of_a_message(10, 100, HYDRA_SUCCESS), "a shorter message says how long it is");
    RESULT(length_of_a_message(100, 10, HYDRA_ERR_MISMATCH),
           "a message longer than its buffer is the receiver's error");
    RESULT(length_of_a_message(200000, 100000, HYDRA_ERR_MISMATCH), "so is a large one");
    if (strncmp(name, "delay", 5) == 0) {
        RESULT(delay_holds_messages_back(), "no message is seen before alpha + bytes/beta");
    }
    hydra_net_destroy(&net);
    hydra_pool_free(&pool);
}

/* One rank cannot make its side: all are told, and none waits for it when they undo theirs. */
static void one_rank_fails(const char *good_choice, const char *bad_choice)
{
    struct hydra_pool_settings settings = {.timeout = 5, .topology = "", .peers = MPI_COMM_NULL};
    bool culprit = mpi_tap_rank == mpi_tap_size - 1;
    char sentence[128];
    int status;

    snprintf(sentence, sizeof sentence, "one rank that fails to make transport %s fails all", good_choice);
    net = NULL;
    status = hydra_pool_create(MPI_COMM_WORLD, &settings, HYDRA_SUCCESS, &pool);
    if (status == HYDRA_SUCCESS)
        status = hydra_net_create(pool, culprit ? bad_choice : good_choice, HYDRA_NET_RING, &net);
    mpi_tap_result(TAP_CHECK(status == (culprit ? HYDRA_ERR_ARG : HYDRA_ERR_PEER) && net == NULL && !pool->broken,
                             "rank %d: status %d, broken %d: %s", mpi_tap_rank, status, pool->broken,
                             hydra_error_detail()),
                   sentence);
    hydra_pool_free(&pool);
}

static void delays_what_is_here(void)
{
    struct hydra_pool_settings settings = {.timeout = 5, .topology = "", .peers = MPI_COMM_NULL};
    int wanted = mpi_tap_size == 1 ? HYDRA_SUCCESS : HYDRA_ERR_UNSUPPORTED, status;

    status = hydra_pool_create(MPI_COMM_WORLD, &settings, HYDRA_SUCCESS, &pool);
    if (status == HYDRA_SUCCESS)
        status = hydra_net_create(pool, "delay:null", HYDRA_NET_RING, &net);
    mpi_tap_result(TAP_CHECK(status == wanted, "status %d: %s", status, hydra_error_detail()),
                   "delay refuses to wrap a transport that cannot serve the pool");
    hydra_net_destroy(&net);
    status = hydra_net_create(pool, "delay:mpi:now", HYDRA_NET_RING, &net);
    mpi_tap_result(TAP_CHECK(status == HYDRA_ERR_ARG, "status %d: %s", status, hydra_error_detail()),
                   "delay hands the rest of its choice on");
    hydra_net_destroy(&net);
    hydra_pool_free(&pool);
}

int main(int argc, char **argv)
{
    setenv("HYDRA_DCP_DELAY", "0.001,2e8", 1);
    mpi_tap_begin(&argc, &argv);
    for (int i = 0; hydra_net_at(i) != NULL; i++)
        test_transport(hydra_net_at(i)->name);
    if (mpi_tap_size > 1) {
        one_rank_fails("mpi", "mpi:pigeon");
        one_rank_fails("delay", "delay:pigeon");
        if (hydra_net_find("ucx")->version != NULL)
            one_rank_fails("ucx", "ucx:pigeon");
    }
    delays_what_is_here();
    return mpi_tap_done();
}
