/* random_work.h: small pieces of work from a seed, for the tests of the replay. */
#ifndef HYDRA_TESTS_RANDOM_WORK_H
#define HYDRA_TESTS_RANDOM_WORK_H

#include <stdlib.h>

#include "base/random.h"
#include "sim/iteration.h"

/* Room for one group per slot. Groups need be neither aligned nor powers of two, and blocks need not fit them. */
__attribute__((unused)) static struct hydra_work work_blank(int64_t pool, int stages, int chunks, int64_t microbatches)
{
    struct hydra_work work = {.pool = pool, .layers = 1, .shape = {stages, chunks, microbatches}};

    work.group_begin = calloc((size_t)microbatches + 1, sizeof *work.group_begin);
    work.groups = calloc((size_t)(microbatches * pool), sizeof *work.groups);
    return work;
}

__attribute__((unused)) static void work_add_group(struct hydra_work *work, int64_t microbatch, int64_t first,
                                                   int64_t size, int64_t forward, int64_t backward)
{
    struct hydra_work_group *group = &work->groups[work->group_begin[microbatch + 1]++];

    *group = (struct hydra_work_group){.first = first, .size = size, .compute = {forward, backward}};
    if (microbatch + 1 < work->shape.microbatches)
        work->group_begin[microbatch + 2] = work->group_begin[microbatch + 1];
}

__attribute__((unused)) static struct hydra_work work_random(uint64_t seed)
{
    struct hydra_random random = hydra_random_seed(seed);
    int64_t pool = 1 + hydra_random_below(&random, 9);
    int stages = 1 + (int)hydra_random_below(&random, 4);
    int chunks = 1 + (int)hydra_random_below(&random, 3);
    int64_t microbatches = stages * (1 + hydra_random_below(&random, 3));
    struct hydra_work work = work_blank(pool, stages, chunks, microbatches);

    work.layers = 1 + hydra_random_below(&random, 3);
    for (int64_t m = 0; m < microbatches; m++)
        for (int64_t first = 0, size; first < pool; first += size) {
            struct hydra_work_group *group;

            size = 1 + hydra_random_below(&random, pool - first);
            work_add_group(&work, m, first, size, hydra_random_below(&random, 1000), hydra_random_below(&random, 2000));
            group = &work.groups[work.group_begin[m + 1] - 1];
            for (int way = 0; way < 2; way++)
                group->comm[way] = hydra_random_below(&random, 300);
            group->hop = hydra_random_below(&random, 100);
        }
    if (hydra_random_below(&random, 3) > 0) {
        work.block_slots = 1 + hydra_random_below(&random, pool);
        work.nblocks = (pool + work.block_slots - 1) / work.block_slots;
        work.blocks = calloc((size_t)(microbatches * work.nblocks), sizeof *work.blocks);
        for (int64_t b = 0; b < microbatches * work.nblocks; b++)
            for (int way = 0; way < 2; way++) {
                work.blocks[b].compute[way] = hydra_random_below(&random, 700);
                work.blocks[b].comm[way] = hydra_random_below(&random, 200);
            }
    }
    work.planning = hydra_random_below(&random, 500);
    work.reduce = hydra_random_below(&random, 500);
    work.optimizer = hydra_random_below(&random, 500);
    return work;
}

#endif
