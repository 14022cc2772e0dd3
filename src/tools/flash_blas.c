/* flash_blas.c: FlashAttention-2 tiling over OpenBLAS, as one would write it today: large products by the library,
 * softmax rows in between by loops that the compiler vectorises. A yardstick, not used by the library. */
#include "config.h"

#include "tools/flash_blas.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

#ifdef HYDRA_HAVE_OPENBLAS
enum { QUERIES = 192, KEYS = 256, ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

typedef void sgemm_function(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                            int lda, const float *b, int ldb, float beta, float *c, int ldc);

static sgemm_function *sgemm;
static const char *core = "none";

const char *flash_blas_open(void)
{
    void *library;
    void (*set_threads)(int);
    char *(*corename)(void);

    if (sgemm != NULL)
        return NULL;
    unsetenv("OPENBLAS_CORETYPE"); /* the baseline is what OpenBLAS is on this processor */
    library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return "libopenblas.so.0 cannot be opened";
    *(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
    *(void **)&corename = dlsym(library, "openblas_get_corename");
    *(void **)&sgemm = dlsym(library, "cblas_sgemm");
    if (set_threads == NULL || corename == NULL || sgemm == NULL)
        return "libopenblas.so.0 lacks cblas_sgemm";
    set_threads(1);
    core = corename();
    return NULL;
}

const char *flash_blas_core(void)
{
    return core;
}

int64_t flash_blas_room(int d, int dv)
{
    (void)d;
    return 2 * QUERIES * KEYS + QUERIES * (dv + 2);
}

/* e^x for x <= 0, in a form that compilers vectorise. */
static inline float fast_exp(float x)
{
    float y = fmaxf(x * 1.44269504f, -126.0f), n = y + 0x1.8p23f, f = y - (n - 0x1.8p23f);
    float p = 0x1.444p-13f;
    union {
        float f;
        uint32_t u;
    } power = {n};

    p = p * f + 0x1.5f48cp-10f;
    p = p * f + 0x1.3b2a1cp-7f;
    p = p * f + 0x1.c6aeccp-5f;
    p = p * f + 0x1.ebfbep-3f;
    p = p * f + 0x1.62e43p-1f;
    p = p * f + 1;
    power.u = (power.u << 23) + 0x3F800000;
    return p * power.f;
}

/* One row of scores: running maximum, sum and scale of O. */
static void soften_row(float *s, int seen, int count, float scale, float *m, float *l, float *o, int dv)
{
    float most = -INFINITY, keep, sum = 0, top;

#pragma omp simd reduction(max : most)
    for (int j = 0; j < seen; j++)
        most = s[j] > most ? s[j] : most;
    top = fmaxf(most * scale, *m);
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < seen; j++)
        sum += s[j] = fast_exp(s[j] * scale - top);
    for (int j = seen; j < count; j++)
        s[j] = 0;
    keep = expf(*m - top);
    *l = *l * keep + sum;
    *m = top;
#pragma omp simd
    for (int j = 0; j < dv; j++)
        o[j] *= keep;
}

void flash_blas_forward(const struct flash_blas *f, const float *q, const float *k, const float *v, float *out,
                        float *lse)
{
    float *s = f->room, *o = s + 2 * QUERIES * KEYS, *m = o + QUERIES * f->dv, *l = m + QUERIES;

    for (int64_t i0 = 0; i0 < f->n; i0 += QUERIES) {
        int rows = (int)(f->n - i0 < QUERIES ? f->n - i0 : QUERIES);

        memset(o, 0, (size_t)(QUERIES * f->dv) * sizeof *o);
        for (int i = 0; i < rows; i++) {
            m[i] = -INFINITY;
            l[i] = 0;
        }
        for (int64_t j0 = 0; j0 < (f->causal ? i0 + rows : f->n); j0 += KEYS) {
            int64_t end = f->causal && i0 + rows < f->n ? i0 + rows : f->n;
            int cols = (int)(end - j0 < KEYS ? end - j0 : KEYS);

            sgemm(ROW_MAJOR, PLAIN, TRANSPOSED, rows, cols, f->d, 1, q + i0 * f->ld_q, (int)f->ld_q, k + j0 * f->ld_k,
                  (int)f->ld_k, 0, s, KEYS);
            for (int i = 0; i < rows; i++) {
                int64_t seen = f->causal ? i0 + i + 1 - j0 : cols;

                if (seen > 0)
                    soften_row(s + i * KEYS, (int)(seen < cols ? seen : cols), cols, f->scale, &m[i], &l[i],
                               o + i * f->dv, f->dv);
                else
                    memset(s + i * KEYS, 0, (size_t)cols * sizeof *s);
            }
            sgemm(ROW_MAJOR, PLAIN, PLAIN, rows, f->dv, cols, 1, s, KEYS, v + j0 * f->ld_v, (int)f->ld_v, 1, o, f->dv);
        }
        for (int i = 0; i < rows; i++) {
            for (int e = 0; e < f->dv; e++)
                out[(i0 + i) * f->ld_out + e] = o[i * f->dv + e] / l[i];
            lse[i0 + i] = m[i] + logf(l[i]);
        }
    }
}

/* P and dS of one tile in place. */
static void differentiate(const struct flash_blas *f, float *p, float *ds, int64_t seen, int count, float lse,
                          float delta)
{
    int last = (int)(seen < count ? seen : count);

#pragma omp simd
    for (int j = 0; j < last; j++) {
        p[j] = fast_exp(p[j] * f->scale - lse);
        ds[j] = p[j] * (ds[j] - delta) * f->scale;
    }
    for (int64_t j = seen < 0 ? 0 : seen; j < count; j++)
        p[j] = ds[j] = 0;
}

void flash_blas_backward(const struct flash_blas *f, const float *q, const float *k, const float *v, const float *dout,
                         const float *lse, const float *delta, float *dq, float *dk, float *dv)
{
    float *p = f->room, *ds = p + QUERIES * KEYS;

    for (int64_t j0 = 0; j0 < f->n; j0 += KEYS) {
        int cols = (int)(f->n - j0 < KEYS ? f->n - j0 : KEYS);

        for (int64_t i0 = f->causal ? j0 / QUERIES * QUERIES : 0; i0 < f->n; i0 += QUERIES) {
            int rows = (int)(f->n - i0 < QUERIES ? f->n - i0 : QUERIES);

            sgemm(ROW_MAJOR, PLAIN, TRANSPOSED, rows, cols, f->d, 1, q + i0 * f->ld_q, (int)f->ld_q, k + j0 * f->ld_k,
                  (int)f->ld_k, 0, p, KEYS);
            sgemm(ROW_MAJOR, PLAIN, TRANSPOSED, rows, cols, f->dv, 1, dout + i0 * f->ld_out, (int)f->ld_out,
                  v + j0 * f->ld_v, (int)f->ld_v, 0, ds, KEYS);
            for (int i = 0; i < rows; i++)
                differentiate(f, p + i * KEYS, ds + i * KEYS, f->causal ? i0 + i + 1 - j0 : cols, cols, lse[i0 + i],
                              delta[i0 + i]);
            sgemm(ROW_MAJOR, TRANSPOSED, PLAIN, cols, f->dv, rows, 1, p, KEYS, dout + i0 * f->ld_out, (int)f->ld_out, 1,
                  dv + j0 * f->ld_v, (int)f->ld_v);
            sgemm(ROW_MAJOR, TRANSPOSED, PLAIN, cols, f->d, rows, 1, ds, KEYS, q + i0 * f->ld_q, (int)f->ld_q, 1,
                  dk + j0 * f->ld_k, (int)f->ld_k);
            sgemm(ROW_MAJOR, PLAIN, PLAIN, rows, f->d, cols, 1, ds, KEYS, k + j0 * f->ld_k, (int)f->ld_k, 1,
                  dq + i0 * f->ld_q, (int)f->ld_q);
        }
    }
}
#else
const char *flash_blas_open(void)
{
    return "built without OpenBLAS";
}

const char *flash_blas_core(void)
{
    return "none";
}

int64_t flash_blas_room(int d, int dv)
{
    (void)d;
    (void)dv;
    return 0;
}

void flash_blas_forward(const struct flash_blas *f, const float *q, const float *k, const float *v, float *out,
                        float *lse)
{
    (void)f, (void)q, (void)k, (void)v, (void)out, (void)lse;
}

void flash_blas_backward(const struct flash_blas *f, const float *q, const float *k, const float *v, const float *dout,
                         const float *lse, const float *delta, float *dq, float *dk, float *dv)
{
    (void)f, (void)q, (void)k, (void)v, (void)dout, (void)lse, (void)delta, (void)dq, (void)dk, (void)dv;
}
#endif
