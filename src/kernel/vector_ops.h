/* vector_ops.h: the table entry of a kernel made of two instances. For kernel_portable.c, kernel_avx2.c and
 * kernel_avx512.c. */
#ifndef HYDRA_KERNEL_VECTOR_OPS_H
#define HYDRA_KERNEL_VECTOR_OPS_H

#include "kernel/passes.h"
#include "kernel/table.h"

static bool supports(const struct hydra_kernel_shape *shape)
{
    return shape->head_dim <= 256 && shape->value_dim <= 256;
}

/* Defines hydra_kernel_ISA; the file defines probe. */
#define DEFINE_VECTOR_OPS(ISA)                                                                                         \
    static const struct hydra_kernel_passes *passes(enum hydra_dtype dtype)                                            \
    {                                                                                                                  \
        return dtype == HYDRA_DTYPE_F64 ? &hydra_kernel_##ISA##_f64 : &hydra_kernel_##ISA##_f32;                       \
    }                                                                                                                  \
    static size_t workspace_bytes(const struct hydra_kernel_shape *shape, int64_t max_rows, int threads,               \
                                  bool backward)                                                                       \
    {                                                                                                                  \
        (void)max_rows;                                                                                                \
        return passes(shape->dtype)->workspace_bytes(shape, threads, backward);                                        \
    }                                                                                                                  \
    static int forward(const struct hydra_forward *call)                                                               \
    {                                                                                                                  \
        return passes(call->shape.dtype)->forward(call);                                                               \
    }                                                                                                                  \
    static int backward(const struct hydra_backward *call)                                                             \
    {                                                                                                                  \
        return passes(call->shape.dtype)->backward(call);                                                              \
    }                                                                                                                  \
    static double canary(enum hydra_dtype dtype, int64_t rounds)                                                       \
    {                                                                                                                  \
        return passes(dtype)->canary(rounds);                                                                          \
    }                                                                                                                  \
    static double peak(enum hydra_dtype dtype, int64_t rounds)                                                         \
    {                                                                                                                  \
        return passes(dtype)->peak(rounds);                                                                            \
    }                                                                                                                  \
    const struct hydra_kernel_ops hydra_kernel_##ISA = {                                                               \
        .name = #ISA,                                                                                                  \
        .probe = probe,                                                                                                \
        .supports = supports,                                                                                          \
        .workspace_bytes = workspace_bytes,                                                                            \
        .forward = forward,                                                                                            \
        .backward = backward,                                                                                          \
        .canary = canary,                                                                                              \
        .peak = peak,                                                                                                  \
    };

#endif
