/* shard.c: which tokens of a document each member of a group holds. */
#include "plan/shard.h"

#include "base/bits.h"

int64_t hydra_shard_tokens(const struct hydra_shape *shape, int64_t member)
{
    int64_t turned = (member - shape->rotation + shape->size) % shape->size;

    return shape->length / shape->size + (turned < shape->length % shape->size);
}

int64_t hydra_shard_tokens_before(const struct hydra_shape *shape, int64_t member)
{
    int64_t remainder = shape->length % shape->size;
    /* The extra tokens go to members [o, o + remainder), wrapping round at P: count those below `member`. */
    int64_t end = shape->rotation + remainder;
    int64_t straight = hydra_max(0, hydra_min(member, hydra_min(end, shape->size)) - shape->rotation);
    int64_t wrapped = hydra_max(0, hydra_min(member, end - shape->size));

    return member * (shape->length / shape->size) + straight + wrapped;
}

/* Tokens of ring index b: those of its U members. */
static int64_t ring_tokens(const struct hydra_shape *shape, int64_t ring)
{
    return hydra_shard_tokens_before(shape, (ring + 1) * shape->factor) -
           hydra_shard_tokens_before(shape, ring * shape->factor);
}

void hydra_shard_ring_runs(const struct hydra_shape *shape, int64_t ring, struct hydra_run runs[2])
{
    int64_t tokens = ring_tokens(shape, ring);
    int64_t before = hydra_shard_tokens_before(shape, ring * shape->factor);
    int64_t first_halves = 0; /* tokens of the pieces before piece b */

    if (!shape->zigzag) {
        runs[0] = (struct hydra_run){before, tokens};
        runs[1] = (struct hydra_run){before + tokens, 0};
        return;
    }
    for (int64_t b = 0; b < ring; b++)
        first_halves += (ring_tokens(shape, b) + 1) / 2;
    runs[0] = (struct hydra_run){first_halves, (tokens + 1) / 2};
    /* Piece 2R-1-b is followed by the second halves of ring indices before b. */
    runs[1].count = tokens / 2;
    runs[1].begin = shape->length - (before - first_halves) - runs[1].count;
}

void hydra_shard_member_runs(const struct hydra_shape *shape, int64_t member, struct hydra_run runs[2])
{
    struct hydra_run whole[2];
    int64_t ring = member / shape->factor;
    int64_t skip = hydra_shard_tokens_before(shape, member) - hydra_shard_tokens_before(shape, ring * shape->factor);
    int64_t take = hydra_shard_tokens(shape, member);

    hydra_shard_ring_runs(shape, ring, whole);
    for (int piece = 0; piece < 2; piece++) {
        int64_t skipped = hydra_min(skip, whole[piece].count);
        int64_t count = hydra_min(take, whole[piece].count - skipped);

        runs[piece] = (struct hydra_run){whole[piece].begin + skipped, count};
        skip -= skipped;
        take -= count;
    }
}
