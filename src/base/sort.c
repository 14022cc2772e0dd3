/* sort.c: stable radix sort of 64-bit words by their upper bits. */
#include "base/sort.h"

#include <string.h>

#include "base/bits.h"

enum { DIGIT_BITS = 11 };

/* Deal words into `to` by `width` bits at `shift`, keeping their order inside a digit. */
static void deal(const uint64_t *from, uint64_t *to, int64_t count, int shift, int width)
{
    int64_t place[1 << DIGIT_BITS];
    uint64_t mask = ((uint64_t)1 << width) - 1;
    int64_t sum = 0;

    memset(place, 0, sizeof place);
    for (int64_t i = 0; i < count; i++)
        place[from[i] >> shift & mask]++;
    for (uint64_t digit = 0; digit <= mask; digit++) {
        int64_t here = place[digit];

        place[digit] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++)
        to[place[from[i] >> shift & mask]++] = from[i];
}

uint64_t *hydra_radix_sort(uint64_t *words, uint64_t *scratch, int64_t count, int from_bit)
{
    uint64_t differ = 0;
    int bits, width;

    for (int64_t i = 1; i < count; i++)
        differ |= words[i] ^ words[0];
    differ = from_bit < 64 ? differ >> from_bit : 0;
    if (differ == 0)
        return words;
    bits = hydra_log2_floor(differ) + 1;
    width = (int)hydra_ceil_div(bits, hydra_ceil_div(bits, DIGIT_BITS)); /* even passes: fewer streams to write */
    for (int shift = from_bit; shift < from_bit + bits; shift += width) {
        uint64_t *sorted = scratch;

        deal(words, scratch, count, shift, (int)hydra_min(width, 64 - shift));
        scratch = words;
        words = sorted;
    }
    return words;
}
