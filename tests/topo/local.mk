# tests of src/topo
check_PROGRAMS += tests/topo/test_order
tests_topo_test_order_LDADD = $(test_ldadd)
TESTS += tests/topo/test_order
FUZZERS += tests/topo/fuzz_synthetic
