noinst_LTLIBRARIES += libhydra_comm.la
HYDRA_PARTS += libhydra_comm.la
libhydra_comm_la_CFLAGS = $(AM_CFLAGS)
libhydra_comm_la_SOURCES = \
	src/comm/agree.c src/comm/agree.h \
	src/comm/alarm.c src/comm/alarm.h \
	src/comm/keep.c src/comm/keep.h \
	src/comm/pool.c src/comm/pool.h \
	src/comm/wait.c src/comm/wait.h
