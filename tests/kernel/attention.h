/* attention.h: plain attention of whole documents, forward and backward, for the kernel tests: the oracle when
 * instantiated in a wider type, the plain computation whose error bounds a kernel's when in the same type.
 * Knows documents and masks by their definition, nothing of runs, tiles or state. */
#ifndef HYDRA_TESTS_KERNEL_ATTENTION_H
#define HYDRA_TESTS_KERNEL_ATTENTION_H

#include <math.h>
#include <stdlib.h>

#include "problem.h"

/* May query i see key j of its document? */
static bool attention_sees(const struct attention_case *c, int document, int64_t i, int64_t j)
{
    switch (c->mask) {
    case 0:
        return j <= i;
    case 1:
        return true;
    case 2:
        return j <= i && (j > i - c->window || j < c->sink);
    default: {
        const int64_t *r = c->ranges[document][i];

        return (r[0] <= j && j < r[1]) || (r[2] <= j && j < r[3]);
    }
    }
}

/* Inputs and outputs packed [rows][heads][dim]; round(x) stores an output in the dtype. `largest` is max |S|,
 * `largest_term` max |scale P dP|: the size of what may cancel in dq and dk. */
#define DEFINE_ATTENTION(NAME, T, EXP, LOG)                                                                            \
    struct NAME##_tensors {                                                                                            \
        T *q, *k, *v, *dout;                                                                                           \
        T *out, *lse, *dq, *dk, *dv;                                                                                   \
    };                                                                                                                 \
    static T NAME##_dot(const T *a, const T *b, int n)                                                                 \
    {                                                                                                                  \
        T sum = 0;                                                                                                     \
        _Pragma("omp simd reduction(+ : sum)") for (int i = 0; i < n; i++) sum += a[i] * b[i];                         \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static void NAME##_axpy(T *y, T a, const T *x, int n)                                                              \
    {                                                                                                                  \
        _Pragma("omp simd") for (int i = 0; i < n; i++) y[i] += a * x[i];                                              \
    }                                                                                                                  \
    static void NAME##_row(const struct attention_case *c, const struct NAME##_tensors *t, int doc, int64_t first,     \
                           int64_t i, int h, T *p, T (*round_to)(T), double *largest, double *largest_term)            \
    {                                                                                                                  \
        int64_t n = c->lengths[doc], row = first + i;                                                                  \
        int kv = c->kv_of_head[h], d = c->head_dim, dv = c->value_dim;                                                 \
        const T *q = t->q + (row * c->heads + h) * d, *dout = t->dout + (row * c->heads + h) * dv;                     \
        T *out = t->out + (row * c->heads + h) * dv, *dq = t->dq + (row * c->heads + h) * d;                           \
        T m = -INFINITY, l = 0, delta = 0;                                                                             \
        for (int64_t j = 0; j < n; j++) {                                                                              \
            p[j] = -INFINITY;                                                                                          \
            if (!attention_sees(c, doc, i, j))                                                                         \
                continue;                                                                                              \
            p[j] = (T)c->scale * NAME##_dot(q, t->k + ((first + j) * c->kv_heads + kv) * d, d);                        \
            m = p[j] > m ? p[j] : m;                                                                                   \
            *largest = fmax(*largest, fabs((double)p[j]));                                                             \
        }                                                                                                              \
        for (int64_t j = 0; j < n; j++)                                                                                \
            l += p[j] = p[j] == -INFINITY ? 0 : EXP(p[j] - m);                                                         \
        t->lse[row * c->heads + h] = l == 0 ? -INFINITY : m + LOG(l);                                                  \
        for (int e = 0; e < dv; e++)                                                                                   \
            out[e] = 0;                                                                                                \
        for (int e = 0; e < d; e++)                                                                                    \
            dq[e] = 0;                                                                                                 \
        for (int64_t j = 0; j < n; j++)                                                                                \
            if (p[j] != 0)                                                                                             \
                NAME##_axpy(out, p[j] = p[j] / l, t->v + ((first + j) * c->kv_heads + kv) * dv, dv);                   \
        /* Backwards: in the order of dP, one key would cancel to the last bit, which no real computation does. */     \
        for (int e = dv - 1; e >= 0; e--) {                                                                            \
            out[e] = round_to(out[e]);                                                                                 \
            delta += dout[e] * out[e];                                                                                 \
        }                                                                                                              \
        for (int64_t j = 0; j < n; j++) {                                                                              \
            int64_t key = (first + j) * c->kv_heads + kv;                                                              \
            T dp, ds;                                                                                                  \
            if (p[j] == 0)                                                                                             \
                continue;                                                                                              \
            dp = NAME##_dot(dout, t->v + key * dv, dv);                                                                \
            ds = p[j] * (dp - delta) * (T)c->scale;                                                                    \
            *largest_term = fmax(*largest_term, fabs((double)(p[j] * dp * (T)c->scale)));                              \
            NAME##_axpy(t->dv + key * dv, p[j], dout, dv);                                                             \
            NAME##_axpy(t->dk + key * d, ds, q, d);                                                                    \
            NAME##_axpy(dq, ds, t->k + key * d, d);                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void NAME(const struct attention_case *c, const struct NAME##_tensors *t, T (*round_to)(T),                 \
                     double *largest, double *largest_term)                                                            \
    {                                                                                                                  \
        int64_t first = 0, longest = 1, rows = 0;                                                                      \
        T *p;                                                                                                          \
        for (int doc = 0; doc < c->ndocs; doc++) {                                                                     \
            longest = c->lengths[doc] > longest ? c->lengths[doc] : longest;                                           \
            rows += c->lengths[doc];                                                                                   \
        }                                                                                                              \
        p = malloc((size_t)longest * sizeof *p);                                                                       \
        for (int64_t e = 0; e < rows * c->kv_heads * c->head_dim; e++)                                                 \
            t->dk[e] = 0;                                                                                              \
        for (int64_t e = 0; e < rows * c->kv_heads * c->value_dim; e++)                                                \
            t->dv[e] = 0;                                                                                              \
        *largest = *largest_term = 0;                                                                                  \
        for (int doc = 0; doc < c->ndocs; first += c->lengths[doc++])                                                  \
            for (int64_t i = 0; i < c->lengths[doc]; i++)                                                              \
                for (int h = 0; h < c->heads; h++)                                                                     \
                    NAME##_row(c, t, doc, first, i, h, p, round_to, largest, largest_term);                            \
        free(p);                                                                                                       \
    }

#endif
