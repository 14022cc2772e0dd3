#!/bin/sh
# man.sh: the manual says what the code says: every public call has a page whose C prototype is the header's and which
# knows Fortran, every option of --help stands in hydra-dcp(1) and none else, every code and variable in hydra-dcp(7).
source=${top_srcdir:-.} build=${top_builddir:-.}
pages=$build/doc/man
[ -e "$pages/hydra-dcp.7" ] || pages=$source/doc/man
if [ ! -e "$pages/hydra-dcp.7" ]; then echo "1..0 # SKIP no manual pages were made"; exit 0; fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
number=0 failed=0

# verdict SENTENCE: passes when $work/wrong is empty.
verdict() {
    number=$((number + 1))
    if [ -s "$work/wrong" ]; then sed 's/^/# /' "$work/wrong"; echo "not ok $number - $1"; failed=1; else echo "ok $number - $1"; fi
    : >"$work/wrong"
}
# Text of a page without roff.
plain() { sed 's/\\fB//g; s/\\fI//g; s/\\fR//g; s/\\fC//g; s/\\-/-/g; s/\\&//g; s/\\_/_/g; s/\\\[u2013\]/--/g; s/\\e/\\/g' "$1"; }
: >"$work/wrong"

# One line a prototype: "NAME<tab>text with single blanks".
prototypes() { awk '/^(HYDRA_(API|HOOK) )?[a-z].*Hydra_[A-Za-z_]*\(/ { sub(/^HYDRA_(API|HOOK) /, ""); text = ""; on = 1 }
    on { text = text " " $0; if (/;/) { on = 0; gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/;.*/, ";", text)
         match(text, /Hydra_[A-Za-z_]+\(/); print substr(text, RSTART, RLENGTH - 1) "\t" text } }' "$@"; }
prototypes "$source/include/hydra_plan.h" "$source/include/hydra.h" >"$work/prototypes"
[ "$(wc -l <"$work/prototypes")" -ge 30 ] || echo "only $(wc -l <"$work/prototypes") prototypes were found" >"$work/wrong"
while IFS='	' read -r name text; do
    page=$pages/$name.3
    if [ ! -e "$page" ]; then echo "$name has no page"; continue; fi
    plain "$page" | grep -q "^$name - " || echo "$name(3) does not name itself"
    plain "$page" | prototypes - | grep -Fqx "$name	$text" || echo "$name(3) does not show: $text"
done <"$work/prototypes" >>"$work/wrong"
verdict "every public call has a page with its prototype"

cut -f1 "$work/prototypes" | while read -r name; do
    [ ! -e "$pages/$name.3" ] || plain "$pages/$name.3" | grep -qE "^ *(subroutine|function) $name\(" || echo "$name(3) has no Fortran interface"
done >"$work/wrong"
verdict "every page of a call shows its Fortran interface"

ls "$pages" | sed -n 's/^\(Hydra_.*\)\.3$/\1/p' | while read -r name; do
    cut -f1 "$work/prototypes" | grep -qx "$name" || grep -q "^typedef struct $name " "$source"/include/*.h || echo "$name(3) describes nothing that exists"
done >"$work/wrong"
verdict "every page describes a call or struct that exists"

# --- options -----------------------------------------------------------------------------------------------------------
walk() { # WORDS: --help of a command and of the commands that it lists
    "$build/hydra-dcp" $1 --help </dev/null >"$work/help" 2>&1
    sed -n "s/^  \(--[a-z][a-z0-9-]*\).*/${1:-hydra-dcp} \1/p" "$work/help" | grep -v ' --help$\| --version$'
    for word in $(awk '/^[A-Z][a-z]*s:$/ { on = !/^Options/; next } /^[^ ]/ { on = 0 } on && /^  [a-z]/ { print $1 }' "$work/help"); do
        echo "command $1${1:+ }$word"
        (walk "$1${1:+ }$word")
    done
}
walk '' | sort >"$work/told"
plain "$pages/hydra-dcp.1" | awk '
    /^\.SH/ { inside = /COMMANDS/ }
    inside && /^\.SS/ { name = $0; sub(/^\.SS /, "", name); print "command " name; next }
    inside && /^--[a-z]/ { print name " " $1 }' | sed 's/[ ]*$//' | grep -v ' --help$' | sort >"$work/written"
comm -23 "$work/told" "$work/written" | sed 's/^/only in --help: /' >"$work/wrong"
comm -13 "$work/told" "$work/written" | sed 's/^/only in hydra-dcp(1): /' >>"$work/wrong"
grep -q '^command ' "$work/told" || echo "--help lists no command" >>"$work/wrong"
verdict "hydra-dcp(1) and --help know the same commands and options"

plain "$pages/hydra-dcp.7" >"$work/seven"
{ sed -n 's/^HYDRA_ERROR(\([A-Z_]*\),.*/HYDRA_\1/p' "$source/include/hydra_errors.def"
  sed -n 's/^HYDRA_POLICY(\([A-Z_]*\),.*/HYDRA_POLICY_\1/p' "$source/include/hydra_policies.def"
  sed -n 's/^HYDRA_CONFIG([A-Z_]*, "\([A-Z_]*\)",.*/\1/p' "$source/src/base/config.def"; } |
    while read -r name; do grep -q "$name" "$work/seven" || echo "$name is missing"; done >"$work/wrong"
verdict "hydra-dcp(7) lists every status code, policy and environment variable"

plain "$pages/Hydra_Range_push.3" >"$work/ranges"
sed -n 's/^HYDRA_RANGE([A-Z_]*, "\([^"]*\)",.*/\1/p' "$source/src/base/ranges.def" |
    while read -r name; do grep -qx "$name" "$work/ranges" || echo "$name is missing"; done >"$work/wrong"
grep -q '^HYDRA_RANGE(' "$source/src/base/ranges.def" || echo "ranges.def lists nothing" >>"$work/wrong"
verdict "Hydra_Range_push(3) lists every range"
HYDRA_DCP_SHARE=$source/share; export HYDRA_DCP_SHARE
plain "$pages/hydra-dcp.1" | tr -cs 'a-z_0-9' '\n' | sort -u >"$work/words"
for command in "plan --draw 1 --pool 8 --budget 8192 --policy load,static" "sim --policy load" "sim --policy load --sweep pool=64,128" "sim --paper"; do
    "$build/hydra-dcp" $command --json 2>/dev/null | grep -o '"[a-z_][a-z_0-9]*":' | tr -d '":' | sort -u
done | sort -u >"$work/keys"
comm -23 "$work/keys" "$work/words" | sed 's/^/hydra-dcp(1) does not explain: /' >"$work/wrong"
[ "$(wc -l <"$work/keys")" -ge 15 ] || echo "only $(wc -l <"$work/keys") names were found" >>"$work/wrong"
verdict "every name that plan and sim print in JSON stands in hydra-dcp(1)"

echo "1..$number"
exit $failed
