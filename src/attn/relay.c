/* relay.c: a sum in segments, received into the places that the sum before it leaves. */
#include "attn/relay.h"

#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "comm/wait.h"

enum { LEAST = 16384 }; /* bytes of a segment: below, a message costs more than its bytes; whole cache lines */

static int64_t segment_of(int64_t most)
{
    return hydra_max(LEAST, hydra_ceil_div(hydra_ceil_div(most, HYDRA_RELAY_SEGMENTS), 64) * 64);
}

/* One place more than a sum has segments: the first one that comes needs it before the first that leaves has gone. */
static int64_t places_of(int64_t most)
{
    return hydra_ceil_div(most, segment_of(most)) + 1;
}

int64_t hydra_relay_bytes(int64_t most)
{
    return places_of(most) * segment_of(most);
}

void hydra_relay_begin(struct hydra_relay *relay, const struct hydra_wire *wire, void *memory, int64_t most)
{
    memset(relay, 0, sizeof *relay);
    relay->wire = wire;
    relay->memory = memory;
    relay->segment = segment_of(most);
    relay->places = places_of(most);
}

static char *place(const struct hydra_relay *relay, int64_t number)
{
    return relay->memory + (relay->first + number) % relay->places * relay->segment;
}

/* Bytes of a sum's segment. */
static int64_t bytes_of(const struct hydra_relay *relay, int64_t sum, int64_t number)
{
    return hydra_max(0, hydra_min(relay->segment, sum - number * relay->segment));
}

static int post_receive(struct hydra_relay *relay)
{
    int64_t number = relay->posted++;

    return hydra_wire_recv(relay->wire, &relay->in_messages[number], HYDRA_CHANNEL_GRADIENT, relay->part + number,
                           relay->from, place(relay, number), bytes_of(relay, relay->in, number));
}

int hydra_relay_start(struct hydra_relay *relay, const struct hydra_relay_pass *pass)
{
    int status = HYDRA_SUCCESS;

    relay->began = hydra_clock();
    relay->part = pass->part * HYDRA_RELAY_SEGMENTS;
    relay->from = pass->from;
    relay->in = pass->in;
    relay->posted = 0;
    relay->first = (relay->first + relay->places - 1) % relay->places; /* of the sum that comes */
    HYDRA_TRY(post_receive(relay));
    for (int64_t i = 0; i < relay->places - 1; i++)
        HYDRA_TRY(hydra_wire_send(relay->wire, &relay->out_messages[i], HYDRA_CHANNEL_GRADIENT, relay->part + i,
                                  pass->to, place(relay, i + 1), bytes_of(relay, pass->out, i)));

fail:
    return status;
}

void hydra_relay_turn(struct hydra_relay *relay)
{
    for (int64_t i = 0; i < relay->places - 1; i++) { /* a failure stays in the message */
        if (relay->out_messages[i].active)
            (void)hydra_message_test(&relay->out_messages[i]);
        if (i < relay->posted && relay->in_messages[i].active)
            (void)hydra_message_test(&relay->in_messages[i]);
    }
    while (relay->posted > 0 && relay->posted < relay->places - 1 && !relay->out_messages[relay->posted - 1].active &&
           relay->status == HYDRA_SUCCESS)
        relay->status = post_receive(relay);
}

int hydra_relay_finish(struct hydra_relay *relay, const char *step, double *waited, double *hidden)
{
    double began = hydra_clock(), ended = relay->began;
    int status = HYDRA_SUCCESS;

    for (int64_t i = 0; i < relay->places - 1; i++) {
        HYDRA_TRY(hydra_wire_wait(relay->wire, &relay->out_messages[i], step));
        hydra_relay_turn(relay);
        HYDRA_TRY(relay->status);
    }
    for (int64_t i = 0; i < relay->posted; i++) {
        HYDRA_TRY(hydra_wire_wait(relay->wire, &relay->in_messages[i], step));
        ended = relay->in_messages[i].done_at > ended ? relay->in_messages[i].done_at : ended;
    }
    *waited = hydra_clock() - began;
    *hidden = ended - relay->began > *waited ? ended - relay->began - *waited : 0;
    relay->posted = 0;

fail:
    return status;
}

void *hydra_relay_at(const struct hydra_relay *relay, int64_t at, int64_t *bytes)
{
    int64_t inside = at % relay->segment;

    *bytes = hydra_min(*bytes, relay->segment - inside);
    return place(relay, at / relay->segment) + inside;
}
