# Counting is honest: crashes, early ends, silence, leaks at exit and time-outs are failures.
set -eu
job=$HAMEL_SOURCE_DIR/scripts/test-job

expect() { # COUNTS KIND SCRIPT
    printf '%s\n' "$3" > "$TMPDIR/program"
    said=$(HAMEL_TEST_TIMEOUT=1 "$job" "$2" "$TMPDIR/log" bash "$TMPDIR/program")
    [ "$said" = "$1" ] || { echo "expected '$1', got '$said' for: $3"; exit 1; }
}
expect '2 0 0' cmocka 'printf "1..2\nok 1 - a\nok 2 - b\n# ok - group\n"'
expect '1 1 0' cmocka 'printf "1..2\nok 1 - a\nnot ok 2 - b\n"; exit 1'
expect '1 0 1' cmocka 'printf "1..2\nok 1 - a\nnot ok 2 # SKIP b\n"'
expect '3 0 0' cmocka 'printf "1..1\nok 1 - a\n1..2\nok 1 - b\nok 2 - c\n"'
expect '1 1 0' cmocka 'printf "1..2\nok 1 - a\n"'
expect '1 1 0' cmocka 'printf "1..1\nok 1 - a\n"; kill -SEGV $$'
expect '1 1 0' cmocka 'printf "1..1\nok 1 - a\n"; exit 23'
expect '0 1 0' cmocka 'true'
expect '0 1 0' cmocka 'sleep 9'
expect '0 1 0' cmocka 'while :; do :; done'
expect '1 0 0' program 'sleep 2' # slow by the clock only
expect '1 0 0' program 'true'
expect '0 1 0' program 'exit 3'
expect '0 0 1' program 'exit 77'
expect '0 1 0' program 'sleep 9'
