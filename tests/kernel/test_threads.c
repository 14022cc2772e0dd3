/* test_threads.c: the same bits for any number of threads, and from run to run. */
#include <inttypes.h>
#include <string.h>

#include "problem.h"
#include "tests/tap.h"

static bool same(const struct problem *p, const struct results *a, const struct results *b)
{
    size_t rh = (size_t)(p->rows * p->c.heads) * sizeof(double),
           rg = (size_t)(p->rows * p->c.kv_heads) * sizeof(double);
    size_t d = (size_t)p->c.head_dim, dv = (size_t)p->c.value_dim;

    return memcmp(a->out, b->out, rh * dv) == 0 && memcmp(a->lse, b->lse, rh) == 0 &&
           memcmp(a->dq, b->dq, rh * d) == 0 && memcmp(a->dk, b->dk, rg * d) == 0 && memcmp(a->dv, b->dv, rg * dv) == 0;
}

static bool any_threads(struct problem *p, const int64_t *lengths, const int *threads, int nthreads)
{
    const struct hydra_kernel_ops *ops;
    bool good = true;

    problem_make(p, lengths);
    for (int i = 0; (ops = problem_kernel(p->dtype, i)) != NULL && strcmp(ops->name, "ref") != 0; i++) {
        struct results one, many;

        p->threads = 1;
        problem_run(p, ops, &one);
        for (int t = 0; t < nthreads; t++) {
            p->threads = threads[t];
            problem_run(p, ops, &many);
            good &=
                TAP_CHECK(same(p, &one, &many), "%s: other bits than with 1 thread: %s", ops->name, problem_text(p));
            results_free(&many);
        }
        results_free(&one);
    }
    problem_free(p);
    return good;
}

static void uneven_documents(void)
{
    static const int64_t lengths[] = {700, 3, 0, 261};
    static const int threads[] = {2, 3, 4, 5, 6, 7, 8};
    bool good = true;

    for (int mask = HYDRA_KERNEL_CAUSAL; mask <= HYDRA_KERNEL_RANGES; mask++) {
        struct problem p = {.seed = 5,
                            .amplitude = 1,
                            .query_pieces = 2,
                            .steps = 1 + mask % 2,
                            .key_cuts = 2,
                            .dtype = mask == HYDRA_KERNEL_FULL ? HYDRA_DTYPE_BF16 : HYDRA_DTYPE_F32};

        p.c = (struct attention_case){.heads = 4,
                                      .kv_heads = 2,
                                      .head_dim = 24,
                                      .value_dim = 40,
                                      .mask = mask,
                                      .window = 100,
                                      .sink = 4,
                                      .ndocs = 4};
        good &= any_threads(&p, lengths, threads, 7);
    }
    tap_result(good, "1 to 8 threads give the same bits on uneven documents");
}

/* One head: all units of the backward add to the same dQ, and must do so in order, also where blocks are seen by no
 * unit in between (window and sink) or by units of two key runs. */
static void one_long_document(void)
{
    static const int64_t length = 2600;
    static const int threads[] = {2, 3, 8};
    bool good = true;

    for (int mask = HYDRA_KERNEL_CAUSAL; mask <= HYDRA_KERNEL_WINDOW; mask++)
        for (int cuts = 1; cuts <= 2; cuts++) {
            struct problem p = {.seed = 6, .amplitude = 1, .query_pieces = 1, .steps = 1, .key_cuts = cuts};

            p.c = (struct attention_case){.heads = 1,
                                          .kv_heads = 1,
                                          .head_dim = 16,
                                          .value_dim = 16,
                                          .mask = mask,
                                          .window = 700,
                                          .sink = 60,
                                          .ndocs = 1};
            good &= any_threads(&p, &length, threads, 3);
        }
    tap_result(good, "1 to 8 threads give the same bits on one head of one document");
}

int main(void)
{
    uneven_documents();
    one_long_document();
    return tap_done();
}
