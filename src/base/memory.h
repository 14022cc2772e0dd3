/* memory.h: allocation whose size arithmetic cannot overflow. Every block is released with hydra_free. */
#ifndef HYDRA_BASE_MEMORY_H
#define HYDRA_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed array of count elements; NULL when count * size overflows or memory is out. Never NULL for count 0. */
void *hydra_calloc(int64_t count, size_t size);

/* Uninitialised array, aligned to 64 bytes (a cache line, a vector register). NULL and 0 as above. */
void *hydra_alloc(int64_t count, size_t size);

/* Grow an array from hydra_calloc or hydra_resize to count elements; the new part is uninitialised. NULL: the old one
 * is still valid. */
void *hydra_resize(void *old, int64_t count, size_t size);

char *hydra_strdup(const char *text);

void hydra_free(void *block);

#endif
