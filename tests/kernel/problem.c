/* problem.c: data, expected results and kernel runs of the kernel tests. */
#include "problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attention.h"
#include "base/memory.h"
#include "base/random.h"
#include "kernel/convert.h"
#include "tests/tap.h"

DEFINE_ATTENTION(attention_float, float, expf, logf)
DEFINE_ATTENTION(attention_double, double, exp, log)
DEFINE_ATTENTION(attention_long, long double, expl, logl)

enum { SLACK = 3, GAP = 2 }; /* poisoned elements after a head's row, poisoned rows after a document */

static double round_dtype(enum hydra_dtype dtype, double x)
{
    switch (dtype) {
    case HYDRA_DTYPE_F64:
        return x;
    case HYDRA_DTYPE_BF16:
        return hydra_float_of_bf16(hydra_bf16_of_float((float)x));
    case HYDRA_DTYPE_F16:
        return hydra_float_of_f16(hydra_f16_of_float((float)x));
    default:
        return (float)x;
    }
}

static double *random_array(struct hydra_random *random, enum hydra_dtype dtype, double amplitude, int64_t count)
{
    double *a = hydra_alloc(count, sizeof *a);

    for (int64_t i = 0; i < count; i++) {
        double sum = -2;

        for (int j = 0; j < 4; j++)
            sum += hydra_random_unit(random);
        a[i] = round_dtype(dtype, sum * 1.7320508 * amplitude); /* variance amplitude^2 */
    }
    return a;
}

/* Two ranges per query, some empty, some overlapping, some beyond the document. */
static void random_ranges(struct hydra_random *random, int64_t (*ranges)[4], int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int r = 0; r < 4; r += 2) {
            ranges[i][r] = hydra_random_below(random, n + 1);
            ranges[i][r + 1] = ranges[i][r] + hydra_random_below(random, n / 2 + 2) - 1;
        }
}

void problem_make(struct problem *p, const int64_t *lengths)
{
    struct hydra_random random = hydra_random_seed(p->seed);
    struct attention_case *c = &p->c;

    p->rows = 0;
    for (int i = 0; i < c->ndocs; i++) {
        p->lengths[i] = lengths[i];
        p->rows += lengths[i];
        p->ranges[i] = hydra_alloc(lengths[i], sizeof *p->ranges[i]);
        random_ranges(&random, p->ranges[i], lengths[i]);
    }
    for (int h = 0; h < c->heads; h++)
        p->kv_of_head[h] = (int)((int64_t)h * c->kv_heads / c->heads);
    c->lengths = p->lengths;
    c->kv_of_head = p->kv_of_head;
    c->ranges = (const int64_t(*const *)[4])p->ranges;
    c->scale = 1 / sqrt(c->head_dim);
    p->q = random_array(&random, p->dtype, p->amplitude, p->rows * c->heads * c->head_dim);
    p->k = random_array(&random, p->dtype, 1, p->rows * c->kv_heads * c->head_dim);
    p->v = random_array(&random, p->dtype, 1, p->rows * c->kv_heads * c->value_dim);
    p->dout = random_array(&random, p->dtype, 1, p->rows * c->heads * c->value_dim);
}

static void results_make(const struct problem *p, struct results *r)
{
    const struct attention_case *c = &p->c;

    r->out = hydra_alloc(p->rows * c->heads * c->value_dim, sizeof(double));
    r->lse = hydra_alloc(p->rows * c->heads, sizeof(double));
    r->dq = hydra_alloc(p->rows * c->heads * c->head_dim, sizeof(double));
    r->dk = hydra_alloc(p->rows * c->kv_heads * c->head_dim, sizeof(double));
    r->dv = hydra_alloc(p->rows * c->kv_heads * c->value_dim, sizeof(double));
    r->largest = 0;
}

void results_free(struct results *r)
{
    hydra_free(r->out);
    hydra_free(r->lse);
    hydra_free(r->dq);
    hydra_free(r->dk);
    hydra_free(r->dv);
    *r = (struct results){0};
}

static float keep_float(float x)
{
    return x;
}
static double keep_double(double x)
{
    return x;
}
static long double keep_long(long double x)
{
    return x;
}
static float round_bf16(float x)
{
    return hydra_float_of_bf16(hydra_bf16_of_float(x));
}
static float round_f16(float x)
{
    return hydra_float_of_f16(hydra_f16_of_float(x));
}

/* Solve in type T and bring the results to double. */
#define DEFINE_SOLVE(NAME, T, ATTENTION)                                                                               \
    static T *NAME##_from(const double *a, int64_t count)                                                              \
    {                                                                                                                  \
        T *b = hydra_alloc(count, sizeof *b);                                                                          \
        for (int64_t i = 0; i < count; i++)                                                                            \
            b[i] = a == NULL ? 0 : (T)a[i];                                                                            \
        return b;                                                                                                      \
    }                                                                                                                  \
    static void NAME##_to(double *a, T *b, int64_t count)                                                              \
    {                                                                                                                  \
        for (int64_t i = 0; a != NULL && i < count; i++)                                                               \
            a[i] = (double)b[i];                                                                                       \
        hydra_free(b);                                                                                                 \
    }                                                                                                                  \
    static void NAME(const struct problem *p, T (*round_to)(T), struct results *r)                                     \
    {                                                                                                                  \
        int64_t qd = p->rows * p->c.heads * p->c.head_dim, qv = p->rows * p->c.heads * p->c.value_dim;                 \
        int64_t kd = p->rows * p->c.kv_heads * p->c.head_dim, kv = p->rows * p->c.kv_heads * p->c.value_dim;           \
        int64_t rh = p->rows * p->c.heads;                                                                             \
        struct ATTENTION##_tensors t = {NAME##_from(p->q, qd),    NAME##_from(p->k, kd), NAME##_from(p->v, kv),        \
                                        NAME##_from(p->dout, qv), NAME##_from(NULL, qv), NAME##_from(NULL, rh),        \
                                        NAME##_from(NULL, qd),    NAME##_from(NULL, kd), NAME##_from(NULL, kv)};       \
        results_make(p, r);                                                                                            \
        ATTENTION(&p->c, &t, round_to, &r->largest, &r->largest_term);                                                 \
        NAME##_to(NULL, t.q, 0);                                                                                       \
        NAME##_to(NULL, t.k, 0);                                                                                       \
        NAME##_to(NULL, t.v, 0);                                                                                       \
        NAME##_to(NULL, t.dout, 0);                                                                                    \
        NAME##_to(r->out, t.out, qv);                                                                                  \
        NAME##_to(r->lse, t.lse, rh);                                                                                  \
        NAME##_to(r->dq, t.dq, qd);                                                                                    \
        NAME##_to(r->dk, t.dk, kd);                                                                                    \
        NAME##_to(r->dv, t.dv, kv);                                                                                    \
    }

DEFINE_SOLVE(solve_float, float, attention_float)
DEFINE_SOLVE(solve_double, double, attention_double)
DEFINE_SOLVE(solve_long, long double, attention_long)

void problem_solve(struct problem *p)
{
    if (p->dtype == HYDRA_DTYPE_F64) {
        solve_long(p, keep_long, &p->want);
        solve_double(p, keep_double, &p->plain);
        return;
    }
    solve_double(p, keep_double, &p->want);
    solve_float(p,
                p->dtype == HYDRA_DTYPE_BF16  ? round_bf16
                : p->dtype == HYDRA_DTYPE_F16 ? round_f16
                                              : keep_float,
                &p->plain);
}

void problem_free(struct problem *p)
{
    for (int i = 0; i < p->c.ndocs; i++)
        hydra_free(p->ranges[i]);
    hydra_free(p->q);
    hydra_free(p->k);
    hydra_free(p->v);
    hydra_free(p->dout);
    results_free(&p->want);
    results_free(&p->plain);
}

/* A strided, poisoned, unaligned tensor. */
struct buffer {
    struct hydra_tensor t;
    void *block;
    enum hydra_dtype dtype;
    int heads, dim;
    int64_t elements;
};

static size_t size_of(enum hydra_dtype dtype)
{
    return dtype == HYDRA_DTYPE_F64 ? 8 : dtype == HYDRA_DTYPE_F32 ? 4 : 2;
}

static void put(struct buffer *b, int64_t element, double x)
{
    switch (b->dtype) {
    case HYDRA_DTYPE_F64:
        ((double *)b->t.data)[element] = x;
        break;
    case HYDRA_DTYPE_BF16:
        ((uint16_t *)b->t.data)[element] = hydra_bf16_of_float((float)x);
        break;
    case HYDRA_DTYPE_F16:
        ((uint16_t *)b->t.data)[element] = hydra_f16_of_float((float)x);
        break;
    default:
        ((float *)b->t.data)[element] = (float)x;
    }
}

static double get(const struct buffer *b, int64_t element)
{
    switch (b->dtype) {
    case HYDRA_DTYPE_F64:
        return ((const double *)b->t.data)[element];
    case HYDRA_DTYPE_BF16:
        return hydra_float_of_bf16(((const uint16_t *)b->t.data)[element]);
    case HYDRA_DTYPE_F16:
        return hydra_float_of_f16(((const uint16_t *)b->t.data)[element]);
    default:
        return ((const float *)b->t.data)[element];
    }
}

/* Row of document `doc`'s first token: documents lie GAP rows apart. */
static int64_t first_row(const struct problem *p, int doc)
{
    int64_t row = GAP;

    for (int i = 0; i < doc; i++)
        row += p->lengths[i] + GAP;
    return row;
}

enum { TO_BUFFER, FROM_BUFFER };

/* Copy between a packed array and a buffer, the rows of documents only. */
static void copy(const struct problem *p, struct buffer *b, double *packed, int direction)
{
    for (int doc = 0; doc < p->c.ndocs; doc++)
        for (int64_t i = 0; i < p->lengths[doc]; i++)
            for (int h = 0; h < b->heads; h++)
                for (int e = 0; e < b->dim; e++, packed++) {
                    int64_t at = (first_row(p, doc) + i) * b->t.row_stride + h * b->t.head_stride + e;

                    if (direction == TO_BUFFER)
                        put(b, at, *packed);
                    else
                        *packed = get(b, at);
                }
}

static struct buffer buffer_make(const struct problem *p, enum hydra_dtype dtype, int heads, int dim,
                                 const double *from)
{
    struct buffer b = {.dtype = dtype, .heads = heads, .dim = dim};

    b.t.head_stride = dim + SLACK;
    b.t.row_stride = heads * b.t.head_stride + SLACK;
    b.elements = first_row(p, p->c.ndocs) * b.t.row_stride;
    b.block = hydra_alloc(b.elements + 1, size_of(dtype));
    b.t.data = (char *)b.block + size_of(dtype);
    for (int64_t e = 0; e < b.elements; e++)
        put(&b, e, NAN);
    if (from != NULL)
        copy(p, &b, (double *)(uintptr_t)from, TO_BUFFER);
    return b;
}

/* Bring the results out and check that nothing was written beside them: the slack is still NaN. */
static bool buffer_take(const struct problem *p, struct buffer *b, double *to)
{
    bool clean = true;

    copy(p, b, to, FROM_BUFFER);
    for (int doc = 0; doc < p->c.ndocs; doc++)
        for (int64_t i = 0; i < p->lengths[doc]; i++)
            for (int h = 0; h < b->heads; h++)
                for (int e = 0; e < b->dim; e++)
                    put(b, (first_row(p, doc) + i) * b->t.row_stride + h * b->t.head_stride + e, NAN);
    for (int64_t e = 0; e < b->elements; e++)
        clean &= isnan(get(b, e)) != 0;
    hydra_free(b->block);
    return TAP_CHECK(clean, "%s: slack of a tensor of dim %d was written", problem_text(p), b->dim);
}

struct plan { /* the runs of one call */
    struct hydra_query_run *query_runs;
    struct hydra_key_run *key_runs;
    struct hydra_kernel_work work;
};

static int64_t cut(int64_t n, int parts, int part)
{
    return n * part / parts;
}

/* The runs of ring step `step`. */
static void plan_step(const struct problem *p, int step, struct plan *plan)
{
    int64_t nq = 0, nk = 0;

    for (int doc = 0; doc < p->c.ndocs; doc++) {
        int64_t n = p->lengths[doc], begin = cut(n, p->steps, step), block = cut(n, p->steps, step + 1) - begin;
        int64_t keys_begin = nk;

        for (int part = 0; part < p->key_cuts; part++) {
            int64_t from = begin + cut(block, p->key_cuts, part), to = begin + cut(block, p->key_cuts, part + 1);

            if (to > from)
                plan->key_runs[nk++] = (struct hydra_key_run){first_row(p, doc) + from, to - from, from};
        }
        for (int piece = 0; piece < p->query_pieces; piece++) {
            int64_t from = cut(n, p->query_pieces, piece), to = cut(n, p->query_pieces, piece + 1);

            if (to > from)
                plan->query_runs[nq++] = (struct hydra_query_run){
                    first_row(p, doc) + from,
                    to - from,
                    from,
                    keys_begin,
                    nk,
                    p->c.mask == HYDRA_KERNEL_RANGES ? (const int64_t(*)[4])p->ranges[doc] : NULL};
        }
    }
    plan->work = (struct hydra_kernel_work){plan->query_runs, nq, plan->key_runs, nk};
}

static void poll_ring(void *user)
{
    ++*(int64_t *)user;
}

static void compute_delta(const struct problem *p, const struct results *r, double *delta)
{
    for (int64_t e = 0; e < p->rows * p->c.heads; e++) {
        delta[e] = 0;
        for (int j = 0; j < p->c.value_dim; j++)
            delta[e] += p->dout[e * p->c.value_dim + j] * r->out[e * p->c.value_dim + j];
    }
}

static void run(const struct problem *p, const struct hydra_kernel_ops *ops, bool backward, struct results *r)
{
    const struct attention_case *c = &p->c;
    enum hydra_dtype state = p->dtype == HYDRA_DTYPE_F64 ? HYDRA_DTYPE_F64 : HYDRA_DTYPE_F32;
    struct hydra_kernel_shape shape = {p->dtype,     c->heads, c->kv_heads, c->kv_of_head, c->head_dim,
                                       c->value_dim, c->scale, c->mask,     c->window,     c->sink};
    struct plan plan = {hydra_calloc(PROBLEM_DOCS * p->query_pieces, sizeof *plan.query_runs),
                        hydra_calloc(PROBLEM_DOCS * p->key_cuts, sizeof *plan.key_runs),
                        {0}};
    int64_t all_rows = first_row(p, c->ndocs), polled = 0;
    bool whole;
    size_t bytes = ops->workspace_bytes(&shape, p->rows, p->threads, true);
    size_t forward_bytes = ops->workspace_bytes(&shape, p->rows, p->threads, false);
    void *workspace = hydra_alloc((int64_t)(bytes > forward_bytes ? bytes : forward_bytes), 1);
    double *delta = hydra_alloc(p->rows * c->heads, sizeof *delta);
    double *zero = hydra_calloc(p->rows * (c->heads + c->kv_heads) * 256, sizeof *zero);
    struct buffer q = buffer_make(p, p->dtype, c->heads, c->head_dim, p->q);
    struct buffer k = buffer_make(p, p->dtype, c->kv_heads, c->head_dim, p->k);
    struct buffer v = buffer_make(p, p->dtype, c->kv_heads, c->value_dim, p->v);
    struct buffer dout = buffer_make(p, p->dtype, c->heads, c->value_dim, p->dout);
    struct buffer out = buffer_make(p, p->dtype, c->heads, c->value_dim, NULL);
    struct buffer lse = buffer_make(p, state, c->heads, 1, NULL);
    struct buffer dq = buffer_make(p, state, c->heads, c->head_dim, zero);
    struct buffer dk = buffer_make(p, state, c->kv_heads, c->head_dim, zero);
    struct buffer dv = buffer_make(p, state, c->kv_heads, c->value_dim, zero);
    struct buffer deltas;
    struct hydra_kernel_hook hook = {poll_ring, &polled};
    struct hydra_kernel_state running = {0};

    results_make(p, r);
    if (p->steps > 1) {
        running.accumulator = hydra_alloc(all_rows * c->heads * c->value_dim, size_of(state));
        running.greatest = hydra_alloc(all_rows * c->heads, size_of(state));
        running.sum = hydra_alloc(all_rows * c->heads, size_of(state));
    }
    for (int step = 0; step < p->steps; step++) {
        struct hydra_forward call = {shape, {0}, q.t, k.t, v.t, out.t, lse.t, running, 0, workspace, p->threads, hook};

        plan_step(p, step, &plan);
        call.work = plan.work;
        call.flags = (step == 0 ? HYDRA_KERNEL_FIRST : 0) | (step == p->steps - 1 ? HYDRA_KERNEL_LAST : 0);
        ops->forward(&call);
    }
    copy(p, &out, r->out, FROM_BUFFER);
    compute_delta(p, r, delta);
    deltas = buffer_make(p, state, c->heads, 1, delta);
    for (int step = 0; backward && step < p->steps; step++) {
        struct hydra_backward call = {shape,    {0},  q.t,  k.t,  v.t,       dout.t,     lse.t,
                                      deltas.t, dq.t, dk.t, dv.t, workspace, p->threads, hook};

        plan_step(p, step, &plan);
        call.work = plan.work;
        ops->backward(&call);
    }
    TAP_CHECK(p->rows == 0 || polled > 0, "%s: the hook was never called", problem_text(p));
    r->largest = p->want.largest;
    whole = buffer_take(p, &out, r->out);
    whole &= buffer_take(p, &lse, r->lse);
    whole &= buffer_take(p, &dq, r->dq);
    whole &= buffer_take(p, &dk, r->dk);
    whole &= buffer_take(p, &dv, r->dv);
    if (!whole)
        r->largest = -1; /* problem_check fails */
    hydra_free(q.block);
    hydra_free(k.block);
    hydra_free(v.block);
    hydra_free(dout.block);
    hydra_free(deltas.block);
    hydra_free(running.accumulator);
    hydra_free(running.greatest);
    hydra_free(running.sum);
    hydra_free(zero);
    hydra_free(delta);
    hydra_free(workspace);
    hydra_free(plan.key_runs);
    hydra_free(plan.query_runs);
}

void problem_run(const struct problem *p, const struct hydra_kernel_ops *ops, struct results *r)
{
    run(p, ops, true, r);
}

void problem_run_forward(const struct problem *p, const struct hydra_kernel_ops *ops, struct results *r)
{
    run(p, ops, false, r);
}

const struct hydra_kernel_ops *problem_kernel(enum hydra_dtype dtype, int index)
{
    struct hydra_kernel_shape shape = {.dtype = dtype, .head_dim = 1, .value_dim = 1};
    const struct hydra_kernel_ops *ops;
    char why[128];

    for (int i = 0; (ops = hydra_kernel_at(i)) != NULL; i++)
        if (ops->probe(why, sizeof why) > 0 && ops->supports(&shape) && index-- == 0)
            return ops;
    return NULL;
}

bool problem_sees(const struct problem *p, int document, int64_t i, int64_t j)
{
    return attention_sees(&p->c, document, i, j);
}

static double epsilon(enum hydra_dtype dtype)
{
    return dtype == HYDRA_DTYPE_F64   ? 0x1p-52
           : dtype == HYDRA_DTYPE_F32 ? 0x1p-23
           : dtype == HYDRA_DTYPE_F16 ? 0x1p-10
                                      : 0x1p-7;
}

/* error <= factor * (error of the plain computation) + 8 eps max(1, max |S|) max |reference|. */
static bool near(const struct problem *p, const char *kernel, const char *what, double factor, int64_t count,
                 const double *want, const double *plain, const double *got, double largest)
{
    double worst = 0, plain_worst = 0, bound;
    int64_t at = 0;

    for (int64_t e = 0; e < count; e++) {
        double error = want[e] == got[e] ? 0 : fabs(got[e] - want[e]); /* equal infinities */

        if (!(error <= worst)) { /* NaN too */
            worst = error;
            at = e;
            if (isnan(error))
                break;
        }
        if (want[e] != plain[e])
            plain_worst = fmax(plain_worst, fabs(plain[e] - want[e]));
        if (isfinite(want[e]))
            largest = fmax(largest, fabs(want[e]));
    }
    bound = factor * plain_worst + 8 * epsilon(p->dtype) * fmax(1, p->want.largest) * largest;
    return TAP_CHECK(worst <= bound,
                     "%s, %s: error of %s is %g at element %" PRId64 " (%g, not %g), allowed %g, plain %g", kernel,
                     problem_text(p), what, worst, at, got[at], want[at], bound, plain_worst);
}

bool problem_check(const struct problem *p, const char *kernel, const struct results *got)
{
    const struct attention_case *c = &p->c;
    int64_t rh = p->rows * c->heads, rg = p->rows * c->kv_heads;
    bool good = TAP_CHECK(got->largest >= 0, "%s wrote beside its outputs", kernel);

    good &= near(p, kernel, "out", 2, rh * c->value_dim, p->want.out, p->plain.out, got->out, 0);
    good &= near(p, kernel, "lse", 2, rh, p->want.lse, p->plain.lse, got->lse, 0);
    good &= near(p, kernel, "dq", 3, rh * c->head_dim, p->want.dq, p->plain.dq, got->dq, p->want.largest_term);
    good &= near(p, kernel, "dk", 3, rg * c->head_dim, p->want.dk, p->plain.dk, got->dk, p->want.largest_term);
    good &= near(p, kernel, "dv", 3, rg * c->value_dim, p->want.dv, p->plain.dv, got->dv, 0);
    return good;
}

const char *problem_text(const struct problem *p)
{
    static char text[256];
    static const char *const dtypes[] = {"f32", "f64", "bf16", "f16"}, *const masks[] = {"causal", "full", "window",
                                                                                         "ranges"};
    int used = snprintf(text, sizeof text,
                        "seed %" PRIu64 " %s %s heads %d/%d d %d/%d pieces %d steps %d cuts %d threads %d lengths",
                        p->seed, dtypes[p->dtype], masks[p->c.mask], p->c.heads, p->c.kv_heads, p->c.head_dim,
                        p->c.value_dim, p->query_pieces, p->steps, p->key_cuts, p->threads);

    for (int i = 0; i < p->c.ndocs && used < (int)sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %" PRId64, p->lengths[i]);
    return text;
}
