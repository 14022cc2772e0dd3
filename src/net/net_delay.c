/* net_delay.c: a wrapper that lets messages of another transport be seen only alpha + bytes/beta after they were sent,
 * at no CPU cost, so that overlap can be measured where a transfer is the ranks' own work. For one machine: it compares
 * clocks. A rank's messages leave one after another, as through one network card; messages to itself are not delayed.
 */
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parse.h"
#include "comm/agree.h"
#include "comm/keep.h"
#include "net/transports.h"

/* One delayed message: the time it may be seen travels before it, with the same tag. */
struct node {
    double visible_at; /* s, hydra_clock; receiver: of the message, sender: when the card has sent it */
    double stamp;      /* what the receiver is sent */
    struct hydra_net_request stamped;
    struct hydra_net_request payload;
    struct node *next; /* free list */
};

struct delay_net {
    struct hydra_net base;
    struct hydra_net *inner;
    double alpha;   /* s */
    double beta;    /* bytes/s */
    double free_at; /* s: when the card has sent everything */
    struct node *free;
};

static int probe(int size, enum hydra_net_use use, char *why, size_t len)
{
    (void)size, (void)use, (void)why, (void)len;
    return 1; /* below every real one: only by name */
}

static void destroy(struct hydra_net **net)
{
    struct delay_net *old = (struct delay_net *)*net;

    *net = NULL;
    if (old == NULL)
        return;
    hydra_net_destroy(&old->inner);
    for (struct node *next; old->free != NULL; old->free = next) {
        next = old->free->next;
        hydra_free(old->free);
    }
    hydra_free(old);
}

/* "alpha,beta" of HYDRA_DCP_DELAY. */
static int read_delay(double *alpha, double *beta)
{
    const char *text = hydra_config_get(HYDRA_CONFIG_DELAY);
    const char *comma = strchr(text, ',');
    char first[64] = "";
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(comma != NULL && (size_t)(comma - text) < sizeof first, HYDRA_ERR_FORMAT,
                  "HYDRA_DCP_DELAY: '%s' is not SECONDS,BYTES_PER_SECOND, which the delay transport needs", text);
    memcpy(first, text, (size_t)(comma - text));
    HYDRA_TRY(hydra_parse_double("HYDRA_DCP_DELAY (seconds)", first, 0, 3600, alpha));
    HYDRA_TRY(hydra_parse_double("HYDRA_DCP_DELAY (bytes per second)", comma + 1, 1, 1e18, beta));

fail:
    return status;
}

/* What a rank can do by itself. name: of the transport to delay, with what it is told */
static int prepare(struct hydra_pool *pool, const char *name, struct delay_net **net)
{
    const struct hydra_net_ops *inner = hydra_net_find(name);
    struct delay_net *made = hydra_calloc(1, sizeof *made);
    char why[96] = "";
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "the delay transport");
    *net = made;
    made->base = (struct hydra_net){.ops = &hydra_net_delay, .pool = pool};
    HYDRA_TRY(read_delay(&made->alpha, &made->beta));
    HYDRA_REQUIRE(inner != NULL && inner != &hydra_net_delay, HYDRA_ERR_ARG, "delay:%s: no such transport to delay",
                  name);
    HYDRA_REQUIRE(inner->probe(pool->size, HYDRA_NET_RING, why, sizeof why) > 0, HYDRA_ERR_UNSUPPORTED,
                  "delay:%s: not available: %s", name, why);

fail:
    return status;
}

static int create(struct hydra_pool *pool, const char *argument, struct hydra_net **net)
{
    const char *name = argument[0] == '\0' ? "mpi" : argument, *rest = strchr(name, ':');
    struct delay_net *made = NULL;
    int status = prepare(pool, name, &made);

    HYDRA_TRY(hydra_agree(hydra_comm_of(pool), status, "Hydra_Init: the delay transport"));
    HYDRA_TRY(hydra_net_find(name)->create(pool, rest == NULL ? "" : rest + 1, &made->inner));
    *net = &made->base;
    return HYDRA_SUCCESS;

fail:
    hydra_free(made); /* has no inner transport */
    return status;
}

static int take(struct delay_net *delay, struct node **node)
{
    struct node *taken = delay->free;

    if (taken == NULL) {
        taken = hydra_calloc(1, sizeof *taken);
        if (taken == NULL)
            return hydra_error(HYDRA_ERR_NOMEM, "a delayed message");
    } else {
        delay->free = taken->next;
    }
    *node = taken;
    return HYDRA_SUCCESS;
}

static int post_send(struct hydra_net *net, const void *buffer, struct hydra_net_request *request)
{
    struct delay_net *delay = (struct delay_net *)net;
    struct node *node = NULL;
    double now = hydra_clock();
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(take(delay, &node));
    node->visible_at = node->stamp = now;
    if (request->peer != net->pool->rank) {
        delay->free_at = (delay->free_at > now ? delay->free_at : now) + (double)request->room / delay->beta;
        node->visible_at = delay->free_at;
        node->stamp = delay->free_at + delay->alpha;
    }
    HYDRA_TRY(
        hydra_net_send(delay->inner, &node->stamp, sizeof node->stamp, request->peer, request->tag, &node->stamped));
    HYDRA_TRY(hydra_net_send(delay->inner, buffer, request->room, request->peer, request->tag, &node->payload));
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_DELAY_BYTES, (double)request->room);
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_DELAY_MESSAGES, 1);
    request->handle.pointer = node;

fail: /* a node that is under way is lost with the pool, which an error here breaks */
    return status;
}

static int post_recv(struct hydra_net *net, void *buffer, struct hydra_net_request *request)
{
    struct delay_net *delay = (struct delay_net *)net;
    struct node *node = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(take(delay, &node));
    HYDRA_TRY(hydra_net_recv(delay->inner, &node->visible_at, sizeof node->visible_at, request->peer, request->tag,
                             &node->stamped));
    HYDRA_TRY(hydra_net_recv(delay->inner, buffer, request->room, request->peer, request->tag, &node->payload));
    request->handle.pointer = node;

fail:
    return status;
}

static int test(struct hydra_net *net, struct hydra_net_request *request)
{
    struct delay_net *delay = (struct delay_net *)net;
    struct node *node = request->handle.pointer;
    int status = hydra_net_test(delay->inner, &node->stamped);

    if (status == HYDRA_SUCCESS)
        status = hydra_net_test(delay->inner, &node->payload);
    if (status == HYDRA_SUCCESS && (node->stamped.active || node->payload.active || hydra_clock() < node->visible_at))
        return HYDRA_SUCCESS;
    request->active = false;
    request->status = status;
    request->bytes = node->payload.bytes;
    if (status == HYDRA_SUCCESS) {
        node->next = delay->free;
        delay->free = node;
    } else {
        hydra_release(node, NULL); /* the transport may still write into it */
    }
    return status;
}

const struct hydra_net_ops hydra_net_delay = {
    .name = "delay",
    .probe = probe,
    .create = create,
    .destroy = destroy,
    .post_send = post_send,
    .post_recv = post_recv,
    .test = test,
};
