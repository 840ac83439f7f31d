#!/usr/bin/env bash
# hamel sweep: points, measures, files, threads, shards, kill and resume, what is wrong with options.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
same() { # FILE FILE MESSAGE
    checks=$((checks + 1))
    cmp -s "$1" "$2" || failed "$3"
}

# The measures of an oscillator x = a cos(w t), w = sqrt(k/m), against closed forms.
cat > oscillator.hamel << 'MODEL'
param k = 4, m = 1
coord x
kinetic m/2*x'^2
potential k/2*x^2
initial x = 1
event low: x' = 0 rising record
simulate 0 .. 2*pi every pi/100 rtol 1e-11 atol 1e-13
MODEL
measures="last = final(x), max(x), rms(x), hit = time(low), count(low)"
run hamel sweep oscillator.hamel --grid "k=1|4|9, x=1:3:3" --measure "$measures" --out grid.csv
expect_done
expect_out '9 points' 'failed     0' 'written: grid.csv'
checks=$((checks + 1))
[ "$(head -1 grid.csv)" = 'index,k,x,last,max(x),rms(x),hit,count(low),status' ] || failed "header: $(head -1 grid.csv)"
checks=$((checks + 1))
awk -F, 'function off(a, b) { return a - b > 1e-7 || b - a > 1e-7 }
    NR > 1 { w = sqrt($2); rows++
             if ($1 != NR - 2 || off($4, $3) || off($5, $3) || off($6, $3/sqrt(2)) || off($7, 3.14159265358979/w) ||
                 $8 != w || $9 != "ok") bad = 1 }
    END { exit bad || rows != 9 }' grid.csv || failed "$(cat grid.csv)"
checks=$((checks + 1))
[ ! -e grid.csv.rows ] || failed 'grid.csv.rows is left'

# A point is the run with these values, digit by digit.
hamel run oscillator.hamel --set k=9 --at "x=2" --csv one.csv > /dev/null
checks=$((checks + 1))
[ "$(awk -F, '$1 == 7 { print $4 }' grid.csv)" = "$(tail -1 one.csv | cut -d, -f2)" ] || failed 'point 7 is not the run'

# Threads, shards and their merge: the same bytes.
random=(--random "a=uniform(-3,3), b=normal(0,1)" --samples 500 --seed 7 --measure "final(a), final(b')" --to 1)
run hamel sweep double-pendulum "${random[@]}" --out all.csv --jobs 1
expect_done
hamel sweep double-pendulum "${random[@]}" --out two.csv --jobs 2 > /dev/null
same all.csv two.csv 'threads change the results'
for i in 3 1 2; do
    hamel sweep double-pendulum "${random[@]}" --out part.csv --shard $i/3 > /dev/null || failed "shard $i"
done
run hamel sweep --merge 'part.csv.shard-*' --out merged.csv
expect_done
same all.csv merged.csv 'shards differ from the whole'
run hamel sweep --merge 'part.csv.shard-*' --out merged.csv --json
expect_done
expect_out '"parts": 3' '"points": 500' '"failed": 0' '"model": "double_pendulum"' '"out": "merged.csv"'
run hamel sweep --merge part.csv.shard-1-of-3 part.csv.shard-3-of-3 --out no.csv
expect_status 2
expect_err 'shard 2 of 3 is missing'

# Killed and resumed, several times: the same bytes; other options are refused.
for moment in 0.02 0.05 0.1 0.15; do
    rm -f killed.csv*
    timeout -s KILL $moment "$HAMEL" sweep double-pendulum "${random[@]}" --out killed.csv > /dev/null 2>&1
    [ -e killed.csv ] || hamel sweep double-pendulum "${random[@]}" --out killed.csv --resume > /dev/null
    same all.csv killed.csv "resumed after $moment s it differs"
done
head -c 9000 all.csv > torn && { # a torn row is done again
    hamel sweep double-pendulum "${random[@]}" --out t.csv --shard 1/1 > /dev/null
    head -2 t.csv.shard-1-of-1 | sed 's, shard 1/1,,' > u.csv.rows
    cat torn >> u.csv.rows
    run hamel sweep double-pendulum "${random[@]}" --out u.csv --resume
    expect_done
    same all.csv u.csv 'a torn row was kept'
    cp torn u.csv.rows
}
run hamel sweep double-pendulum "${random[@]}" --out u.csv --resume
expect_status 2
expect_err 'belongs to another sweep'
run hamel sweep double-pendulum "${random[@]}" --out u.csv
expect_status 2
expect_err '--resume'

# SIGTERM ends a sweep in order; nothing is lost.
long=(--random "a=uniform(-3,3)" --samples 100000 --measure "max(abs(b))" --to 50)
"$HAMEL" sweep double-pendulum "${long[@]}" --out term.csv > /dev/null 2> term.err &
process=$!
for i in $(seq 100); do [ "$(wc -l 2> /dev/null < term.csv.rows || echo 0)" -gt 10 ] && break; sleep 0.1; done
kill -TERM $process
wait $process
status=$? ran='SIGTERM' err=term.err
expect_status 130
expect_err '--resume does the others'
checks=$((checks + 1))
[ "$(tail -c 1 term.csv.rows | od -An -c | tr -d ' ')" = '\n' ] || failed 'the last row is torn'
err=$work/err

# Trajectories.
run hamel sweep oscillator.hamel --grid "x=1|2" --keep every --every 3 --out rows.csv
expect_done
checks=$((checks + 1))
[ "$(cut -d, -f1-3 rows.csv | tr '\n' ' ' | sed 's/6\.28[0-9]*/END/g')" = 'index,x(0),t 0,1,0 0,1,3 0,1,6 0,1,END 1,2,0 1,2,3 1,2,6 1,2,END ' ] ||
    failed "$(cat rows.csv)"

# JSON; a failed point is a row, and the exit status tells.
run hamel sweep oscillator.hamel --grid "m=1|2" --measure "max(x)" --json
expect_done
expect_out '"points": 2' '"done": 2' '"failed": 0' '"median"' '"per_second"'
run hamel sweep oscillator.hamel --grid "m=1|0" --measure "max(x)" --out f.csv
expect_status 1
checks=$((checks + 1))
grep -q '^1,0,.*,failed$' f.csv || failed "$(cat f.csv)"

# A full disk loses nothing: the rows stay.
run hamel sweep oscillator.hamel --grid "x=1|2" --out /dev/full
checks=$((checks + 1))
[ "$status" -ne 0 ] || failed 'a full disk was not noticed'

# What is wrong.
bad() { # MESSAGE OPTIONS...
    local message=$1
    shift
    run hamel sweep oscillator.hamel "$@"
    expect_status 2
    expect_err "$message"
}
bad 'nothing is varied'
bad "no 'q'" --grid 'q=1|2'
bad 'from:to:count' --grid 'k=1:2'
bad 'number of samples' --random 'k=uniform(1,2)'
bad 'no such distribution' --random 'k=gauss(1,2)' --samples 3
bad "no event 'hit'" --grid 'k=1|2' --measure 'time(hit)'
bad "unknown name 'zz'" --grid 'k=1|2' --measure 'final(zz)'
bad 'no such measure' --grid 'k=1|2' --measure 'sup(x)'
bad '1 <= I <= N' --grid 'k=1|2' --shard 4/3 --out x.csv
bad 'needs --out' --grid 'k=1|2' --shard 1/3
run hamel sweep
expect_status 2

# HDF5, where the build has it.
if hamel sweep oscillator.hamel --grid "k=1|4" --measure "max(x)" --out h.h5 > /dev/null 2> h.err; then
    checks=$((checks + 1))
    h5dump -d /k h.h5 | grep -q '(0): 1, 4' || failed "$(h5dump -d /k h.h5)"
    hamel sweep oscillator.hamel --grid "k=1|4" --measure "max(x)" --out again.h5 > /dev/null
    same h.h5 again.h5 'HDF5 differs from run to run'
    for i in 1 2; do hamel sweep oscillator.hamel --grid "k=1|4" --measure "max(x)" --out h.h5 --shard $i/2 > /dev/null; done
    run hamel sweep --merge 'h.h5.shard-*' --out merged.h5
    expect_done
    same h.h5 merged.h5 'merged HDF5 differs'
    checks=$((checks + 1))
    h5dump -a /source h.h5 | grep -q 'kinetic m/2' && h5dump -a /options h.h5 | grep -q 'k=1|4' && h5dump -a /seed h.h5 | grep -q '"1"' ||
        failed "$(h5dump -A h.h5 | head -40)"
fi
finish
