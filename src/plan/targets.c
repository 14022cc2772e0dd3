/* targets.c: the closed-form targets of one iteration (HyDra section 5.1.1). */
#include "plan/targets.h"

#include <math.h>

#include "base/bits.h"

/* Least degree of the pool that is >= x, a real number. */
static int64_t degree_ceil_real(int64_t pool, double x)
{
    return x >= (double)pool ? pool : hydra_degree_ceil(pool, (int64_t)ceil(x));
}

/* Cost of one unit of load in microbatches' fixed costs: as given, else from the cost model, else
 * 0 (no pipeline term). */
static double theta_over_c(const Hydra_Plan_options *options)
{
    const Hydra_Cost *cost = options->cost;

    if (options->theta_over_c > 0)
        return options->theta_over_c;
    return cost != NULL && cost->fixed > 0 ? cost->theta / cost->fixed : 0.0;
}

/* The cap that minimises T(C) = theta W/G + (pp-1)/v theta w_max/C + c C W/(w_max G); 0 without a pipeline. */
static double best_cap(const struct hydra_batch *batch, const struct hydra_targets *targets)
{
    const Hydra_Plan_options *o = batch->options;
    double fill = (double)(o->pipeline_stages - 1) / (double)o->pipeline_chunks;

    if (fill == 0)
        return 0;
    return (double)targets->heaviest * sqrt(fill * theta_over_c(o) * (double)batch->pool / (double)targets->total);
}

/* Where the least degree does for every document, a load target of the heaviest alone would leave most of the tokens'
 * room unused, a document a group when they are alike. So it is what as few microbatches need as the tokens allow, and
 * the heaviest on top, for groups cannot all be filled to the brim; but no more than the closed form, whose cap would
 * lie below that degree, wants of a pipeline. best [in] that cap, 0: without a pipeline. */
static hydra_weight loose_target(const struct hydra_batch *batch, const struct hydra_targets *targets, double best)
{
    hydra_weight cap = (hydra_weight)targets->cap, heaviest = targets->heaviest;
    hydra_weight even = cap * targets->total / (hydra_weight)batch->pool / (hydra_weight)targets->microbatches;
    double wanted = best > 0 ? (double)heaviest * (double)cap / best : HUGE_VAL;

    if (even <= heaviest)
        return heaviest;
    even += heaviest;
    return wanted >= (double)even ? even : wanted <= (double)heaviest ? heaviest : (hydra_weight)wanted;
}

void hydra_targets_derive(const struct hydra_batch *batch, struct hydra_targets *targets)
{
    const Hydra_Plan_options *o = batch->options;
    int64_t longest = 0, tokens = 0, pool = batch->pool;
    hydra_weight room;
    double best;

    *targets = (struct hydra_targets){0};
    for (int64_t i = 0; i < batch->ndocs; i++) {
        hydra_weight w = hydra_batch_weight(batch, i);

        longest = hydra_max(longest, batch->lengths[i]);
        tokens += batch->lengths[i];
        targets->total += w;
        targets->heaviest = w > targets->heaviest ? w : targets->heaviest;
    }
    targets->cap = hydra_degree_for_memory(batch, longest); /* C_mem */
    targets->microbatches = hydra_max(1, hydra_ceil_div(hydra_ceil_div(tokens, pool), o->budget));
    targets->target = targets->heaviest;
    if (targets->total == 0)
        return;
    best = best_cap(batch, targets);
    if (o->cap == HYDRA_CAP_BALANCED) { /* C_bal: at least one microbatch's worth of the heaviest document */
        hydra_weight ranks = (targets->heaviest * (hydra_weight)pool + targets->total - 1) / targets->total;

        targets->cap = hydra_max(targets->cap, hydra_degree_ceil(pool, (int64_t)ranks));
    }
    targets->cap = hydra_max(targets->cap, degree_ceil_real(pool, best));
    targets->cap = hydra_min(targets->cap, o->max_degree);
    if (o->cap == HYDRA_CAP_BALANCED && targets->cap == o->min_degree)
        targets->target = loose_target(batch, targets, best);
    room = targets->target * (hydra_weight)pool;
    targets->microbatches =
        hydra_max(targets->microbatches, (int64_t)(((hydra_weight)targets->cap * targets->total + room - 1) / room));
}

hydra_weight hydra_targets_group_weight(const struct hydra_targets *targets, int64_t size)
{
    return targets->target * (hydra_weight)size / (hydra_weight)targets->cap;
}

int64_t hydra_targets_degree(const struct hydra_batch *batch, const struct hydra_targets *targets, int64_t s,
                             hydra_weight w)
{
    int64_t memory = hydra_degree_for_memory(batch, s);
    hydra_weight ranks =
        targets->heaviest == 0 ? 1 : (w * (hydra_weight)targets->cap + targets->heaviest - 1) / targets->heaviest;

    return hydra_min(targets->cap, hydra_max(memory, hydra_degree_ceil(batch->pool, (int64_t)ranks)));
}
