/* kernel_avx2.c: the kernel in 32-byte vectors, for x86-64 with AVX2, FMA and F16C. */
#include <cpuid.h>
#include <stdbool.h>
#include <stdio.h>

#include "kernel/vector_ops.h"

/* clang 14 has no name for it in __builtin_cpu_supports. */
static bool has_f16c(void)
{
    unsigned a, b, c = 0, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}

/* __builtin_cpu_supports also asks the operating system whether it saves the registers. */
static int probe(char *why, size_t len)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        return 20;
    snprintf(why, len, "this processor or system has no AVX2, FMA and F16C");
    return 0;
}

DEFINE_VECTOR_OPS(avx2)
