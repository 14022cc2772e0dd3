/* fuzz_options.c: libFuzzer target of the command line: words between zero bytes are read by a table with an option of
 * every kind. Run it with -close_fd_mask=1: --help prints. */
#include <math.h>
#include <stdbool.h>

#include "tests/fuzz.h"
#include "tools/options.h"

enum { MOST_WORDS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1), *words[MOST_WORDS + 1] = {"plan"}, line[TOOL_COMMAND_LINE];
    const char *name = NULL;
    int64_t count = 1, wide = 0;
    double share = 0, large = 0;
    bool flag = false, done = false;
    int nwords = 1, status;
    const struct tool_option options[] = {
        {"count", TOOL_INT, &count, "N", "a small number", 1, 100},
        {"wide", TOOL_INT, &wide, "N", "a large one", 0, 0x1p62},
        {"share", TOOL_DOUBLE, &share, "X", "a share", 0, 1},
        {"large", TOOL_DOUBLE, &large, "X", "any number", -1e30, 1e30},
        {"name", TOOL_STRING, &name, "NAME", "a word", 0, 0},
        {"flag", TOOL_FLAG, &flag, NULL, "a flag", 0, 0},
        {NULL, TOOL_FLAG, NULL, NULL, NULL, 0, 0},
    };

    if (size > 0)
        memcpy(text, data, size);
    for (size_t at = 0; at < size && nwords < MOST_WORDS; at += strlen(text + at) + 1)
        words[nwords++] = text + at;
    tool_command_line(nwords, words, line);
    status = tool_options_read(nwords, words, "usage: plan", options, &done);
    fuzz_judge(status);
    FUZZ_REQUIRE(count >= 1 && count <= 100 && wide >= 0 && share >= 0 && share <= 1 && fabs(large) <= 1e30);
    FUZZ_REQUIRE(strlen(line) < sizeof line && (!done || status == HYDRA_SUCCESS));
    free(text);
    return 0;
}
