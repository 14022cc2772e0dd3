/* test_iteration.c: the replay of an iteration against closed formulas, cases by hand and a slow reference that knows
 * only what waits for what. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "tests/sim/random_work.h"
#include "tests/tap.h"

static int64_t time_of(const struct hydra_work *work)
{
    struct hydra_iteration result = {.time = -1};

    if (hydra_iteration_run(work, &HYDRA_DISTURBANCE_NONE, NULL, &result) != HYDRA_SUCCESS)
        printf("# %s\n", hydra_error_detail());
    int64_t time = result.time;

    hydra_iteration_clear(&result);
    return time;
}

static void equal_microbatches_take_the_closed_formula(void)
{
    bool good = true;

    for (int pp = 1; pp <= 8; pp++)
        for (int v = 1; v <= 4; v++)
            for (int64_t count = pp; count <= 5 * pp; count += pp) {
                struct hydra_work work = work_blank(1, pp, v, count);
                struct hydra_iteration result = {.time = 0};
                double idle = 0, bubble;

                for (int64_t m = 0; m < count; m++)
                    work_add_group(&work, m, 0, 1, 1000003, 2000001);
                if (hydra_iteration_run(&work, &HYDRA_DISTURBANCE_NONE, NULL, &result) != HYDRA_SUCCESS)
                    good = TAP_CHECK(false, "%s", hydra_error_detail());
                for (int s = 0; s < pp && result.stages != NULL; s++)
                    idle += (double)result.stages[s].pipeline;
                bubble = idle / (double)result.time / pp;
                good &= TAP_CHECK(fabs(bubble - (pp - 1) / ((double)v * (double)count + pp - 1)) <= 1e-9,
                                  "pp %d v %d M %ld: bubble %.12g", pp, v, (long)count, bubble);
                hydra_iteration_clear(&result);
                hydra_work_clear(&work);
            }
    tap_result(good, "equal microbatches leave a bubble of (pp-1)/(vM+pp-1), to 1e-9");
}

/* Slots 0 and 1 share a long document first, then each has its own: 100 + 100 twice, then 30 + 60 and 50 + 100. */
static void two_slots_by_hand(void)
{
    struct hydra_work work = work_blank(2, 1, 1, 2);
    struct hydra_iteration result = {.time = 0};
    bool good = true;

    work_add_group(&work, 0, 0, 2, 100, 200);
    work_add_group(&work, 1, 0, 1, 30, 60);
    work_add_group(&work, 1, 1, 1, 50, 100);
    work.reduce = 7;
    work.optimizer = 11;
    work.planning = 13;
    good &= TAP_CHECK(hydra_iteration_run(&work, &HYDRA_DISTURBANCE_NONE, NULL, &result) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    good &= TAP_CHECK(result.time == 13 + 300 + 150 + 7 + 11, "time %ld", (long)result.time);
    good &= TAP_CHECK(result.stages[0].replicas == 60, "replica wait %ld", (long)result.stages[0].replicas);
    good &= TAP_CHECK(result.stages[0].compute == 600 + 90 + 150, "compute %ld", (long)result.stages[0].compute);
    good &= TAP_CHECK(result.stages[0].meeting == 0, "meeting %ld", (long)result.stages[0].meeting);
    good &= TAP_CHECK(result.stages[0].pipeline == 0, "pipeline %ld", (long)result.stages[0].pipeline);
    hydra_iteration_clear(&result);
    hydra_work_clear(&work);
    tap_result(good, "two slots, one long and two short documents: every part of the time is as counted by hand");
}

/* Two groups in one expert block, two layers: the block waits for the slower group in each layer. */
static void a_block_waits_for_its_slower_group_in_every_layer(void)
{
    struct hydra_work work = work_blank(2, 1, 1, 1);
    struct hydra_iteration result = {.time = 0};
    struct hydra_work_block block = {{10, 20}, {1, 1}};
    bool good = true;

    work_add_group(&work, 0, 0, 1, 100, 0);
    work_add_group(&work, 0, 1, 1, 40, 0);
    work.layers = 2;
    work.block_slots = 2;
    work.nblocks = 1;
    work.blocks = calloc(1, sizeof block);
    work.blocks[0] = block;
    good &= TAP_CHECK(hydra_iteration_run(&work, &HYDRA_DISTURBANCE_NONE, NULL, &result) == HYDRA_SUCCESS, "%s",
                      hydra_error_detail());
    good &= TAP_CHECK(result.time == 2 * 111 + 2 * 21, "time %ld", (long)result.time);
    good &= TAP_CHECK(result.stages[0].meeting == 2 * 60, "meeting %ld", (long)result.stages[0].meeting);
    hydra_iteration_clear(&result);
    hydra_work_clear(&work);
    tap_result(good, "an expert block waits for its slower group in every layer");
}

static void all_time_is_accounted_for(void)
{
    bool good = true;

    for (uint64_t seed = 0; seed < 300; seed++) {
        struct hydra_work work = work_random(seed);
        struct hydra_disturbance disturbance = {seed % 2 == 0 ? 0.0 : 0.1, seed, seed % 3 == 0 ? 0 : -1, 1.5};
        struct hydra_iteration result = {.time = 0};

        good &= TAP_CHECK(hydra_iteration_run(&work, &disturbance, NULL, &result) == HYDRA_SUCCESS, "seed %lu: %s",
                          (unsigned long)seed, hydra_error_detail());
        for (int s = 0; s < work.shape.stages && result.stages != NULL; s++) {
            const struct hydra_stage_time *t = &result.stages[s];
            hydra_slot_time sum =
                t->planning + t->compute + t->comm + t->meeting + t->pipeline + t->replicas + t->reduce + t->optimizer;

            good &= TAP_CHECK(sum == (hydra_slot_time)result.time * work.pool, "seed %lu stage %d: parts %ld of %ld",
                              (unsigned long)seed, s, (long)sum, (long)(result.time * work.pool));
            t = &result.first[s];
            sum =
                t->planning + t->compute + t->comm + t->meeting + t->pipeline + t->replicas + t->reduce + t->optimizer;
            good &= TAP_CHECK(sum == result.time, "seed %lu stage %d: slot 0 has %ld of %ld", (unsigned long)seed, s,
                              (long)sum, (long)result.time);
            good &= TAP_CHECK(t->meeting >= 0 && t->pipeline >= 0 && t->replicas >= 0, "seed %lu stage %d slot 0",
                              (unsigned long)seed, s);
            t = &result.stages[s];
            good &= TAP_CHECK(t->meeting >= 0 && t->pipeline >= 0 && t->replicas >= 0, "seed %lu stage %d",
                              (unsigned long)seed, s);
        }
        hydra_iteration_clear(&result);
        hydra_work_clear(&work);
    }
    tap_result(good, "on every stage the parts add up to time x slots, exactly, with noise and a slow slot too");
}

/* Raise one cost after another: the time must not fall. */
static void raising_a_cost_never_shortens_the_iteration(void)
{
    bool good = true;

    for (uint64_t seed = 0; seed < 60; seed++) {
        struct hydra_work work = work_random(seed);
        int64_t groups = work.group_begin[work.shape.microbatches], before = time_of(&work);

        for (int64_t i = 0; i < groups * 5; i++) {
            struct hydra_work_group *group = &work.groups[i / 5];
            int64_t *costs[] = {&group->compute[0], &group->compute[1], &group->comm[0], &group->comm[1], &group->hop};
            int64_t kept = *costs[i % 5], after;

            *costs[i % 5] += 137;
            after = time_of(&work);
            good &= TAP_CHECK(after >= before, "seed %lu group %ld cost %ld: %ld before, %ld after",
                              (unsigned long)seed, (long)(i / 5), (long)(i % 5), (long)before, (long)after);
            *costs[i % 5] = kept;
        }
        for (int64_t b = 0; b < work.shape.microbatches * work.nblocks; b++) {
            work.blocks[b].compute[b % 2] += 91;
            good &= TAP_CHECK(time_of(&work) >= before, "seed %lu block %ld", (unsigned long)seed, (long)b);
            work.blocks[b].compute[b % 2] -= 91;
        }
        hydra_work_clear(&work);
    }
    tap_result(good, "raising any single cost never shortens the iteration");
}

static void a_seed_gives_the_same_noise_every_time(void)
{
    struct hydra_work work = work_random(17);
    struct hydra_iteration first = {.time = 0}, again = {.time = 0}, other = {.time = 0}, slow = {.time = 0};
    struct hydra_disturbance noise = {0.1, 5, -1, 1.0}, noise6 = {0.1, 6, -1, 1.0}, dragged = {0.0, 0, 0, 3.0};
    bool good = true;

    good &= hydra_iteration_run(&work, &noise, NULL, &first) == HYDRA_SUCCESS;
    good &= hydra_iteration_run(&work, &noise, NULL, &again) == HYDRA_SUCCESS;
    good &= hydra_iteration_run(&work, &noise6, NULL, &other) == HYDRA_SUCCESS;
    good &= hydra_iteration_run(&work, &dragged, NULL, &slow) == HYDRA_SUCCESS;
    good &= TAP_CHECK(first.time == again.time && first.variation == again.variation, "%ld and %ld", (long)first.time,
                      (long)again.time);
    good &= TAP_CHECK(first.time != other.time, "seeds 5 and 6 both give %ld", (long)first.time);
    good &= TAP_CHECK(slow.time > time_of(&work), "a slot three times slower: %ld", (long)slow.time);
    hydra_iteration_clear(&first);
    hydra_iteration_clear(&again);
    hydra_iteration_clear(&other);
    hydra_iteration_clear(&slow);
    hydra_work_clear(&work);
    tap_result(good, "a seed gives the same noise every time, another seed other noise, and a slow slot costs time");
}

/* --- the slow reference --- */

struct operation {
    int64_t microbatch;
    int chunk, backward;
};

/* Operation k of a stage, as Megatron-Core's schedules list them: warm-up forwards, alternating pairs, the rest. */
static struct operation operation_of(const struct hydra_pipeline *shape, int stage, int64_t k)
{
    int64_t total = shape->microbatches * shape->chunks;
    int64_t warmup = shape->chunks == 1 ? shape->stages - stage - 1
                                        : 2 * (shape->stages - stage - 1) + (shape->chunks - 1) * shape->stages;
    int64_t place;
    bool backward;

    if (warmup > total)
        warmup = total;
    if (k < warmup) {
        backward = false;
        place = k;
    } else if (k < 2 * total - warmup) {
        backward = (k - warmup) % 2 == 1;
        place = backward ? (k - warmup) / 2 : warmup + (k - warmup) / 2;
    } else {
        backward = true;
        place = k - total;
    }
    int chunk = (int)(place / shape->stages % shape->chunks);
    int64_t round = place / (shape->stages * shape->chunks);

    if (shape->chunks == 1)
        return (struct operation){place, 0, backward};
    return (struct operation){round * shape->stages + place % shape->stages,
                              backward ? shape->chunks - 1 - chunk : chunk, backward};
}

/* end[stage][k][slot], computed by repeating "wait for what you need, then work" until nothing changes. */
static int64_t reference_time(const struct hydra_work *work)
{
    const struct hydra_pipeline *shape = &work->shape;
    int64_t ops = 2 * shape->microbatches * shape->chunks, pool = work->pool;
    int64_t *end = calloc((size_t)(shape->stages * ops * pool), sizeof *end);
    int64_t *clock = calloc((size_t)pool, sizeof *clock);
    int64_t latest = 0;
    bool changed = true;

    while (changed) {
        changed = false;
        for (int s = 0; s < shape->stages; s++)
            for (int64_t k = 0; k < ops; k++) {
                struct operation op = operation_of(shape, s, k);
                int from = s + (op.backward ? 1 : -1), chunk = op.chunk;
                int turn = op.backward; /* the last virtual stage turns the same microbatch around */

                if (from < 0) {
                    from = shape->stages - 1;
                    chunk--;
                } else if (from == shape->stages) {
                    from = 0;
                    chunk++;
                }
                if (chunk == shape->chunks) {
                    from = s;
                    chunk = op.chunk;
                    turn = 0;
                }
                for (int64_t i = 0; i < pool; i++)
                    clock[i] = k > 0 ? end[(s * ops + k - 1) * pool + i] : 0;
                for (int64_t j = 0; j < ops && chunk >= 0; j++) {
                    struct operation before = operation_of(shape, from, j);

                    if (before.microbatch != op.microbatch || before.chunk != chunk || before.backward != turn)
                        continue;
                    for (int64_t g = work->group_begin[op.microbatch]; g < work->group_begin[op.microbatch + 1]; g++)
                        for (int64_t i = work->groups[g].first; i < work->groups[g].first + work->groups[g].size; i++) {
                            int64_t ready = end[(from * ops + j) * pool + i] + (from == s ? 0 : work->groups[g].hop);

                            clock[i] = ready > clock[i] ? ready : clock[i];
                        }
                }
                for (int64_t half = 0; half < 2 * work->layers; half++) {
                    bool attention = (half % 2 == 0) != op.backward;
                    int64_t base = work->group_begin[op.microbatch];
                    int64_t pieces = attention ? work->group_begin[op.microbatch + 1] - base : work->nblocks;

                    for (int64_t p = 0; p < pieces; p++) {
                        int64_t first = attention ? work->groups[base + p].first : p * work->block_slots;
                        int64_t size = attention ? work->groups[base + p].size : work->block_slots;
                        const int64_t *compute = attention ? work->groups[base + p].compute
                                                           : work->blocks[op.microbatch * work->nblocks + p].compute;
                        const int64_t *comm = attention ? work->groups[base + p].comm
                                                        : work->blocks[op.microbatch * work->nblocks + p].comm;
                        int64_t slowest = 0;

                        for (int64_t i = first; i < first + size && i < pool; i++)
                            slowest = clock[i] > slowest ? clock[i] : slowest;
                        for (int64_t i = first; i < first + size && i < pool; i++)
                            clock[i] = slowest + compute[op.backward] + comm[op.backward];
                    }
                }
                for (int64_t i = 0; i < pool; i++) {
                    changed |= end[(s * ops + k) * pool + i] != clock[i];
                    end[(s * ops + k) * pool + i] = clock[i];
                    latest = clock[i] > latest ? clock[i] : latest;
                }
            }
    }
    free(end);
    free(clock);
    return work->planning + latest + work->reduce + work->optimizer;
}

static void the_replay_equals_a_slow_reference(void)
{
    bool good = true;

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct hydra_work work = work_random(seed);
        int64_t ours = time_of(&work), reference = reference_time(&work);

        good &= TAP_CHECK(
            ours == reference, "seed %lu: G %ld pp %d v %d M %ld layers %ld block %ld: %ld, reference %ld",
            (unsigned long)seed, (long)work.pool, work.shape.stages, work.shape.chunks, (long)work.shape.microbatches,
            (long)work.layers, (long)work.block_slots, (long)ours, (long)reference);
        hydra_work_clear(&work);
    }
    tap_result(good, "the replay of random work equals a reference that only knows what waits for what");
}

int main(void)
{
    equal_microbatches_take_the_closed_formula();
    two_slots_by_hand();
    a_block_waits_for_its_slower_group_in_every_layer();
    all_time_is_accounted_for();
    raising_a_cost_never_shortens_the_iteration();
    a_seed_gives_the_same_noise_every_time();
    the_replay_equals_a_slow_reference();
    return tap_done();
}
