noinst_LTLIBRARIES += libhydra_net.la
HYDRA_PARTS += libhydra_net.la
libhydra_net_la_CFLAGS = $(AM_CFLAGS)
libhydra_net_la_SOURCES = src/net/net.h
