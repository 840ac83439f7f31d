#!/usr/bin/env bash
# hamel run --ensemble: members from CSV, results, what is wrong with a file, exit statuses.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

printf "a,l1,b'\n1,1,0\n1.5,0.8,0.25\n2,1.25,-0.5\n2.5,1,0\n0.5,1,1\n" > members.csv
common=(--to 2 --method dop853)
run hamel run double-pendulum "${common[@]}" --ensemble members.csv --csv out.csv --jobs 2
expect_done
expect_out '5 members from members.csv'
expect_out '5 members four at a time, 0 one by one'
expect_out 'written: out.csv'
checks=$((checks + 1))
[ "$(head -1 out.csv)" = "member,a(0),l1,b'(0),t,a,b,a',b',tip[1],tip[2],status,violation,balance_error" ] ||
    failed "header: $(head -1 out.csv)"

# A member is the run with its values, digit by digit.
hamel run double-pendulum "${common[@]}" --set l1=0.8 --at "a=1.5, b'=0.25" --every 2 --csv one.csv > /dev/null
checks=$((checks + 1))
[ "$(sed -n 3p out.csv | cut -d, -f5-11)" = "$(tail -1 one.csv)" ] ||
    failed "member 2: $(sed -n 3p out.csv), alone: $(tail -1 one.csv)"

# The number of threads does not show; trajectories with --every.
hamel run double-pendulum "${common[@]}" --ensemble members.csv --csv again.csv --jobs 1 > /dev/null
checks=$((checks + 1))
cmp out.csv again.csv || failed 'threads change results'
run hamel run double-pendulum "${common[@]}" --every 0.5 --ensemble members.csv --csv rows.csv
expect_done
checks=$((checks + 2))
[ "$(wc -l < rows.csv)" = 26 ] || failed "rows: $(wc -l < rows.csv)"
hamel run double-pendulum "${common[@]}" --set l1=0.8 --at "a=1.5, b'=0.25" --every 0.5 --csv one.csv > /dev/null
cmp <(sed -n 7,11p rows.csv | cut -d, -f5-) <(tail -n +2 one.csv) || failed 'trajectories differ'

run hamel run double-pendulum "${common[@]}" --ensemble members.csv --json
expect_done
for key in members ok failed interrupted batched jobs members_per_s violation balance_error final failures; do
    expect_out "\"$key\":"
done

# Events: one by one. Failures: exit status 1, the others are kept.
printf 'x\n1\n2\n' > drops.csv
run hamel run bouncing-ball --ensemble drops.csv --to 1
expect_done
expect_out '0 members four at a time, 2 one by one: events'
printf "coord x; kinetic x'^2/2; force x = 3/2*x^2; simulate 0 .. 10\n" > blow.hamel
printf "x,x'\n1,1\n0.001,0\n" > blow.csv
run hamel run blow.hamel --ensemble blow.csv --csv blow-out.csv
expect_status 1
expect_out 'failed 1'
expect_out 'member 1: '
checks=$((checks + 1))
[ "$(wc -l < blow-out.csv)" = 3 ] || failed 'the member that ran is missing'

# What is wrong with a file is said with its line and column.
refuse() { # CONTENT MESSAGE
    printf "$1" > bad.csv
    run hamel run double-pendulum --ensemble bad.csv
    expect_rejected "$2"
}
refuse 'a,zz\n1,2\n' "bad.csv:1: column 2, 'zz', sets nothing"
refuse 'a,b\n1,2\n\n,3\n' "bad.csv:4: column 1, 'a': the value is missing"
refuse 'a,b\n1,inf\n' "bad.csv:2: column 2, 'b': the value is not finite"
refuse 'a,b\n1,2x\n' "bad.csv:2: '2x' in column b is not a number"
refuse 'a,b\n1\n2,3\n' 'bad.csv:2: 1 values'
refuse 'a,a\n1,2\n' "two columns are called 'a'"
refuse 'a,b\n' 'there are no members'
refuse '' 'the file is empty'
run hamel run n-pendulum --ensemble <(printf 'N\n3\n')
expect_rejected "parameter 'N' sets a size"
run hamel run double-pendulum --ensemble missing.csv
expect_rejected 'missing.csv'
run hamel run double-pendulum --ensemble members.csv --jobs 0
expect_rejected '--jobs needs a whole number'
run hamel run double-pendulum --jobs 2
expect_rejected '--jobs needs --ensemble'
run hamel run double-pendulum --ensemble members.csv --at 'a=1'
expect_rejected '--at cannot be combined with --ensemble'
run hamel run double-pendulum --ensemble members.csv --csv /nowhere/out.csv
expect_status 2
expect_err "cannot write '/nowhere/out.csv"
finish
