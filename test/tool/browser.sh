#!/usr/bin/env bash
# Reports in a real browser, from a file, with every name of the network unknown: no errors on the console,
# equations with dots over their letters, a picture that changes with time. Once, without the sanitizers.
set -eu
[ "$HAMEL_SANITIZE" = 0 ] || exit 77
browser=$(command -v chromium || true)
[ -n "$browser" ] || exit 77
work=$TMPDIR
fail() { echo "$1"; exit 1; }
visit() { # OPTION ADDRESS: what the page is, on stdout; its console in $work/console
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --use-angle=swiftshader --enable-unsafe-swiftshader \
        --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
        --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$work/profile" --window-size=1000,900 --hide-scrollbars \
        --virtual-time-budget=4000 --enable-logging=stderr "$1" "$2" 2> "$work/log"
    grep 'CONSOLE' "$work/log" | grep -v 'GL Driver Message' > "$work/console" || true
}
for name in skate rolling-disc cam; do
    "$HAMEL" report "$name" -o "$work/$name.html" > /dev/null 2> "$work/said" ||
        { grep -q 'no pages' "$work/said" && exit 77; cat "$work/said"; exit 1; }
    visit --dump-dom "file://$work/$name.html" > "$work/whole"
    # what is shown, without the script and the style, which hold the same words
    python3 -c 'import re, sys; print(re.sub(r"<(script|style)\b.*?</\1>", "", sys.stdin.read(), flags=re.S))' < "$work/whole" > "$work/dom"
    [ ! -s "$work/console" ] || { cat "$work/console"; fail "$name: the console says something"; }
    grep -q 'data-ready="yes"' "$work/dom" || fail "$name: the page did not finish"
    grep -q 'class="accent-body"' "$work/dom" || fail "$name: no dots in the equations"
    ! grep -q 'katex-error' "$work/dom" || fail "$name: an equation was not understood"
    ! grep -q 'cannot draw in 3D' "$work/dom" || fail "$name: no 3D"
done
visit --screenshot="$work/first.png" "file://$work/skate.html#t=0" > /dev/null
visit --screenshot="$work/same.png" "file://$work/skate.html#t=0" > /dev/null
visit --screenshot="$work/later.png" "file://$work/skate.html#t=4" > /dev/null
[ -s "$work/first.png" ] || fail "no picture"
cmp -s "$work/first.png" "$work/same.png" || fail "the same time gives another picture"
! cmp -s "$work/first.png" "$work/later.png" || fail "the picture does not change with time"
