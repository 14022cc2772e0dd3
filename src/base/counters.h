/* counters.h: what happened so far, by name (counters.def). One set a context; plain additions, no locks. */
#ifndef HYDRA_BASE_COUNTERS_H
#define HYDRA_BASE_COUNTERS_H

#include <stddef.h>

enum {
#define HYDRA_COUNTER(constant, name, meaning) HYDRA_COUNTER_##constant,
#include "base/counters.def"
#undef HYDRA_COUNTER
    HYDRA_COUNTER_COUNT
};

struct hydra_counters {
    double value[HYDRA_COUNTER_COUNT];
};

/* counters may be NULL: nobody counts. */
static inline void hydra_count(struct hydra_counters *counters, int counter, double amount)
{
    if (counters != NULL)
        counters->value[counter] += amount;
}

/* Name of counter `index`, or NULL past the end. */
const char *hydra_counter_name(int index);
const char *hydra_counter_meaning(int index);

/* Index of a name, or -1. */
int hydra_counter_find(const char *name);

#endif
