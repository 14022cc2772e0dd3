/* shaped_long.c: packing under time caps, the long documents: best fit among open groups, else a new one. */
#include "plan/shaped_cells.h"

enum { SHELF_LOOKS = 16, LEVELS_TRIED = 4 };

/* All slots free, caps sorted, the bucket width set so that every cap spans at most the shelf. */
static void start_over(struct hydra_pack *pack, const int64_t *caps)
{
    int64_t most = 1;

    for (int64_t m = 0; m < pack->microbatches; m++) {
        int64_t at = m;

        pack->caps[m] = caps[m];
        pack->free_slots[m] = pack->batch->pool;
        most = hydra_max(most, caps[m]);
        for (; at > 0 && caps[pack->order[at - 1]] < caps[m]; at--)
            pack->order[at] = pack->order[at - 1];
        pack->order[at] = m;
    }
    pack->shift = 0;
    while (most >> pack->shift >= BUCKETS)
        pack->shift++;
    pack->ncells = 0;
    shelves_empty(pack);
}

/* The cell of one level with least room left after the document, to a bucket's width; -1: none among the first few.
 * left [in,out] the least room known so far. */
static int32_t best_fit(const struct hydra_pack *pack, int level, const struct hydra_pack_document *document,
                        int64_t *left)
{
    const struct hydra_pack_shelf *shelf = &pack->shelves[level];
    const struct hydra_pack_level *rates = &pack->batch->levels[level];
    const struct hydra_pack_cell *cells = pack->cells;
    int64_t most = rates->room - document->tokens; /* tokens that a cell may hold */
    int64_t from;
    int looks = SHELF_LOOKS;

    if (shelf->words == 0 || most < 0)
        return -1;
    /* The document adds at least this, the ring set apart. */
    from = (hydra_rate_apply(rates->load, document->weight) +
            hydra_rate_apply(rates->token, (hydra_weight)document->tokens)) >>
           pack->shift;
    while (from < BUCKETS && (from = shelf_at_least(shelf, (int)from)) < BUCKETS) {
        int32_t cell = shelf->head[from];

        do {
            const struct hydra_pack_cell *it = &cells[cell];

            if (it->tokens <= most) {
                int64_t time = hydra_pack_time(rates, it->weight + document->weight, it->tokens + document->tokens);
                int64_t room = pack->caps[it->microbatch] - time;

                if (room >= *left)
                    return -1; /* later buckets leave more still */
                if (room >= 0) {
                    *left = room;
                    return cell;
                }
            }
            cell = it->next;
            if (--looks == 0)
                return -1;
        } while (cell != shelf->head[from]);
        from++;
    }
    return -1;
}

/* The first microbatch, by cap, with slots for the least level that keeps its cap; -1: none. */
static int32_t open_within_cap(struct hydra_pack *pack, const struct hydra_pack_document *document, int level,
                               int64_t *first)
{
    const struct hydra_pack_batch *batch = pack->batch;

    for (int64_t i = *first; i < pack->microbatches; i++) {
        int64_t m = pack->order[i];

        if (pack->free_slots[m] < batch->levels[batch->first_level].size) {
            *first += i == *first;
            continue;
        }
        level = hydra_pack_level_within(batch, document, level, pack->caps[m]);
        if (level == batch->nlevels)
            return -1; /* later caps are smaller still */
        if (pack->free_slots[m] >= batch->levels[level].size)
            return open_cell(pack, m, level);
    }
    return -1;
}

/* A document too long for every cap takes its fast level in an untouched microbatch, whose cap it raises. */
static int32_t open_giant(struct hydra_pack *pack, const struct hydra_pack_document *document)
{
    int64_t time;
    int level = hydra_pack_fast_level(pack->batch, document, &time);

    for (int64_t i = 0; i < pack->microbatches; i++) {
        int64_t m = pack->order[i];

        if (pack->free_slots[m] == pack->batch->pool) {
            pack->caps[m] = hydra_max(pack->caps[m], time);
            return open_cell(pack, m, level);
        }
    }
    return -1;
}

/* Room, in time and tokens, for the short documents and a little more: tokens bound the time they can fill. */
static bool room_for_short(const struct hydra_pack *pack)
{
    const struct hydra_pack_batch *batch = pack->batch;
    const __int128 short_tokens = hydra_max(1, batch->short_tokens);
    /* ps * slots that a token takes on average, in 256ths, rounded up: what little work takes next to no time fits. */
    __int128 rate = (batch->short_work * 256 + short_tokens - 1) / short_tokens;
    __int128 work = 0, tokens = 0;

    if (batch->short_tokens == 0) /* documents without tokens have room everywhere, but no rate */
        return true;
    for (int64_t m = 0; m < pack->microbatches; m++) {
        __int128 time = (__int128)pack->caps[m] * pack->free_slots[m];
        __int128 held = (__int128)batch->budget * pack->free_slots[m];

        tokens += held;
        work += time < held * rate / 256 ? time : held * rate / 256;
    }
    for (int64_t c = 0; c < pack->ncells; c++) {
        const struct hydra_pack_cell *cell = &pack->cells[c];
        __int128 time =
            (__int128)hydra_max(0, pack->caps[cell->microbatch] - cell->time) * batch->levels[cell->level].size;
        __int128 held = cell_token_room(pack, cell);

        tokens += held;
        work += time < held * rate / 256 ? time : held * rate / 256;
    }
    return work >= batch->short_work + batch->short_work / 100 && tokens >= batch->short_tokens;
}

bool hydra_pack_long(struct hydra_pack *pack, const int64_t *caps)
{
    const struct hydra_pack_batch *batch = pack->batch;
    int64_t first = 0, most;

    start_over(pack, caps);
    most = pack->caps[pack->order[0]];
    for (int64_t d = 0; d < batch->nlong; d++) {
        const struct hydra_pack_document *document = &batch->documents[d];
        int level = hydra_pack_level_within(batch, document, hydra_pack_memory_level(batch, document), most);
        int64_t left = INT64_MAX;
        int32_t cell = -1;

        for (int l = level; l < batch->nlevels && l < level + LEVELS_TRIED; l++) {
            int32_t found = best_fit(pack, l, document, &left);

            cell = found >= 0 ? found : cell;
        }
        if (cell >= 0)
            shelf_remove(pack, cell);
        else if (level < batch->nlevels)
            cell = open_within_cap(pack, document, level, &first);
        else
            cell = open_giant(pack, document);
        /* A gap in a group far larger is better than no place. */
        for (int l = level + LEVELS_TRIED; cell < 0 && l < batch->nlevels; l++)
            if ((cell = best_fit(pack, l, document, &left)) >= 0)
                shelf_remove(pack, cell);
        if (cell < 0)
            return false;
        put(pack, d, cell);
        if (cell_token_room(pack, &pack->cells[cell]) >= batch->least_long)
            shelf_insert(pack, cell, pack->cells[cell].level,
                         (pack->caps[pack->cells[cell].microbatch] - pack->cells[cell].time) >> pack->shift);
    }
    return room_for_short(pack);
}
