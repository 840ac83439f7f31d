#!/usr/bin/env bash
# Results on stdout, messages on stderr, exit statuses, colours, --quiet, full disks.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
escape=$(printf '\033')

# A warning: done, said on stderr, not with --quiet.
printf "coord x\nkinetic x'^2/2\nconstraint always: 1 = 1\n" > warning.hamel
for command in check derive eval; do
    run hamel $command warning.hamel
    expect_status 0
    expect_err 'warning.hamel:3:1: warning:' 'always holds'
    run hamel $command warning.hamel --quiet
    expect_done
done
run hamel check warning.hamel --json
expect_out 'always holds'
run hamel check warning.hamel --json --quiet
expect_done
expect_out 'always holds'

# An error: status 2, said with --quiet too, with place, source line, caret and hint.
printf "coord theta\nkinetic thta'^2/2\n" > error.hamel
for option in '' --quiet --json; do
    for command in check derive eval; do
        run hamel $command error.hamel $option
        expect_rejected "error.hamel:2:9: error: unknown name 'thta'" "2 | kinetic thta'^2/2" '        ^~~~' \
            "hint: did you mean 'theta'?"
    done
done

# The model ran but failed: status 1, what was computed is kept.
printf "coord x, y\nkinetic x'^2/2\n" > undetermined.hamel
run hamel eval undetermined.hamel
expect_status 1
expect_out 'mass matrix M' 'accelerations not unique'
expect_err "the motion is not determined along y''"
run hamel eval undetermined.hamel --json
expect_status 1
expect_out '"unique"'

# No colour unless on a terminal, and not there with NO_COLOR.
run hamel check error.hamel
expect_not "$err" "$escape"
if command -v script > /dev/null; then
    on_terminal() { script -qec "$1" /dev/null > "$out" 2> "$err" < /dev/null; status=$? ran=$1; }
    on_terminal "'$HAMEL' check error.hamel"
    expect_status 2
    expect_out "$escape["
    on_terminal "NO_COLOR=1 '$HAMEL' check error.hamel"
    expect_not "$out" "$escape["
    on_terminal "'$HAMEL' check error.hamel 2>&1 | cat"
    expect_not "$out" "$escape["
    on_terminal "'$HAMEL' eval skate"
    expect_not "$out" "$escape["
fi

# A full disk or a closed pipe is a failure that is said.
if [ -c /dev/full ]; then
    for arguments in 'eval skate' 'eval skate --json' 'check skate' 'check skate --json' 'derive skate' \
        'derive skate --format latex' 'derive skate --format c' 'derive skate --json' 'examples' \
        'examples --json' '--help' '--version' 'eval --help' 'derive n-pendulum --set N=45'; do
        ran="hamel $arguments > /dev/full"
        : > "$out"
        "$HAMEL" $arguments > /dev/full 2> "$err"
        status=$?
        expect_status 1
        expect_err 'hamel: '
    done
fi
finish
