#!/usr/bin/env bash
# docs/theory.md: every row of its tables names files and tests that exist, cases that exist and occur,
# and where it cites a source, its file cites it, too. Prose names files and functions that exist. No
# file of src/ that cites an equation of the papers is missing on the page.
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
    case "$tests" in
        *'test_classify.c` ('*)
            for id in $(printf '%s' "$tests" | sed 's/.*test_classify.c` (\([^)]*\)).*/\1/; s/,/ /g'); do
                checks=$((checks + 1))
                [ -f "test/cases/classify/$id.hamel" ] || complain "$what: there is no case $id"
            done ;;
    esac
done < <(sed 's/\\|/ /g' docs/theory.md)
[ $rows -ge 75 ] || complain "only $rows rows were found"

# Paths, files and functions in prose and in tables.
for word in $(grep -o '`[^` ]*`' docs/theory.md | tr -d '`' | sort -u); do
    checks=$((checks + 1))
    case "$word" in
        src/* | test/* | examples/*) compgen -G "$word" > /dev/null || complain "there is no $word" ;;
        *.c | *.h) find src include test -name "$word" | grep -q . || complain "there is no $word" ;;
        hm_*) grep -rqw "$word" include || complain "there is no $word" ;;
    esac
done

# What cites the papers is on the page.
for path in $(grep -rlE '\[(UK02|UW|Zhao|Flannery|LdA)[^]]*\]' src --include='*.c' --include='*.h'); do
    checks=$((checks + 1))
    name=${path##*/}
    grep -qE "${path%.*}\.|[\`/]${name%.*}\.[ch]" docs/theory.md || complain "$path cites a paper and is not named"
done

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
