/* shaped_pack.c: a packing from its memory to the finished layout; long and short documents have files of their own. */
#include "plan/shaped_pack.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "plan/shaped_cells.h"

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
