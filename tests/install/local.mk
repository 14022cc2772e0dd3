# Quick checks of what is installed. Those that build the whole tree again are run by .ci/run.
TESTS += tests/install/layering.sh tests/install/headers.sh tests/install/exports.sh tests/install/man.sh
dist_check_SCRIPTS += tests/install/layering.sh tests/install/headers.sh tests/install/exports.sh tests/install/man.sh
