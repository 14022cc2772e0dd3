/* fuzz.h: what libFuzzer targets share: a file that holds the input, and numbers drawn from it. `make fuzz` builds the
 * targets with clang; they are not part of `make check`. */
#ifndef HYDRA_TESTS_FUZZ_H
#define HYDRA_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The target ends here when `condition` does not hold. */
#define FUZZ_REQUIRE(condition)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s is false; detail: %s\n", __FILE__, __LINE__, #condition, hydra_error_detail()); \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A reader either succeeds or refuses its input by a sentence; no input is a fault of the library. */
__attribute__((unused)) static void fuzz_judge(int status)
{
    FUZZ_REQUIRE(status != HYDRA_ERR_INTERNAL && (status == HYDRA_SUCCESS || hydra_error_detail()[0] != '\0'));
}

/* Path of a file in memory that holds the input; each call overwrites the last one's. */
__attribute__((unused)) static const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int file = -1;

    if (file < 0)
        file = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    FUZZ_REQUIRE(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    return path;
}

/* The next number of up to `bytes` bytes; 0 past the end. */
__attribute__((unused)) static uint64_t fuzz_take(const uint8_t **data, size_t *size, size_t bytes)
{
    uint64_t value = 0;

    for (; bytes > 0 && *size > 0; bytes--, (*data)++, (*size)--)
        value = value << 8 | **data;
    return value;
}

/* A number of any magnitude, mostly small: one byte says how many bytes follow, or asks for an extreme. */
__attribute__((unused)) static int64_t fuzz_number(const uint8_t **data, size_t *size)
{
    uint64_t kind = fuzz_take(data, size, 1);

    if (kind >= 250)
        return (int64_t[]){0, -1, INT64_MAX, INT64_MIN, INT32_MAX, (int64_t)1 << 40}[kind - 250];
    return kind < 128 ? (int64_t)kind : (int64_t)fuzz_take(data, size, 1 + kind % 8);
}

#endif
