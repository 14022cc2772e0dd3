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
