/* test_shaped.c: the shaped policy plans anything, the same on any number of threads, and never later than load. */
#include "plan/figure1.h"
#include "plan/predict.h"
#include "plan/schedule.h"
#include "tests/plan/batches.h"
#include "tests/tap.h"

/* Plan; the schedule's maker checks budget, alignment, overlap and that each document has a place. */
static Hydra_Schedule plan(const struct test_batch *t, int policy, int threads, bool *good)
{
    Hydra_Plan_options options = t->options;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    char detail[512] = "";
    int status;

    options.policy = policy;
    options.threads = threads;
    status = Hydra_Plan_serial(t->pool, t->ndocs, t->lengths, &options, &schedule);
    if (status != HYDRA_SUCCESS)
        Hydra_Error_detail(detail, sizeof detail);
    *good &= TAP_CHECK(status == HYDRA_SUCCESS, "seed %lu policy %s: %s", (unsigned long)t->seed,
                       Hydra_Policy_name(policy), detail);
    return schedule;
}

static void hostile_batches_are_planned_on_any_threads(void)
{
    Hydra_Cost cost = testbed_cost();
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 100; seed++) {
        struct test_batch t = make_batch(seed, seed % 20 == 0 ? 1024 : 100, seed % 20 == 0 ? 2000 : 300);
        Hydra_Schedule one, three;
        uint64_t a = 0, b = 1;

        t.options.cost = seed % 3 == 0 ? NULL : &cost;
        t.options.factor = seed % 2 == 0 ? HYDRA_FACTOR_COST : HYDRA_FACTOR_PAPER;
        one = plan(&t, HYDRA_POLICY_SHAPED, 1, &good);
        three = plan(&t, HYDRA_POLICY_SHAPED, 3, &good);
        if (good) {
            Hydra_Schedule_hash(one, &a);
            Hydra_Schedule_hash(three, &b);
            good &= TAP_CHECK(a == b, "seed %lu: hash %lx on one thread, %lx on three", (unsigned long)seed,
                              (unsigned long)a, (unsigned long)b);
        }
        Hydra_Schedule_free(&one);
        Hydra_Schedule_free(&three);
        free_batch(&t);
    }
    tap_result(good, "hostile batches are planned, and the plan does not depend on the number of threads");
}

/* The long tail of real corpora: most documents short, a few of them most of the work. */
static struct test_batch long_tail(uint64_t seed)
{
    static const int64_t pools[] = {8, 12, 32, 64, 96};
    struct hydra_random random = hydra_random_seed(seed);
    struct test_batch t = {.seed = seed, .options = HYDRA_PLAN_OPTIONS_INIT, .pool = pools[seed % 5]};
    int64_t tokens = 0, limit = t.pool * 8192 * (2 + hydra_random_below(&random, 5));

    t.options.budget = 4096 << hydra_random_below(&random, 2);
    t.options.pipeline_stages = 1 << hydra_random_below(&random, 3);
    t.options.pipeline_chunks = 1 + (int)hydra_random_below(&random, 3);
    t.options.heads = 64;
    t.options.kv_heads = 8;
    t.options.factor = HYDRA_FACTOR_COST;
    t.lengths = calloc((size_t)limit, sizeof *t.lengths);
    while (tokens < limit) {
        int64_t top = (int64_t)1 << (6 + hydra_random_below(&random, 8));
        int64_t s = 1 + hydra_random_below(&random, hydra_random_below(&random, 100) == 0 ? top * 16 : top);

        s = hydra_min(s, t.pool * t.options.budget);
        t.lengths[t.ndocs++] = s;
        tokens += s;
    }
    return t;
}

static void shaped_is_never_predicted_later_than_load(void)
{
    Hydra_Cost cost = testbed_cost();
    double gain = 0;
    bool good = true;

    for (uint64_t seed = 0; good && seed < 60; seed++) {
        struct test_batch t = long_tail(seed);
        Hydra_Schedule load, shaped;
        double a = 0, b = 0;

        t.options.cost = &cost;
        load = plan(&t, HYDRA_POLICY_LOAD, 1, &good);
        shaped = plan(&t, HYDRA_POLICY_SHAPED, 1, &good);
        if (good && hydra_predict_schedule(load, &a) == HYDRA_SUCCESS &&
            hydra_predict_schedule(shaped, &b) == HYDRA_SUCCESS)
            good &= TAP_CHECK(b > 0 && b <= a * (1 + 1e-9), "seed %lu: load %.6f s, shaped %.6f s", (unsigned long)seed,
                              a, b);
        gain += a / b / 60;
        Hydra_Schedule_free(&load);
        Hydra_Schedule_free(&shaped);
        free_batch(&t);
    }
    good &= TAP_CHECK(gain > 1.1, "mean gain %.3f", gain);
    tap_result(good, "shaped is never predicted later than load, and a tenth sooner on average");
}

/* One stage, attention alone: what is left is how even the microbatches are. */
static void the_paper_s_batch_is_even_without_a_pipeline(void)
{
    struct test_batch t = {.pool = 512, .options = HYDRA_PLAN_OPTIONS_INIT};
    Hydra_Schedule schedule;
    Hydra_Schedule_stats stats = {0};
    bool good = TAP_CHECK(hydra_figure1_draw(512, 8, 8192, &t.lengths, &t.ndocs) == HYDRA_SUCCESS, "no batch");

    t.options.budget = 8192;
    schedule = plan(&t, HYDRA_POLICY_SHAPED, 2, &good);
    good = good && Hydra_Schedule_stats_get(schedule, &stats) == HYDRA_SUCCESS;
    good &= TAP_CHECK(stats.critical_ratio >= 1 && stats.critical_ratio <= 1.10, "critical ratio %.4f",
                      stats.critical_ratio);
    Hydra_Schedule_free(&schedule);
    free_batch(&t);
    tap_result(good, "on 512 slots and 8 budgets a slot the greatest loads add up to at most 1.10 of the mean");
}

/* Slots of one expert-parallel block wait for one another: they should hold groups of like times. */
static void neighbours_hold_like_groups(void)
{
    Hydra_Cost cost = testbed_cost();
    bool good = true;

    for (uint64_t seed = 0; good && seed < 10; seed++) {
        struct test_batch t = long_tail(seed);
        struct hydra_columns columns = {0};
        struct hydra_cost times;
        Hydra_Schedule schedule;

        t.options.cost = &cost;
        t.options.expert_parallel = 8;
        schedule = plan(&t, HYDRA_POLICY_SHAPED, 1, &good);
        if (!good)
            break;
        hydra_cost_make(&cost, &schedule->options, t.pool, &times);
        good &= hydra_columns_of_schedule(schedule, 1, 1, &columns) == HYDRA_SUCCESS;
        hydra_columns_time(&columns, &times);
        for (int64_t m = 0; m < schedule->microbatches; m++)
            for (int64_t g = schedule->group_begin[m] + 1; g < schedule->group_begin[m + 1]; g++) {
                const struct hydra_pipeline_group *a = &columns.groups[g - 1], *b = &columns.groups[g];
                int64_t first = a->forward + a->backward, second = b->forward + b->backward;

                good &= TAP_CHECK(a->size > b->size || second <= first + first / 100,
                                  "seed %lu microbatch %ld: %ld ps beside %ld ps", (unsigned long)seed, (long)m,
                                  (long)first, (long)second);
            }
        hydra_columns_clear(&columns);
        Hydra_Schedule_free(&schedule);
        free_batch(&t);
    }
    tap_result(good, "groups of one size stand in the order of their times, so that blocks of slots are even");
}

int main(void)
{
    the_paper_s_batch_is_even_without_a_pipeline();
    neighbours_hold_like_groups();
    hostile_batches_are_planned_on_any_threads();
    shaped_is_never_predicted_later_than_load();
    return tap_done();
}
