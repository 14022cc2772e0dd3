/* place.h: where a rank sits in a machine, and the slot order that follows. Pure but for locate and synthetic (hwloc).
 * No MPI. */
#ifndef HYDRA_TOPO_PLACE_H
#define HYDRA_TOPO_PLACE_H

#include <stdint.h>

/* Fixed layout of 64-bit numbers: places are gathered over MPI as such. Indices are logical, -1: unknown. */
struct hydra_place {
    int64_t node;    /* number of the node: the least rank on it */
    int64_t package;
    int64_t numa;
    int64_t core;
    int64_t gpu;     /* the closest GPU that hwloc sees */
};

#endif
