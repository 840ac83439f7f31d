#!/usr/bin/env bash
# The man page names every command and option and is well-formed; completion scripts complete.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null

run hamel manual
expect_done
cp "$out" "$work/hamel.1"
commands=$(hamel --help | awk '/^  [a-z]/ { print $1 }')
for command in $commands; do
    checks=$((checks + 1))
    grep -q "^.SS \"hamel $command\"" "$work/hamel.1" || failed "the manual lacks hamel $command"
    for option in $(hamel "$command" --help | awk '/^  -/ { print $1 }'); do
        checks=$((checks + 1))
        grep -qxF ".B ${option//-/\\-}" "$work/hamel.1" || failed "the manual lacks $option"
    done
done
if command -v groff > /dev/null; then
    checks=$((checks + 1))
    groff -man -ww -z "$work/hamel.1" 2> "$work/complaints"
    [ ! -s "$work/complaints" ] || failed "groff: $(cat "$work/complaints")"
fi

# What bash offers after the words; the last one is being typed.
complete_words() { # WORD...
    PATH=$(dirname "$HAMEL"):$PATH bash -c '
        source /dev/stdin
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _hamel
        printf "%s\n" "${COMPREPLY[@]}"' - "$@" < "$work/hamel.bash"
}
offers() { # EXPECTED WORD...
    local expected=$1
    shift
    checks=$((checks + 1))
    complete_words "$@" | grep -qx -e "$expected" || failed "no completion $expected for: $*"
}
hamel completion bash > "$work/hamel.bash"
offers derive hamel de
offers --rtol hamel run skate --rt
offers skate hamel eval sk
offers skate hamel examples sk
offers latex hamel derive skate --format l
offers radau hamel run skate --method ra
for shell in bash zsh fish; do
    run hamel completion $shell
    expect_done
    expect_out 'rtol' 'examples'
    ! command -v $shell > /dev/null || {
        checks=$((checks + 1))
        $shell -n "$out" || failed "$shell does not read its script"
    }
done
run hamel completion
expect_rejected 'the shell is missing'
run hamel completion tcsh
expect_rejected 'the shell is missing'
run hamel manual --json
expect_rejected 'no JSON form'
finish
