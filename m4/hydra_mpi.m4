# HYDRA_PROG_MPICC: choose the MPI compiler wrapper before AC_PROG_CC looks for a compiler.
# MPICC=wrapper (or CC) overrides; DIR of --with-mpi is searched first.
AC_DEFUN([HYDRA_PROG_MPICC], [
  AC_ARG_WITH([mpi], [AS_HELP_STRING([--with-mpi=DIR], [MPI installation whose bin/mpicc to use])], [], [with_mpi=yes])
  AC_ARG_VAR([MPICC], [MPI C compiler wrapper])
  AS_CASE([$with_mpi],
    [no], [AC_MSG_ERROR([hydra-dcp cannot be built without MPI (--with-mpi=no)])],
    [yes], [hydra_mpi_path=$PATH],
    [hydra_mpi_path=$with_mpi/bin])
  AS_IF([test -z "$MPICC" && test -z "$CC"],
    [AC_PATH_PROGS([MPICC], [mpicc.mpich mpicc mpicc.openmpi], [], [$hydra_mpi_path])])
  AS_IF([test "$hydra_mpi_path" != "$PATH" && test -z "$MPICC$CC"],
    [AC_MSG_ERROR([$hydra_mpi_path holds no mpicc (--with-mpi=$with_mpi)])])
  AS_IF([test -n "$MPICC" && test -z "$CC"], [CC=$MPICC])
])

# HYDRA_CHECK_MPI: the compiler must build an MPI 3.1 program; finds the launcher that belongs to it.
AC_DEFUN([HYDRA_CHECK_MPI], [
  AC_MSG_CHECKING([for MPI 3.1 or later with $CC])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3
#error too old
#endif]], [[MPI_Request r; MPI_Comm c; MPI_Comm_idup(MPI_COMM_WORLD, &c, &r);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$CC cannot link an MPI program: set MPICC=wrapper or --with-mpi=DIR])])
  AC_CHECK_DECL([MPICH_VERSION], [hydra_mpi_flavour=MPICH],
    [AC_CHECK_DECL([OMPI_MAJOR_VERSION], [hydra_mpi_flavour="Open MPI"], [hydra_mpi_flavour=other], [[#include <mpi.h>]])],
    [[#include <mpi.h>]])
  AS_IF([test "$hydra_mpi_flavour" = "Open MPI"], [HYDRA_DCP_OPEN_MPI=1], [HYDRA_DCP_OPEN_MPI=0])
  AC_SUBST([HYDRA_DCP_OPEN_MPI]) # for pkg-config: hydra.h compares it with the MPI library it is compiled with
  AC_ARG_VAR([MPIEXEC], [MPI launcher used by the tests])
  AS_IF([test -z "$MPIEXEC"], [
    hydra_cc_program=`set -- $CC; command -v $[]1`
    hydra_mpi_suffix=`basename "$hydra_cc_program" | sed 's/^mpicc//'`
    AC_PATH_PROGS([MPIEXEC], [mpiexec$hydra_mpi_suffix mpiexec mpirun], [],
                  [`dirname "$hydra_cc_program"`$PATH_SEPARATOR$PATH])])
  AC_ARG_VAR([MPIEXEC_FLAGS], [flags of the launcher in the tests])
  AS_IF([test -z "$MPIEXEC_FLAGS" && test "$hydra_mpi_flavour" = "Open MPI"],
    [MPIEXEC_FLAGS="--oversubscribe --bind-to none --allow-run-as-root"])
  HYDRA_SUMMARY_ADD([MPI], [$hydra_mpi_flavour ($CC, launcher ${MPIEXEC:-none})])
])
