# HYDRA_UCP_OF(LIBS, VARIABLE): VARIABLE is set to the libucp that a program linked with LIBS would load, or to nothing.
AC_DEFUN([HYDRA_UCP_OF], [
  hydra_saved_libs=$LIBS
  LIBS="$1 $LIBS"
  $2=
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Init(0, 0);]])],
    [$2=`ldd conftest$EXEEXT 2>/dev/null | sed -n 's/.*libucp@<:@^ @:>@* => \(@<:@^ @:>@*\).*/\1/p'`
     AS_IF([test -n "$$2"], [$2=`readlink -f "$$2" 2>/dev/null || echo "$$2"`])])
  LIBS=$hydra_saved_libs
])

# HYDRA_UCX_TWINS(LIBS): hydra_ucx_twins says which two UCX would meet in one process, nothing when it is one.
AC_DEFUN([HYDRA_UCX_TWINS], [
  hydra_ucx_twins=
  AS_IF([test "$cross_compiling" != yes], [
    HYDRA_UCP_OF([], [hydra_ucp_mpi])
    HYDRA_UCP_OF([-Wl,--no-as-needed $1], [hydra_ucp_ours])
    AS_IF([test -n "$hydra_ucp_mpi" && test -n "$hydra_ucp_ours" && test "$hydra_ucp_mpi" != "$hydra_ucp_ours"],
      [hydra_ucx_twins="MPI loads $hydra_ucp_mpi, this would be $hydra_ucp_ours"])])
])

# HYDRA_CHECK_UCX: the outer ring's transport, unless it is another UCX than the MPI library's: two do not share a process.
AC_DEFUN([HYDRA_CHECK_UCX], [
  HYDRA_PKG([ucx], [ucx >= 1.10], [optional], [the outer ring])
  AC_MSG_CHECKING([whether MPI and we use the same UCX])
  AS_IF([test "$have_ucx" = yes],
    [HYDRA_UCX_TWINS([$UCX_LIBS])
     AS_IF([test -z "$hydra_ucx_twins"],
       [AC_MSG_RESULT([${hydra_ucp_mpi:-MPI uses none}])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([two UCX libraries would meet in one process ($hydra_ucx_twins): point --with-ucx=DIR at MPI's, or give --without-ucx])])],
    [AC_MSG_RESULT([not needed])])
])
