# Examples are built here by `make check` and `make demo`, and installed as sources with a Makefile of their own, which
# installcheck runs against the installed library.
examplesdir = $(docdir)/examples
examples_sources = examples/first.c examples/long_context.c examples/long_context.f90 examples/ranges.c \
	examples/wikipedia_lengths.txt
dist_examples_DATA = $(examples_sources) examples/Makefile

check_PROGRAMS += examples/first examples/long_context
examples_first_LDADD = libhydra-dcp.la
examples_long_context_LDADD = libhydra-dcp.la -lm

if HAVE_FORTRAN
check_PROGRAMS += examples/long_context_f90
examples_long_context_f90_SOURCES = examples/long_context.f90
examples_long_context_f90_FCFLAGS = $(AM_FCFLAGS)
examples_long_context_f90_LDADD = libhydra-dcp-fortran.la libhydra-dcp.la
$(examples_long_context_f90_OBJECTS): src/fortran/hydra.lo
endif

# Real document lengths on 4 ranks; ranks share cores, so one thread each. Then the plans are drawn side by side.
demo: examples/long_context$(EXEEXT) hydra-dcp$(EXEEXT)
	@test -n '$(MPIEXEC)' || { echo "demo: no MPI launcher: set MPIEXEC" >&2; exit 1; }
	OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} $(MPIEXEC) $(MPIEXEC_FLAGS) -n 4 examples/long_context$(EXEEXT) \
		$(srcdir)/examples/wikipedia_lengths.txt 1000000 demo-
	./hydra-dcp$(EXEEXT) plan --load demo-static.plan,demo-memory.plan,demo-load.plan,demo-shaped.plan --html demo.html \
		--svg demo.svg > /dev/null
	@echo; echo "The plans, drawn: demo.html (and demo.svg) in `pwd`"
CLEANFILES += demo-static.plan demo-memory.plan demo-load.plan demo-shaped.plan demo.html demo.svg
.PHONY: demo

# With an installed tree only: pkg-config must find it and nothing of the build tree is seen.
installcheck-local: tests/json_check$(EXEEXT)
	rm -rf examples-installed && mkdir examples-installed && cp "$(DESTDIR)$(examplesdir)"/* examples-installed
	PKG_CONFIG_PATH="$(DESTDIR)$(pkgconfigdir)$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}"; export PKG_CONFIG_PATH; \
	LD_LIBRARY_PATH="$(DESTDIR)$(libdir)$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}"; export LD_LIBRARY_PATH; \
	test -e "$(DESTDIR)$(libdir)/libhydra-dcp.a" && test ! -e "$(DESTDIR)$(libdir)/libhydra-dcp.so" && flags=--static || flags=; \
	cd examples-installed && $(MAKE) check PKG_CONFIG_FLAGS=$$flags
	for trace in examples-installed/*.json; do tests/json_check$(EXEEXT) < $$trace || exit 1; done
	"$(DESTDIR)$(bindir)/`echo hydra-dcp | sed '$(transform)'`" --version
	rm -rf examples-installed
