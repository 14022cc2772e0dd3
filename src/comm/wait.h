/* wait.h: the one wait and the one progress function. Every wait of the library is made of turns of hydra_wait_turn.
 *
 * A turn drives every transport of the process (so a rank that waits in a UCX ring still moves its MPI messages), looks
 * whether another rank has raised the alarm, and pauses: it spins at first, then yields the core, then sleeps 20-200
 * us; progress starts it over. No wait is endless: without progress for the timeout it ends with HYDRA_ERR_TIMEOUT.
 */
#ifndef HYDRA_COMM_WAIT_H
#define HYDRA_COMM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

struct hydra_pool;

struct hydra_wait {
    struct hydra_pool *pool; /* whose alarm to hear and counters to use; NULL during setup */
    double timeout;          /* s without progress */
    const char *step;        /* "ring step 2 of 4": static or caller-owned text that outlives the wait */
    int peer;                /* rank waited for; -1: several */
    int64_t microbatch;      /* -1: none */
    double began;            /* s, hydra_clock */
    double moved_at;
    bool spinning; /* too soon after the last progress to yield or sleep */
    int naps;      /* sleeps since the last progress */
};

/* Monotonic seconds. */
double hydra_clock(void);

/* Begin a wait on a pool. step, peer and microbatch are what a timeout names. */
void hydra_wait_begin(struct hydra_wait *wait, struct hydra_pool *pool, const char *step, int peer, int64_t microbatch);

/* The same without a pool, for setup over other communicators. */
void hydra_wait_begin_setup(struct hydra_wait *wait, double timeout, const char *step);

/* One turn; moved: something that this wait waits for completed since the last turn. `while (!done) TRY(turn); test`.
 * Returns HYDRA_ERR_TIMEOUT, HYDRA_ERR_PEER (another rank raised the alarm), HYDRA_ERR_NET. */
int hydra_wait_turn(struct hydra_wait *wait, bool moved);

/* The wait is over (well or not): adds to the counters. */
void hydra_wait_end(struct hydra_wait *wait);

/* Wait for one MPI request, bounded. On error the request stays active and what it uses must be kept until exit. */
int hydra_wait_mpi(struct hydra_wait *wait, MPI_Request *request, MPI_Status *mpi_status);

/* Drive every transport of the process once; cheap: kernels call it between tiles. Errors show up in the requests. */
void hydra_progress(void);

/* A transport's driver: registered at create, removed at destroy. drive returns how many events it handled. arm
 * (optional) returns a file that becomes readable at the next event, -1 when there is none, HYDRA_DRIVER_BUSY when
 * there is work already. Both are called under the progress lock, which a transport also holds where it touches what
 * they touch. */
enum { HYDRA_DRIVER_BUSY = -2 };
struct hydra_driver {
    int (*drive)(void *state);
    int (*arm)(void *state);
    void *state;
    int rests; /* turns that a spinning wait leaves out between two calls: for what is slow and not urgent */
    struct hydra_driver *next;
};
void hydra_progress_lock(void);
void hydra_progress_unlock(void);
void hydra_progress_add(struct hydra_driver *driver);
void hydra_progress_remove(struct hydra_driver *driver);

/* MPI return code as a status; the detail has MPI's own sentence. */
int hydra_mpi_error(int code, const char *call);
#define HYDRA_TRY_MPI(call)                                                                                            \
    do {                                                                                                               \
        int hydra_code_ = (call);                                                                                      \
        if (hydra_code_ != MPI_SUCCESS) {                                                                              \
            status = hydra_mpi_error(hydra_code_, #call);                                                              \
            goto fail;                                                                                                 \
        }                                                                                                              \
    } while (0)

#endif
