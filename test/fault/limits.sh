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
for command in check derive eval run linearize explain; do
    run hamel $command states.hamel --max-memory 40M
    expect_rejected 'states.hamel:' 'needs more than 40 MB of memory' '--max-memory'
done

# What can be foreseen is refused at once, with the default limits: within a second of work, at the statement.
printf "coord x, y\nkinetic x'^2 + y'^2\nfor i = 1..20000 {\n    constraint d[i]: x'*cos(i*y) = y'*sin(i*x)\n}\n" > slopes.hamel
printf "coord x\nkinetic x'^2/2\npotential sum(i = 1..3000, sum(j = 1..3000, cos(i*x + j)))\n" > sums.hamel
printf "coord x\nkinetic x'^2/2\nfor i = 1..5000 {\n    force x = sum(j = 1..4000, sin(i*x - j))\n}\n" > forces.hamel
printf "coord q[1..10000000]\nkinetic sum(i = 1..10000000, q[i]'^2)/2\n" > family.hamel
printf "param R[1..3000, 1..3000] = 1\ncoord x\nkinetic x'^2/2\n" > matrix.hamel
printf "coord x\nkinetic x'^2/2\npotential %s x %s\n" "$(printf '(%.0s' $(seq 20000))" "$(printf ')%.0s' $(seq 20000))" > nested.hamel
sed -i 's/300000/1000000/' rows.hamel
refused_soon() { # MODEL TEXT
    local seconds
    TIMEFORMAT=%U
    seconds=$({ time hamel eval "$1.hamel" > "$out" 2> "$err"; } 2>&1)
    ran="hamel eval $1.hamel"
    hamel eval "$1.hamel" > "$out" 2> "$err"
    status=$?
    expect_rejected "$1.hamel:" "$2"
    checks=$((checks + 1))
    awk -v s="$seconds" 'BEGIN { exit !(s <= 1) }' || failed "it took $seconds s"
}
refused_soon rows "'c[4001]' is row 4001 of the constraints on 1 coordinate"
refused_soon slopes 'is row 4001 of the constraints on 2 coordinates'
refused_soon lets 'is put together of more than 300000 calls of functions'
refused_soon sums 'these 3000 repetitions would need more than'
refused_soon forces 'these 5000 repetitions would need more than'
refused_soon family "'q' is too large"
refused_soon matrix "'R' is too large"
refused_soon nested 'nested more than 200 levels deep'
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
