/* kernel_avx512.c: the kernel in 64-byte vectors, for x86-64 with AVX-512 F, BW, DQ and VL. */
#include <stdio.h>

#include "kernel/vector_ops.h"

/* __builtin_cpu_supports also asks the operating system whether it saves the registers. */
static int probe(char *why, size_t len)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return 30;
    snprintf(why, len, "this processor or system has no AVX-512 F, BW, DQ and VL");
    return 0;
}

DEFINE_VECTOR_OPS(avx512)
