/* wire.c: framed messages over a transport. */
#include "attn/wire.h"

#include <string.h>

#include "base/error.h"
#include "comm/wait.h"

/* Frame and body of a channel have a tag each, so a frame never lands in a body's buffer. */
static int tag_of(enum hydra_channel channel, bool body)
{
    return 2 * (int)channel + (body ? 1 : 0);
}

static void prepare(const struct hydra_wire *wire, struct hydra_message *message, int64_t part, int64_t slot,
                    int64_t bytes, bool receives)
{
    memset(message, 0, sizeof *message);
    message->net = wire->net;
    message->peer = (int)wire->rank_of_slot[slot];
    message->receives = receives;
    message->expected = wire->frame;
    message->expected.part = part;
    message->expected.bytes = bytes;
    message->active = bytes > 0;
    message->posted_at = hydra_clock();
}

int hydra_wire_send(const struct hydra_wire *wire, struct hydra_message *message, enum hydra_channel channel,
                    int64_t part, int64_t slot, const void *data, int64_t bytes)
{
    int status = HYDRA_SUCCESS;

    prepare(wire, message, part, slot, bytes, false);
    if (bytes == 0)
        return HYDRA_SUCCESS;
    message->frame = message->expected;
    HYDRA_TRY(hydra_net_send(wire->net, &message->frame, sizeof message->frame, message->peer, tag_of(channel, false),
                             &message->head));
    HYDRA_TRY(hydra_net_send(wire->net, data, bytes, message->peer, tag_of(channel, true), &message->body));
    return HYDRA_SUCCESS;

fail:
    return status;
}

int hydra_wire_recv(const struct hydra_wire *wire, struct hydra_message *message, enum hydra_channel channel,
                    int64_t part, int64_t slot, void *data, int64_t bytes)
{
    int status = HYDRA_SUCCESS;

    prepare(wire, message, part, slot, bytes, true);
    if (bytes == 0)
        return HYDRA_SUCCESS;
    HYDRA_TRY(hydra_net_recv(wire->net, &message->frame, sizeof message->frame, message->peer, tag_of(channel, false),
                             &message->head));
    HYDRA_TRY(hydra_net_recv(wire->net, data, bytes, message->peer, tag_of(channel, true), &message->body));
    return HYDRA_SUCCESS;

fail:
    return status;
}

static const char *call_name(int64_t call)
{
    static const char *const names[] = {"dispatch", "collect", "forward", "backward"};

    return call >= 0 && call < 4 ? names[call] : "call unknown here";
}

static int check_frame(const struct hydra_message *message)
{
    const struct hydra_frame *got = &message->frame, *want = &message->expected;

    if (memcmp(got, want, sizeof *got) == 0)
        return HYDRA_SUCCESS;
    if (got->hash != want->hash)
        return hydra_error(HYDRA_ERR_MISMATCH, "rank %d works on schedule %016llx, this rank on %016llx", message->peer,
                           (unsigned long long)got->hash, (unsigned long long)want->hash);
    if (got->microbatch != want->microbatch)
        return hydra_error(HYDRA_ERR_MISMATCH, "rank %d works on microbatch %lld, this rank on %lld", message->peer,
                           (long long)got->microbatch, (long long)want->microbatch);
    if (got->operation != want->operation)
        return hydra_error(HYDRA_ERR_MISMATCH, "rank %d is in operation %llu of its context, this rank in %llu",
                           message->peer, (unsigned long long)got->operation, (unsigned long long)want->operation);
    if (got->call != want->call)
        return hydra_error(HYDRA_ERR_MISMATCH, "rank %d is in a %s, this rank in a %s", message->peer,
                           call_name(got->call), call_name(want->call));
    if (got->shape != want->shape)
        return hydra_error(HYDRA_ERR_MISMATCH, "rank %d has another %s in its %s than this rank", message->peer,
                           want->call >= HYDRA_CALL_FORWARD ? "attention shape" : "number of bytes per token",
                           call_name(want->call));
    return hydra_error(
        HYDRA_ERR_MISMATCH,
        "rank %d sent part %lld of operation %llu with %lld bytes, this rank expected part %lld with %lld: "
        "the calls or their shapes differ",
        message->peer, (long long)got->part, (unsigned long long)got->operation, (long long)got->bytes,
        (long long)want->part, (long long)want->bytes);
}

int hydra_message_test(struct hydra_message *message)
{
    int status = HYDRA_SUCCESS;

    if (!message->active || message->status != HYDRA_SUCCESS)
        return message->status;
    if (message->head.active) {
        HYDRA_TRY(message->net->ops->test(message->net, &message->head));
        if (message->head.active)
            return HYDRA_SUCCESS;
        if (message->receives)
            HYDRA_TRY(check_frame(message));
    }
    if (message->body.active)
        HYDRA_TRY(message->net->ops->test(message->net, &message->body));
    if (!message->body.active) {
        message->active = false;
        message->done_at = hydra_clock();
    }
    return HYDRA_SUCCESS;

fail:
    message->status = status;
    return status;
}

int hydra_wire_wait_any(const struct hydra_wire *wire, struct hydra_message *messages, int64_t count, const char *step,
                        int64_t *index)
{
    struct hydra_wait wait;
    int status = HYDRA_SUCCESS;
    int64_t first = 0;

    *index = -1;
    while (first < count && !messages[first].active)
        first++;
    if (first == count)
        return HYDRA_SUCCESS;
    /* A timeout names the first rank that is missing. */
    hydra_wait_begin(&wait, wire->pool, step, messages[first].peer, wire->frame.microbatch);
    for (;;) {
        for (int64_t i = first; i < count; i++) {
            if (messages[i].active)
                HYDRA_TRY(hydra_message_test(&messages[i]));
            else if (i > first) /* done before; the first one was not, so wire->turn has seen it end */
                continue;
            if (!messages[i].active) {
                *index = i;
                goto fail;
            }
        }
        if (wire->turn != NULL)
            wire->turn(wire->user);
        HYDRA_TRY(hydra_wait_turn(&wait, false));
    }

fail:
    hydra_wait_end(&wait);
    return status;
}

int hydra_wire_wait(const struct hydra_wire *wire, struct hydra_message *message, const char *step)
{
    int64_t index;

    return message->active ? hydra_wire_wait_any(wire, message, 1, step, &index) : HYDRA_SUCCESS;
}
