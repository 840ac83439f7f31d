#!/usr/bin/env bash
# Objects built in two folders are the same bytes, and so is the archive of a release made twice.
# The whole product: scripts/check-reproducible (minutes).
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
cd "$work" || exit 1
run "$HAMEL_SOURCE_DIR/scripts/check-reproducible" --quick
expect_done
expect_out '0 differ'
finish
