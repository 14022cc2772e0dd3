# HYDRA_PROG_FC: choose FC for AC_PROG_FC: the wrapper that belongs to the MPI library, mpifort beside mpicc.
AC_DEFUN([HYDRA_PROG_FC], [
  AC_ARG_ENABLE([fortran], [AS_HELP_STRING([--enable-fortran], [module hydra (default: when mpifort works)])],
                [], [enable_fortran=auto])
  AC_ARG_VAR([MPIFC], [MPI Fortran compiler wrapper, of the same MPI library as MPICC])
  hydra_cc_program=`set -- $CC; command -v $[]1`
  hydra_mpi_suffix=`basename "$hydra_cc_program" | sed 's/^mpicc//'`
  hydra_fortran_why="no Fortran compiler"
  AS_IF([test "$enable_fortran" = no], [FC=no; hydra_fortran_why="as --disable-fortran asks"],
    [test -n "$FC"], [],
    [test -n "$MPIFC"], [FC=$MPIFC],
    [AC_PATH_PROGS([MPIFC], [mpifort$hydra_mpi_suffix mpif90$hydra_mpi_suffix], [no], [`dirname "$hydra_cc_program"`])
     FC=$MPIFC
     hydra_fortran_why="no mpifort beside $hydra_cc_program"])
])

# HYDRA_CHECK_FORTRAN: module hydra wants a compiler that knows mpi_f08. --enable-fortran makes its absence fatal.
# Call it after AC_PROG_FC and before LT_INIT.
AC_DEFUN([HYDRA_CHECK_FORTRAN], [
  have_fortran=no
  # AC_FC_MODULE_FLAG loses its folder when the compiler compiles nothing, so that is asked first; in fixed form, as no
  # suffix was chosen yet.
  AS_IF([test -n "$FC" && test "$FC" != no], [
    AC_LANG_PUSH([Fortran])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM], [], [hydra_fortran_why="$FC compiles nothing"; FC=no])
    AC_LANG_POP([Fortran])
  ])
  AS_IF([test -n "$FC" && test "$FC" != no], [
    AC_LANG_PUSH([Fortran])
    AC_FC_SRCEXT([f90], [], [:])
    AC_FC_MODULE_FLAG([:], [FC_MODINC=-I])
    AC_FC_MODULE_OUTPUT_FLAG([:], [FC_MODOUT=no])
    AC_MSG_CHECKING([whether $FC knows mpi, mpi_f08 and assumed types])
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
module probe
  use, intrinsic :: iso_c_binding
  implicit none
contains
  subroutine take(buffer)
    type(*), intent(in), asynchronous :: buffer(:)
    if (.not. is_contiguous(buffer)) stop 1
  end subroutine
end module
program main
  use mpi, only: null => MPI_COMM_NULL
  use mpi_f08, only: MPI_Comm, MPI_Init
  use probe
  implicit none
  type(MPI_Comm) :: comm
  comm%MPI_VAL = null
  call MPI_Init()
end program]])], [have_fortran=yes], [hydra_fortran_why="$FC cannot build a program with mpi, mpi_f08 and type(*)"])
    AS_IF([test "$FC_MODOUT" = no], [have_fortran=no; hydra_fortran_why="$FC has no option to say where modules go"])
    rm -f probe.mod
    AC_MSG_RESULT([$have_fortran])
    AC_MSG_CHECKING([for Fortran warning options])
    HYDRA_FCFLAGS=
    hydra_saved=$FCFLAGS
    hydra_werror=
    AS_IF([test "$enable_werror" = yes], [hydra_werror=-Werror])
    FCFLAGS="$FCFLAGS -std=f2018 -Wall -Wextra -Wno-function-elimination -Wno-compare-reals -Wno-uninitialized -Wno-maybe-uninitialized"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[end program]])], [HYDRA_FCFLAGS="-std=f2018 -Wall -Wextra -Wno-function-elimination -Wno-compare-reals -Wno-uninitialized -Wno-maybe-uninitialized $hydra_werror"])
    FCFLAGS=$hydra_saved
    AC_MSG_RESULT([${HYDRA_FCFLAGS:-none}])
    AC_LANG_POP([Fortran])
  ])
  AS_IF([test "$have_fortran" = no && test "$enable_fortran" = yes],
    [AC_MSG_ERROR([--enable-fortran was given, but: $hydra_fortran_why])])
  AS_IF([test "$have_fortran" = no], [FC=no]) # libtool then leaves Fortran alone
  AM_CONDITIONAL([HAVE_FORTRAN], [test "$have_fortran" = yes])
  AC_SUBST([HYDRA_FCFLAGS])
  AS_IF([test "$have_fortran" = yes], [HYDRA_SUMMARY_ADD([Fortran], [yes ($FC)])],
        [HYDRA_SUMMARY_ADD([Fortran], [no: $hydra_fortran_why (module hydra)])])
])
