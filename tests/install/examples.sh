#!/bin/sh
# examples.sh: the README's program is examples/first.c; it, the Fortran example and the tutorial's program run, on ranks
# that do not divide.
source=${top_srcdir:-.} build=${top_builddir:-.}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
number=0 failed=0
verdict() { # CODE SENTENCE
    number=$((number + 1))
    if [ "$1" = 0 ]; then echo "ok $number - $2"; else sed 's/^/# /' "$work/out"; echo "not ok $number - $2"; failed=1; fi
}
run() { timeout 120 $MPIEXEC $MPIEXEC_FLAGS -n "$@" >"$work/out" 2>&1 </dev/null; }

awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit; next } on' "$source/README.md" >"$work/first.c"
diff "$work/first.c" "$source/examples/first.c" >"$work/out"
verdict $? "the README shows examples/first.c"
if [ -z "$MPIEXEC" ]; then echo "1..$number # no MPI launcher"; exit $failed; fi
run 3 "$build/examples/first" && test "$(sed -n 's/.* holds \([0-9]*\) tokens.*/\1/p' "$work/out" | awk '{ s += $1 } END { print s }')" = 11220
verdict $? "its microbatches hold every token of three ranks' documents"
if [ -x "$build/examples/long_context_f90" ]; then
    run 3 "$build/examples/long_context_f90" && grep -q 'greatest relative error' "$work/out"
    verdict $? "the Fortran example agrees with double precision on three ranks"
fi
run 1 "$build/tests/install/tutorial" && cp "$work/out" "$work/alone" && run 3 "$build/tests/install/tutorial" &&
    test "$(grep -c loss "$work/alone")" = 3 && cmp "$work/out" "$work/alone" >>"$work/out"
verdict $? "the tutorial's program finds the same losses on one rank and on three"
echo "1..$number"
exit $failed
