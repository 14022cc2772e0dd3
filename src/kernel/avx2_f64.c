/* avx2_f64.c: the passes of kernel avx2 in fp64. */
#define KERNEL_PASSES       hydra_kernel_avx2_f64
#define KERNEL_REAL_BITS    64
#define KERNEL_VECTOR_BYTES 32
#define KERNEL_REGISTERS    16
#include "kernel/instance.h"
