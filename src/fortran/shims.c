/* shims.c: C side of module hydra, for what is not a plain call. */
#include "fortran/shims.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"

static const char *none_if_empty(const char *name)
{
    return name == NULL || name[0] == '\0' ? NULL : name;
}

int Hydra_fortran_init(MPI_Fint pool, const struct hydra_fortran_config *config, Hydra_Context *context)
{
    Hydra_Config made = HYDRA_CONFIG_INIT;

    if (config != NULL) {
        made.peers = MPI_Comm_f2c(config->peers);
        made.topology = none_if_empty(config->topology);
        made.kernel = none_if_empty(config->kernel);
        made.alltoall = none_if_empty(config->alltoall);
        made.ring = none_if_empty(config->ring);
        made.timeout = config->timeout;
    }
    return Hydra_Init(MPI_Comm_f2c(pool), &made, context);
}

int Hydra_fortran_group_comm(Hydra_Context context, Hydra_Schedule schedule, int64_t m, MPI_Fint *comm)
{
    MPI_Comm group;
    int status = Hydra_Group_comm(context, schedule, m, &group);

    if (status == HYDRA_SUCCESS)
        *comm = MPI_Comm_c2f(group);
    return status;
}

int Hydra_fortran_schedule_bcast(Hydra_Schedule *schedule, int root, MPI_Fint comm)
{
    return Hydra_Schedule_bcast(schedule, root, MPI_Comm_f2c(comm));
}

static hydra_fortran_log fortran_log; /* the procedure of the last Hydra_fortran_set_log: the log is one per process */

static void forward_log(int level, const char *module, const char *text, void *user)
{
    (void)user;
    fortran_log(level, module, (int)strlen(module), text, (int)strlen(text));
}

int Hydra_fortran_set_log(hydra_fortran_log function, int level)
{
    if (function != NULL)
        fortran_log = function;
    return Hydra_Set_log(function == NULL ? NULL : forward_log, NULL, level);
}

int Hydra_fortran_error(int status, const char *text)
{
    return hydra_error(status, "%s", text);
}

void Hydra_fortran_unheard(int status)
{
    const char *detail = hydra_error_detail();

    hydra_log(HYDRA_LEVEL_ERROR, "fortran", "a call without ierror failed: %s",
              detail[0] != '\0' ? detail : Hydra_Error_string(status));
}

int64_t Hydra_fortran_length(const char *text)
{
    return (int64_t)strlen(text);
}
