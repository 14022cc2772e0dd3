/* keep.c: memory that is kept until exit because a message may still be under way. */
#include "comm/keep.h"

#include <pthread.h>

#include "base/memory.h"

struct kept {
    struct kept *next;
    void *memory;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *list;

void hydra_release(void *memory, const struct hydra_pool *pool)
{
    struct kept *kept;

    if (memory == NULL)
        return;
    if (pool != NULL && !pool->broken) {
        hydra_free(memory);
        return;
    }
    kept = hydra_calloc(1, sizeof *kept);
    if (kept == NULL)
        return;
    pthread_mutex_lock(&list_lock);
    *kept = (struct kept){list, memory};
    list = kept;
    pthread_mutex_unlock(&list_lock);
}
