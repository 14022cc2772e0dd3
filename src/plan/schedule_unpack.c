/* schedule_unpack.c: a schedule from text that may be anything: every number is bounded before it is used. */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "plan/schedule.h"
#include "plan/schedule_io.h"

struct reader {
    const char *place;
    const char *at;
    const char *end;
    int64_t line;
};

static int bad(const struct reader *in, const char *what)
{
    return hydra_error(HYDRA_ERR_FORMAT, "%s:%" PRId64 ": %s", in->place, in->line, what);
}

static void skip_space(struct reader *in)
{
    for (; in->at < in->end && isspace((unsigned char)*in->at); in->at++)
        in->line += *in->at == '\n';
}

/* The next word as a string of at most `room` - 1 bytes; "" at the end of the text. */
static void next_word(struct reader *in, char *word, size_t room)
{
    size_t length = 0;

    skip_space(in);
    while (in->at < in->end && !isspace((unsigned char)*in->at)) {
        if (length + 1 < room)
            word[length++] = *in->at;
        in->at++;
    }
    word[length] = '\0';
}

static int expect(struct reader *in, const char *name)
{
    char word[40];

    next_word(in, word, sizeof word);
    if (strcmp(word, name) == 0)
        return HYDRA_SUCCESS;
    return hydra_error(HYDRA_ERR_FORMAT, "%s:%" PRId64 ": '%s' where '%s' should be", in->place, in->line, word, name);
}

static int read_number(struct reader *in, int64_t low, int64_t high, int64_t *value)
{
    const char *digits;
    int64_t number = 0; /* below zero while it is read: there is one more number there */
    bool negative, overflow = false;

    skip_space(in);
    negative = in->at < in->end && *in->at == '-';
    in->at += negative;
    for (digits = in->at; in->at < in->end && isdigit((unsigned char)*in->at); in->at++) {
        overflow |= __builtin_mul_overflow(number, (int64_t)10, &number);
        overflow |= __builtin_sub_overflow(number, (int64_t)(*in->at - '0'), &number);
    }
    if (in->at == digits || (in->at < in->end && !isspace((unsigned char)*in->at)))
        return bad(in, "a whole number is missing");
    if (overflow || (!negative && number == INT64_MIN))
        return bad(in, "a number is too large");
    number = negative ? number : -number;
    if (number < low || number > high)
        return hydra_error(HYDRA_ERR_FORMAT, "%s:%" PRId64 ": %" PRId64 " is outside %" PRId64 " .. %" PRId64,
                           in->place, in->line, number, low, high);
    *value = number;
    return HYDRA_SUCCESS;
}

static int read_named(struct reader *in, const char *name, int64_t low, int64_t high, int64_t *value)
{
    int status = expect(in, name);

    return status != HYDRA_SUCCESS ? status : read_number(in, low, high, value);
}

static int read_bits(struct reader *in, const char *name, uint64_t *bits)
{
    char word[40];
    int status = expect(in, name);

    if (status != HYDRA_SUCCESS)
        return status;
    next_word(in, word, sizeof word);
    if (strspn(word, "0123456789abcdef") != 16 || word[16] != '\0')
        return bad(in, "16 hexadecimal digits are missing");
    *bits = strtoull(word, NULL, 16);
    return HYDRA_SUCCESS;
}

static int read_double(struct reader *in, const char *name, double *value)
{
    uint64_t bits;
    int status = read_bits(in, name, &bits);

    if (status == HYDRA_SUCCESS)
        memcpy(value, &bits, sizeof bits);
    return status;
}

static int read_array(struct reader *in, const char *name, int64_t count, int64_t low, int64_t high, int64_t *values)
{
    int status = name == NULL ? HYDRA_SUCCESS : expect(in, name);

    for (int64_t i = 0; i < count && status == HYDRA_SUCCESS; i++)
        status = read_number(in, low, high, &values[i]);
    return status;
}

static int read_options(struct reader *in, Hydra_Plan_options *options, Hydra_Cost *cost)
{
    int64_t value;
    int status = HYDRA_SUCCESS;

#define OPTION(field)                                                                                                  \
    HYDRA_TRY(read_named(in, #field, INT64_MIN, INT64_MAX, &value));                                                   \
    options->field = (__typeof__(options->field))value;                                                                \
    HYDRA_REQUIRE((int64_t)options->field == value, HYDRA_ERR_FORMAT, "%s:%" PRId64 ": " #field " is too large",       \
                  in->place, in->line);
#include "plan/options.def"
#undef OPTION
    HYDRA_TRY(read_named(in, "threads", 1, INT32_MAX, &value));
    options->threads = (int)value;
    HYDRA_TRY(read_double(in, "theta_over_c", &options->theta_over_c));
#define NUMBER(field) HYDRA_TRY(read_double(in, #field, &cost->field));
#include "plan/cost.def"
#undef NUMBER
    HYDRA_TRY(read_named(in, "node_slots", 0, INT64_MAX, &cost->node_slots));

fail:
    return status;
}

static int read_groups(struct reader *in, struct hydra_schedule *s)
{
    int64_t g = 0, placed = 0, count;
    int status = HYDRA_SUCCESS;

    for (int64_t m = 0; m < s->microbatches; m++) {
        HYDRA_TRY(read_named(in, "microbatch", 0, s->ngroups - g, &count));
        s->group_begin[m + 1] = s->group_begin[m] + count;
        for (; g < s->group_begin[m + 1]; g++) {
            struct hydra_group *group = &s->groups[g];

            HYDRA_TRY(read_named(in, "group", 0, s->pool - 1, &group->first));
            HYDRA_TRY(read_number(in, 1, s->pool, &group->size));
            HYDRA_TRY(read_number(in, 1, s->pool, &group->factor));
            HYDRA_TRY(read_number(in, 1, s->ndocs - placed, &count));
            group->docs_begin = placed;
            placed += count;
            group->docs_end = placed;
            HYDRA_TRY(read_array(in, NULL, count, 0, s->ndocs - 1, s->docs + group->docs_begin));
        }
    }

fail:
    return status;
}

/* Counts first, each no greater than the text could hold, so that a hostile file cannot ask for memory. */
static int read_counts(struct reader *in, Hydra_Schedule *made)
{
    int64_t left = in->end - in->at, pool, ndocs, microbatches, ngroups, with_pairs;
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(read_named(in, "pool", 1, hydra_min(left, HYDRA_POOL_LIMIT), &pool));
    HYDRA_TRY(read_named(in, "documents", 0, hydra_min(left, HYDRA_DOCS_LIMIT), &ndocs));
    HYDRA_TRY(read_named(in, "microbatches", 1, left, &microbatches));
    HYDRA_TRY(read_named(in, "groups", 0, hydra_min(left, ndocs), &ngroups));
    HYDRA_TRY(read_named(in, "pairs", 0, 1, &with_pairs));
    HYDRA_TRY(hydra_schedule_allocate(pool, ndocs, microbatches, ngroups, (int)with_pairs, made));

fail:
    return status;
}

/* The batch must be one that could have been planned, under options that resolve to themselves. */
static int check_inputs(const struct reader *in, struct hydra_schedule *s, const Hydra_Plan_options *options,
                        const Hydra_Cost *cost)
{
    Hydra_Plan_options given = *options;
    struct hydra_batch batch = {.pool = s->pool, .ndocs = s->ndocs, .lengths = s->lengths, .options = &s->options};
    int status = HYDRA_SUCCESS;

    given.cost = cost;
    given.pairs = s->pairs;
    if (hydra_options_resolve(s->pool, &given, &s->options) != HYDRA_SUCCESS ||
        hydra_batch_check(&batch) != HYDRA_SUCCESS) {
        char detail[512];

        Hydra_Error_detail(detail, sizeof detail);
        return hydra_error(HYDRA_ERR_FORMAT, "%s: %s", in->place, detail);
    }
    s->options.cost = NULL;
    s->options.pairs = NULL;
    s->cost = *cost;
    return status;
}

int hydra_schedule_unpack(const char *place, const char *text, int64_t length, Hydra_Schedule *schedule)
{
    struct reader in = {.place = place, .at = text, .end = text + length, .line = 1};
    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Cost cost = HYDRA_COST_INIT;
    Hydra_Schedule made = NULL;
    uint64_t hash;
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(length >= (int64_t)strlen(HYDRA_SCHEDULE_MAGIC) &&
                      memcmp(text, HYDRA_SCHEDULE_MAGIC, strlen(HYDRA_SCHEDULE_MAGIC)) == 0,
                  HYDRA_ERR_FORMAT, "%s:1: not a schedule of this version ('%s')", place, HYDRA_SCHEDULE_MAGIC);
    in.at += strlen(HYDRA_SCHEDULE_MAGIC);
    HYDRA_REQUIRE(memchr(text, '\0', (size_t)length) == NULL, HYDRA_ERR_FORMAT, "%s: a zero byte in a schedule", place);
    HYDRA_TRY(read_counts(&in, &made));
    HYDRA_TRY(read_options(&in, &options, &cost));
    HYDRA_TRY(read_array(&in, "lengths", made->ndocs, 0, HYDRA_LENGTH_LIMIT, made->lengths));
    if (made->pairs != NULL)
        HYDRA_TRY(read_array(&in, "attended", made->ndocs, 0, INT64_MAX, made->pairs));
    HYDRA_TRY(check_inputs(&in, made, &options, &cost));
    HYDRA_TRY(read_array(&in, "loaded", made->pool + 1, 0, made->ndocs, made->loaded_begin));
    HYDRA_TRY(read_array(&in, "slots", made->pool, 0, made->pool - 1, made->slot_of_rank));
    HYDRA_TRY(read_groups(&in, made));
    hydra_schedule_fill_starts(made);
    HYDRA_TRY(hydra_schedule_check_groups(made, HYDRA_ERR_FORMAT));
    HYDRA_TRY(hydra_schedule_check_documents(made, HYDRA_ERR_FORMAT));
    HYDRA_TRY(hydra_schedule_place(made, made->loaded_begin, made->slot_of_rank));
    HYDRA_TRY(read_bits(&in, "hash", &hash));
    HYDRA_REQUIRE(hash == made->hash, HYDRA_ERR_FORMAT,
                  "%s:%" PRId64 ": hash %016" PRIx64 " is not that of the schedule, %016" PRIx64, place, in.line, hash,
                  made->hash);
    skip_space(&in);
    HYDRA_REQUIRE(in.at == in.end, HYDRA_ERR_FORMAT, "%s:%" PRId64 ": text after the schedule", place, in.line);
    *schedule = made;
    return HYDRA_SUCCESS;

fail:
    Hydra_Schedule_free(&made);
    return status;
}
