/* kernel_avx2.c: the kernel in 32-byte vectors, for x86-64 with AVX2, FMA and F16C. */
#include <stdio.h>

#include "kernel/vector_ops.h"

/* __builtin_cpu_supports also asks the operating system whether it saves the registers. */
static int probe(char *why, size_t len)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
        return 20;
    snprintf(why, len, "this processor or system has no AVX2, FMA and F16C");
    return 0;
}

DEFINE_VECTOR_OPS(avx2)
