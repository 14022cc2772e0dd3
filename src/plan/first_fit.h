/* first_fit.h: bins in a row, and the first with room, in O(log bins): a tournament tree of the greatest room. Header
 * only. */
#ifndef HYDRA_PLAN_FIRST_FIT_H
#define HYDRA_PLAN_FIRST_FIT_H

#include <stdint.h>

#include "base/bits.h"
#include "base/memory.h"

struct hydra_first_fit {
    int64_t leaves; /* a power of two */
    int64_t *room;  /* [2 * leaves] greatest room below each node; leaf b is node leaves + b; -1: no such bin */
};

/* Bins 0 .. bins-1 with `room` each (-1: not there yet). False when memory is out. */
static inline int hydra_first_fit_init(struct hydra_first_fit *fit, int64_t bins, int64_t room)
{
    fit->leaves = hydra_pow2_ceil(bins);
    fit->room = hydra_alloc(2 * fit->leaves, sizeof *fit->room);
    for (int64_t node = 0; fit->room != NULL && node < 2 * fit->leaves; node++)
        fit->room[node] = room;
    return fit->room != NULL;
}

static inline void hydra_first_fit_clear(struct hydra_first_fit *fit)
{
    hydra_free(fit->room);
    fit->room = NULL;
}

/* First bin with room >= need, or -1; need >= 0. */
static inline int64_t hydra_first_fit_find(const struct hydra_first_fit *fit, int64_t need)
{
    int64_t node = 1;

    if (fit->room[1] < need)
        return -1;
    while (node < fit->leaves)
        node = fit->room[2 * node] >= need ? 2 * node : 2 * node + 1;
    return node - fit->leaves;
}

static inline void hydra_first_fit_set(struct hydra_first_fit *fit, int64_t bin, int64_t room)
{
    int64_t node = fit->leaves + bin;

    fit->room[node] = room;
    for (node /= 2; node >= 1; node /= 2)
        fit->room[node] = hydra_max(fit->room[2 * node], fit->room[2 * node + 1]);
}

static inline int64_t hydra_first_fit_room(const struct hydra_first_fit *fit, int64_t bin)
{
    return fit->room[fit->leaves + bin];
}

#endif
