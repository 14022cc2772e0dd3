/* test_ranges.c: a program that defines Hydra_Range_push and _pop sees every call and its parts, properly nested, on
 * the thread that called, and every push has its pop: on error paths too. Links the library that users link. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "hydra.h"
#include "tests/mpi_tap.h"

enum { TOKENS = 96, HEADS = 8, DIM = 4, MOST_PATHS = 64, MOST_DEPTH = 8 };

/* What was seen: every path from the call down ("Hydra_Plan>planning"), and how often. */
static struct {
    char path[128];
    const char *name; /* the address that came with it */
    int count;
} seen[MOST_PATHS];
static int npaths, stack[MOST_DEPTH], depth;
static bool wrong; /* popped what was not pushed, too deep, another thread, another address for a name */
static pthread_t caller;
static const char *told_path; /* the last rank hears when this path is entered for the first time */

void Hydra_Range_push(const char *name)
{
    char path[128];
    int i = 0;

    wrong |= !pthread_equal(pthread_self(), caller) || depth == MOST_DEPTH || npaths == MOST_PATHS;
    if (wrong)
        return;
    snprintf(path, sizeof path, "%s%s%s", depth > 0 ? seen[stack[depth - 1]].path : "", depth > 0 ? ">" : "", name);
    while (i < npaths && strcmp(seen[i].path, path) != 0)
        i++;
    if (i == npaths) {
        snprintf(seen[npaths].path, sizeof seen[npaths].path, "%s", path);
        seen[npaths++].name = name;
    }
    wrong |= seen[i].name != name;
    seen[i].count++;
    stack[depth++] = i;
    if (told_path != NULL && strcmp(path, told_path) == 0) {
        told_path = NULL;
        MPI_Send(NULL, 0, MPI_INT, mpi_tap_size - 1, 0, MPI_COMM_WORLD);
    }
}

void Hydra_Range_pop(void)
{
    wrong |= !pthread_equal(pthread_self(), caller) || depth == 0;
    depth -= !wrong;
}

static void forget(void)
{
    npaths = 0;
    memset(seen, 0, sizeof seen);
}

static int count_of(const char *path)
{
    for (int i = 0; i < npaths; i++)
        if (strcmp(seen[i].path, path) == 0)
            return seen[i].count;
    return 0;
}

/* Exactly so often, and nothing is left open. */
static bool saw(const char *path, int times)
{
    return TAP_CHECK(count_of(path) == times, "%s was seen %d times, not %d", path, count_of(path), times) &&
           TAP_CHECK(!wrong && depth == 0, "%d ranges are open after it%s", depth,
                     wrong ? ", and order was broken" : "");
}

struct scene {
    Hydra_Context context;
    Hydra_Schedule schedule;
    Hydra_Attn attn;
    float *buffer[9];
};

/* One document over the whole pool, U = factor. */
static bool open_scene(struct scene *s, int factor)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Attn_config shape = HYDRA_ATTN_CONFIG_INIT;
    int64_t length = TOKENS;

    memset(s, 0, sizeof *s);
    options.budget = TOKENS;
    options.min_degree = options.max_degree = mpi_tap_size;
    options.heads = shape.heads = shape.kv_heads = HEADS;
    options.factor = factor;
    shape.head_dim = DIM;
    for (int i = 0; i < 9; i++)
        s->buffer[i] = calloc(TOKENS * HEADS * DIM, sizeof(float));
    return TAP_CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, &s->context) == HYDRA_SUCCESS, "Hydra_Init") &&
           TAP_CHECK(Hydra_Plan(s->context, mpi_tap_rank == 0, &length, &options, &s->schedule) == HYDRA_SUCCESS,
                     "Hydra_Plan") &&
           TAP_CHECK(Hydra_Attn_create(s->context, &shape, &s->attn) == HYDRA_SUCCESS, "Hydra_Attn_create");
}

static void close_scene(struct scene *s)
{
    Hydra_Attn_free(&s->attn);
    Hydra_Schedule_free(&s->schedule);
    Hydra_Finalize(&s->context);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 9; i++)
        free(s->buffer[i]);
}

static int forward(struct scene *s)
{
    return Hydra_Attn_forward(s->attn, s->schedule, 0, s->buffer[0], s->buffer[1], s->buffer[2], s->buffer[3],
                              s->buffer[4], HYDRA_SAVED_NULL);
}

static int backward(struct scene *s)
{
    return Hydra_Attn_backward(s->attn, s->schedule, 0, s->buffer[0], s->buffer[1], s->buffer[2], s->buffer[3],
                               s->buffer[4], HYDRA_SAVED_NULL, s->buffer[5], s->buffer[6], s->buffer[7], s->buffer[8]);
}

static void planning_and_moves(void)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule alone = HYDRA_SCHEDULE_NULL;
    int64_t length = TOKENS;
    struct scene s;
    Hydra_Op op;
    bool good;

    forget();
    good = open_scene(&s, 1);
    good = good && saw("Hydra_Plan", 1) && saw("Hydra_Plan>plan gather", 1) && saw("Hydra_Plan>planning", 1) &&
           saw("Hydra_Plan>plan agree", 1);
    mpi_tap_result(good, "a plan is seen, with what it gathers, plans and agrees on");

    forget();
    options.budget = TOKENS;
    good = Hydra_Plan_serial(4, 1, &length, &options, &alone) == HYDRA_SUCCESS;
    good &= saw("Hydra_Plan_serial>planning", 1);
    Hydra_Schedule_free(&alone);
    mpi_tap_result(good, "a plan without a pool is seen");

    forget();
    good = Hydra_Dispatch(s.context, s.schedule, 0, 4, s.buffer[0], s.buffer[1]) == HYDRA_SUCCESS &&
           Hydra_Collect(s.context, s.schedule, 0, 4, s.buffer[1], s.buffer[2]) == HYDRA_SUCCESS;
    good &=
        saw("Hydra_Dispatch>move post", 1) && saw("Hydra_Dispatch>move wait", 1) && saw("Hydra_Collect>move wait", 1);
    mpi_tap_result(good, "dispatch and collect are seen");

    forget();
    good = Hydra_Dispatch_start(s.context, s.schedule, 0, 4, s.buffer[0], s.buffer[1], &op) == HYDRA_SUCCESS &&
           saw("Hydra_Dispatch_start>move post", 1) && Hydra_Op_wait(&op) == HYDRA_SUCCESS &&
           saw("Hydra_Op_wait>move wait", 1);
    mpi_tap_result(good, "a dispatch that is started and waited for is closed in between");
    close_scene(&s);
}

/* A ring of n members: n steps forward; backward cuts the first block in two, and adds to n - 1 sums. */
static void a_ring(void)
{
    int n = mpi_tap_size;
    struct scene s;
    bool good = open_scene(&s, 1);

    forget();
    good = good && forward(&s) == HYDRA_SUCCESS && backward(&s) == HYDRA_SUCCESS;
    good &= saw("Hydra_Attn_forward", 1) && saw("Hydra_Attn_forward>ring compute", n) &&
            saw("Hydra_Attn_forward>ring wait", 2 * (n - 1)) && saw("Hydra_Attn_forward>reserve", 1);
    good &= saw("Hydra_Attn_backward", 1) && saw("Hydra_Attn_backward>ring compute", n > 1 ? n + 1 : 1) &&
            saw("Hydra_Attn_backward>merge", n - 1) && saw("Hydra_Attn_backward>delta", 1) &&
            saw("Hydra_Attn_backward>all-to-all wait", 0);
    mpi_tap_result(good, "every step of a ring is seen, forward and backward");
    close_scene(&s);
}

/* Q, K, V in, out and lse home; backward Q, K, V, dO, lse and delta in, dQ, dK, dV home. */
static void an_alltoall(void)
{
    int some = mpi_tap_size > 1;
    struct scene s;
    Hydra_Op op;
    bool good = open_scene(&s, mpi_tap_size);

    forget();
    good = good && forward(&s) == HYDRA_SUCCESS && backward(&s) == HYDRA_SUCCESS;
    good &= saw("Hydra_Attn_forward>all-to-all post", 5 * some) &&
            saw("Hydra_Attn_forward>all-to-all wait", 5 * some) &&
            saw("Hydra_Attn_forward>all-to-all unpack", 5 * some) && saw("Hydra_Attn_forward>ring compute", 1);
    good &= saw("Hydra_Attn_backward>all-to-all wait", 9 * some) && saw("Hydra_Attn_backward>ring compute", 1);
    mpi_tap_result(good, "every tensor of the inner all-to-all is seen, forward and backward");

    forget();
    good = Hydra_Attn_start(s.attn, s.schedule, 0, &op) == HYDRA_SUCCESS && saw("Hydra_Attn_start", 1);
    for (int which = HYDRA_Q; good && which <= HYDRA_V; which++)
        good = Hydra_Attn_put(op, which, s.buffer[which]) == HYDRA_SUCCESS;
    good = good && Hydra_Attn_wait(&op, s.buffer[3], s.buffer[4], HYDRA_SAVED_NULL) == HYDRA_SUCCESS;
    good &= saw("Hydra_Attn_put", 3) && saw("Hydra_Attn_put>all-to-all post", 3 * some) &&
            saw("Hydra_Attn_wait>ring compute", 1);
    mpi_tap_result(good, "the split forward is seen call by call");
    close_scene(&s);
}

/* The last rank fails before it sends anything, once all others are in the middle of a wait. */
static void one_rank_fails(int factor, const char *inside, const char *sentence)
{
    bool odd = mpi_tap_rank == mpi_tap_size - 1;
    struct scene s;
    int status;
    bool good = open_scene(&s, factor);

    MPI_Barrier(MPI_COMM_WORLD);
    forget();
    told_path = odd ? NULL : inside;
    for (int r = 0; odd && r < mpi_tap_size - 1; r++)
        MPI_Recv(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (odd)
        status = Hydra_Attn_forward(s.attn, s.schedule, 0, NULL, NULL, NULL, NULL, NULL, HYDRA_SAVED_NULL);
    else
        status = forward(&s);
    good &=
        TAP_CHECK(status == (odd ? HYDRA_ERR_ARG : HYDRA_ERR_PEER), "forward returns %s", Hydra_Error_string(status));
    good &= saw("Hydra_Attn_forward", 1);
    if (!odd)
        good &= TAP_CHECK(count_of(inside) > 0, "it failed before %s", inside);
    good &= TAP_CHECK(backward(&s) == HYDRA_ERR_STATE, "the context is broken") && saw("Hydra_Attn_backward", 1);
    mpi_tap_result(good, sentence);
    close_scene(&s);
}

static void bad_arguments(void)
{
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Op op = HYDRA_OP_NULL;
    bool good;

    forget();
    good = Hydra_Attn_forward(HYDRA_ATTN_NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL) == HYDRA_ERR_ARG &&
           Hydra_Attn_backward(HYDRA_ATTN_NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
               HYDRA_ERR_ARG &&
           Hydra_Attn_start(HYDRA_ATTN_NULL, NULL, 0, &op) == HYDRA_ERR_ARG &&
           Hydra_Attn_put(op, 0, NULL) == HYDRA_ERR_ARG && Hydra_Attn_wait(&op, NULL, NULL, NULL) == HYDRA_ERR_ARG &&
           Hydra_Op_wait(&op) == HYDRA_ERR_ARG && Hydra_Dispatch(NULL, NULL, 0, 1, NULL, NULL) == HYDRA_ERR_ARG &&
           Hydra_Collect(NULL, NULL, 0, 1, NULL, NULL) == HYDRA_ERR_ARG &&
           Hydra_Plan(NULL, 0, NULL, NULL, &schedule) == HYDRA_ERR_ARG &&
           Hydra_Plan_serial(4, 1, NULL, NULL, &schedule) == HYDRA_ERR_ARG;
    good &= TAP_CHECK(npaths == 11, "%d paths were seen", npaths);
    for (int i = 0; i < npaths; i++)
        good &= saw(seen[i].path, 1);
    mpi_tap_result(good, "a call that refuses its arguments closes what it opened");
}

int main(int argc, char **argv)
{
    mpi_tap_begin(&argc, &argv);
    caller = pthread_self();
#ifdef _OPENMP
    omp_set_num_threads(3); /* kernels use them; a profiler must not see them */
#endif
    planning_and_moves();
    a_ring();
    an_alltoall();
    one_rank_fails(1, "Hydra_Attn_forward>ring wait", "every push has its pop where a ring fails");
    one_rank_fails(mpi_tap_size, "Hydra_Attn_forward>all-to-all wait",
                   "every push has its pop where an all-to-all fails");
    bad_arguments();
    return mpi_tap_done();
}
