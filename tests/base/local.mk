check_PROGRAMS += tests/base/test_parse
tests_base_test_parse_LDADD = $(test_ldadd)
TESTS += tests/base/test_parse
check_PROGRAMS += tests/base/test_sort
tests_base_test_sort_LDADD = $(test_ldadd)
TESTS += tests/base/test_sort
FUZZERS += tests/base/fuzz_environment
