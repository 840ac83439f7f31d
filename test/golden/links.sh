#!/usr/bin/env bash
# Links and paths in the documentation lead somewhere: [text](path#heading), and `path` where it
# starts with a folder of the repository. `*` in a path stands for anything, CAPITALS for a name.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
cd "$HAMEL_SOURCE_DIR" || exit 1

lost() { # FILE WHAT
    failures=$((failures + 1))
    echo "FAILED: $1: $2"
}

# The anchors of a file: its headings in lower case, spaces as hyphens, other punctuation dropped.
headings() { # FILE
    awk '/^```/ { code = !code } !code && sub(/^#+ /, "")' "$1" | tr 'A-Z ' 'a-z-' | sed "s/[^a-z0-9_-]//g"
}

check_link() { # FILE TARGET
    local path=${2%%#*} anchor=''
    case "$2" in http://* | https://* | mailto:*) return ;; *'#'*) anchor=${2#*#} ;; esac
    checks=$((checks + 1))
    case "$1" in */*) path=${path:+${1%/*}/$path} ;; esac
    path=${path:-$1}
    [ -e "$path" ] || { lost "$1" "link to $2"; return; }
    [ -z "$anchor" ] || headings "$path" | grep -qxF -- "$anchor" || lost "$1" "no heading for $2"
}

check_path() { # FILE PATH
    checks=$((checks + 1))
    local pattern
    pattern=$(printf '%s' "${2%%:*}" | sed 's/[A-Z][A-Z]\{1,\}/*/g')
    case "$2" in *README.md | *CONTRIBUTING.md | */CMakeLists.txt) pattern=$2 ;; esac
    compgen -G "$pattern" > /dev/null || lost "$1" "path $2"
}

# What stands outside of fenced and indented code.
prose() { awk '/^```/ { code = !code; next } !code && !/^    /' "$1"; }

for document in README.md CONTRIBUTING.md docs/*.md docs/*/*.md; do
    prose "$document" > "$work/prose"
    while IFS= read -r target; do
        check_link "$document" "$target"
    done < <(grep -o '\](\([^)]*\))' "$work/prose" | sed 's/^](//; s/)$//' | sort -u)
    while IFS= read -r path; do
        check_path "$document" "$path"
    done < <(grep -o '`[^`]*`' "$work/prose" | tr -d '`' |
        grep -E '^(src|test|docs|examples|include|scripts|tool|bench|fuzz|cmake|\.ci)/[^ ]*$' | sort -u)
done
[ $checks -gt 300 ] || failed "only $checks links and paths were found"
finish
