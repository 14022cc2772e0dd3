# Every test speaks TAP. MPI tests are NAME.mpi files of "program ranks..." lines, run by tests/mpirun.sh; add the file to
# TESTS and EXTRA_DIST, the program to check_PROGRAMS.
TEST_EXTENSIONS = .sh .mpi
MPI_LOG_DRIVER = $(LOG_DRIVER)
MPI_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/mpirun.sh
EXTRA_DIST += tests/mpirun.sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(top_srcdir)'; export top_srcdir; \
	top_builddir='$(top_builddir)'; export top_builddir; \
	MPICC='$(CC)'; export MPICC; \
	HYDRA_TEST_CFLAGS='$(CFLAGS)'; export HYDRA_TEST_CFLAGS; \
	FC='$(FC)'; export FC; \
	MPIEXEC='$(MPIEXEC)'; export MPIEXEC; \
	MPIEXEC_FLAGS='$(MPIEXEC_FLAGS)'; export MPIEXEC_FLAGS; \
	OMP_NUM_THREADS=1; export OMP_NUM_THREADS;
# The MPI tests alone: another MPI library is the same code behind another launcher.
check-mpi:
	@tests=; for t in $(TESTS); do case $$t in *.mpi) tests="$$tests $$t" ;; esac; done; $(MAKE) check TESTS="$$tests"
.PHONY: check-mpi
EXTRA_DIST += tests/lsan.supp

test_ldadd = libhydra_internal.la
noinst_HEADERS = tests/tap.h tests/json_check.h tests/mpi_tap.h
# Reads standard input and fails when it is not JSON: for shell tests of --json.
check_PROGRAMS += tests/json_check

FUZZERS =
include tests/base/local.mk
include tests/plan/local.mk
include tests/topo/local.mk
include tests/comm/local.mk
include tests/net/local.mk
include tests/kernel/local.mk
include tests/attn/local.mk
include tests/api/local.mk
include tests/fortran/local.mk
include tests/sim/local.mk
include tests/tools/local.mk
include tests/install/local.mk

# Fuzzers, on request: `make fuzz`, then tests/plan/fuzz_schedule -max_total_time=60 FOLDER (a saved schedule is a good seed:
# put it there). Each is its one file, linked with what needs no MPI.
FUZZ_CC = clang
FUZZ_FLAGS = -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
	-Wno-unknown-pragmas -pthread
FUZZ_LINKED = src/base/*.c src/plan/*.c src/topo/*.c src/sim/preset.c src/sim/preset_find.c src/sim/preset_scan.c src/sim/model.c \
	src/tools/options.c src/tools/progress.c src/tools/setting.c
EXTRA_DIST += $(FUZZERS:=.c)
noinst_HEADERS += tests/fuzz.h
CLEANFILES += $(FUZZERS)
.PHONY: fuzz
fuzz:
	for target in $(FUZZERS); do \
	    mkdir -p $$(dirname $$target) && (cd $(srcdir) && $(FUZZ_CC) $(FUZZ_FLAGS) -DHYDRA_BUILD -D_GNU_SOURCE= -Iinclude \
	        -Isrc -I. $(FUZZ_LINKED) $$target.c -lm -lhwloc -lconfig -o $(abs_builddir)/$$target) || exit 1; \
	done
