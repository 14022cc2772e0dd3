# tests of src/sim
sim_ldadd = libhydra_sim.la $(test_ldadd)

check_PROGRAMS += tests/sim/test_iteration
tests_sim_test_iteration_SOURCES = tests/sim/test_iteration.c tests/sim/random_work.h
tests_sim_test_iteration_LDADD = $(sim_ldadd)
TESTS += tests/sim/test_iteration

if HAVE_LIBCONFIG
check_PROGRAMS += tests/sim/test_presets
tests_sim_test_presets_LDADD = $(sim_ldadd)
TESTS += tests/sim/test_presets

check_PROGRAMS += tests/sim/test_stage
tests_sim_test_stage_LDADD = $(sim_ldadd)
TESTS += tests/sim/test_stage

check_PROGRAMS += tests/sim/test_job
tests_sim_test_job_LDADD = $(sim_ldadd)
TESTS += tests/sim/test_job

TESTS += tests/sim/sim_command.sh
endif

check_PROGRAMS += tests/sim/test_paper
tests_sim_test_paper_LDADD = $(sim_ldadd)
TESTS += tests/sim/test_paper
EXTRA_DIST += tests/sim/sim_command.sh

check_PROGRAMS += tests/sim/test_pictures
tests_sim_test_pictures_LDADD = $(sim_ldadd)
TESTS += tests/sim/test_pictures
check_PROGRAMS += tests/sim/test_words
tests_sim_test_words_LDADD = $(sim_ldadd)
TESTS += tests/sim/test_words
FUZZERS += tests/sim/fuzz_presets
