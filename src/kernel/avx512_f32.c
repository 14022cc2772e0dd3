/* avx512_f32.c: the passes of kernel avx512 in fp32 (f32, bf16 and f16 tensors). */
#define KERNEL_PASSES       hydra_kernel_avx512_f32
#define KERNEL_REAL_BITS    32
#define KERNEL_VECTOR_BYTES 64
#define KERNEL_REGISTERS    32
#include "kernel/instance.h"
