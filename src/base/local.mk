noinst_LTLIBRARIES += libhydra_base.la
HYDRA_PARTS += libhydra_base.la
libhydra_base_la_CFLAGS = $(AM_CFLAGS)
libhydra_base_la_SOURCES = \
	src/base/counters.c src/base/counters.def src/base/counters.h \
	src/base/bits.h \
	src/base/config.c src/base/config.def src/base/config.h \
	src/base/error.c src/base/error.h \
	src/base/heap.h \
	src/base/line.c src/base/line.h \
	src/base/log.c src/base/log.h \
	src/base/memory.c src/base/memory.h \
	src/base/parse.c src/base/parse.h \
	src/base/random.h \
	src/base/range.c src/base/range.h src/base/ranges.def \
	src/base/sort.c src/base/sort.h
