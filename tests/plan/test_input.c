/* test_input.c: bad input is refused by a sentence that names it, and extreme shapes are planned by every policy. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/batch.h"
#include "plan/policy.h"
#include "plan/schedule.h"
#include "tests/plan/batches.h"
#include "tests/tap.h"

/* One call that must fail: with this status, naming this, leaving the handle alone. */
static bool refused(int64_t pool, int64_t ndocs, const int64_t *lengths, const Hydra_Plan_options *options, int status,
                    const char *named)
{
    Hydra_Schedule schedule = NULL;
    int got = Hydra_Plan_serial(pool, ndocs, lengths, options, &schedule);
    char detail[512];

    Hydra_Error_detail(detail, sizeof detail);
    return TAP_CHECK(got == status && strstr(detail, named) != NULL && schedule == NULL,
                     "status %d, not %d naming '%s': %s", got, status, named, detail);
}

static void bad_arguments_are_named(void)
{
    const int64_t lengths[] = {5, 6, -7}, fine[] = {5, 6, 7}, giant[] = {1, (int64_t)1 << 41};
    Hydra_Plan_options ok = HYDRA_PLAN_OPTIONS_INIT, o;
    bool good;

    ok.budget = 100;
    good = refused(0, 3, fine, &ok, HYDRA_ERR_ARG, "pool is 0");
    good &= refused(-4, 3, fine, &ok, HYDRA_ERR_ARG, "pool is -4");
    good &= refused((int64_t)1 << 40, 3, fine, &ok, HYDRA_ERR_ARG, "pool is");
    good &= refused(4, -1, fine, &ok, HYDRA_ERR_ARG, "ndocs is -1");
    good &= refused(4, (int64_t)1 << 40, fine, &ok, HYDRA_ERR_OVERFLOW, "ndocs");
    good &= refused(4, 3, NULL, &ok, HYDRA_ERR_ARG, "lengths is NULL");
    good &= refused(4, 3, fine, NULL, HYDRA_ERR_ARG, "options is NULL");
    good &= refused(4, 3, lengths, &ok, HYDRA_ERR_ARG, "document 2: length -7");
    good &= refused(4, 2, giant, &ok, HYDRA_ERR_OVERFLOW, "document 1: length 2199023255552");
    good &= TAP_CHECK(Hydra_Plan_serial(4, 3, fine, &ok, NULL) == HYDRA_ERR_ARG, "schedule NULL");
#define BAD(field, value, named) (o = ok, o.field = value, refused(4, 3, fine, &o, HYDRA_ERR_ARG, named))
    good &= BAD(budget, 0, "budget is 0");
    good &= BAD(align, 0, "align is 0");
    good &= BAD(align, 101, "align 101");
    good &= BAD(min_degree, 0, "min_degree is 0");
    good &= BAD(max_degree, 5, "max_degree is 5");
    good &= BAD(policy, 77, "policy 77");
    good &= BAD(mask, 9, "mask is 9");
    good &= BAD(mask, HYDRA_MASK_WINDOW, "window is 0");
    good &= BAD(factor, -7, "factor is -7");
    good &= BAD(heads, -1, "heads is -1");
    good &= BAD(kv_heads, 3, "kv_heads is 3");
    good &= BAD(cap, 2, "cap is 2");
    good &= BAD(pipeline_stages, 0, "pipeline_stages is 0");
    good &= BAD(pipeline_stages, 4097, "pipeline_stages 4097 x pipeline_chunks 1 exceeds 4096");
    good &= BAD(pipeline_chunks, INT32_MAX, "pipeline_stages 1 x pipeline_chunks 2147483647 exceeds 4096");
    good &= BAD(threads, 0, "threads is 0");
    good &= BAD(skip, 2, "skip is 2");
    good &= BAD(theta_over_c, -1.0, "theta_over_c is -1");
    good &= BAD(theta_over_c, 0.0 / 0.0, "theta_over_c");
#undef BAD
    o = ok;
    o.size = 0;
    good &= refused(4, 3, fine, &o, HYDRA_ERR_UNSUPPORTED, "size is 0");
    o.size = sizeof o + 8;
    good &= refused(4, 3, fine, &o, HYDRA_ERR_UNSUPPORTED, "size is");
    tap_result(good, "every bad argument or option is refused by a sentence with its name and value");
}

static void pairs_and_costs_are_checked(void)
{
    const int64_t lengths[] = {5, 6}, many[] = {25, 37}, negative[] = {0, -1};
    Hydra_Cost cost = HYDRA_COST_INIT;
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    bool good = true;

    o.budget = 100;
    o.pairs = many;
    good &= refused(4, 2, lengths, &o, HYDRA_ERR_ARG, "document 1: 37 attended pairs");
    o.pairs = negative;
    good &= refused(4, 2, lengths, &o, HYDRA_ERR_ARG, "document 1: -1 attended pairs");
    o.pairs = NULL;
    o.cost = &cost;
    cost.theta = -1;
    good &= refused(4, 2, lengths, &o, HYDRA_ERR_ARG, "cost.theta is -1");
    cost.theta = 0;
    cost.a2a_exposed = 1.5;
    good &= refused(4, 2, lengths, &o, HYDRA_ERR_ARG, "cost.a2a_exposed is 1.5");
    cost.a2a_exposed = 1;
    cost.size = 3;
    good &= refused(4, 2, lengths, &o, HYDRA_ERR_ARG, "cost: size is 3");
    tap_result(good, "attended pairs that cannot be and cost models that make no sense are refused by name");
}

/* The remedies that the sentence names do work. */
static void a_document_that_cannot_fit_names_what_would_do(void)
{
    const int64_t lengths[] = {7, 1000, 3};
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule schedule = NULL;
    bool good;

    o.budget = 100;
    good = refused(
        8, 3, lengths, &o, HYDRA_ERR_INFEASIBLE,
        "document 1 of 1000 tokens needs more than budget 100 x greatest degree 8: a budget of 125 or a pool of 10");
    good &= TAP_CHECK(Hydra_Plan_serial(10, 3, lengths, &o, &schedule) == 0, "pool 10");
    Hydra_Schedule_free(&schedule);
    o.budget = 125;
    good &= TAP_CHECK(Hydra_Plan_serial(8, 3, lengths, &o, &schedule) == 0, "budget 125");
    Hydra_Schedule_free(&schedule);
    o.budget = 100;
    o.max_degree = 4;
    good &= refused(16, 3, lengths, &o, HYDRA_ERR_INFEASIBLE, "a budget of 250 or a greatest degree of 16");
    o.max_degree = 16;
    good &= TAP_CHECK(Hydra_Plan_serial(16, 3, lengths, &o, &schedule) == 0, "degree 16");
    Hydra_Schedule_free(&schedule);
    o.policy = HYDRA_POLICY_MEMORY; /* padded to 2 x 16 x 2^30 tokens, then to 2 x 1,024 x 2^30 */
    o.budget = (int64_t)1 << 40;
    o.padding = 1;
    o.tensor_parallel = 1 << 30;
    good &= TAP_CHECK(Hydra_Plan_serial(16, 3, lengths, &o, &schedule) == 0, "padded to 2^35");
    Hydra_Schedule_free(&schedule);
    good &= refused(1 << 10, 3, lengths, &o, HYDRA_ERR_INFEASIBLE,
                    "document 0 of 7 tokens, padded to 2199023255552, exceeds 1099511627776");
    tap_result(
        good, "a document that cannot fit names itself, its length and the least budget, degree or pool that would do");
}

/* Shapes that break planners: [ndocs] lengths from one rule. */
static int64_t shape_length(int shape, int64_t i, int64_t ndocs)
{
    switch (shape) {
    case 0:
        return 1000; /* all equal */
    case 1:
        return i == ndocs / 2 ? (int64_t)1 << 40 : 1; /* one giant */
    case 2:
        return ((int64_t)1 << 40) - i; /* giants only */
    case 3:
        return 1;
    case 4:
        return 0;
    default:
        return i % 3 == 0 ? 0 : (int64_t)1 << (i % 41); /* every magnitude */
    }
}

static bool plans_shape(int policy, int shape, int64_t pool, int64_t ndocs)
{
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    int64_t *lengths = calloc((size_t)ndocs + 1, sizeof *lengths), tokens = 0;
    Hydra_Schedule s = NULL;
    Hydra_Schedule_stats stats;
    int status;
    bool good;

    o.policy = policy;
    o.budget = shape == 3 ? 3 : ((int64_t)1 << 40) / pool + 1;
    for (int64_t i = 0; i < ndocs; i++)
        tokens += lengths[i] = shape_length(shape, i, ndocs);
    status = Hydra_Plan_serial(pool, ndocs, lengths, &o, &s);
    good = TAP_CHECK(status == 0, "%s, shape %d, pool %ld: status %d", Hydra_Policy_name(policy), shape, (long)pool,
                     status) &&
           TAP_CHECK(hydra_schedule_check_groups(s, 1) == 0 && hydra_schedule_check_documents(s, 1) == 0,
                     "%s, shape %d", Hydra_Policy_name(policy), shape) &&
           TAP_CHECK(Hydra_Schedule_stats_get(s, &stats) == 0 && stats.tokens == tokens && stats.documents == ndocs &&
                         stats.microbatches >= 1 && stats.critical_ratio > 0.999,
                     "%s, shape %d: %ld tokens, critical %g", Hydra_Policy_name(policy), shape, (long)stats.tokens,
                     stats.critical_ratio);
    Hydra_Schedule_free(&s);
    free(lengths);
    return good;
}

static void every_policy_plans_every_shape(void)
{
    static const int64_t pools[] = {1, 2, 7, 16, 96};
    char sentence[100];

    for (int policy = 1; policy < HYDRA_POLICY_COUNT; policy++) {
        bool good = true;

        if (hydra_policy_find(policy) == NULL)
            continue;
        for (int shape = 0; shape < 6; shape++)
            for (int p = 0; p < 5; p++) {
                good &= plans_shape(policy, shape, pools[p], 30);
                good &= plans_shape(policy, shape, pools[p], 1);
                good &= plans_shape(policy, shape, pools[p], 0);
            }
        snprintf(sentence, sizeof sentence, "%s plans equal, giant, tiny, empty and no documents, to 2^40 tokens",
                 Hydra_Policy_name(policy));
        tap_result(good, sentence);
    }
}

/* Where each length lies, sorted: what a plan is when equal documents have no names. */
struct seat {
    int64_t length, microbatch, first, size;
};

static int compare_seats(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct seat));
}

static struct seat *seats_of(Hydra_Schedule s)
{
    struct seat *seats = calloc((size_t)s->ndocs + 1, sizeof *seats);

    for (int64_t m = 0; m < s->microbatches; m++)
        for (int64_t g = s->group_begin[m]; g < s->group_begin[m + 1]; g++)
            for (int64_t d = s->groups[g].docs_begin; d < s->groups[g].docs_end; d++)
                seats[d] = (struct seat){s->lengths[s->docs[d]], m, s->groups[g].first, s->groups[g].size};
    qsort(seats, (size_t)s->ndocs, sizeof *seats, compare_seats);
    return seats;
}

/* Microbatches of a plan, checked; 0 when there is none. */
static int64_t microbatches_of(int64_t pool, int64_t ndocs, const int64_t *lengths, const Hydra_Plan_options *o)
{
    Hydra_Schedule s = NULL;
    int64_t count = 0;
    int status = Hydra_Plan_serial(pool, ndocs, lengths, o, &s);

    if (TAP_CHECK(status == 0, "%s: %s", Hydra_Policy_name(o->policy), hydra_error_detail()) &&
        TAP_CHECK(hydra_schedule_check_groups(s, 1) == 0 && hydra_schedule_check_documents(s, 1) == 0, "%s: %s",
                  Hydra_Policy_name(o->policy), hydra_error_detail()))
        count = s->microbatches;
    Hydra_Schedule_free(&s);
    return count;
}

/* With a latency they take time, but the time of no token. They are many: few are packed by a complete search. */
static void documents_without_tokens_take_no_room(void)
{
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Cost cost = HYDRA_COST_INIT;
    int64_t lengths[64];
    bool good = true;

    cost.theta = 1e-9;
    cost.phi = 1e-6;
    cost.intra_bandwidth = cost.inter_bandwidth = 1e10;
    cost.intra_latency = cost.inter_latency = 1e-5;
    o.cost = &cost;
    o.budget = 64;
    o.min_degree = 4;
    for (int i = 0; i < 64; i++)
        lengths[i] = i < 40 ? 31 : 0;
    for (o.policy = 1; o.policy < HYDRA_POLICY_COUNT; o.policy++) {
        int64_t with, without;

        if (hydra_policy_find(o.policy) == NULL)
            continue;
        with = microbatches_of(41, 64, lengths, &o);
        without = microbatches_of(41, 40, lengths, &o);
        good &= TAP_CHECK(with > 0 && with <= without + 1, "%s: %ld microbatches, %ld without empty documents",
                          Hydra_Policy_name(o.policy), (long)with, (long)without);
    }
    tap_result(good, "two dozen documents without tokens cost a microbatch at most");
}

/* By attended pairs the document of few tokens comes first; cut by tokens, the other one comes with it. */
static void a_full_document_after_a_small_one_is_parted(void)
{
    const int64_t lengths[] = {17, 4096}, pairs[] = {289, 0};
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    bool good = true;

    o.budget = 64;
    o.pairs = pairs;
    for (o.policy = 1; o.policy < HYDRA_POLICY_COUNT; o.policy++)
        if (hydra_policy_find(o.policy) != NULL) {
            int64_t count = microbatches_of(64, 2, lengths, &o);

            good &= TAP_CHECK(count == 2, "%s: %ld microbatches", Hydra_Policy_name(o.policy), (long)count);
        }
    tap_result(good, "a document that fills the pool and a small one are two microbatches, whichever attends to more");
}

static void sorting_policies_do_not_see_the_input_order(void)
{
    static const int policies[] = {HYDRA_POLICY_LOAD, HYDRA_POLICY_MEMORY, HYDRA_POLICY_MEMORY_PACKED};
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 150; seed++) {
        struct test_batch t = make_batch(seed, 64, 150);
        struct hydra_random random = hydra_random_seed(seed);
        Hydra_Schedule before = NULL, after = NULL;
        struct seat *a = NULL, *b = NULL;

        t.options.policy = policies[seed % 3];
        t.options.pairs = NULL;
        good = TAP_CHECK(Hydra_Plan_serial(t.pool, t.ndocs, t.lengths, &t.options, &before) == 0, "seed %lu",
                         (unsigned long)seed);
        for (int64_t i = t.ndocs - 1; i > 0; i--) {
            int64_t j = hydra_random_below(&random, i + 1), length = t.lengths[i];

            t.lengths[i] = t.lengths[j];
            t.lengths[j] = length;
        }
        good = good && TAP_CHECK(Hydra_Plan_serial(t.pool, t.ndocs, t.lengths, &t.options, &after) == 0, "seed %lu",
                                 (unsigned long)seed);
        if (good) {
            a = seats_of(before);
            b = seats_of(after);
            good =
                TAP_CHECK(before->microbatches == after->microbatches && memcmp(a, b, (size_t)t.ndocs * sizeof *a) == 0,
                          "seed %lu", (unsigned long)seed);
        }
        free(a);
        free(b);
        Hydra_Schedule_free(&before);
        Hydra_Schedule_free(&after);
        free_batch(&t);
    }
    tap_result(good, "load and the memory rules give shuffled documents the same places");
}

static void null_handles_are_refused_and_freed(void)
{
    Hydra_Schedule none = NULL;
    Hydra_Schedule_stats stats;
    Hydra_Microbatch view = {0};
    int64_t count;
    uint64_t hash;
    int policy;
    bool good = TAP_CHECK(Hydra_Schedule_free(&none) == 0 && Hydra_Schedule_free(NULL) == 0, "free of nothing");

    good &= TAP_CHECK(Hydra_Microbatch_free(&view) == 0 && Hydra_Microbatch_free(NULL) == 0, "free of an empty view");
    good &= TAP_CHECK(Hydra_Schedule_count(NULL, &count) == HYDRA_ERR_ARG, "count");
    good &= TAP_CHECK(Hydra_Schedule_microbatch(NULL, 0, 0, &view) == HYDRA_ERR_ARG, "microbatch");
    good &= TAP_CHECK(Hydra_Schedule_stats_get(NULL, &stats) == HYDRA_ERR_ARG, "stats");
    good &= TAP_CHECK(Hydra_Schedule_hash(NULL, &hash) == HYDRA_ERR_ARG, "hash");
    good &= TAP_CHECK(Hydra_Schedule_explain(NULL, NULL, 0, NULL) == HYDRA_ERR_ARG, "explain");
    good &= TAP_CHECK(
        Hydra_Schedule_save(NULL, "x") == HYDRA_ERR_ARG && Hydra_Schedule_load(NULL, &none) == HYDRA_ERR_ARG, "files");
    good &= TAP_CHECK(Hydra_Policy_from_name("nonsense", &policy) == HYDRA_ERR_ARG &&
                          Hydra_Policy_from_name(NULL, &policy) == HYDRA_ERR_ARG,
                      "names");
    good &= TAP_CHECK(Hydra_Policy_name(77) == NULL, "name of no policy");
    good &= TAP_CHECK(Hydra_Policy_from_name("memory-packed", &policy) == 0 && policy == HYDRA_POLICY_MEMORY_PACKED,
                      "a name");
    tap_result(good, "null handles are refused by every call but free");
}

int main(void)
{
    bad_arguments_are_named();
    pairs_and_costs_are_checked();
    a_document_that_cannot_fit_names_what_would_do();
    every_policy_plans_every_shape();
    documents_without_tokens_take_no_room();
    a_full_document_after_a_small_one_is_parted();
    sorting_policies_do_not_see_the_input_order();
    null_handles_are_refused_and_freed();
    return tap_done();
}
