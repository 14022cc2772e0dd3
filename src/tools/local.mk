noinst_PROGRAMS += hydra-dcp
hydra_dcp_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
hydra_dcp_LDADD = libhydra_sim.la libhydra_internal.la
hydra_dcp_SOURCES = \
	src/tools/plan_pictures.c src/tools/plan_pictures.h \
	src/tools/bench.def \
	src/tools/bench_plan.c \
	src/tools/cmd_bench.c \
	src/tools/cmd_plan.c \
	src/tools/plan_table.c src/tools/plan_table.h \
	src/tools/cmd_sim.c \
	src/tools/commands.def src/tools/commands.h \
	src/tools/main.c \
	src/tools/options.c src/tools/options.h
