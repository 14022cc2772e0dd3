# HYDRA_CHECK_MAN: manual pages come with a tarball; a checkout makes them with lowdown and hydra-dcp's own --help.
AC_DEFUN([HYDRA_CHECK_MAN], [
  AC_ARG_VAR([LOWDOWN], [Markdown translator that makes the manual pages of a checkout])
  AC_CHECK_PROGS([LOWDOWN], [lowdown])
  hydra_build_man=no hydra_install_man=yes
  # A checkout that was built in its own folder holds pages too: of that build, not of these sources.
  AS_IF([test -e "$srcdir/doc/man/hydra-dcp.7" && { test ! -e "$srcdir/.git" || test -z "$LOWDOWN"; }],
      [hydra_man="yes (as they came)"],
    [test -z "$LOWDOWN"], [hydra_man="no: lowdown not found"; hydra_install_man=no],
    [test "$cross_compiling" = yes], [hydra_man="no: a cross-compiled hydra-dcp cannot tell its options"; hydra_install_man=no],
    [hydra_man="yes ($LOWDOWN)"; hydra_build_man=yes])
  AM_CONDITIONAL([BUILD_MAN], [test "$hydra_build_man" = yes])
  AM_CONDITIONAL([INSTALL_MAN], [test "$hydra_install_man" = yes])
  HYDRA_SUMMARY_ADD([manual pages], [$hydra_man])
])
