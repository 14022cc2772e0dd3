/* progress.c: one line of stderr, rewritten in place. Nothing where nobody looks: logs and pipes stay clean. */
#include "tools/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define CLEAR "\r\033[K"

static bool shown;

void tool_progress(const char *work, int64_t at, int64_t of)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (of > 1)
        fprintf(stderr, CLEAR "%s %" PRId64 " of %" PRId64, work, at + 1, of);
    else
        fprintf(stderr, CLEAR "%s", work);
    shown = true;
}

void tool_progress_end(void)
{
    if (shown)
        fprintf(stderr, CLEAR);
    shown = false;
}
