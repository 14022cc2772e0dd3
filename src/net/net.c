/* net.c: the table of transports, the choice among them, and posting through it. */
#include "net/net.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "comm/agree.h"
#include "net/transports.h"

/* Best first by intent; scores decide. */
static const struct hydra_net_ops *const transports[] = {&hydra_net_null, &hydra_net_ucx, &hydra_net_mpi,
                                                         &hydra_net_delay};
enum { TRANSPORTS = sizeof transports / sizeof transports[0] };

const struct hydra_net_ops *hydra_net_at(int index)
{
    return index < 0 || index >= TRANSPORTS ? NULL : transports[index];
}

const struct hydra_net_ops *hydra_net_find(const char *name)
{
    size_t length = strcspn(name, ":");

    for (int i = 0; i < TRANSPORTS; i++)
        if (strlen(transports[i]->name) == length && strncmp(transports[i]->name, name, length) == 0)
            return transports[i];
    return NULL;
}

static int unknown(const char *variable, const char *choice)
{
    char known[128] = "";

    for (int i = 0; i < TRANSPORTS; i++) {
        strncat(known, i > 0 ? " " : "", sizeof known - strlen(known) - 1);
        strncat(known, transports[i]->name, sizeof known - strlen(known) - 1);
    }
    return hydra_error(HYDRA_ERR_ARG, "%s: no transport is called '%s' (there are: %s)", variable, choice, known);
}

/* The transport whose least score over the ranks is greatest, or the named one; 0 scores are refused. */
static int choose(struct hydra_pool *pool, const char *choice, enum hydra_net_use use,
                  const struct hydra_net_ops **chosen)
{
    const char *variable = use == HYDRA_NET_RING ? "HYDRA_DCP_RING" : "HYDRA_DCP_ALLTOALL";
    const struct hydra_net_ops *named = choice[0] == '\0' ? NULL : hydra_net_find(choice);
    struct hydra_comm comm = hydra_comm_of(pool);
    int64_t scores[TRANSPORTS];
    char why[TRANSPORTS][96];
    int status = HYDRA_SUCCESS, best = 0;

    if (choice[0] != '\0' && named == NULL)
        status = unknown(variable, choice);
    HYDRA_TRY(hydra_agree(comm, status, variable));
    for (int i = 0; i < TRANSPORTS; i++) {
        snprintf(why[i], sizeof why[i], "another rank lacks it");
        scores[i] = transports[i]->probe(pool->size, use, why[i], sizeof why[i]);
    }
    HYDRA_TRY(hydra_least(comm, scores, TRANSPORTS, variable));
    for (int i = 0; i < TRANSPORTS; i++)
        if (named != NULL ? transports[i] == named : scores[i] > scores[best])
            best = i;
    HYDRA_REQUIRE(scores[best] > 0, HYDRA_ERR_UNSUPPORTED, "%s: transport %s is not available: %s", variable,
                  transports[best]->name, why[best]);
    *chosen = transports[best];

fail:
    return status;
}

int hydra_net_create(struct hydra_pool *pool, const char *choice, enum hydra_net_use use, struct hydra_net **net)
{
    const struct hydra_net_ops *ops = NULL;
    struct hydra_net *made = NULL;
    const char *argument;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(choose(pool, choice, use, &ops));
    argument = strchr(choice, ':');
    HYDRA_TRY(ops->create(pool, argument == NULL ? "" : argument + 1, &made));
    hydra_log(HYDRA_LEVEL_INFO, "net", "%s over %s", use == HYDRA_NET_RING ? "ring" : "all-to-all", ops->name);
    *net = made;

fail:
    return status;
}

void hydra_net_destroy(struct hydra_net **net)
{
    if (*net != NULL)
        (*net)->ops->destroy(net);
}

static int post(struct hydra_net *net, void *buffer, struct hydra_net_request *request)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(request->peer >= 0 && request->peer < net->pool->size && request->tag >= 0 &&
                      request->tag < HYDRA_NET_TAGS && request->room >= 0,
                  HYDRA_ERR_INTERNAL, "a message of %" PRId64 " bytes, rank %d, tag %d over %s", request->room,
                  request->peer, request->tag, net->ops->name);
    request->buffer = buffer;
    request->active = true;
    HYDRA_TRY(request->receive ? net->ops->post_recv(net, buffer, request) : net->ops->post_send(net, buffer, request));
    return HYDRA_SUCCESS;

fail:
    request->active = false;
    return status;
}

int hydra_net_send(struct hydra_net *net, const void *buffer, int64_t bytes, int peer, int tag,
                   struct hydra_net_request *request)
{
    *request = (struct hydra_net_request){.peer = peer, .tag = tag, .room = bytes};
    return post(net, (void *)buffer, request);
}

int hydra_net_recv(struct hydra_net *net, void *buffer, int64_t bytes, int peer, int tag,
                   struct hydra_net_request *request)
{
    *request = (struct hydra_net_request){.receive = true, .peer = peer, .tag = tag, .room = bytes};
    return post(net, buffer, request);
}

int hydra_net_test(struct hydra_net *net, struct hydra_net_request *request)
{
    return request->active ? net->ops->test(net, request) : HYDRA_SUCCESS;
}

int hydra_net_test_all(struct hydra_net *net, struct hydra_net_request *requests, int64_t count, bool *done,
                       bool *moved)
{
    int first = HYDRA_SUCCESS;

    *done = true;
    if (moved != NULL)
        *moved = false;
    for (int64_t i = 0; i < count; i++) {
        int status;

        if (!requests[i].active)
            continue;
        status = net->ops->test(net, &requests[i]);
        if (first == HYDRA_SUCCESS)
            first = status;
        *done &= !requests[i].active;
        if (moved != NULL)
            *moved |= !requests[i].active;
    }
    return first;
}

/* Peer of the first request that is missing, -1 when none is. */
static int missing_peer(const struct hydra_net_request *requests, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (requests[i].active)
            return requests[i].peer;
    return -1;
}

int hydra_net_wait_all(struct hydra_net *net, struct hydra_net_request *requests, int64_t count, const char *step,
                       int64_t microbatch)
{
    struct hydra_wait wait;
    bool done = false, moved = false;
    int status = hydra_net_test_all(net, requests, count, &done, &moved);

    if (done || status != HYDRA_SUCCESS)
        return status;
    hydra_wait_begin(&wait, net->pool, step, missing_peer(requests, count), microbatch);
    while (!done && status == HYDRA_SUCCESS) {
        status = hydra_wait_turn(&wait, moved);
        if (status == HYDRA_SUCCESS)
            status = hydra_net_test_all(net, requests, count, &done, &moved);
        if (moved)
            wait.peer = missing_peer(requests, count);
    }
    hydra_wait_end(&wait);
    return status;
}

int hydra_net_too_long(const struct hydra_net_request *request, int64_t bytes)
{
    char size[48] = "";

    if (bytes >= 0)
        snprintf(size, sizeof size, " of %" PRId64 " bytes", bytes);
    return hydra_error(HYDRA_ERR_MISMATCH,
                       "a message%s from rank %d, tag %d, is longer than the %" PRId64 " bytes expected", size,
                       request->peer, request->tag, request->room);
}
