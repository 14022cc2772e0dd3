/* range.h: ranges that a profiler sees (ranges.def), on the calling thread, properly nested. Nobody looks: two tests of
 * an address. Not for OpenMP workers: a profiler's stack of ranges is one thread's. */
#ifndef HYDRA_BASE_RANGE_H
#define HYDRA_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "hydra_plan.h"

/* Weak and undefined here, not weak and empty: under -Bsymbolic a definition of our own would keep
 * any other from us. */
extern void Hydra_Range_push(const char *name) __attribute__((weak));
extern void Hydra_Range_pop(void) __attribute__((weak));

enum {
#define HYDRA_RANGE(constant, name, meaning) HYDRA_RANGE_##constant,
#include "base/ranges.def"
#undef HYDRA_RANGE
    HYDRA_RANGE_COUNT
};

const char *hydra_range_name(int range);

/* Whether a range was opened, and so must be closed. */
static inline bool hydra_range_begin(int range)
{
    if (Hydra_Range_push == NULL || Hydra_Range_pop == NULL)
        return false;
    Hydra_Range_push(hydra_range_name(range));
    return true;
}

static inline void hydra_range_end(const bool *opened)
{
    if (*opened)
        Hydra_Range_pop();
}

/* From here to the end of the block, whichever way it is left. First in its block, before any jump
 * that could pass it. */
#define HYDRA_IN_RANGE(constant)                                                                                       \
    bool range_opened __attribute__((cleanup(hydra_range_end), unused)) = hydra_range_begin(HYDRA_RANGE_##constant)

#endif
