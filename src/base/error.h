/* error.h: how a function fails. The first to detect an error records its sentence; everyone above passes the code on.
 *
 * A function has `int status`, one label `fail:` and sets its outputs last. */
#ifndef HYDRA_BASE_ERROR_H
#define HYDRA_BASE_ERROR_H

#include <stddef.h>

#include "hydra_plan.h"

/* Record the sentence of an error for this thread and return its code. The text names the value and the place. */
int hydra_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This thread's last sentence; valid until its next error. */
const char *hydra_error_detail(void);

/* Forget the last sentence: public calls do so on entry. */
void hydra_error_clear(void);

#define HYDRA_REQUIRE(condition, code, ...)                                                                            \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            status = hydra_error(code, __VA_ARGS__);                                                                   \
            goto fail;                                                                                                 \
        }                                                                                                              \
    } while (0)

#define HYDRA_TRY(call)                                                                                                \
    do {                                                                                                               \
        if ((status = (call)) != HYDRA_SUCCESS)                                                                        \
            goto fail;                                                                                                 \
    } while (0)

#endif
