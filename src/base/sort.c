/* sort.c: stable radix sorts, ascending. */
#include "base/sort.h"

#include <string.h>

#include "base/bits.h"

enum { DIGIT_BITS = 11 };

/* Passes over the bits in which keys differ, as even as can be: fewer digits are fewer places written at a time. */
struct passes {
    int from;
    int width;
    int end;
};

static struct passes plan_passes(uint64_t differ, int from_bit)
{
    int bits = differ == 0 ? 0 : hydra_log2_floor(differ) + 1 - from_bit;

    if (bits <= 0)
        return (struct passes){from_bit, 1, from_bit};
    return (struct passes){from_bit, (int)hydra_ceil_div(bits, hydra_ceil_div(bits, DIGIT_BITS)), from_bit + bits};
}

/* NAME deals elements into `to` by `width` bits of their key at `shift`, keeping their order inside a digit. */
#define DEAL(NAME, TYPE, KEY)                                                                                          \
    static void NAME(const TYPE *from, TYPE *to, int64_t count, int shift, int width)                                  \
    {                                                                                                                  \
        int64_t place[1 << DIGIT_BITS];                                                                                \
        uint64_t mask = ((uint64_t)1 << width) - 1;                                                                    \
        int64_t sum = 0;                                                                                               \
                                                                                                                       \
        memset(place, 0, sizeof place);                                                                                \
        for (int64_t i = 0; i < count; i++)                                                                            \
            place[KEY(from[i]) >> shift & mask]++;                                                                     \
        for (uint64_t digit = 0; digit <= mask; digit++) {                                                             \
            int64_t here = place[digit];                                                                               \
                                                                                                                       \
            place[digit] = sum;                                                                                        \
            sum += here;                                                                                               \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            to[place[KEY(from[i]) >> shift & mask]++] = from[i];                                                       \
    }

#define KEY_OF_RECORD(record) ((record).key)
#define KEY_OF_WORD(word)     (word)
DEAL(deal_records, struct hydra_record, KEY_OF_RECORD)
DEAL(deal_words, uint64_t, KEY_OF_WORD)

struct hydra_record *hydra_radix_sort(struct hydra_record *records, struct hydra_record *scratch, int64_t count)
{
    uint64_t differ = 0;
    struct passes passes;

    for (int64_t i = 1; i < count; i++)
        differ |= records[i].key ^ records[0].key;
    passes = plan_passes(differ, 0);
    for (int shift = passes.from; shift < passes.end; shift += passes.width) {
        struct hydra_record *sorted = scratch;

        deal_records(records, scratch, count, shift, passes.width);
        scratch = records;
        records = sorted;
    }
    return records;
}

uint64_t *hydra_radix_sort_words(uint64_t *words, uint64_t *scratch, int64_t count, int from_bit)
{
    uint64_t differ = 0;
    struct passes passes;

    for (int64_t i = 1; i < count; i++)
        differ |= words[i] ^ words[0];
    passes = plan_passes(differ, from_bit);
    for (int shift = passes.from; shift < passes.end; shift += passes.width) {
        uint64_t *sorted = scratch;

        deal_words(words, scratch, count, shift, passes.width);
        scratch = words;
        words = sorted;
    }
    return words;
}
