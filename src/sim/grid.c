/* grid.c: load and tokens of every group, microbatch and slot of a schedule. */
#include "sim/grid.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

void hydra_grid_clear(struct hydra_grid *grid)
{
    hydra_free(grid->group_load);
    hydra_free(grid->group_tokens);
    hydra_free(grid->load_max);
    hydra_free(grid->load_mean);
    hydra_free(grid->tokens_max);
    hydra_free(grid->tokens_mean);
    hydra_free(grid->slot_load);
    hydra_free(grid->slot_tokens);
    memset(grid, 0, sizeof *grid);
}

static int allocate(const struct hydra_schedule *schedule, struct hydra_grid *grid)
{
    const int64_t m = schedule->microbatches;
    const int64_t slots = schedule->pool + 1; /* one more: the end of a run of slots */

    memset(grid, 0, sizeof *grid);
    grid->group_load = hydra_calloc(schedule->ngroups, sizeof *grid->group_load);
    grid->group_tokens = hydra_calloc(schedule->ngroups, sizeof *grid->group_tokens);
    grid->load_max = hydra_calloc(m, sizeof *grid->load_max);
    grid->load_mean = hydra_calloc(m, sizeof *grid->load_mean);
    grid->tokens_max = hydra_calloc(m, sizeof *grid->tokens_max);
    grid->tokens_mean = hydra_calloc(m, sizeof *grid->tokens_mean);
    grid->slot_load = hydra_calloc(slots, sizeof *grid->slot_load);
    grid->slot_tokens = hydra_calloc(slots, sizeof *grid->slot_tokens);
    if (grid->group_load == NULL || grid->group_tokens == NULL || grid->load_max == NULL || grid->load_mean == NULL ||
        grid->tokens_max == NULL || grid->tokens_mean == NULL || grid->slot_load == NULL || grid->slot_tokens == NULL)
        return hydra_error(HYDRA_ERR_NOMEM, "picture of a plan of %lld groups on %lld slots",
                           (long long)schedule->ngroups, (long long)schedule->pool);
    return HYDRA_SUCCESS;
}

/* Weight and tokens of every group; returns the weight of the batch. */
static double weigh_groups(const struct hydra_schedule *schedule, struct hydra_grid *grid)
{
    double all = 0.0;

    for (int64_t g = 0; g < schedule->ngroups; g++) {
        const struct hydra_group *group = &schedule->groups[g];

        for (int64_t i = group->docs_begin; i < group->docs_end; i++) {
            grid->group_load[g] += (double)hydra_schedule_weight(schedule, schedule->docs[i]);
            grid->group_tokens[g] += schedule->lengths[schedule->docs[i]];
        }
        all += grid->group_load[g];
        grid->group_load[g] /= (double)group->size;
    }
    return all;
}

/* Add one group to its microbatch and, as a step up and a step down, to its slots. */
static void add_group(const struct hydra_schedule *schedule, struct hydra_grid *grid, int64_t m, int64_t g)
{
    const struct hydra_group *group = &schedule->groups[g];
    const double load = grid->group_load[g], part = (double)group->size / (double)schedule->pool;
    const double tokens = (double)grid->group_tokens[g] / (double)group->size;
    const double fullest = (double)hydra_ceil_div(grid->group_tokens[g], group->size);

    grid->load_max[m] = load > grid->load_max[m] ? load : grid->load_max[m];
    grid->load_mean[m] += load * part;
    grid->tokens_max[m] = fullest > grid->tokens_max[m] ? fullest : grid->tokens_max[m];
    grid->tokens_mean[m] += tokens * part;
    grid->slot_load[group->first] += load;
    grid->slot_load[group->first + group->size] -= load;
    grid->slot_tokens[group->first] += tokens;
    grid->slot_tokens[group->first + group->size] -= tokens;
    grid->cell_max = load > grid->cell_max ? load : grid->cell_max;
    grid->idle -= part;
}

int hydra_grid_make(const struct hydra_schedule *schedule, struct hydra_grid *grid)
{
    double even;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(allocate(schedule, grid));
    even = weigh_groups(schedule, grid) / (double)schedule->pool;
    for (int64_t m = 0; m < schedule->microbatches; m++) {
        grid->idle += 1.0;
        for (int64_t g = schedule->group_begin[m]; g < schedule->group_begin[m + 1]; g++) {
            grid->group_load[g] = even > 0.0 ? grid->group_load[g] / even : 0.0;
            add_group(schedule, grid, m, g);
        }
        grid->critical += grid->load_max[m];
    }
    grid->idle /= (double)schedule->microbatches;
    for (int64_t slot = 1; slot < schedule->pool; slot++) {
        grid->slot_load[slot] += grid->slot_load[slot - 1];
        grid->slot_tokens[slot] += grid->slot_tokens[slot - 1];
    }
    return HYDRA_SUCCESS;

fail:
    hydra_grid_clear(grid);
    return status;
}
