noinst_LTLIBRARIES += libhydra_kernel.la
HYDRA_PARTS += libhydra_kernel.la
libhydra_kernel_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libhydra_kernel_la_SOURCES = \
	src/kernel/convert.h \
	src/kernel/kernel.c src/kernel/kernel.h \
	src/kernel/kernel_ref.c \
	src/kernel/mask.h \
	src/kernel/table.h
