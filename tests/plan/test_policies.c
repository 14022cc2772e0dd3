/* test_policies.c: every policy of the table plans anything; what bytescale, wlb, flexsp and auto guarantee. */
#include "plan/cost.h"
#include "plan/policy.h"
#include "plan/predict.h"
#include "plan/schedule.h"
#include "tests/plan/batches.h"
#include "tests/tap.h"

/* NULL when the policy says that it cannot plan this pool, which is allowed; any other failure is not. */
static Hydra_Schedule plan(const struct test_batch *t, int policy, bool *good)
{
    Hydra_Plan_options options = t->options;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    char detail[512] = "";
    int status;

    options.policy = policy;
    status = Hydra_Plan_serial(t->pool, t->ndocs, t->lengths, &options, &schedule);
    if (status != HYDRA_SUCCESS)
        Hydra_Error_detail(detail, sizeof detail);
    *good &= TAP_CHECK(status == HYDRA_SUCCESS || status == HYDRA_ERR_UNSUPPORTED || status == HYDRA_ERR_INFEASIBLE,
                       "seed %lu policy %s: status %d, %s", (unsigned long)t->seed, Hydra_Policy_name(policy), status,
                       detail);
    return schedule;
}

/* The schedule's maker checks each plan: documents once, budget, alignment, overlap, degrees. */
static void every_policy_plans_hostile_batches(void)
{
    Hydra_Cost cost = testbed_cost();
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 150; seed++) {
        struct test_batch t = make_batch(seed, 80, 150);

        t.options.cost = seed % 3 == 0 ? NULL : &cost;
        for (int policy = 1; policy < HYDRA_POLICY_COUNT; policy++) {
            if (hydra_policy_find(policy) == NULL)
                continue;
            Hydra_Schedule schedule = plan(&t, policy, &good);

            good &= schedule == NULL || t.options.pipeline_chunks == 1 || policy == HYDRA_POLICY_STATIC ||
                    TAP_CHECK(schedule->ndocs == 0 || schedule->microbatches % t.options.pipeline_stages == 0,
                              "seed %lu policy %s: M %ld, pp %d", (unsigned long)seed, Hydra_Policy_name(policy),
                              (long)schedule->microbatches, t.options.pipeline_stages);
            Hydra_Schedule_free(&schedule);
        }
        free_batch(&t);
    }
    tap_result(good, "every policy plans hostile batches, M a multiple of pp when the pipeline interleaves");
}

/* Groups of min_degree slots pay latencies, which no document without tokens may be charged for. */
static void empty_documents_need_no_time_of_their_own(void)
{
    Hydra_Cost cost = testbed_cost();
    int64_t lengths[200] = {0};
    bool good = true;

    cost.intra_latency = 1e-6;
    cost.inter_latency = 1e-5;
    for (int64_t ndocs = 1; good && ndocs <= 200; ndocs += 1 + ndocs / 4) {
        struct test_batch t = {.pool = 32, .ndocs = ndocs, .lengths = lengths, .options = HYDRA_PLAN_OPTIONS_INIT};

        t.options.budget = 64;
        t.options.min_degree = 8;
        t.options.heads = 4;
        t.options.cost = &cost;
        for (int policy = 1; good && policy < HYDRA_POLICY_COUNT; policy++) {
            Hydra_Schedule schedule = plan(&t, policy, &good);

            good &=
                TAP_CHECK(schedule != NULL && schedule->microbatches == 1, "%ld documents, policy %s: M %ld",
                          (long)ndocs, Hydra_Policy_name(policy), schedule == NULL ? 0 : (long)schedule->microbatches);
            Hydra_Schedule_free(&schedule);
        }
    }
    tap_result(good, "empty documents take one microbatch, though groups pay latencies");
}

/* Every time saturates: an answer, right away, and no search without end. */
static void times_too_long_to_count_end_every_search(void)
{
    Hydra_Cost cost = testbed_cost();
    int64_t lengths[50];
    bool good = true;

    cost.phi = 1e30;
    for (int i = 0; i < 50; i++)
        lengths[i] = i < 3 ? 9000 : 1;
    for (int policy = 1; policy < HYDRA_POLICY_COUNT; policy++) {
        struct test_batch t = {.pool = 32, .ndocs = 50, .lengths = lengths, .options = HYDRA_PLAN_OPTIONS_INIT};
        Hydra_Schedule schedule;

        t.options.budget = 1000;
        t.options.min_degree = 8;
        t.options.cost = &cost;
        schedule = plan(&t, policy, &good);
        Hydra_Schedule_free(&schedule);
    }
    tap_result(good, "times too long to count end every search");
}

/* What a policy compares by is what its schedule is predicted to take: groups left empty count for neither. */
static void a_draft_is_predicted_as_the_schedule_that_it_becomes(void)
{
    Hydra_Cost model = testbed_cost();
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 150; seed++) {
        struct test_batch t = make_batch(seed, 80, 150);
        Hydra_Plan_options options;
        struct hydra_cost cost;
        struct hydra_batch batch = {t.pool, t.ndocs, t.lengths, &options, &cost};

        for (int policy = 1; good && policy < HYDRA_POLICY_COUNT; policy++) {
            struct hydra_draft draft = {0};
            Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
            int64_t makespan;
            double seconds = 0;

            t.options.policy = policy;
            t.options.cost = &model;
            good &= TAP_CHECK(hydra_options_resolve(t.pool, &t.options, &options) == HYDRA_SUCCESS, "seed %lu",
                              (unsigned long)seed);
            hydra_cost_make(&model, &options, t.pool, &cost);
            if (good && hydra_policy_find(policy) != NULL && hydra_draft_init(&draft, &batch) == HYDRA_SUCCESS &&
                hydra_policy_find(policy)->plan(&batch, &draft) == HYDRA_SUCCESS)
                good &= TAP_CHECK(hydra_predict_draft(&batch, &draft, &cost, &makespan) == HYDRA_SUCCESS &&
                                      hydra_draft_finish(&draft, &batch, &schedule) == HYDRA_SUCCESS &&
                                      hydra_predict_schedule(schedule, &seconds) == HYDRA_SUCCESS &&
                                      (double)makespan * 1e-12 == seconds,
                                  "seed %lu policy %s: %.12g s as a draft, %.12g s as a schedule", (unsigned long)seed,
                                  Hydra_Policy_name(policy), (double)makespan * 1e-12, seconds);
            Hydra_Schedule_free(&schedule);
            hydra_draft_clear(&draft);
        }
        free_batch(&t);
    }
    tap_result(good, "a draft is predicted as the schedule that it becomes");
}

static void auto_is_never_later_than_the_best_of_the_others(void)
{
    Hydra_Cost cost = testbed_cost();
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 80; seed++) {
        struct test_batch t = make_batch(seed * 7, 64, 300);
        double chosen = 0;

        t.options.cost = &cost;
        for (int policy = HYDRA_POLICY_COUNT - 1; policy >= 1; policy--) { /* AUTO is the last */
            Hydra_Schedule schedule = hydra_policy_find(policy) == NULL ? NULL : plan(&t, policy, &good);
            double seconds = 0;

            if (schedule == NULL)
                continue;
            good &= hydra_predict_schedule(schedule, &seconds) == HYDRA_SUCCESS;
            if (policy == HYDRA_POLICY_AUTO)
                chosen = seconds;
            good &= TAP_CHECK(chosen <= seconds * (1 + 1e-9), "seed %lu: auto %.9f s, %s %.9f s", (unsigned long)seed,
                              chosen, Hydra_Policy_name(policy), seconds);
            Hydra_Schedule_free(&schedule);
        }
        free_batch(&t);
    }
    tap_result(good, "auto is never predicted later than any other policy");
}

/* Least slowest time over every partition of documents into groups and every degree for each group. */
struct enumeration {
    const struct hydra_cost *cost;
    int64_t pool, budget;
    int ndocs, nblocks;
    int64_t s[8];
    int64_t block_tokens[8];
    hydra_weight block_weight[8];
    int64_t best;
};

static int64_t block_time(const struct enumeration *e, int b, int64_t size)
{
    if (e->block_tokens[b] > e->budget * size)
        return INT64_MAX;
    hydra_weight weight = e->block_weight[b] / (hydra_weight)size;
    int64_t tokens = hydra_ceil_div(e->block_tokens[b], size);

    return hydra_cost_forward(e->cost, size, weight, tokens) + hydra_cost_backward(e->cost, size, weight, tokens);
}

static void choose_degrees(struct enumeration *e, int b, int64_t slots, int64_t slowest)
{
    if (slowest >= e->best)
        return;
    if (b == e->nblocks) {
        e->best = slowest;
        return;
    }
    for (int64_t size = 1; size <= slots; size = size * 2 <= e->pool ? size * 2 : size < e->pool ? e->pool : slots + 1)
        choose_degrees(e, b + 1, slots - size, hydra_max(slowest, block_time(e, b, size)));
}

static void enumerate(struct enumeration *e, int d)
{
    if (d == e->ndocs) {
        choose_degrees(e, 0, e->pool, 0);
        return;
    }
    for (int b = 0; b <= e->nblocks && b < 8; b++) {
        bool opened = b == e->nblocks;

        if (opened) {
            e->block_tokens[b] = 0;
            e->block_weight[b] = 0;
            e->nblocks++;
        }
        e->block_tokens[b] += e->s[d];
        e->block_weight[b] += (hydra_weight)e->s[d] * (hydra_weight)e->s[d];
        enumerate(e, d + 1);
        e->block_tokens[b] -= e->s[d];
        e->block_weight[b] -= (hydra_weight)e->s[d] * (hydra_weight)e->s[d];
        e->nblocks -= opened;
    }
}

/* Each microbatch of a plan is as good as enumeration makes it. */
static bool microbatches_are_optimal(const struct hydra_schedule *s, const struct hydra_cost *cost, uint64_t seed)
{
    bool good = true;

    for (int64_t m = 0; m < s->microbatches; m++) {
        struct enumeration e = {.cost = cost, .pool = s->pool, .budget = s->options.budget, .best = INT64_MAX};
        int64_t slowest = 0;

        for (int64_t g = s->group_begin[m]; g < s->group_begin[m + 1]; g++) {
            const struct hydra_group *group = &s->groups[g];

            e.nblocks = 0;
            e.block_tokens[0] = 0;
            e.block_weight[0] = 0;
            for (int64_t d = group->docs_begin; d < group->docs_end; d++) {
                int64_t length = s->lengths[s->docs[d]];

                e.s[e.ndocs++] = length;
                e.block_tokens[0] += length;
                e.block_weight[0] += (hydra_weight)length * (hydra_weight)length;
            }
            slowest = hydra_max(slowest, block_time(&e, 0, group->size));
        }
        if (e.ndocs == 0)
            continue;
        e.nblocks = 0;
        enumerate(&e, 0);
        /* The search shares tokens evenly, a rank holds them whole: one token, 0.2 ms, apart. */
        good &= TAP_CHECK(slowest <= e.best + 200000000, "seed %lu microbatch %ld: %ld ps, optimum %ld ps",
                          (unsigned long)seed, (long)m, (long)slowest, (long)e.best);
    }
    return good;
}

static void flexsp_is_optimal_on_small_batches(void)
{
    Hydra_Cost model = testbed_cost();
    bool good = true;

    for (uint64_t seed = 0; good && seed < 60; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        struct test_batch t = {.seed = seed, .options = HYDRA_PLAN_OPTIONS_INIT};
        int64_t lengths[8];
        struct hydra_cost cost;
        Hydra_Schedule schedule;

        t.pool = 1 + hydra_random_below(&random, 8);
        t.ndocs = 1 + hydra_random_below(&random, 8);
        t.lengths = lengths;
        t.options.budget = 8192;
        t.options.cost = &model;
        for (int64_t i = 0; i < t.ndocs; i++)
            lengths[i] = 1 + hydra_random_below(&random, hydra_min(8192 * t.pool, (int64_t)1 << (8 + seed % 9)));
        schedule = plan(&t, HYDRA_POLICY_FLEXSP, &good);
        if (schedule != NULL) {
            hydra_cost_make(&model, &schedule->options, t.pool, &cost);
            good &= microbatches_are_optimal(schedule, &cost, seed);
        }
        Hydra_Schedule_free(&schedule);
    }
    tap_result(good, "flexsp's microbatches of up to 8 documents on up to 8 slots are what enumeration finds best");
}

/* Greatest and least load of a rank over the iteration. */
static void rank_loads(const struct hydra_schedule *s, double *least, double *greatest)
{
    double *load = calloc((size_t)s->pool, sizeof *load);

    for (int64_t g = 0; g < s->ngroups; g++)
        for (int64_t d = s->groups[g].docs_begin; d < s->groups[g].docs_end; d++)
            for (int64_t slot = 0; slot < s->groups[g].size; slot++)
                load[s->groups[g].first + slot] +=
                    (double)s->lengths[s->docs[d]] * (double)s->lengths[s->docs[d]] / (double)s->groups[g].size;
    *least = *greatest = load[0];
    for (int64_t slot = 1; slot < s->pool; slot++) {
        *least = load[slot] < *least ? load[slot] : *least;
        *greatest = load[slot] > *greatest ? load[slot] : *greatest;
    }
    free(load);
}

static void bytescale_evens_ranks_over_the_iteration(void)
{
    bool good = true;

    for (uint64_t seed = 0; good && seed < 40; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        struct test_batch t = {.seed = seed, .options = HYDRA_PLAN_OPTIONS_INIT, .pool = 16, .ndocs = 800};
        int64_t lengths[800];
        double least, greatest;
        Hydra_Schedule schedule;

        t.lengths = lengths;
        t.options.budget = 4096;
        for (int64_t i = 0; i < t.ndocs; i++)
            lengths[i] = 1 + hydra_random_below(&random, i % 50 == 0 ? 20000 : 2000);
        schedule = plan(&t, HYDRA_POLICY_BYTESCALE, &good);
        rank_loads(schedule, &least, &greatest);
        /* Documents of one rank even out what those of several left. */
        good &= TAP_CHECK(greatest - least <= 2000.0 * 2000.0, "seed %lu: rank loads %.0f to %.0f", (unsigned long)seed,
                          least, greatest);
        Hydra_Schedule_free(&schedule);
    }
    tap_result(good, "bytescale evens the ranks' work over the iteration to within one short document");
}

static void wlb_evens_microbatches_and_lets_outliers_wait(void)
{
    bool good = true;

    for (uint64_t seed = 0; good && seed < 40; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        struct test_batch t = {.seed = seed, .options = HYDRA_PLAN_OPTIONS_INIT, .pool = 16, .ndocs = 800};
        int64_t lengths[800];
        double greatest[64] = {0};
        Hydra_Schedule s;

        t.lengths = lengths;
        t.options.budget = 4096;
        t.options.pipeline_stages = 1 + (int)(seed % 4);
        t.options.pipeline_chunks = 1 + (int)(seed % 3);
        for (int64_t i = 0; i < t.ndocs; i++)
            lengths[i] = 1 + hydra_random_below(&random, i % 100 == 0 ? 16384 : 1500);
        s = plan(&t, HYDRA_POLICY_WLB, &good);
        for (int64_t m = 0; s != NULL && m < s->microbatches; m++)
            for (int64_t g = s->group_begin[m]; g < s->group_begin[m + 1]; g++) {
                double work = 0;

                for (int64_t d = s->groups[g].docs_begin; d < s->groups[g].docs_end; d++)
                    work += (double)s->lengths[s->docs[d]] * (double)s->lengths[s->docs[d]];
                good &=
                    TAP_CHECK(s->groups[g].size == s->groups[0].size, "seed %lu: degrees differ", (unsigned long)seed);
                greatest[m] = work > greatest[m] ? work : greatest[m];
            }
        for (int64_t m = 1; s != NULL && m < s->microbatches; m++)
            good &= TAP_CHECK(greatest[m] >= greatest[m - 1], "seed %lu: microbatch %ld is lighter than the one before",
                              (unsigned long)seed, (long)m);
        Hydra_Schedule_free(&s);
    }
    tap_result(good, "wlb keeps one degree and runs the heaviest microbatches last");
}

int main(void)
{
    every_policy_plans_hostile_batches();
    empty_documents_need_no_time_of_their_own();
    times_too_long_to_count_end_every_search();
    a_draft_is_predicted_as_the_schedule_that_it_becomes();
    auto_is_never_later_than_the_best_of_the_others();
    flexsp_is_optimal_on_small_batches();
    bytescale_evens_ranks_over_the_iteration();
    wlb_evens_microbatches_and_lets_outliers_wait();
    return tap_done();
}
