check_PROGRAMS += tests/net/test_net
tests_net_test_net_LDADD = $(test_ldadd)
TESTS += tests/net/net.mpi
EXTRA_DIST += tests/net/net.mpi
