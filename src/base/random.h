/* random.h: a small seeded generator (xorshift64*) for searches, noise and tests. The same on every machine. */
#ifndef HYDRA_BASE_RANDOM_H
#define HYDRA_BASE_RANDOM_H

#include <stdint.h>

struct hydra_random {
    uint64_t state;
};

static inline struct hydra_random hydra_random_seed(uint64_t seed)
{
    return (struct hydra_random){(seed + 1) * 0x9E3779B97F4A7C15ull | 1};
}

static inline uint64_t hydra_random_next(struct hydra_random *random)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return random->state * 0x2545F4914F6CDD1Dull;
}

/* Whole number in [0, bound); bound >= 1. The bias is below bound / 2^64. */
static inline int64_t hydra_random_below(struct hydra_random *random, int64_t bound)
{
    return (int64_t)(((unsigned __int128)hydra_random_next(random) * (uint64_t)bound) >> 64);
}

/* Number in [0, 1). */
static inline double hydra_random_unit(struct hydra_random *random)
{
    return (double)(hydra_random_next(random) >> 11) * 0x1p-53;
}

#endif
