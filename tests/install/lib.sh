# lib.sh: TAP for the install tests that build whole trees; sourced, with $work a fresh folder. Not a test.
work=$(mktemp -d)
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
number=0 failed=0
jobs=${JOBS:-2}

# expect SENTENCE COMMAND...: passes when the command does; shows the end of its output otherwise.
expect() {
    sentence=$1
    shift
    number=$((number + 1))
    if "$@" >"$work/out" 2>&1 </dev/null; then echo "ok $number - $sentence"; return 0; fi
    tail -n 25 "$work/out" | sed 's/^/# /'
    echo "not ok $number - $sentence"
    failed=1
    return 1
}
# refuse SENTENCE WORDS COMMAND...: passes when the command fails and says WORDS.
refuse() {
    sentence=$1 words=$2
    shift 2
    number=$((number + 1))
    if "$@" >"$work/out" 2>&1 </dev/null; then
        echo "# it succeeded"
    elif grep -qF -- "$words" "$work/out"; then
        echo "ok $number - $sentence"
        return 0
    else
        tail -n 8 "$work/out" | sed 's/^/# /'
        echo "# does not say: $words"
    fi
    echo "not ok $number - $sentence"
    failed=1
}
skip() { number=$((number + 1)); echo "ok $number - $1 # SKIP $2"; }
finish() { echo "1..$number"; exit $failed; }
