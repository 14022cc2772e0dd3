#!/bin/sh
# plan.sh: hydra-dcp plan reads, plans, prints and refuses as it says.
tool=${top_builddir:-.}/hydra-dcp
data=${top_srcdir:-.}/tests/data/batch_128.txt
names=$(sed -n 's/^HYDRA_POLICY([A-Z_]*, *[0-9]*, "\([a-z-]*\)".*/\1/p' "${top_srcdir:-.}/include/hydra_policies.def" | grep -vx default)
policies=$(echo "$names" | wc -l)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
number=0 failed=0

# result STATUS SENTENCE: 0 is good; the last command's output is shown otherwise.
result() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        sed 's/^/# /' "$work/out" "$work/err"; echo "not ok $number - $2"; failed=1; fi
}
plan() { "$tool" plan "$@" > "$work/out" 2> "$work/err"; }
says() { grep -qe "$1" "$work/out"; }
# refused PATTERN ARGUMENTS...: exit status 2 or 1, nothing on standard output, the sentence on standard error.
refused() {
    pattern=$1; shift
    plan "$@" && return 1
    [ ! -s "$work/out" ] && grep -qe "$pattern" "$work/err"
}

plan --lengths "$data" --pool 128 --budget 8192 --policy memory &&
    says '^policy  *memory$' && says '^documents  *2258, 4194304 tokens$' && says '^microbatches  *5,' && says '^critical load  *1\.67'
result $? "a plan's figures are printed: Megatron-Core's rule has 5 microbatches and critical load 1.67 on the yardstick"

plan --lengths "$data" --pool 128 --budget 8192 && says '^policy  *load$' && says '^hash  *[0-9a-f]\{16\}$'
result $? "the default policy without a cost model is load"

cp "$work/out" "$work/first"
plan --lengths - --pool 128 --budget 8K < "$data" && grep -v time "$work/first" > "$work/a" && grep -v time "$work/out" | cmp -s - "$work/a"
result $? "standard input and a file of the same lengths give the same plan, 8K is 8192"

plan --draw 4 --pool 128 --budget 8192 && grep -v time "$work/out" | cmp -s - "$work/a"
result $? "the drawn batch for a pool of 128 is the kept one"

plan --lengths "$data" --pool 128 --budget 8192 --policy all &&
    [ "$(echo "$names" | while read -r name; do grep "^$name " "$work/out"; done | wc -l)" -eq "$policies" ]
result $? "--policy all prints a row for every policy"

printf '100\n7\n' > "$work/two"
plan --lengths "$work/two" --pool 8 --budget 20 --policy all --heads 2 --transport all-to-all &&
    grep -q '^static .*needs degree 8, there are 2 heads' "$work/out" && says '^load  *[0-9]'
result $? "a policy that cannot plan the batch says why in its row of the table"

plan --lengths "$data" --pool 128 --budget 8192 --policy all --pp 4 --chunks 3 --heads 64 --cost "${top_srcdir:-.}/share/settings/testbed-256k.cfg" &&
    says 'predicted s' && awk -v policies="$policies" '/^[a-z-]+ +[0-9]/ { seconds[$1] = $9 } END {
        for (policy in seconds) if (seconds[policy] <= 0 || seconds["auto"] > seconds[policy] * 1.000001) exit 1
        exit length(seconds) == policies ? 0 : 1 }' "$work/out"
result $? "--cost predicts every policy's iteration, and auto's is the shortest"

plan --lengths "$data" --pool 128 --budget 8192 --policy all --json &&
    [ "$(grep -c '"policy": "' "$work/out")" -eq "$policies" ] && says '"critical_ratio": 1\.6' && says '"microbatches": 5' &&
    "${top_builddir:-.}/tests/json_check" < "$work/out"
result $? "--json prints every figure of every policy"

plan --lengths "$data" --pool 128 --budget 8192 --save "$work/saved" && [ "$(head -n 1 "$work/saved")" = "hydra-dcp schedule 1" ] &&
    grep -q "^hash $(awk '/^hash/ { print $2 }' "$work/out")\$" "$work/saved"
result $? "--save writes the schedule under the hash that is printed"

plan --lengths "$data" --pool 128 --budget 8192 --explain && says '^microbatch 4: ' && says '^  slots 0\.\.31  degree 32 ='
result $? "--explain prints the groups of every microbatch"

plan --lengths "$data" --pool 128 --budget 8192 --svg "$work/plan.svg" --html "$work/plan.html" &&
    grep -q '<svg' "$work/plan.svg" && grep -q '<html' "$work/plan.html"
result $? "--svg and --html draw the plan"

plan --lengths "$data" --pool 128 --budget 8192 --policy static --save "$work/other" &&
    plan --load "$work/saved" && grep -v 'planning time' "$work/first" | cmp -s - "$work/out"
result $? "--load prints the figures of a saved schedule as they were when it was planned"

plan --load "$work/saved,$work/saved" && [ "$(grep -c "^$work/saved  *5 " "$work/out")" -eq 2 ] &&
    plan --load "$work/saved,$work/other" --html "$work/both.html" && says "^static  *5 " &&
    [ "$(grep -o '<figcaption><b>[^<]*' "$work/both.html" | sort -u | wc -l)" -eq 2 ] &&
    plan --load "$work/saved,$work/other" --json && "${top_builddir:-.}/tests/json_check" < "$work/out"
result $? "--load puts two files side by side as table, report and JSON, named by their files when their policies are the same"

refused "$work/nothing: cannot be read" --load "$work/saved,$work/nothing"
result $? "a file to load that is not there is named"
refused "load goes without" --load "$work/saved" --pool 8
result $? "--load with a pool is refused"

plan --lengths /dev/null --pool 4 --budget 8 && says '^documents  *0, 0 tokens' && says '^microbatches  *1, 0 groups'
result $? "no documents at all are one empty microbatch"

plan --lengths "$data" --pool 96 --budget 8192 --policy load && says '^greatest degree  *32'
result $? "a pool that is no power of two is planned"

printf '12\n13\nfourteen\n' > "$work/bad"
refused "$work/bad:3: 'fourteen' is not a whole number" --lengths "$work/bad" --pool 4 --budget 8
result $? "a bad line is named by file and line"
printf 'length\n12\n' > "$work/table"
refused "'length' is not a whole number (one length a line; # begins a comment)" --lengths "$work/table" --pool 4 --budget 8
result $? "a line that is no number says what a file of lengths looks like"
printf '\037\213\010\000\n' > "$work/packed"
refused "$work/packed:1: bytes that are no text: is the file compressed?" --lengths "$work/packed" --pool 4 --budget 8
result $? "a compressed file is refused, and its bytes stay off the terminal"
printf '5\n12\00034\n' > "$work/zero"
refused "$work/zero:2: bytes that are no text" --lengths "$work/zero" --pool 4 --budget 8
result $? "what stands behind a zero byte is not left out in silence"
printf '%0260d\n' 7 > "$work/long"
refused "$work/long:1: the line is too long" --lengths "$work/long" --pool 4 --budget 8
result $? "a line too long is refused and not read as two"
printf '\357\273\27712\r\n\r\n 7 \r\n9' > "$work/windows"
plan --lengths "$work/windows" --pool 4 --budget 8 && says '^documents  *3, 28 tokens'
result $? "a byte order mark, line ends of Windows, blank lines and a last line without an end are read"
refused "/nonexistent: cannot be read" --lengths /nonexistent --pool 4 --budget 8
result $? "a missing file is named"
refused "'greedy' is not a planning policy (there are: default load .*)" --lengths "$data" --pool 128 --budget 8192 --policy greedy
result $? "an unknown policy is named, with the known ones"
refused "has no option '--polcy'" --lengths "$data" --pool 128 --budget 8192 --polcy load
result $? "an unknown option is named"
refused "pool is required" --lengths "$data" --budget 8192
result $? "a missing pool is named"
refused "either --lengths or --draw" --pool 4 --budget 8192
result $? "a missing batch is named"
refused "mask: 'triangle' is none of causal, full, window" --lengths "$data" --pool 128 --budget 8192 --mask triangle
result $? "an unknown mask is named with the known ones"
refused "document [0-9]* of [0-9]* tokens needs more than budget 100 x greatest degree 128: a budget of [0-9]* or a pool of" \
    --lengths "$data" --pool 128 --budget 100
result $? "a document that cannot fit is named with what would do"
refused "cannot be written" --lengths "$data" --pool 128 --budget 8192 --save /nonexistent/saved || grep -q "cannot be written" "$work/err"
result $? "a schedule that cannot be saved is an error"
plan --help && says -- '--lengths FILE' && says -- '--policy NAME'
result $? "--help lists the options"

echo "1..$number"
exit $failed
