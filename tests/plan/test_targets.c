/* test_targets.c: the closed-form targets against numbers worked out by hand from HyDra's section 5.1.1. */
#include "plan/batch.h"
#include "plan/targets.h"
#include "tests/tap.h"

/* Targets of up to four lengths. */
static struct hydra_targets targets_of(int64_t pool, int64_t ndocs, const int64_t *lengths, Hydra_Plan_options options,
                                       int64_t *degrees)
{
    Hydra_Plan_options resolved = HYDRA_PLAN_OPTIONS_INIT;
    struct hydra_batch batch = {.pool = pool, .ndocs = ndocs, .lengths = lengths, .options = &resolved};
    struct hydra_targets targets = {0};

    if (hydra_options_resolve(pool, &options, &resolved) != 0)
        return targets;
    hydra_targets_derive(&batch, &targets);
    for (int64_t i = 0; i < ndocs; i++)
        degrees[i] = hydra_targets_degree(&batch, &targets, lengths[i], hydra_batch_weight(&batch, i));
    return targets;
}

static Hydra_Plan_options with_budget(int64_t budget)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;

    options.budget = budget;
    return options;
}

static void caps_are_the_closed_form(void)
{
    /* W = 100^2 + 3 * 10^2 = 10,300; G w_max / W = 16 * 10,000 / 10,300 = 15.5: C_bal = 16; C_mem =
     * ceil(100/50) = 2. */
    const int64_t lengths[] = {100, 10, 10, 10};
    Hydra_Plan_options options = with_budget(50);
    int64_t degrees[4];
    struct hydra_targets t = targets_of(16, 4, lengths, options, degrees);
    bool good = TAP_CHECK(t.cap == 16 && t.heaviest == 10000 && t.total == 10300, "C_bal: cap %ld", (long)t.cap);

    good &= TAP_CHECK(t.microbatches == 2, "M* = ceil(16 * 10,300 / (10,000 * 16)) = 2, is %ld", (long)t.microbatches);
    good &= TAP_CHECK(degrees[0] == 16 && degrees[1] == 1, "degrees %ld %ld", (long)degrees[0], (long)degrees[1]);
    options.cap = HYDRA_CAP_PAPER;
    t = targets_of(16, 4, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 2 && degrees[0] == 2, "the paper's cap without a pipeline is C_mem = 2, is %ld",
                      (long)t.cap);
    /* C^ = w_max sqrt((pp-1)/v theta/c G / W) = 10,000 * sqrt(3/1 * x * 16 / 10,300) = 6 for x = 7.725e-5. */
    options.pipeline_stages = 4;
    options.theta_over_c = 7.725e-5;
    t = targets_of(16, 4, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 8, "C^ = 6.0 rounds up to 8, is %ld", (long)t.cap);
    options.pipeline_chunks = 3; /* C^ = 3.46 */
    t = targets_of(16, 4, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 4, "C^ = 3.46 rounds up to 4, is %ld", (long)t.cap);
    tap_result(good, "cap, load target and microbatch count are those of the closed form");
}

static void bounds_hold(void)
{
    const int64_t lengths[] = {100, 10, 10, 10}, zeros[] = {0, 0, 0};
    Hydra_Plan_options options = with_budget(50);
    int64_t degrees[4];
    struct hydra_targets t;
    bool good = true;

    options.max_degree = 6; /* rounds down to 4 */
    t = targets_of(16, 4, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 4, "max_degree 6: cap %ld", (long)t.cap);
    options.min_degree = 3; /* rounds up to 4 */
    t = targets_of(16, 4, lengths, options, degrees);
    good &= TAP_CHECK(degrees[3] == 4, "min_degree 3: degree %ld", (long)degrees[3]);
    options = with_budget(50);
    options.align = 32; /* 32 tokens a rank remain of 50: 100 tokens need 4 */
    options.cap = HYDRA_CAP_PAPER;
    t = targets_of(16, 4, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 4, "align 32: cap %ld", (long)t.cap);
    options = with_budget(50);
    t = targets_of(96, 4, lengths, options, degrees); /* 96 * 10,000 / 10,300 = 93.2: the pool itself is a degree */
    good &= TAP_CHECK(t.cap == 96 && degrees[0] == 96, "pool 96: cap %ld degree %ld", (long)t.cap, (long)degrees[0]);
    t = targets_of(16, 3, zeros, options, degrees);
    good &= TAP_CHECK(t.cap == 1 && t.microbatches == 1 && degrees[0] == 1, "W = 0: cap %ld", (long)t.cap);
    t = targets_of(16, 0, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 1 && t.microbatches == 1, "N = 0: cap %ld", (long)t.cap);
    tap_result(good, "degree bounds, alignment, other pools and batches without work have the targets they ask for");
}

/* 40 documents of 10 tokens on 4 slots of 50: 2 microbatches hold the tokens, 40 * 100 / (4 * 2) = 500 a slot in each,
 * and one document on top. Their heaviest alone would ask for 10 microbatches. */
static void alike_documents_share_groups(void)
{
    Hydra_Plan_options options = with_budget(50);
    int64_t lengths[40], degrees[40];
    struct hydra_targets t;
    bool good = true;

    for (int i = 0; i < 40; i++)
        lengths[i] = 10;
    t = targets_of(4, 40, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 1 && t.target == 600 && t.microbatches == 2, "target %ld, M %ld", (long)t.target,
                      (long)t.microbatches);
    options.min_degree = 2; /* a group has two slots' even part */
    t = targets_of(4, 40, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 2 && t.target == 1100 && t.microbatches == 2, "degree 2: target %ld, M %ld",
                      (long)t.target, (long)t.microbatches);
    options = with_budget(50);
    options.cap = HYDRA_CAP_PAPER;
    t = targets_of(4, 40, lengths, options, degrees);
    good &= TAP_CHECK(t.target == 100 && t.microbatches == 10, "as printed: target %ld, M %ld", (long)t.target,
                      (long)t.microbatches);
    /* C^ = w_max sqrt((pp-1)/v theta/c G / W) = 100 * sqrt(1 * 1e-1 * 4 / 4,000) = 1; 0.5 for a quarter of theta/c. */
    options.cap = HYDRA_CAP_BALANCED;
    options.pipeline_stages = 2;
    options.theta_over_c = 0.0999;
    t = targets_of(4, 40, lengths, options, degrees);
    good &= TAP_CHECK(t.cap == 1 && t.target == 100, "C^ = 1: target %ld", (long)t.target);
    options.theta_over_c = 0.025;
    t = targets_of(4, 40, lengths, options, degrees);
    good &= TAP_CHECK(t.target == 200 && t.microbatches == 5, "C^ = 0.5: target %ld, M %ld", (long)t.target,
                      (long)t.microbatches);
    tap_result(good, "documents that are alike share groups, as many as memory and the pipeline allow");
}

/* Twice the attended pairs, counted one by one. */
static void mask_weights_count_pairs(void)
{
    bool good = true;

    for (int64_t s = 0; s <= 40; s++)
        for (int64_t window = 1; window <= 12; window++)
            for (int64_t sink = 0; sink <= 6; sink++) {
                int64_t pairs = 0;

                for (int64_t q = 0; q < s; q++)
                    for (int64_t key = 0; key <= q; key++)
                        pairs += key < sink || key > q - window;
                good &= TAP_CHECK(hydra_mask_weight(HYDRA_MASK_WINDOW, window, sink, s) == (hydra_weight)(2 * pairs),
                                  "s %ld window %ld sink %ld", (long)s, (long)window, (long)sink);
            }
    good &= TAP_CHECK(hydra_mask_weight(HYDRA_MASK_CAUSAL, 0, 0, 7) == 49 &&
                          hydra_mask_weight(HYDRA_MASK_FULL, 0, 0, 7) == 98,
                      "causal and full");
    tap_result(good, "a window mask weighs twice its attended pairs, causal s*s, full twice that");
}

int main(void)
{
    caps_are_the_closed_form();
    bounds_hold();
    alike_documents_share_groups();
    mask_weights_count_pairs();
    return tap_done();
}
