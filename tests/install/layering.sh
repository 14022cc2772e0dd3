#!/bin/sh
# layering.sh: includes go downwards only, and each foreign header stays in its folder (doc/design.md, "The house").
src=${top_srcdir:-.}/src
failed=0

# check NAME SENTENCE FILES...: fails when grep finds anything.
check() {
    name=$1 sentence=$2
    shift 2
    found=$(cd "$src" && grep -rnE "$name" "$@" --include='*.[ch]' 2>/dev/null)
    number=$((number + 1))
    if [ -z "$found" ]; then echo "ok $number - $sentence"; else
        echo "$found" | sed 's/^/# /'; echo "not ok $number - $sentence"; failed=1; fi
}
folders() { for f in "$@"; do [ -d "$src/$f" ] && printf '%s ' "$f"; done; }
number=0
check '#include <mpi.h>|#include "hydra.h"' "mpi.h stays out of base, topo, plan, block, sim and kernel" $(folders base topo plan block sim kernel)
check '#include <hwloc' "hwloc stays in topo" $(folders base plan block sim comm net kernel attn api fortran tools)
check '#include <ucp|#include <ucs|#include <uct' "ucp stays in net_ucx.c" $(folders base topo plan block sim comm kernel attn api fortran tools)
check '#include <nccl' "NCCL stays in net_nccl.c" $(folders base topo plan block sim comm kernel attn api fortran tools)
check '#include <cuda' "CUDA headers stay in cuda/" $(folders base topo plan block sim comm net kernel attn api fortran tools)
check '#include "(topo|plan|block|sim|comm|net|kernel|attn|api|tools)/' "base includes no other folder" $(folders base)
check '#include "(plan|block|sim|comm|net|kernel|attn|api|tools)/' "topo includes base only" $(folders topo)
check '#include "(topo|block|sim|comm|net|kernel|attn|api|tools)/' "plan includes base only" $(folders plan)
check '#include "(comm|net|kernel|attn|api|tools)/' "sim includes base, topo, plan and block only" $(folders sim)
check '#include "(topo|plan|block|sim|comm|net|attn|api|tools)/' "kernel includes base only" $(folders kernel)
check '#include "(plan|block|sim|net|kernel|attn|api|tools)/' "comm includes base and topo only" $(folders comm)
check '#include "(topo|plan|block|sim|kernel|attn|api|tools)/' "net includes base and comm only" $(folders net)
check '#include "(sim|api|tools)/' "attn includes neither sim, api nor tools" $(folders attn)
check '#include "(sim|tools)/' "api includes neither sim nor tools" $(folders api)
check 'hydra_log\(HYDRA_LEVEL_[A-Z]*, "(a[^p]|ap[^i]|[^acfn]|c[^o]|f[^o]|n[^e])' "log lines come from the modules that HYDRA_DCP_LOG knows (log.c)" .
echo "1..$number"
exit $failed
