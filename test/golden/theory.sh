#!/usr/bin/env bash
# docs/theory.md: every row of its tables names files and tests that exist, oracle cases that exist and
# occur, and where it cites a source, its file cites it, too.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
cd "$HAMEL_SOURCE_DIR" || exit 1

complain() {
    failures=$((failures + 1))
    echo "FAILED: docs/theory.md: $1"
}

# How the sources are called in the sources.
pattern_of() {
    case "$1" in
        UK02) echo 'UK02' ;;
        Zhao18) echo 'Zhao' ;;
        UW) echo 'UW (' ;;
        LdA) echo 'LdA' ;;
    esac
}

rows=0
while IFS='|' read -r _ what equation source files tests _; do
    case "$files" in *'`src/'*) ;; *) continue ;; esac
    rows=$((rows + 1))
    for path in $(printf '%s %s' "$files" "$tests" | grep -o '`[^`]*`' | tr -d '`'); do
        checks=$((checks + 1))
        [ -f "$path" ] || complain "$what: there is no $path"
    done
    case "$tests" in *'`test/'*) ;; *) complain "$what: no test" ;; esac
    for id in $(printf '%s' "$tests" | grep -oE '[0-9]{3}-[a-z0-9-]+'); do
        checks=$((checks + 1))
        grep -q "\"$id\"" test/data/cases.json || complain "$what: there is no case $id"
    done
done < <(sed 's/\\|/ /g' docs/theory.md)
[ $rows -ge 20 ] || complain "only $rows rows were found"

# The files of this table cite their source themselves.
while IFS='|' read -r _ what equation source files tests _; do
    case "$files" in *'`src/dynamics/'* | *'`src/linalg/'*) ;; *) continue ;; esac
    for key in UK02 UW; do
        case "$source" in *"$key"*) ;; *) continue ;; esac
        checks=$((checks + 1))
        paths=$(printf '%s' "$files" | grep -o '`[^`]*`' | tr -d '`')
        grep -qF "$(pattern_of $key)" $paths || complain "$what: $paths does not name $key"
    done
done < <(sed 's/\\|/ /g' docs/theory.md)
finish
