/* line.h: lines of a text file that a person wrote. */
#ifndef HYDRA_BASE_LINE_H
#define HYDRA_BASE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Read the next line, without its end. A line of `room` bytes and more and bytes that are no text are errors: after a
 * cut the rest would be read as a line of its own, after a zero byte not at all, and a terminal obeys the others.
 *
 * path, number  [in]   go into the error
 * found         [out]  false at the end of the file
 *
 * Returns HYDRA_ERR_FORMAT, or HYDRA_ERR_IO when the file cannot be read. */
int hydra_line_read(const char *path, int64_t number, FILE *file, char *line, size_t room, bool *found);

#endif
