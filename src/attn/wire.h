/* wire.h: framed messages between ranks: every message is preceded by a frame that says what it is, so that a call that
 * differs between ranks is an error and never garbage. Empty messages are not sent. */
#ifndef HYDRA_ATTN_WIRE_H
#define HYDRA_ATTN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/pool.h"
#include "net/net.h"

/* One order of messages between two ranks each. */
enum hydra_channel {
    HYDRA_CHANNEL_MOVE, /* dispatch and collect */
    HYDRA_CHANNEL_ALLTOALL,
    HYDRA_CHANNEL_RING,     /* K and V */
    HYDRA_CHANNEL_GRADIENT, /* dK and dV */
};

enum hydra_call { HYDRA_CALL_DISPATCH, HYDRA_CALL_COLLECT, HYDRA_CALL_FORWARD, HYDRA_CALL_BACKWARD };

/* What a message belongs to; the same on both sides. */
struct hydra_frame {
    uint64_t hash; /* of the schedule */
    int64_t microbatch;
    uint64_t operation; /* of the context: dispatches, collects and attention calls so far */
    int64_t call;       /* enum hydra_call */
    uint64_t shape;     /* of the attention layer, hashed; bytes per token of a dispatch or collect */
    int64_t part;       /* which message of the operation: tensor, ring step, or segment of a gradient's step */
    int64_t bytes;
};

/* One operation's messages over one transport. */
struct hydra_wire {
    struct hydra_pool *pool;
    struct hydra_net *net;
    const int64_t *rank_of_slot; /* the schedule's */
    struct hydra_frame frame;    /* part and bytes are set message by message */
    void (*turn)(void *user);    /* called on every turn of a wait; NULL: nothing to do meanwhile */
    void *user;
};

/* Lives in memory that stays until the context is gone: a transport may write into it after an error. */
struct hydra_message {
    struct hydra_net *net;
    struct hydra_net_request head, body;
    struct hydra_frame expected;
    struct hydra_frame frame;
    int peer;
    bool receives;
    bool active;
    int status;       /* of a failed message: it stays active and failed */
    double posted_at; /* s, hydra_clock */
    double done_at;   /* when a test first saw it complete */
};

/* Post a message to or from the rank at `slot`. 0 bytes: nothing is posted and the message is done. */
int hydra_wire_send(const struct hydra_wire *wire, struct hydra_message *message, enum hydra_channel channel,
                    int64_t part, int64_t slot, const void *data, int64_t bytes);
int hydra_wire_recv(const struct hydra_wire *wire, struct hydra_message *message, enum hydra_channel channel,
                    int64_t part, int64_t slot, void *data, int64_t bytes);

/* Poll; clears `active` when done. HYDRA_ERR_MISMATCH when the peer's frame is of another call, HYDRA_ERR_NET. */
int hydra_message_test(struct hydra_message *message);

/* Wait for one message. step: text for a timeout, which outlives the wait. */
int hydra_wire_wait(const struct hydra_wire *wire, struct hydra_message *message, const char *step);

/* Wait for any of count messages and set its index; -1 when none is active. */
int hydra_wire_wait_any(const struct hydra_wire *wire, struct hydra_message *messages, int64_t count, const char *step,
                        int64_t *index);

#endif
