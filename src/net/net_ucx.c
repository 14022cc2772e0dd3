/* net_ucx.c: transport over UCX tag messages, with a context and worker of its own beside the MPI library's.
 *
 * Addresses go only where messages go: a rank that posts its first receive from a peer pushes its worker's address to
 * that peer over MPI, and a peer that sends earlier keeps its messages until the address has come. So a ring costs two
 * addresses a rank, whatever the size of the pool, and nobody waits for an answer while posting.
 *
 * "ucx:peer" asks UCX to report dead peers. It then gives up shared memory, so it is not the default. All worker calls
 * are made under the progress lock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "comm/agree.h"
#include "comm/keep.h"
#include "net/transports.h"

enum { TAG_BITS = 16 };
#define LONGEST_CLOSE      5.0   /* s that destroy gives the last acknowledgements */
#define RENDEZVOUS_IN_NODE "24k" /* bytes; from about there one copy by the kernel beats two through shared memory */

struct peer {
    ucp_ep_h ep;                      /* NULL: its address has not come */
    bool pushed;                      /* it has been sent ours */
    struct hydra_net_request *queued; /* sends that wait for its address, oldest first */
};

struct ucx_net {
    struct hydra_net base;
    struct hydra_driver driver;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_bytes;
    bool report_peers;
    int tag;             /* on the pool's communicator, for addresses */
    struct peer *peers;  /* [size] */
    int64_t queued;      /* sends in all queues */
    MPI_Request *pushes; /* [size] addresses under way */
    int npushes;
};

static int ucx_error(ucs_status_t code, const char *what)
{
    return hydra_error(HYDRA_ERR_NET, "%s: %s", what, ucs_status_string(code));
}

#define TRY_UCX(call)                                                                                                  \
    do {                                                                                                               \
        ucs_status_t code_ = (call);                                                                                   \
        if (code_ != UCS_OK) {                                                                                         \
            char name_[40];                                                                                            \
            snprintf(name_, sizeof name_, "%.*s", (int)strcspn(#call, "("), #call);                                    \
            status = ucx_error(code_, name_);                                                                          \
            goto fail;                                                                                                 \
        }                                                                                                              \
    } while (0)

static int probe(int size, enum hydra_net_use use, char *why, size_t len)
{
    if (size == 1) {
        snprintf(why, len, "a lone rank needs no network");
        return 0;
    }
    return use == HYDRA_NET_RING ? 60 : 40; /* MPI's 50 lies between */
}

/* Written last: whoever reads `finished` without the lock sees the rest. */
static void finish(struct hydra_net_request *request, ucs_status_t code, int64_t bytes)
{
    request->bytes = bytes;
    request->status = code == UCS_OK                      ? HYDRA_SUCCESS
                      : code == UCS_ERR_MESSAGE_TRUNCATED ? HYDRA_ERR_MISMATCH
                                                          : HYDRA_ERR_NET;
    atomic_store_explicit(&request->finished, true, memory_order_release);
}

static void on_sent(void *handle, ucs_status_t code, void *user)
{
    struct hydra_net_request *request = user;

    finish(request, code, request->room);
    ucp_request_free(handle);
}

static void on_received(void *handle, ucs_status_t code, const ucp_tag_recv_info_t *info, void *user)
{
    finish(user, code, code == UCS_OK ? (int64_t)info->length : -1);
    ucp_request_free(handle);
}

static void send_now(struct ucx_net *ucx, struct hydra_net_request *request)
{
    ucp_tag_t tag = (ucp_tag_t)ucx->base.pool->rank << TAG_BITS | (ucp_tag_t)request->tag;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = on_sent,
                                 .user_data = request};
    ucs_status_ptr_t handle =
        ucp_tag_send_nbx(ucx->peers[request->peer].ep, request->buffer, (size_t)request->room, tag, &param);

    if (!UCS_PTR_IS_PTR(handle)) /* sent at once, or failed: nobody calls back */
        finish(request, UCS_PTR_STATUS(handle), request->room);
}

static void on_dead_peer(void *user, ucp_ep_h ep, ucs_status_t code)
{
    struct ucx_net *ucx = user;

    for (int rank = 0; rank < ucx->base.pool->size; rank++)
        if (ucx->peers[rank].ep == ep)
            hydra_log(HYDRA_LEVEL_ERROR, "net", "UCX lost rank %d: %s", rank, ucs_status_string(code));
}

/* An address has come: connect, and send what waited for it. */
static int connect_peer(struct ucx_net *ucx, int rank, const ucp_address_t *address)
{
    struct peer *peer = &ucx->peers[rank];
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    int status = HYDRA_SUCCESS;

    if (ucx->report_peers) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler = (ucp_err_handler_t){.cb = on_dead_peer, .arg = ucx};
    }
    TRY_UCX(ucp_ep_create(ucx->worker, &params, &peer->ep));
    hydra_count(&ucx->base.pool->counters, HYDRA_COUNTER_NET_UCX_PEERS, 1);

fail:
    for (struct hydra_net_request *request = peer->queued, *next; request != NULL; request = next) {
        next = request->next; /* sending may finish it, and its memory is the caller's then */
        ucx->queued--;
        if (status == HYDRA_SUCCESS)
            send_now(ucx, request);
        else
            finish(request, UCS_ERR_UNREACHABLE, 0);
    }
    peer->queued = NULL;
    return status;
}

static int take_addresses(struct ucx_net *ucx)
{
    MPI_Comm comm = ucx->base.pool->comm;
    char *address = NULL;
    int status = HYDRA_SUCCESS;

    while (ucx->queued > 0) {
        MPI_Status mpi_status;
        int found = 0, bytes = 0;

        /* Only who holds the lock of the drivers receives by this tag. */
        HYDRA_TRY_MPI(MPI_Iprobe(MPI_ANY_SOURCE, ucx->tag, comm, &found, &mpi_status));
        if (!found)
            break;
        HYDRA_TRY_MPI(MPI_Get_count(&mpi_status, MPI_BYTE, &bytes));
        hydra_free(address);
        address = hydra_alloc(bytes, 1);
        if (address == NULL) /* the next turn tries again */
            break;
        HYDRA_TRY_MPI(MPI_Recv(address, bytes, MPI_BYTE, mpi_status.MPI_SOURCE, ucx->tag, comm, MPI_STATUS_IGNORE));
        HYDRA_TRY(connect_peer(ucx, mpi_status.MPI_SOURCE, (const ucp_address_t *)address));
    }

fail:
    hydra_free(address);
    return status;
}

static int drive(void *state)
{
    struct ucx_net *ucx = state;
    int events = 0;

    /* Addresses matter to who waits to send, and pushes to the peers of who receives. */
    if (ucx->queued > 0)
        take_addresses(ucx);
    for (int i = ucx->npushes - 1; i >= 0; i--) {
        int done = 0;

        MPI_Test(&ucx->pushes[i], &done, MPI_STATUS_IGNORE);
        if (done)
            ucx->pushes[i] = ucx->pushes[--ucx->npushes];
    }
    while (ucp_worker_progress(ucx->worker) != 0 && events < 16)
        events++;
    return events;
}

static int arm(void *state)
{
    struct ucx_net *ucx = state;
    int file = -1;

    if (ucx->queued > 0)
        return -1; /* what it waits for comes over MPI */
    if (ucp_worker_arm(ucx->worker) != UCS_OK)
        return HYDRA_DRIVER_BUSY;
    return ucp_worker_get_efd(ucx->worker, &file) == UCS_OK ? file : -1;
}

/* UCX's settings, from its environment variables. Between processes of one node it begins a rendezvous, which costs
 * system calls, far too early for the speed of shared memory; its threshold knows no difference between a node and a
 * network, so it is raised only where there is no network, and never over the user's. */
static ucs_status_t read_config(const struct hydra_pool *pool, ucp_config_t **config)
{
    bool network = hydra_place_straddles(pool->places, pool->rank_of_slot, 0, pool->size);
    ucs_status_t code = ucp_config_read(NULL, NULL, config);

    if (code == UCS_OK && !network && getenv("UCX_RNDV_THRESH") == NULL)
        code = ucp_config_modify(*config, "RNDV_THRESH", RENDEZVOUS_IN_NODE);
    return code;
}

/* Open context and worker: at the first message, because that takes ten times as long as the rest of Hydra_Init and
 * many programs never pass a message round a ring. */
static int open_worker(struct ucx_net *ucx)
{
    ucp_params_t params = {.field_mask =
                               UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
                           .estimated_num_eps = (size_t)ucx->base.pool->size,
                           .name = "hydra-dcp"};
    ucp_worker_params_t worker_params = {.field_mask =
                                             UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS,
                                         .thread_mode = UCS_THREAD_MODE_SERIALIZED,
                                         .events = UCP_WAKEUP_TAG_RECV | UCP_WAKEUP_TAG_SEND};
    ucp_config_t *config = NULL;
    int status = HYDRA_SUCCESS;

    TRY_UCX(read_config(ucx->base.pool, &config));
    TRY_UCX(ucp_init(&params, config, &ucx->context));
    TRY_UCX(ucp_worker_create(ucx->context, &worker_params, &ucx->worker));
    TRY_UCX(ucp_worker_get_address(ucx->worker, &ucx->address, &ucx->address_bytes));
    ucx->driver = (struct hydra_driver){.drive = drive, .arm = arm, .state = ucx};
    hydra_progress_add(&ucx->driver);
    ucp_config_release(config);
    return HYDRA_SUCCESS;

fail:
    if (config != NULL)
        ucp_config_release(config);
    if (ucx->worker != NULL)
        ucp_worker_destroy(ucx->worker);
    if (ucx->context != NULL)
        ucp_cleanup(ucx->context);
    ucx->worker = NULL;
    ucx->context = NULL;
    return status;
}

static int post_send(struct hydra_net *net, const void *buffer, struct hydra_net_request *request)
{
    struct ucx_net *ucx = (struct ucx_net *)net;
    struct peer *peer = &ucx->peers[request->peer];
    int status = HYDRA_SUCCESS;

    (void)buffer;
    if (ucx->worker == NULL)
        HYDRA_TRY(open_worker(ucx));
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_UCX_BYTES, (double)request->room);
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_UCX_MESSAGES, 1);
    hydra_progress_lock();
    if (peer->ep != NULL) {
        send_now(ucx, request);
    } else {
        struct hydra_net_request **end = &peer->queued;

        while (*end != NULL)
            end = &(*end)->next;
        *end = request;
        ucx->queued++;
    }
    hydra_progress_unlock();

fail:
    return status;
}

/* Send a peer our address, once. */
static int push_address(struct ucx_net *ucx, int rank)
{
    int status = HYDRA_SUCCESS;

    if (ucx->peers[rank].pushed)
        return HYDRA_SUCCESS;
    HYDRA_TRY_MPI(MPI_Isend(ucx->address, (int)ucx->address_bytes, MPI_BYTE, rank, ucx->tag, ucx->base.pool->comm,
                            &ucx->pushes[ucx->npushes]));
    ucx->npushes++;
    ucx->peers[rank].pushed = true;

fail:
    return status;
}

static int post_recv(struct hydra_net *net, void *buffer, struct hydra_net_request *request)
{
    struct ucx_net *ucx = (struct ucx_net *)net;
    ucp_tag_t tag = (ucp_tag_t)request->peer << TAG_BITS | (ucp_tag_t)request->tag;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                 .cb.recv = on_received,
                                 .user_data = request};
    ucs_status_ptr_t handle;
    int status = HYDRA_SUCCESS;

    if (ucx->worker == NULL)
        HYDRA_TRY(open_worker(ucx));
    hydra_progress_lock();
    status = push_address(ucx, request->peer);
    if (status == HYDRA_SUCCESS) {
        handle = ucp_tag_recv_nbx(ucx->worker, buffer, (size_t)request->room, tag, ~(ucp_tag_t)0, &param);
        if (UCS_PTR_IS_ERR(handle)) /* only the callback knows the length of what is here already (UCX 1.13) */
            finish(request, UCS_PTR_STATUS(handle), -1);
    }
    hydra_progress_unlock();

fail:
    return status;
}

static int test(struct hydra_net *net, struct hydra_net_request *request)
{
    (void)net;
    if (!atomic_load_explicit(&request->finished, memory_order_acquire))
        return HYDRA_SUCCESS;
    request->active = false;
    if (request->status == HYDRA_ERR_MISMATCH)
        return hydra_net_too_long(request, request->bytes);
    if (request->status != HYDRA_SUCCESS)
        return hydra_error(request->status, "UCX could not %s rank %d", request->receive ? "receive from" : "send to",
                           request->peer);
    return HYDRA_SUCCESS;
}

/* Close every endpoint; what is still under way gets LONGEST_CLOSE at most. */
static void close_peers(struct ucx_net *ucx)
{
    double began = hydra_clock();

    for (int rank = 0; rank < ucx->base.pool->size; rank++) {
        ucp_request_param_t param = {0};
        ucs_status_ptr_t handle;

        if (ucx->peers[rank].ep == NULL)
            continue;
        handle = ucp_ep_close_nbx(ucx->peers[rank].ep, &param);
        while (UCS_PTR_IS_PTR(handle) && ucp_request_check_status(handle) == UCS_INPROGRESS &&
               hydra_clock() - began < LONGEST_CLOSE)
            ucp_worker_progress(ucx->worker);
        if (UCS_PTR_IS_PTR(handle))
            ucp_request_free(handle);
    }
}

static void destroy(struct hydra_net **net)
{
    struct ucx_net *old = (struct ucx_net *)*net;
    bool broken;

    *net = NULL;
    if (old == NULL)
        return;
    broken = old->base.pool->broken;
    if (!broken) {
        hydra_progress_lock();
        close_peers(old);
        hydra_progress_unlock();
        /* Peers may need this worker to close theirs: it goes when all have. */
        broken = hydra_agree(hydra_comm_of(old->base.pool), HYDRA_SUCCESS, "closing UCX") != HYDRA_SUCCESS;
    }
    if (old->worker != NULL)
        hydra_progress_remove(&old->driver);
    if (broken) {
        hydra_release(old, NULL); /* unfinished messages still use the worker and its tables */
        return;
    }
    if (old->address != NULL)
        ucp_worker_release_address(old->worker, old->address);
    if (old->worker != NULL)
        ucp_worker_destroy(old->worker);
    if (old->context != NULL)
        ucp_cleanup(old->context);
    hydra_free(old->peers);
    hydra_free(old->pushes);
    hydra_free(old);
}

/* What a rank can do by itself. */
static int prepare(struct hydra_pool *pool, const char *argument, struct ucx_net **net)
{
    struct ucx_net *made = hydra_calloc(1, sizeof *made);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "the UCX transport");
    *net = made;
    made->base = (struct hydra_net){.ops = &hydra_net_ucx, .pool = pool};
    made->report_peers = strcmp(argument, "peer") == 0;
    HYDRA_REQUIRE(argument[0] == '\0' || made->report_peers, HYDRA_ERR_ARG,
                  "transport ucx takes ':peer' (report dead peers), not ':%s'", argument);
    made->peers = hydra_calloc(pool->size, sizeof *made->peers);
    made->pushes = hydra_calloc(pool->size, sizeof *made->pushes);
    HYDRA_REQUIRE(made->peers != NULL && made->pushes != NULL, HYDRA_ERR_NOMEM, "UCX's tables for %d ranks",
                  pool->size);

fail:
    return status;
}

static int create(struct hydra_pool *pool, const char *argument, struct hydra_net **net)
{
    struct ucx_net *made = NULL;
    int status = prepare(pool, argument, &made);

    HYDRA_TRY(hydra_agree(hydra_comm_of(pool), status, "Hydra_Init: the UCX transport"));
    made->tag = pool->next_tag++;
    *net = &made->base;
    return HYDRA_SUCCESS;

fail:
    if (made != NULL) { /* no worker yet */
        hydra_free(made->peers);
        hydra_free(made->pushes);
    }
    hydra_free(made);
    return status;
}

static const char *version(void)
{
    return ucp_get_version_string();
}

const struct hydra_net_ops hydra_net_ucx = {
    .name = "ucx",
    .probe = probe,
    .create = create,
    .destroy = destroy,
    .post_send = post_send,
    .post_recv = post_recv,
    .test = test,
    .version = version,
};
