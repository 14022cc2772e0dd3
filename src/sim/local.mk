# The simulator is linked by the command and the tests, not by the library.
noinst_LTLIBRARIES += libhydra_sim.la
libhydra_sim_la_CPPFLAGS = $(AM_CPPFLAGS) -DHYDRA_PKGDATADIR='"$(pkgdatadir)"'
libhydra_sim_la_CFLAGS = $(AM_CFLAGS) $(HYDRA_PURE_CFLAGS) $(LIBCONFIG_CFLAGS)
libhydra_sim_la_LIBADD = $(LIBCONFIG_LIBS)
libhydra_sim_la_SOURCES = \
	src/sim/average.c \
	src/sim/batches.c src/sim/batches.h \
	src/sim/compare.c src/sim/compare.h \
	src/sim/engine.c \
	src/sim/iteration.c src/sim/iteration.h \
	src/sim/job.c src/sim/job.h \
	src/sim/model.c \
	src/sim/paper.c src/sim/paper.h src/sim/paper_print.c src/sim/paper_rows.def \
	src/sim/preset_find.c src/sim/preset.h \
	src/sim/print.c src/sim/print.h src/sim/print_json.c \
	src/sim/stage.c src/sim/stage.h \
	src/sim/sweep.c \
	src/sim/timeline.c src/sim/timeline.h \
	src/sim/watch.c src/sim/watch.h \
	src/sim/work.c src/sim/work.h
if HAVE_LIBCONFIG
libhydra_sim_la_SOURCES += src/sim/preset.c src/sim/preset_scan.c
else
libhydra_sim_la_SOURCES += src/sim/preset_none.c
endif
# Pictures.
libhydra_sim_la_SOURCES += \
	src/sim/draw.h \
	src/sim/draw_chart.c src/sim/draw_degrees.c src/sim/draw_plan.c \
	src/sim/draw_timeline.c src/sim/draw_times.c \
	src/sim/grid.c src/sim/grid.h \
	src/sim/html.c src/sim/picture.c \
	src/sim/report.h \
	src/sim/svg.c src/sim/svg.h \
	src/sim/table.c \
	src/sim/trace.c \
	src/sim/words.c src/sim/words.h

# Presets: installed, and beside the program in the build tree.
modelsdir = $(pkgdatadir)/models
clustersdir = $(pkgdatadir)/clusters
dist_models_DATA = \
	share/models/deepseek-v3.cfg \
	share/models/hy3.cfg \
	share/models/hydra-production.cfg \
	share/models/hydra-testbed.cfg \
	share/models/llama3-8b.cfg \
	share/models/moe-770b-a49b.cfg \
	share/models/qwen3.5-35b-a3b.cfg
dist_clusters_DATA = \
	share/clusters/a100-p4de.cfg \
	share/clusters/gb200x8.cfg \
	share/clusters/h100.cfg \
	share/clusters/h200.cfg \
	share/clusters/h20x512.cfg \
	share/clusters/h800x2048.cfg
noinst_DATA = presets
CLEANFILES += presets
presets:
	$(AM_V_GEN)$(LN_S) $(abs_top_srcdir)/share presets
