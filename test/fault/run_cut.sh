# What a run leaves when it is cut short: by Ctrl-C, by kill -9, by a full disk.
. "$(dirname "$0")/../support/shell.bash"
cd "$work" || exit 1

# Starts a long run in the background; waits until rows are on the disk.
start_long_run() {
    rm -f long.csv*
    # Background jobs of a script ignore SIGINT, and an ignored signal stays ignored: hamel must
    # ask for it anyway.
    "$HAMEL" run double-pendulum --to 1000000 --csv long.csv "$@" > "$out" 2> "$err" &
    long=$!
    local i
    for i in $(seq 200); do
        [ -e long.csv.partial ] && [ "$(wc -l < long.csv.partial)" -gt 20 ] && return
        sleep 0.1
    done
    failed 'no rows appeared within 20 s'
}

ran='a long run, interrupted'
start_long_run --json
kill -INT $long
wait $long
status=$?
expect_status 130
expect_err 'interrupted at t = ' "kept in 'long.csv.partial'"
expect_out '"status": "interrupted"'
[ ! -e long.csv ] || failed 'long.csv appeared'
run hamel plot long.csv.partial a b --against t -o cut.svg
expect_done

# A kill may fall into the middle of a write, which the kernel then cuts at the end of a page: about once in
# 40 times the last row is torn. A writer that hands out torn rows itself would show every time.
ran='a long run, killed'
for attempt in 1 2 3; do
    start_long_run
    kill -KILL $long
    wait $long 2> /dev/null
    status=$?
    expect_status 137
    [ -n "$(tail -c 1 long.csv.partial)" ] || break
done
run hamel plot long.csv.partial a b --against t -o cut.svg
expect_done
run head -n 1 long.csv.partial
expect_out "t,a,b,a',b'"
ran='whole rows of the killed run'
checks=$((checks + 1))
[ -z "$(tail -c 1 long.csv.partial)" ] || failed 'the last row is torn'

# A full disk: said so, status 1.
run hamel run pendulum --csv /dev/full
expect_status 1
expect_err "cannot write '/dev/full': No space left on device"
run hamel run pendulum --csv /dev/full --json
expect_status 1
expect_out '"status": "failed"' 'could not be written'
mknod full.svg c 1 7 2> /dev/null && printf x 2> /dev/null > full.svg
if [ -c full.svg ]; then # devices can be made by root only, and not on every file system
    run hamel run pendulum --plot full.svg
    expect_status 1
    expect_err "cannot write 'full.svg': No space left on device"
fi
run bash -c '"$0" run pendulum > /dev/full' "$HAMEL"
expect_status 1
expect_err 'cannot write the output'

# A disk that fills up on the way: what fitted is kept. (ulimit stands for the disk.)
run bash -c 'trap "" XFSZ; ulimit -f 8; "$0" run double-pendulum --to 1000 --csv full.csv' "$HAMEL"
expect_status 1
expect_err "cannot write 'full.csv': File too large" "kept in 'full.csv.partial'"
run hamel plot full.csv.partial a b --against t -o cut.svg
expect_status 0
[ ! -e full.csv ] || failed 'full.csv appeared'
finish
