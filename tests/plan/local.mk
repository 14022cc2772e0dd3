check_PROGRAMS += tests/plan/test_shard
tests_plan_test_shard_LDADD = $(test_ldadd)
TESTS += tests/plan/test_shard
check_PROGRAMS += tests/plan/test_pipeline
tests_plan_test_pipeline_LDADD = $(test_ldadd)
TESTS += tests/plan/test_pipeline
