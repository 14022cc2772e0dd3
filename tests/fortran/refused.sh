#!/bin/sh
# refused.sh: what module hydra must not take does not compile, and the same program with the right buffer does.
if [ -z "$FC" ] || [ "$FC" = no ]; then echo "1..0 # SKIP no Fortran compiler"; exit 0; fi
modules=$(cd "${top_builddir:-.}/fortran" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
number=0 failed=0

compiles() { # DECLARATION: of a buffer of Hydra_Dispatch and Hydra_Attn_put
    cat >"$work/use.f90" <<F90
program use
  use hydra
  type(Hydra_Context) :: context
  type(Hydra_Schedule) :: schedule
  type(Hydra_Op) :: op
  $1, asynchronous :: buffer$2
  call Hydra_$3, $4)
end program
F90
    (cd "$work" && $FC -I"$modules" -c use.f90 >out 2>&1)
}
check() { # WANTED SENTENCE ARGUMENTS...
    wanted=$1 sentence=$2
    shift 2
    number=$((number + 1))
    if compiles "$@"; then found=yes; else found=no; fi
    if [ $found = "$wanted" ]; then echo "ok $number - $sentence"; else
        sed 's/^/# /' "$work/out"; echo "not ok $number - $sentence"; failed=1; fi
}
check yes "a buffer of rank 3 is taken" "real" "(2,3,4)" "Dispatch(context, schedule, 0, 4" "buffer, buffer"
check yes "a tensor of rank 4 is taken" "real" "(2,3,4,5)" "Attn_put(op, HYDRA_Q" "buffer"
check no "a scalar is no buffer" "real" "" "Dispatch(context, schedule, 0, 4" "buffer, buffer"
check no "nor is an array of rank 5" "real" "(2,2,2,2,2)" "Dispatch(context, schedule, 0, 4" "buffer, buffer"
check no "a tensor of rank 5 is refused" "real" "(2,2,2,2,2)" "Attn_put(op, HYDRA_Q" "buffer"
check no "a tensor of whole numbers is refused" "integer" "(2,3,4)" "Attn_put(op, HYDRA_Q" "buffer"
check no "a tensor of complex numbers is refused" "complex" "(2,3,4)" "Attn_put(op, HYDRA_Q" "buffer"
echo "1..$number"
exit $failed
