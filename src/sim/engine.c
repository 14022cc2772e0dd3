/* engine.c: the names of the communication patterns, and which policy is usually run with which. */
#include <string.h>

#include "base/error.h"
#include "sim/stage.h"

static const char *const names[HYDRA_ENGINES] = {"ring", "ulysses", "overlap", "near"};

const char *hydra_engine_name(int engine)
{
    return engine >= 0 && engine < HYDRA_ENGINES ? names[engine] : NULL;
}

int hydra_engine_from_name(const char *name, int *engine)
{
    for (int i = 0; i < HYDRA_ENGINES; i++)
        if (strcmp(name, names[i]) == 0) {
            *engine = i;
            return HYDRA_SUCCESS;
        }
    return hydra_error(HYDRA_ERR_ARG, "'%s' is no engine: ring, ulysses, overlap or near", name);
}

int hydra_engine_of_policy(int policy)
{
    switch (policy) {
    case HYDRA_POLICY_BYTESCALE:
        return HYDRA_ENGINE_RING; /* HyDra section 1: ByteScale's CP is ring-based */
    case HYDRA_POLICY_MEMORY:
    case HYDRA_POLICY_MEMORY_PACKED: /* HyDra section 3.1: Megatron-Core's exchange is all-to-all */
    case HYDRA_POLICY_STATIC:
    case HYDRA_POLICY_WLB:
    case HYDRA_POLICY_FLEXSP: /* FlexSP is built on all-to-all attention */
        return HYDRA_ENGINE_ULYSSES;
    default:
        return HYDRA_ENGINE_OVERLAP; /* HyDra section 5.2, and this library's policies */
    }
}
