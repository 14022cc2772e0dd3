# C shims belong to libhydra-dcp, whose symbols so do not depend on the configuration; module hydra is a library of its
# own, which alone needs the Fortran run time.
noinst_LTLIBRARIES += libhydra_shims.la
HYDRA_PARTS += libhydra_shims.la
libhydra_shims_la_CFLAGS = $(AM_CFLAGS)
libhydra_shims_la_SOURCES = src/fortran/shims.c src/fortran/shims.h

fortran_generators = src/fortran/generate.awk src/fortran/expand.awk src/fortran/buffers.f90.in
fortran_sources = src/fortran/hydra_support.f90 src/fortran/hydra_serial.f90 src/fortran/hydra.f90
fortran_headers = include/hydra_errors.def include/hydra_policies.def include/hydra_plan.h include/hydra.h
EXTRA_DIST += $(fortran_generators) $(fortran_sources) hydra-dcp-fortran.pc.in

if HAVE_FORTRAN
hydra_libraries += libhydra-dcp-fortran.la
EXTRA_LTLIBRARIES += libhydra-dcp-fortran.la
pkgconfig_DATA += hydra-dcp-fortran.pc
AM_FCFLAGS = $(HYDRA_FCFLAGS) $(FC_MODINC)fortran $(FC_MODOUT)fortran
nodist_libhydra_dcp_fortran_la_SOURCES = src/fortran/hydra_c.f90
libhydra_dcp_fortran_la_SOURCES = $(fortran_sources)
libhydra_dcp_fortran_la_LIBADD = libhydra-dcp.la
libhydra_dcp_fortran_la_LDFLAGS = -version-info 0:0:0 -rpath $(HYDRA_RPATH)

src/fortran/hydra_c.f90: src/fortran/generate.awk $(fortran_headers)
	@$(MKDIR_P) src/fortran fortran
	$(AM_V_GEN)cd $(srcdir) && $(AWK) -f src/fortran/generate.awk $(fortran_headers) > $(abs_builddir)/$@.new && \
	mv $(abs_builddir)/$@.new $(abs_builddir)/$@
fortran/hydra_buffers.inc: src/fortran/expand.awk src/fortran/buffers.f90.in
	@$(MKDIR_P) fortran
	$(AM_V_GEN)$(AWK) -f $(srcdir)/src/fortran/expand.awk $(srcdir)/src/fortran/buffers.f90.in > $@.new && mv $@.new $@
fortran/hydra_buffer_interfaces.inc: src/fortran/expand.awk src/fortran/buffers.f90.in
	@$(MKDIR_P) fortran
	$(AM_V_GEN)$(AWK) -v interfaces=1 -f $(srcdir)/src/fortran/expand.awk $(srcdir)/src/fortran/buffers.f90.in > $@.new && \
	mv $@.new $@

# A module is compiled after those that it uses; the .mod files lie in fortran/ of the build tree.
src/fortran/hydra_support.lo: src/fortran/hydra_c.lo
src/fortran/hydra_serial.lo: src/fortran/hydra_support.lo
src/fortran/hydra.lo: src/fortran/hydra_serial.lo fortran/hydra_buffers.inc fortran/hydra_buffer_interfaces.inc
fortran_modules = fortran/hydra.mod fortran/hydra_serial.mod fortran/hydra_support.mod fortran/hydra_c.mod
CLEANFILES += $(fortran_modules) src/fortran/hydra_c.f90 fortran/hydra_buffers.inc fortran/hydra_buffer_interfaces.inc

fmoddir = $(includedir)
install-data-hook: libhydra-dcp-fortran.la
	$(MKDIR_P) "$(DESTDIR)$(fmoddir)"
	$(INSTALL_DATA) $(fortran_modules) "$(DESTDIR)$(fmoddir)"
uninstall-hook:
	for module in $(fortran_modules); do rm -f "$(DESTDIR)$(fmoddir)/$${module#fortran/}"; done
endif
