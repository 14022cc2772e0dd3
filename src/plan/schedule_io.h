/* schedule_io.h: a schedule as bytes: the saved file and the broadcast message are the same text. Pure. */
#ifndef HYDRA_PLAN_SCHEDULE_IO_H
#define HYDRA_PLAN_SCHEDULE_IO_H

#include "hydra_plan.h"

#define HYDRA_SCHEDULE_MAGIC "hydra-dcp schedule 1" /* first line; the number is the format's version */

/* Write a schedule into one buffer. text [out]: hydra_free; length [out] bytes, no final 0. */
int hydra_schedule_pack(const struct hydra_schedule *schedule, char **text, int64_t *length);

/* Read what hydra_schedule_pack wrote. Trusts nothing: `place` (a file name, "broadcast") and the line go into the
 * error, HYDRA_ERR_FORMAT. Memory is bounded by the text's length. schedule [out] set only on success. */
int hydra_schedule_unpack(const char *place, const char *text, int64_t length, Hydra_Schedule *schedule);

#endif
