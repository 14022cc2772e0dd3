# tests of src/api
check_PROGRAMS += tests/api/test_errors tests/api/test_init tests/api/test_plan
tests_api_test_errors_LDADD = $(test_ldadd)
tests_api_test_init_LDADD = $(test_ldadd)
tests_api_test_plan_LDADD = $(test_ldadd)
TESTS += tests/api/errors.mpi tests/api/init.mpi tests/api/plan.mpi
EXTRA_DIST += tests/api/errors.mpi tests/api/init.mpi tests/api/plan.mpi
check_PROGRAMS += tests/api/test_peers tests/api/test_single tests/api/test_sessions
tests_api_test_peers_LDADD = $(test_ldadd)
tests_api_test_single_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_api_test_single_LDADD = $(test_ldadd)
tests_api_test_sessions_LDADD = $(test_ldadd)
check_PROGRAMS += tests/api/test_memory
tests_api_test_memory_LDADD = $(test_ldadd)
check_PROGRAMS += tests/api/test_cycles
tests_api_test_cycles_LDADD = $(test_ldadd)
# Against the library that users link: its calls must reach the functions of the program.
check_PROGRAMS += tests/api/test_ranges
tests_api_test_ranges_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_api_test_ranges_LDADD = libhydra-dcp.la
check_PROGRAMS += tests/api/test_lifetimes
tests_api_test_lifetimes_LDADD = $(test_ldadd)
TESTS += tests/api/ranges.mpi
EXTRA_DIST += tests/api/ranges.mpi
