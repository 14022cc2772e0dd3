# HYDRA_INSTALL: what install.am and hydra-dcp.pc need to know. libtool cannot install into a path with blanks, so it
# installs into a staging folder under HYDRA_RPATH, which is libdir unless that holds a blank.
AC_DEFUN([HYDRA_INSTALL], [
  HYDRA_RPATH='${libdir}'
  AS_CASE(["$prefix$exec_prefix$libdir"], [*[[[:blank:]]]*], [HYDRA_RPATH=/usr/lib])
  AC_SUBST([HYDRA_RPATH])
])
