/* mask.h: which keys a query sees, as at most two disjoint ranges of document positions. Header only, no state. */
#ifndef HYDRA_KERNEL_MASK_H
#define HYDRA_KERNEL_MASK_H

#include "kernel/kernel.h"

/* Keys [begin[0], end[0]) and [begin[1], end[1]), disjoint and ascending; an empty range has begin >= end. */
struct hydra_visible {
    int64_t begin[2];
    int64_t end[2];
};

static inline int64_t hydra_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t hydra_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Keys that the query at document position i sees; ranges: of its document, HYDRA_KERNEL_RANGES only. */
static inline struct hydra_visible hydra_kernel_visible(const struct hydra_kernel_shape *shape,
                                                        const int64_t (*ranges)[4], int64_t i)
{
    struct hydra_visible seen = {{0, 0}, {0, 0}};

    switch (shape->mask) {
    case HYDRA_KERNEL_FULL:
        seen.end[0] = INT64_MAX;
        break;
    case HYDRA_KERNEL_CAUSAL:
        seen.end[0] = i + 1;
        break;
    case HYDRA_KERNEL_WINDOW:
        seen.end[0] = hydra_min64(shape->sink, i + 1);
        seen.begin[1] = hydra_max64(seen.end[0], i - shape->window + 1);
        seen.end[1] = i + 1;
        break;
    case HYDRA_KERNEL_RANGES: {
        const int64_t *r = ranges[i];
        int first = r[0] <= r[2] ? 0 : 2;

        if (r[first] >= r[first + 1]) /* an empty first range must not cut into the second */
            first = 2 - first;
        seen.begin[0] = r[first];
        seen.end[0] = r[first + 1];
        seen.begin[1] = r[2 - first];
        seen.end[1] = r[3 - first];
        if (seen.begin[1] >= seen.begin[0])
            seen.begin[1] = hydra_max64(seen.begin[1], seen.end[0]);
        break;
    }
    }
    return seen;
}

#endif
