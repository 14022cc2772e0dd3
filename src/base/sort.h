/* sort.h: stable radix sort of records by an unsigned key. */
#ifndef HYDRA_BASE_SORT_H
#define HYDRA_BASE_SORT_H

#include <stdint.h>

struct hydra_record {
    uint64_t key;
    int64_t value;
};

/* Sort ascending by key, equal keys in their old order. scratch: [count] too. Returns whichever of the two holds the
 * result. O(count) for each 11 bits in which keys differ. */
struct hydra_record *hydra_radix_sort(struct hydra_record *records, struct hydra_record *scratch, int64_t count);

#endif
