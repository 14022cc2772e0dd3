/* cmd_info.c: hydra-dcp info: the machine as the library sees it, and what it would choose. Alone or under mpiexec. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "base/bits.h"
#include "base/config.h"
#include "base/error.h"
#include "base/memory.h"
#include "tools/commands.h"
#include "tools/ranks.h"

static void print_config(void)
{
    for (int i = 0; i < HYDRA_CONFIG_COUNT; i++) {
        const struct hydra_config_variable *variable = &hydra_config_variables[i];
        bool set = getenv(variable->name) != NULL;

        printf("%-20s %-24s %-12s %s\n", variable->name, hydra_config_get(i)[0] == '\0' ? "''" : hydra_config_get(i),
               set ? "environment" : "default", variable->meaning);
    }
}

static void print_index(int64_t index)
{
    if (index < 0)
        printf(" %8s", "-");
    else
        printf(" %8" PRId64, index);
}

static void print_slots(int64_t count, const struct hydra_place *places, const int64_t *rank_of_slot)
{
    printf("\nSlots\n%8s %8s %8s %8s %8s %8s %8s\n", "slot", "rank", "node", "package", "numa", "core", "gpu");
    for (int64_t slot = 0; slot < count; slot++) {
        const struct hydra_place *place = &places[rank_of_slot[slot]];

        print_index(slot);
        print_index(rank_of_slot[slot]);
        print_index(place->node);
        print_index(place->package);
        print_index(place->numa);
        print_index(place->core);
        print_index(place->gpu);
        printf("\n");
    }
}

/* Every level of chunks: how many, how many straddle a node, and the first of those. */
static void print_chunks(int64_t count, const struct hydra_place *places, const int64_t *rank_of_slot)
{
    enum { MOST_NAMED = 8 };

    printf("\nChunks\n%8s %8s %8s %10s\n", "level", "slots", "chunks", "straddling");
    for (int level = 0; (int64_t)1 << level <= count; level++) {
        int64_t size = (int64_t)1 << level, straddling = hydra_place_straddling(count, places, rank_of_slot, level);
        int named = 0;

        printf("%8d %8" PRId64 " %8" PRId64 " %10" PRId64, level, size, count / size, straddling);
        for (int64_t first = 0; first + size <= count && named < MOST_NAMED; first += size)
            if (hydra_place_straddles(places, rank_of_slot, first, size))
                printf("%s%" PRId64 "-%" PRId64, named++ == 0 ? "  slots " : ", ", first, first + size - 1);
        printf("%s\n", straddling > named ? ", ..." : "");
    }
}

static const char *verdict(bool chosen, int score, bool refused, const char *why)
{
    return chosen ? "chosen" : score > 0 ? refused ? "not asked for" : "a lower score" : why;
}

static void print_transports(int size, const struct hydra_context *context, const struct hydra_settings *settings)
{
    const struct hydra_net_ops *chosen[2] = {context == NULL ? NULL : context->alltoall->ops,
                                             context == NULL ? NULL : context->ring->ops};
    const char *asked[2] = {settings->alltoall, settings->ring}, *const title[2] = {"all-to-all", "ring"};

    printf("\nTransports\n%12s %8s %8s  %s\n", "use", "name", "score", "");
    for (int use = 0; use < 2; use++)
        for (int i = 0; hydra_net_at(i) != NULL; i++) {
            char why[96] = "";
            int score = hydra_net_at(i)->probe(size, (enum hydra_net_use)use, why, sizeof why);

            printf("%12s %8s %8d  %s\n", title[use], hydra_net_at(i)->name, score,
                   verdict(chosen[use] == hydra_net_at(i), score, asked[use][0] != '\0', why));
        }
}

static void print_kernels(const struct hydra_context *context, const struct hydra_settings *settings)
{
    printf("\nKernels (threads %d)\n%12s %8s  %s\n", context == NULL ? 1 : context->threads, "name", "score", "");
    for (int i = 0; hydra_kernel_at(i) != NULL; i++) {
        char why[96] = "";
        int score = hydra_kernel_at(i)->probe(why, sizeof why);

        printf(
            "%12s %8d  %s\n", hydra_kernel_at(i)->name, score,
            verdict(context != NULL && context->kernel == hydra_kernel_at(i), score, settings->kernel[0] != '\0', why));
    }
}

static void print_versions(void)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, major, minor, patch;

    Hydra_Get_version(&major, &minor, &patch);
    MPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, "\n")] = '\0';
    printf("hydra-dcp %d.%d.%d\nMPI       %d.%d: %s\nhwloc     %s\n", major, minor, patch, MPI_VERSION, MPI_SUBVERSION,
           mpi, hydra_place_version());
    for (int i = 0; hydra_net_at(i) != NULL; i++)
        if (hydra_net_at(i)->version != NULL)
            printf("%-9s %s\n", hydra_net_at(i)->name, hydra_net_at(i)->version());
#ifdef _OPENMP
    printf("OpenMP    %d\n", _OPENMP);
#else
    printf("OpenMP    none\n");
#endif
}

static void print_pool(int64_t count, const struct hydra_place *places, const int64_t *rank_of_slot,
                       const char *topology)
{
    int64_t nodes = 0;

    for (int64_t rank = 0; rank < count; rank++)
        nodes = hydra_max(nodes, places[rank].node + 1);
    printf("\nPool: %" PRId64 " rank%s on %" PRId64 " node%s%s%s\n", count, count == 1 ? "" : "s", nodes,
           nodes == 1 ? "" : "s", topology[0] == '\0' ? "" : " of the synthetic machine ", topology);
    print_slots(count, places, rank_of_slot);
    print_chunks(count, places, rank_of_slot);
}

/* A pool that is not running: places on a synthetic machine. */
static int describe_synthetic(int64_t ranks, const char *topology)
{
    struct hydra_place *places = hydra_calloc(ranks, sizeof *places);
    int64_t *rank_of_slot = hydra_calloc(ranks, sizeof *rank_of_slot);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(places != NULL && rank_of_slot != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " ranks", ranks);
    HYDRA_REQUIRE(topology[0] != '\0', HYDRA_ERR_ARG, "--ranks needs --topology or HYDRA_DCP_TOPOLOGY");
    HYDRA_TRY(hydra_place_synthetic(topology, ranks, places));
    HYDRA_TRY(hydra_place_number_nodes(ranks, places));
    HYDRA_TRY(hydra_place_order(ranks, places, rank_of_slot));
    print_pool(ranks, places, rank_of_slot, topology);

fail:
    hydra_free(places);
    hydra_free(rank_of_slot);
    return status;
}

/* Places in full for people: also GPUs, and where an unbound rank may run. Collective; node numbers are the pool's. */
static int full_places(const struct hydra_context *context, struct hydra_place *places)
{
    struct hydra_pool *pool = context->pool;
    struct hydra_place here;
    int status = hydra_place_locate(true, &here);

    HYDRA_TRY(hydra_agree(hydra_comm_of(pool), status, "hydra-dcp info"));
    here.node = pool->places[pool->rank].node;
    HYDRA_TRY(hydra_allgather(hydra_comm_of(pool), &here.node, HYDRA_PLACE_FIELDS, &places[0].node, "hydra-dcp info"));

fail:
    return status;
}

/* The pool that runs this command. Every rank comes here; rank 0 prints. */
static int describe_pool(const char *topology)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;
    struct hydra_settings settings;
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    struct hydra_place *places = NULL;
    int status = HYDRA_SUCCESS;

    config.topology = topology;
    HYDRA_TRY(Hydra_Init(MPI_COMM_WORLD, &config, &context));
    hydra_settings_read(&config, &settings);
    places = hydra_calloc(context->pool->size, sizeof *places);
    HYDRA_REQUIRE(places != NULL, HYDRA_ERR_NOMEM, "%d ranks", context->pool->size);
    if (settings.topology[0] == '\0')
        HYDRA_TRY(full_places(context, places));
    if (context->pool->rank == 0) {
        print_pool(context->pool->size, settings.topology[0] == '\0' ? places : context->pool->places,
                   context->pool->rank_of_slot, settings.topology);
        print_transports(context->pool->size, context, &settings);
        print_kernels(context, &settings);
    }

fail:
    hydra_free(places);
    /* After an error MPI_Finalize releases it: Hydra_Finalize would forget the sentence. */
    return status == HYDRA_SUCCESS ? Hydra_Finalize(&context) : status;
}

struct request {
    bool config;
    const char *topology;
    int64_t ranks;
};

static int describe(int rank, int size, void *state)
{
    const struct request *r = state;

    (void)size;
    if (r->config) {
        if (rank == 0)
            print_config();
        return HYDRA_SUCCESS;
    }
    if (rank == 0)
        print_versions();
    if (r->ranks == 0)
        return describe_pool(r->topology);
    if (rank != 0)
        return HYDRA_SUCCESS;
    return describe_synthetic(r->ranks, r->topology != NULL ? r->topology : hydra_config_get(HYDRA_CONFIG_TOPOLOGY));
}

int hydra_cmd_info(int argc, char **argv)
{
    struct request r = {0};
    const struct tool_option options[] = {
        {"config", TOOL_FLAG, &r.config, NULL,
         "list every environment variable with its value and origin, nothing else", 0, 0},
        {"topology", TOOL_STRING, &r.topology, "TEXT", "synthetic machine instead of HYDRA_DCP_TOPOLOGY", 0, 0},
        {"ranks", TOOL_INT, &r.ranks, "N", "describe N ranks of a synthetic machine; 0: those of this run", 0, 1 << 24},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };

    return tool_run_ranks(
        argc, argv,
        "usage: [mpiexec -n N] hydra-dcp info [options]\n\nShow the slot map, the chunks and which of "
        "them straddle a node, transports and kernels with their scores, and versions.",
        options, describe, &r);
}
