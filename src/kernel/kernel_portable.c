/* kernel_portable.c: the kernel in 16-byte vectors of the compiler's baseline (SSE2, NEON, VSX
 * ...): runs everywhere. */
#include "kernel/vector_ops.h"

static int probe(char *why, size_t len)
{
    (void)why;
    (void)len;
    return 10;
}

DEFINE_VECTOR_OPS(portable)
