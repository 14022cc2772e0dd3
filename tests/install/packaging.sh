#!/bin/sh
# packaging.sh TARBALL: what a packager does, from the tarball: read-only source, build elsewhere, install into a path with
# blanks, check the installation, build consumers, uninstall. Once shared, once static. Run by .ci/run.
source=$(cd "${top_srcdir:-.}" && pwd)
tarball=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
. "$source/tests/install/lib.sh"
prefix="$work/pre fix"

expect "the tarball unpacks" tar -xzf "$tarball" -C "$work" || finish
unpacked=$(ls -d "$work"/hydra-dcp-*)
chmod -R a-w "$unpacked"
sum() { (cd "$unpacked" && find . -type f -exec cksum {} + | sort | cksum); }
before=$(sum)

in_build() { cd "$work/$build" && "$@"; }
files() { find "$prefix" ! -type d 2>/dev/null | sort; }

# consume NAME COMPILER SOURCE MODULE HOW...: compile against the installed tree, run on two ranks.
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
consume() {
    name=$1 compiler=$2 text=$3 module=$4 how=$5
    cd "$work" && eval "$compiler -o '$work/$name' '$text' $(pkg-config --cflags $module) $(pkg-config $how --libs $module)" &&
        LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $(pkg-config --variable=mpiexec hydra-dcp) \
            $(pkg-config --variable=mpiexec_flags hydra-dcp) -n 2 "$work/$name"
}
suffix() { basename "$(pkg-config --variable=mpicc hydra-dcp)" | sed 's/^mpicc//'; }

for kind in shared static; do
    build=build-$kind
    mkdir "$work/$build"
    case $kind in shared) other=--disable-static ;; *) other=--disable-shared ;; esac
    expect "$kind: a read-only source tree configures elsewhere" in_build "$unpacked/configure" -q --enable-werror $other --prefix="$prefix" || continue
    expect "$kind: builds without a warning" in_build make -s -j"$jobs" || continue
    expect "$kind: installs into a path with blanks" in_build make -s install
    expect "$kind: the installation checks itself, its examples included" in_build make -s installcheck
    expect "$kind: a C program links through pkg-config" consume first "$(pkg-config --variable=mpicc hydra-dcp)" \
        "$source/examples/first.c" hydra-dcp "$([ $kind = static ] && echo --static)"
    if [ $kind = static ]; then
        expect "static: the program holds the library" sh -c '! ldd "$1" | grep hydra' - "$work/first"
        expect "static: only .a files are installed" sh -c '! ls "$1"/lib/*.so*' - "$prefix"
    else
        expect "shared: the program needs libhydra-dcp.so.0" sh -c 'readelf -d "$1" | grep -q "libhydra-dcp.so.0"' - "$work/first"
        expect "shared: only .so files are installed" sh -c '! ls "$1"/lib/*.a' - "$prefix"
        if command -v "mpicxx$(suffix)" >/dev/null && command -v g++ >/dev/null; then
            cp "$source/tests/install/consumer.cc" "$work/consumer.cc"
            expect "shared: a C++ program links through pkg-config" consume consumer "mpicxx$(suffix) -std=c++17" "$work/consumer.cc" hydra-dcp ''
        else skip "shared: a C++ program links through pkg-config" "no C++ compiler"; fi
    fi
    if [ -e "$prefix/lib/pkgconfig/hydra-dcp-fortran.pc" ]; then
        expect "$kind: a Fortran program links through pkg-config" consume consumer_f "$(pkg-config --variable=mpifc hydra-dcp-fortran)" \
            "$source/tests/install/consumer.f90" hydra-dcp-fortran "$([ $kind = static ] && echo --static)"
    else skip "$kind: a Fortran program links through pkg-config" "no Fortran module was built"; fi
    expect "$kind: uninstalls" in_build make -s uninstall
    files >"$work/left"
    expect "$kind: nothing is left" sh -c 'cat "$1"; ! test -s "$1"' - "$work/left"
    rm -rf "$work/$build"
done
expect "the source tree is as it was" test "$(sum)" = "$before"
finish
