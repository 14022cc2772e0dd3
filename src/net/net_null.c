/* net_null.c: transport of a lone rank: messages to itself are copied when both sides are posted. The template. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "net/transports.h"

/* Posted requests without their counterpart, oldest first. At most one list has requests of a given tag. */
struct null_net {
    struct hydra_net base;
    struct hydra_net_request *sends;
    struct hydra_net_request *receives;
};

static int probe(int size, enum hydra_net_use use, char *why, size_t len)
{
    (void)use;
    if (size > 1)
        strncpy(why, "it serves pools of one rank", len - 1);
    return size == 1 ? 100 : 0;
}

static void destroy(struct hydra_net **net)
{
    hydra_free(*net);
    *net = NULL;
}

static int create(struct hydra_pool *pool, const char *argument, struct hydra_net **net)
{
    struct null_net *made = hydra_calloc(1, sizeof *made);

    if (made == NULL)
        return hydra_error(HYDRA_ERR_NOMEM, "the null transport");
    if (argument[0] != '\0') {
        hydra_free(made);
        return hydra_error(HYDRA_ERR_ARG, "transport null takes no ':%s'", argument);
    }
    made->base = (struct hydra_net){.ops = &hydra_net_null, .pool = pool};
    *net = &made->base;
    return HYDRA_SUCCESS;
}

/* Take the oldest request of a tag out of a list, or NULL. */
static struct hydra_net_request *take(struct hydra_net_request **list, int tag)
{
    for (struct hydra_net_request **at = list; *at != NULL; at = &(*at)->next)
        if ((*at)->tag == tag) {
            struct hydra_net_request *found = *at;

            *at = found->next;
            found->next = NULL;
            return found;
        }
    return NULL;
}

static void append(struct hydra_net_request **list, struct hydra_net_request *request)
{
    while (*list != NULL)
        list = &(*list)->next;
    request->next = NULL;
    *list = request;
}

static void deliver(struct hydra_net_request *send, struct hydra_net_request *receive)
{
    send->finished = receive->finished = true;
    send->status = receive->status = HYDRA_SUCCESS;
    send->bytes = receive->bytes = send->room;
    if (send->room > receive->room)
        receive->status = HYDRA_ERR_MISMATCH; /* test says the sentence */
    else if (send->room > 0)
        memcpy(receive->buffer, send->buffer, (size_t)send->room);
}

static int post_send(struct hydra_net *net, const void *buffer, struct hydra_net_request *request)
{
    struct null_net *null = (struct null_net *)net;
    struct hydra_net_request *receive = take(&null->receives, request->tag);

    (void)buffer;
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_NULL_BYTES, (double)request->room);
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_NULL_MESSAGES, 1);
    if (receive == NULL)
        append(&null->sends, request);
    else
        deliver(request, receive);
    return HYDRA_SUCCESS;
}

static int post_recv(struct hydra_net *net, void *buffer, struct hydra_net_request *request)
{
    struct null_net *null = (struct null_net *)net;
    struct hydra_net_request *send = take(&null->sends, request->tag);

    (void)buffer;
    if (send == NULL)
        append(&null->receives, request);
    else
        deliver(send, request);
    return HYDRA_SUCCESS;
}

/* Posting the counterpart finished it, or it is not there yet. */
static int test(struct hydra_net *net, struct hydra_net_request *request)
{
    (void)net;
    if (!request->finished)
        return HYDRA_SUCCESS;
    request->active = false;
    return request->status == HYDRA_SUCCESS ? HYDRA_SUCCESS : hydra_net_too_long(request, request->bytes);
}

const struct hydra_net_ops hydra_net_null = {
    .name = "null",
    .probe = probe,
    .create = create,
    .destroy = destroy,
    .post_send = post_send,
    .post_recv = post_recv,
    .test = test,
};
