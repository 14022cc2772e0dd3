#!/bin/sh
# headers.sh: the public headers stand on their own in C11 and C++17, and agree with configure.ac on the version.
include=${top_srcdir:-.}/include
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
number=0 failed=0

result() { # CODE SENTENCE: the output of the command is in $work/out
    number=$((number + 1))
    if [ "$1" = 0 ]; then echo "ok $number - $2"; else
        sed 's/^/# /' "$work/out"; echo "not ok $number - $2"; failed=1; fi
}
skip() { number=$((number + 1)); echo "ok $number - $1 # SKIP $2"; }

# The MPI wrapper's include options, for compilers that it does not wrap. MPICH and Open MPI both know -show.
mpi_include=$(${MPICC:-mpicc} -show 2>/dev/null | tr ' ' '\n' | sed -n '/^-I/p' | tr '\n' ' ')
strict='-pedantic -Wall -Wextra -Werror'

compile() { # COMPILER LANGUAGE-SUFFIX OPTIONS HEADER: the header alone, twice, and its structs in use
    printf '#include <%s>\n#include <%s>\nint main(void)\n{\n    Hydra_Plan_options options = HYDRA_PLAN_OPTIONS_INIT;\n    Hydra_Cost cost = HYDRA_COST_INIT;\n%s    return options.size != sizeof options || cost.size != sizeof cost;\n}\n' \
        "$4" "$4" "$5" >"$work/use.$2"
    $1 $3 $strict -I"$include" -c "$work/use.$2" -o "$work/use.o" >"$work/out" 2>&1
}
all='    Hydra_Config config = HYDRA_CONFIG_INIT;
    Hydra_Attn_config shape = HYDRA_ATTN_CONFIG_INIT;
    if (config.size != sizeof config || shape.size != sizeof shape)
        return 1;
'
for cc in gcc clang; do
    command -v $cc >/dev/null || { skip "hydra_plan.h is self-contained in C11 with $cc" "no $cc"; skip "hydra.h is self-contained in C11 with $cc" "no $cc"; continue; }
    compile $cc c "-std=c11" hydra_plan.h ''
    result $? "hydra_plan.h is self-contained in C11 with $cc, without MPI"
    compile $cc c "-std=c11 $(echo "$mpi_include" | sed 's/-I/-isystem /g')" hydra.h "$all"
    result $? "hydra.h is self-contained in C11 with $cc"
done
for cxx in g++ clang++; do
    command -v $cxx >/dev/null || { skip "hydra.h is self-contained in C++17 with $cxx" "no $cxx"; continue; }
    echo 'int main() {}' >"$work/empty.cc"
    $cxx "$work/empty.cc" -o "$work/empty" 2>/dev/null || { skip "hydra.h is self-contained in C++17 with $cxx" "$cxx cannot link"; continue; }
    compile $cxx cc "-std=c++17" hydra_plan.h ''
    result $? "hydra_plan.h is self-contained in C++17 with $cxx, without MPI"
    compile $cxx cc "-std=c++17 -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX $(echo "$mpi_include" | sed 's/-I/-isystem /g')" hydra.h "$all"
    result $? "hydra.h is self-contained in C++17 with $cxx"
done

if command -v gcc >/dev/null; then
    built=0
    printf '#include <mpi.h>\n#ifndef OPEN_MPI\n#error none\n#endif\n' | gcc $mpi_include -x c -fsyntax-only - 2>/dev/null && built=1
    compile gcc c "$mpi_include -DHYDRA_DCP_OPEN_MPI=$built" hydra.h "$all"
    result $? "hydra.h accepts the MPI library that pkg-config names"
    compile gcc c "$mpi_include -DHYDRA_DCP_OPEN_MPI=$((1 - built))" hydra.h "$all"
    test $? != 0 && grep -q 'another MPI library' "$work/out"
    result $? "hydra.h refuses another MPI library"
fi

configured=$(sed -n 's/^AC_INIT(\[hydra-dcp\], \[\([0-9.]*\)\].*/\1/p' "${top_srcdir:-.}/configure.ac")
declared=$(sed -n 's/^#define HYDRA_VERSION_[A-Z]* *\([0-9]*\)/\1/p' "$include/hydra_plan.h" | paste -sd. -)
echo "configure.ac says '$configured', hydra_plan.h '$declared'" >"$work/out"
test -n "$configured" && test "$configured" = "$declared"
result $? "hydra_plan.h and configure.ac name the same version"
echo "1..$number"
exit $failed
