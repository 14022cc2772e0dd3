/* progress.h: a line that says how far long work has come, on a terminal only. */
#ifndef HYDRA_TOOLS_PROGRESS_H
#define HYDRA_TOOLS_PROGRESS_H

#include <stdint.h>

/* Replace the line: "work 3 of 16" for at = 2; without numbers when of is 0 or 1. A hydra_watcher. */
void tool_progress(const char *work, int64_t at, int64_t of);

/* Take the line away, before anything else is printed; nothing when there is none. */
void tool_progress_end(void);

#endif
