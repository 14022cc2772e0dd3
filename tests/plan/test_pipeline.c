/* test_pipeline.c: the event graph against closed formulas, and against a simulator that knows nothing of its order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "hydra_plan.h"
#include "plan/column.h"
#include "plan/pipeline.h"
#include "tests/tap.h"

/* Equal microbatches: the idle share of a stage is (pp-1)/(v*M + pp-1). */
static void equal_microbatches_match_the_closed_formula(void)
{
    bool good = true;

    for (int stages = 1; stages <= 8; stages++)
        for (int chunks = 1; chunks <= 4; chunks++)
            for (int64_t microbatches = stages; microbatches <= 32; microbatches += chunks > 1 ? stages : 1) {
                struct hydra_pipeline shape = {stages, chunks, microbatches};
                int64_t forward[32], backward[32], makespan = 0;

                for (int m = 0; m < 32; m++) {
                    forward[m] = 1000000007LL * 12;
                    backward[m] = 2 * forward[m];
                }
                good &= hydra_pipeline_run(&shape, forward, backward, NULL, &makespan) == HYDRA_SUCCESS;

                double busy = 3.0 * (double)forward[0] * (double)microbatches;
                double idle = 1 - busy / (double)makespan;
                double formula = (stages - 1.0) / ((double)chunks * (double)microbatches + stages - 1.0);

                good &= TAP_CHECK(fabs(idle - formula) <= 1e-9, "pp %d v %d M %ld: idle %.12f, formula %.12f", stages,
                                  chunks, (long)microbatches, idle, formula);
            }
    tap_result(good, "equal microbatches leave idle (pp-1)/(vM+pp-1), plain and interleaved");
}

/* Start times by relaxation to a fixed point: each operation no earlier than the end of the one before it on its stage
 * and of its producer, found by searching the orders. Times in 1/v ps. */
static int64_t brute_force(const struct hydra_pipeline *shape, const int64_t *times)
{
    int64_t n = 2 * shape->microbatches * shape->chunks, most = 0;
    struct hydra_pipeline_op *ops = calloc((size_t)(n * shape->stages), sizeof *ops);
    int64_t *start = calloc((size_t)(n * shape->stages), sizeof *start);
    bool changed = true;

    for (int s = 0; s < shape->stages; s++)
        hydra_pipeline_order(shape, s, ops + s * n);
    while (changed) {
        changed = false;
        for (int s = 0; s < shape->stages; s++)
            for (int64_t i = 0; i < n; i++) {
                const struct hydra_pipeline_op *op = &ops[s * n + i];
                int64_t begin = i == 0 ? 0
                                       : start[s * n + i - 1] +
                                             times[2 * ops[s * n + i - 1].microbatch + ops[s * n + i - 1].backward];
                /* The producer's stage, chunk and direction. */
                int ps = op->backward ? s + 1 : s - 1, pc = op->chunk, pb = op->backward;

                if (ps < 0) {
                    ps = shape->stages - 1;
                    pc--;
                } else if (ps == shape->stages) {
                    ps = 0;
                    pc++;
                }
                if (op->backward && pc == shape->chunks) {
                    ps = s;
                    pc = op->chunk;
                    pb = 0;
                }
                for (int64_t j = 0; pc >= 0 && j < n; j++) {
                    const struct hydra_pipeline_op *other = &ops[ps * n + j];

                    if (other->microbatch == op->microbatch && other->chunk == pc && other->backward == pb) {
                        int64_t end = start[ps * n + j] + times[2 * op->microbatch + pb];

                        begin = begin > end ? begin : end;
                    }
                }
                if (begin > start[s * n + i]) {
                    start[s * n + i] = begin;
                    changed = true;
                }
                most = most > start[s * n + i] + times[2 * op->microbatch + op->backward]
                           ? most
                           : start[s * n + i] + times[2 * op->microbatch + op->backward];
            }
    }
    free(ops);
    free(start);
    return (most + shape->chunks - 1) / shape->chunks;
}

static void every_run_matches_brute_force(void)
{
    bool good = true;

    for (uint64_t seed = 0; seed < 300; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        struct hydra_pipeline shape = {1 + (int)hydra_random_below(&random, 4), 1 + (int)hydra_random_below(&random, 3),
                                       0};
        int64_t forward[12], backward[12], times[24], start[4 * 72], scratch[16], makespan = 0;
        struct hydra_pipeline_graph graph;

        shape.microbatches = shape.chunks == 1 ? 1 + hydra_random_below(&random, 7)
                                               : shape.stages * (1 + hydra_random_below(&random, 3));
        for (int64_t m = 0; m < shape.microbatches; m++) {
            times[2 * m] = forward[m] = hydra_random_below(&random, 1000);
            times[2 * m + 1] = backward[m] = hydra_random_below(&random, 1000);
        }
        int64_t expected = brute_force(&shape, times);

        good &= hydra_pipeline_run(&shape, forward, backward, start, &makespan) == HYDRA_SUCCESS;
        good &= TAP_CHECK(makespan == expected, "seed %lu pp %d v %d M %ld: %ld, brute force %ld", (unsigned long)seed,
                          shape.stages, shape.chunks, (long)shape.microbatches, (long)makespan, (long)expected);
        good &= hydra_pipeline_graph_make(&shape, &graph) == HYDRA_SUCCESS;
        good &= TAP_CHECK(hydra_pipeline_graph_run(&graph, times, scratch) == expected, "seed %lu: hot run differs",
                          (unsigned long)seed);
        hydra_pipeline_graph_clear(&graph);
    }
    tap_result(good, "random unequal microbatches end when a brute-force relaxation says so");
}

/* Change by change against a run of the changed column: taken unless it ends later, and put back when it does. */
static bool changes_agree(struct hydra_column *column, struct hydra_random *random, uint64_t seed, int64_t *refusals)
{
    int64_t count = column->graph->shape.microbatches, times[48], scratch[32];
    bool good = true;

    for (int64_t m = 0; m < 2 * count; m++)
        column->times[m] = hydra_random_below(random, 1000);
    hydra_column_begin(column);
    for (int step = 0; good && step < 200; step++) {
        int64_t i = hydra_random_below(random, count), j = hydra_random_below(random, count), before = column->makespan;
        const int64_t changed[4] = {hydra_random_below(random, 1000), hydra_random_below(random, 1000),
                                    column->times[2 * i], column->times[2 * i + 1]};

        memcpy(times, column->times, sizeof *times * (size_t)(2 * count));
        if (i != j) {
            memcpy(times + 2 * i, changed, 2 * sizeof *times);
            memcpy(times + 2 * j, changed + 2, 2 * sizeof *times);
        }
        int64_t expected = hydra_pipeline_graph_run(column->graph, times, scratch);
        bool taken = hydra_column_change(column, i, changed, j, changed + 2);

        good &= TAP_CHECK(taken == (expected <= before) && column->makespan == (taken ? expected : before),
                          "seed %lu step %d: %ld before, %ld changed, taken %d, now %ld", (unsigned long)seed, step,
                          (long)before, (long)expected, taken, (long)column->makespan);
        good &=
            TAP_CHECK(hydra_pipeline_graph_run(column->graph, column->times, scratch) == column->makespan &&
                          (!taken || memcmp(times, column->times, sizeof *times * (size_t)(2 * count)) == 0),
                      "seed %lu step %d: the column's times are not those of its makespan", (unsigned long)seed, step);
        *refusals += !taken;
    }
    return good;
}

static void a_column_refuses_what_ends_later(void)
{
    bool good = true;
    int64_t runs = 0, refusals = 0;

    for (uint64_t seed = 0; good && seed < 100; seed++) {
        struct hydra_random random = hydra_random_seed(seed);
        struct hydra_pipeline shape = {1 + (int)hydra_random_below(&random, 5), 1 + (int)hydra_random_below(&random, 3),
                                       0};
        struct hydra_pipeline_graph graph;
        struct hydra_column column;

        shape.microbatches = shape.stages * (1 + hydra_random_below(&random, 4));
        good &= hydra_pipeline_graph_make(&shape, &graph) == HYDRA_SUCCESS &&
                hydra_column_make(&graph, &column) == HYDRA_SUCCESS && changes_agree(&column, &random, seed, &refusals);
        runs += column.runs;
        hydra_column_clear(&column);
        hydra_pipeline_graph_clear(&graph);
    }
    good &= TAP_CHECK(runs < refusals / 2, "%ld runs for %ld refusals: the chains are of no use", (long)runs,
                      (long)refusals);
    tap_result(good, "a column takes a change unless it ends later, and refuses most of those without a run");
}

/* A stage runs each operation once, also when it has fewer microbatches than stages. */
static void every_operation_is_run_once(void)
{
    bool good = true;

    for (int stages = 1; stages <= 6; stages++)
        for (int chunks = 1; chunks <= 3; chunks++)
            for (int64_t m = chunks == 1 ? 1 : stages; m <= 12; m += chunks == 1 ? 1 : stages)
                for (int stage = 0; stage < stages; stage++) {
                    struct hydra_pipeline shape = {stages, chunks, m};
                    struct hydra_pipeline_op ops[2 * 12 * 3];
                    int seen[12][3][2] = {0};

                    good &= hydra_pipeline_order(&shape, stage, ops) == HYDRA_SUCCESS;
                    for (int64_t i = 0; i < 2 * m * chunks; i++)
                        seen[ops[i].microbatch][ops[i].chunk][ops[i].backward]++;
                    for (int64_t i = 0; i < m * chunks * 2; i++)
                        good &= TAP_CHECK(seen[i / 2 / chunks][i / 2 % chunks][i % 2] == 1, "pp %d v %d M %ld stage %d",
                                          stages, chunks, (long)m, stage);
                }
    tap_result(good, "every stage runs every forward and backward of every chunk once");
}

/* Slots of equal columns end when one column does; groups make slots wait for each other. */
static void a_pool_is_its_columns_tied_by_groups(void)
{
    struct hydra_pipeline shape = {2, 1, 3};
    struct hydra_pipeline_graph graph;
    int64_t begin[4] = {0, 2, 3, 5}, scratch[64], column[4];
    /* Slot 0 is slow in microbatch 0, slot 1 in microbatch 2; microbatch 1 ties both. */
    struct hydra_pipeline_group groups[] = {
        {0, 1, 70, 140}, {1, 1, 10, 20}, {0, 2, 30, 60}, {0, 1, 10, 20}, {1, 1, 70, 140}};
    int64_t slot0[6] = {70, 140, 30, 60, 10, 20}, slot1[6] = {10, 20, 30, 60, 70, 140},
            both[6] = {70, 140, 30, 60, 70, 140};
    bool good = hydra_pipeline_graph_make(&shape, &graph) == HYDRA_SUCCESS;
    int64_t tied = hydra_pipeline_graph_pool(&graph, 2, begin, groups, scratch);

    column[0] = hydra_pipeline_graph_run(&graph, slot0, scratch);
    column[1] = hydra_pipeline_graph_run(&graph, slot1, scratch);
    column[2] = hydra_pipeline_graph_run(&graph, both, scratch);
    good &=
        TAP_CHECK(tied >= column[0] && tied >= column[1] && tied <= column[2], "tied %ld, columns %ld %ld, worst %ld",
                  (long)tied, (long)column[0], (long)column[1], (long)column[2]);
    good &= TAP_CHECK(tied > column[0] || tied > column[1], "the tie costs nothing: %ld", (long)tied);
    hydra_pipeline_graph_clear(&graph);
    tap_result(good, "a pool ends no earlier than its slots alone and no later than its slowest microbatches");
}

static void a_delay_between_stages_is_paid_per_crossing(void)
{
    struct hydra_pipeline shape = {4, 1, 1};
    struct hydra_pipeline_graph graph;
    int64_t durations[8] = {1, 2, 1, 2, 1, 2, 1, 2}, scratch[8];
    bool good = hydra_pipeline_graph_make(&shape, &graph) == HYDRA_SUCCESS;

    good &= TAP_CHECK(hydra_pipeline_graph_replay(&graph, durations, 10, NULL, scratch) == 12 + 60, "got another time");
    hydra_pipeline_graph_clear(&graph);
    tap_result(good, "one microbatch through four stages and back crosses six times");
}

static void bad_shapes_are_named(void)
{
    int64_t time[8] = {0}, makespan;
    bool good =
        TAP_CHECK(hydra_pipeline_run(&(struct hydra_pipeline){4, 2, 6}, time, time, NULL, &makespan) == HYDRA_ERR_ARG,
                  "M = 6 with pp = 4 passes");

    good &=
        TAP_CHECK(hydra_pipeline_run(&(struct hydra_pipeline){0, 1, 1}, time, time, NULL, &makespan) == HYDRA_ERR_ARG,
                  "pp = 0 passes");
    good &= TAP_CHECK(hydra_pipeline_run(&(struct hydra_pipeline){1 << 30, 1 << 10, 1LL << 40}, time, time, NULL,
                                         &makespan) == HYDRA_ERR_OVERFLOW,
                      "a huge shape passes");
    tap_result(good, "an interleaved M that is no multiple of pp, no stages and too many operations are errors");
}

int main(void)
{
    equal_microbatches_match_the_closed_formula();
    every_run_matches_brute_force();
    a_column_refuses_what_ends_later();
    every_operation_is_run_once();
    a_pool_is_its_columns_tied_by_groups();
    a_delay_between_stages_is_paid_per_crossing();
    bad_shapes_are_named();
    return tap_done();
}
