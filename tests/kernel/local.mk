check_LTLIBRARIES += libtest_kernel.la
libtest_kernel_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
libtest_kernel_la_SOURCES = tests/kernel/attention.h tests/kernel/problem.c tests/kernel/problem.h

check_PROGRAMS += tests/kernel/test_edges tests/kernel/test_exact tests/kernel/test_threads
tests_kernel_test_edges_LDADD = libtest_kernel.la $(test_ldadd)
tests_kernel_test_edges_LDFLAGS = $(OPENMP_CFLAGS)
tests_kernel_test_exact_LDADD = libtest_kernel.la $(test_ldadd)
tests_kernel_test_exact_LDFLAGS = $(OPENMP_CFLAGS)
tests_kernel_test_threads_LDADD = libtest_kernel.la $(test_ldadd)
tests_kernel_test_threads_LDFLAGS = $(OPENMP_CFLAGS)
TESTS += tests/kernel/test_edges tests/kernel/test_exact tests/kernel/test_threads tests/kernel/bench_kernel.sh
dist_check_SCRIPTS += tests/kernel/bench_kernel.sh
