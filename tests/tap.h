/* tap.h: Test Anything Protocol for C tests. A test is a sentence; a failure prints where and with which values. */
#ifndef HYDRA_TESTS_TAP_H
#define HYDRA_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failures;

/* Report one sentence. In MPI tests only rank 0 calls it, after agreeing with the others. */
__attribute__((unused)) static void tap_result(bool good, const char *sentence)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++tap_count, sentence);
    fflush(stdout);
    tap_failures += !good;
}

__attribute__((unused)) static void tap_skip(const char *sentence, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++tap_count, sentence, why);
}

/* Print a diagnosis and return false when the condition is false: `good &= TAP_CHECK(x == 3, "x is %d", x);` */
#define TAP_CHECK(condition, ...) ((condition) ? true : tap_diagnose(__FILE__, __LINE__, #condition, __VA_ARGS__))

__attribute__((unused, format(printf, 4, 5))) static bool tap_diagnose(const char *file, int line,
                                                                       const char *condition, const char *format, ...)
{
    va_list arguments;

    printf("# %s:%d: %s is false: ", file, line, condition);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    return false;
}

/* Last statement of main: the plan line and the exit status. */
__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failures != 0;
}

#endif
