/* layout.c: C's view of the types of module hydra, for test_serial.f90 and test_hydra.f90. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hydra.h"

int same_as_init(const char *type, const void *fortran);
int same_layout(const char *type, size_t size, size_t last);
int constant_of(const char *name);

/* Static, so that padding is zero in C as it is in Fortran. */
static const Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;
static const Hydra_Cost cost = HYDRA_COST_INIT;
static const Hydra_Attn_config attn = HYDRA_ATTN_CONFIG_INIT;

int same_as_init(const char *type, const void *fortran)
{
    const void *init = strcmp(type, "options") == 0 ? (const void *)&options
                       : strcmp(type, "cost") == 0  ? (const void *)&cost
                                                    : (const void *)&attn;
    size_t size = strcmp(type, "options") == 0 ? sizeof options : strcmp(type, "cost") == 0 ? sizeof cost : sizeof attn;

    for (size_t i = 0; i < size; i++) {
        if (((const unsigned char *)init)[i] != ((const unsigned char *)fortran)[i]) {
            printf("# byte %zu of %s differs\n", i, type);
            return 0;
        }
    }
    return 1;
}

/* last: offset of the last component. */
int same_layout(const char *type, size_t size, size_t last)
{
    if (strcmp(type, "stats") == 0)
        return size == sizeof(Hydra_Schedule_stats) && last == offsetof(Hydra_Schedule_stats, predicted_seconds);
    return size == sizeof(Hydra_Microbatch) && last == offsetof(Hydra_Microbatch, group_ranks);
}

int constant_of(const char *name)
{
    static const struct {
        const char *name;
        int value;
    } constants[] = {
#define HYDRA_ERROR(name, value, meaning) {"HYDRA_" #name, HYDRA_##name},
#include "hydra_errors.def"
#undef HYDRA_ERROR
#define HYDRA_POLICY(name, value, text, meaning) {"HYDRA_POLICY_" #name, HYDRA_POLICY_##name},
#include "hydra_policies.def"
#undef HYDRA_POLICY
        {"HYDRA_FACTOR_COST", HYDRA_FACTOR_COST},     {"HYDRA_MASK_WINDOW", HYDRA_MASK_WINDOW},
        {"HYDRA_CAP_PAPER", HYDRA_CAP_PAPER},         {"HYDRA_FLOAT16", HYDRA_FLOAT16},
        {"HYDRA_LOG_DEBUG", HYDRA_LOG_DEBUG},         {"HYDRA_V", HYDRA_V},
        {"HYDRA_VERSION_MINOR", HYDRA_VERSION_MINOR},
    };

    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        if (strcmp(constants[i].name, name) == 0)
            return constants[i].value;
    return -1000;
}
