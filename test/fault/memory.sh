# Every failing allocation of the whole process: the right output and status 0, or a message about memory
# and status 1; nothing else. Each command with text and JSON, and with the files that it writes.
# All places instead of a sample: HAMEL_FAULT_PLACES=0 test/fault/memory.sh
. "$(dirname "$0")/../support/shell.bash"
. "$HAMEL_SOURCE_DIR/test/support/inject.bash"
exec < /dev/null
cd "$work" || exit 1
"$HAMEL" run skate --to 2 --csv results.csv > /dev/null
printf 's\n1\n2\n0.5\n' > members.csv
printf "coord x\nkinetic x'^2/2\nkinetic z^2\n" > wrong.hamel # errors need memory, too

hdf5=0
"$HAMEL" run skate --to 1 --hdf5 o.h5 > /dev/null 2>&1 && hdf5=1

for format in '' --json; do
    for command in 'eval skate' 'eval skate --geometry' 'derive skate' 'run skate --to 1' 'run pendulum --to 1 --method radau' \
        'run pendulum --to 1 --method taylor' 'run skate --ensemble members.csv --jobs 2 --to 1' 'linearize skate' \
        'linearize pendulum --param g --from 1 --to 3 --steps 2' 'compare skate --with vakonomic --to 1' 'explain skate'; do
        # words are split on purpose
        every_place memory -w memory -- $command $format
    done
    every_place memory -w memory -f o.csv -- run skate --to 1 --csv o.csv --columns all $format
    every_place memory -w memory -f o.csv -- run skate --to 1 --ensemble members.csv --csv o.csv $format
    every_place memory -w memory -f o.svg -- run skate --to 1 --plot o.svg $format
    every_place memory -w memory -f o.svg -- compare skate --with vakonomic --to 1 --plot o.svg $format
    every_place memory -w memory -f o.csv -f o.svg -- linearize pendulum --param g --from 1 --to 3 --steps 2 \
        --csv o.csv --plot o.svg $format
    every_place memory -w memory -f o.svg -- plot results.csv x y -o o.svg $format
    every_place memory -w memory -f o.csv -- sweep skate --grid 's=0.1:0.3:3' --measure 'final(x), max(y)' --to 1 \
        --jobs 2 --out o.csv $format
    # libhdf5 writes in a child, which says or shows that memory ran out.
    [ $hdf5 = 0 ] || every_place memory -w memory -f o.h5 -- run skate --to 1 --hdf5 o.h5 $format
    [ $hdf5 = 0 ] || every_place memory -w memory -f o.h5 -- sweep skate --grid 's=0.1:0.3:3' --measure 'final(x)' --to 1 \
        --jobs 1 --out o.h5 $format
done
for format in latex c; do
    every_place memory -w memory -- derive skate --format $format
done
every_place memory -w memory -- examples
every_place memory -w memory -- examples --json
every_place memory -w memory -- manual
every_place memory -w memory -- completion bash
every_place memory -w memory -- run --help
every_place memory -w '' -- eval wrong.hamel
# All allocations from one on fail, as on a machine that has no more.
every_place memory+ -w memory -- eval skate --json
every_place memory+ -w memory -f o.csv -- run skate --to 1 --csv o.csv
# Cairo draws in a process of its own, whose calls go on counting; with fewer fonts than there are it draws
# with others, so that the picture itself is not compared.
"$HAMEL" run skate --to 1 --plot o.png > /dev/null 2>&1 &&
    every_place memory -w memory -n 14000 -- run skate --to 1 --plot o.png
finish
