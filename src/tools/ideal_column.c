/* ideal_column.c: the plan's average slot as a column problem, with free targets and room for its giants. */
#include "tools/ideal_column.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "plan/predict.h"
#include "plan/shape_targets.h"

enum { STARTS = 4, STEPS = 10000 };

/* Time of an average slot over all microbatches, forward and backward, without their fixed parts, ps; the forward share
 * of it in 2^20ths. */
static int64_t average_work(const struct hydra_columns *columns, const struct hydra_shape_problem *problem,
                            int64_t *forward_share)
{
    __int128 forward = 0, backward = 0;

    for (int64_t g = 0; g < columns->group_begin[columns->microbatches]; g++) {
        const struct hydra_pipeline_group *group = &columns->groups[g];

        forward += (__int128)hydra_max(0, group->forward - problem->fixed_forward) * group->size;
        backward += (__int128)hydra_max(0, group->backward - problem->fixed_backward) * group->size;
    }
    *forward_share = forward + backward == 0 ? 0 : (int64_t)((forward << 20) / (forward + backward));
    return (int64_t)((forward + backward) / columns->pool);
}

/* A document alone in its group that takes more than 0.4 of an average microbatch keeps its time: a giant. */
static void set_floors(const struct hydra_schedule *schedule, const struct hydra_columns *columns,
                       const struct hydra_shape_problem *problem)
{
    int64_t least = problem->total / columns->microbatches / 5 * 2;

    for (int64_t m = 0; m < columns->microbatches; m++) {
        problem->floors[m] = 0;
        for (int64_t g = columns->group_begin[m]; g < columns->group_begin[m + 1]; g++) {
            int64_t time = columns->groups[g].forward - problem->fixed_forward + columns->groups[g].backward -
                           problem->fixed_backward;

            if (schedule->groups[g].docs_end - schedule->groups[g].docs_begin == 1 && time > least)
                problem->floors[m] = hydra_max(problem->floors[m], time);
        }
    }
}

int tool_ideal_column(const struct hydra_schedule *schedule, const Hydra_Cost *model, double *seconds)
{
    const Hydra_Plan_options *options = &schedule->options;
    struct hydra_columns columns = {0};
    struct hydra_pipeline_graph graph = {0};
    struct hydra_shape_problem problem = {.graph = &graph, .steps = STEPS};
    struct hydra_cost cost;
    int64_t *numbers = NULL, count, best = INT64_MAX, makespan; /* floors, targets, scratch */
    int status = HYDRA_SUCCESS;

    hydra_cost_make(model, options, schedule->pool, &cost);
    HYDRA_TRY(hydra_columns_of_schedule(schedule, options->pipeline_stages, options->pipeline_chunks, &columns));
    hydra_columns_time(&columns, &cost);
    count = columns.microbatches;
    HYDRA_TRY(hydra_pipeline_graph_make(
        &(struct hydra_pipeline){options->pipeline_stages, options->pipeline_chunks, count}, &graph));
    numbers = hydra_alloc(7 * count + options->pipeline_stages, sizeof *numbers);
    HYDRA_REQUIRE(numbers != NULL, HYDRA_ERR_NOMEM, "ideal column of %lld microbatches", (long long)count);
    problem.fixed_forward = cost.fixed;
    problem.fixed_backward = hydra_rate_apply(cost.backward_compute, (hydra_weight)cost.fixed);
    problem.total = average_work(&columns, &problem, &problem.forward_share);
    problem.floors = numbers;
    for (; problem.seed < STARTS; problem.seed++) {
        set_floors(schedule, &columns, &problem);
        HYDRA_TRY(hydra_shape_targets(&problem, numbers + count, numbers + 2 * count, &makespan));
        best = hydra_min(best, makespan);
    }
    *seconds = (double)best * 1e-12;
fail:
    hydra_free(numbers);
    hydra_pipeline_graph_clear(&graph);
    hydra_columns_clear(&columns);
    return status;
}
