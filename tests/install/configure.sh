#!/bin/sh
# configure.sh: configure with every dependency missing in turn, with wrong requests, and as a cross-compiler would.
# Builds nothing; run by .ci/run.
source=$(cd "${top_srcdir:-.}" && pwd)
. "$source/tests/install/lib.sh"

# fresh OPTIONS...: configure in an empty folder.
fresh() { rm -rf "$work/build" && mkdir "$work/build" && cd "$work/build" && "$source/configure" -q "$@" 2>&1 | tee "$work/said" && test -e Makefile; }
says() { grep -E -- "$1" "$work/said"; }

# A pkg-config that does not know one module.
real=$(command -v pkg-config)
cat >"$work/pkg-config" <<SH
#!/bin/sh
case " \$* " in *" \$HYDRA_TEST_DENY "*) exit 1 ;; esac
exec "$real" "\$@"
SH
chmod +x "$work/pkg-config"
without() { HYDRA_TEST_DENY=$1 PKG_CONFIG=$work/pkg-config fresh; }

for module in libconfig ucx openblas; do
    grep -q "HYDRA_PKG(\[$module\]" "$source"/m4/*.m4 || continue
    expect "a machine without $module configures" without "$module"
    expect "and the summary says that $module is not found" says "$module *: no: pkg-config does not find $module"
    refuse "--with-$module is fatal there" "--with-$module=yes was given" env HYDRA_TEST_DENY=$module PKG_CONFIG="$work/pkg-config" \
        sh -c 'mkdir -p "$1/b" && cd "$1/b" && "$2/configure" -q --with-'"$module" - "$work" "$source"
    refuse "--with-$module=DIR counts only what stands in DIR" "/nonexistent holds no" fresh --with-$module=/nonexistent
    expect "--without-$module configures" fresh --without-$module
    expect "and the summary says that it was asked for" says "$module *: no, as --without-$module asks"
done
refuse "a machine without hwloc is told what to install" "hwloc >= 2.1 is required" env HYDRA_TEST_DENY=hwloc PKG_CONFIG="$work/pkg-config" \
    sh -c 'mkdir -p "$1/b" && cd "$1/b" && "$2/configure" -q' - "$work" "$source"
refuse "--without-hwloc is fatal" "--without-hwloc was given" fresh --without-hwloc
refuse "a machine without pkg-config is told so" "pkg-config itself is missing" fresh PKG_CONFIG=no
refuse "a compiler without MPI is refused" "set MPICC=wrapper or --with-mpi=DIR" fresh CC=gcc
refuse "--with-mpi=DIR wants a wrapper in DIR" "/nonexistent/bin holds no mpicc" fresh --with-mpi=/nonexistent
if command -v gfortran >/dev/null; then
    expect "a machine with a Fortran compiler configures" fresh
    expect "and builds the module" says "Fortran *: yes"
fi
expect "a machine without a Fortran compiler configures" fresh FC=/nonexistent
expect "and the summary says why there is no module" says "Fortran *: no: "
refuse "--enable-fortran is fatal there" "--enable-fortran was given" fresh --enable-fortran FC=/nonexistent
expect "--disable-fortran configures" fresh --disable-fortran
expect "and the summary says that it was asked for" says "Fortran *: no: as --disable-fortran asks"
expect "a cross-compiler configures without running a program" fresh --build=i686-pc-linux-gnu --host="$(gcc -dumpmachine)"
expect "no macro of ours runs a program" sh -c '! grep -nE "AC_RUN_IFELSE|AC_TRY_RUN" "$1"/configure.ac "$1"/m4/hydra_*.m4' - "$source"
finish
