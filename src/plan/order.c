/* order.c: the order in which policies take documents. */
#include "plan/order.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

int hydra_order_by_weight(const struct hydra_batch *batch, int64_t *ids)
{
    /* Under one mask the weight grows with the length; given pairs are the weight. */
    const int64_t *keys = batch->options->pairs != NULL ? batch->options->pairs : batch->lengths;
    struct hydra_record *records = hydra_alloc(2 * batch->ndocs, sizeof *records), *sorted;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(records != NULL, HYDRA_ERR_NOMEM, "order of %lld documents", (long long)batch->ndocs);
    for (int64_t i = 0; i < batch->ndocs; i++)
        records[i] = (struct hydra_record){UINT64_MAX - (uint64_t)keys[i], i};
    sorted = hydra_radix_sort(records, records + batch->ndocs, batch->ndocs);
    for (int64_t i = 0; i < batch->ndocs; i++)
        ids[i] = sorted[i].value;
fail:
    hydra_free(records);
    return status;
}
