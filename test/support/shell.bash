# For shell tests: source this first. Commands of interest are run by `run`, which keeps what they
# did in $out, $err and $status; checks count failures and `finish` reports them.
set -u
: "${HAMEL_SOURCE_DIR:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
: "${HAMEL:=$HAMEL_SOURCE_DIR/build/release/hamel}"
: "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/hamel-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
out=$work/out err=$work/err status=0 ran='' checks=0 failures=0
export LC_ALL=C.UTF-8
unset NO_COLOR 2> /dev/null

hamel() { "$HAMEL" "$@"; }

# run COMMAND...: stdin is what the caller gives (scripts give nothing: < /dev/null).
run() {
    ran=$*
    "$@" > "$out" 2> "$err"
    status=$?
}

failed() { # MESSAGE
    failures=$((failures + 1))
    echo "FAILED: $ran"
    echo "  $1"
    sed 's/^/  stdout| /' "$out" | head -n 15
    sed 's/^/  stderr| /' "$err" | head -n 15
}

expect_status() { # NUMBER
    checks=$((checks + 1))
    [ "$status" -eq "$1" ] || failed "exit status $status, expected $1"
}
expect_out() { # FIXED TEXT...: each occurs on stdout
    local text
    for text in "$@"; do
        checks=$((checks + 1))
        grep -qF -- "$text" "$out" || failed "stdout lacks: $text"
    done
}
expect_err() { # FIXED TEXT...: each occurs on stderr
    local text
    for text in "$@"; do
        checks=$((checks + 1))
        grep -qF -- "$text" "$err" || failed "stderr lacks: $text"
    done
}
expect_not() { # FILE FIXED TEXT
    checks=$((checks + 1))
    ! grep -qF -- "$2" "$1" || failed "should not be said: $2"
}
expect_quiet() { # nothing on stderr
    checks=$((checks + 1))
    [ ! -s "$err" ] || failed "stderr is not empty"
}
expect_no_output() { # nothing on stdout
    checks=$((checks + 1))
    [ ! -s "$out" ] || failed "stdout is not empty"
}

# Bad input or usage: status 2, a message, nothing on stdout.
expect_rejected() { # FIXED TEXT...
    expect_status 2
    expect_no_output
    expect_err "$@"
}
expect_done() { # status 0, no messages
    expect_status 0
    expect_quiet
}

# The number that follows a name on stdout, as in "    theta   0.2    theta'   1"; the first such line
# after a line that begins with SECTION.
number_of() { # SECTION NAME
    awk -v section="$1" -v name="$2" '
        substr($0, 1, length(section)) == section { inside = 1; next }
        inside && /^[^ ]/ { inside = 0 }
        inside { for (i = 1; i < NF; i++) if ($i == name) { print $(i + 1); exit } }' "$out"
}
# SECTION NAME VALUE [TOLERANCE]: relative to max(1, |value|).
expect_number() {
    local actual
    actual=$(number_of "$1" "$2")
    checks=$((checks + 1))
    awk -v a="$actual" -v b="$3" -v tolerance="${4:-1e-12}" 'BEGIN {
        d = a - b; if (d < 0) d = -d
        size = b < 0 ? -b : b; if (size < 1) size = 1
        exit !(a != "" && d <= tolerance * size) }' ||
        failed "$1: $2 is '$actual', expected $3"
}

finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
    exit
}
