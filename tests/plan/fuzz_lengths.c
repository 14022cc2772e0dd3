/* fuzz_lengths.c: libFuzzer target of the reader of document lengths: what it accepts are numbers that are written in
 * the file as decimal digits, one a line, and no line with a digit before its comment is left out. */
#include "base/memory.h"
#include "plan/batch.h"
#include "plan/lengths.h"
#include "tests/fuzz.h"

/* Lines that hold a digit before any '#'. */
static int64_t lines_with_digits(const uint8_t *data, size_t size)
{
    int64_t lines = 0;
    int state = 0; /* 0: nothing yet, 1: a digit was seen, 2: in a comment */

    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n') {
            state = 0;
        } else if (data[i] == '#') {
            state = 2;
        } else if (state == 0 && data[i] >= '0' && data[i] <= '9') {
            state = 1;
            lines++;
        }
    }
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t *lengths = NULL, ndocs = -1;
    int status = hydra_lengths_read(fuzz_file(data, size), &lengths, &ndocs);

    fuzz_judge(status);
    if (status != HYDRA_SUCCESS)
        return 0;
    FUZZ_REQUIRE(ndocs == lines_with_digits(data, size));
    FUZZ_REQUIRE(memchr(data, 0, size) == NULL);
    for (int64_t i = 0; i < ndocs; i++)
        FUZZ_REQUIRE(lengths[i] >= 0 && lengths[i] <= HYDRA_LENGTH_LIMIT);
    hydra_free(lengths);
    return 0;
}
