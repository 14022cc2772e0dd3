/* kernel_speed.c: times a kernel, its canary, bare multiply-adds and the baseline, interleaved, and takes medians. */
#include "tools/kernel_speed.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "kernel/convert.h"
#include "tools/flash_blas.h"
#include "tools/median.h"

enum { REPETITIONS_MOST = 101 };
#define SECONDS_LEAST 0.02 /* of a timing: shorter calls are repeated */

struct setup {
    const struct speed_case *c;
    struct hydra_forward forward;
    struct hydra_backward backward;
    struct hydra_query_run *query_runs;
    struct hydra_key_run *key_runs;
    int *kv_of_head;
    void *block[11];
    struct flash_blas blas;
};

static double now(bool wall)
{
    struct timespec t;

    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t size_of(enum hydra_dtype dtype)
{
    return dtype == HYDRA_DTYPE_F64 ? 8 : dtype == HYDRA_DTYPE_F32 ? 4 : 2;
}

/* Attended pairs of one head. */
static double pairs(const struct speed_case *c)
{
    double sum = 0;

    for (int i = 0; i < c->ndocs; i++) {
        double n = (double)c->lengths[i], w = fmin((double)c->window, n), s = fmin((double)c->sink, n);

        if (c->mask == HYDRA_KERNEL_FULL)
            sum += n * n;
        else if (c->mask == HYDRA_KERNEL_CAUSAL)
            sum += n * (n + 1) / 2;
        else
            sum += w * (w + 1) / 2 + (n - w) * w + fmax(0, n - w) * s - fmin(fmax(0, n - w), s) * (s - 1) / 2;
    }
    return sum;
}

static int64_t rows_of(const struct speed_case *c)
{
    int64_t rows = 0;

    for (int i = 0; i < c->ndocs; i++)
        rows += c->lengths[i];
    return rows;
}

/* A packed random tensor, in units of about 1. */
static struct hydra_tensor make(void **block, enum hydra_dtype dtype, int64_t rows, int heads, int dim, uint64_t seed)
{
    struct hydra_random random = hydra_random_seed(seed);
    struct hydra_tensor t = {hydra_alloc(rows * heads * dim, size_of(dtype)), (int64_t)heads * dim, dim};

    *block = t.data;
    for (int64_t i = 0; t.data != NULL && i < rows * heads * dim; i++) {
        float x = (float)((hydra_random_unit(&random) - 0.5) * 3.46);

        if (dtype == HYDRA_DTYPE_F64)
            ((double *)t.data)[i] = x;
        else if (dtype == HYDRA_DTYPE_F32)
            ((float *)t.data)[i] = x;
        else
            ((uint16_t *)t.data)[i] = dtype == HYDRA_DTYPE_BF16 ? hydra_bf16_of_float(x) : hydra_f16_of_float(x);
    }
    return t;
}

static void setup_free(struct setup *s)
{
    for (size_t i = 0; i < sizeof s->block / sizeof *s->block; i++)
        hydra_free(s->block[i]);
    hydra_free(s->query_runs);
    hydra_free(s->key_runs);
    hydra_free(s->kv_of_head);
    hydra_free(s->blas.room);
}

static struct hydra_kernel_shape shape_of(const struct speed_case *c, const int *kv_of_head)
{
    return (struct hydra_kernel_shape){c->dtype,    c->heads,     c->kv_heads,           kv_of_head,
                                       c->head_dim, c->value_dim, 1 / sqrt(c->head_dim), c->mask,
                                       c->window,   c->sink};
}

static int setup_make(const struct speed_case *c, struct setup *s)
{
    int64_t rows = rows_of(c), row = 0;
    enum hydra_dtype wide = c->dtype == HYDRA_DTYPE_F64 ? HYDRA_DTYPE_F64 : HYDRA_DTYPE_F32;
    struct hydra_kernel_work work = {NULL, c->ndocs, NULL, c->ndocs};
    struct hydra_kernel_shape shape;
    struct hydra_tensor q, k, v, dout, out, lse, delta, dq, dk, dv;
    bool backward = c->direction == SPEED_BACKWARD;
    size_t bytes;
    int status = HYDRA_SUCCESS;

    *s = (struct setup){.c = c};
    work.query_runs = s->query_runs = hydra_calloc(c->ndocs, sizeof *s->query_runs);
    work.key_runs = s->key_runs = hydra_calloc(c->ndocs, sizeof *s->key_runs);
    s->kv_of_head = hydra_calloc(c->heads, sizeof *s->kv_of_head);
    HYDRA_REQUIRE(s->query_runs != NULL && s->key_runs != NULL && s->kv_of_head != NULL, HYDRA_ERR_NOMEM,
                  "bench kernel: runs of %d documents", c->ndocs);
    for (int i = 0; i < c->ndocs; row += c->lengths[i++]) {
        s->query_runs[i] = (struct hydra_query_run){row, c->lengths[i], 0, i, i + 1, NULL};
        s->key_runs[i] = (struct hydra_key_run){row, c->lengths[i], 0};
    }
    for (int h = 0; h < c->heads; h++)
        s->kv_of_head[h] = (int)((int64_t)h * c->kv_heads / c->heads);
    shape = shape_of(c, s->kv_of_head);
    HYDRA_TRY(hydra_kernel_check(c->kernel, &shape));
    q = make(&s->block[0], c->dtype, rows, c->heads, c->head_dim, 1);
    k = make(&s->block[1], c->dtype, rows, c->kv_heads, c->head_dim, 2);
    v = make(&s->block[2], c->dtype, rows, c->kv_heads, c->value_dim, 3);
    out = make(&s->block[3], c->dtype, rows, c->heads, c->value_dim, 4);
    lse = make(&s->block[4], wide, rows, c->heads, 1, 5);
    dout = make(&s->block[5], c->dtype, backward ? rows : 1, c->heads, c->value_dim, 6);
    delta = make(&s->block[6], wide, rows, c->heads, 1, 7);
    dq = make(&s->block[7], wide, backward ? rows : 1, c->heads, c->head_dim, 8);
    dk = make(&s->block[8], wide, backward ? rows : 1, c->kv_heads, c->head_dim, 9);
    dv = make(&s->block[9], wide, backward ? rows : 1, c->kv_heads, c->value_dim, 10);
    bytes = c->kernel->workspace_bytes(&shape, rows, c->threads, false);
    if (backward && c->kernel->workspace_bytes(&shape, rows, c->threads, true) > bytes)
        bytes = c->kernel->workspace_bytes(&shape, rows, c->threads, true);
    s->block[10] = hydra_alloc((int64_t)bytes, 1);
    for (size_t i = 0; i < sizeof s->block / sizeof *s->block; i++)
        HYDRA_REQUIRE(s->block[i] != NULL, HYDRA_ERR_NOMEM, "bench kernel: tensors of %lld tokens", (long long)rows);
    s->forward = (struct hydra_forward){.shape = shape,
                                        .work = work,
                                        .q = q,
                                        .k = k,
                                        .v = v,
                                        .out = out,
                                        .lse = lse,
                                        .flags = HYDRA_KERNEL_FIRST | HYDRA_KERNEL_LAST,
                                        .workspace = s->block[10],
                                        .threads = c->threads};
    s->backward = (struct hydra_backward){.shape = shape,
                                          .work = work,
                                          .q = q,
                                          .k = k,
                                          .v = v,
                                          .dout = dout,
                                          .lse = lse,
                                          .delta = delta,
                                          .dq = dq,
                                          .dk = dk,
                                          .dv = dv,
                                          .workspace = s->block[10],
                                          .threads = c->threads};
    if (c->baseline) {
        s->blas = (struct flash_blas){c->lengths[0],
                                      c->head_dim,
                                      c->value_dim,
                                      q.row_stride,
                                      k.row_stride,
                                      v.row_stride,
                                      out.row_stride,
                                      (float)shape.scale,
                                      c->mask == HYDRA_KERNEL_CAUSAL,
                                      hydra_alloc(flash_blas_room(c->head_dim, c->value_dim), sizeof(float))};
        HYDRA_REQUIRE(s->blas.room != NULL, HYDRA_ERR_NOMEM, "bench kernel: room of the baseline");
    }
    return HYDRA_SUCCESS;

fail:
    setup_free(s);
    return status;
}

static void run_kernel(struct setup *s)
{
    if (s->c->direction == SPEED_FORWARD)
        s->c->kernel->forward(&s->forward);
    else
        s->c->kernel->backward(&s->backward);
}

static void run_baseline(struct setup *s)
{
    int64_t n = s->blas.n;

    for (int h = 0; h < s->c->heads; h++) {
        int d = h * s->c->head_dim, dv = h * s->c->value_dim;
        const float *q = (float *)s->forward.q.data + d, *k = (float *)s->forward.k.data + d;
        const float *v = (float *)s->forward.v.data + dv, *dout = (float *)s->backward.dout.data + dv;
        float *lse = (float *)s->forward.lse.data + h * n;

        if (s->c->direction == SPEED_FORWARD)
            flash_blas_forward(&s->blas, q, k, v, (float *)s->forward.out.data + dv, lse);
        else
            flash_blas_backward(&s->blas, q, k, v, dout, lse, (float *)s->backward.delta.data + h * n,
                                (float *)s->backward.dq.data + d, (float *)s->backward.dk.data + d,
                                (float *)s->backward.dv.data + dv);
    }
}

/* FLOP/s of the kernel or the baseline. */
static double rate(struct setup *s, void (*run)(struct setup *), double flops)
{
    bool wall = s->c->threads > 1;
    double begin = now(wall), seconds;
    int calls = 0;

    do {
        run(s);
        calls++;
        seconds = now(wall) - begin;
    } while (seconds < SECONDS_LEAST);
    return flops * calls / seconds;
}

/* FLOP/s of a yardstick, on all threads at once. */
static double yardstick(const struct speed_case *c, double (*work)(enum hydra_dtype, int64_t), int64_t rounds)
{
    bool wall = c->threads > 1;
    double flops = 0, begin = now(wall);

#ifdef _OPENMP
#pragma omp parallel num_threads(c->threads) reduction(+ : flops)
#endif
    flops += work(c->dtype, rounds);
    return flops / (now(wall) - begin);
}

/* Rounds of a yardstick that take some milliseconds. */
static int64_t calibrate(const struct speed_case *c, double (*work)(enum hydra_dtype, int64_t))
{
    int64_t rounds = 16;

    for (; rounds < INT64_C(1) << 40; rounds *= 2) {
        double begin = now(false);

        work(c->dtype, rounds);
        if (now(false) - begin > 0.004)
            break;
    }
    return rounds;
}

static double bytes_of(const struct speed_case *c)
{
    double rows = (double)rows_of(c), in = (double)size_of(c->dtype), wide = c->dtype == HYDRA_DTYPE_F64 ? 8 : 4;
    double q = rows * c->heads * c->head_dim, k = rows * c->kv_heads * c->head_dim,
           v = rows * c->kv_heads * c->value_dim;
    double o = rows * c->heads * c->value_dim, scalars = rows * c->heads;

    if (c->direction == SPEED_FORWARD)
        return in * (q + k + v + o) + wide * scalars;
    return in * (q + k + v + o) + wide * 2 * scalars + wide * 2 * (q + k + v); /* gradients are read and written */
}

int tool_kernel_speed(const struct speed_case *c, struct speed *speed)
{
    struct setup s;
    double gflops[REPETITIONS_MOST], ratio[REPETITIONS_MOST], of_peak[REPETITIONS_MOST], baseline[REPETITIONS_MOST];
    double canaries[REPETITIONS_MOST];
    int n = c->repetitions < REPETITIONS_MOST ? c->repetitions : REPETITIONS_MOST;
    double flops = pairs(c) * c->heads *
                   (c->direction == SPEED_FORWARD ? 2.0 * (c->head_dim + c->value_dim)
                                                  : 2.0 * (3 * c->head_dim + 2 * c->value_dim));
    int64_t canary_rounds, peak_rounds;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(c->kernel->canary != NULL && c->kernel->peak != NULL, HYDRA_ERR_UNSUPPORTED,
                  "kernel %s has no yardstick to measure it against", c->kernel->name);
    HYDRA_TRY(setup_make(c, &s));
    canary_rounds = calibrate(c, c->kernel->canary);
    peak_rounds = calibrate(c, c->kernel->peak);
    s.c->kernel->forward(&s.forward); /* warm, and lse for the backward */
    for (int i = 0; i < n; i++) {
        double before = yardstick(c, c->kernel->canary, canary_rounds), after;
        double peak = yardstick(c, c->kernel->peak, peak_rounds);

        gflops[i] = rate(&s, run_kernel, flops) * 1e-9;
        after = yardstick(c, c->kernel->canary, canary_rounds);
        canaries[i] = (before + after) / 2 * 1e-9;
        ratio[i] = gflops[i] / canaries[i];
        of_peak[i] = before / peak;
        baseline[i] = c->baseline ? gflops[i] * 1e9 / rate(&s, run_baseline, flops) : NAN;
    }
    *speed = (struct speed){flops,
                            bytes_of(c),
                            tool_median(gflops, n),
                            tool_median(ratio, n),
                            tool_median(of_peak, n),
                            tool_median(canaries, n),
                            c->baseline ? tool_median(baseline, n) : NAN};
    setup_free(&s);
    return HYDRA_SUCCESS;

fail:
    return status;
}
