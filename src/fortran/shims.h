/* shims.h: what module hydra needs of C beyond the public calls: Fortran's communicators, its configuration, its log
 * procedure. Exported by libhydra-dcp but not installed: only module hydra calls them. */
#ifndef HYDRA_FORTRAN_SHIMS_H
#define HYDRA_FORTRAN_SHIMS_H

#include "hydra.h"

/* As Hydra_Config, with Fortran's handle; empty names stand for NULL. */
struct hydra_fortran_config {
    MPI_Fint peers;
    const char *topology;
    const char *kernel;
    const char *alltoall;
    const char *ring;
    double timeout;
};

HYDRA_API int Hydra_fortran_init(MPI_Fint pool, const struct hydra_fortran_config *config, Hydra_Context *context);
HYDRA_API int Hydra_fortran_group_comm(Hydra_Context context, Hydra_Schedule schedule, int64_t m, MPI_Fint *comm);
HYDRA_API int Hydra_fortran_schedule_bcast(Hydra_Schedule *schedule, int root, MPI_Fint comm);

/* function NULL: stderr. length: of text, without the final 0. */
typedef void (*hydra_fortran_log)(int level, const char *module, int module_length, const char *text, int text_length);
HYDRA_API int Hydra_fortran_set_log(hydra_fortran_log function, int level);

/* Record an error found on the Fortran side, and return its code. */
HYDRA_API int Hydra_fortran_error(int status, const char *text);

/* A call without ierror has failed: say so in the log, or nobody would know. */
HYDRA_API void Hydra_fortran_unheard(int status);

/* Length of a C string, which Fortran cannot ask for. */
HYDRA_API int64_t Hydra_fortran_length(const char *text);

#endif
