#!/bin/sh
# same_bytes.sh: the planner makes the same plans at any optimisation and under another compiler.
src=${top_srcdir:-.} build=${top_builddir:-.}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
number=0

# compile NAME COMPILER FLAGS...: hashes of all plans into $work/NAME.
compile() {
    name=$1
    shift
    "$@" -std=gnu11 -ffp-contract=off -DHYDRA_BUILD -DHAVE_CONFIG_H -I"$build" -I"$src/include" -I"$src/src" -I"$src" \
        "$src/tests/plan/print_plans.c" "$src"/src/base/*.c "$src"/src/plan/*.c -o "$work/$name.exe" -lm -lpthread \
        2>"$work/$name.log" && "$work/$name.exe" >"$work/$name"
}
# same SENTENCE NAME COMPILER FLAGS...: as the first one?
same() {
    sentence=$1 name=$2
    number=$((number + 1))
    shift
    if ! command -v "$2" >/dev/null 2>&1; then
        echo "ok $number - $sentence # SKIP no $2"
    elif compile "$@" && cmp -s "$work/first" "$work/$name"; then
        echo "ok $number - $sentence"
    else
        head -5 "$work/$name.log" | sed 's/^/# /'
        diff "$work/first" "$work/$name" | head -5 | sed 's/^/# /'
        echo "not ok $number - $sentence"
    fi
}
compiler=$(command -v gcc || command -v cc || echo clang)
number=1
if compile first "$compiler" -O0 && [ -s "$work/first" ]; then
    echo "ok 1 - 60 batches are planned under every policy at -O0"
else
    head -5 "$work/first.log" | sed 's/^/# /'
    echo "not ok 1 - 60 batches are planned under every policy at -O0"
fi
same "-O3 makes the same plans as -O0" optimised "$compiler" -O3
same "clang -O2 makes the same plans" clang clang -O2
echo "1..$number"
