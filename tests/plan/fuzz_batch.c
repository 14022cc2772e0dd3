/* fuzz_batch.c: libFuzzer target of the planners: any bytes are a batch and its options; every policy must refuse them
 * with a sentence or make an executable schedule, which is saved, loaded and saved again as the same bytes. */
#include "base/memory.h"
#include "plan/policy.h"
#include "plan/schedule.h"
#include "plan/schedule_io.h"
#include "tests/fuzz.h"

enum { MOST_DOCUMENTS = 64, MOST_POOL = 1 << 12 };

static double take_double(const uint8_t **data, size_t *size)
{
    uint64_t kind = fuzz_take(data, size, 1), bits;
    double value;

    if (kind < 192)
        return (double)kind * 1e-6;
    if (kind < 224)
        return (double)fuzz_number(data, size);
    bits = fuzz_take(data, size, 8);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void take_cost(const uint8_t **data, size_t *size, Hydra_Cost *cost)
{
#define NUMBER(field) cost->field = take_double(data, size);
#include "plan/cost.def"
#undef NUMBER
    cost->node_slots = fuzz_number(data, size);
}

/* Every field, mostly in its range: one byte of every four asks for anything. */
static int64_t take_field(const uint8_t **data, size_t *size, int64_t low, int64_t range)
{
    uint64_t kind = fuzz_take(data, size, 1);

    return kind >= 192 ? fuzz_number(data, size) : low + (int64_t)kind % range;
}

static void take_options(const uint8_t **data, size_t *size, Hydra_Plan_options *o)
{
    o->policy = (int)fuzz_take(data, size, 1) % HYDRA_POLICY_COUNT;
    o->budget = fuzz_number(data, size);
    o->align = take_field(data, size, 1, 16);
    o->mask = (int)take_field(data, size, 0, 3);
    o->window = fuzz_number(data, size);
    o->sink = fuzz_number(data, size);
    o->min_degree = take_field(data, size, 1, 4);
    o->max_degree = take_field(data, size, 0, 64);
    o->heads = (int)take_field(data, size, 0, 65);
    o->kv_heads = (int)take_field(data, size, 0, 9);
    o->factor = (int)take_field(data, size, -1, 18);
    o->cap = (int)take_field(data, size, 0, 2);
    o->skip = (int)take_field(data, size, 0, 2);
    o->padding = (int)take_field(data, size, 0, 2);
    o->pipeline_stages = (int)take_field(data, size, 1, 8);
    o->pipeline_chunks = (int)take_field(data, size, 1, 4);
    o->tensor_parallel = (int)take_field(data, size, 1, 8);
    o->expert_parallel = (int)take_field(data, size, 0, 16);
    o->static_transport = (int)take_field(data, size, 0, 3);
    o->theta_over_c = take_double(data, size);
    o->seed = fuzz_take(data, size, 1);
}

static void goes_round(Hydra_Schedule schedule)
{
    Hydra_Schedule again = NULL;
    char *text = NULL, *second = NULL;
    int64_t length = 0, second_length = 0;

    FUZZ_REQUIRE(hydra_schedule_pack(schedule, &text, &length) == HYDRA_SUCCESS);
    FUZZ_REQUIRE(hydra_schedule_unpack("saved", text, length, &again) == HYDRA_SUCCESS);
    FUZZ_REQUIRE(again->hash == schedule->hash);
    FUZZ_REQUIRE(hydra_schedule_pack(again, &second, &second_length) == HYDRA_SUCCESS);
    FUZZ_REQUIRE(length == second_length && memcmp(text, second, (size_t)length) == 0);
    hydra_free(text);
    hydra_free(second);
    Hydra_Schedule_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Cost cost = HYDRA_COST_INIT;
    Hydra_Schedule_stats stats;
    int64_t lengths[MOST_DOCUMENTS], pairs[MOST_DOCUMENTS], ndocs = 0, pool = fuzz_number(&data, &size);
    uint64_t with = fuzz_take(&data, &size, 1);
    Hydra_Schedule schedule = NULL;
    int status;

    pool = pool > MOST_POOL ? pool % MOST_POOL : pool;
    take_options(&data, &size, &o);
    if (with & 1) {
        take_cost(&data, &size, &cost);
        o.cost = &cost;
    }
    if (with & 2)
        o.pairs = pairs;
    while (size > 0 && ndocs < MOST_DOCUMENTS) {
        lengths[ndocs] = fuzz_number(&data, &size);
        pairs[ndocs] = with & 2 ? fuzz_number(&data, &size) : 0;
        ndocs++;
    }
    status = Hydra_Plan_serial(pool, ndocs, lengths, &o, &schedule);
    fuzz_judge(status);
    if (status != HYDRA_SUCCESS)
        return 0;
    FUZZ_REQUIRE(hydra_schedule_check_groups(schedule, HYDRA_ERR_INTERNAL) == HYDRA_SUCCESS);
    FUZZ_REQUIRE(hydra_schedule_check_documents(schedule, HYDRA_ERR_INTERNAL) == HYDRA_SUCCESS);
    FUZZ_REQUIRE(Hydra_Schedule_stats_get(schedule, &stats) == HYDRA_SUCCESS && stats.documents == ndocs);
    goes_round(schedule);
    Hydra_Schedule_free(&schedule);
    return 0;
}
