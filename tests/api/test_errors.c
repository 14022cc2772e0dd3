/* test_errors.c: calls that differ between ranks end with an error on every rank, soon, and the
 * context is broken then. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "hydra.h"
#include "tests/tap.h"

enum { TOKENS = 96, HEADS = 4, DIM = 4 };

/* Two documents that need the whole pool each: two microbatches. */
struct scene {
    Hydra_Context context;
    Hydra_Schedule schedule, other;
    Hydra_Attn attn;
    float *buffer[9];
};

static int rank, size;

static int plan(int64_t length, int factor, Hydra_Schedule *schedule)
{
    int64_t lengths[2] = {length, length};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;

    options.budget = (TOKENS + size - 1) / size;
    options.min_degree = options.max_degree = size;
    options.heads = HEADS;
    options.factor = factor;
    return Hydra_Plan_serial(size, 2, lengths, &options, schedule);
}

static bool open_scene(struct scene *scene, int factor, double timeout)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;
    Hydra_Attn_config attn = HYDRA_ATTN_CONFIG_INIT;
    bool good;

    memset(scene, 0, sizeof *scene);
    config.timeout = timeout;
    attn.heads = attn.kv_heads = HEADS;
    attn.head_dim = DIM;
    for (int i = 0; i < 9; i++)
        scene->buffer[i] = calloc(2 * TOKENS * HEADS * DIM, sizeof(float));
    good = Hydra_Init(MPI_COMM_WORLD, &config, &scene->context) == HYDRA_SUCCESS &&
           plan(TOKENS, factor, &scene->schedule) == HYDRA_SUCCESS &&
           plan(TOKENS - size, factor, &scene->other) == HYDRA_SUCCESS &&
           Hydra_Attn_create(scene->context, &attn, &scene->attn) == HYDRA_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD); /* a rank may fail at once: the others must be past Hydra_Init to hear of it later */
    return good;
}

static int forward(struct scene *s, Hydra_Schedule schedule, int64_t m)
{
    return Hydra_Attn_forward(s->attn, schedule, m, s->buffer[0], s->buffer[1], s->buffer[2], s->buffer[3],
                              s->buffer[4], HYDRA_SAVED_NULL);
}

static int backward(struct scene *s, Hydra_Schedule schedule, int64_t m)
{
    return Hydra_Attn_backward(s->attn, schedule, m, s->buffer[0], s->buffer[1], s->buffer[2], s->buffer[3],
                               s->buffer[4], HYDRA_SAVED_NULL, s->buffer[5], s->buffer[6], s->buffer[7], s->buffer[8]);
}

static int count_ranks(bool is)
{
    int count = is;

    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return count;
}

/* Every rank failed, some with `wanted`; afterwards every call but Finalize is HYDRA_ERR_STATE. */
static void expect_failure(struct scene *scene, int status, int wanted, const char *sentence)
{
    char detail[512] = "", text[640];
    int failed = count_ranks(status != HYDRA_SUCCESS), as_wanted = count_ranks(status == wanted), named, dead;
    bool good;

    Hydra_Error_detail(detail, sizeof detail);
    named = count_ranks(detail[0] != '\0');
    /* A rank may hear the others' alarm first; whatever it hears, it is broken from then on. */
    dead = count_ranks(forward(scene, scene->schedule, 0) == HYDRA_ERR_STATE &&
                       Hydra_Dispatch(scene->context, scene->schedule, 0, 1, scene->buffer[0], scene->buffer[1]) ==
                           HYDRA_ERR_STATE);
    good = failed == size && as_wanted > 0 && named == size && dead == size;
    snprintf(text, sizeof text, "# rank %d: %s: %s\n", rank, Hydra_Error_string(status), detail);
    for (int r = 0; !good && r < size; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (r == rank)
            fputs(text, stdout), fflush(stdout);
    }
    if (rank == 0)
        tap_result(TAP_CHECK(good, "%d of %d ranks failed, %d as they should, %d with a sentence, %d broken", failed,
                             size, as_wanted, named, dead),
                   sentence);
    Hydra_Attn_free(&scene->attn);
    Hydra_Schedule_free(&scene->schedule);
    Hydra_Schedule_free(&scene->other);
    good = Hydra_Finalize(&scene->context) == HYDRA_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 9; i++)
        free(scene->buffer[i]);
    if (!good)
        printf("# rank %d: Hydra_Finalize failed\n", rank);
}

/* U = size (inner all-to-all alone) or U = 1 (ring alone). */
static void mismatches(int factor, const char *way)
{
    struct scene s;
    char sentence[160];
    bool odd = rank == size - 1;

#define NAME(text) (snprintf(sentence, sizeof sentence, "%s (%s)", text, way), sentence)
    if (open_scene(&s, factor, 20))
        expect_failure(&s, forward(&s, s.schedule, odd), HYDRA_ERR_MISMATCH, NAME("one rank in another microbatch"));
    if (open_scene(&s, factor, 20))
        expect_failure(&s, forward(&s, odd ? s.other : s.schedule, 0), HYDRA_ERR_MISMATCH,
                       NAME("one rank with another schedule"));
    if (open_scene(&s, factor, 20))
        expect_failure(&s, odd ? backward(&s, s.schedule, 0) : forward(&s, s.schedule, 0), HYDRA_ERR_MISMATCH,
                       NAME("one rank in backward, the others in forward"));
    if (open_scene(&s, factor, 20)) {
        if (odd)
            (void)Hydra_Attn_forward(s.attn, s.schedule, 0, NULL, NULL, NULL, NULL, NULL, HYDRA_SAVED_NULL);
        expect_failure(&s, forward(&s, s.schedule, 0), odd ? HYDRA_ERR_STATE : HYDRA_ERR_PEER,
                       NAME("one rank without buffers: the others hear of it"));
    }
    if (open_scene(&s, factor, 20)) {
        Hydra_Attn_config config = HYDRA_ATTN_CONFIG_INIT;

        Hydra_Attn_free(&s.attn);
        config.heads = HEADS;
        config.kv_heads = odd ? 1 : HEADS;
        config.head_dim = DIM;
        if (Hydra_Attn_create(s.context, &config, &s.attn) != HYDRA_SUCCESS)
            printf("# rank %d has no attention layer\n", rank);
        MPI_Barrier(MPI_COMM_WORLD); /* or a rank could hear of a failure before it has its layer */
        expect_failure(&s, forward(&s, s.schedule, 0), HYDRA_ERR_MISMATCH, NAME("one rank with other KV heads"));
    }
    if (open_scene(&s, factor, 1)) {
        if (odd && Hydra_Dispatch(s.context, s.schedule, 1, 1, s.buffer[0], s.buffer[1]) == HYDRA_SUCCESS)
            printf("# a dispatch alone went through\n");
        expect_failure(&s, odd ? HYDRA_ERR_PEER : forward(&s, s.schedule, 0), HYDRA_ERR_PEER,
                       NAME("one rank that had a dispatch more"));
    }
#undef NAME
}

/* A rank that only sends cannot see at once that a receiver expected something else: it hears of
 * it in its next call. */
static int dispatch_twice(struct scene *s, int64_t m, size_t bytes)
{
    int status = Hydra_Dispatch(s->context, s->schedule, m, bytes, s->buffer[0], s->buffer[1]);

    MPI_Barrier(MPI_COMM_WORLD);
    return status != HYDRA_SUCCESS ? status : Hydra_Dispatch(s->context, s->schedule, 0, 2, s->buffer[0], s->buffer[1]);
}

static void moves(void)
{
    struct scene s;
    bool odd = rank == size - 1;

    if (open_scene(&s, 1, 20))
        expect_failure(&s, dispatch_twice(&s, odd, 2), HYDRA_ERR_MISMATCH, "dispatch: one rank in another microbatch");
    if (open_scene(&s, 1, 20))
        expect_failure(&s, dispatch_twice(&s, 0, odd ? 3 : 2), HYDRA_ERR_MISMATCH,
                       "dispatch: one rank with other bytes per token");
}

/* One rank never comes: the others time out, naming it, the microbatch and the step. It hears of it afterwards. */
static void silent_rank(int factor, const char *sentence)
{
    struct scene s;
    char detail[512] = "";
    int status = HYDRA_ERR_PEER;
    bool named = true;

    if (!open_scene(&s, factor, 1))
        return;
    if (rank != 0) {
        status = forward(&s, s.schedule, 1);
        Hydra_Error_detail(detail, sizeof detail);
        if (status == HYDRA_ERR_TIMEOUT)
            named = strstr(detail, "rank ") != NULL && strstr(detail, "microbatch 1") != NULL &&
                    (strstr(detail, "ring step ") != NULL || strstr(detail, "all-to-all") != NULL);
        if (!named)
            printf("# rank %d: %s\n", rank, detail);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        status = forward(&s, s.schedule, 1);
    if (!named)
        status = HYDRA_SUCCESS;
    expect_failure(&s, status, HYDRA_ERR_TIMEOUT, sentence);
}

/* Rank 0 never comes. One rank has the patience of a second: the others hear from it, long before theirs ends. */
static void unequal_timeouts(void)
{
    struct scene s;
    int status = HYDRA_ERR_PEER;

    if (!open_scene(&s, 1, rank == size - 1 ? 1 : 1000))
        return;
    if (rank != 0)
        status = forward(&s, s.schedule, 0);
    if (status != (rank == size - 1 ? HYDRA_ERR_TIMEOUT : HYDRA_ERR_PEER))
        status = HYDRA_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        status = forward(&s, s.schedule, 0);
    expect_failure(&s, status, HYDRA_ERR_TIMEOUT, "timeouts may differ: the others hear of the least");
}

/* The same while planning: the last rank's patience ends, and it tells those who wait beside it. */
static void unequal_timeouts_in_plan(void)
{
    struct scene s;
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    int status = HYDRA_ERR_PEER;

    options.budget = TOKENS;
    if (!open_scene(&s, 1, rank == size - 1 ? 1 : 1000))
        return;
    if (rank != 0)
        status = Hydra_Plan(s.context, 0, NULL, &options, &schedule);
    if (status != (rank == size - 1 ? HYDRA_ERR_TIMEOUT : HYDRA_ERR_PEER))
        status = HYDRA_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        status = Hydra_Plan(s.context, 0, NULL, &options, &schedule);
    expect_failure(&s, status, HYDRA_ERR_TIMEOUT, "a rank whose patience ends while planning tells the others");
}

/* A context of this rank alone; buffer `out` of forward (3, 4) or backward (6 to 8) begins within buffer `in`. */
static bool overlap_is_refused(int out, int in)
{
    int64_t lengths[] = {5};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Attn_config config = HYDRA_ATTN_CONFIG_INIT;
    struct scene s = {0};
    float memory[10][5 * HEADS * DIM] = {{0}};
    int status = HYDRA_SUCCESS;
    bool good;

    for (int i = 0; i < 9; i++)
        s.buffer[i] = i == out ? memory[in] + 7 : memory[i];
    options.budget = 5;
    config.heads = config.kv_heads = HEADS;
    config.head_dim = DIM;
    good = Hydra_Init(MPI_COMM_SELF, NULL, &s.context) == HYDRA_SUCCESS &&
           Hydra_Plan(s.context, 1, lengths, &options, &s.schedule) == HYDRA_SUCCESS &&
           Hydra_Attn_create(s.context, &config, &s.attn) == HYDRA_SUCCESS;
    if (good)
        status = out < 5 ? forward(&s, s.schedule, 0) : backward(&s, s.schedule, 0);
    good = TAP_CHECK(good && status == HYDRA_ERR_ARG, "output %d in input %d: %s", out, in, Hydra_Error_string(status));
    Hydra_Attn_free(&s.attn);
    Hydra_Schedule_free(&s.schedule);
    Hydra_Finalize(&s.context);
    return good;
}

static void overlaps(void)
{
    bool good = true;

    for (int in = 0; in < 6; in++) {
        for (int out = 3; in < 3 && out < 5; out++)
            good &= overlap_is_refused(out, in);
        for (int out = 6; out < 9; out++)
            good &= overlap_is_refused(out, in);
    }
    good = count_ranks(good) == size;
    if (rank == 0)
        tap_result(good, "an output that overlaps an input is refused, whichever they are");
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mismatches(1, "ring");
    mismatches(size, "all-to-all");
    moves();
    silent_rank(1, "a rank that never comes ends the others' ring by timeout");
    silent_rank(size, "a rank that never comes ends the others' all-to-all by timeout");
    unequal_timeouts();
    unequal_timeouts_in_plan();
    overlaps();
    MPI_Finalize();
    return rank == 0 ? tap_done() : 0;
}
