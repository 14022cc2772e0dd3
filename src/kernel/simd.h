/* simd.h: the vectors of one kernel instance, made of GCC vector extensions. Included by instance.h alone, once per
 * translation unit; intrinsics only where the extensions do badly (maximum, 2^x, fp16).
 *
 * KERNEL_REAL_BITS 32 or 64; KERNEL_VECTOR_BYTES 16, 32 or 64; KERNEL_REGISTERS 16 or 32. */
#ifndef HYDRA_KERNEL_SIMD_H
#define HYDRA_KERNEL_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#if KERNEL_REAL_BITS == 32
typedef float real;
typedef int32_t integer;
typedef uint32_t unsigned_integer;
#else
typedef double real;
typedef int64_t integer;
typedef uint64_t unsigned_integer;
#endif

enum { LANES = KERNEL_VECTOR_BYTES * 8 / KERNEL_REAL_BITS };

typedef real vec __attribute__((vector_size(KERNEL_VECTOR_BYTES)));
typedef integer ivec __attribute__((vector_size(KERNEL_VECTOR_BYTES)));
typedef unsigned_integer bits_vec __attribute__((vector_size(KERNEL_VECTOR_BYTES)));
typedef real vec_unaligned __attribute__((vector_size(KERNEL_VECTOR_BYTES), aligned(sizeof(real)), may_alias));
typedef vec vec_memory __attribute__((may_alias));
typedef ivec ivec_memory __attribute__((may_alias));

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 64")

INLINE vec vec_load(const real *p)
{
    return *(const vec_memory *)p;
}

INLINE void vec_store(real *p, vec x)
{
    *(vec_memory *)p = x;
}

INLINE ivec ivec_load(const integer *p)
{
    return *(const ivec_memory *)p;
}

INLINE vec vec_load_unaligned(const real *p)
{
    return *(const vec_unaligned *)p;
}

INLINE void vec_store_unaligned(real *p, vec x)
{
    *(vec_unaligned *)p = x;
}

INLINE vec vec_splat(real x)
{
    return x - (vec){0};
}

INLINE ivec ivec_splat(integer x)
{
    return x - (ivec){0};
}

/* a where the mask is all ones, b where it is 0. */
INLINE vec vec_select(ivec mask, vec a, vec b)
{
    return (vec)((mask & (ivec)a) | (~mask & (ivec)b));
}

/* Greater of the two; y when x is NaN, so that a running maximum y stays a number and NaN goes on through 2^x. */
INLINE vec vec_max(vec x, vec y)
{
#if KERNEL_VECTOR_BYTES == 64 && KERNEL_REAL_BITS == 32
    return (vec)_mm512_max_ps((__m512)x, (__m512)y);
#elif KERNEL_VECTOR_BYTES == 64
    return (vec)_mm512_max_pd((__m512d)x, (__m512d)y);
#elif KERNEL_VECTOR_BYTES == 32 && KERNEL_REAL_BITS == 32
    return (vec)_mm256_max_ps((__m256)x, (__m256)y);
#elif KERNEL_VECTOR_BYTES == 32
    return (vec)_mm256_max_pd((__m256d)x, (__m256d)y);
#else
    return vec_select(x > y, x, y);
#endif
}

/* 2^x for x up to 100: 0.8 ulp in fp32, 1 in fp64; 0 below the least normal number; NaN for NaN. */
INLINE vec vec_exp2(vec x)
{
#if KERNEL_REAL_BITS == 32
    const vec c6 = vec_splat(0x1.444p-13f), c5 = vec_splat(0x1.5f48cp-10f), c4 = vec_splat(0x1.3b2a1cp-7f),
              c3 = vec_splat(0x1.c6aeccp-5f), c2 = vec_splat(0x1.ebfbep-3f), c1 = vec_splat(0x1.62e43p-1f);
#if KERNEL_VECTOR_BYTES == 64
    vec n = (vec)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    vec f = x - n;
#else
    vec shifted, n, f;

    x = vec_max(vec_splat(-127), x); /* 2^-127 is made as 0 below */
    shifted = x + 0x1.8p23f;         /* the low bits of its mantissa are x rounded */
    n = shifted - 0x1.8p23f;
    f = x - n;
#endif
    vec p = c6;

    p = p * f + c5;
    p = p * f + c4;
    p = p * f + c3;
    p = p * f + c2;
    p = p * f + c1;
    p = p * f + 1;
#if KERNEL_VECTOR_BYTES == 64
    return (vec)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
    return p * (vec)(((bits_vec)shifted << 23) + 0x3F800000);
#endif
#else
    static const double c[] = {1.0,
                               0.69314718055994530925,
                               0.24022650695910159567,
                               0.055504108664821627039,
                               0.0096181291075872566681,
                               0.0013333558146406470697,
                               0.00015403530463724354209,
                               0.000015252733841556772589,
                               1.3215432535912376166e-6,
                               1.0178057087733941105e-7,
                               7.0741942972885210056e-9,
                               4.455817908336064493e-10};
    vec shifted, n, f, p = vec_splat(c[11]);

    x = vec_max(vec_splat(-1023), x);
    shifted = x + 0x1.8p52;
    n = shifted - 0x1.8p52;
    f = x - n;
    UNROLL for (int i = 10; i >= 0; i--) p = p * f + c[i];
    return p * (vec)(((bits_vec)shifted << 52) + 0x3FF0000000000000);
#endif
}

/* Is any lane of the mask set? */
INLINE bool ivec_any(ivec mask)
{
    integer any = 0;

    UNROLL for (int i = 0; i < LANES; i++) any |= mask[i];
    return any != 0;
}

/* Transpose a square of LANES rows in registers: butterflies between rows 1, 2, 4 ... apart. */
#define LOW(i, s)  (((i) & (s)) != 0 ? LANES + (i) - (s) : (i))
#define HIGH(i, s) (((i) & (s)) != 0 ? LANES + (i) : (i) + (s))
#if KERNEL_VECTOR_BYTES * 8 / KERNEL_REAL_BITS == 16
#define LANE_LIST(F, s)                                                                                                \
    F(0, s), F(1, s), F(2, s), F(3, s), F(4, s), F(5, s), F(6, s), F(7, s), F(8, s), F(9, s), F(10, s), F(11, s),      \
        F(12, s), F(13, s), F(14, s), F(15, s)
#elif KERNEL_VECTOR_BYTES * 8 / KERNEL_REAL_BITS == 8
#define LANE_LIST(F, s) F(0, s), F(1, s), F(2, s), F(3, s), F(4, s), F(5, s), F(6, s), F(7, s)
#elif KERNEL_VECTOR_BYTES * 8 / KERNEL_REAL_BITS == 4
#define LANE_LIST(F, s) F(0, s), F(1, s), F(2, s), F(3, s)
#else
#define LANE_LIST(F, s) F(0, s), F(1, s)
#endif
#define BUTTERFLY(rows, s)                                                                                             \
    if ((s) < LANES) {                                                                                                 \
        UNROLL for (int i = 0; i < LANES; i++) if ((i & (s)) == 0)                                                     \
        {                                                                                                              \
            vec a = rows[i], b = rows[(i + (s)) % LANES];                                                              \
            rows[i] = __builtin_shufflevector(a, b, LANE_LIST(LOW, (s) % LANES));                                      \
            rows[(i + (s)) % LANES] = __builtin_shufflevector(a, b, LANE_LIST(HIGH, (s) % LANES));                     \
        }                                                                                                              \
    }

INLINE void vec_transpose(vec rows[LANES])
{
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
    BUTTERFLY(rows, 1)
    BUTTERFLY(rows, 2)
    BUTTERFLY(rows, 4)
    BUTTERFLY(rows, 8)
#else
    vec copy[LANES];

    memcpy(copy, rows, sizeof copy);
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < LANES; j++)
            rows[i][j] = copy[j][i];
#endif
}

#endif
