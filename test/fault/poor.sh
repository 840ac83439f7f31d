# Poor machines: no executable pages, a processor without AVX2 and FMA, 128 kB of stack, 20 file descriptors, a
# folder that is read-only. The same bits as elsewhere, or a message.
. "$(dirname "$0")/../support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
chmod 755 "$work" # others are let in below
models='skate andrews bouncing-ball rattleback heavy-top-quaternion double-pendulum'
printf 'a\n1\n2\n0.5\n1.5\n' > members.csv

# What a rich machine says, without times.
work_of() { # PREFIX...: the commands that are compared, each with what comes before it
    local model
    for model in $models; do
        "$@" eval $model --json
        "$@" run $model --to 0.5 --json
    done 2>&1
    "$@" run double-pendulum --to 1 --method taylor --json 2>&1
    "$@" run double-pendulum --to 1 --method radau --json 2>&1
    "$@" run double-pendulum --to 1 --ensemble members.csv --jobs 2 --csv e.csv > /dev/null 2>&1
    "$@" sweep double-pendulum --grid 'a=1:2:5' --measure 'final(b)' --to 1 --jobs 2 --out s.csv > /dev/null 2>&1
    cat e.csv s.csv
    rm -f e.csv s.csv
}
clean() { sed '/wall_s\|_per_s/d'; }
work_of "$HAMEL" | clean > rich.txt
[ "$(wc -l < rich.txt)" -gt 500 ] || failed "the commands say too little"
same_as_rich() { # WHAT COMMAND...
    ran=$1
    work_of "${@:2}" | clean > poor.txt
    checks=$((checks + 1))
    cmp -s rich.txt poor.txt || failed "$1 gives other output: $(diff rich.txt poor.txt | head -n 5)"
}

# Stacks of 128 kB, of threads too; descriptors.
if [ "${HAMEL_SANITIZE:-0}" = 0 ]; then
    same_as_rich '128 kB of stack' bash -c 'ulimit -s 128 && exec "$0" "$@"' "$HAMEL"
    for command in check derive linearize explain; do
        run bash -c 'ulimit -s 128 && exec "$0" "$@"' "$HAMEL" $command skate
        checks=$((checks + 1))
        [ "$status" -lt 2 ] || failed "exit status $status with 128 kB of stack"
    done
    same_as_rich '20 descriptors' bash -c 'ulimit -n 20 && exec "$0" "$@"' "$HAMEL"
    run bash -c 'ulimit -n 3 && exec "$0" "$@"' "$HAMEL" run skate --csv o.csv
    checks=$((checks + 1))
    [ "$status" -ne 0 ] && [ "$status" -lt 128 ] || failed "exit status $status with 3 descriptors"
fi

# Executable pages denied, as by a hardened kernel; none is ever asked for that is writable as well.
if ${CC:-cc} -O1 -o fail "$HAMEL_SOURCE_DIR/test/fault/inject/failing_syscalls.c" && [ "${HAMEL_SANITIZE:-0}" = 0 ] &&
    HAMEL_FAIL=wx:-1 ./fail "$HAMEL" eval skate > /dev/null 2>&1; then
    same_as_rich 'no executable pages' env HAMEL_FAIL=exec:0+ ./fail "$HAMEL"
    for model in $models; do
        run env HAMEL_FAIL=wx:-1 HAMEL_FAIL_COUNT=count ./fail "$HAMEL" run $model --to 0.5 --method taylor
        checks=$((checks + 1))
        [ "$(cat count)" = 0 ] || failed "$(cat count) mappings writable and executable at once"
    done
    HAMEL_FAIL=exec:-1 HAMEL_FAIL_COUNT=count ./fail "$HAMEL" run skate > /dev/null
    [ "$(cat count)" -gt 0 ] || "$HAMEL" eval skate --engine jit > /dev/null 2>&1 && [ "$(cat count)" = 0 ] && failed 'no machine code was seen'
fi

# A processor of 2008: no AVX, no AVX2, no FMA. Products and sums are rounded twice there, so that digits beyond the
# tolerance may differ; words and layout may not.
if [ "${HAMEL_SANITIZE:-0}" = 0 ] && command -v qemu-x86_64 > /dev/null; then
    for model in skate double-pendulum bouncing-ball; do
        for command in eval 'run --to 0.5 --method dop853' 'run --method taylor --to 0.5'; do
            ran="no AVX2: hamel $command $model"
            "$HAMEL" $command $model --csv rich.csv > /dev/null 2>&1 || "$HAMEL" $command $model --json > rich.csv 2>&1
            qemu-x86_64 -cpu Nehalem "$HAMEL" $command $model --csv poor.csv > /dev/null 2>&1 ||
                qemu-x86_64 -cpu Nehalem "$HAMEL" $command $model --json > poor.csv 2>&1
            checks=$((checks + 1))
            paste -d '|' <(tr -s ', :[]' '\n' < rich.csv) <(tr -s ', :[]' '\n' < poor.csv) | awk -F'|' '
                $1 == $2 { next }
                $1 + 0 == 0 && $2 + 0 == 0 && ($1 ~ /[a-df-z]/ || $2 ~ /[a-df-z]/) { exit 1 }
                { d = $1 - $2; d = d < 0 ? -d : d; if (d > 1e-7) exit 1; near++ }' || failed 'other results'
        done
    done
    run qemu-x86_64 -cpu Nehalem "$HAMEL" eval skate --engine jit
    expect_rejected 'needs an x86-64 processor with AVX2 and FMA'
fi

# A folder that may not be written to. Root may write anywhere, so it becomes nobody.
mkdir closed
echo before > closed/o.csv
chmod 555 closed
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${as[@]}" "$HAMEL" --version > /dev/null 2>&1; then
    for option in '--csv closed/o.csv' '--csv closed/new.csv' '--plot closed/o.svg' '--hdf5 closed/o.h5' '--plot closed/o.png'; do
        run "${as[@]}" "$HAMEL" run skate --to 0.1 $option
        checks=$((checks + 1))
        [ "$status" -eq 1 ] || [ "$status" -eq 2 ] || failed "exit status $status"
        expect_err 'Permission denied'
    done
    run "${as[@]}" "$HAMEL" sweep skate --grid 'm=1|2' --to 0.1 --out closed/s.csv
    checks=$((checks + 1))
    [ "$status" -eq 1 ] || [ "$status" -eq 2 ] || failed "exit status $status"
    expect_err 'Permission denied'
    checks=$((checks + 1))
    [ "$(ls closed)" = o.csv ] && [ "$(cat closed/o.csv)" = before ] || failed 'the folder has changed'
fi
chmod 755 closed
finish
