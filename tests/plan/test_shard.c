/* test_shard.c: every token of a document is held exactly once, in the places doc/algorithms.md section 5 says. */
#include <stdlib.h>

#include "plan/shard.h"
#include "tests/tap.h"

/* Mark each member's positions; every position must be marked once, and ring runs must be the members' joined. */
static bool covers_once(const struct hydra_shape *shape)
{
    int *seen = calloc((size_t)shape->length + 1, sizeof *seen);
    bool good = true;

    for (int64_t i = 0; i < shape->size; i++) {
        struct hydra_run runs[2];

        hydra_shard_member_runs(shape, i, runs);
        good &= TAP_CHECK(runs[0].count + runs[1].count == hydra_shard_tokens(shape, i), "member %ld", (long)i);
        for (int piece = 0; piece < 2; piece++)
            for (int64_t p = runs[piece].begin; p < runs[piece].begin + runs[piece].count; p++)
                if (p >= 0 && p < shape->length)
                    seen[p]++;
                else
                    good = false;
    }
    for (int64_t p = 0; p < shape->length; p++)
        good &= TAP_CHECK(seen[p] == 1, "s %ld P %ld U %ld o %ld: position %ld seen %d times", (long)shape->length,
                          (long)shape->size, (long)shape->factor, (long)shape->rotation, (long)p, seen[p]);
    free(seen);
    return good;
}

static void every_token_is_held_once(void)
{
    bool good = true;

    for (int64_t size = 1; size <= 12; size++)
        for (int64_t factor = 1; factor <= size; factor++)
            for (int64_t length = 0; size % factor == 0 && length <= 40; length++)
                for (int64_t rotation = 0; rotation < size; rotation++)
                    for (int zigzag = 0; zigzag <= 1; zigzag++)
                        good &= covers_once(&(struct hydra_shape){length, size, factor, rotation, zigzag});
    tap_result(good,
               "every token of a document is held by exactly one member, for any length, degree, factor and rotation");
}

/* A thousand one-token documents: rotation deals them out instead of piling them on member 0. */
static void rotation_balances_short_documents(void)
{
    enum { P = 6 };
    int64_t held[P] = {0}, rotation = 0, least = 1000, greatest = 0;

    for (int document = 0; document < 1000; document++) {
        struct hydra_shape shape = {1, P, 2, rotation, true};

        for (int64_t i = 0; i < P; i++)
            held[i] += hydra_shard_tokens(&shape, i);
        rotation = (rotation + 1) % P;
    }
    for (int i = 0; i < P; i++) {
        least = held[i] < least ? held[i] : least;
        greatest = held[i] > greatest ? held[i] : greatest;
    }
    tap_result(TAP_CHECK(greatest - least <= 1, "members hold %ld to %ld tokens", (long)least, (long)greatest),
               "a thousand one-token documents differ by at most one token between members");
}

int main(void)
{
    every_token_is_held_once();
    rotation_balances_short_documents();
    return tap_done();
}
