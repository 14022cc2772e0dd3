# Manual pages. Their Markdown sources hold directives that page.awk fills from the headers, the lists, the Fortran
# sources and hydra-dcp's own --help. A checkout makes them with lowdown; a tarball brings them along.
man_pages = doc/man/hydra-dcp.1 doc/man/hydra-dcp.7 \
	doc/man/Hydra_Attn_backward.3 \
	doc/man/Hydra_Attn_config.3 \
	doc/man/Hydra_Attn_create.3 \
	doc/man/Hydra_Attn_forward.3 \
	doc/man/Hydra_Attn_free.3 \
	doc/man/Hydra_Attn_put.3 \
	doc/man/Hydra_Attn_reserve.3 \
	doc/man/Hydra_Attn_start.3 \
	doc/man/Hydra_Attn_wait.3 \
	doc/man/Hydra_Collect.3 \
	doc/man/Hydra_Collect_start.3 \
	doc/man/Hydra_Config.3 \
	doc/man/Hydra_Context_query.3 \
	doc/man/Hydra_Cost.3 \
	doc/man/Hydra_Counter_get.3 \
	doc/man/Hydra_Counter_name.3 \
	doc/man/Hydra_Dispatch.3 \
	doc/man/Hydra_Dispatch_start.3 \
	doc/man/Hydra_Error_detail.3 \
	doc/man/Hydra_Error_string.3 \
	doc/man/Hydra_Finalize.3 \
	doc/man/Hydra_Get_version.3 \
	doc/man/Hydra_Group_comm.3 \
	doc/man/Hydra_Init.3 \
	doc/man/Hydra_Microbatch.3 \
	doc/man/Hydra_Microbatch_free.3 \
	doc/man/Hydra_Op_wait.3 \
	doc/man/Hydra_Plan.3 \
	doc/man/Hydra_Plan_options.3 \
	doc/man/Hydra_Plan_serial.3 \
	doc/man/Hydra_Policy_from_name.3 \
	doc/man/Hydra_Policy_name.3 \
	doc/man/Hydra_Range_pop.3 \
	doc/man/Hydra_Range_push.3 \
	doc/man/Hydra_Saved_create.3 \
	doc/man/Hydra_Saved_free.3 \
	doc/man/Hydra_Schedule_bcast.3 \
	doc/man/Hydra_Schedule_count.3 \
	doc/man/Hydra_Schedule_explain.3 \
	doc/man/Hydra_Schedule_free.3 \
	doc/man/Hydra_Schedule_hash.3 \
	doc/man/Hydra_Schedule_load.3 \
	doc/man/Hydra_Schedule_microbatch.3 \
	doc/man/Hydra_Schedule_save.3 \
	doc/man/Hydra_Schedule_stats.3 \
	doc/man/Hydra_Schedule_stats_get.3 \
	doc/man/Hydra_Set_log.3
man_sources = $(man_pages:=.md)
EXTRA_DIST += $(man_sources) doc/man/page.awk
man_inputs = include/hydra_plan.h include/hydra.h include/hydra_errors.def include/hydra_policies.def src/base/config.def \
	src/base/ranges.def \
	src/fortran/hydra_serial.f90 src/fortran/hydra.f90 src/fortran/buffers.f90.in

if INSTALL_MAN
dist_man_MANS = $(man_pages)
else
EXTRA_DIST += $(man_pages)
endif

if BUILD_MAN
CLEANFILES += $(man_pages)
SUFFIXES = .md
$(man_pages): $(man_inputs) doc/man/page.awk doc/man/local.mk
doc/man/hydra-dcp.1: hydra-dcp
# lowdown puts a heading on the line after .SH, where whatis does not find it.
.md:
	@$(MKDIR_P) doc/man
	$(AM_V_GEN)name=`basename $@`; \
	(cd $(srcdir) && $(AWK) -v program=$(abs_builddir)/hydra-dcp -f doc/man/page.awk $(man_inputs) doc/man/$$name.md) | \
	  $(LOWDOWN) -s -tman --parse-no-intraemph --parse-no-super --out-no-smarty \
	  -M title=$${name%.?} -M section=$${name##*.} -M source="hydra-dcp $(PACKAGE_VERSION)" \
	  -M volume=hydra-dcp | $(AWK) '/^\.S[HS]$$/ { printf "%s ", $$0; next } { print }' > $@.new && mv $@.new $@
endif
