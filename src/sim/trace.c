/* trace.c: timelines as Chrome trace JSON: a process for each policy's stages or replicas, a thread for each row. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "sim/draw.h"
#include "sim/report.h"
#include "sim/svg.h"
#include "sim/words.h"

/* Colour names that the viewers reserve; alike for the same kind everywhere. */
static const char *const kind_colours[HYDRA_BAR_KINDS] = {"thread_state_running", "thread_state_iowait", "good",
                                                          "olive", "grey"};

/* JSON string: controls escaped, broken UTF-8 as U+FFFD. */
static void put_string(FILE *page, const char *text)
{
    fputc('"', page);
    for (const char *c = text; *c != '\0';) {
        int bytes = hydra_utf8_bytes(c);

        if (bytes == 0)
            fputs("\\ufffd", page);
        else if (*c == '"' || *c == '\\')
            fprintf(page, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(page, "\\u%04x", (unsigned)*c);
        else
            fwrite(c, 1, (size_t)bytes, page);
        c += bytes == 0 ? 1 : bytes;
    }
    fputc('"', page);
}

static void put_name(FILE *page, const char *what, int process, int64_t thread, const char *name)
{
    fprintf(page, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRId64 ",\"args\":{\"name\":", what, process,
            thread);
    put_string(page, name);
    fputs("}}", page);
}

/* Nanoseconds as microseconds with three decimals, whatever the locale. */
static void put_time(FILE *page, const char *key, int64_t ns)
{
    fprintf(page, ",\"%s\":%s%" PRId64 ".%03d", key, ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000,
            (int)((ns < 0 ? -ns : ns) % 1000));
}

static void put_bar(FILE *page, int process, const struct hydra_bar *bar)
{
    /* Both ends are rounded: were it start and duration, a bar could pass the start of the next, which viewers drop. */
    const int64_t start = llround(bar->start * 1e9), end = llround(bar->end * 1e9);

    fprintf(page, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"cname\":\"%s\",\"pid\":%d,\"tid\":%d", hydra_bar_word(bar->kind),
            kind_colours[bar->kind], process, bar->row);
    if (bar->microbatch >= 0)
        fprintf(page, ",\"name\":\"%s %" PRId64 "\",\"args\":{\"microbatch\":%" PRId64 ",\"chunk\":%d}",
                hydra_bar_word(bar->kind), bar->microbatch, bar->microbatch, bar->chunk);
    else
        fprintf(page, ",\"name\":\"%s\"", hydra_bar_word(bar->kind));
    put_time(page, "ts", start);
    put_time(page, "dur", end - start);
    fputc('}', page);
}

static int put_timeline(FILE *page, int process, const char *policy, const struct hydra_timeline *timeline)
{
    int status = HYDRA_SUCCESS;
    char name[256];

    snprintf(name, sizeof name, "%s: %ss", policy, timeline->row_word);
    put_name(page, "process_name", process, 0, name);
    for (int64_t row = 0; row < timeline->rows; row++) {
        snprintf(name, sizeof name, "%s %" PRId64, timeline->row_word, row);
        put_name(page, "thread_name", process, row, timeline->row_names != NULL ? timeline->row_names[row] : name);
    }
    for (int64_t b = 0; b < timeline->nbars; b++) {
        const struct hydra_bar *bar = &timeline->bars[b];

        HYDRA_REQUIRE(bar->kind >= 0 && bar->kind < HYDRA_BAR_KINDS && fabs(bar->start) < 1e9 && fabs(bar->end) < 1e9,
                      HYDRA_ERR_ARG, "trace of %s: bar %" PRId64 ": kind %d, %g s to %g s", policy, b, bar->kind,
                      bar->start, bar->end);
        put_bar(page, process, bar);
    }
fail:
    return status;
}

int hydra_trace_json(const struct hydra_report *report, const char *path)
{
    FILE *page = NULL;
    int status = HYDRA_SUCCESS, process = 0;

    HYDRA_TRY(hydra_page_open(path, &page));
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":", page);
    put_string(page, report->title);
    fputs("},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":0,\"tid\":0,\"args\":{\"sort_"
          "index\":0}}",
          page);
    for (int i = 0; i < report->npolicies; i++)
        for (int replicas = 0; replicas <= 1; replicas++) {
            const struct hydra_timeline *timeline = hydra_timeline_of(&report->policies[i], replicas);

            if (timeline != NULL)
                HYDRA_TRY(put_timeline(page, process++, report->policies[i].name, timeline));
        }
    fputs("\n]}\n", page);
fail:
    return hydra_page_close(path, &page, status);
}
