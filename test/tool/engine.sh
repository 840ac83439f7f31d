#!/usr/bin/env bash
# --engine: the interpreter and machine code print the same, for every example; names are checked.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

run hamel eval skate --engine gpu
expect_rejected "unknown engine 'gpu'; one of auto, interp, jit"
run env HAMEL_ENGINE=interp "$HAMEL" eval skate
expect_done

run hamel eval skate --engine jit
if [ "$status" -ne 0 ]; then # and that is all that can be tested here
    expect_err 'needs an x86-64 processor with AVX2 and FMA'
    finish
fi
same() { # COMMAND MODEL [OPTION...]; what a run took is left out
    local engine
    for engine in interp jit; do
        run hamel "$@" --engine "$engine"
        { cat "$out" "$err" results.csv 2> /dev/null; echo "$status"; } |
            sed 's/evaluations, .* m*s$/evaluations/' > "$engine.txt"
        rm -f results.csv
    done
    checks=$((checks + 1))
    cmp interp.txt jit.txt > differ.txt || failed "the engines differ: $(cat differ.txt)"
}
# Valgrind gets the interpreter, and the same numbers.
if [ "${HAMEL_SANITIZE:-0}" = 0 ] && command -v valgrind > /dev/null; then # ASan does not run there
    run valgrind -q "$HAMEL" eval skate --engine jit
    expect_rejected 'does not run under valgrind'
    hamel eval andrews --json > plain.txt
    run valgrind -q --error-exitcode=9 "$HAMEL" eval andrews --json
    expect_done
    checks=$((checks + 1))
    cmp plain.txt "$out" || failed 'other numbers under valgrind'
fi
for file in "$HAMEL_SOURCE_DIR"/examples/*.hamel; do
    same eval "$file" --json
    same run "$file" --csv results.csv
done
finish
