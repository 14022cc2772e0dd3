/* watch.c: the one watcher. */
#include "sim/watch.h"

#include <stddef.h>

static hydra_watcher told;

void hydra_watch_by(hydra_watcher watcher)
{
    told = watcher;
}

void hydra_watch(const char *work, int64_t at, int64_t of)
{
    if (told != NULL)
        told(work, at, of);
}
