/* kernel.c: the table of attention kernels, and the one check of a shape. */
#include "config.h"

#include "kernel/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "kernel/table.h"

/* Best first by intent. */
static const struct hydra_kernel_ops *const kernels[] = {
#ifdef HYDRA_KERNEL_X86
    &hydra_kernel_avx512,
    &hydra_kernel_avx2,
#endif
    &hydra_kernel_portable,
    &hydra_kernel_ref,
};

enum { KERNEL_COUNT = sizeof kernels / sizeof kernels[0] };

const struct hydra_kernel_ops *hydra_kernel_at(int index)
{
    return index >= 0 && index < KERNEL_COUNT ? kernels[index] : NULL;
}

const struct hydra_kernel_ops *hydra_kernel_find(const char *name)
{
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    return NULL;
}

const struct hydra_kernel_ops *hydra_kernel_best(void)
{
    const struct hydra_kernel_ops *best = &hydra_kernel_ref;
    int best_score = 0;

    for (int i = 0; i < KERNEL_COUNT; i++) {
        char why[128];
        int score = kernels[i]->probe(why, sizeof why);

        if (score > best_score) {
            best = kernels[i];
            best_score = score;
        }
    }
    return best;
}

int hydra_kernel_check(const struct hydra_kernel_ops *ops, const struct hydra_kernel_shape *shape)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(shape->dtype >= HYDRA_DTYPE_F32 && shape->dtype <= HYDRA_DTYPE_F16, HYDRA_ERR_ARG,
                  "kernel shape: dtype %d is unknown", (int)shape->dtype);
    HYDRA_REQUIRE(shape->head_dim >= 1 && shape->head_dim <= 256, HYDRA_ERR_ARG,
                  "kernel shape: head dim %d is outside 1 .. 256", shape->head_dim);
    HYDRA_REQUIRE(shape->value_dim >= 1 && shape->value_dim <= 256, HYDRA_ERR_ARG,
                  "kernel shape: value dim %d is outside 1 .. 256", shape->value_dim);
    HYDRA_REQUIRE(shape->heads >= 1 && shape->kv_heads >= 1, HYDRA_ERR_ARG, "kernel shape: %d heads, %d KV heads",
                  shape->heads, shape->kv_heads);
    for (int h = 0; h < shape->heads; h++) {
        HYDRA_REQUIRE(shape->kv_of_head[h] >= 0 && shape->kv_of_head[h] < shape->kv_heads, HYDRA_ERR_ARG,
                      "kernel shape: head %d reads KV head %d of %d", h, shape->kv_of_head[h], shape->kv_heads);
        HYDRA_REQUIRE(h == 0 || shape->kv_of_head[h] >= shape->kv_of_head[h - 1], HYDRA_ERR_ARG,
                      "kernel shape: heads %d and %d read KV heads in falling order", h - 1, h);
    }
    HYDRA_REQUIRE(isfinite(shape->scale), HYDRA_ERR_ARG, "kernel shape: scale %g is not finite", shape->scale);
    HYDRA_REQUIRE(shape->mask >= HYDRA_KERNEL_CAUSAL && shape->mask <= HYDRA_KERNEL_RANGES, HYDRA_ERR_ARG,
                  "kernel shape: mask %d is unknown", (int)shape->mask);
    HYDRA_REQUIRE(shape->mask != HYDRA_KERNEL_WINDOW || (shape->window >= 1 && shape->sink >= 0), HYDRA_ERR_ARG,
                  "kernel shape: window %" PRId64 ", sink %" PRId64, shape->window, shape->sink);
    HYDRA_REQUIRE(ops->supports(shape), HYDRA_ERR_UNSUPPORTED,
                  "kernel %s has no dtype %d with head dim %d and value dim %d", ops->name, (int)shape->dtype,
                  shape->head_dim, shape->value_dim);
    return HYDRA_SUCCESS;

fail:
    return status;
}
