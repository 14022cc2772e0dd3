# tests of src/attn
check_PROGRAMS += tests/attn/test_allocation tests/attn/test_attn tests/attn/test_layout tests/attn/test_move
tests_attn_test_allocation_LDADD = $(test_ldadd)
tests_attn_test_attn_LDADD = $(test_ldadd)
tests_attn_test_layout_LDADD = $(test_ldadd)
tests_attn_test_move_LDADD = $(test_ldadd)
TESTS += tests/attn/test_layout tests/attn/attn.mpi
EXTRA_DIST += tests/attn/attn.mpi
noinst_HEADERS += tests/attn/harness.h tests/attn/oracle.h
