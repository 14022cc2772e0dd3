/* shaped_cells.h: the groups of a packing while documents come: opened, filled, and kept on shelves by room. Shared by
 * the files that pack; header only, because every document passes through here. */
#ifndef HYDRA_PLAN_SHAPED_CELLS_H
#define HYDRA_PLAN_SHAPED_CELLS_H

#include <string.h>

#include "base/bits.h"
#include "plan/shaped_pack.h"

/* A shelf keeps cells by room in buckets of equal width; a bit per bucket, and one per word of those bits, finds the
 * next one that is not empty. */
enum { BUCKETS = 1024 };

struct hydra_pack_shelf {
    int32_t head[BUCKETS]; /* first cell of the ring, -1: none */
    uint64_t used[BUCKETS / 64];
    uint64_t words; /* of `used` that are not 0 */
};

/* Shelves after the levels': where short documents cost little more than alone, where they pay for communication (both
 * by time), and cells whose tokens ran short, by tokens. */
enum { CHEAP, DEAR, DRAINED, MORE_SHELVES };

static inline int more_shelf(const struct hydra_pack *pack, int which)
{
    return pack->batch->nlevels + which;
}

static inline void shelf_insert(struct hydra_pack *pack, int32_t cell, int shelf, int64_t room)
{
    struct hydra_pack_shelf *s = &pack->shelves[shelf];
    struct hydra_pack_cell *cells = pack->cells, *it = &cells[cell];
    int bucket = (int)hydra_max(0, hydra_min(room, BUCKETS - 1));

    it->shelf = (int16_t)shelf;
    it->bucket = (int16_t)bucket;
    if (s->head[bucket] < 0) {
        s->head[bucket] = it->next = it->previous = cell;
        s->used[bucket / 64] |= (uint64_t)1 << (bucket % 64);
        s->words |= (uint64_t)1 << (bucket / 64);
        return;
    }
    /* At the end of the ring, so that equals take turns. */
    it->next = s->head[bucket];
    it->previous = cells[it->next].previous;
    cells[it->previous].next = cell;
    cells[it->next].previous = cell;
}

static inline void shelf_remove(struct hydra_pack *pack, int32_t cell)
{
    struct hydra_pack_cell *cells = pack->cells, *it = &cells[cell];
    struct hydra_pack_shelf *s = &pack->shelves[it->shelf];

    if (it->next == cell) {
        s->head[it->bucket] = -1;
        s->used[it->bucket / 64] &= ~((uint64_t)1 << (it->bucket % 64));
        if (s->used[it->bucket / 64] == 0)
            s->words &= ~((uint64_t)1 << (it->bucket / 64));
    } else {
        cells[it->previous].next = it->next;
        cells[it->next].previous = it->previous;
        if (s->head[it->bucket] == cell)
            s->head[it->bucket] = it->next;
    }
    it->shelf = -1;
}

/* Least bucket >= from that is not empty, BUCKETS when none is. */
static inline int shelf_at_least(const struct hydra_pack_shelf *s, int from)
{
    int word = from / 64;
    uint64_t bits = s->used[word] >> (from % 64), later = s->words >> word >> 1;

    if (bits != 0)
        return from + __builtin_ctzll(bits);
    if (later == 0)
        return BUCKETS;
    word += 1 + __builtin_ctzll(later);
    return word * 64 + __builtin_ctzll(s->used[word]);
}

/* Greatest bucket that is not empty, -1 when none is. */
static inline int shelf_greatest(const struct hydra_pack_shelf *s)
{
    int word = s->words == 0 ? -1 : hydra_log2_floor(s->words);

    return word < 0 ? -1 : word * 64 + hydra_log2_floor(s->used[word]);
}

static inline void shelves_empty(struct hydra_pack *pack)
{
    for (int i = 0; i < pack->batch->nlevels + MORE_SHELVES; i++) {
        memset(pack->shelves[i].head, 0xff, sizeof pack->shelves[i].head);
        memset(pack->shelves[i].used, 0, sizeof pack->shelves[i].used);
        pack->shelves[i].words = 0;
    }
}

static inline int32_t open_cell(struct hydra_pack *pack, int64_t microbatch, int level)
{
    int32_t cell = (int32_t)pack->ncells++;

    pack->cells[cell] = (struct hydra_pack_cell){.microbatch = (int32_t)microbatch, .level = level, .shelf = -1};
    pack->free_slots[microbatch] -= pack->batch->levels[level].size;
    return cell;
}

static inline int64_t cell_time_with(const struct hydra_pack *pack, const struct hydra_pack_cell *cell,
                                     const struct hydra_pack_document *document)
{
    return hydra_pack_time(&pack->batch->levels[cell->level], cell->weight + document->weight,
                           cell->tokens + document->tokens);
}

static inline int64_t cell_token_room(const struct hydra_pack *pack, const struct hydra_pack_cell *cell)
{
    return pack->batch->levels[cell->level].room - cell->tokens;
}

static inline void put(struct hydra_pack *pack, int64_t d, int32_t cell)
{
    const struct hydra_pack_document *document = &pack->batch->documents[d];
    struct hydra_pack_cell *it = &pack->cells[cell];

    it->time = cell_time_with(pack, it, document);
    it->weight += document->weight;
    it->tokens += document->tokens;
    it->documents++;
    pack->cell_of[d] = cell;
}

#endif
