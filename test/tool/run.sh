# hamel run: summary, JSON, options, exit statuses.
. "$(dirname "$0")/../support/shell.bash"
cd "$work" || exit 1

run hamel run skate
expect_done
expect_out "skate: Hamel's skate" 'ok         t = 0 .. 10' 'method     dop853 (chosen)' 'rtol 1e-09' \
    'initial values moved' 'state at the end' 'blade' 'balance error'

# The JSON contract of cli.md.
run hamel run skate --json
expect_done
for key in model method formulation rtol atol drift t_start t_end status message final q v steps \
    rejected evaluations wall_s violation blade energy initial balance_error events; do
    expect_out "\"$key\": "
done
expect_out '"status": "ok"' '"model": "skate"' '"t_end": 10.0'

# The header and the digits of cli.md.
run hamel run pendulum --csv p.csv
expect_done
run head -n 2 p.csv
expect_out "t,x,y,x',y',tension,angle" '0,0.95885107720840601,'
run wc -l p.csv
expect_out '202 '
[ ! -e p.csv.partial ] || failed 'the .partial was left'

# More columns, on request.
run hamel run pendulum --csv all.csv --columns energy,lambda,Qc,violation --to 1
expect_done
run head -n 1 all.csv
expect_out "angle,lambda(rod),Qc(x),Qc(y),energy(kinetic),energy(potential),energy(total),energy(error),violation(position),violation(velocity)"
run hamel run pendulum --csv all.csv --columns all --to 1
expect_done
run hamel run pendulum --columns energy,lamda
expect_rejected "unknown columns 'lamda'" 'lambda'

# Twice the same bits.
for model in skate double-pendulum rolling-disc; do
    hamel run $model --csv one.csv --plot one.svg > one.txt
    hamel run $model --csv two.csv --plot two.svg > two.txt
    run cmp one.csv two.csv
    expect_done
    run cmp one.svg two.svg
    expect_done
done

# Options go before what the file says; numbers may be expressions.
run hamel run pendulum --from 1 --to '1 + 2*pi*sqrt(l/g)' --rtol 1e-6 --atol 1e-8 --method rk5 --drift none
expect_done
expect_out 't = 1 .. 3.83700' 'method     rk5,' 'rtol 1e-06, atol 1e-08' 'drift      none'
run hamel run pendulum --drift 'baumgarte(3,4)' --to 1
expect_done
expect_out 'drift      baumgarte'
run hamel run pendulum --formulation kkt --to 1
expect_done
expect_out 'accelerations by kkt'
run hamel run pendulum --every 0.5 --csv few.csv
expect_done
run wc -l few.csv
expect_out '22 '
run hamel run pendulum --at 'x = 0, t = 2' --to 3
expect_done
expect_out 't = 2 .. 3'

# Bad usage: a message, status 2, no file.
run hamel run pendulum --method foo --csv bad.csv
expect_rejected "unknown method 'foo'" dop853
run hamel run pendulum --to abc --csv bad.csv
expect_rejected "--to needs a number, not 'abc'"
run hamel run pendulum --from 3 --to 1 --csv bad.csv
expect_rejected '--to must be later than --from'
run hamel run pendulum --drift foo --csv bad.csv
expect_rejected '--drift is'
run hamel run pendulum --plot bad.pdf --csv bad.csv
expect_rejected '.svg or .png'
run hamel run pendulum --at 'q = 1' --csv bad.csv
expect_rejected "unknown name 'q'"
run hamel run nothing --csv bad.csv
expect_status 2
printf 'coord x\nkinetic x'"'"'^2/2\nconstraint c: x = 1\ninitial x = 2\n' > inconsistent.hamel
run hamel run inconsistent.hamel --csv bad.csv --plot bad.svg
expect_rejected 'c'
ls bad* > "$out" 2> /dev/null
expect_no_output

# A motion that ends in finite time: status 1, the results kept and said so.
printf 'coord x\nkinetic x'"'"'^2/2\nforce x = 2*x^3\ninitial x = 1, x'"'"' = 1\nsimulate 0 .. 2 every 0.01\n' > blow.hamel
run hamel run blow.hamel --csv blow.csv --json
expect_status 1
expect_out '"status": "failed"'
expect_err 'the run failed' 't = ' "kept in 'blow.csv.partial'"
run grep -m 1 '^0.9[45]' blow.csv.partial
expect_done
[ ! -e blow.csv ] || failed 'a failed run left blow.csv'

# Events: named with their times; rows of their own on request. A stop is no failure.
run hamel run bouncing-ball --set e=0.95 --to 20 --csv b.csv
expect_done
expect_out 'event      t = 0 .. 3.5,' 'bounce           t = 0.451523640986' 'far              t = 3.5'
run hamel run bouncing-ball --set e=0.95 --to 20 --csv more.csv --event-rows --json
expect_done
expect_out '"status": "event"' '"name": "bounce"'
checks=$((checks + 1))
run tail -n 1 b.csv # at the event that stopped it
expect_out '3.5,3.5'
[ "$(tail -n 2 more.csv | cut -d , -f 1 | uniq | wc -l)" = 2 ] || failed 'the last row is there twice'
[ "$(wc -l < more.csv)" -gt "$(wc -l < b.csv)" ] || failed 'no rows at events'

run hamel run --help
expect_done
expect_out --csv --plot --columns lambda example
# Values that --at names are kept, and others moved; where that cannot be, as without it.
run hamel run skate --at "theta = 1, x' = 2" --to 1
expect_done
grep -q "^    y' .*-> *3.1148154493" "$out" || failed "y' is not 2 tan(1)"
if grep -q "^    x' .*->" "$out"; then failed "x' was moved"; fi
run hamel run pendulum --at "x = 0.3, y = -1.9" --to 1
expect_done
grep -q "^    y .*-1.9 *-> *-1.97737199333" "$out" || failed "y is not on the circle"

# What cannot be made consistent: values that are held, or constraints that contradict each other.
circle="coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: x^2 + y^2 = 4;"
run hamel run - <<< "$circle initial x = 1, y = 1"
expect_rejected "cannot be made consistent: constraint 'c' is violated by" 'write `~` for values'
run hamel run - <<< "$circle constraint d: x^2 + y^2 = 9; initial x = 1, y ~ 1"
expect_rejected "cannot be made consistent: constraint 'c' is violated by" 'contradict each other'
finish
