/* heap.h: 4-ary min-heaps of plain keys, one set of functions per key type. Header only; the arrays are the caller's.
 *
 * HYDRA_HEAP(name, key) defines name_push, name_pop, name_replace (of the top) and name_build. The greatest entry of a
 * four-child node shares a cache line or two with its siblings, and a key carries its payload in its low bits, so that
 * ties are built in. Each returns the steps (levels moved) it took, for those who count.
 */
#ifndef HYDRA_BASE_HEAP_H
#define HYDRA_BASE_HEAP_H

#include <stdint.h>

#define HYDRA_HEAP(name, key)                                                                                          \
    /* Put `value` where the hole at `at` is: the hole moves to a leaf, then the value up from there. Most values that \
     * come in are great, and this way no branch depends on them until the leaf. */                                    \
    __attribute__((unused)) static inline int64_t name##_sink(key *keys, int64_t count, int64_t at, key value)         \
    {                                                                                                                  \
        int64_t top = at, steps = 1, child = 4 * at + 1;                                                               \
                                                                                                                       \
        for (; child + 3 < count; child = 4 * at + 1, steps++) {                                                       \
            __builtin_prefetch(&keys[4 * child + 1]);                                                                  \
            __builtin_prefetch(&keys[4 * child + 9]);                                                                  \
            int64_t low = child + (keys[child + 1] < keys[child]);                                                     \
            int64_t high = child + 2 + (keys[child + 3] < keys[child + 2]);                                            \
            int64_t least = low + ((high - low) & -(int64_t)(keys[high] < keys[low]));                                 \
                                                                                                                       \
            keys[at] = keys[least];                                                                                    \
            at = least;                                                                                                \
        }                                                                                                              \
        if (child < count) { /* the last node may have fewer children */                                               \
            int64_t least = child;                                                                                     \
                                                                                                                       \
            for (int64_t c = child + 1; c < count; c++)                                                                \
                least = keys[c] < keys[least] ? c : least;                                                             \
            keys[at] = keys[least];                                                                                    \
            at = least;                                                                                                \
            steps++;                                                                                                   \
        }                                                                                                              \
        for (; at > top && value < keys[(at - 1) / 4]; at = (at - 1) / 4, steps++)                                     \
            keys[at] = keys[(at - 1) / 4];                                                                             \
        keys[at] = value;                                                                                              \
        return steps;                                                                                                  \
    }                                                                                                                  \
    /* Order `count` keys in any order into a heap. */                                                                 \
    __attribute__((unused)) static inline int64_t name##_build(key *keys, int64_t count)                               \
    {                                                                                                                  \
        int64_t steps = 0;                                                                                             \
                                                                                                                       \
        for (int64_t at = (count + 2) / 4 - 1; at >= 0; at--)                                                          \
            steps += name##_sink(keys, count, at, keys[at]);                                                           \
        return steps;                                                                                                  \
    }                                                                                                                  \
    __attribute__((unused)) static inline int64_t name##_push(key *keys, int64_t *count, key value)                    \
    {                                                                                                                  \
        int64_t at = (*count)++, steps = 1;                                                                            \
                                                                                                                       \
        for (; at > 0 && value < keys[(at - 1) / 4]; at = (at - 1) / 4, steps++)                                       \
            keys[at] = keys[(at - 1) / 4];                                                                             \
        keys[at] = value;                                                                                              \
        return steps;                                                                                                  \
    }                                                                                                                  \
    __attribute__((unused)) static inline int64_t name##_replace(key *keys, int64_t count, key value)                  \
    {                                                                                                                  \
        return name##_sink(keys, count, 0, value);                                                                     \
    }                                                                                                                  \
    __attribute__((unused)) static inline int64_t name##_pop(key *keys, int64_t *count)                                \
    {                                                                                                                  \
        (*count)--;                                                                                                    \
        return *count == 0 ? 1 : name##_sink(keys, *count, 0, keys[*count]);                                           \
    }

#endif
