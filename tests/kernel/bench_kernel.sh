#!/bin/sh
# bench_kernel.sh: hydra-dcp bench kernel measures, writes JSON and SVG, and names what is wrong with its options.
tool=$top_builddir/hydra-dcp
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT
n=0
result() { n=$((n + 1)); if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi; }

"$tool" bench kernel --tokens 70 --repetitions 1 --json --mask all --dtype all --roofline "$out/roofline.svg" > "$out/json" 2> "$out/err"
code=$?
[ $code = 0 ] || sed 's/^/# /' "$out/err"
rows=$(grep -c '"to_canary": [0-9]' "$out/json")
[ $code = 0 ] && [ "$rows" = 24 ]
result $? "every dtype, mask and direction is measured and printed as JSON"
if command -v xmllint > /dev/null; then
    xmllint --noout "$out/roofline.svg" && [ "$(grep -c '<circle' "$out/roofline.svg")" = 24 ]
else
    grep -q '</svg>' "$out/roofline.svg"
fi
result $? "the roofline is well-formed SVG with a point for every row"

printf '30\n0\n45\n' > "$out/lengths"
"$tool" bench kernel --lengths "$out/lengths" --tokens 60 --repetitions 1 --json | grep -q '"documents": 3, "tokens": 60'
result $? "a batch of documents is read from a file and cut at --tokens"

refuses() { # what the message must hold, options...
    expected=$1; shift
    "$tool" bench kernel "$@" > "$out/json" 2> "$out/err"
    [ $? != 0 ] && grep -q -e "$expected" "$out/err"
    result $? "refuses $*"
}
refuses "'quick' is not a kernel" --kernel quick
refuses "no yardstick" --kernel ref --tokens 10
refuses "'f8'" --dtype f8
refuses "outside 1 .. 256" --head-dim 300
refuses "cannot be opened" --lengths "$out/none"
printf '12\nx\n' > "$out/bad"
refuses "bad:2: 'x'" --lengths "$out/bad"
echo "1..$n"
