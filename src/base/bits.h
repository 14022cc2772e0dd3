/* bits.h: arithmetic on powers of two and rounding. Pure, header only. */
#ifndef HYDRA_BASE_BITS_H
#define HYDRA_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* a/b rounded up; a >= 0, b >= 1. No overflow for any a. */
static inline int64_t hydra_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static inline bool hydra_is_pow2(int64_t x)
{
    return x > 0 && (x & (x - 1)) == 0;
}

/* Greatest L with 2^L <= x; x >= 1. */
static inline int hydra_log2_floor(uint64_t x)
{
    return 63 - __builtin_clzll(x);
}

/* Least power of two >= x, 1 for x <= 1; x <= 2^62. */
static inline int64_t hydra_pow2_ceil(int64_t x)
{
    return x <= 1 ? 1 : (int64_t)1 << (hydra_log2_floor((uint64_t)(x - 1)) + 1);
}

/* Greatest power of two <= x; x >= 1. */
static inline int64_t hydra_pow2_floor(int64_t x)
{
    return (int64_t)1 << hydra_log2_floor((uint64_t)x);
}

static inline int64_t hydra_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t hydra_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
