TESTS += tests/install/layering.sh
dist_check_SCRIPTS += tests/install/layering.sh
