#!/usr/bin/env bash
# Every command of commands.list prints what it printed when expected/ was last looked at.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
. "$HAMEL_SOURCE_DIR/test/golden/golden.bash"

compare_one() { # NAME COMMAND
    checks=$((checks + 1))
    golden_run "$2" > "$work/actual"
    if ! golden_same "$golden/expected/$1" "$work/actual" > "$work/difference"; then
        failures=$((failures + 1))
        echo "FAILED: $2   (test/golden/expected/$1; if it is right: scripts/refresh-golden)"
        sed 's/^/  /' "$work/difference"
    fi
}
golden_each compare_one

# Nothing is expected of commands that are no more.
for file in "$golden"/expected/*; do
    grep -q "^$(basename "$file") " "$golden/commands.list" || {
        failures=$((failures + 1))
        echo "FAILED: expected/$(basename "$file") belongs to no command"
    }
done
finish
