/* policy.c: the table of planning policies and their names. */
#include "plan/policy.h"

#include <string.h>

#include "base/error.h"

static const struct hydra_policy policies[] = {
    {HYDRA_POLICY_LOAD, hydra_policy_load},
    {HYDRA_POLICY_MEMORY, hydra_policy_memory},
    {HYDRA_POLICY_MEMORY_PACKED, hydra_policy_memory_packed},
    {HYDRA_POLICY_STATIC, hydra_policy_static},
    {HYDRA_POLICY_BYTESCALE, hydra_policy_bytescale},
    {HYDRA_POLICY_WLB, hydra_policy_wlb},
    {HYDRA_POLICY_FLEXSP, hydra_policy_flexsp},
    {HYDRA_POLICY_SHAPED, hydra_policy_shaped},
    {HYDRA_POLICY_AUTO, hydra_policy_auto},
};

static const struct {
    int id;
    const char *name;
} names[] = {
#define HYDRA_POLICY(constant, value, name, meaning) {HYDRA_POLICY_##constant, name},
#include "hydra_policies.def"
#undef HYDRA_POLICY
};

/* " default load memory ..." */
#define HYDRA_POLICY(constant, value, name, meaning) " " name
static const char known[] =
#include "hydra_policies.def"
    ;
#undef HYDRA_POLICY

const struct hydra_policy *hydra_policy_find(int id)
{
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        if (policies[i].id == id)
            return &policies[i];
    return NULL;
}

int Hydra_Policy_from_name(const char *name, int *policy)
{
    hydra_error_clear();
    if (name == NULL || policy == NULL)
        return hydra_error(HYDRA_ERR_ARG, "Hydra_Policy_from_name: name or policy is NULL");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, name) == 0) {
            *policy = names[i].id;
            return HYDRA_SUCCESS;
        }
    return hydra_error(HYDRA_ERR_ARG, "'%s' is not a planning policy (there are:%s)", name, known);
}

const char *Hydra_Policy_name(int policy)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].id == policy)
            return names[i].name;
    return NULL;
}
