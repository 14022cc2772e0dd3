/* explain.c: a schedule as text for people. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "plan/schedule.h"

/* Document ids that a group's line names; the rest is counted. */
enum { IDS_SHOWN = 12 };

/* Text that may not fit: what is past the end is counted. */
struct page {
    char *text;
    size_t len;
    size_t written;
};

__attribute__((format(printf, 2, 3))) static void print(struct page *page, const char *format, ...)
{
    size_t left = page->written < page->len ? page->len - page->written : 0;
    va_list arguments;

    va_start(arguments, format);
    page->written += (size_t)vsnprintf(left > 0 ? page->text + page->written : NULL, left, format, arguments);
    va_end(arguments);
}

static void print_group(const struct hydra_schedule *s, const struct hydra_group *group, struct page *page)
{
    int64_t tokens = 0, documents = group->docs_end - group->docs_begin;
    hydra_weight weight = 0;

    for (int64_t d = group->docs_begin; d < group->docs_end; d++) {
        tokens += s->lengths[s->docs[d]];
        weight += hydra_schedule_weight(s, s->docs[d]);
    }
    print(page, "  slots %" PRId64 "..%" PRId64 "  degree %" PRId64 " = %" PRId64 " x %" PRId64, group->first,
          group->first + group->size - 1, group->size, group->factor, group->size / group->factor);
    print(page, "  tokens %" PRId64 "  load %.6g  documents", tokens, (double)weight / (double)group->size);
    for (int64_t d = 0; d < documents && d < IDS_SHOWN; d++)
        print(page, " %" PRId64, s->docs[group->docs_begin + d]);
    if (documents > IDS_SHOWN)
        print(page, " and %" PRId64 " more", documents - IDS_SHOWN);
    print(page, "\n");
}

int Hydra_Schedule_explain(Hydra_Schedule schedule, char *text, size_t len, size_t *needed)
{
    struct page page = {text, len, 0};
    int status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(schedule != NULL, HYDRA_ERR_ARG, "Hydra_Schedule_explain: schedule is NULL");
    HYDRA_REQUIRE(text != NULL || len == 0, HYDRA_ERR_ARG, "Hydra_Schedule_explain: text is NULL, but len is %zu", len);
    print(&page, "%s: %" PRId64 " documents on %" PRId64 " slots in %" PRId64 " microbatches, hash %016" PRIx64 "\n",
          Hydra_Policy_name(schedule->options.policy), schedule->ndocs, schedule->pool, schedule->microbatches,
          schedule->hash);
    for (int64_t m = 0; m < schedule->microbatches; m++) {
        int64_t groups = schedule->group_begin[m + 1] - schedule->group_begin[m];

        print(&page, "microbatch %" PRId64 ": %" PRId64 " group%s\n", m, groups, groups == 1 ? "" : "s");
        for (int64_t g = schedule->group_begin[m]; g < schedule->group_begin[m + 1]; g++)
            print_group(schedule, &schedule->groups[g], &page);
    }
    if (needed != NULL)
        *needed = page.written + 1;

fail:
    return status;
}
