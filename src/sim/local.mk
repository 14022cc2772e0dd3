# The simulator is linked by the command and the tests, not by the library.
noinst_LTLIBRARIES += libhydra_sim.la
libhydra_sim_la_CFLAGS = $(AM_CFLAGS) $(HYDRA_PURE_CFLAGS) $(LIBCONFIG_CFLAGS)
libhydra_sim_la_LIBADD = $(LIBCONFIG_LIBS)
libhydra_sim_la_SOURCES =
libhydra_sim_la_SOURCES += src/sim/report.h
