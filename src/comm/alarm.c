/* alarm.c: how a rank whose operation failed tells the others. */
#include "comm/alarm.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "comm/pool.h"
#include "comm/wait.h"

struct message {
    int64_t status;
    int64_t rank;
    char text[240];
};

struct hydra_alarm {
    struct hydra_driver driver;
    MPI_Comm comm;
    MPI_Request receive;
    struct message in;
    atomic_bool heard;
    struct message out;
    MPI_Request *sends; /* [nsends] */
    int nsends;
};

static int drive(void *state)
{
    struct hydra_alarm *alarm = state;
    int done = 0;

    if (alarm->receive != MPI_REQUEST_NULL) {
        if (MPI_Test(&alarm->receive, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done)
            atomic_store(&alarm->heard, true);
    }
    for (int i = 0; i < alarm->nsends; i++)
        if (alarm->sends[i] != MPI_REQUEST_NULL)
            MPI_Test(&alarm->sends[i], &done, MPI_STATUS_IGNORE);
    /* Once the alarm has come nothing is posted any more, but MPI must still move. */
    if (atomic_load(&alarm->heard))
        MPI_Iprobe(MPI_ANY_SOURCE, HYDRA_POOL_ALARM_TAG, alarm->comm, &done, MPI_STATUS_IGNORE);
    return done;
}

int hydra_alarm_create(struct hydra_pool *pool)
{
    struct hydra_alarm *alarm = hydra_calloc(1, sizeof *alarm);
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(alarm != NULL, HYDRA_ERR_NOMEM, "%zu bytes for the alarm of a pool", sizeof *alarm);
    HYDRA_TRY_MPI(MPI_Irecv(&alarm->in, sizeof alarm->in, MPI_BYTE, MPI_ANY_SOURCE, HYDRA_POOL_ALARM_TAG, pool->comm,
                            &alarm->receive));
    alarm->comm = pool->comm;
    alarm->driver = (struct hydra_driver){.drive = drive, .state = alarm, .rests = 7};
    hydra_progress_add(&alarm->driver);
    pool->alarm = alarm;
    return HYDRA_SUCCESS;

fail:
    hydra_free(alarm);
    return status;
}

void hydra_alarm_free(struct hydra_pool *pool)
{
    struct hydra_alarm *alarm = pool->alarm;
    bool sending = false;

    if (alarm == NULL)
        return;
    hydra_progress_remove(&alarm->driver);
    if (alarm->receive != MPI_REQUEST_NULL) {
        MPI_Cancel(&alarm->receive);
        MPI_Wait(&alarm->receive, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < alarm->nsends; i++) {
        int done = 1;

        if (alarm->sends[i] != MPI_REQUEST_NULL)
            MPI_Test(&alarm->sends[i], &done, MPI_STATUS_IGNORE);
        sending |= !done;
    }
    if (!sending) {
        hydra_free(alarm->sends);
        hydra_free(alarm);
    }
    pool->alarm = NULL;
}

bool hydra_alarm_heard(const struct hydra_pool *pool)
{
    return pool->alarm != NULL && atomic_load(&pool->alarm->heard);
}

int hydra_alarm_error(struct hydra_pool *pool)
{
    const struct message *in = &pool->alarm->in;

    pool->broken = true;
    return hydra_error(HYDRA_ERR_PEER, "rank %d failed: %.*s", (int)in->rank, (int)sizeof in->text, in->text);
}

void hydra_alarm_raise(struct hydra_pool *pool, int status)
{
    struct hydra_alarm *alarm = pool->alarm;

    if (alarm == NULL || alarm->nsends > 0 || pool->size == 1)
        return;
    alarm->out = (struct message){.status = status, .rank = pool->rank};
    snprintf(alarm->out.text, sizeof alarm->out.text, "%s",
             hydra_error_detail()[0] != '\0' ? hydra_error_detail() : Hydra_Error_string(status));
    alarm->sends = hydra_calloc(pool->size, sizeof *alarm->sends);
    if (alarm->sends == NULL)
        return; /* the others' timeout is what is left */
    hydra_progress_remove(&alarm->driver);
    for (int peer = 0; peer < pool->size; peer++) {
        alarm->sends[peer] = MPI_REQUEST_NULL;
        if (peer != pool->rank)
            MPI_Isend(&alarm->out, sizeof alarm->out, MPI_BYTE, peer, HYDRA_POOL_ALARM_TAG, pool->comm,
                      &alarm->sends[peer]);
    }
    alarm->nsends = pool->size;
    hydra_progress_add(&alarm->driver);
    hydra_progress();
}
