/* net_mpi.c: transport over MPI's non-blocking point-to-point, on a communicator of its own. */
#include <limits.h>

#include "base/error.h"
#include "base/memory.h"
#include "comm/agree.h"
#include "net/transports.h"

struct mpi_net {
    struct hydra_net base;
    MPI_Comm comm;
    bool world; /* MPI_COMM_WORLD exists: not in a program of sessions alone */
};

static int probe(int size, enum hydra_net_use use, char *why, size_t len)
{
    (void)size, (void)use, (void)why, (void)len;
    return 50;
}

static void destroy(struct hydra_net **net)
{
    struct mpi_net *old = (struct mpi_net *)*net;

    *net = NULL;
    if (old == NULL)
        return;
    if (old->comm != MPI_COMM_NULL && !old->base.pool->broken)
        MPI_Comm_free(&old->comm);
    hydra_free(old);
}

static int create(struct hydra_pool *pool, const char *argument, struct hydra_net **net)
{
    struct mpi_net *made = hydra_calloc(1, sizeof *made);
    struct hydra_net *base = (struct hydra_net *)made;
    int status = HYDRA_SUCCESS, initialized = 0;

    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "the MPI transport");
    made->base = (struct hydra_net){.ops = &hydra_net_mpi, .pool = pool};
    made->comm = MPI_COMM_NULL;
    HYDRA_REQUIRE(argument[0] == '\0', HYDRA_ERR_ARG, "transport mpi takes no ':%s'", argument);
    HYDRA_TRY_MPI(MPI_Initialized(&initialized));
    made->world = initialized;
    HYDRA_TRY(hydra_comm_duplicate(hydra_comm_of(pool), "Hydra_Init: the MPI transport's communicator", &made->comm));
    *net = base;
    return HYDRA_SUCCESS;

fail:
    destroy(&base);
    return status;
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

static int post(struct hydra_net *net, void *buffer, struct hydra_net_request *request)
{
    MPI_Comm comm = ((struct mpi_net *)net)->comm;
    MPI_Datatype type = MPI_BYTE;
    int count = (int)request->room;
    int status = HYDRA_SUCCESS;

    if (request->room > INT_MAX) {
        HYDRA_TRY(large_type(request->room, &type));
        count = 1;
    }
    if (request->receive)
        HYDRA_TRY_MPI(MPI_Irecv(address(buffer), count, type, request->peer, request->tag, comm, &request->handle.mpi));
    else
        HYDRA_TRY_MPI(MPI_Isend(address(buffer), count, type, request->peer, request->tag, comm, &request->handle.mpi));

fail:
    if (type != MPI_BYTE && type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type); /* a posted message keeps it alive */
    return status;
}

static int post_send(struct hydra_net *net, const void *buffer, struct hydra_net_request *request)
{
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_MPI_BYTES, (double)request->room);
    hydra_count(&net->pool->counters, HYDRA_COUNTER_NET_MPI_MESSAGES, 1);
    return post(net, (void *)buffer, request);
}

/* MPI_Test whose errors return. MPICH raises those of a request at the handler of MPI_COMM_WORLD, whatever the request's
 * own communicator says; that handler is the caller's and usually aborts, so it is set aside for the call (0.1 us). */
static int test_quietly(MPI_Request *request, bool world, int *done, MPI_Status *mpi_status)
{
    MPI_Errhandler callers = MPI_ERRHANDLER_NULL;
    int code;

    if (!world)
        return MPI_Test(request, done, mpi_status);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &callers);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Test(request, done, mpi_status);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, callers);
    MPI_Errhandler_free(&callers);
    return code;
}

static int test(struct hydra_net *net, struct hydra_net_request *request)
{
    struct mpi_net *mpi = (struct mpi_net *)net;
    MPI_Status mpi_status;
    MPI_Count received = 0;
    int done = 0, class = MPI_SUCCESS;
    int code = test_quietly(&request->handle.mpi, mpi->world && request->receive, &done, &mpi_status);

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

const struct hydra_net_ops hydra_net_mpi = {
    .name = "mpi",
    .probe = probe,
    .create = create,
    .destroy = destroy,
    .post_send = post_send,
    .post_recv = post,
    .test = test,
};
