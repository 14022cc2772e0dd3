/* test_memory.c: memory that runs out: the n-th allocation of a call fails, for every n. The call must say
 * HYDRA_ERR_NOMEM (a peer HYDRA_ERR_PEER), make nothing and leave nothing. malloc and its kin are interposed; what
 * counts are calls from this library's code, which is linked statically. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "hydra.h"
#include "plan/policy.h"
#include "tests/mpi_tap.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_INTERPOSE 1
#else
#define CAN_INTERPOSE 0
#endif

#if CAN_INTERPOSE
enum { MOST_BLOCKS = 4096 };

static struct {
    bool armed;
    long left;               /* allocations until one fails; below 0: none will */
    bool failed;             /* one did */
    void *live[MOST_BLOCKS]; /* blocks that the library holds, in no order */
    int nlive;
} memory;

extern char __executable_start, etext;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* Whether this allocation is the library's; *fail when it must not succeed. */
static bool counts(const void *caller, bool *fail)
{
    bool ours = memory.armed && (const char *)caller >= &__executable_start && (const char *)caller < &etext;

    *fail = ours && memory.left-- == 0;
    memory.failed |= *fail;
    return ours;
}

static void *note(bool ours, void *block)
{
    if (ours && block != NULL && memory.nlive < MOST_BLOCKS)
        memory.live[memory.nlive++] = block;
    return block;
}

static void forget(const void *block)
{
    for (int i = memory.nlive - 1; block != NULL && i >= 0; i--)
        if (memory.live[i] == block) {
            memory.live[i] = memory.live[--memory.nlive];
            break;
        }
}

void *malloc(size_t size)
{
    bool fail, ours = counts(__builtin_return_address(0), &fail);

    return fail ? NULL : note(ours, __libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    bool fail, ours = counts(__builtin_return_address(0), &fail);

    return fail ? NULL : note(ours, __libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    bool fail, ours = counts(__builtin_return_address(0), &fail);
    void *block = fail ? NULL : __libc_realloc(old, size);

    if (block != NULL)
        forget(old);
    return note(ours, block);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    bool fail, ours = counts(__builtin_return_address(0), &fail);

    return fail ? NULL : note(ours, __libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    bool fail, ours = counts(__builtin_return_address(0), &fail);

    *block = fail ? NULL : note(ours, __libc_memalign(alignment, size));
    return *block == NULL ? 12 : 0;
}

void free(void *block)
{
    forget(block);
    __libc_free(block);
}

static void arm(long n)
{
    memory.left = n;
    memory.failed = false;
    memory.armed = true;
}

static const int64_t lengths[] = {70, 3, 0, 41, 12, 25, 1, 300, 8, 8};
enum { DOCUMENTS = sizeof lengths / sizeof *lengths, MOST_FAILURES = 2000 };

/* One call after another on a batch, each as a step that may fail; what it made is released. */
static int plan_and_ask(int policy, const Hydra_Cost *cost)
{
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule schedule = NULL, again = NULL;
    Hydra_Schedule_stats stats;
    Hydra_Microbatch view = {0};
    char path[64], text[64];
    int status;

    snprintf(path, sizeof path, "test_memory_%d.tmp", mpi_tap_rank);
    o.policy = policy;
    o.budget = 64;
    o.cost = cost;
    o.pipeline_stages = 2;
    o.pipeline_chunks = 2;
    status = Hydra_Plan_serial(8, DOCUMENTS, lengths, &o, &schedule);
    if (status != HYDRA_SUCCESS && schedule != NULL)
        status = HYDRA_ERR_INTERNAL;
    if (status == HYDRA_SUCCESS)
        status = Hydra_Schedule_stats_get(schedule, &stats);
    if (status == HYDRA_SUCCESS)
        status = Hydra_Schedule_microbatch(schedule, 0, 0, &view);
    if (status == HYDRA_SUCCESS)
        status = Hydra_Schedule_explain(schedule, text, sizeof text, NULL);
    if (status == HYDRA_SUCCESS)
        status = Hydra_Schedule_save(schedule, path);
    if (status == HYDRA_SUCCESS)
        status = Hydra_Schedule_load(path, &again);
    memory.armed = false;
    remove(path);
    Hydra_Microbatch_free(&view);
    Hydra_Schedule_free(&schedule);
    Hydra_Schedule_free(&again);
    return status;
}

static void planning_survives(void)
{
    Hydra_Cost cost = HYDRA_COST_INIT;
    bool good = true;

    cost.theta = 1e-9;
    cost.phi = 1e-6;
    for (int policy = 1; policy < HYDRA_POLICY_COUNT; policy++) {
        long n = 0;

        if (hydra_policy_find(policy) == NULL)
            continue;
        for (; good && n < MOST_FAILURES; n++) {
            int status;
            char detail[256];

            arm(n);
            status = plan_and_ask(policy, &cost);
            Hydra_Error_detail(detail, sizeof detail);
            good &= TAP_CHECK(status == (memory.failed ? HYDRA_ERR_NOMEM : HYDRA_SUCCESS),
                              "%s, allocation %ld: status %d, %s", Hydra_Policy_name(policy), n, status, detail);
            good &= TAP_CHECK(!memory.failed || detail[0] != '\0', "%s, allocation %ld: no sentence",
                              Hydra_Policy_name(policy), n);
            good &= TAP_CHECK(memory.nlive == 0, "%s, allocation %ld: %d blocks are left", Hydra_Policy_name(policy), n,
                              memory.nlive);
            if (!memory.failed)
                break;
        }
        good &= TAP_CHECK(n > 5 && n < MOST_FAILURES, "%s: %ld allocations", Hydra_Policy_name(policy), n);
    }
    mpi_tap_result(good,
                   "every allocation of planning, asking, saving and loading may fail: an error, and nothing is left");
}

/* Backward finds what it needs: forward's first call has asked for both. */
enum step { INIT, PLAN, CREATE, DISPATCH, FORWARD, STEPS };

static const char *const step_names[STEPS] = {"Hydra_Init", "Hydra_Plan", "Hydra_Attn_create", "Hydra_Dispatch",
                                              "Hydra_Attn_forward"};

enum { HEADS = 2, DIM = 8, ROW = HEADS * DIM, ROWS = 2048 };
static float q[ROWS * ROW], k[ROWS * ROW], v[ROWS * ROW], out[ROWS * ROW], lse[ROWS * HEADS];

/* What every rank saw of the n-th allocation of `step`, which fails on rank `victim`. Reductions have a reserve of
 * small blocks: then all is well on every rank. */
enum outcome { NO_SUCH_ALLOCATION, REFUSED, SERVED };

static enum outcome fails_at(enum step step, int victim, long n, bool *good)
{
    Hydra_Config config = HYDRA_CONFIG_INIT;
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Attn_config shape = HYDRA_ATTN_CONFIG_INIT;
    Hydra_Context context = HYDRA_CONTEXT_NULL;
    Hydra_Schedule schedule = NULL;
    Hydra_Attn attn = HYDRA_ATTN_NULL;
    int status = HYDRA_SUCCESS, failed = 0, mine, greatest;
    bool served;
    char detail[256] = "";

    o.budget = 512;
    o.policy = HYDRA_POLICY_STATIC;
    o.min_degree = mpi_tap_size;
    o.heads = shape.heads = shape.kv_heads = HEADS;
    shape.head_dim = DIM;
    config.timeout = 10;
    memory.nlive = 0;
    for (int at = 0; at <= (int)step && status == HYDRA_SUCCESS; at++) {
        if (at == (int)step && mpi_tap_rank == victim)
            arm(n);
        switch (at) {
        case INIT:
            status = Hydra_Init(MPI_COMM_WORLD, &config, &context);
            break;
        case PLAN:
            status = Hydra_Plan(context, DOCUMENTS, lengths, &o, &schedule);
            break;
        case CREATE:
            status = Hydra_Attn_create(context, &shape, &attn);
            break;
        case DISPATCH:
            status = Hydra_Dispatch(context, schedule, 0, ROW * sizeof *q, v, q);
            break;
        default:
            status = Hydra_Attn_forward(attn, schedule, 0, q, k, v, out, lse, HYDRA_SAVED_NULL);
        }
        memory.armed = false;
    }
    Hydra_Error_detail(detail, sizeof detail);
    mine = mpi_tap_rank == victim && memory.failed;
    MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&status, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    served = failed && step != CREATE && step != DISPATCH && greatest == HYDRA_SUCCESS;
    if (!failed || served)
        *good &= TAP_CHECK(status == HYDRA_SUCCESS, "%s, allocation %ld: status %d, %s", step_names[step], n, status,
                           detail);
    else if (mpi_tap_rank == victim)
        *good &= TAP_CHECK(status == HYDRA_ERR_NOMEM, "%s, allocation %ld: status %d, %s", step_names[step], n, status,
                           detail);
    else if (step > PLAN) /* who needs nothing of the rank goes on */
        *good &= TAP_CHECK(status == HYDRA_SUCCESS || status == HYDRA_ERR_PEER,
                           "%s, allocation %ld: a peer has status %d, %s", step_names[step], n, status, detail);
    else
        *good &= TAP_CHECK(status == HYDRA_ERR_PEER, "%s, allocation %ld: a peer has status %d, %s", step_names[step],
                           n, status, detail);
    *good &= TAP_CHECK(!failed || served || step != INIT || context == HYDRA_CONTEXT_NULL,
                       "%s, allocation %ld made a context", step_names[step], n);
    *good &= TAP_CHECK(!failed || served || step != PLAN || schedule == NULL, "%s, allocation %ld made a schedule",
                       step_names[step], n);
    if (failed && !served && mpi_tap_rank == victim && step <= CREATE)
        *good &=
            TAP_CHECK(memory.nlive == 0, "%s, allocation %ld: %d blocks are left", step_names[step], n, memory.nlive);
    Hydra_Attn_free(&attn);
    Hydra_Schedule_free(&schedule);
    if (context != HYDRA_CONTEXT_NULL)
        Hydra_Finalize(&context);
    return !failed ? NO_SUCH_ALLOCATION : served ? SERVED : REFUSED;
}

/* A rank without memory for what all ranks gather stays away, and the others wait their time for it: with several ranks
 * only what comes before (the context, the pool, its communicator, its tables) is tried. */
enum { BEFORE_GATHERING = 8, MOST_TRIES = 200 };

static void step_survives(enum step step)
{
    char sentence[160];
    bool good = true;
    long n = 0, refused = 0, most = mpi_tap_size > 1 && step == INIT ? BEFORE_GATHERING * mpi_tap_size : MOST_TRIES;
    int all = 1;

    for (enum outcome outcome = REFUSED; outcome != NO_SUCH_ALLOCATION && n < most && all; n++) {
        int mine;

        outcome = fails_at(step, (int)(n % mpi_tap_size), n / mpi_tap_size, &good);
        refused += outcome == REFUSED;
        mine = good;
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    good &= TAP_CHECK(refused > 0 && n < MOST_TRIES, "%s: %ld allocations, %ld refused", step_names[step], n, refused);
    snprintf(sentence, sizeof sentence, "every allocation of %s may fail on a rank: it says so, no peer waits",
             step_names[step]);
    mpi_tap_result(good, sentence);
}
#endif

int main(int argc, char **argv)
{
    mpi_tap_begin(&argc, &argv);
#if CAN_INTERPOSE
    const char *wrapper = getenv("HYDRA_TEST_WRAPPER");

    if (wrapper == NULL || strstr(wrapper, "valgrind") == NULL) {
        planning_survives();
        for (int step = 0; step < STEPS; step++)
            if (mpi_tap_size == 1 || step != PLAN)
                step_survives((enum step)step);
        return mpi_tap_done();
    }
#endif
    if (mpi_tap_rank == 0)
        tap_skip("every allocation may fail", "malloc cannot be interposed here");
    tap_count = 1;
    return mpi_tap_done();
}
