/* place.h: where ranks sit in machines, and the slot order that follows. Pure arithmetic but for hydra_place_locate and
 * hydra_place_synthetic, which ask hwloc. No MPI.
 */
#ifndef HYDRA_TOPO_PLACE_H
#define HYDRA_TOPO_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Fixed layout of 64-bit numbers: places are gathered over MPI as such. Logical indices inside the
 * node, -1: unknown. */
struct hydra_place {
    int64_t node; /* any number that ranks of one node share; hydra_place_number_nodes makes it 0, 1, ... */
    int64_t package;
    int64_t numa;
    int64_t gpu; /* the closest GPU that hwloc sees */
    int64_t core;
};

enum { HYDRA_PLACE_FIELDS = sizeof(struct hydra_place) / sizeof(int64_t) };

/* Package, NUMA node, GPU and core that this process is bound to; -1 for what it is free to leave. node is not set.
 * full: look also when the process is not bound, and for GPUs (tens of milliseconds on a big machine). */
int hydra_place_locate(bool full, struct hydra_place *place);

/**
 * Places of `count` ranks on a synthetic machine.
 *
 * text    [in]   MACHINES*[HWLOC]{+MACHINES*[HWLOC]}{/block|/round-robin}: "2*[core:6 pu:1]", "2*[pu:8]/round-robin".
 *                Block (default): ranks fill one node after another. Round-robin: they are dealt to the nodes in turn.
 *                With more ranks than PUs both start over.
 * places  [out]  [count]
 *
 * Returns HYDRA_ERR_FORMAT (the detail quotes the part), HYDRA_ERR_NOMEM.
 */
int hydra_place_synthetic(const char *text, int64_t count, struct hydra_place *places);

/* hwloc's API version, for people. */
const char *hydra_place_version(void);

/* Renumber nodes 0, 1, ... in order of their least rank. */
int hydra_place_number_nodes(int64_t count, struct hydra_place *places);

/**
 * Slot order: neighbours close, and at every level as few chunks as possible that straddle a node (and inside nodes a
 * package, a NUMA node, ...). Undoes any launch order: ranks only tell which of two nodes comes first.
 *
 * rank_of_slot  [out]  [count]
 */
int hydra_place_order(int64_t count, const struct hydra_place *places, int64_t *rank_of_slot);

/* Whether slots [first, first + size) lie on more than one node. */
bool hydra_place_straddles(const struct hydra_place *places, const int64_t *rank_of_slot, int64_t first, int64_t size);

/* Full chunks of 2^level slots that straddle a node. */
int64_t hydra_place_straddling(int64_t count, const struct hydra_place *places, const int64_t *rank_of_slot, int level);

#endif
