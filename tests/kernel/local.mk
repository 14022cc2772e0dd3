check_LTLIBRARIES += libtest_kernel.la
libtest_kernel_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -O3
libtest_kernel_la_SOURCES = tests/kernel/attention.h tests/kernel/problem.c tests/kernel/problem.h
check_PROGRAMS += tests/kernel/test_exact
tests_kernel_test_exact_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_kernel_test_exact_LDADD = libtest_kernel.la $(test_ldadd)
TESTS += tests/kernel/test_exact
