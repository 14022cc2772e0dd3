/* iteration.c: replays one iteration. One sweep over the pipeline's operations, each with a clock per slot. */
#include "sim/iteration.h"

#include <inttypes.h>
#include <math.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

/* State of a replay. */
struct replay {
    const struct hydra_work *work;
    const struct hydra_disturbance *disturbance;
    struct hydra_trace *trace;
    int64_t *free_at;                /* [pp][G] end of a stage's previous operation */
    int64_t *carry;                  /* [M][G] end of a microbatch's previous operation */
    int64_t *forward;                /* [M][G] time of a microbatch's forward operations */
    int64_t *clock;                  /* [G] of the operation at hand */
    int64_t *started;                /* [G] */
    int64_t *group_cost;             /* [greatest number of groups] of the operation at hand, one layer */
    int64_t *block_cost;             /* [nblocks] */
    int64_t *reduced;                /* [pp] */
    struct hydra_stage_time *stages; /* [pp] all slots */
    struct hydra_stage_time *first;  /* [pp] slot 0 */
};

void hydra_work_clear(struct hydra_work *work)
{
    hydra_free(work->group_begin);
    hydra_free(work->groups);
    hydra_free(work->blocks);
    *work = (struct hydra_work){.pool = 0};
}

void hydra_iteration_clear(struct hydra_iteration *result)
{
    hydra_free(result->stages);
    hydra_free(result->first);
    *result = (struct hydra_iteration){.time = 0};
}

/* A factor of mean 1 and the asked deviation, from a sum of four uniform numbers: no libm, so the same everywhere. */
static double noise_factor(const struct hydra_disturbance *disturbance, uint64_t stage, uint64_t place, uint64_t item)
{
    struct hydra_random random;
    double sum = -2;

    random = hydra_random_seed(disturbance->seed ^ (stage << 52) ^ (place << 28) ^ item);
    hydra_random_next(&random);
    for (int i = 0; i < 4; i++)
        sum += hydra_random_unit(&random);
    return fmax(0.1, 1 + disturbance->noise * sum * 1.7320508075688772);
}

static bool holds_slow(const struct hydra_disturbance *disturbance, int64_t first, int64_t size)
{
    return disturbance->slow_slot >= first && disturbance->slow_slot < first + size;
}

/* Time of one group or block in one layer, and its share of the stage's compute and communication. */
static int64_t cost_of(const struct replay *r, const struct hydra_pipeline_step *step, uint64_t item, int64_t first,
                       int64_t size, int64_t compute, int64_t comm)
{
    const struct hydra_disturbance *disturbance = r->disturbance;
    struct hydra_stage_time *sum = &r->stages[step->stage];
    int64_t layers = r->work->layers;
    int64_t slowest = compute;

    if (disturbance->noise > 0)
        compute = slowest =
            (int64_t)((double)compute * noise_factor(disturbance, (uint64_t)step->stage, (uint64_t)step->place, item));
    sum->compute += (hydra_slot_time)(size * layers) * compute;
    if (disturbance->slow_factor > 1 && holds_slow(disturbance, first, size)) {
        slowest = (int64_t)((double)compute * disturbance->slow_factor);
        sum->compute += layers * (slowest - compute);
    }
    sum->comm += (hydra_slot_time)(size * layers) * comm;
    if (first == 0) {
        r->first[step->stage].compute += layers * (disturbance->slow_slot == 0 ? slowest : compute);
        r->first[step->stage].comm += layers * comm;
    }
    return slowest + comm;
}

static void price(const struct replay *r, const struct hydra_pipeline_step *step)
{
    const struct hydra_work *work = r->work;
    int64_t begin = work->group_begin[step->microbatch], end = work->group_begin[step->microbatch + 1];

    for (int64_t g = begin; g < end; g++) {
        const struct hydra_work_group *group = &work->groups[g];

        r->group_cost[g - begin] = cost_of(r, step, (uint64_t)(g - begin), group->first, group->size,
                                           group->compute[step->backward], group->comm[step->backward]);
    }
    for (int64_t b = 0; b < work->nblocks; b++) {
        const struct hydra_work_block *block = &work->blocks[step->microbatch * work->nblocks + b];
        int64_t first = b * work->block_slots;
        int64_t size = hydra_min(work->block_slots, work->pool - first);

        r->block_cost[b] = cost_of(r, step, (uint64_t)b | (uint64_t)1 << 27, first, size,
                                   block->compute[step->backward], block->comm[step->backward]);
    }
}

/* The slots [first, first + size) wait for each other, then work for `cost`. */
static inline void meet(int64_t *clock, int64_t first, int64_t size, int64_t cost)
{
    int64_t latest = clock[first];

    for (int64_t s = first + 1; s < first + size; s++)
        latest = hydra_max(latest, clock[s]);
    latest += cost;
    for (int64_t s = first; s < first + size; s++)
        clock[s] = latest;
}

static void meet_groups(const struct replay *r, int64_t microbatch, int64_t times)
{
    int64_t begin = r->work->group_begin[microbatch], end = r->work->group_begin[microbatch + 1];

    for (int64_t g = begin; g < end; g++)
        meet(r->clock, r->work->groups[g].first, r->work->groups[g].size, times * r->group_cost[g - begin]);
}

static void meet_blocks(const struct replay *r)
{
    for (int64_t b = 0; b < r->work->nblocks; b++) {
        int64_t first = b * r->work->block_slots;

        meet(r->clock, first, hydra_min(r->work->block_slots, r->work->pool - first), r->block_cost[b]);
    }
}

/* Attention then experts in every layer; backward the other way round. Groups alone, without blocks, only ever meet
 * themselves: their layers are one. */
static void run_layers(const struct replay *r, const struct hydra_pipeline_step *step)
{
    if (r->work->nblocks == 0) {
        meet_groups(r, step->microbatch, r->work->layers);
        return;
    }
    for (int64_t layer = 0; layer < r->work->layers; layer++) {
        if (step->backward)
            meet_blocks(r);
        meet_groups(r, step->microbatch, 1);
        if (!step->backward)
            meet_blocks(r);
    }
}

static void start_operation(const struct replay *r, const struct hydra_pipeline_step *step)
{
    const struct hydra_work *work = r->work;
    const int64_t *free_at = r->free_at + step->stage * work->pool;
    const int64_t *carry = r->carry + step->microbatch * work->pool;
    hydra_slot_time idle = 0;

    for (int64_t g = work->group_begin[step->microbatch]; g < work->group_begin[step->microbatch + 1]; g++) {
        const struct hydra_work_group *group = &work->groups[g];
        int64_t hop = step->crosses ? group->hop : 0;

        for (int64_t s = group->first; s < group->first + group->size; s++) {
            r->started[s] = hydra_max(free_at[s], carry[s] + hop);
            r->clock[s] = r->started[s];
            idle += r->started[s] - free_at[s];
        }
    }
    r->stages[step->stage].pipeline += idle;
    r->first[step->stage].pipeline += r->started[0] - free_at[0];
}

static void end_operation(const struct replay *r, const struct hydra_pipeline_step *step)
{
    const struct hydra_work *work = r->work;
    int64_t *free_at = r->free_at + step->stage * work->pool;
    int64_t *carry = r->carry + step->microbatch * work->pool;
    int64_t *forward = r->forward + step->microbatch * work->pool;
    hydra_slot_time inside = 0;

    for (int64_t s = 0; s < work->pool; s++) {
        int64_t took = r->clock[s] - r->started[s];

        free_at[s] = carry[s] = r->clock[s];
        inside += took;
        if (!step->backward)
            forward[s] += took;
    }
    r->stages[step->stage].meeting += inside; /* what of it was work is taken off at the end */
    r->first[step->stage].meeting += r->clock[0] - r->started[0];
    if (r->trace == NULL)
        return;
    for (int64_t i = 0; i < r->trace->nslots; i++) {
        int64_t at =
            (i * work->shape.stages + step->stage) * 2 * work->shape.microbatches * work->shape.chunks + step->place;

        r->trace->start[at] = work->planning + r->started[r->trace->slots[i]];
        r->trace->end[at] = work->planning + r->clock[r->trace->slots[i]];
    }
}

/* After the last operations: each stage reduces its gradients once its slowest slot is there, then all update.
 * reduced [out] [pp] from the first operation on. */
static int64_t reduce_gradients(const struct replay *r, int64_t *reduced)
{
    const struct hydra_work *work = r->work;
    int64_t updated = 0;

    for (int s = 0; s < work->shape.stages; s++) {
        const int64_t *free_at = r->free_at + s * work->pool;
        int64_t slowest = 0;

        for (int64_t slot = 0; slot < work->pool; slot++)
            slowest = hydra_max(slowest, free_at[slot]);
        for (int64_t slot = 0; slot < work->pool; slot++)
            r->stages[s].replicas += slowest - free_at[slot];
        r->first[s].replicas = slowest - free_at[0];
        reduced[s] = slowest + work->reduce;
        updated = hydra_max(updated, reduced[s]);
    }
    return updated;
}

/* Add what every slot of a stage pays alike, and take the work off the time inside operations. */
static void close_books(const struct hydra_work *work, hydra_slot_time slots, int64_t tail,
                        struct hydra_stage_time *stage)
{
    stage->planning = slots * work->planning;
    stage->reduce = slots * work->reduce;
    stage->pipeline += slots * tail;
    stage->optimizer = slots * work->optimizer;
    stage->meeting -= stage->compute + stage->comm;
}

static int64_t finish(const struct replay *r, int64_t *reduced)
{
    const struct hydra_work *work = r->work;
    int64_t updated = reduce_gradients(r, reduced);

    for (int s = 0; s < work->shape.stages; s++) {
        close_books(work, work->pool, updated - reduced[s], &r->stages[s]);
        close_books(work, 1, updated - reduced[s], &r->first[s]);
        if (r->trace == NULL)
            continue;
        r->trace->reduced[s] = work->planning + reduced[s];
        for (int64_t i = 0; i < r->trace->nslots; i++)
            r->trace->last[i * work->shape.stages + s] =
                work->planning + r->free_at[s * work->pool + r->trace->slots[i]];
    }
    return work->planning + updated + work->optimizer;
}

static double variation(const struct replay *r)
{
    int64_t count = r->work->pool * r->work->shape.microbatches;
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < count; i++)
        sum += (double)r->forward[i];
    for (int64_t i = 0; i < count; i++) {
        double off = (double)r->forward[i] - sum / (double)count;

        squares += off * off;
    }
    return sum > 0 ? sqrt(squares / (double)count) / (sum / (double)count) : 0;
}

static int allocate(struct replay *r)
{
    const struct hydra_work *work = r->work;
    int64_t greatest = 1;
    int status = HYDRA_SUCCESS;

    for (int64_t m = 0; m < work->shape.microbatches; m++)
        greatest = hydra_max(greatest, work->group_begin[m + 1] - work->group_begin[m]);
    r->free_at = hydra_calloc(work->shape.stages * work->pool, sizeof *r->free_at);
    r->carry = hydra_calloc(work->shape.microbatches * work->pool, sizeof *r->carry);
    r->forward = hydra_calloc(work->shape.microbatches * work->pool, sizeof *r->forward);
    r->clock = hydra_calloc(work->pool, sizeof *r->clock);
    r->started = hydra_calloc(work->pool, sizeof *r->started);
    r->group_cost = hydra_calloc(greatest, sizeof *r->group_cost);
    r->block_cost = hydra_calloc(work->nblocks, sizeof *r->block_cost);
    r->reduced = hydra_calloc(work->shape.stages, sizeof *r->reduced);
    r->stages = hydra_calloc(work->shape.stages, sizeof *r->stages);
    r->first = hydra_calloc(work->shape.stages, sizeof *r->first);
    HYDRA_REQUIRE(r->free_at && r->carry && r->forward && r->clock && r->started && r->group_cost && r->block_cost &&
                      r->reduced && r->stages && r->first,
                  HYDRA_ERR_NOMEM, "clocks of %" PRId64 " slots and %" PRId64 " microbatches", work->pool,
                  work->shape.microbatches);
fail:
    return status;
}

int hydra_iteration_run(const struct hydra_work *work, const struct hydra_disturbance *disturbance,
                        struct hydra_trace *trace, struct hydra_iteration *result)
{
    struct replay r = {.work = work, .disturbance = disturbance, .trace = trace};
    struct hydra_pipeline_graph graph = {.count = 0};
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_pipeline_graph_make(&work->shape, &graph));
    HYDRA_TRY(allocate(&r));
    for (int64_t i = 0; i < graph.count; i++) {
        const struct hydra_pipeline_step *step = &graph.steps[i];

        price(&r, step);
        start_operation(&r, step);
        run_layers(&r, step);
        end_operation(&r, step);
    }
    result->time = finish(&r, r.reduced);
    result->variation = variation(&r);
    result->stages = r.stages;
    result->first = r.first;
    r.stages = r.first = NULL;
fail:
    hydra_pipeline_graph_clear(&graph);
    hydra_free(r.free_at);
    hydra_free(r.carry);
    hydra_free(r.forward);
    hydra_free(r.clock);
    hydra_free(r.started);
    hydra_free(r.group_cost);
    hydra_free(r.block_cost);
    hydra_free(r.reduced);
    hydra_free(r.stages);
    hydra_free(r.first);
    return status;
}
