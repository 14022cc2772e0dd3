#!/bin/sh
# command.sh: how hydra-dcp answers: help, exit status, and a line of progress on terminals alone.
command=${top_builddir:-.}/hydra-dcp
number=0
failed=0

# is SENTENCE TEST...: the test holds.
is() {
    number=$((number + 1))
    sentence=$1
    shift
    if "$@"; then echo "ok $number - $sentence"; else
        printf '%s\n' "$output" | sed 's/^/# /'; echo "not ok $number - $sentence"; failed=1; fi
}
has() { printf '%s\n' "$output" | grep -qE -- "$1"; }
lacks() { ! has "$1"; }

output=$("$command" help 2>&1)
is "help lists the commands" has '^  plan +'
whole=$("$command" plan --help)
output=$("$command" help plan 2>&1)
is "help COMMAND is COMMAND --help" test "$output" = "$whole"
is "a required option shows no default" lacks 'required \(default'
output=$("$command" help nothing 2>&1)
is "an unknown command is bad input" test $? = 2
is "and is named" has "'nothing' is not a command"
long=$(mktemp) || exit 99
trap 'rm -f "$long"' EXIT
printf '5\n%070d\n' 7 > "$long"
output=$("$command" bench kernel --lengths "$long" --tokens 64 2>&1)
is "a benchmark reads lengths as strictly as plan" has "$long:2: the line is too long"

output=$("$command" sim --model nothing 2>&1)
status=$?
if has 'without libconfig'; then
    echo "ok $((number + 1)) - presets and their simulation # SKIP built without libconfig"
    echo "1..$((number + 1))"
    exit $failed
fi
is "so is an unknown preset" test $status = 2
is "and is named" has "no preset 'nothing'"

set -- sim --gpus 64 --policy load --batches 2
output=$("$command" "$@" 2>&1 >/dev/null)
is "a pipe sees no progress" test -z "$output"
number=$((number + 1))
if ! script -qec true /dev/null >/dev/null 2>&1; then
    echo "ok $number - a terminal sees progress # SKIP no script(1) to make a terminal"
else
    number=$((number - 1))
    output=$(script -qec "'$command' $*" /dev/null </dev/null | tr '\r' '\n')
    is "a terminal sees progress" has 'load on 64 GPUs, batch 2 of 2$'
fi
echo "1..$number"
exit $failed
