/* config.h: the library's environment variables, one list (config.def). Read once per use, never cached. */
#ifndef HYDRA_BASE_CONFIG_H
#define HYDRA_BASE_CONFIG_H

enum {
#define HYDRA_CONFIG(constant, name, fallback, meaning) HYDRA_CONFIG_##constant,
#include "base/config.def"
#undef HYDRA_CONFIG
    HYDRA_CONFIG_COUNT
};

struct hydra_config_variable {
    const char *name;
    const char *fallback;
    const char *meaning;
};

extern const struct hydra_config_variable hydra_config_variables[HYDRA_CONFIG_COUNT];

/* Value from the environment, else the default; never NULL. */
const char *hydra_config_get(int variable);

/* The `skip`-th variable of the environment that begins with HYDRA_DCP_ but is none of the list, "NAME=value"; NULL
 * past the end. */
const char *hydra_config_unknown(int skip);

/* The value as a number within low..high; HYDRA_ERR_FORMAT names the variable. */
int hydra_config_get_double(int variable, double low, double high, double *value);

#endif
