/* sort.c: stable radix sort of records by an unsigned key. */
#include "base/sort.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Deal records into to by the digit at `shift`, keeping their order inside a digit. */
static void deal(const struct hydra_record *from, struct hydra_record *to, int64_t count, int shift)
{
    int64_t place[DIGITS];
    int64_t sum = 0;

    memset(place, 0, sizeof place);
    for (int64_t i = 0; i < count; i++)
        place[from[i].key >> shift & (DIGITS - 1)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        int64_t here = place[digit];

        place[digit] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++)
        to[place[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

struct hydra_record *hydra_radix_sort(struct hydra_record *records, struct hydra_record *scratch, int64_t count)
{
    uint64_t differ = 0;

    for (int64_t i = 1; i < count; i++)
        differ |= records[i].key ^ records[0].key;
    for (int shift = 0; shift < 64; shift += DIGIT_BITS)
        if (differ >> shift & (DIGITS - 1)) {
            struct hydra_record *sorted = scratch;

            deal(records, scratch, count, shift);
            scratch = records;
            records = sorted;
        }
    return records;
}
