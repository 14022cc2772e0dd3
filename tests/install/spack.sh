#!/bin/sh
# spack.sh: every option that the Spack recipe passes is one that ./configure --help knows, and the recipe names no file
# that is gone.
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
echo "1..$number"
exit $failed
