/* avx512_f64.c: the passes of kernel avx512 in fp64. */
#define KERNEL_PASSES       hydra_kernel_avx512_f64
#define KERNEL_REAL_BITS    64
#define KERNEL_VECTOR_BYTES 64
#define KERNEL_REGISTERS    32
#include "kernel/instance.h"
