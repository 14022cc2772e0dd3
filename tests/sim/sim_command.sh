#!/bin/sh
# sim_command.sh: `hydra-dcp sim` as people call it: what it refuses, what it writes, and that it repeats itself.
HYDRA_DCP_SHARE=${top_srcdir:-.}/share
export HYDRA_DCP_SHARE
sim="${top_builddir:-.}/hydra-dcp sim"
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
number=0
failed=0
say() {
    number=$((number + 1))
    if [ "$1" = 0 ]; then echo "ok $number - $2"; else echo "not ok $number - $2"; failed=1; fi
}

# refuse STATUS WORDS OPTIONS...: exit status, and the words on stderr.
json() { "${top_builddir:-.}/tests/json_check"; }

refused=0
refuse() {
    status=$1 words=$2
    shift 2
    $sim "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    if [ $got != "$status" ] || ! grep -qF -- "$words" "$folder/err" || [ -s "$folder/out" ]; then
        echo "# sim $*: status $got: $(cat "$folder/err")"
        refused=1
    fi
}
refuse 2 "--gpus" --gpus -3
refuse 2 "510 GPUs are no multiple of tp 1 x pp 4" --gpus 510
refuse 2 "no preset 'no-such-model'" --model no-such-model
refuse 1 "/models/gone.cfg: cannot be read" --model /models/gone.cfg
refuse 2 "'fast' is no engine" --engine fast
refuse 2 "'both' is neither balanced nor paper" --cap both
refuse 2 "--planning: 'soon' is not a number" --planning soon
refuse 2 "policy" --policy load,nonsense
refuse 2 "--sweep" --sweep colour=1
refuse 1 "gone.txt" --lengths "$folder/gone.txt"
printf '5\nfive\n' >"$folder/bad.txt"
refuse 2 "bad.txt:2: 'five' is not a whole number" --lengths "$folder/bad.txt"
refuse 1 "load: " --policy load --budget 64 --max-degree 8
sed 's/gpus = 512;/gpus = -512;/' "$HYDRA_DCP_SHARE/clusters/h20x512.cfg" >"$folder/mine.cfg"
refuse 2 "mine.cfg:3: gpus = -512 is outside" --cluster "$folder/mine.cfg"
say $refused "bad options, presets and lengths are refused with a sentence that names them, and nothing on standard output"

# Seconds of planning are measured; everything else must come again.
for run in 1 2; do
    $sim --gpus 128 --policy load,shaped,static --noise 0.05 --slow-slot 3 --slow-factor 1.3 --json |
        sed 's/"planning_seconds": [^,]*/"planning_seconds": 0/' >"$folder/run$run"
done
cmp -s "$folder/run1" "$folder/run2" && [ "$(grep -c '"policy"' "$folder/run1")" = 3 ] && json <"$folder/run1"
say $? "two runs print the same results, noise and a slow slot included"

$sim --gpus 128 --policy load,static --svg "$folder/p" --html "$folder/r.html" --trace "$folder/t.json" \
    --tokens 2e12 --price-per-gpu-hour 2 >"$folder/table"
good=$?
for file in p-stages.svg p-replicas.svg p-plan.svg p-degrees.svg r.html t.json; do
    [ -s "$folder/$file" ] || { echo "# no $file"; good=1; }
done
grep -q 'days *cost' "$folder/table" || good=1
json <"$folder/t.json" && $sim --gpus 128 --policy load --trace - | json || good=1
grep -q 'Made by <code>hydra-dcp sim --gpus 128 --policy load,static ' "$folder/r.html" || good=1
if command -v xmllint >/dev/null; then
    xmllint --noout "$folder"/*.svg "$folder/r.html" || good=1
fi
say $good "pictures, report, trace and cost are written"

$sim --gpus 2048 --batches 1 --json >"$folder/all" && [ "$(grep -c '"seconds"' "$folder/all")" = 8 ] &&
    ! grep -q '"error"' "$folder/all"
say $? "all policies plan a pool of 512 unless somebody names fewer"

# Viewers drop an event that begins before the one before it in its row has ended. Events of a row come in order of time.
$sim --trace "$folder/all.json" >"$folder/out" 2>"$folder/err" && awk '
    function number_of(key) { return match($0, "\"" key "\":[0-9.]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "" }
    function ns_of(key, text) { text = number_of(key); sub(/[.]/, "", text); return text + 0 }
    /"ph":"X"/ {
        row = number_of("pid") ":" number_of("tid"); start = ns_of("ts"); events++
        if (start < end[row]) { print "# row " row " begins at " start " ns, before " end[row]; bad = 1 }
        end[row] = start + ns_of("dur")
    }
    END { exit bad || events < 1000 }' "$folder/all.json"
say $? "in the trace no event of a row begins before the one before it has ended"

$sim --sweep context=16K,64K --gpus 128 --policy load,static --svg "$folder/s" >"$folder/table" && [ -s "$folder/s-sweep.svg" ] &&
    [ "$(grep -cE '^(load|static) +[0-9]' "$folder/table")" = 2 ]
say $? "a sweep prints a line for each policy and draws its curves"

$sim --sweep budget=4K,8K --gpus 128 --policy load,static --json --html "$folder/s.html" | json &&
    grep -q '<figcaption>[a-z]* leads from 4,096 on, there .* the next best' "$folder/s.html" &&
    { ! command -v xmllint >/dev/null || xmllint --noout "$folder/s.html"; }
say $? "a sweep's report says who leads, and its JSON is JSON"
echo "1..$number"
exit $failed
