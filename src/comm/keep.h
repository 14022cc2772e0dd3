/* keep.h: memory under unfinished messages: a transport may still write into it, so it outlives its owner. */
#ifndef HYDRA_COMM_KEEP_H
#define HYDRA_COMM_KEEP_H

#include "comm/pool.h"

/* Free a block; when the pool is broken (or unknown) keep it, reachable, until exit. NULL is fine. */
void hydra_release(void *memory, const struct hydra_pool *pool);

#endif
