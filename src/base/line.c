/* line.c: lines of a text file. */
#include "base/line.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"

int hydra_line_read(const char *path, int64_t number, FILE *file, char *line, size_t room, bool *found)
{
    size_t length = 0;
    int c, status = HYDRA_SUCCESS;

    while ((c = getc(file)) != EOF && c != '\n') {
        HYDRA_REQUIRE((c >= ' ' && c != 0x7f) || c == '\t' || c == '\r', HYDRA_ERR_FORMAT,
                      "%s:%" PRId64 ": bytes that are no text: is the file compressed?", path, number);
        HYDRA_REQUIRE(length + 1 < room, HYDRA_ERR_FORMAT, "%s:%" PRId64 ": the line is too long", path, number);
        line[length++] = (char)c;
    }
    HYDRA_REQUIRE(ferror(file) == 0, HYDRA_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    line[length] = '\0';
    *found = c != EOF || length > 0;

fail:
    return status;
}
