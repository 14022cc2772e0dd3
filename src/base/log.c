/* log.c: log lines of this process. */
#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static const char *const modules[] = {"api", "comm", "fortran", "net"}; /* the folders that have something to say */

static struct {
    hydra_log_function function;
    void *user;
    int level;
    bool set_by_caller;
    char module[32]; /* "": all */
} sink = {.level = HYDRA_LEVEL_WARN};

void hydra_log_set(hydra_log_function function, void *user, int level)
{
    sink.function = function;
    sink.user = user;
    sink.level = level;
    sink.set_by_caller = true;
}

static bool is_module(const char *name)
{
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strcmp(modules[i], name) == 0)
            return true;
    return false;
}

int hydra_log_configure(void)
{
    const char *text = hydra_config_get(HYDRA_CONFIG_LOG);
    const char *colon = strchr(text, ':');
    size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);

    if (colon != NULL && !is_module(colon + 1))
        return hydra_error(HYDRA_ERR_FORMAT,
                           "HYDRA_DCP_LOG: no module is called '%s' (there are: api comm fortran net)", colon + 1);
    for (int level = 0; level <= HYDRA_LEVEL_DEBUG; level++)
        if (strlen(level_names[level]) == length && strncmp(text, level_names[level], length) == 0) {
            if (!sink.set_by_caller)
                sink.level = level;
            snprintf(sink.module, sizeof sink.module, "%s", colon == NULL ? "" : colon + 1);
            return HYDRA_SUCCESS;
        }
    return hydra_error(HYDRA_ERR_FORMAT,
                       "HYDRA_DCP_LOG: '%s' is not level[:module] with level error, warn, info or debug", text);
}

void hydra_log(int level, const char *module, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    if (level > sink.level || (sink.module[0] != '\0' && strcmp(sink.module, module) != 0))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (sink.function != NULL)
        sink.function(level, module, text, sink.user);
    else
        fprintf(stderr, "hydra-dcp: %s: %s: %s\n", level_names[level], module, text);
}
