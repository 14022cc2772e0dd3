/* test_allocation.c: after its first call on a schedule, attention allocates nothing: malloc and its kin are interposed
 * and their callers counted when they are this library's code (MPI and OpenMP may do as they like). */
#include <malloc.h>

#include "tests/attn/harness.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_INTERPOSE 1
#else
#define CAN_INTERPOSE 0
#endif

static int counting;
static long counted, all;

#if CAN_INTERPOSE
extern char __executable_start, etext; /* the library is linked statically into this test */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static void note(const void *caller)
{
    all++;
    if (counting && (const char *)caller >= &__executable_start && (const char *)caller < &etext)
        counted++;
}

void *malloc(size_t size)
{
    note(__builtin_return_address(0));
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    note(__builtin_return_address(0));
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    note(__builtin_return_address(0));
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    note(__builtin_return_address(0));
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    note(__builtin_return_address(0));
    *block = __libc_memalign(alignment, size);
    return *block == NULL ? 12 : 0;
}
#endif

/* Two rounds over all microbatches; the second must not allocate. Returns how often it did, -1 when a call failed. */
static long allocations(const struct attention_case *c)
{
    enum { MOST = 64 };
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Attn attn = HYDRA_ATTN_NULL;
    Hydra_Saved saved = HYDRA_SAVED_NULL;
    void *local[TENSORS];
    int64_t count = 0;
    int status = make_plan(c, &schedule);

    status = status == HYDRA_SUCCESS ? make_attn(c, &attn) : status;
    status = status == HYDRA_SUCCESS ? Hydra_Saved_create(attn, &saved) : status;
    status = status == HYDRA_SUCCESS ? Hydra_Schedule_count(schedule, &count) : status;
    for (int t = 0; t < TENSORS; t++) {
        local[t] = calloc((size_t)(tokens_of(c) + 1) * (size_t)row_of(c, t), element_bytes(c, t));
    }
    counted = 0;
    for (int round = 0; round < 2; round++)
        for (int64_t m = 0; status == HYDRA_SUCCESS && m < count; m++) {
            Hydra_Op op;

            counting = round == 1;
            if (c->mode & SPLIT) {
                status = Hydra_Attn_start(attn, schedule, m, &op);
                for (int t = 0; status == HYDRA_SUCCESS && t < 3; t++)
                    status = Hydra_Attn_put(op, t, local[t]);
                if (status == HYDRA_SUCCESS)
                    status = Hydra_Attn_wait(&op, local[T_OUT], local[T_LSE], saved);
            } else {
                status = Hydra_Attn_forward(attn, schedule, m, local[T_Q], local[T_K], local[T_V], local[T_OUT],
                                            local[T_LSE], saved);
            }
            if (status == HYDRA_SUCCESS)
                status = Hydra_Attn_backward(attn, schedule, m, local[T_Q], local[T_K], local[T_V], local[T_OUT],
                                             local[T_LSE], saved, local[T_DOUT], local[T_DQ], local[T_DK], local[T_DV]);
            counting = 0;
        }
    for (int t = 0; t < TENSORS; t++)
        free(local[t]);
    Hydra_Saved_free(&saved);
    Hydra_Attn_free(&attn);
    Hydra_Schedule_free(&schedule);
    return status == HYDRA_SUCCESS ? counted : -1;
}

static void no_allocation(unsigned mode, const char *sentence)
{
    static const int64_t lengths[] = {70, 3, 0, 41, 12, 25, 1};
    bool good = true;

    for (int factor = 1; factor <= harness_size; factor++) {
        struct attention_case c = {.ndocs = 7,
                                   .lengths = lengths,
                                   .heads = 4,
                                   .kv_heads = 2,
                                   .dim = 8,
                                   .value_dim = 8,
                                   .dtype = HYDRA_FLOAT32,
                                   .degree = harness_size,
                                   .factor = factor,
                                   .budget = 70,
                                   .mode = mode};
        long found = harness_size % factor == 0 ? allocations(&c) : 0;

        MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_LONG, found < 0 ? MPI_MIN : MPI_MAX, MPI_COMM_WORLD);
        good &= TAP_CHECK(found == 0, "U %d: %ld allocations (-1: a call failed)", factor, found);
    }
    report(good, sentence);
}

int main(int argc, char **argv)
{
    harness_start(&argc, &argv);
#if CAN_INTERPOSE
    long before = all;
    void *volatile block = malloc(8); /* or the interposing itself would not be tested */
    const char *wrapper = getenv("HYDRA_TEST_WRAPPER");

    free(block);
    if (wrapper != NULL && strstr(wrapper, "valgrind") != NULL) { /* which puts its own malloc before ours */
        if (harness_rank == 0)
            tap_skip("forward and backward allocate nothing after the first call", "valgrind replaces malloc");
        return harness_end();
    }
    report(all > before, "allocations of this program are seen");
    no_allocation(PLAIN, "forward and backward allocate nothing after the first call");
    no_allocation(SPLIT, "the split form allocates nothing after the first call");
#else
    if (harness_rank == 0)
        tap_skip("forward and backward allocate nothing after the first call", "malloc cannot be interposed here");
#endif
    return harness_end();
}
