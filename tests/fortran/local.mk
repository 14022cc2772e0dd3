# tests of src/fortran
EXTRA_DIST += tests/fortran/tap.f90 tests/fortran/test_serial.f90 tests/fortran/test_hydra.f90 tests/fortran/fortran.mpi \
	tests/fortran/refused.sh
if HAVE_FORTRAN
check_PROGRAMS += tests/fortran/test_serial tests/fortran/test_hydra
fortran_test_link = $(LIBTOOL) $(AM_V_lt) --tag=FC --mode=link $(FC) $(AM_FCFLAGS) $(FCFLAGS) $(LDFLAGS) -o $@
tests_fortran_test_serial_SOURCES = tests/fortran/tap.f90 tests/fortran/test_serial.f90 tests/fortran/layout.c
tests_fortran_test_serial_LDADD = libhydra-dcp-fortran.la libhydra-dcp.la
tests_fortran_test_serial_LINK = $(fortran_test_link)
tests_fortran_test_hydra_SOURCES = tests/fortran/tap.f90 tests/fortran/test_hydra.f90
tests_fortran_test_hydra_LDADD = libhydra-dcp-fortran.la libhydra-dcp.la
tests/fortran/tap.o: src/fortran/hydra.lo
tests/fortran/test_serial.o tests/fortran/test_hydra.o: tests/fortran/tap.o src/fortran/hydra.lo
CLEANFILES += fortran/tap.mod
TESTS += tests/fortran/test_serial tests/fortran/fortran.mpi tests/fortran/refused.sh
endif
