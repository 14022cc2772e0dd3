/* long_context.c: a batch of real document lengths through the whole road: plan, dispatch, attention forward and
 * backward, collect; planned by several policies, then checked against fp64. Uses the public interface alone.
 *
 * mpiexec -n 4 ./long_context [LENGTHS [DOCUMENTS [PREFIX]]]
 *   LENGTHS    file with one length a line
 *   DOCUMENTS  only the first so many
 *   PREFIX     save the plans as PREFIX<policy>.plan, for `hydra-dcp plan --load`
 *
 * A token is its document and position, and q, k and v are made from it on whichever rank holds it, as a model would
 * from embeddings: only tokens travel. Exits with 1 when a call fails or a result is out of bounds.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <hydra.h>

enum { HEADS = 8, KV_HEADS = 2, DIM = 64, MOST_DOCUMENTS = 100000, SAMPLES = 34 };
enum tensor { Q, K, V, DOUT, OUT, LSE, DQ, DK, DV, TENSORS };
static const char *const names[TENSORS] = {"q", "k", "v", "dout", "out", "lse", "dq", "dk", "dv"};
static const int64_t row_of[TENSORS] = {HEADS * DIM, KV_HEADS *DIM, KV_HEADS *DIM, HEADS *DIM,   HEADS *DIM,
                                        HEADS,       HEADS *DIM,    KV_HEADS *DIM, KV_HEADS *DIM};

struct token {
    int64_t document;
    int64_t position;
};

static int rank, size;
static int64_t ndocs, lengths[MOST_DOCUMENTS];

static void die(const char *what)
{
    char detail[512];

    Hydra_Error_detail(detail, sizeof detail);
    fprintf(stderr, "long_context: rank %d: %s%s%s\n", rank, what, detail[0] ? ": " : "", detail);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != HYDRA_SUCCESS)                                                                                   \
            die(#call);                                                                                                \
    } while (0)

static void *allocate(int64_t count, size_t bytes)
{
    void *block = calloc((size_t)(count > 0 ? count : 1), bytes);

    if (block == NULL)
        die("out of memory");
    return block;
}

static void progress(const char *format, ...)
{
    va_list arguments;

    if (rank != 0 || !isatty(2))
        return;
    va_start(arguments, format);
    fprintf(stderr, "\r\033[K");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
}

/* --- The batch ------------------------------------------------------------------------------------------------- */

static void read_lengths(const char *path, int64_t most)
{
    FILE *file = fopen(path, "r");
    char line[256];

    if (file == NULL) {
        fprintf(stderr, "long_context: cannot read '%s'\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    for (int number = 1; ndocs < most && fgets(line, sizeof line, file) != NULL; number++) {
        char *end;
        long long length = strtoll(line, &end, 10);

        if (line[0] == '#')
            continue;
        if (end == line || (*end != '\n' && *end != '\0') || length < 0) {
            fprintf(stderr, "long_context: %s:%d: not a length\n", path, number);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        lengths[ndocs++] = length;
    }
    fclose(file);
}

/* This rank loads documents [first_loaded(rank), first_loaded(rank + 1)). */
static int64_t first_loaded(int r)
{
    return ndocs * r / size;
}

static int64_t tokens_between(int64_t begin, int64_t end)
{
    int64_t sum = 0;

    for (int64_t d = begin; d < end; d++)
        sum += lengths[d];
    return sum;
}

/* Number in [-1, 1) of one element of one token. */
static float element(struct token token, enum tensor tensor, int64_t i)
{
    uint64_t x = (uint64_t)token.document * 0x9E3779B97F4A7C15u + (uint64_t)token.position * 0xD1342543DE82EF95u +
                 (uint64_t)(i * TENSORS + tensor) * 0xAF251AF3B0F025B5u;

    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
    return (float)(x >> 40) * 0x1p-23f - 1.0f;
}

static void make_rows(const struct token *tokens, int64_t count, enum tensor tensor, float *rows)
{
    for (int64_t t = 0; t < count; t++)
        for (int64_t i = 0; i < row_of[tensor]; i++)
            rows[t * row_of[tensor] + i] = element(tokens[t], tensor, i) * (tensor == Q ? 4 : 1);
}

/* --- One policy ------------------------------------------------------------------------------------------------ */

struct outcome {
    Hydra_Schedule_stats stats;
    double critical; /* s: sum over microbatches of the greatest CPU time of a rank */
    double wall;     /* s */
};

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Attend one microbatch; results [out] [TENSORS] this rank's loaded documents, filled when not NULL. */
static double run_microbatch(Hydra_Context context, Hydra_Attn attn, Hydra_Saved saved, Hydra_Schedule schedule,
                             int64_t m, const struct token *loaded, float *results[TENSORS], double *wall)
{
    Hydra_Microbatch view;
    struct token *tokens;
    float *rows[TENSORS];
    double cpu, began;

    CHECK(Hydra_Schedule_microbatch(schedule, m, rank, &view));
    tokens = allocate(view.tokens, sizeof *tokens);
    for (int t = 0; t < TENSORS; t++)
        rows[t] = allocate(view.tokens * row_of[t], sizeof(float));
    CHECK(Hydra_Dispatch(context, schedule, m, sizeof *tokens, loaded, tokens));
    for (enum tensor t = Q; t <= DOUT; t++)
        make_rows(tokens, view.tokens, t, rows[t]);
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    cpu = cpu_seconds();
    CHECK(Hydra_Attn_forward(attn, schedule, m, rows[Q], rows[K], rows[V], rows[OUT], rows[LSE], saved));
    CHECK(Hydra_Attn_backward(attn, schedule, m, rows[Q], rows[K], rows[V], rows[OUT], rows[LSE], saved, rows[DOUT],
                              rows[DQ], rows[DK], rows[DV]));
    cpu = cpu_seconds() - cpu;
    MPI_Barrier(MPI_COMM_WORLD);
    *wall += MPI_Wtime() - began;
    for (enum tensor t = OUT; results != NULL && t <= DV; t++)
        CHECK(Hydra_Collect(context, schedule, m, (size_t)row_of[t] * sizeof(float), rows[t], results[t]));
    for (int t = 0; t < TENSORS; t++)
        free(rows[t]);
    free(tokens);
    Hydra_Microbatch_free(&view);
    return cpu;
}

static Hydra_Schedule run_policy(Hydra_Context context, Hydra_Attn attn, int policy, int64_t budget,
                                 const struct token *loaded, float *results[TENSORS], struct outcome *outcome)
{
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule schedule;
    Hydra_Saved saved;
    int64_t count, begin = first_loaded(rank), end = first_loaded(rank + 1);

    options.policy = policy;
    options.budget = budget;
    options.heads = HEADS;
    options.kv_heads = KV_HEADS;
    CHECK(Hydra_Plan(context, end - begin, lengths + begin, &options, &schedule));
    CHECK(Hydra_Schedule_count(schedule, &count));
    CHECK(Hydra_Schedule_stats_get(schedule, &outcome->stats));
    CHECK(Hydra_Attn_reserve(attn, schedule));
    CHECK(Hydra_Saved_create(attn, &saved));
    for (int64_t m = 0; m < count; m++) {
        double mine, greatest;

        progress("%s: microbatch %" PRId64 " of %" PRId64, Hydra_Policy_name(policy), m + 1, count);
        mine = run_microbatch(context, attn, saved, schedule, m, loaded, results, &outcome->wall);
        MPI_Allreduce(&mine, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        outcome->critical += greatest;
    }
    CHECK(Hydra_Saved_free(&saved));
    return schedule;
}

/* Keep a plan for `hydra-dcp plan --load`. */
static void save_plan(Hydra_Schedule schedule, const char *prefix, int policy)
{
    char path[1024];

    if (snprintf(path, sizeof path, "%s%s.plan", prefix, Hydra_Policy_name(policy)) < (int)sizeof path)
        CHECK(Hydra_Schedule_save(schedule, path));
}

/* --- Against fp64 ---------------------------------------------------------------------------------------------- */

/* A document's results as far as they are checked: every lse, and some rows of the rest. */
struct sample {
    int64_t document, length;
    int kv_head; /* whose dk and dv are checked */
    int64_t rows[SAMPLES];
    float *lse;            /* [length][HEADS] */
    float *got[TENSORS];   /* [SAMPLES][row] */
    double *want[TENSORS]; /* [SAMPLES][row] */
    double lse_error, greatest_lse, greatest_score;
};

static double dot(const double *a, const double *b)
{
    double sum[8] = {0};

    for (int i = 0; i < DIM; i += 8)
        for (int lane = 0; lane < 8; lane++)
            sum[lane] += a[i + lane] * b[i + lane];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/* One head's vector of one token in double. */
static void make_vector(int64_t document, int64_t position, enum tensor tensor, int head, double *vector)
{
    for (int i = 0; i < DIM; i++)
        vector[i] = (double)element((struct token){document, position}, tensor, (int64_t)head * DIM + i) *
                    (tensor == Q ? 4 : 1);
}

/* Which sample a row is, or -1. Sampled rows ascend. */
static int sample_of(const struct sample *s, int64_t row)
{
    for (int i = 0; i < SAMPLES; i++)
        if (s->rows[i] == row)
            return i;
    return -1;
}

static void see(double *greatest, double x)
{
    if (fabs(x) > *greatest || x != x)
        *greatest = fabs(x);
}

/* One query of one head: its lse; what it adds to sampled dk and dv of kv_head; its own out and dq when sampled. */
static void check_query(struct sample *s, int64_t i, int head, const double *k, const double *v, double *p)
{
    double q[DIM], dout[DIM], out[DIM] = {0}, dq[DIM] = {0}, most = -INFINITY, sum = 0, delta, lse,
                              scale = 1 / sqrt(DIM);
    int kv = head * KV_HEADS / HEADS, mine = sample_of(s, i);

    make_vector(s->document, i, Q, head, q);
    make_vector(s->document, i, DOUT, head, dout);
    for (int64_t j = 0; j <= i; j++) {
        p[j] = scale * dot(q, k + j * DIM);
        most = fmax(most, p[j]);
        see(&s->greatest_score, p[j]);
    }
    for (int64_t j = 0; j <= i; j++)
        sum += p[j] = exp(p[j] - most);
    lse = most + log(sum);
    see(&s->greatest_lse, lse);
    see(&s->lse_error, s->lse[i * HEADS + head] - lse);
    for (int64_t j = 0; j <= i; j++) {
        p[j] /= sum;
        for (int d = 0; d < DIM; d++)
            out[d] += p[j] * v[j * DIM + d];
    }
    delta = dot(out, dout);
    for (int n = 0; kv == s->kv_head && n < SAMPLES; n++) {
        int64_t j = s->rows[n];
        double ds;

        if (j > i)
            continue;
        ds = scale * p[j] * (dot(dout, v + j * DIM) - delta);
        for (int d = 0; d < DIM; d++) {
            s->want[DK][n * row_of[DK] + kv * DIM + d] += ds * q[d];
            s->want[DV][n * row_of[DV] + kv * DIM + d] += p[j] * dout[d];
        }
    }
    for (int64_t j = 0; mine >= 0 && j <= i; j++) {
        double ds = scale * p[j] * (dot(dout, v + j * DIM) - delta);

        for (int d = 0; d < DIM; d++)
            dq[d] += ds * k[j * DIM + d];
    }
    for (int d = 0; mine >= 0 && d < DIM; d++) {
        s->want[OUT][mine * row_of[OUT] + head * DIM + d] = out[d];
        s->want[DQ][mine * row_of[DQ] + head * DIM + d] = dq[d];
    }
}

/* Give every rank the results that are checked; the rank that loaded the document has them. */
static void share_results(struct sample *s, float *results[TENSORS])
{
    int owner = 0;
    int64_t first;

    while (s->document >= first_loaded(owner + 1))
        owner++;
    first = tokens_between(first_loaded(owner), s->document);
    s->lse = allocate(s->length * HEADS, sizeof(float));
    if (rank == owner)
        memcpy(s->lse, results[LSE] + first * HEADS, (size_t)(s->length * HEADS) * sizeof(float));
    MPI_Bcast(s->lse, (int)(s->length * HEADS), MPI_FLOAT, owner, MPI_COMM_WORLD);
    for (enum tensor t = OUT; t <= DV; t++) {
        s->got[t] = allocate(SAMPLES * row_of[t], sizeof(float));
        s->want[t] = allocate(SAMPLES * row_of[t], sizeof(double));
        for (int n = 0; rank == owner && n < SAMPLES; n++)
            memcpy(s->got[t] + n * row_of[t], results[t] + (first + s->rows[n]) * row_of[t],
                   (size_t)row_of[t] * sizeof(float));
        MPI_Bcast(s->got[t], (int)(SAMPLES * row_of[t]), MPI_FLOAT, owner, MPI_COMM_WORLD);
    }
}

/* Greatest relative error of one tensor over the samples. */
static double relative_error(const struct sample *s, enum tensor t)
{
    int64_t begin = t == DK || t == DV ? s->kv_head * DIM : 0, end = t == DK || t == DV ? begin + DIM : row_of[t];
    double greatest = 0, error = 0;

    for (int n = 0; n < SAMPLES; n++)
        for (int64_t i = begin; i < end; i++) {
            see(&greatest, s->want[t][n * row_of[t] + i]);
            see(&error, s->got[t][n * row_of[t] + i] - s->want[t][n * row_of[t] + i]);
        }
    return greatest > 0 ? error / greatest : error;
}

/* Check one document over all ranks; returns the greatest relative error and prints a line. */
static bool verify(int64_t document, int64_t degree, float *results[TENSORS], double *worst)
{
    struct sample s = {.document = document, .length = lengths[document], .kv_head = (int)(document % KV_HEADS)};
    double *p = allocate(s.length, sizeof *p), error = 0, bound;
    double *k = allocate(s.length * DIM, sizeof *k), *v = allocate(s.length * DIM, sizeof *v);
    const char *where = "lse";

    for (int n = 0; n < SAMPLES; n++)
        s.rows[n] = (s.length - 1) * n / (SAMPLES - 1);
    share_results(&s, results);
    for (int head = 0; head < HEADS; head++) {
        int kv = head * KV_HEADS / HEADS;

        progress("fp64: document %" PRId64 ", head %d of %d", document, head + 1, HEADS);
        for (int64_t j = 0; head % (HEADS / KV_HEADS) == 0 && j < s.length; j++) {
            make_vector(document, j, K, kv, k + j * DIM);
            make_vector(document, j, V, kv, v + j * DIM);
        }
        for (int64_t i = rank; i < s.length; i += size)
            if (kv == s.kv_head || sample_of(&s, i) >= 0)
                check_query(&s, i, head, k, v, p);
    }
    for (enum tensor t = OUT; t <= DV; t++)
        MPI_Allreduce(MPI_IN_PLACE, s.want[t], (int)(SAMPLES * row_of[t]), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &s.lse_error, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    error = s.lse_error / fmax(1, s.greatest_lse);
    for (enum tensor t = OUT; t <= DV; t++)
        if (t != LSE && !(relative_error(&s, t) <= error)) {
            error = relative_error(&s, t);
            where = names[t];
        }
    bound = 24 * FLT_EPSILON * fmax(1, s.greatest_score);
    progress("%s", "");
    if (rank == 0)
        printf("  document %3" PRId64 "   %6" PRId64 " tokens   degree %" PRId64
               "   greatest relative error %.1e (%s), allowed %.1e\n",
               document, s.length, degree, error, where, bound);
    *worst = fmax(*worst, error);
    free(p), free(k), free(v), free(s.lse);
    for (enum tensor t = OUT; t <= DV; t++)
        free(s.got[t]), free(s.want[t]);
    return error <= bound;
}

/* Degree of every document under a schedule. */
static void find_degrees(Hydra_Schedule schedule, int64_t *degrees)
{
    int64_t count;

    CHECK(Hydra_Schedule_count(schedule, &count));
    for (int64_t m = 0; m < count; m++)
        for (int r = 0; r < size; r++) {
            Hydra_Microbatch view;

            CHECK(Hydra_Schedule_microbatch(schedule, m, r, &view));
            for (int64_t d = 0; d < view.ndocs; d++)
                degrees[view.doc_ids[d]] = view.degree;
            Hydra_Microbatch_free(&view);
        }
}

/* The longest document, and the longest of every other degree. */
static bool verify_some(Hydra_Schedule schedule, float *results[TENSORS])
{
    int64_t *degrees = allocate(ndocs, sizeof *degrees), longest = 0;
    double worst = 0;
    bool good = true;

    find_degrees(schedule, degrees);
    for (int64_t d = 1; d < ndocs; d++)
        longest = lengths[d] > lengths[longest] ? d : longest;
    if (ndocs > 0 && lengths[longest] > 0)
        good &= verify(longest, degrees[longest], results, &worst);
    for (int64_t degree = 1; degree <= size; degree++) {
        int64_t chosen = -1;

        for (int64_t d = 0; d < ndocs; d++)
            if (d != longest && degrees[d] == degree && lengths[d] > 0 && (chosen < 0 || lengths[d] > lengths[chosen]))
                chosen = d;
        if (chosen >= 0)
            good &= verify(chosen, degree, results, &worst);
    }
    free(degrees);
    if (rank == 0)
        printf("  %s: greatest relative error %.1e\n", good ? "all within bounds" : "OUT OF BOUNDS", worst);
    return good;
}

/* --- The demo -------------------------------------------------------------------------------------------------- */

/* "MPICH Version:\t4.0.2\n..." and "Open MPI v4.1.4, package: ..." as a few words. */
static void describe_library(char *text)
{
    char *label = strstr(text, "Version:");

    if (label != NULL)
        memmove(label, label + strlen("Version:"), strlen(label + strlen("Version:")) + 1);
    text[strcspn(text, "\n,")] = '\0';
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '\t' ? ' ' : *c;
    for (char *c = strstr(text, "  "); c != NULL; c = strstr(text, "  "))
        memmove(c, c + 1, strlen(c));
}

static void print_machine(int64_t budget)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", host[MPI_MAX_PROCESSOR_NAME] = "";
    int length, major, minor, patch;
    int64_t longest = 0;

    if (rank != 0)
        return;
    for (int64_t d = 0; d < ndocs; d++)
        longest = lengths[d] > longest ? lengths[d] : longest;
    MPI_Get_library_version(library, &length);
    describe_library(library);
    MPI_Get_processor_name(host, &length);
    Hydra_Get_version(&major, &minor, &patch);
    printf("hydra-dcp %d.%d.%d, %s, %d ranks on %ld cores of %s\n", major, minor, patch, library, size,
           sysconf(_SC_NPROCESSORS_ONLN), host);
    printf("%" PRId64 " documents, %" PRId64 " tokens, the longest %" PRId64 "; at most %" PRId64
           " tokens a rank and microbatch\n",
           ndocs, tokens_between(0, ndocs), longest, budget);
    printf("attention: %d query heads, %d KV heads, head dim %d, fp32, causal, forward and backward\n\n", HEADS,
           KV_HEADS, DIM);
    printf("%-14s %12s %9s %10s %14s %11s\n", "policy", "microbatches", "greatest", "load", "critical path",
           "tokens/s");
    printf("%-14s %12s %9s %10s %14s %11s\n", "", "", "degree", "max/mean", "against static", "");
    fflush(stdout);
}

static void print_policy(int policy, const struct outcome *outcome, const struct outcome *reference)
{
    progress("%s", "");
    if (rank == 0)
        printf("%-14s %12" PRId64 " %9" PRId64 " %10.2f %14.2f %11.0f\n", Hydra_Policy_name(policy),
               outcome->stats.microbatches, outcome->stats.greatest_degree, outcome->stats.critical_ratio,
               outcome->critical / reference->critical, (double)outcome->stats.tokens / outcome->wall);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int policies[] = {HYDRA_POLICY_STATIC, HYDRA_POLICY_MEMORY, HYDRA_POLICY_LOAD, HYDRA_POLICY_SHAPED};
    enum { POLICIES = sizeof policies / sizeof policies[0] };
    struct outcome outcomes[POLICIES];
    Hydra_Attn_config config = HYDRA_ATTN_CONFIG_INIT;
    Hydra_Context context;
    Hydra_Attn attn;
    Hydra_Schedule schedule = HYDRA_SCHEDULE_NULL;
    struct token *loaded;
    float *results[TENSORS] = {0};
    int64_t budget = 4096, mine, at = 0;
    bool good;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        read_lengths(argc > 1 ? argv[1] : "wikipedia_lengths.txt",
                     argc > 2 ? fmin(MOST_DOCUMENTS, fmax(0, atof(argv[2]))) : MOST_DOCUMENTS);
    MPI_Bcast(&ndocs, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(lengths, (int)ndocs, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int64_t d = 0; d < ndocs; d++)
        budget = lengths[d] > budget * size ? (lengths[d] + size - 1) / size : budget;
    print_machine(budget);

    CHECK(Hydra_Init(MPI_COMM_WORLD, NULL, &context));
    config.heads = HEADS;
    config.kv_heads = KV_HEADS;
    config.head_dim = DIM;
    CHECK(Hydra_Attn_create(context, &config, &attn));
    mine = tokens_between(first_loaded(rank), first_loaded(rank + 1));
    loaded = allocate(mine, sizeof *loaded);
    for (int64_t d = first_loaded(rank); d < first_loaded(rank + 1); d++)
        for (int64_t p = 0; p < lengths[d]; p++)
            loaded[at++] = (struct token){d, p};
    for (enum tensor t = OUT; t <= DV; t++)
        results[t] = allocate(mine * row_of[t], sizeof(float));

    memset(outcomes, 0, sizeof outcomes);
    for (int i = 0; i < POLICIES; i++) {
        bool last = i + 1 == POLICIES; /* the one that is verified */

        Hydra_Schedule_free(&schedule);
        schedule = run_policy(context, attn, policies[i], budget, loaded, last ? results : NULL, &outcomes[i]);
        if (argc > 3 && rank == 0)
            save_plan(schedule, argv[3], policies[i]);
        print_policy(policies[i], &outcomes[i], &outcomes[0]);
    }
    if (rank == 0)
        printf(
            "\nThe critical path sums, over the microbatches, the CPU time of the busiest rank: ranks that share cores "
            "lend idle\n"
            "ones theirs, so tokens/s understates what cores of their own would show.\n\nResults of %s against fp64:\n",
            Hydra_Policy_name(policies[POLICIES - 1]));
    good = verify_some(schedule, results);

    for (int t = 0; t < TENSORS; t++)
        free(results[t]);
    free(loaded);
    CHECK(Hydra_Schedule_free(&schedule));
    CHECK(Hydra_Attn_free(&attn));
    CHECK(Hydra_Finalize(&context));
    MPI_Finalize();
    return good ? 0 : 1;
}
