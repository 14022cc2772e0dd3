/* shaped_documents.c: documents in packing order, and what groups of each degree pay for them. */
#include "plan/shaped_pack.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

enum { SLOWEST_AMONG = 64 }; /* longest documents, of which the slowest alone is looked for */

int hydra_pack_memory_level(const struct hydra_pack_batch *batch, const struct hydra_pack_document *document)
{
    int level = batch->first_level;

    while (level < batch->nlevels - 1 && document->tokens > batch->levels[level].room)
        level++;
    return level;
}

int hydra_pack_level_within(const struct hydra_pack_batch *batch, const struct hydra_pack_document *document, int from,
                            int64_t cap)
{
    int level = from;

    while (level < batch->nlevels && hydra_pack_time(&batch->levels[level], document->weight, document->tokens) > cap)
        level++;
    return level;
}

int hydra_pack_fast_level(const struct hydra_pack_batch *batch, const struct hydra_pack_document *document,
                          int64_t *time)
{
    int first = hydra_pack_memory_level(batch, document), level = first;
    int64_t least = INT64_MAX;

    for (int l = first; l < batch->nlevels; l++)
        least = hydra_min(least, hydra_pack_time(&batch->levels[l], document->weight, document->tokens));
    while ((*time = hydra_pack_time(&batch->levels[level], document->weight, document->tokens)) > least + least / 8)
        level++;
    return level;
}

static struct hydra_pack_level level_of(const struct hydra_batch *batch, const struct hydra_cost *cost, int i)
{
    const struct hydra_cost_degree *degree = &cost->degrees[i];
    double compute = 1 + hydra_rate_value(cost->backward_compute), comm = 1 + hydra_rate_value(cost->backward_comm);
    double share = 1.0 / (double)degree->size; /* sums are the group's, times a rank's */

    return (struct hydra_pack_level){
        .size = degree->size,
        .room = hydra_group_room(batch, degree->size),
        .load = hydra_rate_of(hydra_rate_value(degree->load) * compute * share),
        .token = hydra_rate_of((hydra_rate_value(cost->token) * compute + hydra_rate_value(degree->alltoall) * comm) *
                               share),
        .ring = hydra_rate_of(hydra_rate_value(degree->ring) * comm * share),
        .hidden = hydra_rate_of(hydra_rate_value(degree->hidden) * comm * share),
        .latency = hydra_rate_apply(hydra_rate_of(comm), (hydra_weight)degree->alltoall_latency),
        .ring_latency = hydra_rate_apply(hydra_rate_of(comm), (hydra_weight)degree->ring_latency),
    };
}

/* Totals of the documents, which are sorted long ones first. */
static void sum_up(struct hydra_pack_batch *batch)
{
    const struct hydra_pack_level *base = &batch->levels[batch->first_level];

    batch->nlong = batch->short_tokens = batch->slowest = 0;
    batch->short_work = 0;
    batch->least_long = INT64_MAX;
    for (int64_t d = 0; d < batch->ndocs; d++) {
        const struct hydra_pack_document *document = &batch->documents[d];
        int64_t time;

        if (document->tokens <= batch->budget / 4) {
            /* What it adds to a group: short documents share groups, and latencies are paid once a group. */
            time = hydra_pack_time(base, document->weight, document->tokens) - hydra_pack_time(base, 0, 0);
            batch->short_tokens += document->tokens;
            batch->short_work += (__int128)hydra_max(0, time) * base->size;
            continue;
        }
        batch->nlong++;
        batch->least_long = hydra_min(batch->least_long, document->tokens);
        if (d < SLOWEST_AMONG) {
            hydra_pack_fast_level(batch, document, &time);
            batch->slowest = hydra_max(batch->slowest, time);
        }
    }
}

void hydra_pack_batch_slice(const struct hydra_pack_batch *batch, int64_t begin, int64_t end,
                            struct hydra_pack_batch *slice)
{
    *slice = *batch;
    slice->documents += begin;
    slice->ndocs = end - begin;
    sum_up(slice);
}

/* Sort by time at the smallest usable degree, greatest first, long documents before short ones. */
static int sort_documents(const struct hydra_batch *batch, struct hydra_pack_batch *made)
{
    struct hydra_record *records = hydra_alloc(2 * batch->ndocs, sizeof *records), *sorted;
    const struct hydra_pack_level *base = &made->levels[made->first_level];
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(records != NULL, HYDRA_ERR_NOMEM, "order of %lld documents", (long long)batch->ndocs);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        hydra_weight weight = hydra_batch_weight(batch, i);
        int64_t time = hydra_pack_time(base, weight, batch->lengths[i]);
        bool is_short = batch->lengths[i] <= made->budget / 4;

        records[i] = (struct hydra_record){(uint64_t)is_short << 62 | (uint64_t)(HYDRA_TIME_MAX - time), i};
    }
    sorted = hydra_radix_sort(records, records + batch->ndocs, batch->ndocs);
    for (int64_t d = 0; d < batch->ndocs; d++) {
        int64_t i = sorted[d].value;

        made->documents[d] = (struct hydra_pack_document){hydra_batch_weight(batch, i), batch->lengths[i], i};
    }
    sum_up(made);
fail:
    hydra_free(records);
    return status;
}

int hydra_pack_batch_make(const struct hydra_batch *batch, const struct hydra_cost *cost, struct hydra_pack_batch *made)
{
    int status = HYDRA_SUCCESS;

    *made = (struct hydra_pack_batch){.pool = batch->pool, .budget = batch->options->budget, .ndocs = batch->ndocs};
    for (int i = 0; i < cost->ndegrees; i++) {
        made->levels[i] = level_of(batch, cost, i);
        if (cost->degrees[i].size < batch->options->min_degree)
            made->first_level = i + 1;
        if (cost->degrees[i].size <= batch->options->max_degree)
            made->nlevels = i + 1;
    }
    made->documents = hydra_alloc(batch->ndocs, sizeof *made->documents);
    HYDRA_REQUIRE(made->documents != NULL, HYDRA_ERR_NOMEM, "%lld documents", (long long)batch->ndocs);
    HYDRA_TRY(sort_documents(batch, made));
    return HYDRA_SUCCESS;

fail:
    hydra_pack_batch_clear(made);
    return status;
}

void hydra_pack_batch_clear(struct hydra_pack_batch *batch)
{
    hydra_free(batch->documents);
    batch->documents = NULL;
}
