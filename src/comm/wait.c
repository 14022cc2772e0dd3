/* wait.c: the one wait and the one progress function. */
#define _GNU_SOURCE
#include "comm/wait.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "comm/alarm.h"
#include "comm/pool.h"

enum { MOST_FILES = 16 };
#define SPIN_FOR       10e-6  /* s without progress before a wait yields the core */
#define YIELD_FOR      300e-6 /* s before it sleeps: a rendezvous takes a few turns of both sides */
#define SHORTEST_SLEEP 20e-6  /* s; doubles up to the longest */
#define LONGEST_SLEEP  200e-6

/* Drivers of the process. Whoever finds the lock taken leaves the work to its holder. */
static pthread_mutex_t drivers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hydra_driver *drivers;
static unsigned turns; /* of spinning waits: one count for all, so that many short waits drive everything too */

double hydra_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void hydra_progress_add(struct hydra_driver *driver)
{
    pthread_mutex_lock(&drivers_lock);
    driver->next = drivers;
    drivers = driver;
    pthread_mutex_unlock(&drivers_lock);
}

void hydra_progress_remove(struct hydra_driver *driver)
{
    pthread_mutex_lock(&drivers_lock);
    for (struct hydra_driver **at = &drivers; *at != NULL; at = &(*at)->next)
        if (*at == driver) {
            *at = driver->next;
            break;
        }
    pthread_mutex_unlock(&drivers_lock);
}

void hydra_progress_lock(void)
{
    pthread_mutex_lock(&drivers_lock);
}

void hydra_progress_unlock(void)
{
    pthread_mutex_unlock(&drivers_lock);
}

static void drive(bool spinning)
{
    if (pthread_mutex_trylock(&drivers_lock) != 0)
        return;
    turns += spinning;
    for (struct hydra_driver *driver = drivers; driver != NULL; driver = driver->next)
        if (!spinning || turns % (unsigned)(driver->rests + 1) == 0)
            driver->drive(driver->state);
    pthread_mutex_unlock(&drivers_lock);
}

void hydra_progress(void)
{
    drive(false);
}

static void begin(struct hydra_wait *wait, struct hydra_pool *pool, double timeout, const char *step, int peer,
                  int64_t microbatch)
{
    *wait = (struct hydra_wait){.pool = pool, .timeout = timeout, .step = step, .peer = peer, .microbatch = microbatch};
    wait->spinning = true;
    wait->began = wait->moved_at = hydra_clock();
}

void hydra_wait_begin(struct hydra_wait *wait, struct hydra_pool *pool, const char *step, int peer, int64_t microbatch)
{
    begin(wait, pool, pool->timeout, step, peer, microbatch);
}

void hydra_wait_begin_setup(struct hydra_wait *wait, double timeout, const char *step)
{
    begin(wait, NULL, timeout, step, -1, -1);
}

/* Sleep until a transport that can wake us has an event; short, because the others are driven by us. */
static void pause_for(double seconds)
{
    struct timespec longest = {.tv_nsec = (long)(seconds * 1e9)};
    struct pollfd files[MOST_FILES];
    nfds_t nfiles = 0;

    if (pthread_mutex_trylock(&drivers_lock) == 0) {
        for (struct hydra_driver *driver = drivers; driver != NULL && nfiles < MOST_FILES; driver = driver->next) {
            int file = driver->arm == NULL ? -1 : driver->arm(driver->state);

            if (file == HYDRA_DRIVER_BUSY)
                longest.tv_nsec = 0;
            if (file >= 0)
                files[nfiles++] = (struct pollfd){.fd = file, .events = POLLIN};
        }
        pthread_mutex_unlock(&drivers_lock);
    }
    ppoll(files, nfiles, &longest, NULL);
}

static int timed_out(const struct hydra_wait *wait)
{
    char peer[48] = "other ranks", microbatch[48] = "";

    if (wait->peer >= 0)
        snprintf(peer, sizeof peer, "rank %d", wait->peer);
    if (wait->microbatch >= 0)
        snprintf(microbatch, sizeof microbatch, ", microbatch %" PRId64, wait->microbatch);
    return hydra_error(HYDRA_ERR_TIMEOUT, "waited %g s for %s in %s%s", wait->timeout, peer, wait->step, microbatch);
}

int hydra_wait_turn(struct hydra_wait *wait, bool moved)
{
    double sleep = SHORTEST_SLEEP, waited;

    drive(wait->spinning);
    if (wait->pool != NULL && hydra_alarm_heard(wait->pool))
        return hydra_alarm_error(wait->pool);
    if (moved) {
        wait->spinning = true;
        wait->naps = 0;
        wait->moved_at = hydra_clock();
        return HYDRA_SUCCESS;
    }
    waited = hydra_clock() - wait->moved_at;
    wait->spinning = waited <= SPIN_FOR;
    if (wait->spinning)
        return HYDRA_SUCCESS;
    if (waited > wait->timeout)
        return timed_out(wait);
    if (waited <= YIELD_FOR) {
        sched_yield();
        return HYDRA_SUCCESS;
    }
    for (int naps = wait->naps++; naps > 0 && sleep < LONGEST_SLEEP; naps--)
        sleep *= 1.5;
    if (wait->pool != NULL)
        hydra_count(&wait->pool->counters, HYDRA_COUNTER_COMM_WAIT_SLEEPS, 1);
    pause_for(sleep < LONGEST_SLEEP ? sleep : LONGEST_SLEEP);
    return HYDRA_SUCCESS;
}

void hydra_wait_end(struct hydra_wait *wait)
{
    if (wait->pool == NULL)
        return;
    hydra_count(&wait->pool->counters, HYDRA_COUNTER_COMM_WAITS, 1);
    hydra_count(&wait->pool->counters, HYDRA_COUNTER_COMM_WAIT_SECONDS, hydra_clock() - wait->began);
}

int hydra_wait_mpi(struct hydra_wait *wait, MPI_Request *request, MPI_Status *mpi_status)
{
    int done = 0;
    int status = HYDRA_SUCCESS;

    for (;;) {
        HYDRA_TRY_MPI(MPI_Test(request, &done, mpi_status));
        if (done)
            break;
        HYDRA_TRY(hydra_wait_turn(wait, false));
    }

fail:
    hydra_wait_end(wait);
    return status;
}

int hydra_mpi_error(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    int paren = (int)strcspn(call, "(");

    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "code %d", code);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    return hydra_error(HYDRA_ERR_NET, "%.*s: %s", paren, call, text);
}
