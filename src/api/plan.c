/* plan.c: Hydra_Plan: gather what every rank loaded, plan it everywhere alike, agree; and the
 * broadcast of a schedule. */
#include <inttypes.h>
#include <string.h>

#include "api/context.h"
#include "base/config.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/range.h"
#include "comm/wait.h"
#include "plan/plan.h"
#include "plan/schedule.h"
#include "plan/schedule_io.h"

/* What every rank tells the others first. */
enum { TOLD_DOCS, TOLD_PAIRS, TOLD_OPTIONS, TOLD };

static const char *const option_names[] = {
#define OPTION(field) #field,
#include "plan/options.def"
#undef OPTION
};
enum { OPTIONS = sizeof option_names / sizeof *option_names };

/* Documents of the whole pool, numbered rank by rank. */
struct gathered {
    int64_t ndocs;
    int64_t *lengths;
    int64_t *pairs;        /* NULL: nobody gave any */
    int64_t *loaded_begin; /* [G + 1] */
    int64_t *told;         /* [G][TOLD] */
    int64_t *bytes;        /* [G] */
};

static void clear(struct gathered *all)
{
    hydra_free(all->lengths);
    hydra_free(all->pairs);
    hydra_free(all->loaded_begin);
    hydra_free(all->told);
    hydra_free(all->bytes);
}

/* A copy of the caller's options that an older, shorter struct cannot make us read past. */
static int copy_options(const Hydra_Plan_options *given, Hydra_Plan_options *options)
{
    int status = HYDRA_SUCCESS;

    *options = (Hydra_Plan_options)HYDRA_PLAN_OPTIONS_INIT;
    HYDRA_REQUIRE(given != NULL, HYDRA_ERR_ARG, "options is NULL");
    HYDRA_REQUIRE(given->size > 0 && given->size <= sizeof *options, HYDRA_ERR_UNSUPPORTED,
                  "Hydra_Plan_options.size is %zu, not 1 .. %zu: start from HYDRA_PLAN_OPTIONS_INIT", given->size,
                  sizeof *options);
    memcpy(options, given, given->size);
    options->size = sizeof *options;

fail:
    return status;
}

static void list_options(const Hydra_Plan_options *options, int64_t values[OPTIONS])
{
    int i = 0;

#define OPTION(field) values[i++] = (int64_t)options->field;
#include "plan/options.def"
#undef OPTION
}

static int64_t hash_options(const Hydra_Plan_options *options)
{
    uint64_t hash = 0xcbf29ce484222325u;
    int64_t values[OPTIONS];

    list_options(options, values);
    for (int i = 0; i < OPTIONS; i++)
        hash = (hash ^ (uint64_t)values[i]) * 0x100000001b3u;
    return (int64_t)(hash ^ hash >> 32);
}

static int check_arguments(int64_t ndocs, const int64_t lengths[], const Hydra_Schedule *schedule)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(schedule != NULL, HYDRA_ERR_ARG, "schedule is NULL");
    HYDRA_REQUIRE(ndocs >= 0 && ndocs <= HYDRA_DOCS_LIMIT, HYDRA_ERR_ARG, "ndocs is %" PRId64 ", must be 0 .. %" PRId64,
                  ndocs, HYDRA_DOCS_LIMIT);
    HYDRA_REQUIRE(lengths != NULL || ndocs == 0, HYDRA_ERR_ARG, "lengths is NULL, but ndocs is %" PRId64, ndocs);

fail:
    return status;
}

/* Read what the ranks told: who has how many documents, and whether all or none give pairs. */
static int hear(struct gathered *all, int64_t pool)
{
    int status = HYDRA_SUCCESS;

    for (int64_t r = 0; r < pool; r++) {
        const int64_t *told = all->told + r * TOLD;

        all->loaded_begin[r + 1] = all->loaded_begin[r] + told[TOLD_DOCS];
        HYDRA_REQUIRE(all->loaded_begin[r + 1] <= HYDRA_DOCS_LIMIT, HYDRA_ERR_OVERFLOW,
                      "the pool has more than %" PRId64 " documents", HYDRA_DOCS_LIMIT);
    }
    /* A rank without documents may leave pairs out. */
    for (int64_t r = 0, first = -1; r < pool; r++) {
        if (all->told[r * TOLD + TOLD_DOCS] == 0)
            continue;
        first = first < 0 ? r : first;
        HYDRA_REQUIRE(all->told[r * TOLD + TOLD_PAIRS] == all->told[first * TOLD + TOLD_PAIRS], HYDRA_ERR_MISMATCH,
                      "rank %" PRId64 " and rank %" PRId64 " disagree on whether options->pairs is given", first, r);
    }
    all->ndocs = all->loaded_begin[pool];

fail:
    return status;
}

/* The first rank whose options are not those of rank 0, and the first of them that differs: one sentence everywhere. A
 * rank that could not plan with its own (planned) has its error kept. */
static int compare_options(Hydra_Context context, const struct gathered *all, const Hydra_Plan_options *options,
                           int planned)
{
    struct hydra_comm comm = hydra_comm_of(context->pool);
    int64_t pool = context->pool->size, other = 0, first[OPTIONS], its[OPTIONS];
    int status = HYDRA_SUCCESS;

    while (other < pool && all->told[other * TOLD + TOLD_OPTIONS] == all->told[TOLD_OPTIONS])
        other++;
    if (other == pool)
        return planned;
    HYDRA_TRY(hydra_agree(comm, planned, "Hydra_Plan"));
    list_options(options, first);
    list_options(options, its);
    HYDRA_TRY(hydra_bcast(comm, first, sizeof first, 0, "Hydra_Plan: options"));
    HYDRA_TRY(hydra_bcast(comm, its, sizeof its, (int)other, "Hydra_Plan: options"));
    for (int i = 0; i < OPTIONS; i++)
        HYDRA_REQUIRE(first[i] == its[i], HYDRA_ERR_MISMATCH,
                      "ranks disagree on options: %s is %" PRId64 " on rank 0, %" PRId64 " on rank %" PRId64,
                      option_names[i], first[i], its[i], other);

fail:
    return status;
}

static bool pairs_given(const struct gathered *all, int64_t pool)
{
    for (int64_t r = 0; r < pool; r++)
        if (all->told[r * TOLD + TOLD_DOCS] > 0)
            return all->told[r * TOLD + TOLD_PAIRS] != 0;
    return false;
}

/* Gather one number a document. */
static int gather_numbers(Hydra_Context context, const struct gathered *all, const int64_t *mine, int64_t **numbers,
                          const char *step)
{
    struct hydra_comm comm = hydra_comm_of(context->pool);
    int status = HYDRA_SUCCESS;

    *numbers = hydra_calloc(all->ndocs, sizeof **numbers);
    if (*numbers == NULL)
        status = hydra_error(HYDRA_ERR_NOMEM, "%" PRId64 " documents", all->ndocs);
    HYDRA_TRY(hydra_agree(comm, status, step)); /* whoever has no memory must not leave the others in the exchange */
    HYDRA_TRY(hydra_allgatherv(comm, mine, all->bytes, *numbers, step));

fail:
    return status;
}

static int gather(Hydra_Context context, int failed, int64_t ndocs, const int64_t lengths[],
                  const Hydra_Plan_options *options, struct gathered *all)
{
    HYDRA_IN_RANGE(GATHER);
    struct hydra_comm comm = hydra_comm_of(context->pool);
    int64_t pool = context->pool->size, mine[TOLD];
    int status = failed;

    all->told = hydra_calloc(pool * TOLD, sizeof *all->told);
    all->loaded_begin = hydra_calloc(pool + 1, sizeof *all->loaded_begin);
    all->bytes = hydra_calloc(pool, sizeof *all->bytes);
    if (status == HYDRA_SUCCESS && (all->told == NULL || all->loaded_begin == NULL || all->bytes == NULL))
        status = hydra_error(HYDRA_ERR_NOMEM, "tables of %" PRId64 " ranks", pool);
    if (all->told == NULL)
        return hydra_agree(comm, status, "Hydra_Plan");
    mine[TOLD_DOCS] = ndocs;
    mine[TOLD_PAIRS] = options->pairs != NULL;
    mine[TOLD_OPTIONS] = hash_options(options);
    HYDRA_TRY(hydra_agree(comm, status, "Hydra_Plan"));
    HYDRA_TRY(hydra_allgather(comm, mine, TOLD, all->told, "Hydra_Plan"));
    HYDRA_TRY(hear(all, pool)); /* the same everywhere */
    for (int64_t r = 0; r < pool; r++)
        all->bytes[r] = all->told[r * TOLD + TOLD_DOCS] * (int64_t)sizeof *lengths;
    HYDRA_TRY(gather_numbers(context, all, lengths, &all->lengths, "Hydra_Plan: lengths"));
    if (pairs_given(all, pool))
        HYDRA_TRY(gather_numbers(context, all, options->pairs, &all->pairs, "Hydra_Plan: pairs"));

fail:
    return status;
}

int Hydra_Plan(Hydra_Context context, int64_t ndocs, const int64_t lengths[], const Hydra_Plan_options *options,
               Hydra_Schedule *schedule)
{
    HYDRA_IN_RANGE(PLAN);
    struct gathered all = {0};
    Hydra_Plan_options copy = HYDRA_PLAN_OPTIONS_INIT;
    Hydra_Schedule made = NULL;
    int status = hydra_context_enter(context);

    if (status != HYDRA_SUCCESS)
        return status;
    status = check_arguments(ndocs, lengths, schedule);
    if (status == HYDRA_SUCCESS)
        status = copy_options(options, &copy);
    status = gather(context, status, ndocs, lengths, &copy, &all);
    if (status == HYDRA_SUCCESS) {
        copy.pairs = all.pairs;
        status = hydra_plan_make(context->pool->size, all.ndocs, all.lengths, all.loaded_begin,
                                 context->pool->slot_of_rank, &copy, &made);
        status = compare_options(context, &all, &copy, status);
    }
    /* Also after an error that the pool has agreed on: its peers wait to hear of it. */
    HYDRA_TRY(hydra_context_agree_hash(context, status, made != NULL ? made->hash : 0,
                                       "plan: options, lengths or slot maps"));
    clear(&all);
    *schedule = made;
    return HYDRA_SUCCESS;

fail:
    clear(&all);
    Hydra_Schedule_free(&made);
    return status;
}

/* The schedule's text from root to everyone; length < 0: root has none. */
static int broadcast_text(struct hydra_comm comm, int root, bool is_root, char **text, int64_t *length)
{
    int status = HYDRA_SUCCESS;

    HYDRA_TRY(hydra_bcast(comm, length, sizeof *length, root, "Hydra_Schedule_bcast"));
    HYDRA_REQUIRE(*length >= 0, HYDRA_ERR_PEER, "rank %d failed in Hydra_Schedule_bcast", root);
    if (!is_root)
        *text = hydra_alloc(*length + 1, 1);
    if (*text == NULL)
        status = hydra_error(HYDRA_ERR_NOMEM, "a schedule of %" PRId64 " bytes", *length);
    HYDRA_TRY(hydra_agree(comm, status, "Hydra_Schedule_bcast"));
    HYDRA_TRY(hydra_bcast(comm, *text, *length, root, "Hydra_Schedule_bcast"));

fail:
    return status;
}

/* What a rank can check before it talks to the others; at the root, the schedule's text. */
static int prepare_broadcast(const Hydra_Schedule *schedule, int root, int rank, int size, char **text, int64_t *length)
{
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(root >= 0 && root < size, HYDRA_ERR_ARG, "root is %d, must be 0 .. %d", root, size - 1);
    HYDRA_REQUIRE(schedule != NULL, HYDRA_ERR_ARG, "schedule is NULL");
    if (rank != root)
        return HYDRA_SUCCESS;
    HYDRA_REQUIRE(*schedule != NULL, HYDRA_ERR_ARG, "the root's schedule is HYDRA_SCHEDULE_NULL");
    HYDRA_TRY(hydra_schedule_pack(*schedule, text, length));

fail:
    return status;
}

int Hydra_Schedule_bcast(Hydra_Schedule *schedule, int root, MPI_Comm comm)
{
    struct hydra_comm over = {.mpi = comm, .pool = NULL, .timeout = 600};
    Hydra_Schedule made = NULL;
    int64_t length = -1;
    char *text = NULL;
    int rank = 0, size = 0, mine, status = HYDRA_SUCCESS;

    hydra_error_clear();
    HYDRA_REQUIRE(comm != MPI_COMM_NULL, HYDRA_ERR_ARG, "comm is MPI_COMM_NULL");
    HYDRA_TRY_MPI(MPI_Comm_rank(comm, &rank));
    HYDRA_TRY_MPI(MPI_Comm_size(comm, &size));
    mine = hydra_config_get_double(HYDRA_CONFIG_TIMEOUT, 1e-3, 1e9, &over.timeout);
    if (mine == HYDRA_SUCCESS)
        mine = prepare_broadcast(schedule, root, rank, size, &text, &length);
    HYDRA_TRY(hydra_agree_same(over, mine, (uint64_t)root, "root of Hydra_Schedule_bcast"));
    HYDRA_TRY(broadcast_text(over, root, rank == root, &text, &length));
    if (rank != root)
        mine = hydra_schedule_unpack("broadcast", text, length, &made);
    HYDRA_TRY(hydra_agree(over, mine, "Hydra_Schedule_bcast"));
    hydra_free(text);
    if (rank != root)
        *schedule = made;
    return HYDRA_SUCCESS;

fail:
    hydra_free(text);
    Hydra_Schedule_free(&made);
    return status;
}
