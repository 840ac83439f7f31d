# Values that are used before they are set, by valgrind. MemorySanitizer would need every library below us built
# with it (FLINT, LAPACK, HDF5, cairo), else it reports what they write; valgrind sees all of the process.
# More commands: HAMEL_MEMCHECK=all test/fault/memcheck.sh
. "$(dirname "$0")/../support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
[ "${HAMEL_SANITIZE:-0}" = 0 ] && command -v valgrind > /dev/null || exit 77
clean() { # COMMAND...
    run valgrind -q --error-exitcode=9 --track-origins=no --child-silent-after-fork=yes "$HAMEL" "$@"
    checks=$((checks + 1))
    [ "$status" -ne 9 ] || failed 'valgrind complains'
}
clean derive skate
clean run bouncing-ball --to 1 --csv o.csv --plot o.svg
clean run pendulum --to 0.5 --method radau --json
clean linearize pendulum
if [ -n "${HAMEL_MEMCHECK:-}" ]; then
    for model in skate double-pendulum andrews heavy-top-quaternion rattleback tipping-box governor; do
        clean eval $model --json
        clean run $model --to 0.05 --method taylor
        clean check $model
        clean explain $model
    done
    clean sweep skate --grid 'm=1|2' --to 0.1 --jobs 2 --out o.csv
fi
finish
