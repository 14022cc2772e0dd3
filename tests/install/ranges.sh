#!/bin/sh
# ranges.sh: examples/ranges.c takes the ranges over in every way that its comment names: linked to a program, preloaded,
# with the static library; also where the program hides its symbols, or the library was linked with -Bsymbolic.
source=$(cd "${top_srcdir:-.}" && pwd) build=$(cd "${top_builddir:-.}" && pwd)
. "$source/tests/install/lib.sh"
if [ -z "$MPIEXEC" ]; then echo "1..0 # SKIP no MPI launcher"; exit 0; fi
cc="$MPICC $HYDRA_TEST_CFLAGS -I$source/include"
private=$(sed -n 's/^Libs.private: //p' "$build/hydra-dcp.pc")
shared=$build/.libs/libhydra-dcp.so static=$build/.libs/libhydra-dcp.a pic=$build/.libs/libhydra_internal.a
first=$source/examples/first.c ranges=$source/examples/ranges.c
run() { rm -f "$work"/trace-*; RANGES_PREFIX=$work/trace timeout 120 $MPIEXEC $MPIEXEC_FLAGS -n 2 "$@"; }

# A trace is JSON, every B has its E, and the calls of first.c are in it with what they do inside.
sound() {
    for file in "$work/trace-0.json" "$work/trace-1.json"; do
        "$build/tests/json_check" <"$file" && awk '
            /"ph":"B"/ { split($0, word, "\""); stack[++depth] = word[4]; path = stack[1] (depth > 1 ? ">" word[4] : ""); seen[path]++ }
            /"ph":"E"/ { if (--depth < 0) bad = 1 }
            END {
                n = split("Hydra_Plan;Hydra_Plan>planning;Hydra_Dispatch>move wait;Hydra_Attn_forward>ring compute;Hydra_Collect", names, ";")
                for (i = 1; i <= n; i++) if (!(names[i] in seen)) { print FILENAME ": no " names[i]; bad = 1 }
                if (depth != 0) { print FILENAME ": " depth " ranges stay open"; bad = 1 }
                exit bad
            }' "$file" || return 1
    done
}
seen() { run "$@" && sound; }
plain() { run "$@" && ! ls "$work"/trace-* 2>/dev/null; }

expect "examples/ranges.c compiles to a library without a warning" $cc -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC "$ranges" -o "$work/ranges.so"
if [ -e "$shared" ]; then
    library="$shared -Wl,-rpath,$build/.libs"
    expect "a program links the shared library without them" $cc "$first" -o "$work/first" $library &&
        expect "it runs, and nobody writes a trace" plain "$work/first" &&
        expect "preloaded, it is called" seen env LD_PRELOAD="$work/ranges.so" "$work/first"
    expect "a program that hides its symbols links it" $cc -fvisibility=hidden "$first" "$ranges" -o "$work/linked" $library &&
        expect "linked to the program, it is called" seen "$work/linked"
    mkdir "$work/symbolic"
    expect "the library links with -Bsymbolic" $cc -shared -Wl,-Bsymbolic -Wl,-soname,libhydra-dcp.so.0 -Wl,--whole-archive "$pic" \
        -Wl,--no-whole-archive $private -o "$work/symbolic/libhydra-dcp.so.0" &&
        expect "preloaded, it is called by that library" seen env LD_LIBRARY_PATH="$work/symbolic" LD_PRELOAD="$work/ranges.so" "$work/first" &&
        expect "linked to the program, it is called by that library" seen env LD_LIBRARY_PATH="$work/symbolic" "$work/linked"
else skip "with the shared library, it is called" "no shared library was built"; fi
if [ -e "$static" ]; then
    expect "a program links the static library without them" $cc "$first" -o "$work/static" "$static" $private -lm &&
        expect "it runs, and nobody writes a trace" plain "$work/static"
    expect "a program links both" $cc "$first" "$ranges" -o "$work/both" "$static" $private -lm &&
        expect "with the static library, it is called" seen "$work/both"
else skip "with the static library, it is called" "no static library was built"; fi

# The manual's Fortran, as the functions of a C program.
page=$source/doc/man/Hydra_Range_push.3.md
if [ "${FC:-no}" != no ] && [ -e "$shared" ]; then
    awk '/^    subroutine/ { on = 1 } on { sub(/^    /, ""); print } /^ *end subroutine/ { on = 0 }' "$page" >"$work/hooks.f90"
    expect "the manual's Fortran compiles" sh -c 'cd "$1" && $2 -c hooks.f90 && test "$(nm hooks.o | grep -c " T Hydra_Range_")" = 2' - "$work" "$FC" &&
        expect "a program links it" sh -c '$1 -c "$2" -o "$3/first.o" && $4 "$3/first.o" "$3/hooks.o" -o "$3/fortran" $5' - "$cc" "$first" "$work" "$FC" "$library" &&
        expect "and Fortran prints what C would" sh -c '"$@" | grep -q "hydra: ring compute"' - $MPIEXEC $MPIEXEC_FLAGS -n 2 "$work/fortran"
else skip "the manual's Fortran is called" "no Fortran compiler or shared library"; fi
finish
