#!/bin/sh
# quality.sh: bench quality reads its settings strictly and prints a row for each.
program=${top_builddir:-.}/hydra-dcp settings=${top_srcdir:-.}/share/settings
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
number=0

result() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        sed 's/^/# /' "$work/out"; echo "not ok $number - $2"; fi
}
# refused SED-SCRIPT WORDS: a setting edited so is refused with these words.
refused() {
    sed "$1" "$settings/testbed-32k.cfg" >"$work/one.cfg"
    ! "$program" bench quality --settings "$work" --batches 1 --random 0 >"$work/out" 2>&1 && grep -q "$2" "$work/out"
    result $? "a setting is refused: $2"
}
refused 's/^pool = .*/pool = none/' 'one.cfg:2: pool'
refused 's/^budget/bugdet/' 'one.cfg:3: bugdet is not a key'
refused '/^context/d' 'context is missing'
refused 's/^heads = .*/heads = -1/' 'heads'
refused 's/^heads.*/pool = 3/' 'pool is given twice'
refused 's/^fixed = .*/fixed = 0x1p-3/' "fixed: '0x1p-3' is not a number"
refused 's/^fixed = .*/fixed = 1e4/' 'fixed: 1e4 is outside'
refused "1s/.*/$(printf '#%0600d' 7)/" 'one.cfg:1: the line is too long'
sed 's/^pool = .*/pool = 8/; s/^context = .*/context = 16384/' "$settings/testbed-32k.cfg" >"$work/one.cfg"
"$program" bench quality --settings "$work" --batches 2 --random 2 >"$work/out" 2>&1 && grep -q '^one  *2 ' "$work/out" &&
    grep -q '^random  *2 ' "$work/out"
result $? "a small setting and two random ones are judged"
# One stage, one microbatch a document that fills it: shaped is the ideal column itself.
sed 's/^pool = .*/pool = 1/; s/^context = .*/context = 512/; s/^pipeline_stages = .*/pipeline_stages = 1/
    s/^pipeline_chunks = .*/pipeline_chunks = 1/' "$settings/testbed-32k.cfg" >"$work/one.cfg"
"$program" bench quality --settings "$work" --batches 2 --random 0 >"$work/out" 2>&1 &&
    grep -q '^one  *2 .* 100\.0% (100\.0-100\.0) ' "$work/out"
result $? "on one slot without a pipeline every plan takes the ideal column's time"
"$program" bench quality --batches 1 --random 0 >"$work/out" 2>&1 &&
    [ "$(grep -cE '^[a-z0-9-]+ +1 ' "$work/out")" -eq "$(ls "$settings" | wc -l)" ]
result $? "the settings that come along are found beside the program, before it is installed too"
echo "1..$number"
