/* backward.c: the backward pass of one microbatch; mirrors forward.c: dO goes in, dQ, dK and dV come home. */
#include <string.h>

#include "attn/engine.h"
#include "base/error.h"
#include "base/range.h"
#include "kernel/convert.h"

static float load16(enum hydra_dtype dtype, const void *data, int64_t i)
{
    uint16_t bits = ((const uint16_t *)data)[i];

    return dtype == HYDRA_DTYPE_BF16 ? hydra_float_of_bf16(bits) : hydra_float_of_f16(bits);
}

/* Sum of products of two rows of the caller's dtype, in its wide type. */
static double row_dot(enum hydra_dtype dtype, const void *a, int64_t a_at, const void *b, int64_t b_at, int dim)
{
    double sum64 = 0;
    float sum = 0;

    switch (dtype) {
    case HYDRA_DTYPE_F64:
        for (int i = 0; i < dim; i++)
            sum64 += ((const double *)a)[a_at + i] * ((const double *)b)[b_at + i];
        return sum64;
    case HYDRA_DTYPE_F32:
        for (int i = 0; i < dim; i++)
            sum += ((const float *)a)[a_at + i] * ((const float *)b)[b_at + i];
        return sum;
    default:
        for (int i = 0; i < dim; i++)
            sum += load16(dtype, a, a_at + i) * load16(dtype, b, b_at + i);
        return sum;
    }
}

/* delta[row][head] = sum over the head's row of dout * out. */
static void compute_delta(const struct hydra_engine *engine, const void *out, const void *dout, void *delta)
{
    HYDRA_IN_RANGE(DELTA);
    const struct hydra_engine_config *c = &engine->config;

    for (int64_t r = 0; r < engine->layout.rows; r++)
        for (int h = 0; h < c->heads; h++) {
            int64_t at = r * c->out.row_stride + h * c->out.head_stride;
            double sum = row_dot(c->dtype, out, at, dout, at, c->value_dim);

            if (c->dtype == HYDRA_DTYPE_F64)
                ((double *)delta)[r * c->heads + h] = sum;
            else
                ((float *)delta)[r * c->heads + h] = (float)sum;
        }
}

int hydra_backward_run(struct hydra_engine *engine, const void *q, const void *k, const void *v, const void *out,
                       const void *lse, const struct hydra_kept *kept, const void *dout, void *dq, void *dk, void *dv)
{
    struct hydra_buffers *at = &engine->buffers;
    const struct hydra_engine_config *c = &engine->config;
    bool at_home = engine->layout.factor == 1 && c->dtype == hydra_dtype_wide(c->dtype);
    int status = HYDRA_SUCCESS;

    if (engine->layout.size == 0)
        return HYDRA_SUCCESS;
    compute_delta(engine, out, dout, at->member_delta);
    if (kept != NULL && engine->layout.factor > 1) {
        at->q = kept->q;
        at->k = kept->k;
        at->v = kept->v;
    } else {
        HYDRA_TRY(hydra_engine_gather(engine, HYDRA_PART_Q, q, &at->q));
        HYDRA_TRY(hydra_engine_gather(engine, HYDRA_PART_V, v, &at->v));
        HYDRA_TRY(hydra_engine_gather(engine, HYDRA_PART_K, k, &at->k));
    }
    HYDRA_TRY(hydra_engine_gather(engine, HYDRA_PART_DOUT, dout, &at->dout));
    HYDRA_TRY(hydra_engine_gather(engine, HYDRA_PART_LSE, lse, &at->lse));
    HYDRA_TRY(hydra_engine_gather(engine, HYDRA_PART_DELTA, at->member_delta, &at->delta));
    if (at_home) {
        at->dq = hydra_engine_tensor(engine, HYDRA_PART_DQ, dq);
        at->dk = hydra_engine_tensor(engine, HYDRA_PART_DK, dk);
        at->dv = hydra_engine_tensor(engine, HYDRA_PART_DV, dv);
    }
    HYDRA_TRY(hydra_ring_backward(engine));
    if (!at_home) {
        HYDRA_TRY(hydra_engine_scatter(engine, HYDRA_PART_DQ, at->dq.data, dq));
        HYDRA_TRY(hydra_engine_scatter(engine, HYDRA_PART_DK, at->dk.data, dk));
        HYDRA_TRY(hydra_engine_scatter(engine, HYDRA_PART_DV, at->dv.data, dv));
    }

fail:
    return status;
}
