#!/bin/sh
# exports.sh: the shared library exports every function that the public headers and the Fortran shims declare, and
# nothing else; the functions that an application may define it only looks for.
library=${top_builddir:-.}/.libs/libhydra-dcp.so
if [ ! -e "$library" ]; then echo "1..0 # SKIP no shared library was built"; exit 0; fi
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

(cd "${top_srcdir:-.}" && cat include/hydra_plan.h include/hydra.h src/fortran/shims.h) |
    sed -n 's/^HYDRA_API [^(]*[ *]\(Hydra_[A-Za-z_]*\)(.*/\1/p' | sort >"$work/declared"
nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort >"$work/exported"

declared=$(wc -l <"$work/declared")
missing=$(comm -23 "$work/declared" "$work/exported") extra=$(comm -13 "$work/declared" "$work/exported")
echo 1..4
code=0
if [ "$declared" -ge 20 ]; then echo "ok 1 - the headers declare functions"; else echo "not ok 1 - the headers declare functions ($declared found)"; code=1; fi
if [ -z "$missing" ]; then echo "ok 2 - every declared function is exported"; else
    echo "$missing" | sed 's/^/# missing: /'; echo "not ok 2 - every declared function is exported"; code=1; fi
if [ -z "$extra" ]; then echo "ok 3 - nothing else is exported"; else
    echo "$extra" | sed 's/^/# exported: /'; echo "not ok 3 - nothing else is exported"; code=1; fi
hooks=$(sed -n 's/^HYDRA_HOOK [^(]*[ *]\(Hydra_[A-Za-z_]*\)(.*/\1/p' "${top_srcdir:-.}"/include/*.h)
strong=
for hook in ${hooks:-none}; do nm -D "$library" | grep -q "^ *w $hook\$" || strong="$strong $hook"; done
if [ -z "$strong" ]; then echo "ok 4 - functions of the application are weak and undefined"; else
    echo "# not so:$strong"; echo "not ok 4 - functions of the application are weak and undefined"; code=1; fi
exit $code
