/* bench_attn.c: hydra-dcp bench attn: what the attention engine costs beside its kernels, as ratios of interleaved
 * runs.
 *
 * Run it under mpiexec: scaling and R = 2 use the first two ranks, R = 4 the first four. Idle ranks sleep. */
#include <malloc.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/error.h"
#include "base/memory.h"
#include "hydra.h"
#include "tools/median.h"
#include "tools/ranks.h"

int hydra_bench_attn(int argc, char **argv);

enum { HEADS = 8, DIM = 64, BUFFERS = 9, MOST_REPETITIONS = 101 };

struct settings {
    int64_t tokens, repetitions;
    const char *what;
};

static const char usage[] =
    "usage: mpiexec -n 4 hydra-dcp bench attn [options]\n\n"
    "Measure the attention engine, forward and backward, 8 heads of dim 64, fp32, causal:\n"
    "  scaling  2 ranks against 1, for U = 2 and R = 2, over what two copies of a multiply-add loop reach\n"
    "  overlap  share of the ring hidden behind computation, over the delay transport, R = 2 and R = 4\n"
    "  move     dispatch and collect against MPI_Alltoallv of the same bytes\n"
    "  memory   workspace against what the design allows";

static int rank, size;

/* One attention layer over one document on the ranks of a communicator. */
struct layer {
    Hydra_Context context;
    Hydra_Schedule schedule;
    Hydra_Attn attn;
    float *buffer[BUFFERS]; /* q k v out lse dout dq dk dv */
};

static int plan(int64_t tokens, int ranks, int factor, Hydra_Schedule *schedule)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;

    options.budget = tokens;
    options.min_degree = options.max_degree = ranks;
    options.heads = HEADS;
    options.factor = factor;
    return Hydra_Plan_serial(ranks, 1, &tokens, &options, schedule);
}

static int layer_make(MPI_Comm comm, const char *ring, int64_t tokens, int factor, struct layer *layer)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;
    Hydra_Attn_config attn = HYDRA_ATTN_CONFIG_INIT;
    int ranks, status = HYDRA_SUCCESS;
    int64_t elements;

    memset(layer, 0, sizeof *layer);
    config.ring = ring;
    attn.heads = attn.kv_heads = HEADS;
    attn.head_dim = DIM;
    MPI_Comm_size(comm, &ranks);
    elements = (tokens / ranks + 1) * HEADS * DIM;
    HYDRA_TRY(Hydra_Init(comm, &config, &layer->context));
    HYDRA_TRY(plan(tokens, ranks, factor, &layer->schedule));
    HYDRA_TRY(Hydra_Attn_create(layer->context, &attn, &layer->attn));
    for (int i = 0; i < BUFFERS; i++) {
        layer->buffer[i] = hydra_calloc(elements, sizeof(float));
        HYDRA_REQUIRE(layer->buffer[i] != NULL, HYDRA_ERR_NOMEM, "%lld elements", (long long)elements);
        for (int64_t e = 0; e < elements; e++)
            layer->buffer[i][e] = (float)((e * 2654435761u + (unsigned)i * 97u) % 1000u) * 1e-3f - 0.5f;
    }

fail:
    return status;
}

static int layer_forward(struct layer *l)
{
    return Hydra_Attn_forward(l->attn, l->schedule, 0, l->buffer[0], l->buffer[1], l->buffer[2], l->buffer[3],
                              l->buffer[4], HYDRA_SAVED_NULL);
}

static int layer_backward(struct layer *l)
{
    return Hydra_Attn_backward(l->attn, l->schedule, 0, l->buffer[0], l->buffer[1], l->buffer[2], l->buffer[3],
                               l->buffer[4], HYDRA_SAVED_NULL, l->buffer[5], l->buffer[6], l->buffer[7], l->buffer[8]);
}

static void layer_free(struct layer *l)
{
    for (int i = 0; i < BUFFERS; i++)
        hydra_free(l->buffer[i]);
    Hydra_Attn_free(&l->attn);
    Hydra_Schedule_free(&l->schedule);
    Hydra_Finalize(&l->context);
}

/* Wait for all ranks without using a core. */
static void meet(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        usleep(50);
}

typedef int (*work_function)(void *);

/* Seconds until the last of the first `ranks` ranks has done the work. */
static int timed(int ranks, work_function work, void *argument, double *seconds)
{
    double began;
    int status = HYDRA_SUCCESS;

    meet();
    began = MPI_Wtime();
    if (rank < ranks)
        status = work(argument);
    *seconds = rank < ranks ? MPI_Wtime() - began : 0;
    meet();
    *seconds = tool_slowest(*seconds);
    return status;
}

static int both(void *layer)
{
    int status = layer_forward(layer);

    return status == HYDRA_SUCCESS ? layer_backward(layer) : status;
}

static int forward_only(void *layer)
{
    return layer_forward(layer);
}

static int backward_only(void *layer)
{
    return layer_backward(layer);
}

/* Multiply-adds in registers: what a core does when nothing else is in its way. */
static int multiply_add(void *rounds)
{
    volatile double sink;
    double x[16];

    for (int i = 0; i < 16; i++)
        x[i] = 1 + 1e-9 * i;
    for (int64_t n = *(int64_t *)rounds; n > 0; n--)
        for (int i = 0; i < 16; i++)
            x[i] = x[i] * 0.999999999 + 1e-9;
    for (int i = 1; i < 16; i++)
        x[0] += x[i];
    sink = x[0];
    (void)sink;
    return HYDRA_SUCCESS;
}

static int bench_scaling(const struct settings *s)
{
    static double ratios[2][MOST_REPETITIONS], loops[MOST_REPETITIONS];
    struct layer alone = {0}, pair[2] = {{0}, {0}};
    int64_t rounds = 60000000;
    MPI_Comm two;
    int status = HYDRA_SUCCESS;

    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &two);
    if (rank == 0)
        HYDRA_TRY(layer_make(MPI_COMM_SELF, NULL, s->tokens, 1, &alone));
    for (int ring = 0; rank < 2 && ring < 2; ring++)
        HYDRA_TRY(layer_make(two, NULL, s->tokens, ring ? 1 : 2, &pair[ring]));
    for (int64_t r = -1; r < s->repetitions; r++) { /* the first round warms up */
        double one_loop, two_loops, one, two_ranks;

        HYDRA_TRY(timed(1, multiply_add, &rounds, &one_loop));
        HYDRA_TRY(timed(2, multiply_add, &rounds, &two_loops));
        HYDRA_TRY(timed(1, both, &alone, &one));
        for (int ring = 0; ring < 2; ring++) {
            HYDRA_TRY(timed(2, both, &pair[ring], &two_ranks));
            if (r >= 0)
                ratios[ring][r] = one / two_ranks / (2 * one_loop / two_loops);
        }
        if (r >= 0)
            loops[r] = 2 * one_loop / two_loops;
    }
    if (rank == 0) {
        printf("scaling: %lld tokens, 2 ranks against 1; two copies of a multiply-add loop reach %.2f\n",
               (long long)s->tokens, tool_median(loops, s->repetitions));
        printf("  U = 2: %.3f of that   (wanted: 0.93)\n", tool_median(ratios[0], s->repetitions));
        printf("  R = 2: %.3f of that   (wanted: 0.93)\n", tool_median(ratios[1], s->repetitions));
        layer_free(&alone);
    }
    for (int ring = 0; rank < 2 && ring < 2; ring++)
        layer_free(&pair[ring]);
    if (two != MPI_COMM_NULL)
        MPI_Comm_free(&two);

fail:
    return status;
}

/* Seconds that the slowest rank has waited for the ring so far, and bytes that the busiest has sent. */
static int ring_so_far(struct layer *layer, int ranks, double *waited, double *bytes)
{
    double both[2] = {0, 0};
    int status = HYDRA_SUCCESS;

    if (rank < ranks) {
        HYDRA_TRY(Hydra_Counter_get(layer->context, "attn.ring.exposed_seconds", &both[0]));
        HYDRA_TRY(Hydra_Counter_get(layer->context, "attn.ring.bytes", &both[1]));
    }
    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    *waited = both[0];
    *bytes = both[1];

fail:
    return status;
}

/* Share of the ring hidden: by what it adds to the time, which the machine's noise blurs, and by what ranks waited. */
struct hidden {
    double by_time, by_waiting;
};

/* One direction without communication, and with a ring that takes half of that. */
static int overlap_once(MPI_Comm comm, int ranks, int64_t tokens, work_function work, int64_t repetitions,
                        struct hidden *hidden)
{
    static double without[MOST_REPETITIONS], hides[MOST_REPETITIONS], waits[MOST_REPETITIONS];
    struct layer free_ring = {0}, slow_ring = {0};
    double bytes = 0, before = 0, waited, ignored, base, seconds;
    char delay[64];
    int status = HYDRA_SUCCESS;

    setenv("HYDRA_DCP_DELAY", "0,1e18", 1);
    if (rank < ranks) {
        HYDRA_TRY(layer_make(comm, "delay", tokens, 1, &free_ring));
        HYDRA_TRY(layer_forward(&free_ring)); /* lse for a backward alone; warms up */
    }
    for (int64_t r = 0; r < repetitions; r++) {
        HYDRA_TRY(ring_so_far(&free_ring, ranks, &ignored, &before));
        HYDRA_TRY(timed(ranks, work, &free_ring, &without[r]));
        HYDRA_TRY(ring_so_far(&free_ring, ranks, &ignored, &bytes));
    }
    bytes -= before;
    base = without[0]; /* the least: what the computation takes when nothing else runs */
    for (int64_t r = 1; r < repetitions; r++)
        base = without[r] < base ? without[r] : base;
    snprintf(delay, sizeof delay, "0,%.17g", bytes / (0.5 * base));
    setenv("HYDRA_DCP_DELAY", delay, 1);
    if (rank < ranks) {
        HYDRA_TRY(layer_make(comm, "delay", tokens, 1, &slow_ring));
        HYDRA_TRY(layer_forward(&slow_ring));
    }
    for (int64_t r = 0; r < repetitions; r++) {
        double free_seconds;

        HYDRA_TRY(timed(ranks, work, &free_ring, &free_seconds));
        HYDRA_TRY(ring_so_far(&slow_ring, ranks, &before, &ignored));
        HYDRA_TRY(timed(ranks, work, &slow_ring, &seconds));
        HYDRA_TRY(ring_so_far(&slow_ring, ranks, &waited, &ignored));
        hides[r] = 1 - (seconds - free_seconds) / (0.5 * base);
        waits[r] = 1 - (waited - before) / (0.5 * base);
    }
    *hidden = (struct hidden){tool_median(hides, repetitions), tool_median(waits, repetitions)};
    if (rank < ranks) {
        layer_free(&slow_ring);
        layer_free(&free_ring);
    }

fail:
    return status;
}

static int bench_overlap(const struct settings *s)
{
    int status = HYDRA_SUCCESS;

    if (rank == 0)
        printf("overlap: %lld tokens, ring time half of the computation; share of it that is hidden\n",
               (long long)s->tokens);
    for (int ranks = 2; ranks <= 4 && ranks <= size; ranks += 2) {
        struct hidden forward = {0, 0}, backward = {0, 0};
        MPI_Comm comm;

        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
        HYDRA_TRY(overlap_once(comm, ranks, s->tokens, forward_only, s->repetitions, &forward));
        HYDRA_TRY(overlap_once(comm, ranks, s->tokens, backward_only, s->repetitions, &backward));
        if (rank == 0)
            printf(
                "  R = %d: forward %.0f %% by time, %.0f %% by waiting; backward %.0f %%, %.0f %%   (wanted: 80 %%)\n",
                ranks, 100 * forward.by_time, 100 * forward.by_waiting, 100 * backward.by_time,
                100 * backward.by_waiting);
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    }

fail:
    return status;
}

/* Documents of every rank, dispatched and collected; the same bytes by MPI_Alltoallv. */
struct traffic {
    Hydra_Context context;
    Hydra_Schedule schedule;
    char *loaded, *shard;
    int *send, *send_at, *receive, *receive_at; /* bytes */
};

enum { TOKEN_BYTES = 2048 };

static int move_both(void *argument)
{
    struct traffic *t = argument;
    int status = Hydra_Dispatch(t->context, t->schedule, 0, TOKEN_BYTES, t->loaded, t->shard);

    return status == HYDRA_SUCCESS ? Hydra_Collect(t->context, t->schedule, 0, TOKEN_BYTES, t->shard, t->loaded)
                                   : status;
}

static int alltoall_both(void *argument)
{
    struct traffic *t = argument;

    MPI_Alltoallv(t->loaded, t->send, t->send_at, MPI_BYTE, t->shard, t->receive, t->receive_at, MPI_BYTE,
                  MPI_COMM_WORLD);
    MPI_Alltoallv(t->shard, t->receive, t->receive_at, MPI_BYTE, t->loaded, t->send, t->send_at, MPI_BYTE,
                  MPI_COMM_WORLD);
    return HYDRA_SUCCESS;
}

/* Who sends how much to whom: dispatch each token's loading rank and count. */
static int count_traffic(struct traffic *t, int64_t loaded, int64_t held)
{
    int *from = hydra_calloc(loaded, sizeof *from), *to = hydra_calloc(held, sizeof *to);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(from != NULL && to != NULL, HYDRA_ERR_NOMEM, "tokens");
    for (int64_t i = 0; i < loaded; i++)
        from[i] = rank;
    HYDRA_TRY(Hydra_Dispatch(t->context, t->schedule, 0, sizeof *from, from, to));
    for (int64_t i = 0; i < held; i++)
        t->receive[to[i]] += TOKEN_BYTES;
    MPI_Alltoall(t->receive, 1, MPI_INT, t->send, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 1; r < size; r++) {
        t->send_at[r] = t->send_at[r - 1] + t->send[r - 1];
        t->receive_at[r] = t->receive_at[r - 1] + t->receive[r - 1];
    }

fail:
    hydra_free(from);
    hydra_free(to);
    return status;
}

static int bench_move(const struct settings *s)
{
    static double ratios[MOST_REPETITIONS];
    int64_t lengths[4] = {s->tokens / 4, s->tokens / 8, s->tokens / 2, s->tokens / 8};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    struct traffic t = {0};
    Hydra_Microbatch view;
    int *counts = hydra_calloc(4 * (int64_t)size, sizeof *counts);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(counts != NULL, HYDRA_ERR_NOMEM, "%d ranks", size);
    t.send = counts, t.send_at = counts + size, t.receive = counts + 2 * size, t.receive_at = counts + 3 * size;
    options.budget = 2 * s->tokens;
    options.min_degree = options.max_degree = size;
    options.heads = 1;
    HYDRA_TRY(Hydra_Init(MPI_COMM_WORLD, NULL, &t.context));
    HYDRA_TRY(Hydra_Plan(t.context, 4, lengths, &options, &t.schedule));
    HYDRA_TRY(Hydra_Schedule_microbatch(t.schedule, 0, rank, &view));
    t.loaded = hydra_calloc(s->tokens, TOKEN_BYTES);
    t.shard = hydra_calloc(view.tokens, TOKEN_BYTES);
    HYDRA_REQUIRE(t.loaded != NULL && t.shard != NULL, HYDRA_ERR_NOMEM, "tokens");
    HYDRA_TRY(count_traffic(&t, s->tokens, view.tokens));
    for (int64_t r = -1; r < s->repetitions; r++) {
        double moved, exchanged;

        HYDRA_TRY(timed(size, alltoall_both, &t, &exchanged));
        HYDRA_TRY(timed(size, move_both, &t, &moved));
        if (r >= 0)
            ratios[r] = exchanged / moved;
    }
    if (rank == 0)
        printf("move: %d ranks with %lld tokens of %d bytes each, dispatch and collect\n  %.2f of MPI_Alltoallv's "
               "throughput   "
               "(wanted: 0.5)\n",
               size, (long long)s->tokens, TOKEN_BYTES, tool_median(ratios, s->repetitions));
    Hydra_Microbatch_free(&view);
    Hydra_Schedule_free(&t.schedule);
    Hydra_Finalize(&t.context);

fail:
    hydra_free(t.loaded);
    hydra_free(t.shard);
    hydra_free(counts);
    return status;
}

/* Bytes that this process has allocated. */
static double allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return (double)info.uordblks + (double)info.hblkhd;
}

/* What the design allows a rank beyond the caller's buffers: T tokens, all of them on `ranks` = U * R ranks. */
static double allowed_bytes(int64_t tokens, int ranks, int factor)
{
    double rows = (double)((tokens + ranks - 1) / ranks), tensor = rows * HEADS * DIM * sizeof(float);
    double statistics = rows * HEADS * sizeof(float), bytes = 0;

    if (factor > 1)
        bytes += 7 * tensor + 2 * statistics       /* q, k, v, dout, dq, dk, dv; lse, delta */
                 + tensor * (factor - 1) / factor; /* one staging buffer */
    if (ranks > factor)
        bytes += 2 * 2 * tensor + 2 * 2 * tensor; /* two ring buffers of K,V and two of dK,dV */
    return bytes + statistics;                    /* this rank's own delta */
}

static int bench_memory(const struct settings *s)
{
    int status = HYDRA_SUCCESS;

    if (rank == 0)
        printf("memory: %lld tokens, workspace of a rank for forward and backward\n", (long long)s->tokens);
    for (int factor = 1; factor <= size; factor *= 2) {
        struct layer layer = {0};
        double before, used, allowed = allowed_bytes(s->tokens, size, factor);

        if (size % factor != 0)
            continue;
        HYDRA_TRY(layer_make(MPI_COMM_WORLD, NULL, s->tokens, factor, &layer));
        before = allocated();
        HYDRA_TRY(Hydra_Attn_reserve(layer.attn, layer.schedule));
        used = allocated() - before;
        MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            printf("  U = %d, R = %d: %.1f MiB, %.3f of the design's sum\n", factor, size / factor, used / 1048576,
                   used / allowed);
        layer_free(&layer);
    }

fail:
    return status;
}

static bool wants(const struct settings *s, const char *what)
{
    return strcmp(s->what, "all") == 0 || strcmp(s->what, what) == 0;
}

static int measure(const struct settings *s)
{
    int status = HYDRA_SUCCESS;

    if (wants(s, "memory"))
        HYDRA_TRY(bench_memory(s));
    if (wants(s, "move"))
        HYDRA_TRY(bench_move(s));
    if (wants(s, "scaling"))
        HYDRA_TRY(bench_scaling(s));
    if (wants(s, "overlap"))
        HYDRA_TRY(bench_overlap(s));

fail:
    return status;
}

static int run(int my_rank, int ranks, void *state)
{
    const struct settings *s = state;
    int status = HYDRA_SUCCESS;

    rank = my_rank;
    size = ranks;
#ifdef _OPENMP
    omp_set_num_threads(1); /* a rank is to stand for a core */
#endif
    HYDRA_REQUIRE(wants(s, "scaling") || wants(s, "overlap") || wants(s, "move") || wants(s, "memory"),
                  HYDRA_ERR_FORMAT, "--what: '%s' is none of scaling, overlap, move, memory, all", s->what);
    HYDRA_REQUIRE(size >= 2, HYDRA_ERR_ARG, "bench attn needs at least 2 ranks: mpiexec -n 4 hydra-dcp bench attn");
    status = measure(s);
    /* The others may be in a communicator without this rank, where nothing tells them. */
    if (status != HYDRA_SUCCESS && status != HYDRA_ERR_PEER)
        MPI_Abort(MPI_COMM_WORLD, tool_fail(status));

fail:
    return status;
}

int hydra_bench_attn(int argc, char **argv)
{
    struct settings s = {.tokens = 16384, .repetitions = 9, .what = "all"};
    const struct tool_option options[] = {
        {"tokens", TOOL_INT, &s.tokens, "N", "tokens of the document", 64, 1 << 24},
        {"repetitions", TOOL_INT, &s.repetitions, "N", "interleaved repetitions, of which the median counts", 1,
         MOST_REPETITIONS},
        {"what", TOOL_STRING, &s.what, "NAME", "scaling, overlap, move, memory or all", 0, 0},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };

    return tool_run_ranks(argc, argv, usage, options, run, &s);
}
