# Small stacks: whole commands work with 128 kB, and what nests too deeply for them is refused with a message.
. "$(dirname "$0")/../support/shell.bash"
[ "${HAMEL_SANITIZE:-0}" = 0 ] || exit 77 # its frames are several times as large
exec < /dev/null
cd "$work" || exit 1
repeat() { printf "%s" "$(printf "$1%.0s" $(seq "$2"))"; }
head="coord x\nkinetic x'^2/2\n"
printf "${head}potential $(repeat '(' 190)x$(repeat ')' 190)\n" > parentheses.hamel
printf "${head}potential $(repeat 'sin(' 190)x$(repeat ')' 190)\n" > calls.hamel
printf "${head}force x = $(repeat '-' 190)x\n" > signs.hamel
{
    printf "${head}let f0 = x\n"
    for i in $(seq 2000); do echo "let f$i = sin(f$((i - 1))) + x"; done
    echo 'potential f2000'
} > lets.hamel
{
    printf "${head}let g0(a) = a\n"
    for i in $(seq 190); do echo "let g$i(a) = sin(g$((i - 1))(a)) + x"; done
    echo 'potential g190(x)'
} > functions.hamel
{
    printf "${head}potential 0"
    for i in $(seq 2000); do printf ' + sin(%d*x)' "$i"; done
    echo
} > sum.hamel

small() { # KILOBYTES ARGUMENTS...: done, or refused with a message
    local size=$1
    shift
    checks=$((checks + 1))
    ran="hamel $* (stack: $size kB)"
    (ulimit -s "$size" && exec "$HAMEL" "$@") > "$out" 2> "$err"
    status=$?
    [ $status -le 2 ] || failed "status $status"
    [ $status = 0 ] || [ -s "$err" ] || failed 'nothing is said'
    ! grep -q signal "$err" || failed 'the child crashed'
}
for size in 128 192 256 8192; do
    for model in parentheses calls signs lets functions sum; do
        for command in eval 'derive --format c' explain check; do
            small $size ${command%% *} $model.hamel ${command#"${command%% *}"}
        done
    done
done
for model in skate pendulum bicycle; do
    for command in eval check derive linearize explain 'run --to 0.1' 'run --to 0.1 --method radau' 'run --to 0.1 --method taylor' \
        'run --to 0.1 --csv o.csv --plot o.svg' 'compare --with vakonomic --to 0.1'; do
        small 128 ${command%% *} $model ${command#"${command%% *}"}
        case $command in compare* | linearize* | *taylor) ;; *) [ $status = 0 ] || failed "status $status with 128 kB" ;; esac
    done
done
# Where there is room nothing is refused.
for model in parentheses calls signs lets functions sum; do
    run hamel eval $model.hamel
    expect_done
done
finish
