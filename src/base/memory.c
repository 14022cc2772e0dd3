/* memory.c: allocation whose size arithmetic cannot overflow. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* From here on a block asks for huge pages: planning millions of documents otherwise spends a fifth of its time on page
 * faults and address translation. */
#define HUGE_PAGE ((size_t)1 << 21)

/* Bytes of an array, at least 1; 0 when it cannot exist. */
static size_t array_bytes(int64_t count, size_t size)
{
    size_t bytes;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > PTRDIFF_MAX - 64)
        return 0;
    return bytes == 0 ? 1 : bytes;
}

void *hydra_calloc(int64_t count, size_t size)
{
    size_t bytes = array_bytes(count, size);

    return bytes == 0 ? NULL : calloc(1, bytes);
}

void *hydra_alloc(int64_t count, size_t size)
{
    size_t bytes = array_bytes(count, size);
    void *block;

    if (bytes < HUGE_PAGE)
        return bytes == 0 ? NULL : aligned_alloc(64, (bytes + 63) / 64 * 64);
    /* aligned_alloc wants whole pages (AddressSanitizer insists), which would waste up to 2 MiB a block. */
    if (posix_memalign(&block, HUGE_PAGE, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(block, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* a wish: failing changes nothing */
#endif
    return block;
}

void *hydra_resize(void *old, int64_t count, size_t size)
{
    size_t bytes = array_bytes(count, size);

    return bytes == 0 ? NULL : realloc(old, bytes);
}

char *hydra_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);

    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

void hydra_free(void *block)
{
    free(block);
}
