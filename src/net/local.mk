noinst_LTLIBRARIES += libhydra_net.la
HYDRA_PARTS += libhydra_net.la
libhydra_net_la_CFLAGS = $(AM_CFLAGS)
libhydra_net_la_SOURCES = \
	src/net/net.c src/net/net.h src/net/transports.h \
	src/net/net_delay.c src/net/net_mpi.c src/net/net_null.c
