/* test_exact.c: every kernel that runs here gives exact attention, forward and backward, for every shape. */
#include "problem.h"

#include <string.h>

#include "base/error.h"
#include "tests/tap.h"

/* Every kernel here on one problem. */
static bool all_kernels(struct problem *p, const int64_t *lengths)
{
    bool good = true;

    problem_make(p, lengths);
    problem_solve(p);
    for (int i = 0; hydra_kernel_at(i) != NULL; i++) {
        const struct hydra_kernel_ops *ops = hydra_kernel_at(i);
        struct hydra_kernel_shape shape = {.dtype = p->dtype, .head_dim = p->c.head_dim, .value_dim = p->c.value_dim};
        struct results got;
        char why[128];

        if (ops->probe(why, sizeof why) == 0 || !ops->supports(&shape))
            continue;
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

/* Lengths, masks and head ratios for one dtype and head dim; the rest of the layout varies along. */
static bool every_length(enum hydra_dtype dtype, int dim)
{
    static const int64_t lengths[] = {0, 1, 2, 63, 64, 65, 127, 129};
    bool good = true;
    int turn = dim;

    for (int mask = HYDRA_KERNEL_CAUSAL; mask <= HYDRA_KERNEL_RANGES; mask++)
        for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++, turn++) {
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
            good &= all_kernels(&p, &lengths[n]);
        }
    return good;
}

static void every_shape(enum hydra_dtype dtype, const char *sentence)
{
    bool good = true;

    for (int dim = 0; dim < DIMS; dim++)
        good &= every_length(dtype, dim);
    tap_result(good, sentence);
}

int main(void)
{
    every_shape(HYDRA_DTYPE_F32, "f32 attention is exact for every head dim, length, mask and head ratio");
    every_shape(HYDRA_DTYPE_F64, "f64 attention is exact for every head dim, length, mask and head ratio");
    every_shape(HYDRA_DTYPE_BF16, "bf16 attention is exact for every head dim, length, mask and head ratio");
    every_shape(HYDRA_DTYPE_F16, "f16 attention is exact for every head dim, length, mask and head ratio");
    return tap_done();
}
