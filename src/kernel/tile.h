/* tile.h: the register tiles that all products of attention are made of: C[rows][lanes] (+)= A[rows][depth]
 * B[depth][lanes], A broadcast one number at a time, B and C in vectors. Included by instance.h alone.
 *
 * A tile of M rows and N vectors keeps M x N sums in registers: 24 of 32 registers, or 12 of 16, whatever N is. */
#ifndef HYDRA_KERNEL_TILE_H
#define HYDRA_KERNEL_TILE_H

#include "kernel/simd.h"

enum {
    PANEL = 3 * LANES,                           /* queries side by side in a score panel */
    SCORE_ROWS = KERNEL_REGISTERS == 32 ? 8 : 4, /* keys of a score tile */
};

/* Scores: C = A B, not added to; A's rows lie lda apart. With `greatest`, raise the running maxima of the lanes. */
#define DEFINE_SCORE_TILE(NAME, N, WITH_MAX)                                                                           \
    __attribute__((noinline)) static void NAME(int64_t depth, const real *a, int64_t lda, const real *b, real *c,      \
                                               int64_t ldc, vec *greatest)                                             \
    {                                                                                                                  \
        vec sum[SCORE_ROWS][N];                                                                                        \
        UNROLL for (int i = 0; i < SCORE_ROWS; i++) UNROLL for (int j = 0; j < N; j++) sum[i][j] = (vec){0};           \
        for (int64_t d = 0; d < depth; d++, b += PANEL) {                                                              \
            vec row[N];                                                                                                \
            UNROLL for (int j = 0; j < N; j++) row[j] = vec_load(b + j * LANES);                                       \
            UNROLL for (int i = 0; i < SCORE_ROWS; i++)                                                                \
            {                                                                                                          \
                real x = a[i * lda + d];                                                                               \
                UNROLL for (int j = 0; j < N; j++) sum[i][j] += x * row[j];                                            \
            }                                                                                                          \
        }                                                                                                              \
        UNROLL for (int j = 0; j < N; j++)                                                                             \
        {                                                                                                              \
            UNROLL for (int i = 0; i < SCORE_ROWS; i++) vec_store(c + i * ldc + j * LANES, sum[i][j]);                 \
            if (WITH_MAX) {                                                                                            \
                vec most = greatest[j];                                                                                \
                UNROLL for (int i = 0; i < SCORE_ROWS; i++) most = vec_max(sum[i][j], most);                           \
                greatest[j] = most;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_SCORE_TILE(score_1, 1, false)
DEFINE_SCORE_TILE(score_2, 2, false)
DEFINE_SCORE_TILE(score_3, 3, false)
DEFINE_SCORE_TILE(score_max_1, 1, true)
DEFINE_SCORE_TILE(score_max_2, 2, true)
DEFINE_SCORE_TILE(score_max_3, 3, true)

typedef void score_tile(int64_t depth, const real *a, int64_t lda, const real *b, real *c, int64_t ldc, vec *greatest);

static score_tile *const score_tiles[] = {NULL, score_1, score_2, score_3};
static score_tile *const score_max_tiles[] = {NULL, score_max_1, score_max_2, score_max_3};

/* Sums: C += A B. A[i][d] is a[i * row + d * step]: one of the two is 1. B's and C's rows are N vectors long. */
#define DEFINE_SUM_TILE(NAME, M, N, ROW, STEP)                                                                         \
    __attribute__((noinline)) static void NAME(int64_t depth, const real *a, int64_t lda, const real *b, real *c)      \
    {                                                                                                                  \
        vec sum[M][N];                                                                                                 \
        UNROLL for (int i = 0; i < M; i++) UNROLL for (int j = 0; j < N; j++) sum[i][j] =                              \
            vec_load(c + (i * N + j) * LANES);                                                                         \
        for (int64_t d = 0; d < depth; d++, a += (STEP), b += N * LANES) {                                             \
            vec row[N];                                                                                                \
            UNROLL for (int j = 0; j < N; j++) row[j] = vec_load(b + j * LANES);                                       \
            UNROLL for (int i = 0; i < M; i++)                                                                         \
            {                                                                                                          \
                real x = a[i * (ROW)];                                                                                 \
                UNROLL for (int j = 0; j < N; j++) sum[i][j] += x * row[j];                                            \
            }                                                                                                          \
        }                                                                                                              \
        UNROLL for (int i = 0; i < M; i++) UNROLL for (int j = 0; j < N; j++)                                          \
            vec_store(c + (i * N + j) * LANES, sum[i][j]);                                                             \
    }

typedef void sum_tile(int64_t depth, const real *a, int64_t lda, const real *b, real *c);

/* Rows of a sum tile of N vectors. They divide 24, and PANEL where the tile walks its columns. */
#if KERNEL_REGISTERS == 32
enum { SUM_ROWS_1 = 12, SUM_ROWS_2 = 12, SUM_ROWS_3 = 8, SUM_ROWS_4 = 6 };
#else
enum { SUM_ROWS_1 = 6, SUM_ROWS_2 = 6, SUM_ROWS_3 = 4, SUM_ROWS_4 = 0 };
#endif
static const int sum_rows[] = {0, SUM_ROWS_1, SUM_ROWS_2, SUM_ROWS_3, SUM_ROWS_4};

DEFINE_SUM_TILE(sum_across_1, SUM_ROWS_1, 1, 1, lda)
DEFINE_SUM_TILE(sum_across_2, SUM_ROWS_2, 2, 1, lda)
DEFINE_SUM_TILE(sum_along_1, SUM_ROWS_1, 1, lda, 1)
DEFINE_SUM_TILE(sum_along_2, SUM_ROWS_2, 2, lda, 1)
DEFINE_SUM_TILE(sum_across_3, SUM_ROWS_3, 3, 1, lda)
DEFINE_SUM_TILE(sum_along_3, SUM_ROWS_3, 3, lda, 1)
#if KERNEL_REGISTERS == 32
DEFINE_SUM_TILE(sum_across_4, SUM_ROWS_4, 4, 1, lda)
DEFINE_SUM_TILE(sum_along_4, SUM_ROWS_4, 4, lda, 1)
#else
#define sum_across_4 NULL
#define sum_along_4  NULL
#endif

/* across: A is stored [depth][rows] (P^T against queries); along: A is stored [rows][depth]. */
static sum_tile *const sum_across_tiles[] = {NULL, sum_across_1, sum_across_2, sum_across_3, sum_across_4};
static sum_tile *const sum_along_tiles[] = {NULL, sum_along_1, sum_along_2, sum_along_3, sum_along_4};

/* A row of `dim` numbers cut into pieces of whole vectors, each as wide as a sum tile. A matrix of rows is stored piece
 * by piece, [piece][row][vectors of the piece]: every tile then walks contiguous memory. */
struct pieces {
    int count;
    int vectors;   /* of a row, the last one padded with zeros */
    int first[64]; /* vector that the piece begins with */
    int width[64]; /* vectors, 1 .. WIDEST */
};

/* A panel of PANEL rows must be a whole number of tiles. */
enum { WIDEST = KERNEL_REGISTERS == 32 ? 4 : PANEL % 4 == 0 ? 3 : 2 };

static struct pieces cut_pieces(int dim)
{
    struct pieces p = {.vectors = (dim + LANES - 1) / LANES};

    for (int at = 0; at < p.vectors; at += p.width[p.count++]) {
        int left = p.vectors - at;

        p.first[p.count] = at;
        p.width[p.count] = left <= WIDEST ? left : left == WIDEST + 1 ? (left + 1) / 2 : WIDEST;
    }
    return p;
}

#endif
