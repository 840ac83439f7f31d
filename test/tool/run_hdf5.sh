# hamel run --hdf5: h5dump reads what was written, and it is what the CSV has.
. "$(dirname "$0")/../support/shell.bash"
cd "$work" || exit 1
run hamel run pendulum --hdf5 p.h5 --csv p.csv --columns lambda
if [ "$status" -eq 2 ] && grep -q 'built without HDF5' "$err"; then
    exit 77
fi
expect_done
command -v h5dump > /dev/null || exit 77
run h5dump -H p.h5
expect_done
expect_out 'DATASET "t"' 'DATASET "q"' 'DATASET "v"' 'DATASET "outputs"' 'DATASET "columns"' \
    'DATASPACE  SIMPLE { ( 201, 2 )'
run h5dump -a /model -a /method -a /title -a /rtol -a /q/names -a /columns/names p.h5
expect_done
expect_out '"pendulum"' '"dop853"' '"x", "y"' '"lambda(rod)"' '1e-09'
run h5dump -m '%.17g' -y -w 60 -d /v -s '200,0' -c '1,2' p.h5
expect_done
expect_out "$(tail -n 1 p.csv | cut -d, -f4)" "$(tail -n 1 p.csv | cut -d, -f5)"
run hamel run pendulum --hdf5 /nowhere/p.h5
expect_status 2
expect_err "cannot write '/nowhere/p.h5'"
[ ! -e p.h5.partial ] || failed 'the .partial was left'
finish
