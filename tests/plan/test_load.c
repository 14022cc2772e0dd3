/* test_load.c: the load policy is the linear scan's plan, document by document, in few heap steps. */
#include "base/memory.h"
#include "plan/draft.h"
#include "plan/figure1.h"
#include "plan/policy.h"
#include "plan/targets.h"
#include "tests/plan/batches.h"
#include "tests/tap.h"

/* The two drafts place every document in the same microbatch, slots and company. */
static bool drafts_agree(const struct test_batch *t, const struct hydra_draft *a, const struct hydra_draft *b)
{
    bool good = TAP_CHECK(a->ngroups == b->ngroups && a->microbatches == b->microbatches,
                          "seed %lu: %ld groups in %ld microbatches, the scan has %ld in %ld", (unsigned long)t->seed,
                          (long)a->ngroups, (long)a->microbatches, (long)b->ngroups, (long)b->microbatches);

    for (int64_t i = 0; good && i < t->ndocs; i++) {
        const struct hydra_draft_group *x = &a->groups[a->group_of[i]], *y = &b->groups[b->group_of[i]];

        good &= TAP_CHECK(
            x->microbatch == y->microbatch && x->first == y->first && x->size == y->size,
            "seed %lu: document %ld of %ld tokens is in microbatch %ld slots %ld+%ld, the scan says %ld %ld+%ld",
            (unsigned long)t->seed, (long)i, (long)t->lengths[i], (long)x->microbatch, (long)x->first, (long)x->size,
            (long)y->microbatch, (long)y->first, (long)y->size);
    }
    return good;
}

static bool agrees_on(struct test_batch *t)
{
    Hydra_Plan_options resolved;
    struct hydra_batch batch = {t->pool, t->ndocs, t->lengths, &resolved, NULL};
    struct hydra_draft heap, scan;
    bool good =
        TAP_CHECK(hydra_options_resolve(t->pool, &t->options, &resolved) == 0, "seed %lu", (unsigned long)t->seed) &&
        TAP_CHECK(hydra_batch_check(&batch) == 0, "seed %lu", (unsigned long)t->seed);

    if (!good)
        return false;
    hydra_draft_init(&heap, &batch);
    hydra_draft_init(&scan, &batch);
    good &= TAP_CHECK(hydra_policy_load(&batch, &heap) == 0 && hydra_policy_load_scan(&batch, &scan) == 0, "seed %lu",
                      (unsigned long)t->seed);
    good = good && drafts_agree(t, &heap, &scan);
    hydra_draft_clear(&heap);
    hydra_draft_clear(&scan);
    return good;
}

static void load_is_the_linear_scan(void)
{
    bool good = true;

    for (uint64_t seed = 1; good && seed <= 2400; seed++) {
        struct test_batch t = make_batch(seed, seed % 40 == 0 ? 4096 : 100, seed % 40 == 0 ? 3000 : 400);

        good = agrees_on(&t);
        free_batch(&t);
    }
    tap_result(good, "load places every document where the linear scan does, on 2,400 random and hostile batches");
}

/* Heap levels and sorted keys a document over log2 G, on the yardstick: one constant for every pool. */
static void heap_steps_are_logarithmic(void)
{
    bool good = true;

    for (int64_t pool = 512; good && pool <= 65536; pool *= 4) {
        Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT, resolved;
        struct hydra_batch batch = {.pool = pool, .options = &resolved};
        struct hydra_draft draft = {0};
        int64_t *lengths = NULL, steps = 0;

        options.budget = 8192;
        options.policy = HYDRA_POLICY_LOAD;
        good = TAP_CHECK(hydra_figure1_draw(pool, 1, 8192, &lengths, &batch.ndocs) == 0, "draw") &&
               TAP_CHECK(hydra_options_resolve(pool, &options, &resolved) == 0, "options");
        batch.lengths = lengths;
        good =
            good &&
            TAP_CHECK(hydra_draft_init(&draft, &batch) == 0 && hydra_policy_load_counted(&batch, &draft, &steps) == 0,
                      "plan") &&
            TAP_CHECK((double)steps <= 0.6 * (double)batch.ndocs * hydra_log2_floor((uint64_t)pool),
                      "pool %ld: %ld steps for %ld documents", (long)pool, (long)steps, (long)batch.ndocs);
        hydra_draft_clear(&draft);
        hydra_free(lengths);
    }
    tap_result(
        good, "load moves at most 0.6 log2 G heap levels and sorted keys a document, at every pool from 512 to 65,536");
}

int main(void)
{
    load_is_the_linear_scan();
    heap_steps_are_logarithmic();
    return tap_done();
}
