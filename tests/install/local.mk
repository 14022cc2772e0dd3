# Quick checks of what is installed. Those that build whole trees are run by .ci/run.
install_checks = tests/install/layering.sh tests/install/format.sh tests/install/headers.sh tests/install/exports.sh tests/install/man.sh \
	tests/install/spack.sh tests/install/examples.sh \
	tests/install/ranges.sh
TESTS += $(install_checks)
dist_check_SCRIPTS += $(install_checks)
EXTRA_DIST += tests/install/lib.sh tests/install/configure.sh tests/install/packaging.sh tests/install/consumer.cc \
	tests/install/consumer.f90 doc/spack/package.py

# The tutorial is a program in pieces: here it is whole.
check_PROGRAMS += tests/install/tutorial
nodist_tests_install_tutorial_SOURCES = tests/install/tutorial.c
tests_install_tutorial_LDADD = libhydra-dcp.la -lm
EXTRA_DIST += doc/tutorial.md
CLEANFILES += tests/install/tutorial.c
tests/install/tutorial.c: doc/tutorial.md
	@$(MKDIR_P) tests/install
	$(AM_V_GEN)$(AWK) '/^```c$$/ { on = 1; next } /^```$$/ { on = 0; next } on' $(srcdir)/doc/tutorial.md > $@
