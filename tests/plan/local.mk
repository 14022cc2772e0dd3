check_PROGRAMS += tests/plan/test_shard
tests_plan_test_shard_LDADD = $(test_ldadd)
TESTS += tests/plan/test_shard
