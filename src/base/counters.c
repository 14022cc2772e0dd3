/* counters.c: the names of the counters. */
#include "base/counters.h"

#include <string.h>

static const struct {
    const char *name;
    const char *meaning;
} counters[HYDRA_COUNTER_COUNT] = {
#define HYDRA_COUNTER(constant, name, meaning) {name, meaning},
#include "base/counters.def"
#undef HYDRA_COUNTER
};

const char *hydra_counter_name(int index)
{
    return index < 0 || index >= HYDRA_COUNTER_COUNT ? NULL : counters[index].name;
}

const char *hydra_counter_meaning(int index)
{
    return index < 0 || index >= HYDRA_COUNTER_COUNT ? NULL : counters[index].meaning;
}

int hydra_counter_find(const char *name)
{
    for (int i = 0; i < HYDRA_COUNTER_COUNT; i++)
        if (strcmp(counters[i].name, name) == 0)
            return i;
    return -1;
}
