#!/usr/bin/env bash
# Help, versions, and what is said to wrong usage: exit status 2, a message on stderr, no output.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null

run hamel --version
expect_done
checks=$((checks + 1))
grep -qE '^hamel [0-9]+\.[0-9]+\.[0-9]+$' "$out" || failed "not a version"

# Libraries that few commands use are loaded by those (tool/library.h, tool/flint_calls.inc).
if [ "$(uname -m)" = x86_64 ] && command -v readelf > /dev/null; then
    checks=$((checks + 1))
    readelf -d "$HAMEL" | grep -E 'NEEDED.*(cairo|hdf5|flint)' && failed "loaded at start"
fi

for help in --help -h help; do
    run hamel $help
    expect_done
    expect_out 'usage: hamel COMMAND MODEL [options]' check derive eval examples
done
commands=$(hamel --help | awk '/^  [a-z]/ { print $1 }')
for command in $commands; do
    run hamel "$command" --help
    expect_done
    expect_out "usage: hamel $command" '--json' '--quiet' '--help' 'example' "  hamel $command"
done
run hamel derive skate --help --no-such-option # asking for help is never an error
expect_done

run hamel
expect_rejected 'usage: hamel COMMAND MODEL'
run hamel help run
expect_done
expect_out 'usage: hamel run MODEL'
run hamel runn skate
expect_rejected "unknown command 'runn'; did you mean 'run'?"
run hamel help runn
expect_rejected "did you mean 'run'?"
run hamel run skate --plott x.svg
expect_rejected "unknown option '--plott'; did you mean --plot?"
run hamel run skatte
expect_rejected "did you mean the example 'skate'?"
run hamel run nothing-like-it
expect_rejected "'hamel examples' lists"
run hamel frobnicate skate
expect_rejected "unknown command 'frobnicate'" 'hamel --help'
for command in check derive eval; do
    run hamel $command
    expect_rejected 'the model is missing' "hamel $command --help"
    run hamel $command skate pendulum
    expect_rejected "unexpected argument 'pendulum'"
    run hamel $command skate --no-such-option
    expect_rejected "unknown option '--no-such-option'" "hamel $command --help"
    run hamel $command skate -x
    expect_rejected "unknown option '-x'"
    run hamel $command skate --json=yes
    expect_rejected '--json takes no value'
    run hamel $command skate --set
    expect_rejected '--set needs a value'
    run hamel $command skate --set m
    expect_rejected "--set needs NAME=VALUE, not 'm'"
done
for word in simulate solve integrate; do
    run hamel $word skate
    expect_rejected "unknown command '$word'; did you mean 'run'?"
done
for model in skate mine.hamel; do
    run hamel $model
    expect_rejected "'$model' is a model" "hamel run $model"
done
run hamel run somewhere/skate.hamel
expect_rejected "did you mean the example 'skate'?"
run hamel examples skate
expect_done
diff "$out" "$HAMEL_SOURCE_DIR/examples/skate.hamel" || failed "not the example's text"
run hamel examples skatte
expect_rejected "there is no example 'skatte'" "did you mean the example 'skate'?"
run hamel examples skate pendulum
expect_rejected 'one name at a time'
run hamel examples skate --json
expect_rejected '--json applies to the list'
for option in --rtol --atol --step --every; do
    run hamel run skate $option 0
    expect_rejected "$option must be positive"
done
run hamel compare skate --with vakonomic --rtol 0
expect_rejected '--rtol must be positive'
run hamel linearize skate --param q --from 0 --to 1
expect_rejected "there is no parameter 'q'" 'the parameters are: m, s, I'
run hamel plot "$HAMEL_SOURCE_DIR/examples/skate.hamel"
expect_rejected 'results come from hamel run'
run hamel examples --set m=1
expect_rejected "unknown option '--set'"

run hamel derive skate --format pdf
expect_rejected "unknown format 'pdf'" 'text, latex, json, c'
run hamel eval skate --formulation magic
expect_rejected "unknown formulation 'magic'" uk gram kkt nullspace gauss singular dirac
run hamel eval skate --at
expect_rejected '--at needs a value'

# --option VALUE and --option=VALUE are the same, before and after the model.
run hamel eval skate --at "theta=0.5"
expect_done
cp "$out" "$work/first"
for arguments in '--at=theta=0.5 skate' 'skate --at=theta=0.5' '--at theta=0.5 skate' '--at=theta=1/2 skate'; do
    run hamel eval $arguments
    expect_done
    checks=$((checks + 1))
    cmp -s "$work/first" "$out" || failed 'another result'
done
run hamel derive skate --json
cp "$out" "$work/first"
run hamel derive skate --format json
checks=$((checks + 1))
cmp -s "$work/first" "$out" || failed '--json is not --format json'
finish
