# HYDRA_COMPILER_FLAGS: warnings and visibility, kept apart from the user's CFLAGS.
AC_DEFUN([HYDRA_COMPILER_FLAGS], [
  AC_OPENMP
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])], [], [enable_werror=no])
  HYDRA_CFLAGS="-fvisibility=hidden -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wpointer-arith -Wno-psabi"
  # clang: a loop that it leaves scalar is no mistake of ours.
  HYDRA_CFLAGS="$HYDRA_CFLAGS -Wno-pass-failed"
  AS_IF([test "$enable_werror" = yes], [HYDRA_CFLAGS="$HYDRA_CFLAGS -Werror"])
  # Planner and simulator must give the same bytes on every machine: no fused multiply-add behind our back.
  HYDRA_PURE_CFLAGS="-ffp-contract=off"
  AC_SUBST([HYDRA_CFLAGS])
  AC_SUBST([HYDRA_PURE_CFLAGS])
  HYDRA_SUMMARY_ADD([OpenMP], [${OPENMP_CFLAGS:-no}])
])
