/* watch.h: how far long work has come, told to whoever watches. One watcher a process: the command. */
#ifndef HYDRA_SIM_WATCH_H
#define HYDRA_SIM_WATCH_H

#include <stdint.h>

/* work: what is being done, borrowed for the call. Piece number `at` of `of` begins, counted from 0. */
typedef void (*hydra_watcher)(const char *work, int64_t at, int64_t of);

/* From now on tell this one; NULL: nobody. */
void hydra_watch_by(hydra_watcher watcher);

void hydra_watch(const char *work, int64_t at, int64_t of);

#endif
