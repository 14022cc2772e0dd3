/* test_exact.c: every kernel that runs here gives exact attention, forward and backward, for every shape. */
#include "problem.h"

#include <string.h>

#include "tests/tap.h"

/* Every kernel here on one problem whose data is made. */
static bool all_kernels(struct problem *p)
{
    const struct hydra_kernel_ops *ops;
    bool good = true;

    problem_solve(p);
    for (int i = 0; (ops = problem_kernel(p->dtype, i)) != NULL; i++) {
        struct results got;

        if (strcmp(ops->name, "ref") == 0 && p->rows > 70) /* its loops are slow, and the same at every length */
            continue;
        problem_run(p, ops, &got);
        good &= problem_check(p, ops->name, &got);
        results_free(&got);
    }
    problem_free(p);
    return good;
}

static const int dims[][2] = {{1, 1},   {7, 7},     {40, 40},   {64, 64},  {80, 80},
                              {96, 96}, {128, 128}, {192, 128}, {256, 256}};
static const int head_ratios[][2] = {{1, 1}, {2, 2}, {3, 1}, {4, 2}, {5, 2}};

enum { DIMS = sizeof dims / sizeof dims[0], RATIOS = sizeof head_ratios / sizeof head_ratios[0] };

/* A problem whose heads, layout and window vary with `turn`. */
static struct problem vary(enum hydra_dtype dtype, int dim, int mask, int turn)
{
    struct problem p = {.dtype = dtype,
                        .seed = (uint64_t)turn,
                        .amplitude = 1,
                        .query_pieces = 1 + turn % 2,
                        .steps = 1 + turn % 3,
                        .key_cuts = 1 + turn / 3 % 2,
                        .threads = 1};

    p.c.heads = head_ratios[turn % RATIOS][0];
    p.c.kv_heads = head_ratios[turn % RATIOS][1];
    p.c.head_dim = dims[dim][0];
    p.c.value_dim = dims[dim][1];
    p.c.mask = mask;
    p.c.window = 1 + turn * 7 % 50;
    p.c.sink = turn % 3 * 5;
    p.c.ndocs = 1;
    return p;
}

/* Lengths, masks and head ratios for one dtype, for every head dim. */
static void every_shape(enum hydra_dtype dtype, const char *sentence)
{
    static const int64_t lengths[] = {0, 1, 2, 63, 64, 65, 127, 129};
    bool good = true;

    for (int dim = 0; dim < DIMS; dim++)
        for (int mask = HYDRA_KERNEL_CAUSAL, turn = dim; mask <= HYDRA_KERNEL_RANGES; mask++)
            for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++, turn++) {
                struct problem p = vary(dtype, dim, mask, turn);

                problem_make(&p, &lengths[n]);
                good &= all_kernels(&p);
            }
    tap_result(good, sentence);
}

static void packed_documents(void)
{
    static const int64_t lengths[] = {65, 0, 1, 190};
    bool good = true;

    for (int dtype = HYDRA_DTYPE_F32; dtype <= HYDRA_DTYPE_F16; dtype++)
        for (int mask = HYDRA_KERNEL_CAUSAL; mask <= HYDRA_KERNEL_RANGES; mask++) {
            struct problem p = vary(dtype, 2 + mask, mask, 20 + 5 * mask + dtype);

            p.c.ndocs = 4;
            problem_make(&p, lengths);
            good &= all_kernels(&p);
        }
    tap_result(good, "packed documents do not see each other, empty ones included");
}

/* A thousand tokens and more: several blocks, units and chunks, whole ones and tails. */
static void long_documents(void)
{
    static const struct {
        int64_t n;
        enum hydra_dtype dtype;
        int dim, mask;
    } cases[] = {
        {1000, HYDRA_DTYPE_F32, 2, HYDRA_KERNEL_CAUSAL}, {1000, HYDRA_DTYPE_F32, 3, HYDRA_KERNEL_WINDOW},
        {1000, HYDRA_DTYPE_BF16, 2, HYDRA_KERNEL_FULL},  {1000, HYDRA_DTYPE_F64, 1, HYDRA_KERNEL_RANGES},
        {1000, HYDRA_DTYPE_F16, 2, HYDRA_KERNEL_RANGES}, {4097, HYDRA_DTYPE_F32, 1, HYDRA_KERNEL_CAUSAL},
        {4097, HYDRA_DTYPE_BF16, 1, HYDRA_KERNEL_FULL},
    };
    bool good = true;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct problem p = vary(cases[i].dtype, cases[i].dim, cases[i].mask, (int)i);

        p.c.heads = p.c.kv_heads = 1;
        p.c.window = 333;
        problem_make(&p, &cases[i].n);
        good &= all_kernels(&p);
    }
    tap_result(good, "documents of 1000 and 4097 tokens are exact");
}

/* Scores of +-1e4, and scores that are all near -1e5, where a maximum that began at a finite number would show. */
static void extreme_scores(void)
{
    static const int64_t n = 129;
    struct problem p = vary(HYDRA_DTYPE_F32, 3, HYDRA_KERNEL_CAUSAL, 1);
    bool good;

    p.amplitude = 1e4;
    problem_make(&p, &n);
    good = all_kernels(&p);
    p.amplitude = 1;
    problem_make(&p, &n);
    for (int64_t e = 0; e < n * p.c.heads * p.c.head_dim; e++)
        p.q[e] = (float)(p.q[e] + 100);
    for (int64_t e = 0; e < n * p.c.kv_heads * p.c.head_dim; e++)
        p.k[e] = (float)(p.k[e] - 125);
    good &= all_kernels(&p);
    tap_result(good, "scores of 1e4, -1e4 and -1e5 are exact");
}

int main(void)
{
    every_shape(HYDRA_DTYPE_F32, "f32 attention is exact for every head dim, length, mask and head ratio");
    every_shape(HYDRA_DTYPE_F64, "f64 attention is exact for every head dim, length, mask and head ratio");
    every_shape(HYDRA_DTYPE_BF16, "bf16 attention is exact for every head dim, length, mask and head ratio");
    every_shape(HYDRA_DTYPE_F16, "f16 attention is exact for every head dim, length, mask and head ratio");
    packed_documents();
    long_documents();
    extreme_scores();
    return tap_done();
}
