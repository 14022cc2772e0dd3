noinst_LTLIBRARIES += libhydra_attn.la
HYDRA_PARTS += libhydra_attn.la
libhydra_attn_la_CFLAGS = $(AM_CFLAGS)
libhydra_attn_la_SOURCES = 
