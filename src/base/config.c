/* config.c: the library's environment variables. */
#include "base/config.h"

#include <stdlib.h>

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

int hydra_config_get_double(int variable, double low, double high, double *value)
{
    return hydra_parse_double(hydra_config_variables[variable].name, hydra_config_get(variable), low, high, value);
}
