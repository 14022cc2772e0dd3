/* sort.h: stable radix sort of 64-bit words by their upper bits; the lower bits are payload. */
#ifndef HYDRA_BASE_SORT_H
#define HYDRA_BASE_SORT_H

#include <stdint.h>

/* Sort ascending by bits [from_bit, 64), words that agree there in their old order. scratch: [count] too. Returns
 * whichever of the two arrays holds the result. O(count) for each 11 bits in which words differ. */
uint64_t *hydra_radix_sort(uint64_t *words, uint64_t *scratch, int64_t count, int from_bit);

#endif
