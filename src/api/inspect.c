/* inspect.c: looking inside: the log's sink and counters by name. */
#include <string.h>

#include "api/context.h"
#include "base/counters.h"
#include "base/error.h"
#include "base/log.h"

int Hydra_Set_log(Hydra_Log_function function, void *user, int level)
{
    hydra_error_clear();
    if (level < HYDRA_LOG_ERROR || level > HYDRA_LOG_DEBUG)
        return hydra_error(HYDRA_ERR_ARG, "Hydra_Set_log: level %d is not one of HYDRA_LOG_*", level);
    hydra_log_set(function, user, level);
    return HYDRA_SUCCESS;
}

/* Counters can be read after an error too: that is when they are wanted. */
int Hydra_Counter_get(Hydra_Context context, const char *name, double *value)
{
    int status = hydra_context_enter(context);
    int index;

    if (status != HYDRA_SUCCESS && status != HYDRA_ERR_STATE && status != HYDRA_ERR_PEER)
        return status;
    status = HYDRA_SUCCESS;
    HYDRA_REQUIRE(name != NULL && value != NULL, HYDRA_ERR_ARG, "Hydra_Counter_get: %s is NULL",
                  name == NULL ? "name" : "value");
    index = hydra_counter_find(name);
    HYDRA_REQUIRE(index >= 0, HYDRA_ERR_ARG, "Hydra_Counter_get: no counter is called '%s'", name);
    *value = context->pool->counters.value[index];

fail:
    return status;
}

const char *Hydra_Counter_name(int index)
{
    return hydra_counter_name(index);
}
