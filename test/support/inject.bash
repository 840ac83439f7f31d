# For shell tests that make calls of the whole process fail (test/fault/inject): source this after
# shell.bash. `every_place KIND OPTIONS -- COMMAND...` and `every_call` print a line of a table and count a check;
# HAMEL_FAULT_PLACES places of each command are tried (0: all of them).
[ "${HAMEL_SANITIZE:-0}" = 0 ] || exit 77 # the sanitizers have an allocator of their own
: "${HAMEL_FAULT_PLACES:=12}"
inject=$work/inject
mkdir "$inject"
${CC:-cc} -O1 -shared -fPIC -o "$inject/failing_calls.so" "$HAMEL_SOURCE_DIR/test/fault/inject/failing_calls.c" -ldl &&
    ${CC:-cc} -O1 -o "$inject/failing_syscalls" "$HAMEL_SOURCE_DIR/test/fault/inject/failing_syscalls.c" &&
    ${CC:-cc} -O1 -o "$inject/every_place" "$HAMEL_SOURCE_DIR/test/fault/inject/every_place.c" || exit 77

every_place_by() { # INJECTOR KIND [OPTIONS] -- ARGUMENTS OF hamel
    local injector=$1 kind=$2 options=() result
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    ran="$kind: hamel $*"
    checks=$((checks + 1))
    "$inject/every_place" "$inject/$injector" "$kind" "$HAMEL_FAULT_PLACES" "${options[@]}" -- "$HAMEL" "$@" > "$out" 2> "$err"
    result=$?
    [ $result -ne 77 ] || { echo 'calls cannot be traced here'; exit 77; }
    [ $result -eq 0 ] || failed 'a failure was not handled'
    printf '%-8s %-58s %s\n' "$kind" "hamel $*" "$(cat "$out")"
}
# Allocations, by a library that the command loads.
every_place() { every_place_by failing_calls.so "$@"; }
# System calls of the command, of its libraries, threads and children, by a tracer.
every_call() { every_place_by failing_syscalls "$@"; }
