noinst_LTLIBRARIES += libhydra_kernel.la
HYDRA_PARTS += libhydra_kernel.la
libhydra_kernel_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libhydra_kernel_la_SOURCES = src/kernel/kernel.h
