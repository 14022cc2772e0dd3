/* table.h: the kernels that kernel.c may list. For src/kernel/ alone. */
#ifndef HYDRA_KERNEL_TABLE_H
#define HYDRA_KERNEL_TABLE_H

#include "kernel/kernel.h"

extern const struct hydra_kernel_ops hydra_kernel_avx512, hydra_kernel_avx2, hydra_kernel_portable, hydra_kernel_ref;

#endif
