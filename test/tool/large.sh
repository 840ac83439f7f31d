#!/usr/bin/env bash
# Beyond 400 coordinates: eval --json has matrices as entries and the whole solution; run works;
# what is not supported is said.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

cat > chain.hamel << 'MODEL'
param N = 150, l = 1, g = 9.81
coord x[1..N], y[1..N], z[1..N]
for i = 1..N {
  kinetic 1/2*(x[i]'^2 + y[i]'^2 + z[i]'^2)
  potential g*z[i]
  initial x[i] = 0, y[i] = 0, z[i] = -i*l, x[i]' = 0, y[i]' = 0, z[i]' = 0
}
constraint rod[1]: x[1]^2 + y[1]^2 + z[1]^2 = l^2
for i = 2..N { constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (z[i]-z[i-1])^2 = l^2 }
constraint twice: z[1]*z[1]' + x[1]*x[1]' + y[1]*y[1]' = 0
simulate 0 .. 0.1
MODEL

# A hanging chain: the last rod carries one weight, and the gradient 2 (z[i] - z[i-1]) is -2.
run hamel eval chain.hamel --json
expect_status 0
expect_out '"formulation": "sparse"' '"entries": [' '"A": 150' '"M": 450' '"multipliers": false'
grep -A1 '"redundant"' "$out" | grep -q '"twice"' || failed "twice is not called redundant"
grep -qE '"rod\[150\]": -4\.9(05|049999)' "$out" || failed "lambda of the last rod is not -g/2"
run hamel eval chain.hamel
expect_status 0
expect_out 'rank of M 450, of A 150' 'twice is redundant' 'solved by sparse'

run hamel run chain.hamel --json
expect_status 0
expect_out '"status": "ok"' '"formulation": "sparse"'

run hamel eval chain.hamel --formulation uk
[ "$status" -ne 0 ] || failed "uk was not refused"
grep -q "not available beyond 400 coordinates" "$err" || failed "uk is refused without a reason"
run hamel run chain.hamel --method radau
[ "$status" -ne 0 ] || failed "radau was not refused"
grep -q "beyond 400 coordinates only dop853 and rk5 are available" "$err" || failed "radau: no reason"
finish
