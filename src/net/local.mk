noinst_LTLIBRARIES += libhydra_net.la
HYDRA_PARTS += libhydra_net.la
libhydra_net_la_CFLAGS = $(AM_CFLAGS) $(UCX_CFLAGS)
libhydra_net_la_LIBADD = $(UCX_LIBS)
libhydra_net_la_SOURCES = \
	src/net/net.c src/net/net.h src/net/transports.h \
	src/net/net_delay.c src/net/net_mpi.c src/net/net_null.c
if HAVE_UCX
libhydra_net_la_SOURCES += src/net/net_ucx.c
EXTRA_DIST += src/net/net_ucx_stub.c
else
libhydra_net_la_SOURCES += src/net/net_ucx_stub.c
EXTRA_DIST += src/net/net_ucx.c
endif
