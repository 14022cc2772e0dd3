/* sort.h: stable radix sorts, ascending. */
#ifndef HYDRA_BASE_SORT_H
#define HYDRA_BASE_SORT_H

#include <stdint.h>

struct hydra_record {
    uint64_t key;
    int64_t value;
};

/* Sort by key, equal keys in their old order. scratch: [count] too. Returns whichever of the two arrays holds the
 * result. O(count) for each 11 bits in which keys differ, fewer
 * for short arrays. */
struct hydra_record *hydra_radix_sort(struct hydra_record *records, struct hydra_record *scratch, int64_t count);

/* The same for words whose bits [from_bit, 64) are the key and whose lower bits are payload: half the memory. */
uint64_t *hydra_radix_sort_words(uint64_t *words, uint64_t *scratch, int64_t count, int from_bit);

/* The same for words of 128 bits, all of them the key. */
unsigned __int128 *hydra_radix_sort_wide(unsigned __int128 *words, unsigned __int128 *scratch, int64_t count);

#endif
