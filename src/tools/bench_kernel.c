/* bench_kernel.c: hydra-dcp bench kernel: the speed of attention kernels as a ratio to what this core can do. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/line.h"
#include "base/memory.h"
#include "base/parse.h"
#include "tools/flash_blas.h"
#include "tools/kernel_speed.h"
#include "tools/options.h"
#include "tools/roofline.h"

int hydra_bench_kernel(int argc, char **argv);

static const char *const dtype_names[] = {"f32", "f64", "bf16", "f16"};
static const char *const mask_names[] = {"causal", "full", "window"};
static const char *const direction_names[] = {"forward", "backward"};

enum { CASES_MOST = 256 };

struct settings {
    const char *kernel, *dtype, *mask, *direction, *lengths, *roofline;
    int64_t tokens, head_dim, value_dim, heads, kv_heads, window, sink, threads, repetitions;
    bool baseline, table, json;
    int64_t *documents; /* lengths to measure: one document, or a batch from a file */
    int ndocs;
};

struct row {
    struct speed_case c;
    int64_t tokens;
    struct speed speed;
    double to_one_thread; /* threads > 1: to_canary over that of one thread, else NAN */
};

static const char usage[] =
    "usage: hydra-dcp bench kernel [options]\n\n"
    "Measure attention kernels. Every repetition runs, one after the other, a product that stays in L1 (the\n"
    "canary), bare multiply-adds (the peak), the kernel, the canary again and, with --baseline,\n"
    "FlashAttention-2 tiling over OpenBLAS; the medians of the ratios are printed. FLOPs count attended pairs.";

/* Index of `text` in names, or -1. */
static int find(const char *text, int count, const char *const *names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return -1;
}

/* `text` is one of names, or "all": the range of indices it stands for. */
static int choose(const char *option, const char *text, int count, const char *const *names, int *first, int *last)
{
    int found = find(text, count, names);

    if (found < 0 && strcmp(text, "all") != 0)
        return hydra_error(HYDRA_ERR_FORMAT, "--%s: '%s' is none of the names in --help", option, text);
    *first = found < 0 ? 0 : found;
    *last = found < 0 ? count : found + 1;
    return HYDRA_SUCCESS;
}

/* Documents from a file of one length a line, until `tokens` are reached; the last one is cut. */
static int read_documents(const char *path, int64_t tokens, struct settings *s)
{
    FILE *file = fopen(path, "r");
    char line[64], place[512];
    bool found = true;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(file != NULL, HYDRA_ERR_IO, "--lengths: %s cannot be opened", path);
    for (int64_t left = tokens, number = 1; left > 0; number++) {
        int64_t length;

        HYDRA_TRY(hydra_line_read(path, number, file, line, sizeof line, &found));
        if (!found)
            break;
        line[strcspn(line, "\r")] = '\0';
        snprintf(place, sizeof place, "%s:%" PRId64, path, number);
        HYDRA_TRY(hydra_parse_int(place, line, 0, INT32_MAX, &length));
        s->documents = hydra_resize(s->documents, s->ndocs + 1, sizeof *s->documents);
        HYDRA_REQUIRE(s->documents != NULL, HYDRA_ERR_NOMEM, "%s: %d documents", path, s->ndocs);
        s->documents[s->ndocs++] = length < left ? length : left;
        left -= length;
    }
    HYDRA_REQUIRE(s->ndocs > 0, HYDRA_ERR_FORMAT, "--lengths: %s is empty", path);
    fclose(file);
    return HYDRA_SUCCESS;

fail:
    if (file != NULL)
        fclose(file);
    return status;
}

static int measure(const struct settings *s, const struct speed_case *c, struct row *rows, int *nrows)
{
    struct row *row = &rows[*nrows];
    int status = HYDRA_SUCCESS;

    *row = (struct row){.c = *c, .to_one_thread = NAN};
    for (int i = 0; i < c->ndocs; i++)
        row->tokens += c->lengths[i];
    row->c.baseline = s->baseline && c->dtype == HYDRA_DTYPE_F32 && c->ndocs == 1 && c->heads == c->kv_heads &&
                      c->mask != HYDRA_KERNEL_WINDOW && c->threads == 1;
    HYDRA_TRY(tool_kernel_speed(&row->c, &row->speed));
    if (c->threads > 1) {
        struct speed_case alone = row->c;
        struct speed speed;

        alone.threads = 1;
        HYDRA_TRY(tool_kernel_speed(&alone, &speed));
        row->to_one_thread = row->speed.to_canary / speed.to_canary;
    }
    if (!s->json) {
        printf("%-8s %-5s %4d/%-4d %6d/%-3d %8" PRId64 " %-7s %-8s %7d %9.1f %7.3f %7.3f", c->kernel->name,
               dtype_names[c->dtype], c->head_dim, c->value_dim, c->heads, c->kv_heads, row->tokens,
               mask_names[c->mask], direction_names[c->direction], c->threads, row->speed.gflops, row->speed.to_canary,
               row->speed.canary_to_peak);
        if (row->c.baseline)
            printf(" %8.2f", row->speed.to_baseline);
        else
            printf(" %8s", "-");
        if (c->threads > 1)
            printf(" %8.3f", row->to_one_thread);
        else
            printf(" %8s", "-");
        printf(" %9.1f\n", row->speed.bytes / 1e6);
        fflush(stdout);
    }
    ++*nrows;
    return HYDRA_SUCCESS;

fail:
    return status;
}

/* Head dims and lengths of --table; each is measured full and causal, forward and backward. */
static const struct {
    int dim;
    int64_t tokens;
} table[] = {{128, 1024}, {128, 4096}, {128, 16384}, {64, 4096}};

static int measure_kernel(const struct settings *s, const struct hydra_kernel_ops *kernel, struct row *rows, int *nrows)
{
    int first[3], last[3], status = HYDRA_SUCCESS;
    int points = s->table ? (int)(sizeof table / sizeof table[0]) : 1;

    HYDRA_TRY(choose("dtype", s->dtype, 4, dtype_names, &first[0], &last[0]));
    HYDRA_TRY(choose("mask", s->mask, 3, mask_names, &first[1], &last[1]));
    HYDRA_TRY(choose("direction", s->direction, 2, direction_names, &first[2], &last[2]));
    if (s->table) {
        first[1] = HYDRA_KERNEL_CAUSAL;
        last[1] = HYDRA_KERNEL_FULL + 1;
    }
    for (int dtype = first[0]; dtype < last[0]; dtype++)
        for (int point = 0; point < points; point++)
            for (int direction = first[2]; direction < last[2]; direction++)
                for (int mask = first[1]; mask < last[1]; mask++) {
                    struct speed_case c = {.kernel = kernel,
                                           .dtype = dtype,
                                           .heads = (int)s->heads,
                                           .kv_heads = (int)s->kv_heads,
                                           .head_dim = s->table ? table[point].dim : (int)s->head_dim,
                                           .value_dim = s->table ? table[point].dim : (int)s->value_dim,
                                           .mask = mask,
                                           .window = s->window,
                                           .sink = s->sink,
                                           .ndocs = s->table ? 1 : s->ndocs,
                                           .lengths = s->table ? &table[point].tokens : s->documents,
                                           .direction = direction,
                                           .threads = (int)s->threads,
                                           .repetitions = (int)s->repetitions};

                    HYDRA_REQUIRE(*nrows < CASES_MOST, HYDRA_ERR_ARG, "bench kernel: more than %d cases", CASES_MOST);
                    HYDRA_TRY(measure(s, &c, rows, nrows));
                }
    return HYDRA_SUCCESS;

fail:
    return status;
}

static void print_number(const char *name, double x)
{
    if (isnan(x))
        printf(", \"%s\": null", name);
    else
        printf(", \"%s\": %.6g", name, x);
}

static void print_json(const struct row *rows, int nrows)
{
    printf("{\"openblas_core\": \"%s\", \"rows\": [", flash_blas_core());
    for (int i = 0; i < nrows; i++) {
        const struct speed_case *c = &rows[i].c;

        printf("%s\n{\"kernel\": \"%s\", \"dtype\": \"%s\", \"head_dim\": %d, \"value_dim\": %d, \"heads\": %d, "
               "\"kv_heads\": %d, \"documents\": %d, \"tokens\": %" PRId64
               ", \"mask\": \"%s\", \"direction\": \"%s\", \"threads\": %d",
               i == 0 ? "" : ",", c->kernel->name, dtype_names[c->dtype], c->head_dim, c->value_dim, c->heads,
               c->kv_heads, c->ndocs, rows[i].tokens, mask_names[c->mask], direction_names[c->direction], c->threads);
        print_number("flops", rows[i].speed.flops);
        print_number("bytes", rows[i].speed.bytes);
        print_number("gflops", rows[i].speed.gflops);
        print_number("canary_gflops", rows[i].speed.canary_gflops);
        print_number("to_canary", rows[i].speed.to_canary);
        print_number("canary_to_peak", rows[i].speed.canary_to_peak);
        print_number("to_openblas", rows[i].speed.to_baseline);
        print_number("to_one_thread", rows[i].to_one_thread);
        printf("}");
    }
    printf("\n]}\n");
}

static int draw(const char *path, const struct row *rows, int nrows)
{
    struct roofline_point points[CASES_MOST];
    char labels[CASES_MOST][64];

    for (int i = 0; i < nrows; i++) {
        const struct speed_case *c = &rows[i].c;

        snprintf(labels[i], sizeof labels[i], "%s %s d%d %" PRId64 " %s %s", c->kernel->name, dtype_names[c->dtype],
                 c->head_dim, rows[i].tokens, mask_names[c->mask], direction_names[c->direction]);
        points[i] = (struct roofline_point){labels[i], rows[i].speed.flops / rows[i].speed.bytes, rows[i].speed.gflops,
                                            rows[i].speed.canary_gflops,
                                            rows[i].speed.canary_gflops / rows[i].speed.canary_to_peak};
    }
    return tool_roofline_draw(path, nrows, points);
}

static int run(struct settings *s)
{
    static struct row rows[CASES_MOST];
    int nrows = 0, status = HYDRA_SUCCESS;
    const struct hydra_kernel_ops *chosen = hydra_kernel_best();

    if (strcmp(s->kernel, "best") != 0 && strcmp(s->kernel, "all") != 0) {
        char why[128] = "";

        chosen = hydra_kernel_find(s->kernel);
        HYDRA_REQUIRE(chosen != NULL, HYDRA_ERR_FORMAT, "--kernel: '%s' is not a kernel of this build", s->kernel);
        HYDRA_REQUIRE(chosen->probe(why, sizeof why) > 0, HYDRA_ERR_UNSUPPORTED, "--kernel %s: %s", s->kernel, why);
    }
    if (s->baseline) {
        const char *why = flash_blas_open();

        HYDRA_REQUIRE(why == NULL, HYDRA_ERR_UNSUPPORTED, "--baseline: %s", why);
    }
    if (s->lengths != NULL)
        HYDRA_TRY(read_documents(s->lengths, s->tokens, s));
    else {
        s->documents = hydra_calloc(1, sizeof *s->documents);
        HYDRA_REQUIRE(s->documents != NULL, HYDRA_ERR_NOMEM, "bench kernel: one length");
        s->documents[0] = s->tokens;
        s->ndocs = 1;
    }
    if (!s->json)
        printf("%s%s\n%-8s %-5s %9s %10s %8s %-7s %-8s %7s %9s %7s %7s %8s %8s %9s\n",
               s->baseline ? "OpenBLAS core: " : "", s->baseline ? flash_blas_core() : "", "kernel", "dtype", "d/dv",
               "heads/kv", "tokens", "mask", "way", "threads", "GFLOP/s", "/canary", "can/pk", "/OpenBLAS", "/1thread",
               "MB");
    for (int i = 0; hydra_kernel_at(i) != NULL; i++) {
        const struct hydra_kernel_ops *kernel = hydra_kernel_at(i);
        char why[128];
        bool all = strcmp(s->kernel, "all") == 0 && kernel->canary != NULL && kernel->probe(why, sizeof why) > 0;

        if (all || (kernel == chosen && strcmp(s->kernel, "all") != 0))
            HYDRA_TRY(measure_kernel(s, kernel, rows, &nrows));
    }
    if (s->json)
        print_json(rows, nrows);
    if (s->roofline != NULL)
        HYDRA_TRY(draw(s->roofline, rows, nrows));
    return HYDRA_SUCCESS;

fail:
    return status;
}

int hydra_bench_kernel(int argc, char **argv)
{
    struct settings s = {.kernel = "best",
                         .dtype = "f32",
                         .mask = "causal",
                         .direction = "all",
                         .tokens = 4096,
                         .head_dim = 128,
                         .value_dim = 0,
                         .heads = 1,
                         .kv_heads = 0,
                         .window = 1024,
                         .threads = 1,
                         .repetitions = 5};
    const struct tool_option options[] = {
        {"kernel", TOOL_STRING, &s.kernel, "NAME", "kernel, 'best' or 'all'", 0, 0},
        {"dtype", TOOL_STRING, &s.dtype, "T", "f32, f64, bf16, f16 or all", 0, 0},
        {"mask", TOOL_STRING, &s.mask, "M", "causal, full, window or all", 0, 0},
        {"direction", TOOL_STRING, &s.direction, "D", "forward, backward or all", 0, 0},
        {"tokens", TOOL_INT, &s.tokens, "N", "tokens of the document, or of the batch of --lengths", 1, 1 << 24},
        {"head-dim", TOOL_INT, &s.head_dim, "D", "head dim of q and k", 1, 256},
        {"value-dim", TOOL_INT, &s.value_dim, "D", "head dim of v and out; 0: the head dim", 0, 256},
        {"heads", TOOL_INT, &s.heads, "H", "query heads", 1, 4096},
        {"kv-heads", TOOL_INT, &s.kv_heads, "G", "KV heads; 0: as many as heads", 0, 4096},
        {"window", TOOL_INT, &s.window, "W", "keys seen with --mask window", 1, 1 << 24},
        {"sink", TOOL_INT, &s.sink, "S", "first keys seen as well with --mask window", 0, 1 << 24},
        {"lengths", TOOL_STRING, &s.lengths, "FILE", "pack documents of these lengths, one a line", 0, 0},
        {"threads", TOOL_INT, &s.threads, "T", "OpenMP threads; more than one is timed by the wall clock", 1, 256},
        {"repetitions", TOOL_INT, &s.repetitions, "R", "repetitions that the medians are of", 1, 101},
        {"baseline", TOOL_FLAG, &s.baseline, NULL, "also measure FlashAttention-2 tiling over OpenBLAS (f32)", 0, 0},
        {"table", TOOL_FLAG, &s.table, NULL, "head dim 128 at 1K, 4K and 16K tokens and 64 at 4K, full and causal", 0,
         0},
        {"json", TOOL_FLAG, &s.json, NULL, "print JSON", 0, 0},
        {"roofline", TOOL_STRING, &s.roofline, "FILE", "draw a roofline as SVG", 0, 0},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };
    bool done;
    int status = tool_options_read(argc, argv, usage, options, &done);

    if (status != HYDRA_SUCCESS)
        return tool_fail(status);
    if (done)
        return 0;
    if (s.value_dim == 0)
        s.value_dim = s.head_dim;
    if (s.kv_heads == 0)
        s.kv_heads = s.heads;
    status = run(&s);
    hydra_free(s.documents);
    return status == HYDRA_SUCCESS ? 0 : tool_fail(status);
}
