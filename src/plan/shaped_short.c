/* shaped_short.c: packing under time caps, the short documents: each where most time is left. */
#include "plan/shaped_cells.h"

enum { DEARER = 8 }; /* than alone by more than one part in this: a group that pays for communication */

/* Bucket of a cell's time room: a quarter of the shelf lies below the cap, so that overfull cells keep an order. */
static int64_t time_bucket(const struct hydra_pack *pack, const struct hydra_pack_cell *cell)
{
    return ((pack->caps[cell->microbatch] - cell->time) >> (pack->shift + 1)) + BUCKETS / 4;
}

static int token_shift(const struct hydra_pack *pack)
{
    int64_t most = pack->batch->budget; /* a short document is far below it: more room makes no difference */
    int shift = 0;

    while (most >> shift >= BUCKETS)
        shift++;
    return shift;
}

/* Where a cell waits for short documents: dear when they add more than an eighth to what they take
 * in the least group. */
static int short_shelf(const struct hydra_pack *pack, const struct hydra_pack_cell *cell)
{
    const struct hydra_pack_batch *batch = pack->batch;
    const struct hydra_pack_level *base = &batch->levels[batch->first_level], *level = &batch->levels[cell->level];
    int64_t tokens = batch->budget; /* of a probe */
    int64_t more = hydra_pack_time(level, cell->weight, cell->tokens + tokens) - cell->time;
    __int128 least = (__int128)(hydra_pack_time(base, 0, tokens) - hydra_pack_time(base, 0, 0)) * base->size;

    return more_shelf(pack, (__int128)more * level->size > least + least / DEARER ? DEAR : CHEAP);
}

/* The cell with most time left on a shelf, tokens permitting; cells short of tokens step aside. -1: none. */
static int32_t roomiest(struct hydra_pack *pack, int which, const struct hydra_pack_document *document, int shift)
{
    struct hydra_pack_shelf *shelf = &pack->shelves[more_shelf(pack, which)];
    int bucket;

    while ((bucket = shelf_greatest(shelf)) >= 0) {
        int32_t cell = shelf->head[bucket];

        if (cell_token_room(pack, &pack->cells[cell]) >= document->tokens)
            return cell;
        shelf_remove(pack, cell);
        shelf_insert(pack, cell, more_shelf(pack, DRAINED), cell_token_room(pack, &pack->cells[cell]) >> shift);
    }
    return -1;
}

/* Cell for a short document: a cheap one below its cap, else the one with most time left. -1: none has the tokens. */
static int32_t choose_for_short(struct hydra_pack *pack, const struct hydra_pack_document *document, int shift)
{
    const struct hydra_pack_shelf *drained = &pack->shelves[more_shelf(pack, DRAINED)];
    int32_t cheap = roomiest(pack, CHEAP, document, shift), dear, last;
    int bucket;

    if (cheap >= 0 && pack->cells[cheap].bucket > BUCKETS / 4)
        return cheap;
    dear = roomiest(pack, DEAR, document, shift);
    if (cheap >= 0 && dear >= 0)
        return pack->cells[dear].bucket > pack->cells[cheap].bucket ? dear : cheap;
    if (cheap >= 0 || dear >= 0)
        return cheap >= 0 ? cheap : dear;
    bucket = shelf_greatest(drained);
    last = bucket < 0 ? -1 : drained->head[bucket];
    return last >= 0 && cell_token_room(pack, &pack->cells[last]) >= document->tokens ? last : -1;
}

bool hydra_pack_short(struct hydra_pack *pack)
{
    const struct hydra_pack_batch *batch = pack->batch;
    int shift = token_shift(pack);

    shelves_empty(pack);
    for (int64_t m = 0; m < pack->microbatches; m++)
        while (pack->free_slots[m] >= batch->levels[batch->first_level].size)
            open_cell(pack, m, batch->first_level);
    for (int32_t cell = 0; cell < pack->ncells; cell++)
        shelf_insert(pack, cell, short_shelf(pack, &pack->cells[cell]), time_bucket(pack, &pack->cells[cell]));
    for (int64_t d = batch->nlong; d < batch->ndocs; d++) {
        int32_t cell = choose_for_short(pack, &batch->documents[d], shift);
        struct hydra_pack_cell *it;
        int64_t key;

        if (cell < 0)
            return false;
        it = &pack->cells[cell];
        put(pack, d, cell);
        key = it->shelf == more_shelf(pack, DRAINED) ? cell_token_room(pack, it) >> shift : time_bucket(pack, it);
        if (hydra_max(0, hydra_min(key, BUCKETS - 1)) != it->bucket) {
            int shelf = it->shelf;

            shelf_remove(pack, cell);
            shelf_insert(pack, cell, shelf, key);
        }
    }
    return true;
}
