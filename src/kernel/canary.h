/* canary.h: the yardsticks of a benchmark: what this core does now, without memory (peak) and from L1 (canary).
 * Included by instance.h alone. */
#ifndef HYDRA_KERNEL_CANARY_H
#define HYDRA_KERNEL_CANARY_H

#include "kernel/tile.h"

enum {
    CANARY_DEPTH = (24 << 10) / (WIDEST * KERNEL_VECTOR_BYTES), /* B fills three quarters of a small L1 */
    CANARY_TILES = 4,
    PEAK_CHAINS = 12, /* enough to hide the latency of two multiply-add pipes */
};

/* `rounds` products [tiles of the widest kind][depth] x [depth][vectors], all in L1. Returns their FLOPs. */
static double canary(int64_t rounds)
{
    enum { ROWS = WIDEST == 4 ? SUM_ROWS_4 : WIDEST == 3 ? SUM_ROWS_3 : SUM_ROWS_2 };
    real a[CANARY_TILES * ROWS * CANARY_DEPTH] __attribute__((aligned(64)));
    real b[CANARY_DEPTH * WIDEST * LANES] __attribute__((aligned(64)));
    real c[ROWS * WIDEST * LANES] __attribute__((aligned(64)));

    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = (real)(i % 7) * (real)0.125;
    for (size_t i = 0; i < sizeof b / sizeof *b; i++)
        b[i] = (real)(i % 5) * (real)0.25;
    memset(c, 0, sizeof c);
    for (int64_t r = 0; r < rounds; r++)
        for (int t = 0; t < CANARY_TILES; t++)
            sum_along_tiles[WIDEST](CANARY_DEPTH, a + t * ROWS * CANARY_DEPTH, CANARY_DEPTH, b, c);
    __asm__ volatile("" : : "r"(c) : "memory");
    return 2.0 * (double)rounds * CANARY_TILES * ROWS * WIDEST * LANES * CANARY_DEPTH;
}

/* `rounds` multiply-adds of PEAK_CHAINS registers with themselves. Returns their FLOPs. */
static double peak(int64_t rounds)
{
    vec x[PEAK_CHAINS], by = vec_splat((real)0.999), plus = vec_splat((real)1e-6);

    UNROLL for (int i = 0; i < PEAK_CHAINS; i++) x[i] = vec_splat((real)i);
    for (int64_t r = 0; r < rounds; r++)
        UNROLL for (int i = 0; i < PEAK_CHAINS; i++) x[i] = x[i] * by + plus;
    UNROLL for (int i = 0; i < PEAK_CHAINS; i++) __asm__ volatile("" : : "m"(x[i]));
    return 2.0 * (double)rounds * PEAK_CHAINS * LANES;
}

#endif
