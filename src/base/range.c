/* range.c: the names of ranges. */
#include "base/range.h"

static const char *const names[] = {
#define HYDRA_RANGE(constant, name, meaning) [HYDRA_RANGE_##constant] = name,
#include "base/ranges.def"
#undef HYDRA_RANGE
};

const char *hydra_range_name(int range)
{
    return names[range];
}
