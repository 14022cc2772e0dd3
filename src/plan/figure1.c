/* figure1.c: batches of document lengths drawn from the HyDra paper's Figure 1. */
#include "plan/figure1.h"

#include <inttypes.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

/* Share of documents, in thousandths (999 of them), whose length is above 2^(6 + bin) and at most 2^(7 + bin); bin 0
 * begins at 1. Inside a bin lengths are uniform in the logarithm. */
static const uint32_t shares[] = {158, 210, 223, 151, 124, 72, 32, 16, 8, 3, 1, 1};
enum { SHARES_SUM = 999, FIRST_BIN_BITS = 7 };

/* 2^(31 + 2^-(i+1)): powers of two with fraction bits, to multiply up. */
static const uint64_t roots[16] = {3037000500u, 2553802834u, 2341847524u, 2242560872u, 2194507417u, 2170868212u,
                                   2159144272u, 2153306067u, 2150392887u, 2148937775u, 2148210589u, 2147847087u,
                                   2147665360u, 2147574502u, 2147529075u, 2147506361u};

/* The upper half of xorshift64*; not random.h's generator, whose seeding differs. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Dull >> 32;
}

/* floor(2^(whole + fraction / 2^16)) + 1 */
static int64_t power_above(int whole, uint64_t fraction)
{
    uint64_t mantissa = (uint64_t)1 << 31;

    for (int i = 0; i < 16; i++)
        if (fraction >> (15 - i) & 1)
            mantissa = mantissa * roots[i] >> 31;
    return (int64_t)((mantissa << whole) >> 31) + 1;
}

static int64_t draw_length(uint64_t *state)
{
    uint64_t share = draw(state) * SHARES_SUM >> 32, below = shares[0], place;
    int bin = 0;

    while (share >= below)
        below += shares[++bin];
    place = draw(state);
    if (bin > 0)
        return power_above(FIRST_BIN_BITS - 1 + bin, place >> 16);
    place *= FIRST_BIN_BITS; /* seven octaves share the first bin */
    return power_above((int)(place >> 32), (place & 0xffffffffu) >> 16);
}

int hydra_figure1_sample(uint64_t seed, int64_t tokens, int64_t longest, int64_t **lengths, int64_t *ndocs)
{
    uint64_t state = seed;
    int64_t left = tokens, count = 0, capacity = 1024, *drawn = hydra_calloc(capacity, sizeof *drawn);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(seed != 0 && tokens >= 0 && longest >= 1, HYDRA_ERR_ARG,
                  "cannot draw %" PRId64 " tokens in documents up to %" PRId64, tokens, longest);
    while (left > 0 && drawn != NULL) {
        int64_t length = hydra_min(draw_length(&state), longest);

        if (count == capacity) {
            int64_t *grown = hydra_resize(drawn, capacity += capacity / 2, sizeof *drawn);

            HYDRA_REQUIRE(grown != NULL, HYDRA_ERR_NOMEM, "%" PRId64 " drawn lengths", capacity);
            drawn = grown;
        }
        drawn[count++] = hydra_min(length, left);
        left -= drawn[count - 1];
    }
    HYDRA_REQUIRE(drawn != NULL, HYDRA_ERR_NOMEM, "drawn lengths");
    *lengths = drawn;
    *ndocs = count;
    return HYDRA_SUCCESS;

fail:
    hydra_free(drawn);
    return status;
}

int hydra_figure1_draw(int64_t pool, int64_t multiple, int64_t budget, int64_t **lengths, int64_t *ndocs)
{
    int64_t tokens;

    if (pool < 1 || multiple < 1 || budget < 1 || __builtin_mul_overflow(pool, multiple, &tokens) ||
        __builtin_mul_overflow(tokens, budget, &tokens))
        return hydra_error(HYDRA_ERR_ARG, "%" PRId64 " x %" PRId64 " x %" PRId64 " is no count of tokens", multiple,
                           pool, budget);
    return hydra_figure1_sample(0x9E3779B97F4A7C15ull + (uint64_t)pool, tokens, INT64_MAX, lengths, ndocs);
}
