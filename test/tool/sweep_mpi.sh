#!/usr/bin/env bash
# hamel sweep under mpirun: the same bytes as from one process, a lost rank, what is refused, what is said once.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
command -v mpirun > /dev/null || { echo 'no mpirun'; exit 77; }
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_base_warn_component_unused=0 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Open MPI keeps memory until the end of its processes.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
mpi() { timeout 100 mpirun -n "$1" "$HAMEL" sweep "${@:2}"; }
same() { # FILE FILE MESSAGE
    checks=$((checks + 1))
    cmp -s "$1" "$2" || failed "$3"
}
nothing_left() { # FILE
    checks=$((checks + 1))
    ! ls "$1".* > /dev/null 2>&1 || failed "left: $(ls "$1".*)"
}
points=(double-pendulum --random "a=uniform(-3,3), b=normal(0,1)" --samples 1500 --seed 7 --to 2)

# Whether this build has MPI is seen by trying.
run mpi 2 "${points[@]}" --out try.csv
if grep -q 'no MPI' "$err"; then
    expect_status 2
    checks=$((checks + 1))
    [ ! -e try.csv ] || failed 'something was written'
    finish
fi
expect_status 0

# Any number of ranks, rows and trajectories.
hamel sweep "${points[@]}" --out one.csv > /dev/null
same one.csv try.csv 'two ranks differ from one process'
run mpi 4 "${points[@]}" --out four.csv --json
expect_status 0
expect_out '"points": 1500' '"done": 1500' '"failed": 0'
checks=$((checks + 1))
[ "$(grep -c '"model"' "$out")" -eq 1 ] || failed 'the summary comes more than once'
same one.csv four.csv 'four ranks differ from one process'
nothing_left four.csv
every=(double-pendulum --grid "a=0:2:40" --to 2 --every 0.5 --keep every)
hamel sweep "${every[@]}" --out every.csv > /dev/null
mpi 3 "${every[@]}" --out every3.csv > /dev/null 2>&1
same every.csv every3.csv 'trajectories differ'
if hamel sweep "${points[@]}" --out one.h5 > /dev/null 2>&1; then
    mpi 2 "${points[@]}" --out two.h5 > /dev/null 2>&1
    same one.h5 two.h5 'HDF5 differs'
fi

# A rank is killed: what is finished stays, and --resume does the rest, with any number of ranks and with none.
size=${HAMEL_MPI_POINTS:-3000}
lost=(double-pendulum --random "a=uniform(-3,3), b=normal(0,1)" --samples $size --to 20)
hamel sweep "${lost[@]}" --out whole.csv > /dev/null
for again in 0 3; do
    rm -f lost.csv*
    timeout 100 mpirun -n 2 "$HAMEL" sweep "${lost[@]}" --out lost.csv > /dev/null 2>&1 &
    launcher=$!
    for i in $(seq 200); do [ -s lost.csv.part-1 ] && [ "$(wc -l < lost.csv.part-1)" -gt 12 ] && break; sleep 0.01; done
    for child in $(pgrep -f "sweep double-pendulum .*--out lost.csv" -P "$(pgrep -P $launcher | head -1)" | tail -1); do kill -KILL "$child"; done
    wait $launcher
    checks=$((checks + 1))
    [ ! -e lost.csv ] && ls lost.csv.part-* > /dev/null 2>&1 || { failed 'the sweep was over before its rank was killed'; continue; }
    if [ $again -eq 0 ]; then
        run hamel sweep "${lost[@]}" --out lost.csv
        expect_status 2
        expect_err '--resume'
        run hamel sweep "${lost[@]}" --out lost.csv --resume
    else
        run mpi $again "${lost[@]}" --out lost.csv --resume
    fi
    expect_status 0
    checks=$((checks + 1))
    awk -v size=$size '$1 == "done" { exit !($2 == size "," && $3 < size) }' "$out" || failed 'finished points were done again'
    same whole.csv lost.csv "after a lost rank, resumed by $again"
    nothing_left lost.csv
done
# One process was killed: ranks take it up.
timeout -s KILL 0.2 "$HAMEL" sweep "${lost[@]}" --out up.csv > /dev/null 2>&1
run mpi 2 "${lost[@]}" --out up.csv --resume
expect_status 0
same whole.csv up.csv 'ranks take up what one process began'
# Another sweep's parts.
printf '# hamel sweep of something else\n#\n' > other.csv.part-0
run hamel sweep "${points[@]}" --out other.csv --resume
expect_status 2
expect_err 'belongs to another sweep'

# What is wrong is said once.
# (Before MPI is started: no launcher is needed to see it.)
refused() { # MESSAGE OPTIONS...
    run env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$HAMEL" sweep "${@:2}"
    expect_status 2
    expect_err "$1"
}
refused '--out FILE is needed' "${points[@]}"
refused '--shard is for' "${points[@]}" --out x.csv --shard 1/3
refused 'only one process' - --grid 'a=1|2' --out x.csv
once() { # MESSAGE OPTIONS...
    run mpi 3 "${@:2}"
    checks=$((checks + 2))
    [ "$status" -ne 0 ] || failed 'status 0'
    [ "$(grep -cF -- "$1" "$err")" -eq 1 ] || failed "not said once: $1"
}
once "no 'zz'" double-pendulum --grid 'zz=1|2' --out x.csv
# A file that cannot be written on one rank: the others go on, and the rest is resumed.
mkdir part && mkdir part/d.csv.part-1
run mpi 2 "${points[@]}" --out part/d.csv
checks=$((checks + 1))
[ "$status" -ne 0 ] && [ ! -e part/d.csv ] || failed 'a rank without its file was not noticed'
finish
