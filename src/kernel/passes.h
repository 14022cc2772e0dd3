/* passes.h: the two passes of one instance (instruction set x number format), as instance.h makes them. */
#ifndef HYDRA_KERNEL_PASSES_H
#define HYDRA_KERNEL_PASSES_H

#include "kernel/kernel.h"

struct hydra_kernel_passes {
    size_t (*workspace_bytes)(const struct hydra_kernel_shape *shape, int threads, bool backward);
    int (*forward)(const struct hydra_forward *call);
    int (*backward)(const struct hydra_backward *call);
    double (*canary)(int64_t rounds);
    double (*peak)(int64_t rounds);
};

extern const struct hydra_kernel_passes hydra_kernel_portable_f32, hydra_kernel_portable_f64;
extern const struct hydra_kernel_passes hydra_kernel_avx2_f32, hydra_kernel_avx2_f64;
extern const struct hydra_kernel_passes hydra_kernel_avx512_f32, hydra_kernel_avx512_f64;

#endif
