/* lengths.h: document lengths from a text file. */
#ifndef HYDRA_PLAN_LENGTHS_H
#define HYDRA_PLAN_LENGTHS_H

#include <stdint.h>

/**
 * Read one document length a line; blank lines and what follows a '#' are skipped.
 *
 * path     [in]   a file, or "-" for standard input
 * lengths  [out]  hydra_free; set only on success
 *
 * Returns HYDRA_ERR_IO, or HYDRA_ERR_FORMAT with file and line of the first bad one.
 */
int hydra_lengths_read(const char *path, int64_t **lengths, int64_t *ndocs);

#endif
