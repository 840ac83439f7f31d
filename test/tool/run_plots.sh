# hamel run --plot and hamel plot: figures of every kind, well-formed; errors that help.
. "$(dirname "$0")/../support/shell.bash"
cd "$work" || exit 1
check_svg() { # FILE
    if command -v xmllint > /dev/null; then
        run xmllint --noout "$1"
        expect_done
    fi
    run cat "$1"
    expect_out '<svg xmlns' '</svg>' '<text '
}

run hamel run rolling-disc --csv d.csv --plot d.svg
expect_done
check_svg d.svg
expect_out '>path<' '>Rolling disc<' '>lean<' '>constraint violation<' '>energy balance<'

# What does not fit on the page is said.
printf 'coord x[1..60], y[1..60]; for i = 1..60 { kinetic (x[i]'"'"'^2 + y[i]'"'"'^2)/2; initial x[i]'"'"' = i }; simulate 0 .. 1' > many.hamel
run hamel run many.hamel --plot many.svg
expect_done
check_svg many.svg
expect_out '36 of 120 curves are shown' 'paths of 12 of 60 points'

run hamel plot d.csv x y -o xy.svg
expect_done
check_svg xy.svg
run hamel plot d.csv lean spin "spin'" -o histories.svg
expect_done
check_svg histories.svg
expect_out ">spin'<" '>t<'
run hamel plot d.csv x y --against lean -o against.svg
expect_done
check_svg against.svg
expect_out '>lean<'
run hamel plot d.csv x y lean --3d -o space.svg --title 'a < b'
expect_done
check_svg space.svg
expect_out 'a &lt; b'
run hamel plot d.csv x --log -o log.svg
expect_done
check_svg log.svg
run hamel plot d.csv
expect_done
expect_out 'written: d.svg'
check_svg d.svg
run hamel plot d.csv x --json -o x.svg
expect_done
expect_out '"plot": "x.svg"' '"rows": 501'

run hamel plot d.csv len -o bad.svg
expect_rejected "no column 'len'; did you mean 'lean'?" 'its columns are t, x, y'
run hamel plot d.csv x --against tim -o bad.svg
expect_rejected "no column 'tim'"
run hamel plot d.csv x y --3d -o bad.svg
expect_rejected '--3d needs three columns'
run hamel plot d.csv x y -o bad.pdf
expect_rejected '.svg or .png'
run hamel plot none.csv x
expect_rejected "cannot read 'none.csv'"
run hamel plot
expect_rejected 'the results file is missing'
printf 't,x\n0,1\n1,two\n' > broken.csv
run hamel plot broken.csv x
expect_rejected "broken.csv:3: 'two' in column x is not a number"
printf 't,x\n' > empty.csv
run hamel plot empty.csv x
expect_rejected 'no rows'
run hamel plot d.csv x -o /nowhere/x.svg
expect_rejected "cannot write '/nowhere/x.svg': No such file or directory"
run hamel run skate --plot /nowhere/x.svg # said before the run, not after it
expect_rejected "cannot write '/nowhere/x.svg': No such file or directory"
[ ! -e bad.svg ] || failed 'a refused plot was written'

# PNG, where cairo was there when hamel was built. What fontconfig keeps of its fonts until the end
# is not ours to free.
echo 'leak:libfontconfig' > leaks
export LSAN_OPTIONS=suppressions=$work/leaks:print_suppressions=0
run hamel plot d.csv x y -o xy.png
if [ "$status" -eq 0 ]; then
    run head -c 8 xy.png
    expect_out PNG
else
    expect_rejected 'built without cairo'
fi
finish
