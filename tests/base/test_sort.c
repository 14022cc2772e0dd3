/* test_sort.c: radix sorts and heaps against qsort. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/random.h"
#include "base/sort.h"
#include "tests/tap.h"

enum { MOST = 700 };
HYDRA_HEAP(words, uint64_t)

static int compare_words(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Keys of `bits` bits, so that ties are many or none. */
static uint64_t draw_key(struct hydra_random *random, int bits)
{
    return bits == 0 ? 0 : hydra_random_next(random) >> (64 - bits);
}

static void words_are_sorted_and_stable(void)
{
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 600; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        int64_t count = hydra_random_below(&random, MOST);
        int from = (int)hydra_random_below(&random, 30), bits = (int)hydra_random_below(&random, 65 - from);
        uint64_t words[MOST], scratch[MOST], expected[MOST], *sorted;

        for (int64_t i = 0; i < count; i++) /* payload: the place, so that a stable order is the order of whole words */
            words[i] = expected[i] = draw_key(&random, bits) << from | (from >= 10 ? (uint64_t)i : 0);
        qsort(expected, (size_t)count, sizeof *expected, compare_words);
        sorted = hydra_radix_sort_words(words, scratch, count, from);
        good =
            TAP_CHECK(memcmp(sorted, expected, (size_t)count * sizeof *sorted) == 0, "seed %lu", (unsigned long)seed);
    }
    tap_result(good, "words are sorted by their upper bits, equal ones in their old order");
}

static int compare_wide(const void *left, const void *right)
{
    unsigned __int128 a = *(const unsigned __int128 *)left, b = *(const unsigned __int128 *)right;

    return (a > b) - (a < b);
}

static void wide_words_are_sorted(void)
{
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 300; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        int64_t count = hydra_random_below(&random, MOST);
        int high = (int)hydra_random_below(&random, 65), low = (int)hydra_random_below(&random, 65);
        unsigned __int128 words[MOST], scratch[MOST], expected[MOST], *sorted;

        for (int64_t i = 0; i < count; i++)
            words[i] = expected[i] = (unsigned __int128)draw_key(&random, high) << 64 | draw_key(&random, low);
        qsort(expected, (size_t)count, sizeof *expected, compare_wide);
        sorted = hydra_radix_sort_wide(words, scratch, count);
        good =
            TAP_CHECK(memcmp(sorted, expected, (size_t)count * sizeof *sorted) == 0, "seed %lu", (unsigned long)seed);
    }
    tap_result(good, "words of 128 bits are sorted");
}

static void records_are_sorted_and_stable(void)
{
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 300; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        int64_t count = hydra_random_below(&random, MOST);
        int bits = (int)hydra_random_below(&random, 65);
        struct hydra_record records[MOST], scratch[MOST], *sorted;

        for (int64_t i = 0; i < count; i++)
            records[i] = (struct hydra_record){draw_key(&random, bits), i};
        sorted = hydra_radix_sort(records, scratch, count);
        for (int64_t i = 1; good && i < count; i++)
            good = TAP_CHECK(sorted[i - 1].key < sorted[i].key ||
                                 (sorted[i - 1].key == sorted[i].key && sorted[i - 1].value < sorted[i].value),
                             "seed %lu, at %ld", (unsigned long)seed, (long)i);
    }
    tap_result(good, "records are sorted by key, equal ones in their old order");
}

/* A heap against an unordered array in which the least is searched. */
static void heaps_give_the_least(void)
{
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 200; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        uint64_t heap[MOST], plain[MOST];
        int64_t count = hydra_random_below(&random, MOST / 2), plain_count = count;

        for (int64_t i = 0; i < count; i++)
            heap[i] = plain[i] = draw_key(&random, (int)(seed % 20));
        words_build(heap, count);
        for (int step = 0; good && step < 400; step++) {
            uint64_t key = draw_key(&random, (int)(seed % 20));
            int64_t least = 0, what = hydra_random_below(&random, 3);

            for (int64_t i = 1; i < plain_count; i++)
                least = plain[i] < plain[least] ? i : least;
            good = TAP_CHECK(count == plain_count && (count == 0 || heap[0] == plain[least]), "seed %lu step %d",
                             (unsigned long)seed, step);
            if (what == 0 && count < MOST) {
                words_push(heap, &count, key);
                plain[plain_count++] = key;
            } else if (what == 1 && count > 0) {
                words_pop(heap, &count);
                plain[least] = plain[--plain_count];
            } else if (count > 0) {
                words_replace(heap, count, key);
                plain[least] = key;
            }
        }
    }
    tap_result(good, "a heap gives the least key after any pushes, pops and replacements");
}

int main(void)
{
    words_are_sorted_and_stable();
    wide_words_are_sorted();
    records_are_sorted_and_stable();
    heaps_give_the_least();
    return tap_done();
}
