/* relay.h: the sum of one block's dK,dV on its way round the ring, in segments: each segment is received where the one
 * before it was sent from, so the sum that leaves and the sum that comes share one buffer and one segment more. */
#ifndef HYDRA_ATTN_RELAY_H
#define HYDRA_ATTN_RELAY_H

#include "attn/wire.h"

enum { HYDRA_RELAY_SEGMENTS = 16 }; /* of a sum, most */

/* Lives where its messages may: until the context is gone. */
struct hydra_relay {
    const struct hydra_wire *wire; /* borrowed */
    char *memory;                  /* places of `segment` bytes each */
    int64_t segment;
    int64_t places;
    int64_t first;  /* place of the first segment of the sum in hand; the others follow, from the end to place 0 */
    int64_t part;   /* of the sum that comes, counted in segments */
    int64_t from;   /* slot that sends it */
    int64_t in;     /* its bytes */
    int64_t posted; /* segments of it that a receive is posted for */
    double began;   /* s, hydra_clock */
    int status;     /* of a receive that could not be posted */
    struct hydra_message out_messages[HYDRA_RELAY_SEGMENTS], in_messages[HYDRA_RELAY_SEGMENTS];
};

/* What is passed on: the sum in hand to one slot, and the next sum from another into its place. */
struct hydra_relay_pass {
    int64_t part; /* of the sum that comes */
    int64_t to, out;
    int64_t from, in; /* slots and bytes */
};

/* Bytes of memory for sums of up to `most` bytes. */
int64_t hydra_relay_bytes(int64_t most);

/* Take memory for sums of up to `most` bytes, the same on all members. The first sum lies at its beginning, in one
 * piece. */
void hydra_relay_begin(struct hydra_relay *relay, const struct hydra_wire *wire, void *memory, int64_t most);

/* Start: everything that leaves is posted, of what comes only what has a place. */
int hydra_relay_start(struct hydra_relay *relay, const struct hydra_relay_pass *pass);

/* Look at the messages and post the receives whose places are free by now. To be called now and then. */
void hydra_relay_turn(struct hydra_relay *relay);

/* Wait until one sum has left and the other has come. step: text for a timeout. hidden [out]: seconds of the transfer
 * that went by before the call; waited [out]: the rest. */
int hydra_relay_finish(struct hydra_relay *relay, const char *step, double *waited, double *hidden);

/* Byte `at` of the sum in hand; *bytes on entry how many are wanted, on return how many lie there in one piece. */
void *hydra_relay_at(const struct hydra_relay *relay, int64_t at, int64_t *bytes);

#endif
