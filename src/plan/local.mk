noinst_LTLIBRARIES += libhydra_plan.la
HYDRA_PARTS += libhydra_plan.la
libhydra_plan_la_CFLAGS = $(AM_CFLAGS) $(HYDRA_PURE_CFLAGS) $(OPENMP_CFLAGS)
libhydra_plan_la_SOURCES = \
	src/plan/batch.h \
	src/plan/cost.c src/plan/cost.h \
	src/plan/draft.h \
	src/plan/pipeline.c src/plan/pipeline.h \
	src/plan/policy.h \
	src/plan/schedule.h \
	src/plan/shard.c src/plan/shard.h
