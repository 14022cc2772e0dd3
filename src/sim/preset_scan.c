/* preset_scan.c: finds the whole numbers that libconfig 1.5 would cut to 32 bits in silence. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/preset.h"

/* The next character that is no part of a text in quotes or of a comment; a blank stands for those. */
static int next_plain(FILE *file, int *line)
{
    int c = getc(file), before = 0;

    if (c == '/') {
        int second = getc(file);

        if (second == '*') {
            while ((c = getc(file)) != EOF && !(before == '*' && c == '/')) {
                *line += c == '\n';
                before = c;
            }
            return c == EOF ? EOF : ' ';
        }
        if (second != '/') {
            ungetc(second, file);
            return c;
        }
    }
    if (c == '#' || c == '/') {
        while ((c = getc(file)) != EOF && c != '\n')
            continue;
    } else if (c == '"') {
        while ((c = getc(file)) != EOF && !(before != '\\' && c == '"')) {
            *line += c == '\n';
            before = before == '\\' ? 0 : c;
        }
        return c == EOF ? EOF : ' ';
    }
    *line += c == '\n';
    return c;
}

static bool is_wide(const char *word)
{
    const char *digits = word + (word[0] == '-' || word[0] == '+');
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    long long value;

    digits += hexadecimal ? 2 : 0;
    if (digits[0] == '\0' || digits[strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789")] != '\0')
        return false; /* a name, a number with a fraction, or one marked as long by an L */
    errno = 0;
    value = strtoll(digits, NULL, hexadecimal ? 16 : 10);
    return errno == ERANGE || value > INT32_MAX;
}

int hydra_preset_scan(const char *path)
{
    FILE *file = fopen(path, "r");
    char word[40];
    size_t length = 0;
    int line = 1, at = 1, c, status = HYDRA_SUCCESS;

    HYDRA_REQUIRE(file != NULL, HYDRA_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    do {
        at = line;
        c = next_plain(file, &line);
        if (c != EOF && c != '\0' &&
            strchr("+-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) != NULL) {
            word[length] = (char)c;
            length += length + 1 < sizeof word;
            continue;
        }
        word[length] = '\0';
        length = 0;
        HYDRA_REQUIRE(!is_wide(word), HYDRA_ERR_FORMAT,
                      "%s:%d: %s is too large for a whole number: write it with an exponent", path, at, word);
    } while (c != EOF);

fail:
    if (file != NULL)
        fclose(file);
    return status;
}
