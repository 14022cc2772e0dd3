#!/bin/sh
# spack.sh: every option that the Spack recipe passes is one that ./configure --help knows; and, where there is a python3, the
# recipe runs for every combination of its variants against a stub of spack.package.
source=${top_srcdir:-.}
recipe=$source/doc/spack/package.py
help=$("$source/configure" --help)
number=0 failed=0
for option in $(grep -oE -- '--(with|without|enable|disable)-[a-z]+' "$recipe" | sort -u); do
    number=$((number + 1))
    name=${option#--*-}
    case $option in --with*) pattern="--with(out)?-$name\\b" ;; *) pattern="--(enable|disable)-$name\\b" ;; esac
    if echo "$help" | grep -qE -- "$pattern"; then echo "ok $number - ./configure --help knows $option"; else
        echo "not ok $number - ./configure --help knows $option"; failed=1; fi
done
for variable in $(grep -oE '\b[A-Z]+=\{' "$recipe" | sed 's/={//' | sort -u); do
    number=$((number + 1))
    if echo "$help" | grep -qE "^ +$variable "; then echo "ok $number - ./configure --help knows $variable"; else
        echo "not ok $number - ./configure --help knows $variable"; failed=1; fi
done

# The stub knows what is active of the recipe's dependencies, so that the recipe asks for no other.
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cat >"$work/stub.py" <<'PYTHON'
import itertools, re, sys, types

variants, dependencies, versions = {}, [], []
def variant(name, default, description): variants[name] = bool(default)
def depends_on(spec, type=None, when=""): dependencies.append((re.match(r"[a-z0-9-]+", spec).group(), when))
def version(name, **how): versions.append(name)
def license(name, **how): pass
class AutotoolsPackage: pass
class Dependency:
    def __init__(self, name): self.prefix = "/prefix/" + name
    mpicc, mpifc = "/prefix/mpi/bin/mpicc", "/prefix/mpi/bin/mpifort"
class Spec:
    def __init__(self, on): self.on = on
    def satisfies(self, text):
        if text == "" or text.startswith("@"): return text.lstrip("@") in [""] + versions
        return self.on[text[1:]] == (text[0] == "+")
    def __getitem__(self, name):
        if not any(name == known and self.satisfies(when) for known, when in dependencies): raise KeyError(f"{name} is no dependency of {self.on}")
        return Dependency(name)

stub = types.ModuleType("spack.package")
for name in ("variant", "depends_on", "version", "license", "AutotoolsPackage"): setattr(stub, name, globals()[name])
sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), stub
recipe = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), recipe)
package = recipe["HydraDcp"]()
told = {}
for values in itertools.product((False, True), repeat=len(variants)):
    package.spec = Spec(dict(zip(variants, values)))
    told[values] = package.configure_args()
    for argument in told[values]: print("option", argument)
for i, name in enumerate(variants):
    if any(told[v] == told[v[:i] + (not v[i],) + v[i + 1:]] for v in told): print("idle", name)
print("combinations", len(told))
PYTHON
if command -v python3 >/dev/null; then
    number=$((number + 1)) sentence="the recipe runs for every combination of its variants"
    if python3 "$work/stub.py" "$recipe" >"$work/out" 2>&1 && [ "$(sed -n 's/^combinations //p' "$work/out")" -ge 2 ]; then echo "ok $number - $sentence"; else
        sed 's/^/# /' "$work/out"; echo "not ok $number - $sentence"; failed=1; fi
    number=$((number + 1)) sentence="./configure --help knows whatever it then passes"
    wrong=$(sed -n 's/^option //p' "$work/out" | sed 's/=.*//' | sort -u | while read -r option; do
        case $option in
        --with-* | --without-*) pattern="^ +--with(out)?-${option#--with*-}([^a-z-]|\$)" ;;
        --enable-* | --disable-*) pattern="^ +--(enable|disable)-${option#--*able-}([^a-z-]|\$)" ;;
        *) pattern="^ +$option " ;;
        esac
        echo "$help" | grep -qE -- "$pattern" || echo "# $option"
    done)
    if [ -z "$wrong" ] && grep -q '^option ' "$work/out"; then echo "ok $number - $sentence"; else
        echo "$wrong"; echo "not ok $number - $sentence"; failed=1; fi
    number=$((number + 1)) sentence="every variant changes what is passed"
    if grep '^idle ' "$work/out" | sed 's/^/# /' | grep .; then echo "not ok $number - $sentence"; failed=1; else echo "ok $number - $sentence"; fi
else
    number=$((number + 1))
    echo "ok $number - the recipe runs for every combination of its variants # SKIP no python3"
fi
echo "1..$number"
exit $failed
