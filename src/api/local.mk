noinst_LTLIBRARIES += libhydra_api.la
HYDRA_PARTS += libhydra_api.la
libhydra_api_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libhydra_api_la_SOURCES = \
	src/api/attn.c src/api/attn.h \
	src/api/context.c src/api/context.h \
	src/api/dispatch.c \
	src/api/group.c \
	src/api/inspect.c \
	src/api/plan.c \
	src/api/saved.c \
	src/api/settings.c \
	src/api/split.c
