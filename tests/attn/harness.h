/* harness.h: runs one attention case over the ranks of MPI_COMM_WORLD and compares it with the oracle.
 *
 * Every rank loads some documents, dispatches their q, k, v and dout, attends microbatch by microbatch, collects the
 * results and compares its own documents with the oracle: nobody needs to know the shards. Unused parts of every buffer
 * hold NaN. The verdict is reduced; rank 0 reports.
 */
#ifndef HYDRA_TESTS_ATTN_HARNESS_H
#define HYDRA_TESTS_ATTN_HARNESS_H

#include <float.h>
#include <mpi.h>

#include "base/random.h"
#include "hydra.h"
#include "tests/attn/oracle.h"
#include "tests/tap.h"

enum { T_Q, T_K, T_V, T_DOUT, T_OUT, T_LSE, T_DQ, T_DK, T_DV, TENSORS };
static const char *const tensor_names[TENSORS] = {"q", "k", "v", "dout", "out", "lse", "dq", "dk", "dv"};

enum mode { PLAIN = 0, SAVED = 1, SPLIT = 2, STRIDED = 4, FORWARD_ONLY = 8, NO_LSE = 16, SLOW_RING = 32 };

struct attention_case {
    int64_t ndocs;
    const int64_t *lengths;
    int heads, kv_heads, dim, value_dim; /* 0: kv_heads = heads, value_dim = dim */
    Hydra_Dtype dtype;
    int mask;
    int64_t window, sink;
    int64_t degree; /* 0: the planner's choice */
    int factor;     /* U, or HYDRA_FACTOR_* */
    int plan_heads; /* 0: heads */
    int64_t budget; /* 0: ample */
    unsigned mode;
    uint64_t seed;
    int64_t changed_document; /* 1 + id of a document whose data differ */
};

static Hydra_Context harness_context, harness_slow; /* harness_slow: SLOW_RING's, made by the test that uses it */
static int harness_rank, harness_size;

static int64_t tokens_of(const struct attention_case *c)
{
    int64_t sum = 0;

    for (int64_t d = 0; d < c->ndocs; d++)
        sum += c->lengths[d];
    return sum;
}

/* Documents [begin, end) are loaded by this rank: uneven on purpose, ranks without any included. */
static void loaded_range(const struct attention_case *c, int rank, int64_t *begin, int64_t *end)
{
    *begin = c->ndocs * rank * rank / (harness_size * harness_size);
    *end = c->ndocs * (rank + 1) * (rank + 1) / (harness_size * harness_size);
}

static size_t element_bytes(const struct attention_case *c, int tensor)
{
    if (c->dtype == HYDRA_FLOAT64)
        return 8;
    return c->dtype == HYDRA_FLOAT32 || tensor == T_LSE ? 4 : 2;
}

static int heads_of(const struct attention_case *c, int tensor)
{
    return tensor == T_K || tensor == T_V || tensor == T_DK || tensor == T_DV ? c->kv_heads : c->heads;
}

static int dim_of(const struct attention_case *c, int tensor)
{
    if (tensor == T_LSE)
        return 1;
    return tensor == T_V || tensor == T_DV || tensor == T_OUT || tensor == T_DOUT ? c->value_dim : c->dim;
}

static int64_t row_of(const struct attention_case *c, int tensor)
{
    return (int64_t)heads_of(c, tensor) * dim_of(c, tensor);
}

/* fp16 by arithmetic on doubles, which owes nothing to the library's bits: x as a multiple of its binade's step. */
static uint16_t to_float16(double x)
{
    int exponent, step;
    uint32_t bits;

    if (isnan(x))
        return 0x7E00;
    frexp(x, &exponent);
    step = x != 0 && exponent - 11 > -24 ? exponent - 11 : -24;
    bits = isinf(x) || exponent > 16 ? 0x7C00 : (uint32_t)(step + 24) * 1024 + (uint32_t)rint(ldexp(fabs(x), -step));
    return (uint16_t)((signbit(x) ? 0x8000 : 0) |
                      bits); /* a multiple of 2048 carries into the exponent, up to infinity */
}

static double from_float16(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double x = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);

    if (exponent == 31)
        x = fraction == 0 ? INFINITY : NAN;
    return h & 0x8000 ? -x : x;
}

static uint16_t to_half(Hydra_Dtype dtype, double x)
{
    float f = (float)x;
    uint32_t bits;

    if (dtype == HYDRA_FLOAT16)
        return to_float16(f);
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static double from_half(Hydra_Dtype dtype, uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;

    if (dtype == HYDRA_FLOAT16)
        return from_float16(x);
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void put(const struct attention_case *c, int tensor, void *data, int64_t i, double x)
{
    size_t bytes = element_bytes(c, tensor);

    if (bytes == 8)
        ((double *)data)[i] = x;
    else if (bytes == 4)
        ((float *)data)[i] = (float)x;
    else
        ((uint16_t *)data)[i] = to_half(c->dtype, x);
}

static double get(const struct attention_case *c, int tensor, const void *data, int64_t i)
{
    size_t bytes = element_bytes(c, tensor);

    if (bytes == 8)
        return ((const double *)data)[i];
    return bytes == 4 ? ((const float *)data)[i] : from_half(c->dtype, ((const uint16_t *)data)[i]);
}

/* Uniform in [-1, 1), by document, so that any rank could make any document; queries larger, so
 * that softmax is sharp. */
static void make_document(const struct attention_case *c, int tensor, int64_t document, void *data, int64_t at)
{
    uint64_t change = c->changed_document == document + 1 ? 7777 : 0;
    struct hydra_random random =
        hydra_random_seed(c->seed * 1000003 + (uint64_t)document * 101 + (uint64_t)tensor + change);

    for (int64_t i = 0; i < c->lengths[document] * row_of(c, tensor); i++)
        put(c, tensor, data, at + i, (tensor == T_Q ? 3.0 : 1.0) * (2 * hydra_random_unit(&random) - 1));
}

static void *poisoned(const struct attention_case *c, int tensor, int64_t elements)
{
    void *data = malloc((size_t)elements * element_bytes(c, tensor) + 64);

    for (int64_t i = 0; i < elements + 64 / (int64_t)element_bytes(c, tensor); i++)
        put(c, tensor, data, i, NAN);
    return data;
}

/* Strides of a local buffer in elements: odd slack after every head and token when asked for. */
static void strides_of(const struct attention_case *c, int tensor, int64_t *token, int64_t *head)
{
    bool strided = (c->mode & STRIDED) != 0 && tensor != T_LSE;

    *head = dim_of(c, tensor) + (strided ? 3 : 0);
    *token = heads_of(c, tensor) * *head + (strided ? 5 : 0);
}

static void copy_rows(const struct attention_case *c, int tensor, void *packed, void *local, int64_t rows,
                      bool to_local)
{
    size_t bytes = element_bytes(c, tensor);
    int64_t token, head;
    int dim = dim_of(c, tensor);

    strides_of(c, tensor, &token, &head);
    for (int64_t r = 0; r < rows; r++)
        for (int h = 0; h < heads_of(c, tensor); h++) {
            char *a = (char *)packed + (size_t)((r * heads_of(c, tensor) + h) * dim) * bytes;
            char *b = (char *)local + (size_t)(r * token + h * head) * bytes;

            memcpy(to_local ? b : a, to_local ? a : b, (size_t)dim * bytes);
        }
}

static int make_attn(const struct attention_case *c, Hydra_Attn *attn)
{
    Hydra_Attn_config config = HYDRA_ATTN_CONFIG_INIT;

    config.heads = c->heads;
    config.kv_heads = c->kv_heads;
    config.head_dim = c->dim;
    config.value_dim = c->value_dim;
    config.dtype = c->dtype;
    config.mask = c->mask;
    config.window = c->window;
    config.sink = c->sink;
    if (c->mode & STRIDED) {
        strides_of(c, T_Q, &config.q_token_stride, &config.q_head_stride);
        strides_of(c, T_K, &config.k_token_stride, &config.k_head_stride);
        strides_of(c, T_V, &config.v_token_stride, &config.v_head_stride);
        strides_of(c, T_OUT, &config.out_token_stride, &config.out_head_stride);
    }
    return Hydra_Attn_create(harness_context, &config, attn);
}

static int make_plan(const struct attention_case *c, Hydra_Schedule *schedule)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    int64_t begin, end;

    loaded_range(c, harness_rank, &begin, &end);
    options.mask = c->mask;
    options.window = c->window;
    options.sink = c->sink;
    options.budget = c->budget > 0 ? c->budget : tokens_of(c) + 1;
    options.heads = c->plan_heads > 0 ? c->plan_heads : c->heads;
    options.kv_heads = c->kv_heads <= options.heads ? c->kv_heads : options.heads;
    options.factor = c->factor;
    if (c->degree > 0)
        options.min_degree = options.max_degree = c->degree;
    return Hydra_Plan(harness_context, end - begin, c->lengths + begin, &options, schedule);
}

/* Attend one microbatch on local buffers. */
static int attend(const struct attention_case *c, Hydra_Attn attn, Hydra_Schedule schedule, int64_t m,
                  void *local[TENSORS])
{
    void *lse = c->mode & NO_LSE ? NULL : local[T_LSE];
    Hydra_Saved saved = HYDRA_SAVED_NULL;
    Hydra_Op op = HYDRA_OP_NULL;
    int status = HYDRA_SUCCESS;

    if (c->mode & SAVED)
        status = Hydra_Saved_create(attn, &saved);
    if (status == HYDRA_SUCCESS && (c->mode & SPLIT)) {
        status = Hydra_Attn_start(attn, schedule, m, &op);
        /* another order on every rank: the engine's own order must hold */
        for (int i = 0; status == HYDRA_SUCCESS && i < 3; i++)
            status = Hydra_Attn_put(op, (i + harness_rank) % 3, local[(i + harness_rank) % 3]);
        if (status == HYDRA_SUCCESS)
            status = Hydra_Attn_wait(&op, local[T_OUT], lse, saved);
    } else if (status == HYDRA_SUCCESS) {
        status = Hydra_Attn_forward(attn, schedule, m, local[T_Q], local[T_K], local[T_V], local[T_OUT], lse, saved);
    }
    if (status == HYDRA_SUCCESS && !(c->mode & FORWARD_ONLY))
        status = Hydra_Attn_backward(attn, schedule, m, local[T_Q], local[T_K], local[T_V], local[T_OUT], lse, saved,
                                     local[T_DOUT], local[T_DQ], local[T_DK], local[T_DV]);
    Hydra_Saved_free(&saved);
    return status;
}

/* One microbatch: dispatch, attend, collect. */
static int run_microbatch(const struct attention_case *c, Hydra_Attn attn, Hydra_Schedule schedule, int64_t m,
                          void *loaded[TENSORS])
{
    void *local[TENSORS] = {0}, *packed[TENSORS] = {0};
    Hydra_Microbatch view;
    int status = Hydra_Schedule_microbatch(schedule, m, harness_rank, &view);

    for (int t = 0; status == HYDRA_SUCCESS && t < TENSORS; t++) {
        int64_t token, head;

        strides_of(c, t, &token, &head);
        packed[t] = poisoned(c, t, (view.tokens + 2) * row_of(c, t));
        local[t] = poisoned(c, t, (view.tokens + 2) * token);
        if (t <= T_DOUT) {
            status = Hydra_Dispatch(harness_context, schedule, m, (size_t)row_of(c, t) * element_bytes(c, t), loaded[t],
                                    packed[t]);
            copy_rows(c, t, packed[t], local[t], view.tokens, true);
        }
    }
    if (status == HYDRA_SUCCESS)
        status = attend(c, attn, schedule, m, local);
    for (int t = T_OUT; status == HYDRA_SUCCESS && t < TENSORS; t++) {
        if ((t > T_LSE && (c->mode & FORWARD_ONLY)) || (t == T_LSE && (c->mode & NO_LSE)))
            continue;
        copy_rows(c, t, packed[t], local[t], view.tokens, false);
        status = Hydra_Collect(harness_context, schedule, m, (size_t)row_of(c, t) * element_bytes(c, t), packed[t],
                               loaded[t]);
    }
    for (int t = 0; t < TENSORS; t++) {
        free(local[t]);
        free(packed[t]);
    }
    Hydra_Microbatch_free(&view);
    return status;
}

/* Run the whole case; loaded [out] [TENSORS] this rank's documents, to be freed. */
static int run_case(const struct attention_case *c, void *loaded[TENSORS])
{
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    Hydra_Attn attn = HYDRA_ATTN_NULL;
    Hydra_Context usual = harness_context;
    int64_t begin, end, rows = 0, count = 0;
    int status;

    if (c->mode & SLOW_RING)
        harness_context = harness_slow;
    status = make_plan(c, &schedule);
    loaded_range(c, harness_rank, &begin, &end);
    for (int64_t d = begin; d < end; d++)
        rows += c->lengths[d];
    for (int t = 0; t < TENSORS; t++) {
        int64_t at = 0;

        loaded[t] = poisoned(c, t, rows * row_of(c, t));
        for (int64_t d = begin; t <= T_DOUT && d < end; d++) {
            make_document(c, t, d, loaded[t], at);
            at += c->lengths[d] * row_of(c, t);
        }
    }
    if (status == HYDRA_SUCCESS)
        status = make_attn(c, &attn);
    if (status == HYDRA_SUCCESS)
        status = Hydra_Schedule_count(schedule, &count);
    for (int64_t m = 0; status == HYDRA_SUCCESS && m < count; m++)
        status = run_microbatch(c, attn, schedule, m, loaded);
    if (status != HYDRA_SUCCESS) {
        char detail[512];

        Hydra_Error_detail(detail, sizeof detail);
        printf("# rank %d: %s: %s\n", harness_rank, Hydra_Error_string(status), detail);
    }
    Hydra_Attn_free(&attn);
    Hydra_Schedule_free(&schedule);
    harness_context = usual;
    return status;
}

/* How far a tensor is from the truth, and a plain computation too. */
struct deviation {
    double ours, plain, greatest; /* greatest |truth| */
};

static double eps_of(Hydra_Dtype dtype)
{
    return dtype == HYDRA_FLOAT64   ? DBL_EPSILON
           : dtype == HYDRA_FLOAT32 ? FLT_EPSILON
           : dtype == HYDRA_FLOAT16 ? 0x1p-10
                                    : 0x1p-7;
}

/* The oracle on one document in one type; results as long double. */
#define RUN_ORACLE(real, function)                                                                                     \
    do {                                                                                                               \
        real *x[TENSORS];                                                                                              \
        for (int t = 0; t < TENSORS; t++) {                                                                            \
            x[t] = malloc((size_t)(s * row_of(c, t)) * sizeof(real) + 1);                                              \
            for (int64_t i = 0; t <= T_DOUT && i < s * row_of(c, t); i++)                                              \
                x[t][i] = (real)get(c, t, loaded[t], row * row_of(c, t) + i);                                          \
        }                                                                                                              \
        score = function(&shape, s, x[T_Q], x[T_K], x[T_V], x[T_DOUT], x[T_OUT], x[T_LSE], x[T_DQ], x[T_DK], x[T_DV]); \
        for (int t = 0; t < TENSORS; t++) {                                                                            \
            for (int64_t i = 0; t > T_DOUT && i < s * row_of(c, t); i++)                                               \
                result[t][i] = x[t][i];                                                                                \
            free(x[t]);                                                                                                \
        }                                                                                                              \
    } while (0)

static double run_oracle(const struct attention_case *c, void *loaded[TENSORS], int64_t s, int64_t row, bool truth,
                         long double *result[TENSORS])
{
    struct oracle_shape shape = {c->heads, c->kv_heads, c->dim,  c->value_dim,
                                 c->mask,  c->window,   c->sink, 1 / sqrt(c->dim)};
    double score = 0;

    if (truth && c->dtype == HYDRA_FLOAT64)
        RUN_ORACLE(long double, oracle_long);
    else if (truth || c->dtype == HYDRA_FLOAT64)
        RUN_ORACLE(double, oracle_double);
    else
        RUN_ORACLE(float, oracle_float);
    return score;
}

static double distance(long double a, long double b)
{
    if (a == b) /* also two infinities of one sign */
        return 0;
    return a - b != a - b ? INFINITY : fabs((double)(a - b));
}

/* Fold this rank's document d, whose first row is `row`, into the deviations. */
static void compare_document(const struct attention_case *c, void *loaded[TENSORS], int64_t s, int64_t row,
                             struct deviation deviations[TENSORS], double *score)
{
    long double *truth[TENSORS], *plain[TENSORS];
    double found;

    for (int t = 0; t < TENSORS; t++) {
        truth[t] = malloc((size_t)(s * row_of(c, t) + 1) * sizeof **truth);
        plain[t] = malloc((size_t)(s * row_of(c, t) + 1) * sizeof **plain);
    }
    found = run_oracle(c, loaded, s, row, true, truth);
    run_oracle(c, loaded, s, row, false, plain);
    *score = found > *score ? found : *score;
    for (int t = T_OUT; t < TENSORS; t++) {
        struct deviation *v = &deviations[t];

        for (int64_t i = 0; i < s * row_of(c, t); i++) {
            double ours = distance(get(c, t, loaded[t], row * row_of(c, t) + i), truth[t][i]), theirs, size;

            /* a plain computation in 16 bits rounds its results */
            if (element_bytes(c, t) == 2)
                plain[t][i] = from_half(c->dtype, to_half(c->dtype, (double)plain[t][i]));
            theirs = distance(plain[t][i], truth[t][i]);
            size = isinf((double)truth[t][i]) ? 0 : fabs((double)truth[t][i]);
            v->ours = ours > v->ours ? ours : v->ours;
            v->plain = theirs > v->plain ? theirs : v->plain;
            v->greatest = size > v->greatest ? size : v->greatest;
        }
    }
    for (int t = 0; t < TENSORS; t++) {
        free(truth[t]);
        free(plain[t]);
    }
}

/* The contract's bound: twice (gradients: three times) the plain error, and 8 eps max(1, max|S|) max|truth|. */
static bool within_bounds(const struct attention_case *c, const struct deviation deviations[TENSORS], double score)
{
    double gradient = fmax(deviations[T_DQ].greatest, fmax(deviations[T_DK].greatest, deviations[T_DV].greatest));
    bool good = true;

    for (int t = T_OUT; t < TENSORS; t++) {
        const struct deviation *v = &deviations[t];
        double greatest = t >= T_DQ ? gradient : v->greatest;
        double bound = (t >= T_DQ ? 3 : 2) * v->plain + 8 * eps_of(c->dtype) * fmax(1, score) * greatest;

        if ((t >= T_DQ && (c->mode & FORWARD_ONLY)) || (t == T_LSE && (c->mode & NO_LSE)))
            continue;
        if (harness_rank == 0)
            good &= TAP_CHECK(
                v->ours <= bound,
                "%s is off by %g, allowed %g (plain %g); seed %lu, %d/%d heads, dims %d/%d, dtype %d, mask %d, "
                "degree %ld, U %d, mode %u",
                tensor_names[t], v->ours, bound, v->plain, (unsigned long)c->seed, c->heads, c->kv_heads, c->dim,
                c->value_dim, (int)c->dtype, c->mask, (long)c->degree, c->factor, c->mode);
    }
    return good;
}

static void fill_defaults(struct attention_case *c)
{
    c->kv_heads = c->kv_heads > 0 ? c->kv_heads : c->heads;
    c->value_dim = c->value_dim > 0 ? c->value_dim : c->dim;
}

/* Run a case and compare every document with the oracle. The verdict is rank 0's. */
__attribute__((unused)) static bool attention_matches(struct attention_case given)
{
    struct attention_case *c = &given;
    struct deviation deviations[TENSORS] = {{0}};
    double score = 0;
    void *loaded[TENSORS];
    int64_t begin, end, row = 0;
    int status, worst;

    fill_defaults(c);
    status = run_case(c, loaded);
    loaded_range(c, harness_rank, &begin, &end);
    for (int64_t d = begin; status == HYDRA_SUCCESS && d < end; d++) {
        compare_document(c, loaded, c->lengths[d], row, deviations, &score);
        row += c->lengths[d];
    }
    for (int t = 0; t < TENSORS; t++)
        free(loaded[t]);
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, deviations, 3 * TENSORS, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &score, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return worst == HYDRA_SUCCESS && within_bounds(c, deviations, score);
}

/* Run two variants of a case and demand the same bits in every document but `except` (-1: none). */
__attribute__((unused)) static bool same_bits(struct attention_case a, struct attention_case b, int64_t except)
{
    void *first[TENSORS], *second[TENSORS];
    int64_t begin, end, row = 0;
    int differ = 0;

    fill_defaults(&a);
    fill_defaults(&b);
    differ |= run_case(&a, first) != HYDRA_SUCCESS;
    differ |= run_case(&b, second) != HYDRA_SUCCESS;
    loaded_range(&a, harness_rank, &begin, &end);
    for (int64_t d = begin; d < end; d++) {
        for (int t = T_OUT; t < TENSORS; t++) {
            size_t line = (size_t)row_of(&a, t) * element_bytes(&a, t);

            if (d != except && !((a.mode | b.mode) & FORWARD_ONLY && t > T_LSE))
                differ |= memcmp((char *)first[t] + (size_t)row * line, (char *)second[t] + (size_t)row * line,
                                 (size_t)a.lengths[d] * line) != 0;
        }
        row += a.lengths[d];
    }
    for (int t = 0; t < TENSORS; t++) {
        free(first[t]);
        free(second[t]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return differ == 0;
}

static void report(bool good, const char *sentence)
{
    if (harness_rank == 0)
        tap_result(good, sentence);
}

static void harness_start(int *argc, char ***argv)
{
    int provided;

    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &harness_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &harness_size);
    if (Hydra_Init(MPI_COMM_WORLD, NULL, &harness_context) != HYDRA_SUCCESS) {
        char detail[512];

        Hydra_Error_detail(detail, sizeof detail);
        printf("# rank %d: Hydra_Init: %s\n", harness_rank, detail);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int harness_end(void)
{
    bool good = Hydra_Finalize(&harness_context) == HYDRA_SUCCESS;
    int failed = 0;

    if (!good)
        printf("# rank %d: Hydra_Finalize failed\n", harness_rank);
    MPI_Finalize();
    if (harness_rank == 0)
        failed = tap_done();
    return failed || !good;
}

#endif
