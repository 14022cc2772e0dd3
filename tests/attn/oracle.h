/* oracle.h: attention of one whole document, forward and backward, as textbook loops. Knows nothing of shards, ranks,
 * kernels or rings. Three instances: long double (the truth for fp64), double (the truth for the rest, and the plain
 * computation of fp64) and float (the plain computation of fp32). */
#ifndef HYDRA_TESTS_ATTN_ORACLE_H
#define HYDRA_TESTS_ATTN_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct oracle_shape {
    int heads, kv_heads, dim, value_dim;
    int mask; /* HYDRA_MASK_* */
    int64_t window, sink;
    double scale;
};

static bool oracle_sees(const struct oracle_shape *shape, int64_t query, int64_t key)
{
    if (shape->mask == HYDRA_MASK_FULL)
        return true;
    if (key > query)
        return false;
    return shape->mask == HYDRA_MASK_CAUSAL || key >= query - shape->window + 1 || key < shape->sink;
}

/* s tokens; q, dq [s][H][D]; k, dk [s][G][D]; v, dv [s][G][Dv]; out, dout [s][H][Dv]; lse [s][H].
 * Returns max |score|. */
#define ORACLE(name, real, exponential, logarithm)                                                                     \
    static double name(const struct oracle_shape *o, int64_t s, const real *q, const real *k, const real *v,           \
                       const real *dout, real *out, real *lse, real *dq, real *dk, real *dv)                           \
    {                                                                                                                  \
        int H = o->heads, G = o->kv_heads, D = o->dim, E = o->value_dim;                                               \
        real *p = malloc((size_t)(s + 1) * sizeof *p);                                                                 \
        double greatest_score = 0;                                                                                     \
                                                                                                                       \
        memset(out, 0, (size_t)(s * H * E) * sizeof *out);                                                             \
        memset(dq, 0, (size_t)(s * H * D) * sizeof *dq);                                                               \
        memset(dk, 0, (size_t)(s * G * D) * sizeof *dk);                                                               \
        memset(dv, 0, (size_t)(s * G * E) * sizeof *dv);                                                               \
        for (int64_t i = 0; i < s; i++)                                                                                \
            for (int h = 0; h < H; h++) {                                                                              \
                int g = h * G / H;                                                                                     \
                real most = -(real)INFINITY, sum = 0, delta = 0;                                                       \
                const real *qi = q + (i * H + h) * D, *doi = dout + (i * H + h) * E;                                   \
                real *oi = out + (i * H + h) * E;                                                                      \
                                                                                                                       \
                for (int64_t j = 0; j < s; j++) {                                                                      \
                    p[j] = -(real)INFINITY;                                                                            \
                    if (!oracle_sees(o, i, j))                                                                         \
                        continue;                                                                                      \
                    p[j] = 0;                                                                                          \
                    for (int d = 0; d < D; d++)                                                                        \
                        p[j] += qi[d] * k[(j * G + g) * D + d];                                                        \
                    p[j] *= (real)o->scale;                                                                            \
                    most = p[j] > most ? p[j] : most;                                                                  \
                    greatest_score = fabs((double)p[j]) > greatest_score ? fabs((double)p[j]) : greatest_score;        \
                }                                                                                                      \
                for (int64_t j = 0; j < s; j++) {                                                                      \
                    p[j] = oracle_sees(o, i, j) ? exponential(p[j] - most) : 0;                                        \
                    sum += p[j];                                                                                       \
                }                                                                                                      \
                lse[i * H + h] = sum == 0 ? -(real)INFINITY : most + logarithm(sum);                                   \
                for (int64_t j = 0; j < s; j++) {                                                                      \
                    p[j] = sum == 0 ? 0 : p[j] / sum;                                                                  \
                    for (int d = 0; d < E; d++)                                                                        \
                        oi[d] += p[j] * v[(j * G + g) * E + d];                                                        \
                }                                                                                                      \
                for (int d = 0; d < E; d++)                                                                            \
                    delta += oi[d] * doi[d];                                                                           \
                for (int64_t j = 0; j < s; j++) {                                                                      \
                    real dp = 0, ds;                                                                                   \
                                                                                                                       \
                    for (int d = 0; d < E; d++) {                                                                      \
                        dp += doi[d] * v[(j * G + g) * E + d];                                                         \
                        dv[(j * G + g) * E + d] += p[j] * doi[d];                                                      \
                    }                                                                                                  \
                    ds = p[j] * (dp - delta) * (real)o->scale;                                                         \
                    for (int d = 0; d < D; d++) {                                                                      \
                        dq[(i * H + h) * D + d] += ds * k[(j * G + g) * D + d];                                        \
                        dk[(j * G + g) * D + d] += ds * qi[d];                                                         \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        free(p);                                                                                                       \
        return greatest_score;                                                                                         \
    }

ORACLE(oracle_long, long double, expl, logl)
ORACLE(oracle_double, double, exp, log)
ORACLE(oracle_float, float, expf, logf)

#endif
