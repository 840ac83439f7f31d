# Every system call of the whole process that can fail, in turn: the right output and status 0, or a message and
# status 1, and no file torn; nothing else. Also calls inside the C library and the libraries below us.
# All places instead of a sample: HAMEL_FAULT_PLACES=0 test/fault/calls.sh
: "${HAMEL_FAULT_PLACES:=4}"
. "$(dirname "$0")/../support/shell.bash"
. "$HAMEL_SOURCE_DIR/test/support/inject.bash"
exec < /dev/null
cd "$work" || exit 1
cp "$HAMEL_SOURCE_DIR/examples/skate.hamel" m.hamel
printf 'include "m.hamel"\n' > with.hamel
printf 's\n1\n2\n0.5\n1.5\n' > members.csv
"$HAMEL" run m.hamel --to 1 --csv results.csv > /dev/null
sweep=(sweep m.hamel --grid 'm=1|2|3' --measure 'final(x)' --to 0.2 --jobs 2)
for i in 1 2; do "$HAMEL" "${sweep[@]}" --out part.csv --shard $i/2 > /dev/null; done

for kind in open read write fsync rename mmap brk mprotect thread close stat seek unlink pipe; do
    every_call $kind -- eval with.hamel --json
    every_call $kind -- check m.hamel
    every_call $kind -k o.csv -- run m.hamel --to 0.2 --method taylor --csv o.csv --json
    every_call $kind -k o.svg -- run m.hamel --to 0.2 --plot o.svg
    every_call $kind -k o.csv -- run m.hamel --to 0.2 --ensemble members.csv --jobs 2 --csv o.csv
    every_call $kind -f o.csv -- "${sweep[@]}" --out o.csv
    every_call $kind -k o.csv -- sweep --merge 'part.csv.shard-*' --out o.csv
    every_call $kind -k o.svg -- plot results.csv x y -o o.svg
    every_call $kind -- derive m.hamel
    if "$HAMEL" run m.hamel --to 0.2 --hdf5 o.h5 > /dev/null 2>&1; then
        every_call $kind -k o.h5 -- run m.hamel --to 0.2 --hdf5 o.h5
        every_call $kind -k o.h5 -- "${sweep[@]}" --out o.h5
    fi
    # With fewer fonts than there are cairo draws with others, so that the picture itself is not compared.
    ! "$HAMEL" run m.hamel --to 0.2 --plot o.png > /dev/null 2>&1 || every_call $kind -- run m.hamel --to 0.2 --plot o.png
done
# A sweep that a failure ended is resumed to the same bytes.
"$HAMEL" "${sweep[@]}" --out whole.csv > /dev/null
for kind in open write fsync rename; do
    for place in 0 1 2 3 4 5 6; do
        rm -f r.csv*
        HAMEL_FAIL=$kind:$place "$inject/failing_syscalls" "$HAMEL" "${sweep[@]}" --out r.csv > /dev/null 2>&1 && continue
        run hamel "${sweep[@]}" --out r.csv --resume
        checks=$((checks + 1))
        cmp -s whole.csv r.csv || failed "resumed after $kind $place failed it differs"
    done
done
finish
