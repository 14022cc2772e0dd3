/* layout.c: slots for the groups of one microbatch, once their sizes are known. */
#include "plan/layout.h"

#include "base/bits.h"

/* Which of the pool's degrees a size is: its place in hydra_pool_degrees. */
static int level_of(int64_t size)
{
    return hydra_log2_floor((uint64_t)size) + !hydra_is_pow2(size);
}

void hydra_layout_descending(const struct hydra_batch *batch, struct hydra_draft_group *groups, int64_t count)
{
    int64_t degrees[64], next[64] = {0};
    int levels = hydra_pool_degrees(batch->pool, degrees);
    int64_t slot = 0;

    for (int64_t g = 0; g < count; g++)
        next[level_of(groups[g].size)] += groups[g].size;
    for (int level = levels - 1; level >= 0; level--) {
        int64_t slots = next[level];

        next[level] = slot;
        slot += slots;
    }
    for (int64_t g = 0; g < count; g++) {
        groups[g].first = next[level_of(groups[g].size)];
        next[level_of(groups[g].size)] += groups[g].size;
    }
}

void hydra_layout_fill(const struct hydra_batch *batch, struct hydra_draft_group *groups, int64_t count)
{
    int64_t degrees[64], idle = batch->pool;

    hydra_pool_degrees(batch->pool, degrees);
    for (int64_t g = 0; g < count; g++)
        idle -= groups[g].size;
    for (int level = 0; degrees[level] < batch->options->max_degree; level++) {
        int64_t need = degrees[level + 1] - degrees[level];

        for (int64_t g = 0; g < count && idle >= need; g++)
            if (groups[g].size == degrees[level]) {
                groups[g].size = degrees[level + 1];
                idle -= need;
            }
    }
    hydra_layout_descending(batch, groups, count);
}
