# Examples are built here by `make check` and `make demo`, and installed as sources with a Makefile of their own, which
# installcheck runs against the installed library.
examplesdir = $(docdir)/examples
examples_sources =
dist_examples_DATA = $(examples_sources) examples/Makefile

# With an installed tree only: pkg-config must find it and nothing of the build tree is seen.
installcheck-local:
	rm -rf examples-installed && mkdir examples-installed && cp "$(DESTDIR)$(examplesdir)"/* examples-installed
	PKG_CONFIG_PATH="$(DESTDIR)$(pkgconfigdir)$${PKG_CONFIG_PATH:+:$$PKG_CONFIG_PATH}"; export PKG_CONFIG_PATH; \
	LD_LIBRARY_PATH="$(DESTDIR)$(libdir)$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}"; export LD_LIBRARY_PATH; \
	cd examples-installed && $(MAKE) check
	"$(DESTDIR)$(bindir)/`echo hydra-dcp | sed '$(transform)'`" --version
	rm -rf examples-installed
