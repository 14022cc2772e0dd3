/* fuzz_environment.c: libFuzzer target of numbers and of HYDRA_DCP_LOG: what is accepted is the number that the C
 * library reads from the same text, whole, finite and in its range. */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "base/log.h"
#include "base/parse.h"
#include "tests/fuzz.h"

static void reads_whole_number(const char *text)
{
    int64_t value = 7;
    int status = hydra_parse_int("x", text, -1000, (int64_t)1 << 50, &value);
    size_t length = strlen(text);

    fuzz_judge(status);
    FUZZ_REQUIRE(status == HYDRA_SUCCESS || value == 7);
    if (status != HYDRA_SUCCESS)
        return;
    FUZZ_REQUIRE(value >= -1000 && value <= (int64_t)1 << 50 && strspn(text, "-0123456789KMGkmg") == length);
    if (isdigit((unsigned char)text[length - 1]))
        FUZZ_REQUIRE(value == strtoll(text, NULL, 10));
}

static void reads_number(const char *text)
{
    double value = 7;
    int status = hydra_parse_double("x", text, 0, 1e30, &value);

    fuzz_judge(status);
    FUZZ_REQUIRE(status == HYDRA_SUCCESS || value == 7);
    if (status == HYDRA_SUCCESS)
        FUZZ_REQUIRE(isfinite(value) && !signbit(value) && value <= 1e30 &&
                     strspn(text, "+-.0123456789eE") == strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);

    if (size > 0)
        memcpy(text, data, size);
    reads_whole_number(text);
    reads_number(text);
    setenv("HYDRA_DCP_LOG", text, 1);
    fuzz_judge(hydra_log_configure());
    free(text);
    return 0;
}
