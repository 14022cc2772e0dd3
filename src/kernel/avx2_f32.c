/* avx2_f32.c: the passes of kernel avx2 in fp32 (f32, bf16 and f16 tensors). */
#define KERNEL_PASSES       hydra_kernel_avx2_f32
#define KERNEL_REAL_BITS    32
#define KERNEL_VECTOR_BYTES 32
#define KERNEL_REGISTERS    16
#include "kernel/instance.h"
