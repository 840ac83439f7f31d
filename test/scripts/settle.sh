#!/usr/bin/env bash
# scripts/settle.awk keeps what differs by noise and takes what changed.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
settles() { # OLD NEW EXPECTED
    printf '%b' "$1" > "$work/old"
    printf '%b' "$2" > "$work/new"
    run awk -f "$HAMEL_SOURCE_DIR/scripts/settle.awk" "$work/old" "$work/new"
    expect_done
    checks=$((checks + 1))
    [ "$(cat "$out")" = "$(printf '%b' "$3")" ] || failed "expected: $3"
}
settles 'x 1.00000000000001\n' 'x 1.00000000000002\n' 'x 1.00000000000001\n'
settles 'x   -0.5   y 2\n' 'x -0.50000000000001  y 2\n' 'x   -0.5   y 2\n'
settles 'x 1.001\n' 'x 1.002\n' 'x 1.002\n'
settles 'violation 2e-16\n' 'violation 5e-16\n' 'violation 2e-16\n'
settles 'error 2e-10\n' 'error 9e-9\n' 'error 9e-9\n'
settles '| x | 1.5 | 14 |\n' '| x | 1.5 | 15 |\n' '| x | 1.5 | 14 |\n'
head='| what | Hamel | allowed | |\n'
settles "$head| x | 2e-9 | 1e-8 | |\n" "$head| x | 3e-9 | 1e-9 | |\n" "$head| x | 3e-9 | 1e-9 | |\n"
settles "$head| x | 2e-9 | 1e-8 | |\n" "$head| x | 3e-9 | 1e-8 | |\n" "$head| x | 2e-9 | 1e-8 | |\n"
settles "$head\n| x | 2e-9 | 1e-8 |\n" "$head\n| x | 2e-9 | 2e-8 |\n" "$head\n| x | 2e-9 | 1e-8 |\n"
settles 'order 14\n' 'order 15\n' 'order 15\n'
settles '  ok t = 0 .. 1, 100 steps\n' '  ok t = 0 .. 1, 102 steps\n' '  ok t = 0 .. 1, 100 steps\n'
settles '  ok t = 0 .. 1, 100 steps\n' '  ok t = 0 .. 1, 130 steps\n' '  ok t = 0 .. 1, 130 steps\n'
settles 'a 1\nb 2\n' 'new\nb 2.00000000000001\na 1\n' 'new\nb 2\na 1\n'
settles 'x = 1\n' 'y = 1\n' 'y = 1\n'
finish
