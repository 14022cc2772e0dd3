/* schedule_pack.c: a schedule as text: one kind of record a line, numbers in decimal, doubles as
 * the bits of IEEE 754. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "plan/schedule.h"
#include "plan/schedule_io.h"

enum { NUMBERS_A_LINE = 16, LONGEST = 128 /* bytes of one piece of text */ };

struct writer {
    char *text;
    int64_t length;
    int64_t capacity;
    bool failed; /* out of memory: the rest is dropped */
};

/* Room for one more piece of text; false when memory is out, now or before. */
static bool make_room(struct writer *out)
{
    int64_t capacity = out->capacity + out->capacity / 2 + 4096;
    char *text;

    if (out->failed || out->capacity - out->length >= LONGEST)
        return !out->failed;
    text = hydra_resize(out->text, capacity, 1);
    out->failed = text == NULL;
    if (!out->failed) {
        out->text = text;
        out->capacity = capacity;
    }
    return !out->failed;
}

__attribute__((format(printf, 2, 3))) static void write_text(struct writer *out, const char *format, ...)
{
    va_list arguments;

    if (!make_room(out))
        return;
    va_start(arguments, format);
    out->length += vsnprintf(out->text + out->length, LONGEST, format, arguments);
    va_end(arguments);
}

/* Decimal by hand: a broadcast plan has a number or two for each document. */
static void write_number(struct writer *out, int64_t value, char after)
{
    char digits[24];
    int at = sizeof digits;

    if (value < 0 || !make_room(out)) {
        write_text(out, "%" PRId64 "%c", value, after);
        return;
    }
    digits[--at] = after;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(out->text + out->length, digits + at, sizeof digits - (size_t)at);
    out->length += (int64_t)sizeof digits - at;
}

static void write_array(struct writer *out, const char *name, const int64_t *values, int64_t count)
{
    write_text(out, "%s\n", name);
    for (int64_t i = 0; i < count; i++)
        write_number(out, values[i], i % NUMBERS_A_LINE == NUMBERS_A_LINE - 1 || i == count - 1 ? '\n' : ' ');
}

static void write_double(struct writer *out, const char *name, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    write_text(out, "%s %016" PRIx64 "\n", name, bits);
}

int hydra_schedule_pack(const struct hydra_schedule *s, char **text, int64_t *length)
{
    struct writer out = {0};
    int status = HYDRA_SUCCESS;

    write_text(&out, HYDRA_SCHEDULE_MAGIC "\n");
    write_text(&out, "pool %" PRId64 "\ndocuments %" PRId64 "\nmicrobatches %" PRId64 "\n", s->pool, s->ndocs,
               s->microbatches);
    write_text(&out, "groups %" PRId64 "\npairs %d\n", s->ngroups, s->pairs != NULL);
#define OPTION(field) write_text(&out, #field " %" PRId64 "\n", (int64_t)s->options.field);
#include "plan/options.def"
#undef OPTION
    write_text(&out, "threads %d\n", s->options.threads);
    write_double(&out, "theta_over_c", s->options.theta_over_c);
#define NUMBER(field) write_double(&out, #field, s->cost.field);
#include "plan/cost.def"
#undef NUMBER
    write_text(&out, "node_slots %" PRId64 "\n", s->cost.node_slots);
    write_array(&out, "lengths", s->lengths, s->ndocs);
    if (s->pairs != NULL)
        write_array(&out, "attended", s->pairs, s->ndocs);
    write_array(&out, "loaded", s->loaded_begin, s->pool + 1);
    write_array(&out, "slots", s->slot_of_rank, s->pool);
    for (int64_t m = 0; m < s->microbatches; m++) {
        write_text(&out, "microbatch %" PRId64 "\n", s->group_begin[m + 1] - s->group_begin[m]);
        for (int64_t g = s->group_begin[m]; g < s->group_begin[m + 1]; g++) {
            const struct hydra_group *group = &s->groups[g];

            write_text(&out, "group %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, group->first, group->size,
                       group->factor, group->docs_end - group->docs_begin);
            write_array(&out, "", s->docs + group->docs_begin, group->docs_end - group->docs_begin);
        }
    }
    write_text(&out, "hash %016" PRIx64 "\n", s->hash);
    HYDRA_REQUIRE(!out.failed, HYDRA_ERR_NOMEM, "schedule of %" PRId64 " documents as text", s->ndocs);
    *text = out.text;
    *length = out.length;
    return HYDRA_SUCCESS;

fail:
    hydra_free(out.text);
    return status;
}
