# kill -9 at random moments: what has a name is whole, what is partial is a beginning of the whole, and a sweep is
# resumed to the same bytes. A sample; 1000 moments: HAMEL_KILLS=1000 test/fault/kill.sh
. "$(dirname "$0")/../support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
kills=${HAMEL_KILLS:-60}
RANDOM=${HAMEL_KILL_SEED:-7}
cp "$HAMEL_SOURCE_DIR/examples/double-pendulum.hamel" m.hamel
awk 'BEGIN { print "a"; for (i = 0; i < 200; i++) print i / 100 }' > members.csv

runs=(run m.hamel --to 400 --every 0.05 --csv o.csv --plot o.svg)
ensemble=(run m.hamel --ensemble members.csv --to 4 --jobs 2 --csv o.csv)
sweep=(sweep m.hamel --random 'a=uniform(-3,3)' --samples 400 --measure 'final(a)' --to 2 --jobs 2 --out o.csv)
hdf5=(run m.hamel --to 400 --every 0.05 --hdf5 o.h5)
commands='runs ensemble sweep'
! "$HAMEL" run m.hamel --to 0.1 --hdf5 t.h5 > /dev/null 2>&1 || commands="$commands hdf5"

# What the whole command writes, and how long it takes.
for name in $commands; do
    declare -n arguments=$name
    start=${EPOCHREALTIME/[.,]/}
    "$HAMEL" "${arguments[@]}" > /dev/null || failed "$name does not run"
    declare "${name}_us=$((${EPOCHREALTIME/[.,]/} - start))"
    mkdir "$name"
    mv o.* "$name/"
done

is_beginning() { cmp -s "$1" <(head -c "$(stat -c %s "$1")" "$2"); } # PART WHOLE
check_files() { # NAME
    local file
    for file in o.csv o.svg o.h5; do
        checks=$((checks + 1))
        [ ! -e $file ] || cmp -s $file "$1/$file" || failed "$file is not whole after $moment us"
    done
    [ ! -e o.csv.partial ] || is_beginning o.csv.partial "$1/o.csv" || failed "o.csv.partial is no beginning after $moment us"
    checks=$((checks + 1))
    if [ "$1" = sweep ] && [ ! -e o.csv ]; then
        "$HAMEL" "${sweep[@]}" --resume > "$out" 2> "$err" || "$HAMEL" "${sweep[@]}" > "$out" 2> "$err" || failed 'it cannot be resumed'
        cmp -s o.csv sweep/o.csv || failed "resumed after $moment us it differs"
    fi
}
early=0
for i in $(seq "$kills"); do
    set -- $commands
    shift $((i % $#))
    name=$1
    declare -n arguments=$name duration=${name}_us
    moment=$((RANDOM * 32768 + RANDOM))
    moment=$((moment % (duration + duration / 10)))
    rm -f o.*
    ran="kill -9 after $moment us: hamel ${arguments[*]}"
    { timeout -s KILL "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000 + 1)))" "$HAMEL" "${arguments[@]}" > /dev/null 2>&1; } 2> /dev/null
    [ $? -ne 137 ] || early=$((early + 1))
    check_files "$name"
done
echo "$kills moments, $early of them before the end"
checks=$((checks + 1))
[ $early -gt $((kills / 3)) ] || failed 'most kills came too late'
finish
