/* json_check.c: for shell tests: reads standard input, exits 0 when it is one JSON value, else says where it is not. */
#include "tests/json_check.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    size_t length = 0, room = 1 << 16;
    char *text = malloc(room);
    long wrong;

    while (text != NULL) {
        size_t got = fread(text + length, 1, room - length, stdin);

        length += got;
        if (got == 0)
            break;
        if (length == room)
            text = realloc(text, room *= 2);
    }
    if (text == NULL)
        return 2;
    wrong = json_check(text, length);
    if (wrong >= 0)
        fprintf(stderr, "not JSON from byte %ld: %.*s\n", wrong,
                (int)(length - (size_t)wrong > 60 ? 60 : length - (size_t)wrong), text + wrong);
    free(text);
    return wrong >= 0;
}
