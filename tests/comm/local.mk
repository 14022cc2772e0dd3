# tests of src/comm
check_PROGRAMS += tests/comm/test_comm
tests_comm_test_comm_LDADD = $(test_ldadd)
TESTS += tests/comm/comm.mpi
EXTRA_DIST += tests/comm/comm.mpi
