#!/bin/sh
# info.sh: hydra-dcp info says what is asked: slots, straddling chunks, transports, kernels, configuration.
command=${top_builddir:-.}/hydra-dcp
number=0
failed=0

# holds SENTENCE PATTERN: the last output has a line that matches.
holds() {
    number=$((number + 1))
    if printf '%s\n' "$output" | grep -qE -- "$2"; then echo "ok $number - $1"; else
        printf '%s\n' "$output" | sed 's/^/# /'; echo "not ok $number - $1"; failed=1; fi
}

output=$("$command" info --ranks 16 --topology '2*[core:8 pu:1]/round-robin' 2>&1)
holds "a round-robin launch on two nodes of 8 has clean chunks of 8" '^ +3 +8 +2 +0$'
holds "and names the one chunk that straddles" '^ +4 +16 +1 +1  slots 0-15$'
holds "slot 1 is the second rank of node 0" '^ +1 +2 +0 '
holds "versions are printed" '^hydra-dcp [0-9]+\.[0-9]+\.[0-9]+$'
output=$("$command" info --ranks 12 --topology '1*[core:12 pu:1]' 2>&1)
holds "12 ranks on a node straddle nowhere" '^ +3 +8 +1 +0$'
output=$("$command" info --ranks 4 --topology '2*[moon:4]' 2>&1); status=$?
holds "a machine that hwloc does not understand is quoted" "moon:4"
number=$((number + 1))
if [ "$status" = 2 ]; then echo "ok $number - and is bad input"; else echo "not ok $number - and is bad input"; failed=1; fi
output=$(HYDRA_DCP_TIMEOUT=7 "$command" info --config 2>&1)
holds "a variable of the environment is listed as such" '^HYDRA_DCP_TIMEOUT +7 +environment '
holds "one that is not set has its default" '^HYDRA_DCP_LOG +warn +default '
for variable in TOPOLOGY KERNEL ALLTOALL RING DELAY; do holds "HYDRA_DCP_$variable is listed" "^HYDRA_DCP_$variable "; done
if [ -n "$MPIEXEC" ]; then
    output=$(HYDRA_DCP_TOPOLOGY='2*[pu:2]/round-robin' timeout 60 $MPIEXEC $MPIEXEC_FLAGS -n 4 "$command" info 2>&1 < /dev/null)
    holds "under the launcher it describes the run's ranks" '^Pool: 4 ranks on 2 nodes'
    holds "where rank 2 of a round-robin launch is slot 1" '^ +1 +2 +0 '
    holds "it says which transport is chosen" '^ +all-to-all +mpi +[0-9]+  chosen$'
    holds "and why another is not" '^ +ring +null +0  it serves pools of one rank$'
    holds "and which kernel" '^ +[a-z0-9]+ +[0-9]+  chosen$'
    output=$(HYDRA_DCP_RING=pigeon timeout 60 $MPIEXEC $MPIEXEC_FLAGS -n 2 "$command" info 2>&1 < /dev/null)
    holds "an unknown transport is named" "HYDRA_DCP_RING: no transport is called 'pigeon'"
    output=$(timeout 100 $MPIEXEC $MPIEXEC_FLAGS -n 2 "$command" bench net --least 1K --greatest 4K --reps 1 2>&1 < /dev/null)
    holds "bench net prints a row a size" '^ +4096 '
    output=$(timeout 100 $MPIEXEC $MPIEXEC_FLAGS -n 2 "$command" bench attn --what memory --tokens 256 2>&1 < /dev/null)
    holds "bench attn says what a factor's workspace takes" '^  U = 2, R = 1: '
    output=$(timeout 100 $MPIEXEC $MPIEXEC_FLAGS -n 2 "$command" bench attn --what luck 2>&1 < /dev/null)
    holds "and names what it cannot measure" "'luck' is none of"
fi
output=$("$command" bench net 2>&1)
holds "bench net alone says that it needs ranks" 'mpiexec -n 2'
output=$("$command" bench attn 2>&1; echo "exit $?")
holds "so does bench attn" 'mpiexec -n 4'
holds "which is bad input" '^exit 2$'
output=$("$command" info --rank 3 2>&1; echo "exit $?")
holds "an option that a command on ranks does not have is refused before MPI starts" "has no option '--rank'"
holds "as bad input too" '^exit 2$'
echo "1..$number"
exit $failed
