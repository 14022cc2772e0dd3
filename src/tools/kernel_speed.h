/* kernel_speed.h: how fast an attention kernel is on this core, next to yardsticks measured in between. */
#ifndef HYDRA_TOOLS_KERNEL_SPEED_H
#define HYDRA_TOOLS_KERNEL_SPEED_H

#include "kernel/kernel.h"

enum speed_direction { SPEED_FORWARD, SPEED_BACKWARD };

struct speed_case {
    const struct hydra_kernel_ops *kernel;
    enum hydra_dtype dtype;
    int heads, kv_heads, head_dim, value_dim;
    enum hydra_mask_kind mask; /* causal, full or window */
    int64_t window, sink;
    int ndocs;
    const int64_t *lengths; /* [ndocs] */
    enum speed_direction direction;
    int threads;
    int repetitions;
    bool baseline; /* also FlashAttention-2 tiling over OpenBLAS (f32; causal or full; one KV head per head) */
};

/* Medians over the repetitions. Ratios are of rates measured side by side in one repetition. */
struct speed {
    double flops;          /* of one call, attended pairs only: 2 (D + Dv) a pair forward, 2 (3 D + 2 Dv) backward */
    double bytes;          /* that the call must at least read and write */
    double gflops;         /* 1e9 FLOP/s */
    double to_canary;      /* to the product that stays in L1; threads of them for threads > 1 */
    double canary_to_peak; /* of that product to bare multiply-adds */
    double canary_gflops;
    double to_baseline; /* NAN: not measured */
};

/* One thread: thread CPU time. More: wall time. HYDRA_ERR_NOMEM, HYDRA_ERR_UNSUPPORTED. */
int tool_kernel_speed(const struct speed_case *c, struct speed *speed);

#endif
