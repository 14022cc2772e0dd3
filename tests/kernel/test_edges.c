/* test_edges.c: what reaches what: NaN and infinity, gradients against finite differences, shapes that are refused. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "problem.h"
#include "tests/tap.h"

enum { Q, K, V, DOUT };
static const char *const tensor_names[] = {"q", "k", "v", "dout"};

enum { LENGTH = 150, HEADS = 2 }; /* of the document that gets a tainted number; both heads have their own KV head */

/* Which rows of the first document may not be finite, per head. */
struct reach {
    bool out[HEADS][LENGTH], lse[HEADS][LENGTH], dq[HEADS][LENGTH], dk[HEADS][LENGTH], dv[HEADS][LENGTH];
};

/* Follow the definition of attention from number `tensor`[at][head] on. */
static void follow(const struct problem *p, int tensor, int64_t at, int head, struct reach *r)
{
    memset(r, 0, sizeof *r);
    for (int64_t i = 0; i < LENGTH; i++) {
        bool query = tensor == Q || tensor == DOUT ? i == at : problem_sees(p, 0, i, at);

        if (!query)
            continue;
        r->out[head][i] = tensor != DOUT;
        r->lse[head][i] = tensor == Q || tensor == K;
        r->dq[head][i] = true;
        for (int64_t j = 0; j < LENGTH; j++) {
            r->dk[head][j] |= problem_sees(p, 0, i, j);
            r->dv[head][j] |= tensor != V && problem_sees(p, 0, i, j);
        }
    }
}

/* Rows that the number reaches may be anything but must change when it is NaN; all others are what they were. */
static bool reached(const struct problem *p, const char *what, const double *clean, const double *got, int dim,
                    bool may[HEADS][LENGTH], bool must)
{
    for (int64_t row = 0; row < p->rows; row++)
        for (int h = 0; h < HEADS; h++)
            for (int e = 0; e < dim; e++) {
                int64_t at = (row * HEADS + h) * dim + e;
                bool touched = row < LENGTH && may[h][row];

                if (!touched && !(fabs(got[at] - clean[at]) <= 1e-4 * fmax(1, fabs(clean[at]))) && got[at] != clean[at])
                    return TAP_CHECK(false, "%s row %" PRId64 " head %d became %g, was %g: %s", what, row, h, got[at],
                                     clean[at], problem_text(p));
                if (touched && must && isfinite(got[at]))
                    return TAP_CHECK(false, "%s row %" PRId64 " head %d is %g, not NaN: %s", what, row, h, got[at],
                                     problem_text(p));
            }
    return true;
}

static bool taint(struct problem *p, const struct hydra_kernel_ops *ops, const struct results *clean, int tensor,
                  double value)
{
    enum { AT = 70, HEAD = 1 };
    double *array = tensor == Q ? p->q : tensor == K ? p->k : tensor == V ? p->v : p->dout;
    int dim = tensor == Q || tensor == K ? p->c.head_dim : p->c.value_dim;
    int64_t at = ((int64_t)AT * HEADS + HEAD) * dim;
    double kept[256];
    struct reach r;
    struct results got;
    bool nan = isnan(value), good = true;

    for (int e = 0; e < dim; e++) { /* the whole row, so that every number that depends on it must show it */
        kept[e] = array[at + e];
        array[at + e] = value;
    }
    follow(p, tensor, AT, HEAD, &r);
    problem_run(p, ops, &got);
    good &= reached(p, "out", clean->out, got.out, p->c.value_dim, r.out, nan);
    good &= reached(p, "lse", clean->lse, got.lse, 1, r.lse, nan);
    good &= reached(p, "dq", clean->dq, got.dq, p->c.head_dim, r.dq, nan);
    good &= reached(p, "dk", clean->dk, got.dk, p->c.head_dim, r.dk, nan);
    good &= reached(p, "dv", clean->dv, got.dv, p->c.value_dim, r.dv, nan);
    good = TAP_CHECK(good, "%s with %g in %s", ops->name, value, tensor_names[tensor]);
    results_free(&got);
    memcpy(array + at, kept, (size_t)dim * sizeof *kept);
    return good;
}

static void taint_reaches_what_depends_on_it(void)
{
    static const int64_t lengths[] = {LENGTH, 40};
    const struct hydra_kernel_ops *ops;
    bool good = true;

    for (int mask = HYDRA_KERNEL_CAUSAL; mask <= HYDRA_KERNEL_RANGES; mask++) {
        struct problem p = {.seed = (uint64_t)mask,
                            .amplitude = 1,
                            .query_pieces = 1,
                            .steps = 1,
                            .key_cuts = 1,
                            .threads = 1,
                            .dtype = mask == HYDRA_KERNEL_WINDOW ? HYDRA_DTYPE_F64 : HYDRA_DTYPE_F32};

        p.c = (struct attention_case){.heads = HEADS,
                                      .kv_heads = HEADS,
                                      .head_dim = 20,
                                      .value_dim = 12,
                                      .mask = mask,
                                      .window = 30,
                                      .sink = 3,
                                      .ndocs = 2};
        problem_make(&p, lengths);
        for (int i = 0; (ops = problem_kernel(p.dtype, i)) != NULL; i++) {
            struct results clean;

            problem_run(&p, ops, &clean);
            for (int tensor = Q; tensor <= DOUT; tensor++)
                good &= taint(&p, ops, &clean, tensor, NAN) && taint(&p, ops, &clean, tensor, INFINITY);
            results_free(&clean);
        }
        problem_free(&p);
    }
    tap_result(good, "NaN and infinity reach the outputs that depend on them, and no other");
}

static double loss(const struct problem *p, const struct hydra_kernel_ops *ops)
{
    struct results r;
    double sum = 0;

    problem_run_forward(p, ops, &r);
    for (int64_t e = 0; e < p->rows * p->c.heads * p->c.value_dim; e++)
        sum += p->dout[e] * r.out[e];
    results_free(&r);
    return sum;
}

/* Every seventh number of a tensor against the central difference of the loss sum(dout * out). */
static bool slopes(const struct problem *p, const struct hydra_kernel_ops *ops, const char *what, double *x,
                   const double *gradient, int64_t count)
{
    const double h = 1e-5;
    bool good = true;

    for (int64_t e = 0; e < count; e += 7) {
        double kept = x[e], up, down;

        x[e] = kept + h;
        up = loss(p, ops);
        x[e] = kept - h;
        down = loss(p, ops);
        x[e] = kept;
        good &= TAP_CHECK(fabs((up - down) / (2 * h) - gradient[e]) <= 1e-7 * fmax(1, fabs(gradient[e])),
                          "%s: %s[%" PRId64 "] is %.12g, the loss rises by %.12g: %s", ops->name, what, e, gradient[e],
                          (up - down) / (2 * h), problem_text(p));
    }
    return good;
}

static void gradients_are_slopes(void)
{
    static const int64_t length = 30;
    const struct hydra_kernel_ops *ops;
    bool good = true;

    for (int mask = HYDRA_KERNEL_CAUSAL; mask <= HYDRA_KERNEL_RANGES; mask++) {
        struct problem p = {.seed = 3,
                            .amplitude = 1,
                            .query_pieces = 2,
                            .steps = 2,
                            .key_cuts = 1,
                            .threads = 1,
                            .dtype = HYDRA_DTYPE_F64};

        p.c = (struct attention_case){
            .heads = 2, .kv_heads = 1, .head_dim = 5, .value_dim = 4, .mask = mask, .window = 6, .sink = 2, .ndocs = 1};
        problem_make(&p, &length);
        for (int i = 0; (ops = problem_kernel(p.dtype, i)) != NULL; i++) {
            struct results r;

            problem_run(&p, ops, &r);
            good &= slopes(&p, ops, "dq", p.q, r.dq, length * 2 * 5) && slopes(&p, ops, "dk", p.k, r.dk, length * 5) &&
                    slopes(&p, ops, "dv", p.v, r.dv, length * 4);
            results_free(&r);
        }
        problem_free(&p);
    }
    tap_result(good, "gradients are the slopes of the loss in fp64");
}

static bool refused(struct hydra_kernel_shape shape, int status, const char *names)
{
    int got = hydra_kernel_check(hydra_kernel_best(), &shape);

    return TAP_CHECK(got == status && strstr(hydra_error_detail(), names) != NULL,
                     "status %d, not %d: '%s' does not name %s", got, status, hydra_error_detail(), names);
}

static void bad_shapes_are_refused(void)
{
    static const int kv[] = {0, 0, 1, 1}, falling[] = {0, 1, 0, 1}, beyond[] = {0, 0, 1, 2};
    struct hydra_kernel_shape good = {HYDRA_DTYPE_F32, 4, 2, kv, 64, 64, 0.125, HYDRA_KERNEL_WINDOW, 5, 0};
    struct hydra_kernel_shape shape = good;
    bool pass = TAP_CHECK(hydra_kernel_check(hydra_kernel_best(), &good) == HYDRA_SUCCESS, "%s", hydra_error_detail());

    shape.head_dim = 257;
    pass &= refused(shape, HYDRA_ERR_ARG, "head dim 257");
    shape = good, shape.value_dim = 0;
    pass &= refused(shape, HYDRA_ERR_ARG, "value dim 0");
    shape = good, shape.dtype = (enum hydra_dtype)9;
    pass &= refused(shape, HYDRA_ERR_ARG, "dtype 9");
    shape = good, shape.scale = NAN;
    pass &= refused(shape, HYDRA_ERR_ARG, "scale");
    shape = good, shape.window = 0;
    pass &= refused(shape, HYDRA_ERR_ARG, "window 0");
    shape = good, shape.kv_of_head = falling;
    pass &= refused(shape, HYDRA_ERR_ARG, "heads 1 and 2");
    shape = good, shape.kv_of_head = beyond;
    pass &= refused(shape, HYDRA_ERR_ARG, "KV head 2 of 2");
    tap_result(pass, "a shape that no kernel has is refused with its value");
}

static void table_is_usable(void)
{
    char why[128];
    bool good = TAP_CHECK(hydra_kernel_find("ref") != NULL && hydra_kernel_find("no such kernel") == NULL,
                          "a name is not found, or found too easily");

    good &= TAP_CHECK(hydra_kernel_best()->probe(why, sizeof why) > 0, "%s is best, but not here",
                      hydra_kernel_best()->name);
    for (int i = 0; hydra_kernel_at(i) != NULL; i++) {
        const struct hydra_kernel_ops *ops = hydra_kernel_at(i);
        int score = ops->probe(why, sizeof why);

        good &= TAP_CHECK(hydra_kernel_find(ops->name) == ops, "%s is not found by its name", ops->name);
        printf("# kernel %s: %s\n", ops->name, score > 0 ? "runs here" : why);
    }
    tap_result(good, "the table names every kernel, and the best one runs here");
}

int main(void)
{
    table_is_usable();
    taint_reaches_what_depends_on_it();
    gradients_are_slopes();
    bad_shapes_are_refused();
    return tap_done();
}
