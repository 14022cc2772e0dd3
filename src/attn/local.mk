noinst_LTLIBRARIES += libhydra_attn.la
HYDRA_PARTS += libhydra_attn.la
libhydra_attn_la_CFLAGS = $(AM_CFLAGS)
libhydra_attn_la_SOURCES = \
	src/attn/backward.c \
	src/attn/engine.c src/attn/engine.h \
	src/attn/exchange.c src/attn/exchange.h \
	src/attn/forward.c \
	src/attn/heads.h \
	src/attn/layout.c src/attn/layout.h \
	src/attn/move.c src/attn/move.h \
	src/attn/relay.c src/attn/relay.h \
	src/attn/ring.c \
	src/attn/wire.c src/attn/wire.h
