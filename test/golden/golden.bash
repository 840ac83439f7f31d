# Shared by commands.sh, docs.sh and scripts/refresh-golden; test/support/shell.bash comes first.
golden=$HAMEL_SOURCE_DIR/test/golden

# golden_run COMMAND: what it prints, then what it says, then its exit status where it is not 0.
golden_run() {
    (cd "$golden" && eval "$1") > "$out" 2> "$err" < /dev/null
    status=$?
    cat "$out"
    [ ! -s "$err" ] || { echo "--- stderr"; cat "$err"; }
    [ $status -eq 0 ] || echo "--- exit status $status"
}

# golden_same EXPECTED ACTUAL
golden_same() { awk -f "$golden/compare.awk" "$1" "$2"; }

# For each command of the list: golden_each FUNCTION calls it with NAME and COMMAND.
golden_each() {
    local name command
    while read -r name command; do
        case "$name" in '' | '#'*) continue ;; esac
        "$1" "$name" "$command"
    done < "$golden/commands.list"
}
