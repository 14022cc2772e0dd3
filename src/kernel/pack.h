/* pack.h: from the caller's rows (any dtype, stride and alignment) to the layouts that tiles walk. Reads the rows'
 * numbers and nothing beside them. Included by instance.h alone. */
#ifndef HYDRA_KERNEL_PACK_H
#define HYDRA_KERNEL_PACK_H

#include "kernel/convert.h"
#include "kernel/kernel.h"
#include "kernel/tile.h"

#if KERNEL_REAL_BITS == 32
typedef uint16_t half_vec __attribute__((vector_size(KERNEL_VECTOR_BYTES / 2), aligned(2), may_alias));

INLINE vec load_bf16(const uint16_t *p)
{
    return (vec)(__builtin_convertvector(*(const half_vec *)p, bits_vec) << 16);
}

INLINE vec load_f16(const uint16_t *p)
{
#if KERNEL_VECTOR_BYTES == 64
    return (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
#elif KERNEL_VECTOR_BYTES == 32
    return (vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
#else
    vec x = {0};

    UNROLL for (int i = 0; i < LANES; i++) x[i] = hydra_float_of_f16(p[i]);
    return x;
#endif
}

/* The row's number j as a real. */
INLINE real load_one(enum hydra_dtype dtype, const void *row, int j)
{
    return dtype == HYDRA_DTYPE_BF16  ? hydra_float_of_bf16(((const uint16_t *)row)[j])
           : dtype == HYDRA_DTYPE_F16 ? hydra_float_of_f16(((const uint16_t *)row)[j])
                                      : ((const real *)row)[j];
}

INLINE vec load_some(enum hydra_dtype dtype, const void *row, int j)
{
    return dtype == HYDRA_DTYPE_BF16  ? load_bf16((const uint16_t *)row + j)
           : dtype == HYDRA_DTYPE_F16 ? load_f16((const uint16_t *)row + j)
                                      : vec_load_unaligned((const real *)row + j);
}

INLINE void store_bf16(uint16_t *p, vec x)
{
    bits_vec bits = (bits_vec)x;
    bits_vec rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    bits_vec nan = (bits_vec)(x != x);

    *(half_vec *)p = __builtin_convertvector((nan & ((bits >> 16) | 0x40)) | (~nan & rounded), half_vec);
}

INLINE void store_f16(uint16_t *p, vec x)
{
#if KERNEL_VECTOR_BYTES == 64
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif KERNEL_VECTOR_BYTES == 32
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
    UNROLL for (int i = 0; i < LANES; i++) p[i] = hydra_f16_of_float(x[i]);
#endif
}

INLINE size_t size_of(enum hydra_dtype dtype)
{
    return dtype == HYDRA_DTYPE_F32 ? 4 : 2;
}

INLINE void store_some(enum hydra_dtype dtype, void *row, int j, vec x)
{
    if (dtype == HYDRA_DTYPE_BF16)
        store_bf16((uint16_t *)row + j, x);
    else if (dtype == HYDRA_DTYPE_F16)
        store_f16((uint16_t *)row + j, x);
    else
        vec_store_unaligned((real *)row + j, x);
}

INLINE void store_one(enum hydra_dtype dtype, void *row, int j, real x)
{
    if (dtype == HYDRA_DTYPE_BF16)
        ((uint16_t *)row)[j] = hydra_bf16_of_float(x);
    else if (dtype == HYDRA_DTYPE_F16)
        ((uint16_t *)row)[j] = hydra_f16_of_float(x);
    else
        ((real *)row)[j] = x;
}
#else
INLINE real load_one(enum hydra_dtype dtype, const void *row, int j)
{
    (void)dtype;
    return ((const real *)row)[j];
}

INLINE vec load_some(enum hydra_dtype dtype, const void *row, int j)
{
    (void)dtype;
    return vec_load_unaligned((const real *)row + j);
}

INLINE size_t size_of(enum hydra_dtype dtype)
{
    (void)dtype;
    return 8;
}

INLINE void store_one(enum hydra_dtype dtype, void *row, int j, real x)
{
    (void)dtype;
    ((real *)row)[j] = x;
}

INLINE void store_some(enum hydra_dtype dtype, void *row, int j, vec x)
{
    (void)dtype;
    vec_store_unaligned((real *)row + j, x);
}
#endif

INLINE void *row_at(enum hydra_dtype dtype, const struct hydra_tensor *t, int64_t row, int head)
{
    return (char *)t->data + (size_t)(row * t->row_stride + head * t->head_stride) * size_of(dtype);
}

/* One row of dim numbers to `to`, padded with zeros to whole vectors. *taint gains x * 0: NaN once x is not finite. */
INLINE void read_row(enum hydra_dtype dtype, const void *row, int dim, real *to, vec *taint)
{
    int j = 0;
    vec bad = *taint;

    for (; j + LANES <= dim; j += LANES) {
        vec x = load_some(dtype, row, j);

        vec_store(to + j, x);
        bad += x * 0;
    }
    if (j < dim) {
        vec x = {0};

        for (int i = 0; i < dim - j; i++)
            x[i] = load_one(dtype, row, j + i);
        vec_store(to + j, x);
        bad += x * 0;
    }
    *taint = bad;
}

/* Rows are often pages apart, where the processor does not look ahead by itself. */
INLINE void prefetch_row(const char *row, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(row + at, 0, 3);
}

INLINE void read_rows_of(enum hydra_dtype dtype, const struct hydra_tensor *t, int64_t row, int head, int count,
                         int dim, real *to, int ld, vec *taint)
{
    enum { AHEAD = 6 };
    size_t bytes = (size_t)dim * size_of(dtype);

    for (int i = 0; i < count; i++) {
        if (i + AHEAD < count)
            prefetch_row(row_at(dtype, t, row + i + AHEAD, head), bytes);
        read_row(dtype, row_at(dtype, t, row + i, head), dim, to + (int64_t)i * ld, taint);
    }
}

/* `count` rows of one head to [count][ld]; returns whether all are finite. The dtype is resolved outside the loop. */
static bool read_rows(enum hydra_dtype dtype, const struct hydra_tensor *t, int64_t row, int head, int count, int dim,
                      real *to, int ld)
{
    vec taint = {0};

    if (dtype == HYDRA_DTYPE_BF16)
        read_rows_of(HYDRA_DTYPE_BF16, t, row, head, count, dim, to, ld, &taint);
    else if (dtype == HYDRA_DTYPE_F16)
        read_rows_of(HYDRA_DTYPE_F16, t, row, head, count, dim, to, ld, &taint);
    else
        read_rows_of(HYDRA_DTYPE_F32, t, row, head, count, dim, to, ld, &taint);
    return !ivec_any(taint != (vec){0});
}

/* Rows [count][ld] to the rows from `first` on of a matrix in pieces of `rows` rows. */
static void rows_to_pieces(const real *from, int ld, int count, const struct pieces *p, real *to, int rows, int first)
{
    for (int piece = 0; piece < p->count; piece++) {
        const real *f = from + p->first[piece] * LANES;
        real *t = to + ((int64_t)p->first[piece] * rows + (int64_t)p->width[piece] * first) * LANES;

        for (int i = 0; i < count; i++, f += ld)
            for (int j = 0; j < p->width[piece]; j++, t += LANES)
                vec_store(t, vec_load(f + j * LANES));
    }
}

/* Rows [count][ld] to a panel [dim][PANEL] times factor; lanes from count on are 0. */
static void rows_to_panel(const real *from, int ld, int count, int dim, real factor, real *to)
{
    for (int i0 = 0; i0 < PANEL; i0 += LANES)
        for (int j0 = 0; j0 < dim; j0 += LANES) {
            vec square[LANES];

            UNROLL for (int i = 0; i < LANES; i++) square[i] =
                i0 + i < count ? vec_load(from + (int64_t)(i0 + i) * ld + j0) * factor : (vec){0};
            vec_transpose(square);
            UNROLL for (int j = 0; j < LANES; j++) if (j0 + j < dim)
                vec_store(to + (int64_t)(j0 + j) * PANEL + i0, square[j]);
        }
}

/* Row i of one piece of a matrix in pieces of `rows` rows. */
INLINE real *in_pieces(real *m, const struct pieces *p, int piece, int64_t rows, int64_t i)
{
    return m + ((int64_t)p->first[piece] * rows + i * p->width[piece]) * LANES;
}

/* Row i, times factor, to one stretch of whole vectors. */
INLINE void row_from_pieces(const real *m, const struct pieces *p, int64_t rows, int64_t i, real factor, real *to)
{
    for (int piece = 0; piece < p->count; piece++) {
        const real *from = in_pieces((real *)(uintptr_t)m, p, piece, rows, i);

        for (int j = 0; j < p->width[piece]; j++, to += LANES)
            vec_store(to, vec_load(from + j * LANES) * factor);
    }
}

INLINE void row_to_pieces(const real *from, const struct pieces *p, int64_t rows, int64_t i, real *m)
{
    for (int piece = 0; piece < p->count; piece++) {
        real *to = in_pieces(m, p, piece, rows, i);

        for (int j = 0; j < p->width[piece]; j++, from += LANES)
            vec_store(to + j * LANES, vec_load(from));
    }
}

/* A row of whole vectors to `dim` numbers of the caller. */
INLINE void write_row(enum hydra_dtype dtype, const real *from, int dim, void *row)
{
    int j = 0;

    for (; j + LANES <= dim; j += LANES)
        store_some(dtype, row, j, vec_load(from + j));
    for (; j < dim; j++)
        store_one(dtype, row, j, from[j]);
}

/* Add row i to `dim` numbers of the caller that are real already. */
INLINE void add_row(const real *from, int dim, real *row)
{
    int j = 0;

    for (; j + LANES <= dim; j += LANES)
        vec_store_unaligned(row + j, vec_load_unaligned(row + j) + vec_load(from + j));
    for (; j < dim; j++)
        row[j] += from[j];
}

#endif
