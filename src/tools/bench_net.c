/* bench_net.c: hydra-dcp bench net: ring exchanges over every transport against a memcpy, message
 * size by message size. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "net/net.h"
#include "tools/commands.h"
#include "tools/median.h"
#include "tools/ranks.h"

enum { MOST_WAYS = 8, MOST_REPETITIONS = 101, LEAST_MOVED = 4 << 20 };

int hydra_bench_net(int argc, char **argv);

struct bench {
    struct hydra_pool *pool;
    struct hydra_net *nets[MOST_WAYS]; /* [0] is NULL: memcpy */
    int ways;
    char *out, *in;
    int64_t repetitions;
    double seconds[MOST_WAYS][MOST_REPETITIONS];
};

/* One way of moving `bytes` from this rank to the next, `times` times, each after the last has arrived. */
static int move(struct bench *bench, int way, int64_t bytes, int64_t times)
{
    int size = bench->pool->size, rank = bench->pool->rank;
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < times; i++) {
        struct hydra_net_request requests[2] = {0};

        if (way == 0) {
            memcpy(bench->in, bench->out, (size_t)bytes);
            __asm__ volatile("" : : "r"(bench->in) : "memory");
            continue;
        }
        HYDRA_TRY(hydra_net_recv(bench->nets[way], bench->in, bytes, (rank + size - 1) % size, 0, &requests[0]));
        HYDRA_TRY(hydra_net_send(bench->nets[way], bench->out, bytes, (rank + 1) % size, 0, &requests[1]));
        HYDRA_TRY(hydra_net_wait_all(bench->nets[way], requests, 2, "hydra-dcp bench net", -1));
    }

fail:
    return status;
}

/* Bandwidth of a way: bytes over the median time. */
static double speed(const struct bench *bench, int way, int64_t bytes)
{
    double seconds[MOST_REPETITIONS];

    memcpy(seconds, bench->seconds[way], (size_t)bench->repetitions * sizeof *seconds);
    return (double)bytes / tool_median(seconds, bench->repetitions);
}

/* Median over the repetitions of way a's bandwidth over way b's in the same repetition. */
static double ratio(const struct bench *bench, int a, int b)
{
    double ratios[MOST_REPETITIONS];

    for (int64_t i = 0; i < bench->repetitions; i++)
        ratios[i] = bench->seconds[b][i] / bench->seconds[a][i];
    return tool_median(ratios, bench->repetitions);
}

/* Repetitions of all ways in turn; a repetition's time is that of the slowest rank. */
static int measure(struct bench *bench, int64_t bytes)
{
    int64_t times = hydra_max(1, LEAST_MOVED / bytes);
    int status = HYDRA_SUCCESS;

    for (int64_t repetition = -1; repetition < bench->repetitions; repetition++) /* the first warms up */
        for (int way = 0; way < bench->ways; way++) {
            double began, seconds;

            MPI_Barrier(bench->pool->comm);
            began = hydra_clock();
            HYDRA_TRY(move(bench, way, bytes, times));
            seconds = tool_slowest((hydra_clock() - began) / (double)times);
            if (repetition >= 0)
                bench->seconds[way][repetition] = seconds;
        }

fail:
    return status;
}

static void print_header(const struct bench *bench)
{
    printf("Ring of %d ranks, median of %" PRId64
           " interleaved repetitions; GB/s that each rank sends (and receives)\n\n%10s %10s",
           bench->pool->size, bench->repetitions, "bytes", "memcpy");
    for (int way = 1; way < bench->ways; way++)
        printf(" %10s", bench->nets[way]->ops->name);
    for (int way = 1; way < bench->ways; way++)
        printf(" %7s/memcpy", bench->nets[way]->ops->name);
    for (int way = 2; way < bench->ways; way++)
        printf(" %7s/%s", bench->nets[way]->ops->name, bench->nets[1]->ops->name);
    printf("\n");
}

static void print_row(const struct bench *bench, int64_t bytes)
{
    printf("%10" PRId64, bytes);
    for (int way = 0; way < bench->ways; way++)
        printf(" %10.3f", speed(bench, way, bytes) * 1e-9);
    for (int way = 1; way < bench->ways; way++)
        printf(" %14.2f", ratio(bench, way, 0));
    for (int way = 2; way < bench->ways; way++)
        printf(" %11.2f", ratio(bench, way, 1));
    printf("\n");
    fflush(stdout);
}

/* MPI first, then every other real transport that is here. */
static int open_transports(struct bench *bench)
{
    int status = HYDRA_SUCCESS;

    bench->ways = 1;
    HYDRA_TRY(hydra_net_create(bench->pool, "mpi", HYDRA_NET_RING, &bench->nets[bench->ways]));
    bench->ways++;
    for (int i = 0; hydra_net_at(i) != NULL && bench->ways < MOST_WAYS; i++) {
        const char *name = hydra_net_at(i)->name;
        char why[96];

        if (strcmp(name, "mpi") == 0 || strcmp(name, "delay") == 0 ||
            hydra_net_at(i)->probe(bench->pool->size, HYDRA_NET_RING, why, sizeof why) <= 0)
            continue;
        HYDRA_TRY(hydra_net_create(bench->pool, name, HYDRA_NET_RING, &bench->nets[bench->ways]));
        bench->ways++;
    }

fail:
    return status;
}

struct request {
    int64_t least, greatest, repetitions;
};

static int run(int rank, int size, void *state)
{
    const struct request *r = state;
    struct hydra_pool_settings settings = {.timeout = 60, .topology = "", .peers = MPI_COMM_NULL};
    struct bench *bench = hydra_calloc(1, sizeof *bench);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(bench != NULL, HYDRA_ERR_NOMEM, "the benchmark's tables");
    (void)rank;
    bench->repetitions = r->repetitions;
    HYDRA_REQUIRE(size > 1, HYDRA_ERR_ARG, "a ring needs ranks: mpiexec -n 2 hydra-dcp bench net");
    HYDRA_TRY(hydra_pool_create(MPI_COMM_WORLD, &settings, HYDRA_SUCCESS, &bench->pool));
    bench->out = hydra_alloc(r->greatest, 1);
    bench->in = hydra_alloc(r->greatest, 1);
    HYDRA_REQUIRE(bench->out != NULL && bench->in != NULL, HYDRA_ERR_NOMEM, "two buffers of %" PRId64 " bytes",
                  r->greatest);
    memset(bench->out, 1, (size_t)r->greatest);
    memset(bench->in, 2, (size_t)r->greatest);
    HYDRA_TRY(open_transports(bench));
    if (bench->pool->rank == 0)
        print_header(bench);
    for (int64_t bytes = r->least; bytes <= r->greatest; bytes *= 4) {
        HYDRA_TRY(measure(bench, bytes));
        if (bench->pool->rank == 0)
            print_row(bench, bytes);
    }

fail:
    for (int way = bench == NULL ? 0 : bench->ways - 1; way > 0; way--)
        hydra_net_destroy(&bench->nets[way]);
    if (bench != NULL) {
        hydra_pool_free(&bench->pool);
        hydra_free(bench->out);
        hydra_free(bench->in);
    }
    hydra_free(bench);
    return status;
}

int hydra_bench_net(int argc, char **argv)
{
    struct request r = {.least = 1024, .greatest = 64 << 20, .repetitions = 9};
    const struct tool_option options[] = {
        {"least", TOOL_INT, &r.least, "BYTES", "shortest message", 1, 1 << 30},
        {"greatest", TOOL_INT, &r.greatest, "BYTES", "longest message; sizes grow fourfold", 1, 1 << 30},
        {"reps", TOOL_INT, &r.repetitions, "N", "repetitions of every size, odd", 1, MOST_REPETITIONS},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };

    return tool_run_ranks(
        argc, argv,
        "usage: mpiexec -n 2 hydra-dcp bench net [options]\n\nCompare the transports of the ring with "
        "each other and with a memcpy that every rank runs at the same time.",
        options, run, &r);
}
