/* shape_targets.c: the one-column search: starting shapes, then small transfers and swaps that never make it later. */
#include "plan/shape_targets.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/random.h"
#include "plan/column.h"

/* Forward and backward time of a microbatch with this target. */
static void split(const struct hydra_shape_problem *problem, int64_t target, int64_t times[2])
{
    int64_t forward = (int64_t)(((__int128)target * problem->forward_share) >> 20);

    times[0] = problem->fixed_forward + forward;
    times[1] = problem->fixed_backward + target - forward;
}

static int64_t makespan_of(const struct hydra_shape_problem *problem, const int64_t *targets, int64_t *scratch)
{
    int64_t count = problem->graph->shape.microbatches;
    int64_t *times = scratch; /* [2*M], the run's own scratch follows */

    for (int64_t m = 0; m < count; m++)
        split(problem, targets[m], times + 2 * m);
    return hydra_pipeline_graph_run(problem->graph, times, scratch + 2 * count);
}

/* Spread the total in proportion to weights[m], none below its floor. */
static void spread(const struct hydra_shape_problem *problem, const int64_t *weights, int64_t *targets)
{
    int64_t count = problem->graph->shape.microbatches, left = problem->total;

    for (int64_t m = 0; m < count; m++)
        targets[m] = -1;
    /* Whoever falls below its floor gets the floor, and the others share what is left: at most M rounds. */
    for (bool changed = true; changed;) {
        __int128 sum = 0;

        changed = false;
        for (int64_t m = 0; m < count; m++)
            sum += targets[m] < 0 ? weights[m] : 0;
        for (int64_t m = 0; m < count && !changed; m++) {
            if (targets[m] < 0 && problem->floors[m] > 0 &&
                (left <= 0 || (__int128)left * weights[m] < (__int128)problem->floors[m] * sum)) {
                targets[m] = problem->floors[m];
                left -= targets[m];
                changed = true;
            }
        }
        for (int64_t m = 0; m < count && !changed; m++)
            if (targets[m] < 0)
                targets[m] = left <= 0 || sum == 0 ? 0 : (int64_t)((__int128)left * weights[m] / sum);
    }
}

/* Weight of microbatch m on a trapezium that rises over `up` microbatches and falls over `down`. */
static int64_t trapezium(int64_t m, int64_t count, int64_t up, int64_t down)
{
    int64_t rise = m < up ? 1024 * (m + 1) / (up + 1) : 1024;
    int64_t fall = count - 1 - m < down ? 1024 * (count - m) / (down + 1) : 1024;

    return hydra_max(1, hydra_min(rise, fall));
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;

    *a = *b;
    *b = kept;
}

/* Greatest floors onto the middle of the column, where its slack is: m = M/2, M/2 - 1, M/2 + 1, ... */
static void centre_floors(int64_t *floors, int64_t count, int64_t *scratch)
{
    for (int64_t i = 1; i < count; i++)
        for (int64_t j = i; j > 0 && floors[j] > floors[j - 1]; j--)
            swap(&floors[j], &floors[j - 1]);
    for (int64_t i = 0; i < count; i++) {
        int64_t step = (i + 1) / 2;

        scratch[i % 2 == 1 ? count / 2 - step : count / 2 + step] = floors[i];
    }
    for (int64_t m = 0; m < count; m++)
        floors[m] = scratch[m];
}

/* Best trapezium; its targets and makespan. */
static int64_t start(const struct hydra_shape_problem *problem, int64_t *targets, int64_t *weights, int64_t *tried,
                     int64_t *scratch)
{
    int64_t count = problem->graph->shape.microbatches, stages = problem->graph->shape.stages;
    int64_t best = INT64_MAX;

    for (int64_t up = 0; up <= (stages == 1 ? 0 : 2 * stages); up = up == 0 ? hydra_max(1, stages / 2) : 2 * up) {
        for (int64_t down = 0; down <= (stages == 1 ? 0 : 2 * stages);
             down = down == 0 ? hydra_max(1, stages / 2) : 2 * down) {
            int64_t makespan;

            for (int64_t m = 0; m < count; m++)
                weights[m] = trapezium(m, count, up, down);
            spread(problem, weights, tried);
            makespan = makespan_of(problem, tried, scratch);
            if (makespan < best) {
                best = makespan;
                for (int64_t m = 0; m < count; m++)
                    targets[m] = tried[m];
            }
        }
    }
    return best;
}

/* Small transfers and swaps between two microbatches, kept when the column does not end later. */
static void search(const struct hydra_shape_problem *problem, struct hydra_column *column, int64_t *targets)
{
    int64_t count = problem->graph->shape.microbatches;
    struct hydra_random random = hydra_random_seed(problem->seed);

    for (int64_t m = 0; m < count; m++)
        split(problem, targets[m], column->times + 2 * m);
    hydra_column_begin(column);
    for (int64_t step = 0; step < problem->steps; step++) {
        int64_t i = hydra_random_below(&random, count), j = hydra_random_below(&random, count);
        int kind = (int)hydra_random_below(&random, 8);
        int64_t moved = (targets[i] - problem->floors[i]) >> kind;
        int64_t times_i[2], times_j[2];

        if (i == j || (kind > 0 && moved <= 0))
            continue;
        moved = kind == 0 ? targets[i] - targets[j] : moved;
        split(problem, targets[i] - moved, times_i);
        split(problem, targets[j] + moved, times_j);
        if (!hydra_column_change(column, i, times_i, j, times_j))
            continue;
        targets[i] -= moved;
        targets[j] += moved;
        if (kind == 0)
            swap(&problem->floors[i], &problem->floors[j]);
    }
}

int hydra_shape_targets(const struct hydra_shape_problem *problem, int64_t *targets, int64_t *scratch,
                        int64_t *makespan)
{
    int64_t count = problem->graph->shape.microbatches;
    struct hydra_column column = {0};
    int status = HYDRA_SUCCESS;

    centre_floors(problem->floors, count, scratch);
    *makespan = start(problem, targets, scratch, scratch + count, scratch + 2 * count);
    /* One stage takes the same time whatever the shape. */
    if (problem->graph->shape.stages > 1 && count > 1 && problem->steps > 0) {
        HYDRA_TRY(hydra_column_make(problem->graph, &column));
        search(problem, &column, targets);
        *makespan = column.makespan;
    }
fail:
    hydra_column_clear(&column);
    return status;
}
