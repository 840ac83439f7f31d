#!/usr/bin/env bash
# Every example says what it is, is sound, can be derived in every format and evaluated, without a
# warning, by path and by name.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"

formats='json c' # gallery.sh runs text, latex.sh LaTeX
[ "${HAMEL_SANITIZE:-0}" = 0 ] || formats='text latex' # those skip there; commands.sh runs the others, too

for file in "$HAMEL_SOURCE_DIR"/examples/*.hamel; do
    name=$(basename "$file" .hamel)
    run cat "$file"
    checks=$((checks + 1))
    [ "$(sed -n '1,/^[^#]/p' "$file" | grep -c '^# ')" -ge 2 ] || failed "$name: no heading comment"
    expect_out '# Look at:' '# expect at ' "model $(printf '%s' "$name" | tr - _) \"" 'simulate '
    grep -qE '^# expect (conserved|balance) ' "$file" || failed "$name: nothing is said of its energy"
    ! grep -qE '^ *constraint ' "$file" || grep -q '^# expect class' "$file" || failed "$name: no class is expected"
    run hamel check "$file" < /dev/null
    expect_done
    case "$name" in # a force that jumps at the initial state
        slider-crank) expect_out 'well-posedness not established' ;;
        *) expect_out 'no problems found' ;;
    esac
    for format in $formats; do
        run hamel derive "$file" --format $format < /dev/null
        if [ $format = c ] && grep -qE '^(friction |constraint .*(>=|<=| when ))' "$file"; then
            expect_status 2 # refused by name
            expect_err 'C code is not written for'
        else
            expect_done
        fi
    done
    run hamel eval "$file" < /dev/null
    expect_done
    case "$name" in # degenerate: velocities are determined
        vortices | guiding-centre) ;;
        *) expect_out "accelerations q''" ;;
    esac
    run hamel eval "$name" --json < /dev/null
    expect_done
done
run hamel examples
for file in "$HAMEL_SOURCE_DIR"/examples/*.hamel; do
    expect_out "$(basename "$file" .hamel) "
done
finish
