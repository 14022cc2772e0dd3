/* lengths.c: document lengths from a text file. */
#include "plan/lengths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/line.h"
#include "base/memory.h"
#include "base/parse.h"
#include "plan/batch.h"

/* The number of one line, or -1 for a line without one. `line` is cut. */
static int parse_line(const char *path, int64_t number, char *line, int64_t *length)
{
    char place[300], said[800];
    size_t end;

    if (number == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0) /* the byte order mark that some programs write */
        line += 3;
    line += strspn(line, " \t\r\n");
    line[strcspn(line, "#")] = '\0';
    for (end = strlen(line); end > 0 && strchr(" \t\r\n", line[end - 1]) != NULL; end--)
        line[end - 1] = '\0';
    *length = -1;
    if (line[0] == '\0')
        return HYDRA_SUCCESS;
    snprintf(place, sizeof place, "%.255s:%" PRId64, path, number);
    if (hydra_parse_int(place, line, 0, HYDRA_LENGTH_LIMIT, length) == HYDRA_SUCCESS)
        return HYDRA_SUCCESS;
    snprintf(said, sizeof said, "%s", hydra_error_detail());
    return hydra_error(HYDRA_ERR_FORMAT, "%s (one length a line; # begins a comment)", said);
}

int hydra_lengths_read(const char *path, int64_t **lengths, int64_t *ndocs)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    int64_t capacity = 1024, count = 0, *read = hydra_calloc(capacity, sizeof *read);
    char line[256];
    int status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(file != NULL, HYDRA_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    HYDRA_REQUIRE(read != NULL, HYDRA_ERR_NOMEM, "%s: lengths", path);
    for (int64_t number = 1;; number++) {
        int64_t length;
        bool found;

        HYDRA_TRY(hydra_line_read(path, number, file, line, sizeof line, &found));
        if (!found)
            break;
        HYDRA_TRY(parse_line(path, number, line, &length));
        if (length < 0)
            continue;
        if (count == capacity) {
            int64_t *grown = hydra_resize(read, capacity += capacity / 2, sizeof *read);

            HYDRA_REQUIRE(grown != NULL, HYDRA_ERR_NOMEM, "%s: %" PRId64 " lengths", path, capacity);
            read = grown;
        }
        read[count++] = length;
    }
    *lengths = read;
    *ndocs = count;
    read = NULL;

fail:
    if (file != NULL && file != stdin)
        fclose(file);
    hydra_free(read);
    return status;
}
