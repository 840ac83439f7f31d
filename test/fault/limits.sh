# Limits that hold: memory is refused with a message that names the statement, at every size.
. "$(dirname "$0")/../support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
[ "${HAMEL_SANITIZE:-0}" = 0 ] || exit 77 # its arenas are blocks of one piece each
printf "param N = 300000\ncoord x\nkinetic x'^2/2\nfor i = 1..N {\n    constraint c[i]: x = i\n}\n" > rows.hamel
printf "param N = 300000\ncoord x\nkinetic x'^2/2\nfor i = 1..N {\n    state s[i]' = x\n}\n" > states.hamel
{
    printf 'coord x\nlet f0(a) = a*a + 1\n'
    for i in $(seq 64); do echo "let f$i(a) = f$((i - 1))(f$((i - 1))(a) + a)"; done
    printf "kinetic x'^2/2 + f64(x)\n"
} > lets.hamel
for model in rows states lets; do
    for command in check derive eval run linearize explain; do
        run hamel $command $model.hamel --max-memory 40M
        expect_rejected "$model.hamel:" 'needs more than 40 MB of memory' '--max-memory'
    done
done
# A limit that is large enough changes nothing, one that is too small for anything is said, too.
run hamel eval skate --max-memory 100M --json
expect_done
cp "$out" limited
run hamel eval skate --json
cmp -s "$out" limited || failed 'the limit changed the result'
run hamel eval skate --max-memory 1K
expect_rejected 'a size limit was exceeded'
for size in '' x -1 4X 4GG nan 1e99; do
    run hamel eval skate --max-memory "$size"
    expect_rejected '--max-memory needs a size such as 500M or 4G'
done
for size in 0 2G 2.5g 500M 500MB 3000000000; do
    run hamel eval skate --max-memory $size
    expect_done
done
finish
