/* policy_load.c: HyDra: one load target for the iteration, piggyback packing in descending order, lazy heaps.
 *
 * The plan is that of the linear scan in policy_load_scan.c, document by document; this file is the O(N log G) way to
 * it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "plan/interleave.h"
#include "plan/packer.h"
#include "plan/policy.h"
#include "plan/targets.h"

struct load_packer {
    struct packer packer;
    struct hydra_targets targets;
    uint64_t *sorted; /* [ndocs] rank << id_bits | id, ascending; those still to place are at begin.. */
    int id_bits;
    int64_t longest;          /* rank is longest - length; -1: ranks are dense */
    struct document document; /* the one read last */
    uint64_t rank;            /* its rank: equal ranks share length, weight and degree */
};

/* What the order is made of when weight does not follow length, or length and id share no word. */
struct ordered {
    int64_t degree;
    hydra_weight weight;
    int64_t id;
};

static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    if (a->degree != b->degree)
        return a->degree > b->degree ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Sort by degree and weight themselves and number the distinct ones. */
static int order_by_weight(struct load_packer *l, uint64_t *words)
{
    const struct hydra_batch *batch = l->packer.batch;
    struct ordered *documents = hydra_alloc(batch->ndocs, sizeof *documents);
    uint64_t rank = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(documents != NULL, HYDRA_ERR_NOMEM, "order of %" PRId64 " documents", batch->ndocs);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        hydra_weight w = hydra_batch_weight(batch, i);

        documents[i] = (struct ordered){hydra_targets_degree(batch, &l->targets, batch->lengths[i], w), w, i};
    }
    qsort(documents, (size_t)batch->ndocs, sizeof *documents, compare_ordered);
    for (int64_t i = 0; i < batch->ndocs; i++) {
        rank +=
            i > 0 && (documents[i].degree != documents[i - 1].degree || documents[i].weight != documents[i - 1].weight);
        words[i] = rank << l->id_bits | (uint64_t)documents[i].id;
    }
    l->longest = -1;
    l->sorted = words;

fail:
    hydra_free(documents);
    return status;
}

/* Longest first: weight and degree follow the length. words, scratch [in,out] [ndocs]. */
static int order_documents(struct load_packer *l, uint64_t *words, uint64_t *scratch)
{
    const struct hydra_batch *batch = l->packer.batch;

    l->id_bits = batch->ndocs <= 1 ? 0 : hydra_log2_floor((uint64_t)batch->ndocs - 1) + 1;
    l->longest = 0;
    for (int64_t i = 0; i < batch->ndocs; i++)
        l->longest = hydra_max(l->longest, batch->lengths[i]);
    if (batch->options->pairs != NULL ||
        (l->longest > 0 && hydra_log2_floor((uint64_t)l->longest) + 1 + l->id_bits > 64))
        return order_by_weight(l, words);
    for (int64_t i = 0; i < batch->ndocs; i++)
        words[i] = (uint64_t)(l->longest - batch->lengths[i]) << l->id_bits | (uint64_t)i;
    l->sorted = hydra_radix_sort_words(words, scratch, batch->ndocs, l->id_bits);
    return HYDRA_SUCCESS;
}

/* Make the document at `at` the current one; it often shares length, weight and degree with the one before. */
static inline void read_document(struct load_packer *l, int64_t at)
{
    struct document *document = &l->document;
    const struct hydra_batch *batch = l->packer.batch;
    uint64_t rank = l->sorted[at] >> l->id_bits;

    document->id = (int64_t)(l->sorted[at] ^ rank << l->id_bits);
    if (rank == l->rank && l->longest >= 0)
        return;
    l->rank = rank;
    document->s = l->longest >= 0 ? l->longest - (int64_t)rank : batch->lengths[document->id];
    document->w = hydra_batch_weight(batch, document->id);
    document->class =
        hydra_packer_class(&l->packer, hydra_targets_degree(batch, &l->targets, document->s, document->w));
}

#define WEIGHT     uint64_t
#define NAME(name) narrow_##name
#include "plan/load_core.h"
#undef WEIGHT
#undef NAME

#define WEIGHT     hydra_weight
#define NAME(name) wide_##name
#include "plan/load_core.h"
#undef WEIGHT
#undef NAME

/* No group of a microbatch outweighs the target: the load target is target / cap, and no group that is
 * being packed has more slots than the cap. So weight and number share a word when this does. */
static bool fits_a_word(const struct load_packer *l)
{
    return l->targets.target >> (64 - l->packer.number_bits) == 0;
}

int hydra_policy_load_counted(const struct hydra_batch *batch, struct hydra_draft *draft, int64_t *steps)
{
    struct load_packer l = {.rank = UINT64_MAX};
    uint64_t *words = hydra_alloc(batch->ndocs, sizeof *words);
    uint64_t *scratch = hydra_alloc(batch->ndocs, sizeof *scratch);
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_packer_init(&l.packer, batch, draft));
    HYDRA_REQUIRE(words != NULL && scratch != NULL, HYDRA_ERR_NOMEM, "order of %" PRId64 " documents", batch->ndocs);
    hydra_targets_derive(batch, &l.targets);
    for (int c = 0; c < l.packer.nclasses; c++)
        l.packer.classes[c].most = hydra_targets_group_weight(&l.targets, l.packer.classes[c].size);
    HYDRA_TRY(order_documents(&l, words, scratch));
    HYDRA_TRY(fits_a_word(&l) ? narrow_pack_all(&l) : wide_pack_all(&l));
    HYDRA_TRY(hydra_plan_interleave(batch, draft));
    *steps = l.packer.steps;

fail:
    hydra_free(words);
    hydra_free(scratch);
    hydra_packer_clear(&l.packer);
    return status;
}

int hydra_policy_load(const struct hydra_batch *batch, struct hydra_draft *draft)
{
    int64_t steps;

    return hydra_policy_load_counted(batch, draft, &steps);
}
