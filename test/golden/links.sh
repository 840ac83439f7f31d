#!/usr/bin/env bash
# Links and paths in the documentation lead somewhere: [text](path#heading), and `path` where it
# starts with a folder of the repository. `*` in a path stands for anything, CAPITALS for a name.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
cd "$HAMEL_SOURCE_DIR" || exit 1

lost() { # FILE WHAT
    failures=$((failures + 1))
    echo "FAILED: $1: $2"
}

# The anchor that a heading gets: lower case, spaces as hyphens, other punctuation dropped.
has_heading() { # FILE ANCHOR
    sed -n 's/^#\{1,6\} //p' "$1" | tr 'A-Z ' 'a-z-' | sed "s/[^a-z0-9_-]//g" | grep -qxF -- "$2"
}

check_link() { # FILE TARGET
    local path=${2%%#*} anchor=''
    case "$2" in http://* | https://* | mailto:*) return ;; *'#'*) anchor=${2#*#} ;; esac
    checks=$((checks + 1))
    if [ -z "$path" ]; then path=$1; else path=$(dirname "$1")/$path; fi
    [ -e "$path" ] || { lost "$1" "link to $2"; return; }
    [ -z "$anchor" ] || has_heading "$path" "$anchor" || lost "$1" "no heading for $2"
}

check_path() { # FILE PATH
    checks=$((checks + 1))
    local pattern
    pattern=$(printf '%s' "${2%%:*}" | sed 's/[A-Z][A-Z]\{1,\}/*/g')
    case "$2" in *README.md | *CONTRIBUTING.md | */CMakeLists.txt) pattern=$2 ;; esac
    compgen -G "$pattern" > /dev/null || lost "$1" "path $2"
}

for document in README.md CONTRIBUTING.md docs/*.md; do
    while IFS= read -r target; do
        check_link "$document" "$target"
    done < <(grep -o '\](\([^)]*\))' "$document" | sed 's/^](//; s/)$//')
    while IFS= read -r path; do
        check_path "$document" "$path"
    done < <(grep -v '^    ' "$document" | grep -o '`[^`]*`' | tr -d '`' |
        grep -E '^(src|test|docs|examples|include|scripts|tool|bench|fuzz|cmake|\.ci)/[^ ]*$')
done
finish
