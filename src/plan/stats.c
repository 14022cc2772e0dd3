/* stats.c: the quality of a schedule, in figures. */
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/memory.h"
#include "plan/predict.h"
#include "plan/schedule.h"

/* What one slot did over the iteration. */
struct slot_sum {
    double load;
    double tokens;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Add one group; *heaviest [in,out] greatest load of its microbatch. */
static void add_group(const struct hydra_schedule *s, const struct hydra_group *group, struct slot_sum *slots,
                      double *heaviest, Hydra_Schedule_stats *stats)
{
    hydra_weight weight = 0;
    int64_t tokens = 0;
    double load;

    for (int64_t d = group->docs_begin; d < group->docs_end; d++) {
        weight += hydra_schedule_weight(s, s->docs[d]);
        tokens += s->lengths[s->docs[d]];
    }
    load = (double)weight / (double)group->size;
    for (int64_t slot = group->first; slot < group->first + group->size; slot++) {
        slots[slot].load += load;
        slots[slot].tokens += (double)tokens / (double)group->size;
    }
    *heaviest = larger(*heaviest, load);
    stats->tokens += tokens;
    stats->token_max = larger(stats->token_max, (double)hydra_ceil_div(tokens, group->size));
    stats->greatest_degree = hydra_max(stats->greatest_degree, group->size);
    stats->degree_share[hydra_log2_floor((uint64_t)group->size)] += (double)group->size;
}

/* Greatest of [pool] sums over their mean; 1 when there is nothing. */
static double imbalance(const struct slot_sum *slots, int64_t pool, int of_tokens)
{
    double sum = 0, most = 0;

    for (int64_t slot = 0; slot < pool; slot++) {
        double value = of_tokens ? slots[slot].tokens : slots[slot].load;

        sum += value;
        most = larger(most, value);
    }
    return sum > 0 ? most * (double)pool / sum : 1.0;
}

/* Sums become means and shares. */
static void finish(const struct hydra_schedule *s, const struct slot_sum *slots, Hydra_Schedule_stats *stats)
{
    double cells = (double)s->microbatches * (double)s->pool, busy = 0, total = 0;

    for (int64_t i = 0; i < s->ndocs; i++) {
        total += (double)hydra_schedule_weight(s, i);
        stats->padded_tokens += s->options.padding
                                    ? (double)hydra_padded_tokens(s->pool, s->options.tensor_parallel, s->lengths[i])
                                    : (double)s->lengths[i];
    }
    for (int level = 0; level < 64; level++) {
        busy += stats->degree_share[level];
        stats->degree_share[level] /= cells;
    }
    stats->idle_share = 1.0 - busy / cells;
    stats->load_mean = total / cells;
    stats->token_mean = (double)stats->tokens / cells;
    stats->critical_ratio = total > 0 ? stats->critical_load * (double)s->pool / total : 1.0;
    stats->load_imbalance = imbalance(slots, s->pool, 0);
    stats->token_imbalance = imbalance(slots, s->pool, 1);
}

int Hydra_Schedule_stats_get(Hydra_Schedule schedule, Hydra_Schedule_stats *stats)
{
    Hydra_Schedule_stats made = {0};
    struct slot_sum *slots = NULL;
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(schedule != NULL && stats != NULL, HYDRA_ERR_ARG,
                  "Hydra_Schedule_stats_get: schedule or stats is NULL");
    slots = hydra_calloc(schedule->pool, sizeof *slots);
    HYDRA_REQUIRE(slots != NULL, HYDRA_ERR_NOMEM, "sums of %" PRId64 " slots", schedule->pool);
    made.pool = schedule->pool;
    made.documents = schedule->ndocs;
    made.microbatches = schedule->microbatches;
    made.groups = schedule->ngroups;
    for (int64_t m = 0; m < schedule->microbatches; m++) {
        double heaviest = 0;

        for (int64_t g = schedule->group_begin[m]; g < schedule->group_begin[m + 1]; g++)
            add_group(schedule, &schedule->groups[g], slots, &heaviest, &made);
        made.critical_load += heaviest;
        made.load_max = larger(made.load_max, heaviest);
    }
    finish(schedule, slots, &made);
    HYDRA_TRY(hydra_predict_schedule(schedule, &made.predicted_seconds));
    *stats = made;

fail:
    hydra_free(slots);
    return status;
}
