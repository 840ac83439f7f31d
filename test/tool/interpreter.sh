#!/usr/bin/env bash
# Tests of the dynamics and of the integrators, as programs, on the interpreter instead of machine code.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
export HAMEL_ENGINE=interp

for name in unit/dynamics/test_accelerate unit/dynamics/test_cases unit/dynamics/test_degenerate \
    unit/dynamics/test_motion unit/dynamics/test_law unit/dynamics/test_servo \
    unit/integrate/test_events unit/integrate/test_rk unit/integrate/test_run \
    unit/integrate/test_taylor unit/integrate/test_consistent physics/test_audit \
    physics/test_linearize; do
    run "$HAMEL_BUILD_DIR/test/$name"
    expect_status 0
done
run hamel run skate --json
expect_done
finish
