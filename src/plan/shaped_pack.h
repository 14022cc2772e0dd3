/* shaped_pack.h: packing of documents into groups under a time cap for each microbatch. The heart of the shaped policy;
 * knows nothing of pipelines or searches. Pure; integers only.
 *
 * Times are ps of forward and backward together, of one rank and one stage, without the fixed part that every
 * microbatch has. A group's time follows from the sums of its documents' weights and tokens alone. */
#ifndef HYDRA_PLAN_SHAPED_PACK_H
#define HYDRA_PLAN_SHAPED_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "plan/batch.h"
#include "plan/cost.h"

/* What groups of one size pay, per unit of their summed weight and tokens. */
struct hydra_pack_level {
    int64_t size;
    int64_t room; /* tokens */
    struct hydra_rate load, token, ring, hidden;
    int64_t latency, ring_latency;
};

/* Time of a group of a level with these sums. */
static inline int64_t hydra_pack_time(const struct hydra_pack_level *level, hydra_weight weight, int64_t tokens)
{
    int64_t time =
        hydra_rate_apply(level->load, weight) + hydra_rate_apply(level->token, (hydra_weight)tokens) + level->latency;

    if (level->ring.mantissa != 0 || level->ring_latency != 0)
        time += hydra_max(0, hydra_rate_apply(level->ring, (hydra_weight)tokens) + level->ring_latency -
                                 hydra_rate_apply(level->hidden, weight));
    return hydra_min(time, HYDRA_TIME_MAX);
}

struct hydra_pack_document {
    hydra_weight weight;
    int64_t tokens;
    int64_t id;
};

/* What every try of one batch shares; read only while tries run. */
struct hydra_pack_batch {
    int64_t pool, budget;
    int first_level, nlevels; /* degrees that may be used: levels[first_level .. nlevels) */
    struct hydra_pack_level levels[64];
    int64_t ndocs, nlong; /* long ones first, each by time, greatest first (ties: lower id first) */
    struct hydra_pack_document *documents;
    int64_t slowest;      /* greatest time of a document alone on its fast level, ps */
    int64_t least_long;   /* tokens of the shortest long document */
    int64_t short_tokens; /* of all short documents */
    __int128 short_work;  /* ps * slots of all short documents, without latencies */
};

/* A group of one microbatch. */
struct hydra_pack_cell {
    hydra_weight weight;
    int64_t tokens;
    int64_t time;
    int32_t documents; /* how many */
    int32_t microbatch;
    int32_t next, previous; /* ring of the shelf bucket */
    int16_t shelf, bucket;  /* shelf -1: on none */
    int32_t level;
};

struct hydra_pack_shelf; /* cells by room, in buckets */

/* One try: M microbatches, their caps, the groups made. */
struct hydra_pack {
    const struct hydra_pack_batch *batch;
    int64_t microbatches;
    int64_t *caps;       /* [M] ps */
    int64_t *order;      /* [M] microbatches by cap, greatest first */
    int64_t *free_slots; /* [M] */
    int64_t ncells, capacity;
    struct hydra_pack_cell *cells;
    int32_t *cell_of; /* [ndocs] place in documents -> cell */
    struct hydra_pack_shelf *shelves;
    int shift; /* ps of room to bucket */
};

/* Fill batch from lengths, weights and a cost model. Documents belong to it: hydra_pack_batch_clear. */
int hydra_pack_batch_make(const struct hydra_batch *batch, const struct hydra_cost *cost,
                          struct hydra_pack_batch *made);
/* A view of documents [begin, end) of a batch; they stay the batch's. */
void hydra_pack_batch_slice(const struct hydra_pack_batch *batch, int64_t begin, int64_t end,
                            struct hydra_pack_batch *slice);
void hydra_pack_batch_clear(struct hydra_pack_batch *batch);

/* Least usable level that holds the document within the budget. */
int hydra_pack_memory_level(const struct hydra_pack_batch *batch, const struct hydra_pack_document *document);

/* Least level from memory_level on at which the document alone takes at most `cap`; nlevels when none does. */
int hydra_pack_level_within(const struct hydra_pack_batch *batch, const struct hydra_pack_document *document, int from,
                            int64_t cap);

/* Least level at which the document alone takes at most 9/8 of its time on the fastest; that time [out]. */
int hydra_pack_fast_level(const struct hydra_pack_batch *batch, const struct hydra_pack_document *document,
                          int64_t *time);

/* HYDRA_ERR_NOMEM only. */
int hydra_pack_make(const struct hydra_pack_batch *batch, int64_t microbatches, struct hydra_pack *pack);
void hydra_pack_clear(struct hydra_pack *pack);

/* Place the long documents under caps[m]; false when they, or the room that is left for short ones, do not fit.
 * caps may be raised where a document alone needs more. Starts over each time. */
bool hydra_pack_long(struct hydra_pack *pack, const int64_t *caps);

/* Then the short ones, each where most time is left; false when the tokens do not fit. */
bool hydra_pack_short(struct hydra_pack *pack);

/* Then give idle slots to the most loaded groups, and lay the groups out, largest first.
 * order [out] [ncells] cells with documents by (microbatch, size, time) descending in the last two; count how many.
 * HYDRA_ERR_NOMEM only. */
int hydra_pack_finish(struct hydra_pack *pack, int64_t *order, int64_t *count);

#endif
