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
    /* Put `value` where the hole at `at` is, moving lesser children up. */                                            \
    static inline int64_t name##_sink(key *keys, int64_t count, int64_t at, key value)                                 \
    {                                                                                                                  \
        int64_t steps = 1;                                                                                             \
                                                                                                                       \
        for (int64_t child = 4 * at + 1; child < count; child = 4 * at + 1, steps++) {                                 \
            int64_t least = child;                                                                                     \
                                                                                                                       \
            if (child + 3 < count) {                                                                                   \
                int64_t low = keys[child + 1] < keys[child] ? child + 1 : child;                                       \
                int64_t high = keys[child + 3] < keys[child + 2] ? child + 3 : child + 2;                              \
                least = keys[high] < keys[low] ? high : low;                                                           \
            } else {                                                                                                   \
                for (int64_t c = child + 1; c < count; c++)                                                            \
                    least = keys[c] < keys[least] ? c : least;                                                         \
            }                                                                                                          \
            if (value <= keys[least])                                                                                  \
                break;                                                                                                 \
            keys[at] = keys[least];                                                                                    \
            at = least;                                                                                                \
        }                                                                                                              \
        keys[at] = value;                                                                                              \
        return steps;                                                                                                  \
    }                                                                                                                  \
    /* Order `count` keys in any order into a heap. */                                                                 \
    static inline int64_t name##_build(key *keys, int64_t count)                                                       \
    {                                                                                                                  \
        int64_t steps = 0;                                                                                             \
                                                                                                                       \
        for (int64_t at = (count + 2) / 4 - 1; at >= 0; at--)                                                          \
            steps += name##_sink(keys, count, at, keys[at]);                                                           \
        return steps;                                                                                                  \
    }                                                                                                                  \
    static inline int64_t name##_push(key *keys, int64_t *count, key value)                                            \
    {                                                                                                                  \
        int64_t at = (*count)++, steps = 1;                                                                            \
                                                                                                                       \
        for (; at > 0 && value < keys[(at - 1) / 4]; at = (at - 1) / 4, steps++)                                       \
            keys[at] = keys[(at - 1) / 4];                                                                             \
        keys[at] = value;                                                                                              \
        return steps;                                                                                                  \
    }                                                                                                                  \
    static inline int64_t name##_replace(key *keys, int64_t count, key value)                                          \
    {                                                                                                                  \
        return name##_sink(keys, count, 0, value);                                                                     \
    }                                                                                                                  \
    static inline int64_t name##_pop(key *keys, int64_t *count)                                                        \
    {                                                                                                                  \
        (*count)--;                                                                                                    \
        return *count == 0 ? 1 : name##_sink(keys, *count, 0, keys[*count]);                                           \
    }

#endif
