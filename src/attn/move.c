/* move.c: dispatch and collect. */
#include "attn/move.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/range.h"
#include "comm/keep.h"
#include "plan/shard.h"

/* Rows of the loading side, packed into or unpacked from one message. */
struct load_run {
    int64_t row;
    int64_t count;
};

/* Traffic with one slot. The loading side has runs; the shard side is rows [row, row + rows). */
struct transfer {
    int64_t slot;
    int64_t rows;
    int64_t row;        /* shard side */
    int64_t runs_begin; /* loading side: runs[runs_begin .. runs_end) */
    int64_t runs_end;
    char *staged; /* loading side: packed rows; NULL when the runs are one */
};

struct transfers {
    int64_t count;
    int64_t capacity;
    struct transfer *list;
};

struct hydra_move {
    struct hydra_wire wire;
    struct hydra_move_call call;
    struct transfers loads;  /* loading side: this rank's documents, by the slot that holds rows of them */
    struct transfers shards; /* shard side: this rank's rows, by the slot that loaded them */
    struct load_run *runs;
    int64_t nruns;
    int64_t run_capacity;
    char *staging;
    struct hydra_message *messages; /* loads, then shards */
};

static int add_transfer(struct transfers *to, struct transfer transfer)
{
    if (to->count == to->capacity) {
        int64_t capacity = 2 * to->capacity + 16;
        struct transfer *list = hydra_resize(to->list, capacity, sizeof *list);

        if (list == NULL)
            return hydra_error(HYDRA_ERR_NOMEM, "%lld transfers", (long long)capacity);
        to->list = list;
        to->capacity = capacity;
    }
    to->list[to->count++] = transfer;
    return HYDRA_SUCCESS;
}

/* Append a run of the loading side, joined with the last one of this transfer when it follows on. */
static int add_run(struct hydra_move *move, struct transfer *transfer, int64_t row, int64_t count)
{
    struct load_run *last = move->nruns > transfer->runs_begin ? &move->runs[move->nruns - 1] : NULL;

    if (count == 0)
        return HYDRA_SUCCESS;
    transfer->rows += count;
    if (last != NULL && last->row + last->count == row) {
        last->count += count;
        return HYDRA_SUCCESS;
    }
    if (move->nruns == move->run_capacity) {
        int64_t capacity = 2 * move->run_capacity + 64;
        struct load_run *runs = hydra_resize(move->runs, capacity, sizeof *runs);

        if (runs == NULL)
            return hydra_error(HYDRA_ERR_NOMEM, "%lld runs of tokens", (long long)capacity);
        move->runs = runs;
        move->run_capacity = capacity;
    }
    move->runs[move->nruns++] = (struct load_run){row, count};
    transfer->runs_end = move->nruns;
    return HYDRA_SUCCESS;
}

/* First place in a group's documents whose id is >= id. */
static int64_t first_doc(const struct hydra_schedule *schedule, const struct hydra_group *group, int64_t id)
{
    int64_t low = group->docs_begin, high = group->docs_end;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (schedule->docs[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct hydra_shape shape_of(const struct hydra_schedule *schedule, const struct hydra_group *group,
                                   int64_t place, const int64_t *rotations)
{
    return (struct hydra_shape){schedule->lengths[schedule->docs[place]], group->size, group->factor,
                                rotations[place - group->docs_begin], hydra_schedule_zigzag(schedule, group) != 0};
}

/* Loading side: what of this rank's documents each member of a group holds. */
static int list_loads(struct hydra_move *move, const struct hydra_group *group, int64_t *rotations)
{
    const struct hydra_schedule *schedule = move->call.schedule;
    int64_t rank = move->wire.pool->rank;
    int64_t begin = first_doc(schedule, group, schedule->loaded_begin[rank]);
    int64_t end = first_doc(schedule, group, schedule->loaded_begin[rank + 1]);
    int status = HYDRA_SUCCESS;

    if (begin == end)
        return HYDRA_SUCCESS;
    hydra_schedule_rotations(schedule, group, rotations);
    for (int64_t member = 0; member < group->size; member++) {
        struct transfer transfer = {group->first + member, 0, 0, move->nruns, move->nruns, NULL};

        for (int64_t place = begin; place < end; place++) {
            struct hydra_shape shape = shape_of(schedule, group, place, rotations);
            struct hydra_run held[2];
            int64_t row = schedule->starts[schedule->docs[place]] - schedule->starts[schedule->loaded_begin[rank]];

            hydra_shard_member_runs(&shape, member, held);
            for (int i = 0; i < 2; i++)
                HYDRA_TRY(add_run(move, &transfer, row + held[i].begin, held[i].count));
        }
        if (transfer.rows > 0)
            HYDRA_TRY(add_transfer(&move->loads, transfer));
    }

fail:
    return status;
}

/* Shard side: which rank loaded which of this slot's rows. */
static int list_shards(struct hydra_move *move, const struct hydra_group *group, int64_t slot, int64_t *rotations)
{
    const struct hydra_schedule *schedule = move->call.schedule;
    int64_t row = 0, place = group->docs_begin, rank = 0;
    int status = HYDRA_SUCCESS;

    hydra_schedule_rotations(schedule, group, rotations);
    while (place < group->docs_end) {
        struct transfer transfer = {0, 0, row, 0, 0, NULL};

        while (schedule->loaded_begin[rank + 1] <= schedule->docs[place])
            rank++;
        transfer.slot = schedule->slot_of_rank[rank];
        for (; place < group->docs_end && schedule->docs[place] < schedule->loaded_begin[rank + 1]; place++) {
            struct hydra_shape shape = shape_of(schedule, group, place, rotations);

            transfer.rows += hydra_shard_tokens(&shape, slot - group->first);
        }
        row += transfer.rows;
        if (transfer.rows > 0)
            HYDRA_TRY(add_transfer(&move->shards, transfer));
    }

fail:
    return status;
}

static int list_all(struct hydra_move *move)
{
    const struct hydra_schedule *schedule = move->call.schedule;
    int64_t m = move->call.microbatch, slot = schedule->slot_of_rank[move->wire.pool->rank], docs = 0;
    const struct hydra_group *mine = hydra_schedule_group_of(schedule, m, slot);
    int64_t *rotations = NULL;
    int status = HYDRA_SUCCESS;

    for (int64_t g = schedule->group_begin[m]; g < schedule->group_begin[m + 1]; g++)
        docs = hydra_max(docs, schedule->groups[g].docs_end - schedule->groups[g].docs_begin);
    rotations = hydra_calloc(docs, sizeof *rotations);
    HYDRA_REQUIRE(rotations != NULL, HYDRA_ERR_NOMEM, "rotations of %lld documents", (long long)docs);
    for (int64_t g = schedule->group_begin[m]; g < schedule->group_begin[m + 1]; g++)
        HYDRA_TRY(list_loads(move, &schedule->groups[g], rotations));
    if (mine != NULL)
        HYDRA_TRY(list_shards(move, mine, slot, rotations));

fail:
    hydra_free(rotations);
    return status;
}

/* Give each transfer of the loading side whose rows are in several runs its staging. */
static int stage(struct hydra_move *move)
{
    int64_t bytes = 0, token = (int64_t)move->call.token_bytes,
            self = move->call.schedule->slot_of_rank[move->wire.pool->rank];
    int status = HYDRA_SUCCESS;

    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < move->loads.count; i++) {
            struct transfer *load = &move->loads.list[i];

            if (load->slot == self || load->runs_end - load->runs_begin == 1)
                continue;
            if (pass == 1)
                load->staged = move->staging + bytes;
            bytes += load->rows * token;
        }
        if (pass == 0) {
            move->staging = hydra_alloc(bytes, 1);
            HYDRA_REQUIRE(move->staging != NULL, HYDRA_ERR_NOMEM, "staging of %lld bytes", (long long)bytes);
            bytes = 0;
        }
    }

fail:
    return status;
}

/* Copy between packed rows and the runs of the loading side. */
static void copy_runs(const struct hydra_move *move, const struct transfer *load, char *documents, char *packed,
                      bool pack)
{
    size_t token = move->call.token_bytes;

    for (int64_t r = load->runs_begin; r < load->runs_end; r++) {
        char *place = documents + (size_t)move->runs[r].row * token;
        size_t bytes = (size_t)move->runs[r].count * token;

        memcpy(pack ? packed : place, pack ? place : packed, bytes);
        packed += bytes;
    }
}

/* The documents' and the shard's memory; only the one of call.to is ever written. */
static char *documents_of(const struct hydra_move *move)
{
    return move->call.collect ? move->call.to : (char *)move->call.from;
}

static char *shard_of(const struct hydra_move *move)
{
    return move->call.collect ? (char *)move->call.from : move->call.to;
}

/* The part of this rank's documents that it holds itself: there is one transfer on each side, the same rows. */
static void copy_own(const struct hydra_move *move, int64_t self)
{
    for (int64_t i = 0; i < move->loads.count; i++)
        for (int64_t j = 0; move->loads.list[i].slot == self && j < move->shards.count; j++)
            if (move->shards.list[j].slot == self)
                copy_runs(move, &move->loads.list[i], documents_of(move),
                          shard_of(move) + (size_t)move->shards.list[j].row * move->call.token_bytes,
                          !move->call.collect);
}

static int post(struct hydra_move *move, struct hydra_message *message, int64_t slot, char *data, int64_t rows,
                bool sends)
{
    int64_t bytes = rows * (int64_t)move->call.token_bytes;

    if (!sends)
        return hydra_wire_recv(&move->wire, message, HYDRA_CHANNEL_MOVE, 0, slot, data, bytes);
    hydra_count(&move->wire.pool->counters, HYDRA_COUNTER_ATTN_DISPATCH_BYTES, (double)bytes);
    return hydra_wire_send(&move->wire, message, HYDRA_CHANNEL_MOVE, 0, slot, data, bytes);
}

static int post_shards(struct hydra_move *move, int64_t self)
{
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < move->shards.count; i++) {
        const struct transfer *shard = &move->shards.list[i];

        if (shard->slot != self)
            HYDRA_TRY(post(move, &move->messages[move->loads.count + i], shard->slot,
                           shard_of(move) + (size_t)shard->row * move->call.token_bytes, shard->rows,
                           move->call.collect));
    }

fail:
    return status;
}

static int post_loads(struct hydra_move *move, int64_t self)
{
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < move->loads.count; i++) {
        const struct transfer *load = &move->loads.list[i];
        char *data = load->staged;

        if (load->slot == self)
            continue;
        if (data == NULL)
            data = documents_of(move) + (size_t)move->runs[load->runs_begin].row * move->call.token_bytes;
        else if (!move->call.collect)
            copy_runs(move, load, documents_of(move), data, true);
        HYDRA_TRY(post(move, &move->messages[i], load->slot, data, load->rows, !move->call.collect));
    }

fail:
    return status;
}

int hydra_move_start(struct hydra_pool *pool, struct hydra_net *net, const struct hydra_move_call *call,
                     struct hydra_move **move)
{
    HYDRA_IN_RANGE(MOVE_POST);
    struct hydra_move *made = hydra_calloc(1, sizeof *made);
    const struct hydra_schedule *schedule = call->schedule;
    int64_t self = schedule->slot_of_rank[pool->rank], total;
    int status = HYDRA_SUCCESS;

    *move = made;
    HYDRA_REQUIRE(made != NULL, HYDRA_ERR_NOMEM, "operation");
    HYDRA_REQUIRE(call->token_bytes <= INT64_MAX / 2 &&
                      !__builtin_mul_overflow(schedule->starts[schedule->ndocs], (int64_t)call->token_bytes, &total),
                  HYDRA_ERR_OVERFLOW, "%lld tokens of %zu bytes", (long long)schedule->starts[schedule->ndocs],
                  call->token_bytes);
    made->call = *call;
    made->wire =
        (struct hydra_wire){pool,
                            net,
                            schedule->rank_of_slot,
                            {schedule->hash, call->microbatch, call->operation,
                             call->collect ? HYDRA_CALL_COLLECT : HYDRA_CALL_DISPATCH, call->token_bytes, 0, 0},
                            NULL,
                            NULL};
    HYDRA_TRY(list_all(made));
    HYDRA_TRY(stage(made));
    made->messages = hydra_calloc(made->loads.count + made->shards.count, sizeof *made->messages);
    HYDRA_REQUIRE(made->messages != NULL, HYDRA_ERR_NOMEM, "messages");
    /* Receives first. */
    HYDRA_TRY(call->collect ? post_loads(made, self) : post_shards(made, self));
    HYDRA_TRY(call->collect ? post_shards(made, self) : post_loads(made, self));
    copy_own(made, self);

fail:
    return status;
}

int hydra_move_finish(struct hydra_move *move)
{
    HYDRA_IN_RANGE(MOVE_WAIT);
    const char *step = move->call.collect ? "collect" : "dispatch";
    int64_t index = 0, count = move->loads.count + move->shards.count;
    int status = HYDRA_SUCCESS;

    for (;;) {
        HYDRA_TRY(hydra_wire_wait_any(&move->wire, move->messages, count, step, &index));
        if (index < 0)
            break;
        if (move->call.collect && index < move->loads.count && move->loads.list[index].staged != NULL)
            copy_runs(move, &move->loads.list[index], documents_of(move), move->loads.list[index].staged, false);
    }

fail:
    return status;
}

void hydra_move_free(struct hydra_move **move, const struct hydra_pool *pool)
{
    struct hydra_move *m = *move;

    if (m == NULL)
        return;
    hydra_free(m->loads.list);
    hydra_free(m->shards.list);
    hydra_free(m->runs);
    hydra_release(m->staging, pool);
    hydra_release(m->messages, pool);
    hydra_free(m);
    *move = NULL;
}

int64_t hydra_move_loaded_rows(const struct hydra_schedule *schedule, int64_t rank)
{
    return schedule->starts[schedule->loaded_begin[rank + 1]] - schedule->starts[schedule->loaded_begin[rank]];
}
