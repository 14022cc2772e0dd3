/* test_stats.c: statistics against sums over the ranks' views, and the explanation's length. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/schedule.h"
#include "tests/plan/batches.h"
#include "tests/tap.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}

/* What each rank does, from the views alone: the load of a group is shared evenly. */
struct sums {
    double load, load_max, tokens, token_max, critical, idle;
};

static bool views_agree(const struct test_batch *t, Hydra_Schedule s, const Hydra_Schedule_stats *stats)
{
    struct sums sums = {0};
    double *load = calloc((size_t)t->pool, sizeof *load), most = 0, weights = 0,
           cells = (double)s->microbatches * (double)t->pool;
    int64_t greatest = 0;
    bool good = true;

    for (int64_t m = 0; m < s->microbatches; m++) {
        double heaviest = 0;

        for (int64_t rank = 0; rank < t->pool; rank++) {
            Hydra_Microbatch view;
            double here = 0;

            Hydra_Schedule_microbatch(s, m, rank, &view);
            for (int64_t d = 0; d < view.ndocs; d++)
                here += (double)hydra_schedule_weight(s, view.doc_ids[d]) / (double)view.degree;
            load[rank] += here;
            heaviest = fmax(heaviest, here);
            sums.load += here;
            sums.tokens += (double)view.tokens;
            sums.token_max = fmax(sums.token_max, (double)view.tokens);
            sums.idle += view.degree == 0;
            greatest = hydra_max(greatest, view.degree);
            Hydra_Microbatch_free(&view);
        }
        sums.critical += heaviest;
        sums.load_max = fmax(sums.load_max, heaviest);
    }
    for (int64_t rank = 0; rank < t->pool; rank++)
        most = fmax(most, load[rank]);
    for (int64_t i = 0; i < t->ndocs; i++)
        weights += (double)hydra_schedule_weight(s, i);
    good &= TAP_CHECK(near(stats->load_mean, sums.load / cells), "seed %lu: mean %g", (unsigned long)t->seed,
                      stats->load_mean);
    good &=
        TAP_CHECK(near(stats->load_max, sums.load_max), "seed %lu: max %g", (unsigned long)t->seed, stats->load_max);
    good &= TAP_CHECK(near(stats->critical_load, sums.critical), "seed %lu: critical %g", (unsigned long)t->seed,
                      stats->critical_load);
    good &= TAP_CHECK(near(stats->critical_ratio, weights > 0 ? sums.critical * (double)t->pool / weights : 1),
                      "seed %lu: ratio %g", (unsigned long)t->seed, stats->critical_ratio);
    good &= TAP_CHECK(near(stats->load_imbalance, weights > 0 ? most * (double)t->pool / weights : 1),
                      "seed %lu: imbalance %g", (unsigned long)t->seed, stats->load_imbalance);
    good &= TAP_CHECK(near(stats->token_mean, sums.tokens / cells) && near(stats->token_max, sums.token_max),
                      "seed %lu: tokens %g %g", (unsigned long)t->seed, stats->token_mean, stats->token_max);
    good &= TAP_CHECK(near(stats->idle_share, sums.idle / cells) && stats->greatest_degree == greatest,
                      "seed %lu: idle %g, degree %ld", (unsigned long)t->seed, stats->idle_share,
                      (long)stats->greatest_degree);
    free(load);
    return good;
}

static void statistics_are_the_views_sums(void)
{
    static const int policies[] = {HYDRA_POLICY_LOAD, HYDRA_POLICY_MEMORY, HYDRA_POLICY_STATIC};
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 120; seed++) {
        struct test_batch t = make_batch(seed, 24, 60);
        Hydra_Schedule s = NULL;
        Hydra_Schedule_stats stats;

        for (int64_t i = 0; i < t.ndocs; i++)
            t.lengths[i] %= 300;
        t.options.pairs = NULL;
        t.options.policy = policies[seed % 3];
        good = TAP_CHECK(Hydra_Plan_serial(t.pool, t.ndocs, t.lengths, &t.options, &s) == 0, "seed %lu",
                         (unsigned long)seed) &&
               TAP_CHECK(Hydra_Schedule_stats_get(s, &stats) == 0, "seed %lu", (unsigned long)seed) &&
               views_agree(&t, s, &stats);
        Hydra_Schedule_free(&s);
        free_batch(&t);
    }
    tap_result(good, "statistics are the sums and maxima of what the ranks' views say");
}

static void padding_is_counted(void)
{
    /* Pool 4: units of 2 x 4 x tp = 16 tokens: 16 + 16 + 0 + 32. */
    const int64_t lengths[] = {1, 16, 0, 17};
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule s = NULL;
    Hydra_Schedule_stats stats = {0};
    bool good = true;

    o.budget = 100;
    o.policy = HYDRA_POLICY_MEMORY;
    o.tensor_parallel = 2;
    good &= TAP_CHECK(Hydra_Plan_serial(4, 4, lengths, &o, &s) == 0 && Hydra_Schedule_stats_get(s, &stats) == 0 &&
                          stats.padded_tokens == 34,
                      "without padding: %g", stats.padded_tokens);
    Hydra_Schedule_free(&s);
    o.padding = 1;
    good &= TAP_CHECK(Hydra_Plan_serial(4, 4, lengths, &o, &s) == 0 && Hydra_Schedule_stats_get(s, &stats) == 0 &&
                          stats.padded_tokens == 64,
                      "with padding: %g", stats.padded_tokens);
    Hydra_Schedule_free(&s);
    tap_result(good, "padded tokens are the next multiples of 2 x dp x cp x tp");
}

static void explanations_say_how_long_they_are(void)
{
    const int64_t lengths[] = {1, 16, 0, 17, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    Hydra_Plan_options o = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule s = NULL;
    char whole[4096], part[40];
    size_t needed = 0, again = 0;
    bool good;

    o.budget = 100;
    o.policy = HYDRA_POLICY_STATIC;
    good = TAP_CHECK(Hydra_Plan_serial(1, 19, lengths, &o, &s) == 0, "plan");
    good = good && TAP_CHECK(Hydra_Schedule_explain(s, NULL, 0, &needed) == 0, "measure");
    good = good && TAP_CHECK(Hydra_Schedule_explain(s, whole, sizeof whole, &again) == 0 && again == needed &&
                                 strlen(whole) + 1 == needed,
                             "needed %zu, then %zu, text %zu", needed, again, strlen(whole));
    good = good && TAP_CHECK(Hydra_Schedule_explain(s, part, sizeof part, NULL) == 0 &&
                                 strlen(part) == sizeof part - 1 && strncmp(part, whole, sizeof part - 1) == 0,
                             "part '%s'", part);
    good = good && TAP_CHECK(strstr(whole, "slots 0..0  degree 1 = 1 x 1  tokens 64") != NULL &&
                                 strstr(whole, "and 7 more") != NULL,
                             "%s", whole);
    Hydra_Schedule_free(&s);
    tap_result(good, "an explanation names groups and documents, says how long it is, and is cut to the space given");
}

int main(void)
{
    statistics_are_the_views_sums();
    padding_is_counted();
    explanations_say_how_long_they_are();
    return tap_done();
}
