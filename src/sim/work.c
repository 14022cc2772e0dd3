/* work.c: schedule and stage costs become the costs of every group and block in one layer. Doubles end here. */
#include "sim/work.h"

#include <inttypes.h>
#include <math.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"

static int64_t ps_of(double seconds)
{
    return (int64_t)fmin(seconds * 1e12 + 0.5, (double)HYDRA_TIME_MAX);
}

/* Everything that prices a group. */
struct prices {
    const struct hydra_schedule *schedule;
    const struct hydra_stage *stage;
    struct hydra_cost forward, backward;
    double visits; /* layers of one stage: meetings in one operation x chunks */
};

double hydra_work_weight(const struct hydra_schedule *schedule)
{
    double sum = 0;

    for (int64_t i = 0; i < schedule->ndocs; i++)
        sum += (double)hydra_schedule_weight(schedule, i);
    return sum;
}

/* Attention side of one layer: what the documents of `group` cost each of its ranks. NULL: an idle slot. */
static struct hydra_work_group price_group(const struct prices *prices, const struct hydra_group *group, int64_t first,
                                           int64_t size)
{
    const struct hydra_schedule *schedule = prices->schedule;
    const struct hydra_stage *stage = prices->stage;
    const struct hydra_cost *costs[2] = {&prices->forward, &prices->backward};
    struct hydra_work_group made = {.first = first, .size = size};
    hydra_weight weight = 0;
    int64_t tokens = 0;

    for (int64_t d = group == NULL ? 0 : group->docs_begin; group != NULL && d < group->docs_end; d++) {
        weight += hydra_schedule_weight(schedule, schedule->docs[d]);
        tokens += schedule->lengths[schedule->docs[d]];
    }
    tokens = hydra_ceil_div(tokens, size);
    for (int way = 0; way < 2; way++) {
        struct hydra_cost_parts parts = hydra_cost_parts_of(costs[way], size, weight / (hydra_weight)size, tokens);
        double compute = (double)(parts.compute + parts.fixed);
        double comm = (double)(parts.alltoall + parts.ring) + 1e12 * stage->tensor_comm * (double)tokens;

        if (stage->block_slots <= 1)
            compute += 1e12 * stage->expert_token * (double)tokens * (way == 0 ? 1 : stage->backward_compute);
        made.compute[way] = (int64_t)(compute / prices->visits + 0.5);
        made.comm[way] = (int64_t)(comm / prices->visits + 0.5);
    }
    made.hop = ps_of(stage->hop_latency + stage->hop_token * (double)tokens);
    return made;
}

/* Groups of microbatch m and the idle slots between them; count only when groups is NULL. */
static int64_t cover_microbatch(const struct prices *prices, int64_t m, struct hydra_work_group *groups)
{
    const struct hydra_schedule *schedule = prices->schedule;
    int64_t made = 0, next = 0;

    for (int64_t g = schedule->group_begin[m]; g <= schedule->group_begin[m + 1]; g++) {
        bool last = g == schedule->group_begin[m + 1];
        int64_t first = last ? schedule->pool : schedule->groups[g].first;

        for (; next < first; next++, made++)
            if (groups != NULL)
                groups[made] = price_group(prices, NULL, next, 1);
        if (last)
            break;
        if (groups != NULL)
            groups[made] = price_group(prices, &schedule->groups[g], first, schedule->groups[g].size);
        next = first + schedule->groups[g].size;
        made++;
    }
    return made;
}

static int make_groups(const struct prices *prices, struct hydra_work *work)
{
    int64_t count = work->shape.microbatches;
    int status = HYDRA_SUCCESS;

    work->group_begin = hydra_calloc(count + 1, sizeof *work->group_begin);
    HYDRA_REQUIRE(work->group_begin != NULL, HYDRA_ERR_NOMEM, "work of %" PRId64 " microbatches", count);
    for (int64_t m = 0; m < count; m++)
        work->group_begin[m + 1] = work->group_begin[m] + cover_microbatch(prices, m, NULL);
    work->groups = hydra_calloc(work->group_begin[count], sizeof *work->groups);
    HYDRA_REQUIRE(work->groups != NULL, HYDRA_ERR_NOMEM, "work of %" PRId64 " groups", work->group_begin[count]);
    for (int64_t m = 0; m < count; m++)
        cover_microbatch(prices, m, work->groups + work->group_begin[m]);
fail:
    return status;
}

/* Tokens that each block of a microbatch holds. */
static void count_block_tokens(const struct hydra_schedule *schedule, int64_t m, int64_t block_slots, double *tokens)
{
    for (int64_t g = schedule->group_begin[m]; g < schedule->group_begin[m + 1]; g++) {
        const struct hydra_group *group = &schedule->groups[g];
        double per_slot = 0;

        for (int64_t d = group->docs_begin; d < group->docs_end; d++)
            per_slot += (double)schedule->lengths[schedule->docs[d]];
        per_slot /= (double)group->size;
        for (int64_t s = group->first; s < group->first + group->size; s++)
            tokens[s / block_slots] += per_slot;
    }
}

/* Experts see the block's tokens spread evenly over its slots: routing is assumed balanced. */
static int make_blocks(const struct prices *prices, struct hydra_work *work)
{
    const struct hydra_stage *stage = prices->stage;
    int64_t count = work->shape.microbatches;
    double *tokens = NULL;
    int status = HYDRA_SUCCESS;

    if (stage->block_slots <= 1)
        return HYDRA_SUCCESS;
    work->block_slots = stage->block_slots;
    work->nblocks = hydra_ceil_div(work->pool, stage->block_slots);
    work->blocks = hydra_calloc(count * work->nblocks, sizeof *work->blocks);
    tokens = hydra_calloc(work->nblocks, sizeof *tokens);
    HYDRA_REQUIRE(work->blocks != NULL && tokens != NULL, HYDRA_ERR_NOMEM, "work of %" PRId64 " expert blocks",
                  count * work->nblocks);
    for (int64_t m = 0; m < count; m++) {
        for (int64_t b = 0; b < work->nblocks; b++)
            tokens[b] = 0;
        count_block_tokens(prices->schedule, m, stage->block_slots, tokens);
        for (int64_t b = 0; b < work->nblocks; b++) {
            struct hydra_work_block *block = &work->blocks[m * work->nblocks + b];
            int64_t slots = hydra_min(stage->block_slots, work->pool - b * stage->block_slots);
            double each = tokens[b] / (double)slots / prices->visits;

            block->compute[0] = ps_of(each * stage->expert_token);
            block->compute[1] = ps_of(each * stage->expert_token * stage->backward_compute);
            block->comm[0] = block->comm[1] = ps_of(each * stage->expert_comm);
        }
    }
fail:
    hydra_free(tokens);
    return status;
}

int hydra_work_make(const struct hydra_schedule *schedule, const struct hydra_stage *stage, const struct hydra_cut *cut,
                    double planning_seconds, struct hydra_work *work)
{
    struct hydra_work made = {
        .pool = schedule->pool,
        .layers = stage->layers_per_chunk,
        .shape = {(int)cut->pipeline_stages, (int)cut->pipeline_chunks, schedule->microbatches},
        .planning = ps_of(planning_seconds),
        .reduce = ps_of(stage->reduce_seconds),
        .optimizer = ps_of(stage->optimizer_seconds),
    };
    struct prices prices = {
        .schedule = schedule,
        .stage = stage,
        .visits = (double)(stage->layers_per_chunk * cut->pipeline_chunks),
    };
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    int64_t pool = 0;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_cut_pool(cut, &pool));
    HYDRA_REQUIRE(pool == schedule->pool, HYDRA_ERR_ARG, "a schedule for %" PRId64 " slots on a pool of %" PRId64,
                  schedule->pool, pool);
    options.heads = stage->heads;
    options.kv_heads = stage->kv_heads;
    options.factor = stage->factor;
    hydra_cost_make(&stage->forward, &options, pool, &prices.forward);
    hydra_cost_make(&stage->backward, &options, pool, &prices.backward);
    HYDRA_TRY(make_groups(&prices, &made));
    HYDRA_TRY(make_blocks(&prices, &made));
    *work = made;
    return HYDRA_SUCCESS;

fail:
    hydra_work_clear(&made);
    return status;
}
