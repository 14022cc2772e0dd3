/* net_mpi.c: transport over MPI's non-blocking point-to-point, on a communicator of its own.
 *
 * A message longer than its buffer must be an error and nothing worse, and the two common MPIs need help with that.
 * MPICH raises it at the handler of MPI_COMM_WORLD (test_quietly). Open MPI 4 writes past the buffer when it copies
 * directly between processes, so there a receive is posted only after a matched probe has told the length
 * (MATCH_FIRST).
 */
#include <limits.h>
#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "comm/agree.h"
#include "net/transports.h"

#ifdef OMPI_MAJOR_VERSION
enum { MATCH_FIRST = 1 };
#else
enum { MATCH_FIRST = 0 };
#endif

/* A message that came before its receive was posted. */
struct arrival {
    MPI_Message message;
    int64_t bytes;
    int source;
    int tag;
    struct arrival *next;
};

struct mpi_net {
    struct hydra_net base;
    MPI_Comm comm;
    bool world; /* MPI_COMM_WORLD exists: not in a program of sessions alone */
    /* with MATCH_FIRST; all under the progress lock */
    struct hydra_driver driver;
    struct hydra_net_request *waiting, **waiting_end; /* receives without a message, oldest first */
    struct arrival *arrived, **arrived_end;           /* messages without a receive, oldest first */
    struct arrival *unused;
};

static int probe(int size, enum hydra_net_use use, char *why, size_t len)
{
    (void)size, (void)use, (void)why, (void)len;
    return 50;
}

static void free_arrivals(struct arrival *first)
{
    for (struct arrival *next; first != NULL; first = next) {
        next = first->next;
        hydra_free(first);
    }
}

static void destroy(struct hydra_net **net)
{
    struct mpi_net *old = (struct mpi_net *)*net;

    *net = NULL;
    if (old == NULL)
        return;
    if (old->driver.drive != NULL)
        hydra_progress_remove(&old->driver);
    free_arrivals(old->arrived);
    free_arrivals(old->unused);
    if (old->comm != MPI_COMM_NULL && !old->base.pool->broken)
        MPI_Comm_free(&old->comm);
    hydra_free(old);
}

/* Bytes as one element of a type: MPI 3 counts are ints. Blocks of 2^30 bytes, then the rest. */
static int large_type(int64_t bytes, MPI_Datatype *type)
{
    enum { BLOCK = 1 << 30 };
    MPI_Datatype block = MPI_DATATYPE_NULL, types[2];
    MPI_Aint at[2] = {0, (MPI_Aint)(bytes / BLOCK * BLOCK)};
    int lengths[2] = {(int)(bytes / BLOCK), (int)(bytes % BLOCK)};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY_MPI(MPI_Type_contiguous(BLOCK, MPI_BYTE, &block));
    types[0] = block;
    types[1] = MPI_BYTE;
    HYDRA_TRY_MPI(MPI_Type_create_struct(2, lengths, at, types, type));
    HYDRA_TRY_MPI(MPI_Type_commit(type));

fail:
    if (block != MPI_DATATYPE_NULL)
        MPI_Type_free(&block);
    return status;
}

/* What MPI is told of a buffer: some MPIs refuse NULL even for 0 bytes. */
static void *address(const void *buffer)
{
    static char nothing;

    return buffer == NULL ? &nothing : (void *)buffer;
}

/* Hand a request to MPI: a send, a receive, or (message given) the receive of a matched message. */
static int post(struct mpi_net *mpi, struct hydra_net_request *request, int64_t bytes, MPI_Message *message)
{
    MPI_Datatype type = MPI_BYTE;
    void *buffer = address(request->buffer);
    int count = (int)bytes;
    int status = HYDRA_SUCCESS;

    if (bytes > INT_MAX) {
        HYDRA_TRY(large_type(bytes, &type));
        count = 1;
    }
    if (message != NULL)
        HYDRA_TRY_MPI(MPI_Imrecv(buffer, count, type, message, &request->handle.mpi));
    else if (request->receive)
        HYDRA_TRY_MPI(MPI_Irecv(buffer, count, type, request->peer, request->tag, mpi->comm, &request->handle.mpi));
    else
        HYDRA_TRY_MPI(MPI_Isend(buffer, count, type, request->peer, request->tag, mpi->comm, &request->handle.mpi));

fail:
    if (type != MPI_BYTE && type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type); /* a posted message keeps it alive */
    return status;
}

static int post_send(struct hydra_net *net, const void *buffer, struct hydra_net_request *request)
{
    (void)buffer;
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_MPI_BYTES, (double)request->room);
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_MPI_MESSAGES, 1);
    return post((struct mpi_net *)net, request, request->room, NULL);
}

/* Receive a matched message. One that is too long goes to a block of its own, so that its sender ends well. */
static void deliver(struct mpi_net *mpi, struct hydra_net_request *request, MPI_Message *message, int64_t bytes)
{
    if (bytes > request->room) {
        request->status = HYDRA_ERR_MISMATCH;
        request->buffer = hydra_alloc(bytes, 1);
    }
    if (request->buffer == NULL && bytes > 0)
        request->status = HYDRA_ERR_NOMEM;
    else if (post(mpi, request, bytes, message) != HYDRA_SUCCESS)
        request->status = HYDRA_ERR_NET;
    request->bytes = bytes;
    request->finished = true; /* matched */
}

/* First receive that waits for (source, tag), taken out of the list; NULL when there is none. */
static struct hydra_net_request *take_waiting(struct mpi_net *mpi, int source, int tag)
{
    for (struct hydra_net_request **at = &mpi->waiting; *at != NULL; at = &(*at)->next)
        if ((*at)->peer == source && (*at)->tag == tag) {
            struct hydra_net_request *taken = *at;

            *at = taken->next;
            if (mpi->waiting_end == &taken->next)
                mpi->waiting_end = at;
            return taken;
        }
    return NULL;
}

/* Keep a message until its receive is posted. Only running out of memory can fail: the message then is left to MPI. */
static void keep(struct mpi_net *mpi, MPI_Message message, int source, int tag, int64_t bytes)
{
    struct arrival *arrival = mpi->unused;

    if (arrival != NULL)
        mpi->unused = arrival->next;
    else if ((arrival = hydra_alloc(1, sizeof *arrival)) == NULL)
        return;
    *arrival = (struct arrival){.message = message, .bytes = bytes, .source = source, .tag = tag};
    *mpi->arrived_end = arrival;
    mpi->arrived_end = &arrival->next;
}

/* MATCH_FIRST: take in whatever has come. */
static int drive(void *state)
{
    struct mpi_net *mpi = state;
    int events = 0, found = 0;

    for (;;) {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status mpi_status;
        MPI_Count bytes = 0;
        struct hydra_net_request *request;

        if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, mpi->comm, &found, &message, &mpi_status) != MPI_SUCCESS || !found)
            return events;
        events++;
        MPI_Get_elements_x(&mpi_status, MPI_BYTE, &bytes);
        request = take_waiting(mpi, mpi_status.MPI_SOURCE, mpi_status.MPI_TAG);
        if (request == NULL)
            keep(mpi, message, mpi_status.MPI_SOURCE, mpi_status.MPI_TAG, (int64_t)bytes);
        else
            deliver(mpi, request, &message, (int64_t)bytes);
    }
}

static void post_matched(struct mpi_net *mpi, struct hydra_net_request *request)
{
    request->handle.mpi = MPI_REQUEST_NULL;
    hydra_progress_lock();
    for (struct arrival **at = &mpi->arrived; *at != NULL; at = &(*at)->next)
        if ((*at)->source == request->peer && (*at)->tag == request->tag) {
            struct arrival *arrival = *at;

            *at = arrival->next;
            if (mpi->arrived_end == &arrival->next)
                mpi->arrived_end = at;
            deliver(mpi, request, &arrival->message, arrival->bytes);
            arrival->next = mpi->unused;
            mpi->unused = arrival;
            goto out;
        }
    request->next = NULL;
    *mpi->waiting_end = request;
    mpi->waiting_end = &request->next;

out:
    hydra_progress_unlock();
}

static int post_recv(struct hydra_net *net, void *buffer, struct hydra_net_request *request)
{
    struct mpi_net *mpi = (struct mpi_net *)net;

    (void)buffer;
    if (!MATCH_FIRST)
        return post(mpi, request, request->room, NULL);
    post_matched(mpi, request);
    return HYDRA_SUCCESS;
}

/* MPI_Test whose errors return. MPICH raises those of a request at the handler of MPI_COMM_WORLD, whatever the
 * request's own communicator says; that handler is the caller's and usually aborts, so it is set aside for the call
 * (0.1 us). One thread at a time, or one would take the other's substitute for the caller's. */
static int test_quietly(MPI_Request *request, bool world, int *done, MPI_Status *mpi_status)
{
    static pthread_mutex_t one_thread = PTHREAD_MUTEX_INITIALIZER;
    MPI_Errhandler callers = MPI_ERRHANDLER_NULL;
    int code;

    if (!world)
        return MPI_Test(request, done, mpi_status);
    pthread_mutex_lock(&one_thread);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &callers);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Test(request, done, mpi_status);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, callers);
    MPI_Errhandler_free(&callers);
    pthread_mutex_unlock(&one_thread);
    return code;
}

/* MATCH_FIRST: look at a receive. */
static int test_matched(struct hydra_net_request *request)
{
    int status = HYDRA_SUCCESS, done = 0;
    bool matched;

    hydra_progress_lock();
    matched = request->finished;
    hydra_progress_unlock();
    if (!matched)
        return HYDRA_SUCCESS;
    HYDRA_TRY_MPI(MPI_Test(&request->handle.mpi, &done, MPI_STATUS_IGNORE));
    if (!done)
        return HYDRA_SUCCESS;
    if (request->status == HYDRA_ERR_MISMATCH) {
        hydra_free(request->buffer);
        status = hydra_net_too_long(request, request->bytes);
    } else if (request->status != HYDRA_SUCCESS) {
        status =
            hydra_error(request->status, "receiving %lld bytes from rank %d", (long long)request->bytes, request->peer);
    }

fail:
    request->active = false;
    request->status = status;
    return status;
}

static int test(struct hydra_net *net, struct hydra_net_request *request)
{
    struct mpi_net *mpi = (struct mpi_net *)net;
    MPI_Status mpi_status;
    MPI_Count received = 0;
    int done = 0, class = MPI_SUCCESS, code;

    if (MATCH_FIRST && request->receive)
        return test_matched(request);
    code = test_quietly(&request->handle.mpi, mpi->world && request->receive, &done, &mpi_status);
    if (code == MPI_SUCCESS && !done)
        return HYDRA_SUCCESS;
    request->active = false;
    request->status = HYDRA_SUCCESS;
    request->bytes = request->room;
    if (code == MPI_SUCCESS && request->receive) {
        code = MPI_Get_elements_x(&mpi_status, MPI_BYTE, &received);
        request->bytes = (int64_t)received;
    }
    if (code == MPI_SUCCESS)
        return HYDRA_SUCCESS;
    MPI_Error_class(code, &class);
    request->status = class == MPI_ERR_TRUNCATE ? hydra_net_too_long(request, -1) : hydra_mpi_error(code, "MPI_Test");
    return request->status;
}

/* Room for the messages of an all-to-all that come early, so that none is allocated then. */
static int start_matching(struct mpi_net *mpi)
{
    int64_t most = 64 + 4 * (int64_t)mpi->base.pool->size;

    mpi->waiting_end = &mpi->waiting;
    mpi->arrived_end = &mpi->arrived;
    for (int64_t i = 0; i < most; i++) {
        struct arrival *arrival = hydra_alloc(1, sizeof *arrival);

        if (arrival == NULL)
            return hydra_error(HYDRA_ERR_NOMEM, "%lld early messages", (long long)most);
        arrival->next = mpi->unused;
        mpi->unused = arrival;
    }
    mpi->driver = (struct hydra_driver){.drive = drive, .state = mpi};
    return HYDRA_SUCCESS;
}

/* What a rank can do by itself. */
static int prepare(struct hydra_pool *pool, const char *argument, struct mpi_net **net)
{
    struct mpi_net *made = hydra_calloc(1, sizeof *made);
    int status = HYDRA_SUCCESS, initialized = 0;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "the MPI transport");
    *net = made;
    made->base = (struct hydra_net){.ops = &hydra_net_mpi, .pool = pool};
    made->comm = MPI_COMM_NULL;
    HYDRA_REQUIRE(argument[0] == '\0', HYDRA_ERR_ARG, "transport mpi takes no ':%s'", argument);
    HYDRA_TRY_MPI(MPI_Initialized(&initialized));
    made->world = initialized;
    if (MATCH_FIRST)
        HYDRA_TRY(start_matching(made));

fail:
    return status;
}

static int create(struct hydra_pool *pool, const char *argument, struct hydra_net **net)
{
    struct mpi_net *made = NULL;
    struct hydra_net *base;
    struct hydra_comm comm = hydra_comm_of(pool);
    int status = prepare(pool, argument, &made);

    HYDRA_TRY(hydra_agree(comm, status, "Hydra_Init: the MPI transport"));
    HYDRA_TRY(hydra_comm_duplicate(comm, "Hydra_Init: the MPI transport's communicator", &made->comm));
    if (MATCH_FIRST)
        hydra_progress_add(&made->driver);
    *net = &made->base;
    return HYDRA_SUCCESS;

fail:
    base = (struct hydra_net *)made;
    destroy(&base);
    return status;
}

const struct hydra_net_ops hydra_net_mpi = {
    .name = "mpi",
    .probe = probe,
    .create = create,
    .destroy = destroy,
    .post_send = post_send,
    .post_recv = post_recv,
    .test = test,
};
