noinst_LTLIBRARIES += libhydra_topo.la
HYDRA_PARTS += libhydra_topo.la
libhydra_topo_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
libhydra_topo_la_LIBADD = $(HWLOC_LIBS)
libhydra_topo_la_SOURCES = \
	src/topo/place.h \
	src/topo/order.c src/topo/locate.c src/topo/synthetic.c
