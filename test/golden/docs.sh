#!/usr/bin/env bash
# What the documentation shows is true. In README.md and docs/*.md:
#   ```hamel   a model: `hamel check` and `hamel eval` accept it without a word. Where an output line
#              ends in "# = VALUE", that is its value. Where the first line is "# error: TEXT" or
#              "# warning: TEXT", check fails with that message, or passes with that warning. After
#              a comment <!-- file NAME --> it is also the file NAME that later commands find.
#   ```sh      "$ hamel ..." lines are run, one after the other, in a folder that holds the folders
#              of the repository (so that they may write files); output that is shown is what they
#              print (stdout and stderr; "..." stands for any lines); where none is shown they
#              must succeed. Lines without "hamel" are not run.
#   ```c       stands like this, indentation aside, in the file that a comment before it names.
# docs.sh --refresh writes the present output of the commands into the files instead.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
. "$HAMEL_SOURCE_DIR/test/golden/golden.bash"
refresh=${1:-}
cd "$HAMEL_SOURCE_DIR" || exit 1

complain() { # WHERE MESSAGE
    failures=$((failures + 1))
    echo "FAILED: $1: $2"
}

# ---- models ----

check_outputs() { # WHERE: "output NAME = E   # = VALUE"
    local name value
    sed -n 's/^ *output \([^ =]*\) *=.*# = \([^ ]*\).*$/\1 \2/p' "$work/block" > "$work/values"
    while read -r name value; do
        ran="$1"
        expect_number outputs "$name" "$value" 1e-9
    done < "$work/values"
}

check_model() { # WHERE
    local first
    first=$(head -n 1 "$work/block")
    checks=$((checks + 1))
    case "$first" in
        '# error: '*)
            run hamel check - < "$work/block"
            [ $status -eq 2 ] || complain "$1" "exit status $status, expected 2"
            grep -qF -- "${first#'# error: '}" "$err" || { complain "$1" "another message:"; cat "$err"; }
            return ;;
        '# warning: '*)
            run hamel check - < "$work/block"
            [ $status -eq 0 ] || complain "$1" "exit status $status, expected 0"
            grep -qF -- "${first#'# warning: '}" "$err" || { complain "$1" "another message:"; cat "$err"; }
            return ;;
    esac
    run hamel check - < "$work/block"
    [ $status -eq 0 ] && [ ! -s "$err" ] || { complain "$1" "check: exit status $status"; cat "$err"; }
    run hamel eval - < "$work/block"
    [ $status -eq 0 ] && [ ! -s "$err" ] || { complain "$1" "eval: exit status $status"; cat "$err"; }
    check_outputs "$1"
}

# ---- commands ----

# Runs $command and prints what it shows on a terminal.
show_command() {
    (PATH=$work/bin:$PATH && cd "$work/place" && eval "$command") 2>&1 < /dev/null
    status=$?
}

check_command() { # WHERE; $command and the file $work/shown
    case " $command " in *' hamel '*) ;; *) return ;; esac
    checks=$((checks + 1))
    show_command > "$work/actual"
    if [ ! -s "$work/shown" ]; then
        [ $status -eq 0 ] || { complain "$1" "$command: exit status $status"; cat "$work/actual"; }
    elif ! golden_same "$work/shown" "$work/actual" > "$work/difference"; then
        complain "$1" "$command: prints something else (scripts/refresh-golden renews it)"
        sed 's/^/  /' "$work/difference"
    fi
}

# The commands of a block, one after the other; with --refresh prints the block anew.
each_command() { # WHERE
    local line
    command=''
    : > "$work/shown"
    while IFS= read -r line || [ -n "$line" ]; do
        case "$line" in
            '$ '*)
                [ -z "$command" ] || "$2" "$1"
                command=${line#'$ '}
                : > "$work/shown" ;;
            *) printf '%s\n' "$line" >> "$work/shown" ;;
        esac
    done < "$work/block"
    [ -z "$command" ] || "$2" "$1"
}

refresh_command() {
    printf '$ %s\n' "$command"
    case " $command " in *' hamel '*) ;; *) cat "$work/shown"; return ;; esac
    show_command > "$work/actual"
    if [ ! -s "$work/shown" ] || grep -qx '\.\.\.' "$work/shown" ||
        golden_same "$work/shown" "$work/actual" > /dev/null; then
        cat "$work/shown"
    else
        cat "$work/actual"
    fi
}

# ---- C ----

check_source() { # WHERE FILE
    checks=$((checks + 1))
    [ -n "$2" ] && [ -f "$2" ] || { complain "$1" "a C block needs <!-- FILE --> before it"; return; }
    awk 'function bare(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
         FNR == NR { want[++n] = bare($0); next }
         { have[++m] = bare($0) }
         END { for (i = 1; i + n - 1 <= m; i++) {
                   for (k = 1; k <= n && have[i + k - 1] == want[k]; k++) continue
                   if (k > n) exit 0 }
               exit 1 }' "$work/block" "$2" || complain "$1" "is not in $2 like this"
}

# ---- files ----

finish_block() { # WHERE LANGUAGE SOURCE
    case "$3" in 'file '*) cp "$work/block" "$work/place/${3#file }" ;; esac
    case "$2" in
        hamel) [ -n "$refresh" ] || check_model "$1" ;;
        sh) if [ -n "$refresh" ]; then each_command "$1" refresh_command > "$work/anew" && mv "$work/anew" "$work/block"; else each_command "$1" check_command; fi ;;
        c) [ -n "$refresh" ] || check_source "$1" "$3" ;;
    esac
}

read_document() { # FILE
    local line number=0 start=0 language='' inside='' source=''
    : > "$work/document"
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        if [ -z "$inside" ]; then
            printf '%s\n' "$line" >> "$work/document"
            case "$line" in
                '<!-- '*' -->') source=${line#'<!-- '} source=${source%' -->'} ;;
                '```'*) inside=1 language=${line#'```'} start=$number; : > "$work/block" ;;
                '') ;;
                *) source='' ;;
            esac
        elif [ "$line" = '```' ]; then
            finish_block "$1:$start" "$language" "$source"
            cat "$work/block" >> "$work/document"
            printf '%s\n' "$line" >> "$work/document"
            inside='' source=''
        else
            printf '%s\n' "$line" >> "$work/block"
        fi
    done < "$1"
    [ -z "$inside" ] || complain "$1:$start" "the block is not closed"
    [ -z "$refresh" ] || cmp -s "$work/document" "$1" || { cp "$work/document" "$1"; echo "renewed $1"; }
}

mkdir -p "$work/bin" "$work/place"
ln -s "$HAMEL_SOURCE_DIR"/{examples,docs,test,bench,include} "$work/place"
ln -s "$HAMEL" "$work/bin/hamel"
for document in README.md docs/*.md; do
    read_document "$document"
done
[ -z "$refresh" ] || exit 0
finish
