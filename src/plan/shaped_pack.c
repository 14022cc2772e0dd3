/* shaped_pack.c: packing under time caps: best fit for long documents, most room for short ones. */
#include "plan/shaped_pack.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

/* A shelf keeps cells by room in buckets of equal width; a bit per bucket, and one per word of those bits, finds the
 * next one that is not empty. */
enum { BUCKETS = 1024, SHELF_LOOKS = 16, LEVELS_TRIED = 4, DEARER = 8 };

struct hydra_pack_shelf {
    int32_t head[BUCKETS]; /* first cell of the ring, -1: none */
    uint64_t used[BUCKETS / 64];
    uint64_t words; /* of `used` that are not 0 */
};

/* Shelves after the levels': where short documents cost little more than alone, where they pay for communication (both
 * by time), and cells whose tokens ran short, by tokens. */
enum { CHEAP, DEAR, DRAINED, MORE_SHELVES };

static int more_shelf(const struct hydra_pack *pack, int which)
{
    return pack->batch->nlevels + which;
}

static void shelf_insert(struct hydra_pack *pack, int32_t cell, int shelf, int64_t room)
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

static void shelf_remove(struct hydra_pack *pack, int32_t cell)
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
static int shelf_at_least(const struct hydra_pack_shelf *s, int from)
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
static int shelf_greatest(const struct hydra_pack_shelf *s)
{
    int word = s->words == 0 ? -1 : hydra_log2_floor(s->words);

    return word < 0 ? -1 : word * 64 + hydra_log2_floor(s->used[word]);
}

static void shelves_empty(struct hydra_pack *pack)
{
    for (int i = 0; i < pack->batch->nlevels + MORE_SHELVES; i++) {
        memset(pack->shelves[i].head, 0xff, sizeof pack->shelves[i].head);
        memset(pack->shelves[i].used, 0, sizeof pack->shelves[i].used);
        pack->shelves[i].words = 0;
    }
}

int hydra_pack_make(const struct hydra_pack_batch *batch, int64_t microbatches, struct hydra_pack *pack)
{
    int64_t base = batch->levels[batch->first_level].size;
    int status = HYDRA_SUCCESS;

    *pack = (struct hydra_pack){.batch = batch, .microbatches = microbatches};
    pack->capacity = microbatches * (batch->pool / base);
    pack->caps = hydra_calloc(microbatches, sizeof *pack->caps);
    pack->order = hydra_calloc(microbatches, sizeof *pack->order);
    pack->free_slots = hydra_calloc(microbatches, sizeof *pack->free_slots);
    pack->cells = hydra_alloc(pack->capacity, sizeof *pack->cells);
    pack->cell_of = hydra_alloc(batch->ndocs, sizeof *pack->cell_of);
    pack->shelves = hydra_alloc(batch->nlevels + MORE_SHELVES, sizeof *pack->shelves);
    HYDRA_REQUIRE(pack->caps != NULL && pack->order != NULL && pack->free_slots != NULL && pack->cells != NULL &&
                      pack->cell_of != NULL && pack->shelves != NULL,
                  HYDRA_ERR_NOMEM, "packing of %lld groups", (long long)pack->capacity);
    return HYDRA_SUCCESS;

fail:
    hydra_pack_clear(pack);
    return status;
}

void hydra_pack_clear(struct hydra_pack *pack)
{
    hydra_free(pack->caps);
    hydra_free(pack->order);
    hydra_free(pack->free_slots);
    hydra_free(pack->cells);
    hydra_free(pack->cell_of);
    hydra_free(pack->shelves);
    *pack = (struct hydra_pack){0};
}

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

static int32_t open_cell(struct hydra_pack *pack, int64_t microbatch, int level)
{
    int32_t cell = (int32_t)pack->ncells++;

    pack->cells[cell] = (struct hydra_pack_cell){.microbatch = (int32_t)microbatch, .level = level, .shelf = -1};
    pack->free_slots[microbatch] -= pack->batch->levels[level].size;
    return cell;
}

static int64_t cell_time_with(const struct hydra_pack *pack, const struct hydra_pack_cell *cell,
                              const struct hydra_pack_document *document)
{
    return hydra_pack_time(&pack->batch->levels[cell->level], cell->weight + document->weight,
                           cell->tokens + document->tokens);
}

static int64_t cell_token_room(const struct hydra_pack *pack, const struct hydra_pack_cell *cell)
{
    return pack->batch->levels[cell->level].room - cell->tokens;
}

static void put(struct hydra_pack *pack, int64_t d, int32_t cell)
{
    const struct hydra_pack_document *document = &pack->batch->documents[d];
    struct hydra_pack_cell *it = &pack->cells[cell];

    it->time = cell_time_with(pack, it, document);
    it->weight += document->weight;
    it->tokens += document->tokens;
    it->documents++;
    pack->cell_of[d] = cell;
}

/* The cell of one level with least room left after the document, to a bucket's width; -1: none among the first few.
 * left [in,out] the least room known so far. */
static int32_t best_fit(const struct hydra_pack *pack, int level, const struct hydra_pack_document *document,
                        int64_t *left)
{
    const struct hydra_pack_shelf *shelf = &pack->shelves[level];
    const struct hydra_pack_level *rates = &pack->batch->levels[level];
    /* The document adds at least this, the ring set apart. */
    int64_t from = (hydra_rate_apply(rates->load, document->weight) +
                    hydra_rate_apply(rates->token, (hydra_weight)document->tokens)) >>
                   pack->shift;
    int looks = SHELF_LOOKS;

    while (from < BUCKETS && (from = shelf_at_least(shelf, (int)from)) < BUCKETS) {
        int32_t cell = shelf->head[from];

        do {
            const struct hydra_pack_cell *it = &pack->cells[cell];

            if (document->tokens <= cell_token_room(pack, it)) {
                int64_t room = pack->caps[it->microbatch] - cell_time_with(pack, it, document);

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
    /* ps * slots that a token takes on average, in 256ths */
    __int128 rate = batch->short_tokens == 0 ? 0 : (__int128)batch->short_work * 256 / batch->short_tokens;
    __int128 work = 0, tokens = 0;

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
    return work >= (__int128)batch->short_work + batch->short_work / 100 && tokens >= batch->short_tokens;
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

/* Where a cell waits for short documents: dear when they add more than an eighth to what they take in the least group.
 */
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
        struct hydra_pack_cell *it = &pack->cells[cell];
        int64_t key;

        if (cell < 0)
            return false;
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

/* Cells that hold documents by (microbatch, level descending if by_level, time descending, cell); how many. Largest
 * first keeps every group aligned, and like loads side by side balance the groups of one expert-parallel block. */
static int64_t sort_cells(const struct hydra_pack *pack, bool by_level, struct hydra_record *records, int64_t *order)
{
    struct hydra_record *sorted;
    int64_t count = 0;
    const int64_t times = ((int64_t)1 << 40) - 1;

    for (int64_t c = 0; c < pack->ncells; c++) {
        const struct hydra_pack_cell *cell = &pack->cells[c];
        uint64_t level = by_level ? (uint64_t)(63 - cell->level) : 0;

        if (cell->documents > 0)
            records[count++] = (struct hydra_record){(uint64_t)cell->microbatch << 46 | level << 40 |
                                                         (uint64_t)(times - hydra_min(times, cell->time >> 12)),
                                                     c};
    }
    sorted = hydra_radix_sort(records, records + count, count);
    for (int64_t i = 0; i < count; i++)
        order[i] = sorted[i].value;
    return count;
}

/* Next usable size of a cell when the free slots of its microbatch allow it and it is faster there; else 0. */
static int64_t grow(struct hydra_pack *pack, struct hydra_pack_cell *cell)
{
    const struct hydra_pack_batch *batch = pack->batch;
    const struct hydra_pack_level *next = &batch->levels[cell->level + 1];
    int64_t more, time;

    if (cell->level + 1 >= batch->nlevels)
        return 0;
    more = next->size - batch->levels[cell->level].size;
    time = hydra_pack_time(next, cell->weight, cell->tokens);
    if (more > pack->free_slots[cell->microbatch] || time >= cell->time)
        return 0;
    cell->level++;
    cell->time = time;
    return more;
}

int hydra_pack_finish(struct hydra_pack *pack, int64_t *order, int64_t *count)
{
    struct hydra_record *records = hydra_alloc(2 * pack->ncells, sizeof *records);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(records != NULL, HYDRA_ERR_NOMEM, "layout of %lld groups", (long long)pack->ncells);
    for (int64_t c = 0; c < pack->ncells; c++)
        if (pack->cells[c].documents == 0)
            pack->free_slots[pack->cells[c].microbatch] += pack->batch->levels[pack->cells[c].level].size;
    for (bool grown = true; grown;) {
        grown = false;
        *count = sort_cells(pack, false, records, order);
        for (int64_t i = 0; i < *count; i++) {
            struct hydra_pack_cell *cell = &pack->cells[order[i]];
            int64_t more = grow(pack, cell);

            pack->free_slots[cell->microbatch] -= more;
            grown |= more > 0;
        }
    }
    *count = sort_cells(pack, true, records, order);
fail:
    hydra_free(records);
    return status;
}
