/* kernel_ref.c: the reference kernel: plain loops in double, every shape and dtype. Template and oracle; not fast. */
#include <math.h>

#include "base/error.h"
#include "kernel/convert.h"
#include "kernel/kernel.h"
#include "kernel/mask.h"
#include "kernel/table.h"

static int probe(char *why, size_t len)
{
    (void)why;
    (void)len;
    return 1;
}

static bool supports(const struct hydra_kernel_shape *shape)
{
    (void)shape;
    return true;
}

static size_t workspace_bytes(const struct hydra_kernel_shape *shape, int64_t max_rows, int threads, bool backward)
{
    (void)shape;
    (void)max_rows;
    (void)threads;
    (void)backward;
    return 0;
}

/* Element of an input or output of the call's dtype. */
static double load(enum hydra_dtype dtype, const void *data, int64_t element)
{
    switch (dtype) {
    case HYDRA_DTYPE_F64:
        return ((const double *)data)[element];
    case HYDRA_DTYPE_BF16:
        return hydra_float_of_bf16(((const uint16_t *)data)[element]);
    case HYDRA_DTYPE_F16:
        return hydra_float_of_f16(((const uint16_t *)data)[element]);
    default:
        return ((const float *)data)[element];
    }
}

static void store(enum hydra_dtype dtype, void *data, int64_t element, double x)
{
    switch (dtype) {
    case HYDRA_DTYPE_F64:
        ((double *)data)[element] = x;
        break;
    case HYDRA_DTYPE_BF16:
        ((uint16_t *)data)[element] = hydra_bf16_of_float((float)x);
        break;
    case HYDRA_DTYPE_F16:
        ((uint16_t *)data)[element] = hydra_f16_of_float((float)x);
        break;
    default:
        ((float *)data)[element] = (float)x;
    }
}

/* State, statistics and gradients: double for fp64, fp32 for the rest. */
static enum hydra_dtype wide(enum hydra_dtype dtype)
{
    return dtype == HYDRA_DTYPE_F64 ? HYDRA_DTYPE_F64 : HYDRA_DTYPE_F32;
}

static int64_t element(const struct hydra_tensor *t, int64_t row, int head)
{
    return row * t->row_stride + head * t->head_stride;
}

static double dot(enum hydra_dtype dtype, const struct hydra_tensor *a, int64_t a_at, const struct hydra_tensor *b,
                  int64_t b_at, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += load(dtype, a->data, a_at + i) * load(dtype, b->data, b_at + i);
    return sum;
}

/* Add one key to the running (m, l, O) of a query: rescale what is there when the greatest score grows. */
static void add_key(const struct hydra_forward *call, double score, int64_t v_at, double *m, double *l, double *o)
{
    const struct hydra_kernel_shape *shape = &call->shape;
    double greatest = score > *m ? score : *m;
    double keep = *m == greatest ? 1 : exp(*m - greatest);
    double p = score == -INFINITY ? 0 : exp(score - greatest);

    for (int i = 0; i < shape->value_dim; i++)
        o[i] = o[i] * keep + p * load(shape->dtype, call->v.data, v_at + i);
    *l = *l * keep + p;
    *m = greatest;
}

static void forward_row(const struct hydra_forward *call, const struct hydra_query_run *run, int64_t i, int head)
{
    const struct hydra_kernel_shape *shape = &call->shape;
    struct hydra_visible seen = hydra_kernel_visible(shape, run->ranges, run->position + i);
    enum hydra_dtype state = wide(shape->dtype);
    int64_t row = run->row + i;
    int64_t at = row * shape->heads + head;
    int kv = shape->kv_of_head[head];
    double m = -INFINITY;
    double l = 0;
    double o[256] = {0};

    if ((call->flags & HYDRA_KERNEL_FIRST) == 0) {
        m = load(state, call->state.greatest, at);
        l = load(state, call->state.sum, at);
        for (int j = 0; j < shape->value_dim; j++)
            o[j] = load(state, call->state.accumulator, at * shape->value_dim + j);
    }
    for (int64_t r = run->keys_begin; r < run->keys_end; r++) {
        const struct hydra_key_run *keys = &call->work.key_runs[r];

        for (int part = 0; part < 2; part++) {
            int64_t end = hydra_min64(seen.end[part], keys->position + keys->count);

            for (int64_t p = hydra_max64(seen.begin[part], keys->position); p < end; p++) {
                int64_t key = keys->row + p - keys->position;
                double score = shape->scale * dot(shape->dtype, &call->q, element(&call->q, row, head), &call->k,
                                                  element(&call->k, key, kv), shape->head_dim);

                add_key(call, score, element(&call->v, key, kv), &m, &l, o);
            }
        }
    }
    if ((call->flags & HYDRA_KERNEL_LAST) != 0) {
        for (int j = 0; j < shape->value_dim; j++)
            store(shape->dtype, call->out.data, element(&call->out, row, head) + j, l == 0 ? 0 : o[j] / l);
        if (call->lse.data != NULL)
            store(state, call->lse.data, element(&call->lse, row, head), l == 0 ? -INFINITY : m + log(l));
    } else {
        store(state, call->state.greatest, at, m);
        store(state, call->state.sum, at, l);
        for (int j = 0; j < shape->value_dim; j++)
            store(state, call->state.accumulator, at * shape->value_dim + j, o[j]);
    }
}

static int forward(const struct hydra_forward *call)
{
    for (int64_t r = 0; r < call->work.nquery_runs; r++) {
        for (int64_t i = 0; i < call->work.query_runs[r].count; i++)
            for (int head = 0; head < call->shape.heads; head++)
                forward_row(call, &call->work.query_runs[r], i, head);
        if (call->hook.call != NULL)
            call->hook.call(call->hook.user);
    }
    return HYDRA_SUCCESS;
}

static void add(enum hydra_dtype dtype, void *data, int64_t at, double x)
{
    store(dtype, data, at, load(dtype, data, at) + x);
}

/* dQ of the query, and the part of dK and dV of one key that comes from it. */
static void backward_pair(const struct hydra_backward *call, int64_t row, int head, int64_t key, double *dq)
{
    const struct hydra_kernel_shape *shape = &call->shape;
    enum hydra_dtype state = wide(shape->dtype);
    int kv = shape->kv_of_head[head];
    int64_t q_at = element(&call->q, row, head);
    int64_t k_at = element(&call->k, key, kv);
    int64_t v_at = element(&call->v, key, kv);
    int64_t dout_at = element(&call->dout, row, head);
    double lse = load(state, call->lse.data, element(&call->lse, row, head));
    double delta = load(state, call->delta.data, element(&call->delta, row, head));
    double score = shape->scale * dot(shape->dtype, &call->q, q_at, &call->k, k_at, shape->head_dim);
    double p = score == -INFINITY ? 0 : exp(score - lse);
    double dp = dot(shape->dtype, &call->dout, dout_at, &call->v, v_at, shape->value_dim);
    double ds = shape->scale * p * (dp - delta);

    for (int j = 0; j < shape->value_dim; j++)
        add(state, call->dv.data, element(&call->dv, key, kv) + j,
            p * load(shape->dtype, call->dout.data, dout_at + j));
    for (int j = 0; j < shape->head_dim; j++) {
        add(state, call->dk.data, element(&call->dk, key, kv) + j, ds * load(shape->dtype, call->q.data, q_at + j));
        dq[j] += ds * load(shape->dtype, call->k.data, k_at + j);
    }
}

static void backward_row(const struct hydra_backward *call, const struct hydra_query_run *run, int64_t i, int head)
{
    const struct hydra_kernel_shape *shape = &call->shape;
    struct hydra_visible seen = hydra_kernel_visible(shape, run->ranges, run->position + i);
    double dq[256] = {0};

    for (int64_t r = run->keys_begin; r < run->keys_end; r++) {
        const struct hydra_key_run *keys = &call->work.key_runs[r];

        for (int part = 0; part < 2; part++) {
            int64_t end = hydra_min64(seen.end[part], keys->position + keys->count);

            for (int64_t p = hydra_max64(seen.begin[part], keys->position); p < end; p++)
                backward_pair(call, run->row + i, head, keys->row + p - keys->position, dq);
        }
    }
    for (int j = 0; j < shape->head_dim; j++)
        add(wide(shape->dtype), call->dq.data, element(&call->dq, run->row + i, head) + j, dq[j]);
}

static int backward(const struct hydra_backward *call)
{
    for (int64_t r = 0; r < call->work.nquery_runs; r++) {
        for (int64_t i = 0; i < call->work.query_runs[r].count; i++)
            for (int head = 0; head < call->shape.heads; head++)
                backward_row(call, &call->work.query_runs[r], i, head);
        if (call->hook.call != NULL)
            call->hook.call(call->hook.user);
    }
    return HYDRA_SUCCESS;
}

const struct hydra_kernel_ops hydra_kernel_ref = {
    .name = "ref",
    .probe = probe,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .forward = forward,
    .backward = backward,
};
