noinst_LTLIBRARIES += libhydra_kernel.la libhydra_kernel_portable.la
HYDRA_PARTS += libhydra_kernel.la
libhydra_kernel_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libhydra_kernel_la_SOURCES = \
	src/kernel/backward.h \
	src/kernel/canary.h \
	src/kernel/convert.h \
	src/kernel/forward.h \
	src/kernel/instance.h \
	src/kernel/kernel.c src/kernel/kernel.h \
	src/kernel/kernel_portable.c \
	src/kernel/kernel_ref.c \
	src/kernel/mask.h \
	src/kernel/pack.h \
	src/kernel/passes.h \
	src/kernel/room.h \
	src/kernel/sight.h \
	src/kernel/simd.h \
	src/kernel/table.h \
	src/kernel/tile.h \
	src/kernel/vector_ops.h

# The passes are one source, compiled once per instruction set.
KERNEL_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -ffp-contract=fast -fno-math-errno
libhydra_kernel_portable_la_CFLAGS = $(KERNEL_CFLAGS)
libhydra_kernel_portable_la_SOURCES = src/kernel/portable_f32.c src/kernel/portable_f64.c
libhydra_kernel_la_LIBADD = libhydra_kernel_portable.la

if KERNEL_X86
noinst_LTLIBRARIES += libhydra_kernel_avx2.la libhydra_kernel_avx512.la
libhydra_kernel_la_SOURCES += src/kernel/kernel_avx2.c src/kernel/kernel_avx512.c
libhydra_kernel_avx2_la_CFLAGS = $(KERNEL_CFLAGS) $(AVX2_CFLAGS)
libhydra_kernel_avx2_la_SOURCES = src/kernel/avx2_f32.c src/kernel/avx2_f64.c
libhydra_kernel_avx512_la_CFLAGS = $(KERNEL_CFLAGS) $(AVX512_CFLAGS)
libhydra_kernel_avx512_la_SOURCES = src/kernel/avx512_f32.c src/kernel/avx512_f64.c
libhydra_kernel_la_LIBADD += libhydra_kernel_avx2.la libhydra_kernel_avx512.la
endif
