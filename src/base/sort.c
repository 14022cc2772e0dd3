/* sort.c: stable radix sorts, ascending. */
#include "base/sort.h"

#include <string.h>

#include "base/bits.h"

enum { DIGIT_BITS = 11, LEAST_DIGIT_BITS = 4 };

/* Passes over the bits in which keys differ, as even as can be: fewer digits are fewer places written at a time, and a
 * table of places much longer than the array costs more than it saves. */
struct passes {
    int from;
    int width;
    int end;
};

static struct passes plan_passes(int differ_end, int from_bit, int64_t count)
{
    int bits = differ_end - from_bit, most = DIGIT_BITS;

    while (most > LEAST_DIGIT_BITS && (int64_t)1 << most > count)
        most--;
    if (bits <= 0)
        return (struct passes){from_bit, 1, from_bit};
    return (struct passes){from_bit, (int)hydra_ceil_div(bits, hydra_ceil_div(bits, most)), from_bit + bits};
}

static int bits_of_word(uint64_t word)
{
    return word == 0 ? 0 : hydra_log2_floor(word) + 1;
}

static int bits_of_wide(unsigned __int128 word)
{
    return word >> 64 != 0 ? 64 + bits_of_word((uint64_t)(word >> 64)) : bits_of_word((uint64_t)word);
}

/* NAME sorts elements of TYPE by bits [from_bit, ..) of their key. A pass deals them by one digit of it, keeping their
 * order inside the digit, from one array into the other. */
#define RADIX_SORT(NAME, TYPE, WORD, KEY, BITS)                                                                        \
    static void NAME##_deal(const TYPE *from, TYPE *to, int64_t count, int shift, int width)                           \
    {                                                                                                                  \
        int64_t place[1 << DIGIT_BITS];                                                                                \
        uint64_t mask = ((uint64_t)1 << width) - 1;                                                                    \
        int64_t sum = 0;                                                                                               \
                                                                                                                       \
        memset(place, 0, (size_t)(mask + 1) * sizeof *place);                                                          \
        for (int64_t i = 0; i < count; i++)                                                                            \
            place[(uint64_t)(KEY(from[i]) >> shift) & mask]++;                                                         \
        for (uint64_t digit = 0; digit <= mask; digit++) {                                                             \
            int64_t here = place[digit];                                                                               \
                                                                                                                       \
            place[digit] = sum;                                                                                        \
            sum += here;                                                                                               \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            to[place[(uint64_t)(KEY(from[i]) >> shift) & mask]++] = from[i];                                           \
    }                                                                                                                  \
                                                                                                                       \
    static TYPE *NAME(TYPE *elements, TYPE *scratch, int64_t count, int from_bit)                                      \
    {                                                                                                                  \
        WORD differ = 0;                                                                                               \
        struct passes passes;                                                                                          \
                                                                                                                       \
        for (int64_t i = 1; i < count; i++)                                                                            \
            differ |= KEY(elements[i]) ^ KEY(elements[0]);                                                             \
        passes = plan_passes(BITS(differ), from_bit, count);                                                           \
        for (int shift = passes.from; shift < passes.end; shift += passes.width) {                                     \
            TYPE *sorted = scratch;                                                                                    \
                                                                                                                       \
            NAME##_deal(elements, scratch, count, shift, passes.width);                                                \
            scratch = elements;                                                                                        \
            elements = sorted;                                                                                         \
        }                                                                                                              \
        return elements;                                                                                               \
    }

#define KEY_OF_RECORD(record) ((record).key)
#define KEY_OF_WORD(word)     (word)
RADIX_SORT(sort_records, struct hydra_record, uint64_t, KEY_OF_RECORD, bits_of_word)
RADIX_SORT(sort_words, uint64_t, uint64_t, KEY_OF_WORD, bits_of_word)
RADIX_SORT(sort_wide, unsigned __int128, unsigned __int128, KEY_OF_WORD, bits_of_wide)

struct hydra_record *hydra_radix_sort(struct hydra_record *records, struct hydra_record *scratch, int64_t count)
{
    return sort_records(records, scratch, count, 0);
}

uint64_t *hydra_radix_sort_words(uint64_t *words, uint64_t *scratch, int64_t count, int from_bit)
{
    return sort_words(words, scratch, count, from_bit);
}

unsigned __int128 *hydra_radix_sort_wide(unsigned __int128 *words, unsigned __int128 *scratch, int64_t count)
{
    return sort_wide(words, scratch, count, 0);
}
