/* room.h: how a pass shares out the workspace and the threads. Included by instance.h alone. */
#ifndef HYDRA_KERNEL_ROOM_H
#define HYDRA_KERNEL_ROOM_H

#include <stddef.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/error.h"
#include "kernel/pack.h"
#include "kernel/sight.h"

INLINE int team_me(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

INLINE int team_size(void)
{
#ifdef _OPENMP
    return omp_get_num_threads();
#else
    return 1;
#endif
}

INLINE int padded(int dim)
{
    return (dim + LANES - 1) / LANES * LANES;
}

/* Next block of the workspace; with base NULL only its size counts. */
static void *carve(char *base, size_t *used, size_t bytes)
{
    void *block = base == NULL ? NULL : base + *used;

    *used += (bytes + 63) / 64 * 64;
    return block;
}

INLINE void poll(const struct hydra_kernel_hook *hook, bool polls)
{
    if (polls && hook->call != NULL)
        hook->call(hook->user);
}

#endif
