/* flash_blas.h: the baseline of bench kernel: FlashAttention-2 tiling whose products are OpenBLAS sgemm, one thread. */
#ifndef HYDRA_TOOLS_FLASH_BLAS_H
#define HYDRA_TOOLS_FLASH_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* Open OpenBLAS (at run time, so that nothing else depends on it) with one thread and the core type it finds itself.
 * NULL, or why it cannot be used. */
const char *flash_blas_open(void);

/* Core that OpenBLAS has chosen, such as "Zen". */
const char *flash_blas_core(void);

struct flash_blas {
    int64_t n; /* tokens of one document */
    int d, dv;
    int64_t ld_q, ld_k, ld_v, ld_out; /* row strides */
    float scale;
    bool causal;
    float *room; /* flash_blas_room floats */
};

int64_t flash_blas_room(int d, int dv);

/* One head. lse [n]. */
void flash_blas_forward(const struct flash_blas *f, const float *q, const float *k, const float *v, float *out,
                        float *lse);

/* dq, dk, dv are added to; delta [n]; the gradients' row strides are those of q, k and v. */
void flash_blas_backward(const struct flash_blas *f, const float *q, const float *k, const float *v, const float *dout,
                         const float *lse, const float *delta, float *dq, float *dk, float *dv);

#endif
