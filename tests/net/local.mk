check_PROGRAMS += tests/net/test_net tests/net/test_threads
tests_net_test_net_LDADD = $(test_ldadd)
tests_net_test_threads_LDADD = $(test_ldadd)
TESTS += tests/net/net.mpi
EXTRA_DIST += tests/net/net.mpi
