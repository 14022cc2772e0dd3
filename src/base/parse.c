/* parse.c: numbers from text, strictly. */
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Bits that a size suffix shifts by; -1 when `end` is neither a suffix nor the end. */
static int suffix_shift(const char *end)
{
    static const char suffixes[] = "KMG";
    const char *found;

    if (*end == '\0')
        return 0;
    found = end[1] == '\0' ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
    return found == NULL ? -1 : 10 * (int)(found - suffixes + 1);
}

int hydra_parse_int(const char *place, const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end = NULL;
    intmax_t number;
    int shift;
    int64_t scaled = 0;
    int overflow;

    if (text == NULL || !(isdigit((unsigned char)text[0]) || (text[0] == '-' && isdigit((unsigned char)text[1]))))
        return hydra_error(HYDRA_ERR_FORMAT, "%s: '%s' is not a whole number", place, text == NULL ? "" : text);
    errno = 0;
    number = strtoimax(text, &end, 10);
    shift = suffix_shift(end);
    if (shift < 0)
        return hydra_error(HYDRA_ERR_FORMAT, "%s: '%s' is not a whole number", place, text);
    overflow = errno == ERANGE || __builtin_mul_overflow(number, (int64_t)1 << shift, &scaled);
    if (overflow || scaled < low || scaled > high)
        return hydra_error(HYDRA_ERR_FORMAT, "%s: %s is outside %" PRId64 " .. %" PRId64, place, text, low, high);
    *value = scaled;
    return HYDRA_SUCCESS;
}

/* strtod with a point whatever the locale of the program: in many it takes a comma. */
static double number_of(const char *text, char **end)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t callers = uselocale(plain); /* of this thread alone; 0 (no memory for one) only asks */
    double number = strtod(text, end);

    uselocale(callers);
    if (plain != (locale_t)0)
        freelocale(plain);
    return number;
}

int hydra_parse_double(const char *place, const char *text, double low, double high, double *value)
{
    char *end = NULL;
    double number;

    /* strtod alone would also take blanks, hexadecimal digits and the names of infinity. */
    if (text == NULL || text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return hydra_error(HYDRA_ERR_FORMAT, "%s: '%s' is not a number", place, text == NULL ? "" : text);
    number = number_of(text, &end);
    if (*end != '\0')
        return hydra_error(HYDRA_ERR_FORMAT, "%s: '%s' is not a number", place, text);
    if (!(number >= low && number <= high) || isinf(number))
        return hydra_error(HYDRA_ERR_FORMAT, "%s: %s is outside %g .. %g", place, text, low, high);
    *value = number + 0.0; /* -0 is 0 */
    return HYDRA_SUCCESS;
}
