# Quick checks of what is installed. Those that build whole trees are run by .ci/run.
install_checks = tests/install/layering.sh tests/install/headers.sh tests/install/exports.sh tests/install/man.sh \
	tests/install/spack.sh tests/install/examples.sh
TESTS += $(install_checks)
dist_check_SCRIPTS += $(install_checks)
EXTRA_DIST += tests/install/lib.sh tests/install/configure.sh tests/install/packaging.sh tests/install/consumer.cc \
	tests/install/consumer.f90 doc/spack/package.py
