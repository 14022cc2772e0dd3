/* batches.c: document lengths, drawn or read. */
#include "sim/batches.h"

#include <inttypes.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/figure1.h"
#include "plan/lengths.h"

void hydra_batches_clear(struct hydra_batches *batches)
{
    for (int64_t b = 0; batches->lengths != NULL && b < batches->count; b++)
        hydra_free(batches->lengths[b]);
    hydra_free(batches->lengths);
    hydra_free(batches->ndocs);
    *batches = (struct hydra_batches){.count = 0};
}

static int allocate(int64_t count, struct hydra_batches *batches)
{
    batches->count = count;
    batches->lengths = hydra_calloc(count, sizeof *batches->lengths);
    batches->ndocs = hydra_calloc(count, sizeof *batches->ndocs);
    return batches->lengths == NULL || batches->ndocs == NULL
               ? hydra_error(HYDRA_ERR_NOMEM, "%" PRId64 " batches", count)
               : HYDRA_SUCCESS;
}

int hydra_batches_draw(uint64_t seed, int64_t count, int64_t tokens, int64_t context, struct hydra_batches *batches)
{
    struct hydra_batches made = {.count = 0};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(allocate(count, &made));
    for (int64_t b = 0; b < count; b++)
        HYDRA_TRY(hydra_figure1_sample(0x9E3779B97F4A7C15ull * (seed + 1) + (uint64_t)b, tokens, context,
                                       &made.lengths[b], &made.ndocs[b]));
    *batches = made;
    return HYDRA_SUCCESS;

fail:
    hydra_batches_clear(&made);
    return status;
}

int hydra_batches_read(const char *path, int64_t context, struct hydra_batches *batches)
{
    struct hydra_batches made = {.count = 0};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(allocate(1, &made));
    HYDRA_TRY(hydra_lengths_read(path, &made.lengths[0], &made.ndocs[0]));
    HYDRA_REQUIRE(made.ndocs[0] > 0, HYDRA_ERR_FORMAT, "%s holds no length", path);
    for (int64_t i = 0; i < made.ndocs[0]; i++)
        made.lengths[0][i] = hydra_min(made.lengths[0][i], context);
    *batches = made;
    return HYDRA_SUCCESS;

fail:
    hydra_batches_clear(&made);
    return status;
}
