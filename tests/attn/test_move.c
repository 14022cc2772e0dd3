/* test_move.c: dispatch brings every token to the shard that the view describes, collect is its exact inverse, and
 * messages of one operation move while their owner waits in another. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "hydra.h"
#include "tests/mpi_tap.h"

enum { POISON = 0xA5 };

static Hydra_Context context;
static int rank, size;

/* Byte b of the payload of one token, by its position in the whole batch. */
static unsigned char payload(int64_t global, size_t b)
{
    return (unsigned char)(((uint64_t)global * 2654435761u + b * 40503u) >> 7);
}

struct batch {
    int64_t lengths[64]; /* of this rank's documents */
    int64_t ndocs;
    int64_t tokens;       /* of this rank */
    int64_t first_global; /* position of its first token in the whole batch */
    Hydra_Schedule schedule;
    int64_t microbatches;
};

static bool make_batch(struct batch *batch, uint64_t seed, int64_t budget)
{
    struct hydra_random random = hydra_random_seed(seed * 131 + (uint64_t)rank);
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;

    memset(batch, 0, sizeof *batch);
    batch->ndocs = hydra_random_below(&random, 3) == 0 ? 0 : hydra_random_below(&random, 12);
    for (int64_t d = 0; d < batch->ndocs; d++) {
        batch->lengths[d] =
            hydra_random_below(&random, hydra_random_below(&random, 3) == 0 ? budget * size / 2 + 1 : 9);
        batch->tokens += batch->lengths[d];
    }
    MPI_Exscan(&batch->tokens, &batch->first_global, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        batch->first_global = 0;
    options.budget = budget;
    options.heads = seed % 2 == 0 ? 4 : 0;
    options.mask = seed % 3 == 0 ? HYDRA_MASK_FULL : HYDRA_MASK_CAUSAL;
    return Hydra_Plan(context, batch->ndocs, batch->lengths, &options, &batch->schedule) == HYDRA_SUCCESS &&
           Hydra_Schedule_count(batch->schedule, &batch->microbatches) == HYDRA_SUCCESS;
}

static unsigned char *loaded_payload(const struct batch *batch, size_t bytes)
{
    unsigned char *data = malloc((size_t)batch->tokens * bytes + 1);

    for (int64_t t = 0; t < batch->tokens; t++)
        for (size_t b = 0; b < bytes; b++)
            data[(size_t)t * bytes + b] = payload(batch->first_global + t, b);
    return data;
}

static unsigned char *poisoned(int64_t tokens, size_t bytes)
{
    unsigned char *data = malloc((size_t)(tokens + 1) * bytes);

    memset(data, POISON, (size_t)(tokens + 1) * bytes);
    return data;
}

/* Does the shard hold what its view says, and nothing past it? */
static bool shard_is_right(const Hydra_Microbatch *view, const unsigned char *shard, size_t bytes)
{
    bool good = true;

    for (int64_t t = 0; t < view->tokens; t++)
        for (size_t b = 0; b < bytes; b++)
            good &= shard[(size_t)t * bytes + b] == payload(view->global_positions[t], b);
    for (size_t b = 0; b < bytes; b++)
        good &= shard[(size_t)view->tokens * bytes + b] == POISON;
    return good;
}

static bool there_and_back(const struct batch *batch, size_t bytes)
{
    unsigned char *from = loaded_payload(batch, bytes), *back = poisoned(batch->tokens, bytes);
    bool good = true;

    for (int64_t m = 0; m < batch->microbatches; m++) {
        Hydra_Microbatch view;
        unsigned char *shard;

        good &= Hydra_Schedule_microbatch(batch->schedule, m, rank, &view) == HYDRA_SUCCESS;
        shard = poisoned(view.tokens, bytes);
        good &= Hydra_Dispatch(context, batch->schedule, m, bytes, from, shard) == HYDRA_SUCCESS;
        good &=
            TAP_CHECK(shard_is_right(&view, shard, bytes), "rank %d, microbatch %ld, %zu bytes", rank, (long)m, bytes);
        good &= Hydra_Collect(context, batch->schedule, m, bytes, shard, back) == HYDRA_SUCCESS;
        free(shard);
        Hydra_Microbatch_free(&view);
    }
    good &= TAP_CHECK(memcmp(from, back, (size_t)batch->tokens * bytes) == 0, "rank %d, %zu bytes", rank, bytes);
    for (size_t b = 0; b < bytes; b++)
        good &= back[(size_t)batch->tokens * bytes + b] == POISON;
    free(from);
    free(back);
    return good;
}

static void identity(void)
{
    static const size_t sizes[] = {1, 3, 13, 64};
    bool good = true;

    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct batch batch;

        good &= make_batch(&batch, seed, 40);
        for (int i = 0; i < 4; i++)
            good &= there_and_back(&batch, sizes[i]);
        Hydra_Schedule_free(&batch.schedule);
    }
    mpi_tap_result(good,
                   "collect undoes dispatch for payloads of 1, 3, 13 and 64 bytes, and shards are as their views say");
}

/* Collect of one microbatch leaves the documents of the others alone. */
static void only_its_documents(void)
{
    struct batch batch;
    Hydra_Microbatch view;
    bool good = make_batch(&batch, 4, 24);
    unsigned char *from = loaded_payload(&batch, 2), *back = poisoned(batch.tokens, 2), *shard;
    int64_t touched = 0, held;

    good &= Hydra_Schedule_microbatch(batch.schedule, 0, rank, &view) == HYDRA_SUCCESS;
    shard = poisoned(view.tokens, 2);
    good &= Hydra_Dispatch(context, batch.schedule, 0, 2, from, shard) == HYDRA_SUCCESS;
    good &= Hydra_Collect(context, batch.schedule, 0, 2, shard, back) == HYDRA_SUCCESS;
    for (int64_t t = 0; t < batch.tokens; t++) {
        bool is_back = memcmp(from + 2 * t, back + 2 * t, 2) == 0;

        good &= is_back || (back[2 * t] == POISON && back[2 * t + 1] == POISON);
        touched += is_back;
    }
    held = view.tokens;
    MPI_Allreduce(MPI_IN_PLACE, &held, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &touched, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    good &= TAP_CHECK(touched >= held && touched < held + held / 100 + 30, "%ld tokens came back, %ld were held",
                      (long)touched, (long)held);
    mpi_tap_result(good, "collect of one microbatch leaves the documents of the others alone");
    free(from);
    free(back);
    free(shard);
    Hydra_Microbatch_free(&view);
    Hydra_Schedule_free(&batch.schedule);
}

/* Dispatches of all microbatches under way at once, waited for backwards. */
static void several_under_way(void)
{
    enum { MOST = 16 };
    struct batch batch;
    bool good = make_batch(&batch, 5, 30);
    unsigned char *from = loaded_payload(&batch, 5), *shards[MOST];
    Hydra_Microbatch views[MOST];
    Hydra_Op ops[MOST];
    int64_t count = batch.microbatches < MOST ? batch.microbatches : MOST;

    for (int64_t m = 0; m < count; m++) {
        good &= Hydra_Schedule_microbatch(batch.schedule, m, rank, &views[m]) == HYDRA_SUCCESS;
        shards[m] = poisoned(views[m].tokens, 5);
        good &= Hydra_Dispatch_start(context, batch.schedule, m, 5, from, shards[m], &ops[m]) == HYDRA_SUCCESS;
    }
    for (int64_t m = count - 1; m >= 0; m--) {
        good &= Hydra_Op_wait(&ops[m]) == HYDRA_SUCCESS && ops[m] == HYDRA_OP_NULL;
        good &= shard_is_right(&views[m], shards[m], 5);
        free(shards[m]);
        Hydra_Microbatch_free(&views[m]);
    }
    mpi_tap_result(good, "dispatches of several microbatches under way at once do not mix");
    free(from);
    Hydra_Schedule_free(&batch.schedule);
}

/* Rank 0 holds a 4 MB dispatch open while it waits in a ring for rank 1, which first waits for that dispatch. */
static void dispatch_moves_while_a_ring_waits(void)
{
    enum { TOKENS = 1024, BYTES = 4096 };
    int64_t lengths[1] = {TOKENS}, ndocs = rank == 0;
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Attn_config config = HYDRA_ATTN_CONFIG_INIT;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Attn attn = HYDRA_ATTN_NULL;
    Hydra_Op op = HYDRA_OP_NULL;
    unsigned char *from = calloc(TOKENS, BYTES), *to = calloc(TOKENS, BYTES);
    float *q = calloc(TOKENS * 2, sizeof *q), *out = calloc(TOKENS * 2, sizeof *out);
    bool good;

    options.budget = TOKENS;
    options.min_degree = options.max_degree = size;
    config.heads = config.kv_heads = 1;
    config.head_dim = 2;
    good = Hydra_Plan(context, ndocs, lengths, &options, &schedule) == HYDRA_SUCCESS &&
           Hydra_Attn_create(context, &config, &attn) == HYDRA_SUCCESS &&
           Hydra_Dispatch_start(context, schedule, 0, BYTES, from, to, &op) == HYDRA_SUCCESS;
    if (good && rank != 0)
        good &= Hydra_Op_wait(&op) == HYDRA_SUCCESS;
    if (good)
        good &= Hydra_Attn_forward(attn, schedule, 0, q, q, q, out, NULL, HYDRA_SAVED_NULL) == HYDRA_SUCCESS;
    if (good && rank == 0)
        good &= Hydra_Op_wait(&op) == HYDRA_SUCCESS;
    mpi_tap_result(good, "a 4 MB dispatch moves while its owner waits in the ring");
    free(from);
    free(to);
    free(q);
    free(out);
    Hydra_Attn_free(&attn);
    Hydra_Schedule_free(&schedule);
}

/* Every rank puts q, k and v of a split forward in an order of its own and dispatches at another point of it. */
static void dispatch_between_puts(void)
{
    enum { TOKENS = 50, BYTES = 3, MOST = 8 };
    int64_t lengths[1] = {TOKENS}, ndocs = rank == 0;
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Attn_config config = HYDRA_ATTN_CONFIG_INIT;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Attn attn = HYDRA_ATTN_NULL;
    Hydra_Op split = HYDRA_OP_NULL;
    char from[TOKENS][BYTES], to[TOKENS][BYTES];
    float q[TOKENS][MOST][2], out[TOKENS][MOST][2];
    Hydra_Microbatch view = {0};
    bool good;

    memset(from, 7, sizeof from);
    for (int i = 0; i < TOKENS * MOST * 2; i++)
        (&q[0][0][0])[i] = 1;
    options.budget = TOKENS;
    options.heads = config.heads = config.kv_heads = MOST;
    options.min_degree = options.max_degree = options.factor = size;
    config.head_dim = 2;
    good = Hydra_Plan(context, ndocs, lengths, &options, &schedule) == HYDRA_SUCCESS &&
           Hydra_Schedule_microbatch(schedule, 0, rank, &view) == HYDRA_SUCCESS &&
           Hydra_Attn_create(context, &config, &attn) == HYDRA_SUCCESS &&
           Hydra_Attn_start(attn, schedule, 0, &split) == HYDRA_SUCCESS;
    for (int i = 0; good && i < 4; i++) {
        if (i == rank % 4)
            good &= Hydra_Dispatch(context, schedule, 0, BYTES, from, to) == HYDRA_SUCCESS;
        if (i < 3)
            good &= Hydra_Attn_put(split, (rank + i) % 3, q) == HYDRA_SUCCESS;
    }
    good = good && Hydra_Attn_wait(&split, out, NULL, HYDRA_SAVED_NULL) == HYDRA_SUCCESS;
    for (int64_t t = 0; good && t < view.tokens; t++)
        good &= memcmp(to[t], from[t], BYTES) == 0 && out[t][MOST - 1][1] > 0.999f && out[t][MOST - 1][1] < 1.001f;
    mpi_tap_result(good, "a dispatch may come between any two puts of a split forward");
    Hydra_Attn_free(&attn);
    Hydra_Microbatch_free(&view);
    Hydra_Schedule_free(&schedule);
}

int main(int argc, char **argv)
{
    mpi_tap_begin(&argc, &argv);
    rank = mpi_tap_rank;
    size = mpi_tap_size;
    if (Hydra_Init(MPI_COMM_WORLD, NULL, &context) != HYDRA_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    identity();
    only_its_documents();
    several_under_way();
    dispatch_moves_while_a_ring_waits();
    dispatch_between_puts();
    Hydra_Finalize(&context);
    return mpi_tap_done();
}
