/* test_init.c: contexts come up, fail on every rank when one rank fails, and go away. */
#include <stdlib.h>
#include <string.h>

#include "tests/mpi_tap.h"
#include "api/context.h"
#include "base/error.h"
#include "base/log.h"

static const char *detail(void)
{
    static char text[1024];

    Hydra_Error_detail(text, sizeof text);
    return text;
}

/* Hydra_Init fails with `mine` on `culprit` and HYDRA_ERR_PEER on the others, and leaves the handle alone. */
static bool init_fails(const Hydra_Config *config, int culprit, int mine, const char *word)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    int status = Hydra_Init(MPI_COMM_WORLD, config, &context);
    int expected = mpi_tap_rank == culprit ? mine : HYDRA_ERR_PEER;
    bool good = TAP_CHECK(status == expected, "status %d, not %d: %s", status, expected, detail());

    good &= TAP_CHECK(context == HYDRA_CONTEXT_NULL, "a handle was set");
    if (mpi_tap_rank == culprit)
        good &= TAP_CHECK(strstr(detail(), word) != NULL, "'%s' does not name %s", detail(), word);
    else
        good &= TAP_CHECK(strstr(detail(), "rank") != NULL, "'%s' names no rank", detail());
    return good;
}

static bool init_works(void)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    int size = 0, rank = -1, slot = -1, slots[64] = {0}, sum = 0;
    double bytes = -1;
    int status = Hydra_Init(MPI_COMM_WORLD, NULL, &context);
    bool good = TAP_CHECK(status == HYDRA_SUCCESS, "%s", detail());

    if (!good)
        return false;
    good &= Hydra_Context_query(context, &size, &rank, &slot) == HYDRA_SUCCESS;
    good &= TAP_CHECK(size == mpi_tap_size && rank == mpi_tap_rank, "size %d rank %d", size, rank);
    MPI_Allgather(&slot, 1, MPI_INT, slots, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        sum |= 1 << slots[i];
    good &= TAP_CHECK(sum == (1 << size) - 1, "slots are no permutation: mask %x", (unsigned)sum);
    good &= TAP_CHECK(Hydra_Counter_get(context, "net.mpi.bytes", &bytes) == HYDRA_SUCCESS && bytes >= 0, "%g bytes",
                      bytes);
    good &= TAP_CHECK(Hydra_Counter_get(context, "no.such", &bytes) == HYDRA_ERR_ARG, "an unknown counter was found");
    good &= TAP_CHECK(Hydra_Finalize(&context) == HYDRA_SUCCESS && context == HYDRA_CONTEXT_NULL, "%s", detail());
    return good;
}

/* Chunk communicators of every level: the right members in slot order, none where the chunk would pass the pool. */
static bool chunks_are_right(Hydra_Context context)
{
    const struct hydra_pool *pool = context->pool;
    bool good = true;

    for (int64_t size = 1; size <= pool->size;
         size = size * 2 > pool->size && size < pool->size ? pool->size : size * 2) {
        int64_t first = pool->slot / size * size;
        MPI_Comm comm = hydra_pool_group_comm(pool, first, size);
        int members = 0, mine = -1, top = -1;
        bool whole = first + size <= pool->size;

        good &= TAP_CHECK((comm != MPI_COMM_NULL) == whole, "chunk of %d at slot %d", (int)size, (int)first);
        if (comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_size(comm, &members);
        MPI_Comm_rank(comm, &mine);
        MPI_Allreduce(&pool->slot, &top, 1, MPI_INT, MPI_MAX, comm);
        good &= TAP_CHECK(members == size && mine == pool->slot - first && top == first + size - 1,
                          "chunk of %d: %d members, %d is %d", (int)size, members, pool->slot, mine);
        good &= TAP_CHECK(hydra_pool_group_comm(pool, first == 0 ? size : 0, size) == MPI_COMM_NULL ||
                              first + size > pool->size || size == pool->size,
                          "a chunk without this slot was handed out");
    }
    return good;
}

static bool chunks_on(const char *topology)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    bool good;

    config.topology = topology;
    good = TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, &config, &context) == HYDRA_SUCCESS, "%s", detail());
    if (good)
        good = chunks_are_right(context);
    Hydra_Finalize(&context);
    return good;
}

/* Set a variable on one rank alone, see Hydra_Init fail everywhere, unset it. */
static bool bad_variable(const char *name, const char *value, int status)
{
    int culprit = mpi_tap_size - 1;
    bool good;

    if (mpi_tap_rank == culprit)
        setenv(name, value, 1);
    good = init_fails(NULL, culprit, status, name);
    unsetenv(name);
    return good;
}

static int lines_about_it;

static void listen(int level, const char *module, const char *text, void *user)
{
    (void)module, (void)user;
    lines_about_it += level == HYDRA_LOG_WARN && strstr(text, "HYDRA_DCP_TIMOUT=5") != NULL;
}

static bool misspelt_variables_are_named(void)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    bool good;

    setenv("HYDRA_DCP_TIMOUT", "5", 1);
    lines_about_it = 0;
    Hydra_Set_log(listen, NULL, HYDRA_LOG_WARN);
    good = TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, &context) == HYDRA_SUCCESS, "%s", detail());
    good &= TAP_CHECK(lines_about_it == (mpi_tap_rank == 0), "%d lines", lines_about_it);
    Hydra_Set_log(NULL, NULL, HYDRA_LOG_WARN);
    unsetenv("HYDRA_DCP_TIMOUT");
    Hydra_Finalize(&context);
    return good;
}

/* The ranks are asked for different things: every rank hears of it. */
static bool different_rings(void)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    Hydra_Config config = HYDRA_CONFIG_INIT;
    int status;

    config.ring = mpi_tap_rank == 0 ? "mpi" : "";
    status = Hydra_Init(MPI_COMM_WORLD, &config, &context);
    if (mpi_tap_size == 1)
        return Hydra_Finalize(&context) == HYDRA_SUCCESS;
    return TAP_CHECK(status == HYDRA_ERR_MISMATCH, "status %d: %s", status, detail());
}

static bool unknown_everywhere(const char *alltoall, const char *kernel, const char *topology, const char *word)
{
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    Hydra_Config config = HYDRA_CONFIG_INIT;
    int status;

    config.alltoall = alltoall;
    config.kernel = kernel;
    config.topology = topology;
    status = Hydra_Init(MPI_COMM_WORLD, &config, &context);
    return TAP_CHECK(status == HYDRA_ERR_ARG || status == HYDRA_ERR_FORMAT, "status %d: %s", status, detail()) &&
           TAP_CHECK(strstr(detail(), word) != NULL, "'%s' does not name %s", detail(), word);
}

/* Two contexts over the world and one over its halves, made and released in mixed order. */
static bool overlapping_contexts(void)
{
    Hydra_Context world = HYDRA_CONTEXT_NULL, again = HYDRA_CONTEXT_NULL, half = HYDRA_CONTEXT_NULL, copy;
    MPI_Comm comm;
    int size = 0;
    bool good = true;

    MPI_Comm_split(MPI_COMM_WORLD, mpi_tap_rank % 2, 0, &comm);
    good &= TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, &world) == HYDRA_SUCCESS, "%s", detail());
    good &= TAP_CHECK(Hydra_Init(comm, NULL, &half) == HYDRA_SUCCESS, "%s", detail());
    good &= TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, &again) == HYDRA_SUCCESS, "%s", detail());
    MPI_Comm_free(&comm); /* the context has its own */
    good &= TAP_CHECK(Hydra_Context_query(half, &size, NULL, NULL) == HYDRA_SUCCESS, "%s", detail());
    good &= TAP_CHECK(size == (mpi_tap_size + 1 - mpi_tap_rank % 2) / 2, "%d ranks in the half", size);
    copy = world;
    good &= TAP_CHECK(Hydra_Finalize(&world) == HYDRA_SUCCESS, "%s", detail());
    good &=
        TAP_CHECK(Hydra_Context_query(copy, &size, NULL, NULL) == HYDRA_ERR_ARG, "a released context still answers");
    good &= TAP_CHECK(Hydra_Finalize(&copy) == HYDRA_ERR_ARG, "a context was released twice");
    good &= TAP_CHECK(Hydra_Context_query(again, &size, NULL, NULL) == HYDRA_SUCCESS && size == mpi_tap_size, "%s",
                      detail());
    good &= TAP_CHECK(Hydra_Finalize(&half) == HYDRA_SUCCESS, "%s", detail());
    good &= TAP_CHECK(Hydra_Finalize(&again) == HYDRA_SUCCESS, "%s", detail());
    return good;
}

/* Were one communicator lost each time, MPICH's 2,048 would not last. Blocking splits of many ranks on few cores take
 * long, so it is many for few ranks alone. */
static bool many_contexts(void)
{
    int count = mpi_tap_size <= 2 ? 150 : 3;
    bool good = true;

    for (int i = 0; good && i < count; i++) {
        Hydra_Context context = HYDRA_CONTEXT_NULL;

        good &= TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, &context) == HYDRA_SUCCESS, "context %d: %s", i, detail());
        good &= TAP_CHECK(Hydra_Finalize(&context) == HYDRA_SUCCESS, "context %d: %s", i, detail());
    }
    return good;
}

int main(int argc, char **argv)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;
    Hydra_Context forgotten = HYDRA_CONTEXT_NULL;
    int culprit;

    mpi_tap_begin(&argc, &argv);
    culprit = mpi_tap_size / 2;
    mpi_tap_result(init_works(), "a context comes up with every slot once and goes away");
    mpi_tap_result(chunks_on("1*[pu:8]"), "every level has its chunk communicator, in slot order");
    mpi_tap_result(chunks_on("3*[pu:2]/round-robin"), "so it has after a round-robin launch");
    if (mpi_tap_rank == culprit)
        config.size = 3;
    mpi_tap_result(init_fails(&config, culprit, HYDRA_ERR_ARG, "HYDRA_CONFIG_INIT"),
                   "a config without its size fails on every rank");
    config = (Hydra_Config)HYDRA_CONFIG_INIT;
    config.timeout = mpi_tap_rank == culprit ? -1 : 0;
    mpi_tap_result(init_fails(&config, culprit, HYDRA_ERR_ARG, "timeout"),
                   "a negative timeout on one rank fails on every rank");
    mpi_tap_result(
        TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, mpi_tap_rank == culprit ? NULL : &forgotten) != HYDRA_SUCCESS &&
                      forgotten == HYDRA_CONTEXT_NULL,
                  "%s", detail()),
        "a NULL handle on one rank fails on every rank");
    mpi_tap_result(bad_variable("HYDRA_DCP_TIMEOUT", "soon", HYDRA_ERR_FORMAT),
                   "a bad HYDRA_DCP_TIMEOUT on one rank fails on every rank");
    mpi_tap_result(bad_variable("HYDRA_DCP_LOG", "loud", HYDRA_ERR_FORMAT),
                   "a bad HYDRA_DCP_LOG on one rank fails on every rank");
    mpi_tap_result(bad_variable("HYDRA_DCP_TOPOLOGY", "2*[moon:6]", HYDRA_ERR_FORMAT),
                   "a bad HYDRA_DCP_TOPOLOGY on one rank fails on every rank");
    mpi_tap_result(bad_variable("HYDRA_DCP_LOG", "info:attention", HYDRA_ERR_FORMAT),
                   "a module of HYDRA_DCP_LOG that is none on one rank fails on every rank");
    mpi_tap_result(misspelt_variables_are_named(), "a misspelt HYDRA_DCP_ variable is named once, by rank 0");
    setenv("HYDRA_DCP_RING", "delay", 1);
    setenv("HYDRA_DCP_DELAY", "0,1e9", 1);
    if (mpi_tap_rank == culprit)
        setenv("HYDRA_DCP_DELAY", "1e9", 1);
    mpi_tap_result(init_fails(NULL, culprit, HYDRA_ERR_FORMAT, "HYDRA_DCP_DELAY"),
                   "a bad HYDRA_DCP_DELAY on one rank fails on every rank");
    unsetenv("HYDRA_DCP_RING");
    unsetenv("HYDRA_DCP_DELAY");
    mpi_tap_result(different_rings(), "ranks that ask for different transports hear of it");
    mpi_tap_result(unknown_everywhere("pigeon", NULL, NULL, "pigeon"), "an unknown transport is named");
    mpi_tap_result(unknown_everywhere(NULL, "abacus", NULL, "abacus"), "an unknown kernel is named");
    mpi_tap_result(unknown_everywhere(NULL, NULL, "2*[moon:6]", "moon"), "an unknown machine is quoted");
    mpi_tap_result(TAP_CHECK(Hydra_Init(MPI_COMM_NULL, NULL, &forgotten) == HYDRA_ERR_ARG, "%s", detail()),
                   "a null communicator is an error");
    mpi_tap_result(overlapping_contexts(), "contexts on overlapping communicators are independent");
    mpi_tap_result(many_contexts(), "contexts made one after another use up no communicator");
    mpi_tap_result(Hydra_Init(MPI_COMM_WORLD, NULL, &forgotten) == HYDRA_SUCCESS,
                   "MPI_Finalize releases a forgotten context");
    hydra_log_set(NULL, NULL, 0); /* its warning would be a stray line of the test */
    return mpi_tap_done();
}
