/* config.c: the library's environment variables. */
#include "base/config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

const struct hydra_config_variable hydra_config_variables[HYDRA_CONFIG_COUNT] = {
#define HYDRA_CONFIG(constant, name, fallback, meaning) {name, fallback, meaning},
#include "base/config.def"
#undef HYDRA_CONFIG
};

const char *hydra_config_get(int variable)
{
    const char *value = getenv(hydra_config_variables[variable].name);

    return value == NULL ? hydra_config_variables[variable].fallback : value;
}

extern char **environ; /* POSIX has it in no header */

static bool is_known(const char *entry)
{
    for (int i = 0; i < HYDRA_CONFIG_COUNT; i++) {
        size_t length = strlen(hydra_config_variables[i].name);

        if (strncmp(entry, hydra_config_variables[i].name, length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

const char *hydra_config_unknown(int skip)
{
    const char *prefix = "HYDRA_DCP_";

    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        if (strncmp(*entry, prefix, strlen(prefix)) == 0 && !is_known(*entry) && skip-- == 0)
            return *entry;
    return NULL;
}

int hydra_config_get_double(int variable, double low, double high, double *value)
{
    return hydra_parse_double(hydra_config_variables[variable].name, hydra_config_get(variable), low, high, value);
}
