# tests of src/tools
TESTS += tests/tools/plan.sh
dist_check_SCRIPTS += tests/tools/plan.sh
TESTS += tests/tools/info.sh
dist_check_SCRIPTS += tests/tools/info.sh
TESTS += tests/tools/quality.sh
EXTRA_DIST += tests/tools/quality.sh
TESTS += tests/tools/command.sh
dist_check_SCRIPTS += tests/tools/command.sh
FUZZERS += tests/tools/fuzz_options tests/tools/fuzz_setting
