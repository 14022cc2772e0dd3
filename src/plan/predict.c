/* predict.c: iteration time of a plan: its groups become columns, the pipeline's graph runs them. */
#include "plan/predict.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

int hydra_columns_make(int64_t pool, int64_t microbatches, int64_t groups, int stages, int chunks,
                       struct hydra_columns *columns)
{
    int status = HYDRA_SUCCESS;

    *columns = (struct hydra_columns){.pool = pool, .microbatches = hydra_max(1, microbatches)};
    if (chunks > 1)
        columns->microbatches = hydra_ceil_div(columns->microbatches, stages) * stages;
    columns->group_begin = hydra_calloc(columns->microbatches + 1, sizeof *columns->group_begin);
    columns->groups = hydra_calloc(groups, sizeof *columns->groups);
    columns->weight = hydra_calloc(groups, sizeof *columns->weight);
    columns->tokens = hydra_calloc(groups, sizeof *columns->tokens);
    HYDRA_REQUIRE(columns->group_begin != NULL && columns->groups != NULL && columns->weight != NULL &&
                      columns->tokens != NULL,
                  HYDRA_ERR_NOMEM, "prediction of %lld groups", (long long)groups);
    return HYDRA_SUCCESS;

fail:
    hydra_columns_clear(columns);
    return status;
}

void hydra_columns_clear(struct hydra_columns *columns)
{
    hydra_free(columns->group_begin);
    hydra_free(columns->groups);
    hydra_free(columns->weight);
    hydra_free(columns->tokens);
    *columns = (struct hydra_columns){0};
}

int hydra_columns_of_schedule(const struct hydra_schedule *schedule, int stages, int chunks,
                              struct hydra_columns *columns)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_columns_make(schedule->pool, schedule->microbatches, schedule->ngroups, stages, chunks, columns));
    for (int64_t m = 0; m <= columns->microbatches; m++)
        columns->group_begin[m] = schedule->group_begin[hydra_min(m, schedule->microbatches)];
    for (int64_t g = 0; g < schedule->ngroups; g++) {
        const struct hydra_group *group = &schedule->groups[g];

        columns->groups[g] = (struct hydra_pipeline_group){.first = group->first, .size = group->size};
        for (int64_t d = group->docs_begin; d < group->docs_end; d++) {
            columns->weight[g] += hydra_schedule_weight(schedule, schedule->docs[d]);
            columns->tokens[g] += schedule->lengths[schedule->docs[d]];
        }
    }
fail:
    return status;
}

int hydra_columns_of_draft(const struct hydra_batch *batch, const struct hydra_draft *draft,
                           struct hydra_columns *columns)
{
    int64_t *place = hydra_calloc(draft->ngroups, sizeof *place); /* of each draft group among the columns' */
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(place != NULL, HYDRA_ERR_NOMEM, "prediction of %lld groups", (long long)draft->ngroups);
    HYDRA_TRY(hydra_columns_make(batch->pool, draft->microbatches, draft->ngroups, batch->options->pipeline_stages,
                                 batch->options->pipeline_chunks, columns));
    for (int64_t i = 0; i < batch->ndocs; i++)
        place[draft->group_of[i]] = 1;
    /* Counting sort by microbatch of the groups that hold documents: the others do not get into the schedule. */
    for (int64_t g = 0; g < draft->ngroups; g++)
        columns->group_begin[draft->groups[g].microbatch + 1] += place[g];
    for (int64_t m = 0; m < columns->microbatches; m++)
        columns->group_begin[m + 1] += columns->group_begin[m];
    for (int64_t g = 0; g < draft->ngroups; g++) {
        if (place[g] == 0)
            continue;
        place[g] = columns->group_begin[draft->groups[g].microbatch]++;
        columns->groups[place[g]] =
            (struct hydra_pipeline_group){.first = draft->groups[g].first, .size = draft->groups[g].size};
    }
    for (int64_t m = columns->microbatches; m > 0; m--)
        columns->group_begin[m] = columns->group_begin[m - 1];
    columns->group_begin[0] = 0;
    for (int64_t i = 0; i < batch->ndocs; i++) {
        columns->weight[place[draft->group_of[i]]] += hydra_batch_weight(batch, i);
        columns->tokens[place[draft->group_of[i]]] += batch->lengths[i];
    }
fail:
    hydra_free(place);
    return status;
}

/* A group whose documents are all empty still runs its microbatch. */
static void time_group(const struct hydra_cost *cost, struct hydra_columns *columns, int64_t g)
{
    struct hydra_pipeline_group *group = &columns->groups[g];
    hydra_weight weight = columns->weight[g] / (hydra_weight)group->size;
    int64_t tokens = hydra_ceil_div(columns->tokens[g], group->size);

    group->forward = hydra_cost_forward(cost, group->size, weight, tokens);
    group->backward = hydra_cost_backward(cost, group->size, weight, tokens);
}

void hydra_columns_time(struct hydra_columns *columns, const struct hydra_cost *cost)
{
    for (int64_t g = 0; g < columns->group_begin[columns->microbatches]; g++)
        time_group(cost, columns, g);
}

/* Bits to take from every time so that no sum of the run overflows. */
static int spare_bits(const struct hydra_columns *columns, int stages, int chunks)
{
    __int128 sum = 0;
    int bits = 0;

    for (int64_t m = 0; m < columns->microbatches; m++) {
        int64_t most = 0;

        for (int64_t g = columns->group_begin[m]; g < columns->group_begin[m + 1]; g++)
            most = hydra_max(most, columns->groups[g].forward + columns->groups[g].backward);
        sum += most;
    }
    for (sum *= (__int128)stages * chunks; sum >> bits >= (int64_t)1 << 61; bits++)
        ;
    return bits;
}

int hydra_columns_run(const struct hydra_columns *columns, int stages, int chunks, int64_t *makespan)
{
    struct hydra_pipeline shape = {stages, chunks, columns->microbatches};
    int64_t groups = columns->group_begin[columns->microbatches], slots, ps;
    int bits = spare_bits(columns, stages, chunks);
    struct hydra_pipeline_graph graph = {0};
    int64_t *scratch = NULL;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_pipeline_graph_make(&shape, &graph));
    HYDRA_REQUIRE(!__builtin_mul_overflow(columns->pool, (int64_t)stages, &slots), HYDRA_ERR_OVERFLOW,
                  "%d stages of %lld slots", stages, (long long)columns->pool);
    scratch = hydra_alloc(slots + groups, sizeof *scratch);
    HYDRA_REQUIRE(scratch != NULL, HYDRA_ERR_NOMEM, "prediction of %lld slots", (long long)slots);
    for (int64_t g = 0; bits > 0 && g < groups; g++) {
        columns->groups[g].forward >>= bits;
        columns->groups[g].backward >>= bits;
    }
    ps = hydra_pipeline_graph_pool(&graph, columns->pool, columns->group_begin, columns->groups, scratch);
    *makespan = ps > (INT64_MAX / 2) >> bits ? INT64_MAX / 2 : ps << bits;
fail:
    hydra_free(scratch);
    hydra_pipeline_graph_clear(&graph);
    return status;
}

int hydra_predict_draft(const struct hydra_batch *batch, const struct hydra_draft *draft, const struct hydra_cost *cost,
                        int64_t *makespan)
{
    struct hydra_columns columns = {0};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_columns_of_draft(batch, draft, &columns));
    hydra_columns_time(&columns, cost);
    HYDRA_TRY(hydra_columns_run(&columns, batch->options->pipeline_stages, batch->options->pipeline_chunks, makespan));
fail:
    hydra_columns_clear(&columns);
    return status;
}

/* A static plan may force a factor that is not its size's: such groups pay for their own. */
static void time_by_factor(const struct hydra_schedule *schedule, struct hydra_columns *columns)
{
    Hydra_Plan_options options = schedule->options;
    struct hydra_cost cost;

    hydra_cost_make(&schedule->cost, &options, schedule->pool, &cost);
    for (int64_t g = 0; g < schedule->ngroups; g++) {
        hydra_cost_set_factor(&cost, &schedule->cost, &options, schedule->groups[g].size, schedule->groups[g].factor);
        time_group(&cost, columns, g);
    }
}

int hydra_predict_schedule(const struct hydra_schedule *schedule, double *seconds)
{
    const Hydra_Plan_options *options = &schedule->options;
    struct hydra_columns columns = {0};
    int64_t ps = 0;
    int status = HYDRA_SUCCESS;

    if (schedule->cost.theta > 0 || schedule->cost.phi > 0) {
        HYDRA_TRY(hydra_columns_of_schedule(schedule, options->pipeline_stages, options->pipeline_chunks, &columns));
        time_by_factor(schedule, &columns);
        HYDRA_TRY(hydra_columns_run(&columns, options->pipeline_stages, options->pipeline_chunks, &ps));
    }
    *seconds = (double)ps * 1e-12;
fail:
    hydra_columns_clear(&columns);
    return status;
}
