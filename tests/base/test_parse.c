/* test_parse.c: numbers from text, strictly. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "tests/tap.h"

static void whole_numbers_are_read_whole(void)
{
    int64_t value = 7;
    bool good = true;

    good &= TAP_CHECK(hydra_parse_int("x", "4K", 0, 1 << 20, &value) == HYDRA_SUCCESS && value == 4096, "4K is %ld",
                      (long)value);
    good &=
        TAP_CHECK(hydra_parse_int("x", "-3", -5, 5, &value) == HYDRA_SUCCESS && value == -3, "-3 is %ld", (long)value);
    tap_result(good, "whole numbers, signs and suffixes are read");
}

static void bad_numbers_are_refused_by_name(void)
{
    static const char *const bad[] = {"",   " 1", "1 ",  "1x", "0x10", "9223372036854775808", "8589934592G",
                                      "+1", "-",  "1KK", "6"};
    bool good = true;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t value = 7;

        good &= TAP_CHECK(hydra_parse_int("--pool", bad[i], 0, 5, &value) == HYDRA_ERR_FORMAT, "'%s' gave %ld", bad[i],
                          (long)value);
        good &= TAP_CHECK(value == 7, "'%s' changed the output", bad[i]);
        good &= TAP_CHECK(strstr(hydra_error_detail(), "--pool") != NULL, "'%s': %s", bad[i], hydra_error_detail());
    }
    tap_result(good, "bad whole numbers are refused by an error that names the place");
}

static void doubles_reject_nan_and_tails(void)
{
    static const char *const bad[] = {"", "nan", "1e", "1.5s", " 2", "inf", "0x1p3", ".", "1e999", "-1e-9"};
    double value = 7;
    bool good = true;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        good &= TAP_CHECK(hydra_parse_double("T", bad[i], 0, 1e9, &value) == HYDRA_ERR_FORMAT, "'%s' gave %g", bad[i],
                          value);
    good &=
        TAP_CHECK(hydra_parse_double("T", "2.5", 0, 3, &value) == HYDRA_SUCCESS && value == 2.5, "2.5 is %g", value);
    good &=
        TAP_CHECK(hydra_parse_double("T", "-0", 0, 3, &value) == HYDRA_SUCCESS && !signbit(value), "-0 is %g", value);
    good &= TAP_CHECK(hydra_parse_double("T", "1e999", 0, HUGE_VAL, &value) == HYDRA_ERR_FORMAT, "1e999 is %g", value);
    tap_result(good, "numbers with a fraction are read strictly");
}

/* In a program that speaks German, say. */
static void a_point_is_a_point_in_every_locale(void)
{
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "es_ES.UTF-8", "ru_RU.UTF-8"};
    const char *sentence = "a point is a point in every locale, and the caller's locale stays";
    char text[32];
    double value = 0;
    bool good = true;
    size_t i = 0;

    while (i < sizeof with_comma / sizeof with_comma[0] && setlocale(LC_NUMERIC, with_comma[i]) == NULL)
        i++;
    if (i == sizeof with_comma / sizeof with_comma[0]) {
        tap_skip(sentence, "no locale with a decimal comma is installed");
        return;
    }
    good &= TAP_CHECK(hydra_parse_double("T", "0.5", 0, 1, &value) == HYDRA_SUCCESS && value == 0.5, "%g", value);
    snprintf(text, sizeof text, "%.1f", 0.5);
    good &= TAP_CHECK(strcmp(text, "0,5") == 0, "the program prints %s afterwards", text);
    setlocale(LC_NUMERIC, "C");
    tap_result(good, sentence);
}

int main(void)
{
    whole_numbers_are_read_whole();
    bad_numbers_are_refused_by_name();
    doubles_reject_nan_and_tails();
    a_point_is_a_point_in_every_locale();
    return tap_done();
}
