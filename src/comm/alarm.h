/* alarm.h: how a rank whose operation failed tells the others, so that none waits for it in vain. One receive from
 * anybody stays posted on the pool's communicator; it also is what drives MPI in hydra_progress. */
#ifndef HYDRA_COMM_ALARM_H
#define HYDRA_COMM_ALARM_H

#include <stdbool.h>

struct hydra_pool;
struct hydra_alarm;

/* Post the receive and register the driver. pool->comm must be set. */
int hydra_alarm_create(struct hydra_pool *pool);

/* Withdraw the receive. Local. Nulls pool->alarm; memory under an unfinished send is kept until exit. */
void hydra_alarm_free(struct hydra_pool *pool);

/* Another rank raised the alarm; false while there is none. */
bool hydra_alarm_heard(const struct hydra_pool *pool);

/* Break the pool and record what the other rank said: HYDRA_ERR_PEER. */
int hydra_alarm_error(struct hydra_pool *pool);

/* Tell every other rank this thread's detail. Never waits. */
void hydra_alarm_raise(struct hydra_pool *pool, int status);

#endif
