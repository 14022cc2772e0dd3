/* error.c: status codes as text, and the last sentence of each thread. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char detail[1024];

int hydra_error(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return status;
}

const char *hydra_error_detail(void)
{
    return detail;
}

void hydra_error_clear(void)
{
    detail[0] = '\0';
}

const char *Hydra_Error_string(int status)
{
    switch (status) {
#define HYDRA_ERROR(name, value, meaning)                                                                              \
    case value:                                                                                                        \
        return meaning;
#include "hydra_errors.def"
#undef HYDRA_ERROR
    default:
        return "unknown status code";
    }
}

int Hydra_Error_detail(char *text, size_t len)
{
    if (text == NULL || len == 0)
        return HYDRA_ERR_ARG;
    snprintf(text, len, "%s", detail);
    return HYDRA_SUCCESS;
}

int Hydra_Get_version(int *major, int *minor, int *patch)
{
    if (major != NULL)
        *major = HYDRA_VERSION_MAJOR;
    if (minor != NULL)
        *minor = HYDRA_VERSION_MINOR;
    if (patch != NULL)
        *patch = HYDRA_VERSION_PATCH;
    return HYDRA_SUCCESS;
}
