noinst_PROGRAMS += hydra-dcp
hydra_dcp_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
hydra_dcp_LDADD = libhydra_sim.la libhydra_internal.la
hydra_dcp_SOURCES = \
	src/tools/plan_pictures.c src/tools/plan_pictures.h \
	src/tools/bench.def \
	src/tools/bench_attn.c \
	src/tools/bench_plan.c \
	src/tools/bench_quality.c \
	src/tools/ideal_column.c src/tools/ideal_column.h \
	src/tools/setting.c src/tools/setting.h \
	src/tools/bench_net.c \
	src/tools/bench_init.c \
	src/tools/bench_kernel.c \
	src/tools/flash_blas.h \
	src/tools/kernel_speed.c src/tools/kernel_speed.h \
	src/tools/roofline.c src/tools/roofline.h \
	src/tools/cmd_bench.c \
	src/tools/cmd_info.c \
	src/tools/cmd_plan.c \
	src/tools/plan_table.c src/tools/plan_table.h \
	src/tools/cmd_sim.c \
	src/tools/commands.def src/tools/commands.h \
	src/tools/main.c \
	src/tools/median.c src/tools/median.h \
	src/tools/options.c src/tools/options.h \
	src/tools/progress.c src/tools/progress.h \
	src/tools/ranks.c src/tools/ranks.h
hydra_dcp_CPPFLAGS = $(AM_CPPFLAGS) -DHYDRA_PKGDATADIR='"$(pkgdatadir)"'
settingsdir = $(pkgdatadir)/settings
dist_settings_DATA = \
	share/settings/no-pipeline-256k.cfg \
	share/settings/pool-2048.cfg \
	share/settings/pool-96.cfg \
	share/settings/production-2048.cfg \
	share/settings/testbed-256k-plain.cfg \
	share/settings/testbed-256k.cfg \
	share/settings/testbed-32k-plain.cfg \
	share/settings/testbed-32k.cfg

# The baseline of bench kernel. Its loops between the products are compiled as well as they can be.
noinst_LTLIBRARIES += libhydra_flash_blas.la
libhydra_flash_blas_la_CFLAGS = $(AM_CFLAGS) $(FLASH_BLAS_CFLAGS)
libhydra_flash_blas_la_SOURCES = src/tools/flash_blas.c
hydra_dcp_LDADD += libhydra_flash_blas.la
