#!/bin/sh
# mpirun.sh FILE.mpi: run MPI tests. Each line of the file: PROGRAM RANKS... (paths relative to the build folder).
# One variable launches them all: HYDRA_TEST_WRAPPER="valgrind -q" (or "xterm -e gdb") drops in before the program.
# HYDRA_TEST_MAX_RANKS leaves out greater rank counts, HYDRA_TEST_RANKS="2 3" all others.
# Rank 0 prints TAP; this script runs every rank count, adds "[n ranks]" and renumbers. A program that dies or hangs is a failure.
awk=${AM_TAP_AWK:-awk}
builddir=${top_builddir:-.}
limit=${HYDRA_TEST_TIMEOUT:-300}
out=$(mktemp) && trap 'rm -f "$out" "$out.all"' EXIT
: > "$out.all"
# MPIs over UCX warn of the messages that deliberately broken contexts leave behind.
export UCX_LOG_LEVEL="${UCX_LOG_LEVEL:-error}" UCX_WARN_UNUSED_ENV_VARS=n
if [ -z "$MPIEXEC" ]; then echo "1..0 # SKIP no MPI launcher"; exit 0; fi
while read -r program counts; do
    case $program in ''|'#'*) continue ;; esac
    for n in $counts; do
        [ "$n" -le "${HYDRA_TEST_MAX_RANKS:-$n}" ] || continue
        case " ${HYDRA_TEST_RANKS:-$n} " in *" $n "*) ;; *) continue ;; esac
        HYDRA_DCP_TIMEOUT=${HYDRA_DCP_TIMEOUT:-60} timeout -k 5 "$limit" \
            $MPIEXEC $MPIEXEC_FLAGS -n "$n" $HYDRA_TEST_WRAPPER "$builddir/$program" > "$out" 2>&1 < /dev/null
        code=$?
        "$awk" -v n="$n" -v program="$program" -v code="$code" '
            /^1\.\./ { planned = substr($0, 4); next }
            /^(not )?ok / { seen++; bad += /^not /; sub(/ # SKIP/, " [" n " ranks] # SKIP") || sub(/$/, " [" n " ranks]"); print; next }
            { print "# " $0 }
            END {
                if (code != 0 && !bad) print "not ok 0 - " program " ends well [" n " ranks] (exit status " code ")"
                else if (planned == "" || planned != seen) print "not ok 0 - " program " runs every test it planned [" n " ranks]"
            }' "$out" >> "$out.all"
    done
done < "$1"
"$awk" '/^(not )?ok / { n++; sub(/ok [0-9]+/, "ok " n) } { print } END { print "1.." n + 0 (n ? "" : " # SKIP HYDRA_TEST_RANKS or HYDRA_TEST_MAX_RANKS leave no rank count") }' "$out.all"
