/* fuzz_batch.c: libFuzzer target of the planners: any bytes are a batch and its options; every policy must refuse them
 * with a sentence or make an executable schedule. Built by `make fuzz` with clang; not part of `make check`. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/policy.h"
#include "plan/schedule.h"

enum { MOST_DOCUMENTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next number of up to `bytes` bytes; 0 past the end. */
static uint64_t take(const uint8_t **data, size_t *size, size_t bytes)
{
    uint64_t value = 0;

    for (; bytes > 0 && *size > 0; bytes--, (*data)++, (*size)--)
        value = value << 8 | **data;
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Cost cost = HYDRA_COST_INIT;
    int64_t pool = (int64_t)take(&data, &size, 1), lengths[MOST_DOCUMENTS], ndocs = 0;
    Hydra_Schedule schedule = NULL;
    int status;

    o.policy = (int)take(&data, &size, 1) % HYDRA_POLICY_COUNT;
    o.budget = (int64_t)take(&data, &size, 6);
    o.align = 1 + (int64_t)take(&data, &size, 1) % 16;
    o.mask = (int)take(&data, &size, 1) % 3;
    o.window = (int64_t)take(&data, &size, 2);
    o.min_degree = 1 + (int64_t)take(&data, &size, 1) % 4;
    o.max_degree = (int64_t)take(&data, &size, 1);
    o.heads = (int)take(&data, &size, 1);
    o.factor = (int)take(&data, &size, 1) - 1;
    o.cap = o.skip = o.padding = (int)take(&data, &size, 1) & 1;
    o.pipeline_stages = 1 + (int)take(&data, &size, 1) % 8;
    o.pipeline_chunks = 1 + (int)take(&data, &size, 1) % 4;
    o.static_transport = (int)take(&data, &size, 1) % 3;
    if (take(&data, &size, 1) & 1) {
        cost.theta = 1e-12 * (double)take(&data, &size, 2);
        cost.phi = 1e-9 * (double)take(&data, &size, 2);
        cost.fixed = 1e-3;
        o.cost = &cost;
    }
    while (size > 0 && ndocs < MOST_DOCUMENTS)
        lengths[ndocs++] = (int64_t)take(&data, &size, 1 + *data % 6);
    status = Hydra_Plan_serial(pool, ndocs, lengths, &o, &schedule);
    if (status == HYDRA_ERR_INTERNAL || (status != HYDRA_SUCCESS && hydra_error_detail()[0] == '\0'))
        abort();
    if (status == HYDRA_SUCCESS && (hydra_schedule_check_groups(schedule, HYDRA_ERR_INTERNAL) != HYDRA_SUCCESS ||
                                    hydra_schedule_check_documents(schedule, HYDRA_ERR_INTERNAL) != HYDRA_SUCCESS))
        abort();
    Hydra_Schedule_free(&schedule);
    return 0;
}
