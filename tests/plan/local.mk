check_PROGRAMS += tests/plan/test_shard
tests_plan_test_shard_LDADD = $(test_ldadd)
TESTS += tests/plan/test_shard
check_PROGRAMS += tests/plan/test_pipeline
tests_plan_test_pipeline_LDADD = $(test_ldadd)
TESTS += tests/plan/test_pipeline
check_PROGRAMS += tests/plan/test_cost
tests_plan_test_cost_LDADD = $(test_ldadd)
TESTS += tests/plan/test_cost

noinst_HEADERS += tests/plan/batches.h
check_PROGRAMS += tests/plan/test_load
tests_plan_test_load_LDADD = $(test_ldadd)
TESTS += tests/plan/test_load
check_PROGRAMS += tests/plan/test_schedule
tests_plan_test_schedule_LDADD = $(test_ldadd)
TESTS += tests/plan/test_schedule
check_PROGRAMS += tests/plan/test_shaped
tests_plan_test_shaped_LDADD = $(test_ldadd)
TESTS += tests/plan/test_shaped
check_PROGRAMS += tests/plan/test_policies
tests_plan_test_policies_LDADD = $(test_ldadd)
TESTS += tests/plan/test_policies
check_PROGRAMS += tests/plan/test_figure1
tests_plan_test_figure1_LDADD = $(test_ldadd)
TESTS += tests/plan/test_figure1
check_PROGRAMS += tests/plan/test_targets
tests_plan_test_targets_LDADD = $(test_ldadd)
TESTS += tests/plan/test_targets
check_PROGRAMS += tests/plan/test_input
tests_plan_test_input_LDADD = $(test_ldadd)
TESTS += tests/plan/test_input
EXTRA_DIST += tests/data/README.md tests/data/batch_128.txt tests/data/wikipedia_slice.txt
check_PROGRAMS += tests/plan/test_stats
tests_plan_test_stats_LDADD = $(test_ldadd)
TESTS += tests/plan/test_stats

# Fuzzers, on request: `make fuzz`, then tests/plan/fuzz_schedule -max_total_time=60 (a saved schedule is a good seed).
FUZZ_CC = clang
FUZZ_FLAGS = -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Wno-unknown-pragmas -pthread
EXTRA_DIST += tests/plan/fuzz_schedule.c tests/plan/fuzz_batch.c
CLEANFILES += tests/plan/fuzz_schedule tests/plan/fuzz_batch
.PHONY: fuzz
fuzz:
	@mkdir -p tests/plan
	for target in fuzz_schedule fuzz_batch; do \
	    (cd $(srcdir) && $(FUZZ_CC) $(FUZZ_FLAGS) -DHYDRA_BUILD -D_GNU_SOURCE -Iinclude -Isrc -I. src/base/*.c src/plan/*.c \
	        tests/plan/$$target.c -lm -o $(abs_builddir)/tests/plan/$$target) || exit 1; \
	done
TESTS += tests/plan/same_bytes.sh
EXTRA_DIST += tests/plan/same_bytes.sh tests/plan/print_plans.c
