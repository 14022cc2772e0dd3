noinst_LTLIBRARIES += libhydra_plan.la
HYDRA_PARTS += libhydra_plan.la
libhydra_plan_la_CFLAGS = $(AM_CFLAGS) $(HYDRA_PURE_CFLAGS) $(OPENMP_CFLAGS)
libhydra_plan_la_SOURCES = \
	src/plan/batch.c src/plan/batch.h \
	src/plan/check.c \
	src/plan/column.c src/plan/column.h \
	src/plan/cost.c src/plan/cost.def src/plan/cost.h \
	src/plan/draft.c src/plan/draft.h \
	src/plan/explain.c \
	src/plan/figure1.c src/plan/figure1.h \
	src/plan/first_fit.h \
	src/plan/interleave.c src/plan/interleave.h \
	src/plan/layout.c src/plan/layout.h \
	src/plan/lengths.c src/plan/lengths.h \
	src/plan/load_core.h \
	src/plan/memory.c src/plan/memory.h \
	src/plan/options.c src/plan/options.def \
	src/plan/order.c src/plan/order.h \
	src/plan/packer.h \
	src/plan/packer_core.h \
	src/plan/pipeline.c src/plan/pipeline.h \
	src/plan/plan.c src/plan/plan.h \
	src/plan/policy.c src/plan/policy.h \
	src/plan/policy_auto.c \
	src/plan/policy_bytescale.c \
	src/plan/policy_flexsp.c \
	src/plan/policy_load.c \
	src/plan/policy_load_scan.c \
	src/plan/policy_memory.c \
	src/plan/policy_memory_packed.c \
	src/plan/policy_shaped.c \
	src/plan/policy_static.c \
	src/plan/policy_wlb.c \
	src/plan/predict.c src/plan/predict.h \
	src/plan/schedule.c src/plan/schedule.h \
	src/plan/schedule_io.c src/plan/schedule_io.h \
	src/plan/schedule_pack.c \
	src/plan/schedule_unpack.c \
	src/plan/shape_targets.c src/plan/shape_targets.h \
	src/plan/shaped_cells.h \
	src/plan/shaped_column.c src/plan/shaped_column.h \
	src/plan/shaped_documents.c \
	src/plan/shaped_long.c \
	src/plan/shaped_pack.c src/plan/shaped_pack.h \
	src/plan/shaped_short.c \
	src/plan/shaped_try.c src/plan/shaped_try.h \
	src/plan/shard.c src/plan/shard.h \
	src/plan/stats.c \
	src/plan/targets.c src/plan/targets.h \
	src/plan/view.c
