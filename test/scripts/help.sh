#!/usr/bin/env bash
# Every script says what it is for when asked, and does nothing else.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
cd "$work" || exit 1
for script in "$HAMEL_SOURCE_DIR"/scripts/*; do
    case "$script" in *.awk) continue ;; esac
    name=$(basename "$script")
    for option in --help -h; do
        run "$script" $option
        expect_done
        expect_out "$(sed -n '2s/^# //p' "$script")"
        expect_not "$out" 'set -'
    done
done
run "$HAMEL_SOURCE_DIR/scripts/bench" --help
expect_out 'scripts/bench NAME...'
finish
