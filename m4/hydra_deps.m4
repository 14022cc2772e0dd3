# HYDRA_PKG(NAME, MODULE, REQUIRED, WHY): --with-NAME[=DIR|yes|no] through pkg-config.
# Sets have_NAME, substitutes NAME_CFLAGS/NAME_LIBS, defines HYDRA_HAVE_NAME. REQUIRED is required, optional, or tool for
# what only the command uses. An explicit request that fails is fatal, and with DIR only what stands there counts.
AC_DEFUN([HYDRA_PKG], [
  AC_REQUIRE([PKG_PROG_PKG_CONFIG])
  m4_pushdef([hydra_var], [m4_translit([[$1]], [a-z-], [A-Z_])])
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1@<:@=DIR|yes|no@:>@], [$4])], [], [with_$1=auto])
  have_$1=no
  hydra_why="pkg-config does not find $2"
  AS_IF([test "$with_$1" = no], [hydra_why="--without-$1 was given"],
        [test -z "$PKG_CONFIG"], [hydra_why="pkg-config itself is missing"])
  hydra_saved_path=$PKG_CONFIG_PATH
  AS_CASE([$with_$1],
    [no|auto|yes], [],
    [hydra_dir_path="$with_$1/lib/pkgconfig:$with_$1/lib64/pkgconfig:$with_$1/share/pkgconfig"
     for hydra_d in "$with_$1"/lib/*/pkgconfig; do hydra_dir_path="$hydra_dir_path:$hydra_d"; done
     PKG_CONFIG_PATH="$hydra_dir_path${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"; export PKG_CONFIG_PATH])
  AS_IF([test "$with_$1" != no], [PKG_CHECK_MODULES(hydra_var, [$2], [have_$1=yes], [have_$1=no])])
  AS_CASE([$have_$1:$with_$1],
    [yes:yes|yes:auto|no:*], [],
    [hydra_pcdir=`$PKG_CONFIG --variable=pcfiledir "m4_bpatsubst([$2], [ .*])"`
     AS_CASE([$hydra_pcdir], ["$with_$1"/*], [], [have_$1=no; hydra_why="$with_$1 holds no m4_bpatsubst([$2], [ .*]).pc"])])
  AS_IF([test "$have_$1" = yes],
    [hydra_version=`$PKG_CONFIG --modversion "m4_bpatsubst([$2], [ .*])" 2>/dev/null`])
  PKG_CONFIG_PATH=$hydra_saved_path
  AS_IF([test "$have_$1" = no && test "$with_$1" != auto && test "$with_$1" != no],
    [AC_MSG_ERROR([--with-$1=$with_$1 was given, but $hydra_why])])
  AS_IF([test "$have_$1" = no && test "$3" = required],
    [AC_MSG_ERROR([$2 is required ($4), but $hydra_why: install it or point --with-$1 at it])])
  AS_IF([test "$have_$1" = yes],
    [AC_DEFINE([HYDRA_HAVE_]hydra_var, [1], [Define to 1 when $1 is used])
     HYDRA_SUMMARY_ADD([$1], [yes, ${hydra_version:-version unknown} ($4)])],
    [test "$with_$1" = no], [HYDRA_SUMMARY_ADD([$1], [no, as --without-$1 asks ($4)])],
    [HYDRA_SUMMARY_ADD([$1], [no: $hydra_why ($4)])])
  AM_CONDITIONAL([HAVE_]hydra_var, [test "$have_$1" = yes])
  m4_popdef([hydra_var])
])

AC_DEFUN([HYDRA_CHECK_HWLOC], [HYDRA_PKG([hwloc], [hwloc >= 2.1], [required], [machine topology])])
AC_DEFUN([HYDRA_CHECK_LIBCONFIG], [HYDRA_PKG([libconfig], [libconfig >= 1.5], [tool], [model and cluster presets of hydra-dcp sim])])
AC_DEFUN([HYDRA_CHECK_OPENBLAS], [HYDRA_PKG([openblas], [openblas], [tool], [baseline of hydra-dcp bench kernel only])])
