# For shell tests that make calls of the whole process fail (test/fault/inject): source this after
# shell.bash. `every_place KIND LABEL OPTIONS -- COMMAND...` prints a line of a table and counts a check;
# HAMEL_FAULT_PLACES places of each command are tried (0: all of them).
[ "${HAMEL_SANITIZE:-0}" = 0 ] || exit 77 # the sanitizers have an allocator of their own
: "${HAMEL_FAULT_PLACES:=12}"
inject=$work/inject
mkdir "$inject"
${CC:-cc} -O1 -shared -fPIC -o "$inject/failing_calls.so" "$HAMEL_SOURCE_DIR/test/fault/inject/failing_calls.c" -ldl &&
    ${CC:-cc} -O1 -o "$inject/every_place" "$HAMEL_SOURCE_DIR/test/fault/inject/every_place.c" || exit 77

every_place() { # KIND [OPTIONS] -- ARGUMENTS OF hamel
    local kind=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    ran="$kind: hamel $*"
    checks=$((checks + 1))
    "$inject/every_place" "$inject/failing_calls.so" "$kind" "$HAMEL_FAULT_PLACES" "${options[@]}" -- "$HAMEL" "$@" \
        > "$out" 2> "$err" || failed 'a failure was not handled'
    printf '%-52s %s\n' "hamel $*" "$(cat "$out")"
}
