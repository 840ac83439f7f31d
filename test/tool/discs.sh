#!/usr/bin/env bash
# Discs in a box, every pair and wall a one-sided row, e = 1: the final state after more than 100 impacts
# against a simulation with collision times in closed form, by free flight and by steps of rk5; then 100 discs
# (5350 rows): energy and walls.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
command -v python3 > /dev/null || exit 77
cd "$work" || exit 1
model() { # ROWS COLUMNS RADIUS TIME
    cat << MODEL
param N = $1, M = $2, r = $3
coord x[1..N, 1..M], y[1..N, 1..M]
for i = 1..N {
    for j = 1..M {
        body disc[i,j] { mass 1  at [x[i,j], y[i,j]] }
        initial x[i,j] = i - 0.5, y[i,j] = j - 0.5
        initial x[i,j]' = sin(12.9898*i + 78.233*j), y[i,j]' = cos(39.346*i + 11.135*j)
        constraint left[i,j]: x[i,j] >= r restitution 1
        constraint right[i,j]: x[i,j] <= N - r restitution 1
        constraint floor[i,j]: y[i,j] >= r restitution 1
        constraint ceiling[i,j]: y[i,j] <= M - r restitution 1
        for k = j+1..M { constraint up[i,j,k]: norm([x[i,j] - x[i,k], y[i,j] - y[i,k]]) >= 2*r restitution 1 }
        for m = i+1..N { for k = 1..M {
            constraint pair[i,j,m,k]: norm([x[i,j] - x[m,k], y[i,j] - y[m,k]]) >= 2*r restitution 1 } }
    }
}
simulate 0 .. $4 every $4
MODEL
}
cat > exact.py << 'PYTHON'
import json, math, sys
N, M, r, end, file, tol, least = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), sys.argv[5], float(sys.argv[6]), int(sys.argv[7])
names = ["[%d,%d]" % (i, j) for i in range(1, N + 1) for j in range(1, M + 1)]
p = [[i - 0.5, j - 0.5] for i in range(1, N + 1) for j in range(1, M + 1)]
v = [[math.sin(12.9898*i + 78.233*j), math.cos(39.346*i + 11.135*j)] for i in range(1, N + 1) for j in range(1, M + 1)]
n, t, impacts, L = len(p), 0.0, 0, (N, M)
def next_impact():
    best = (math.inf, 0, 0, None)
    for a in range(n):
        for c in range(2):
            if v[a][c] != 0:
                s = ((L[c] - r if v[a][c] > 0 else r) - p[a][c])/v[a][c]
                best = min(best, (max(s, 0.0), a, c, "wall"))
        for b in range(a + 1, n):
            d = [p[a][c] - p[b][c] for c in (0, 1)]
            u = [v[a][c] - v[b][c] for c in (0, 1)]
            du, uu, dd = d[0]*u[0] + d[1]*u[1], u[0]**2 + u[1]**2, d[0]**2 + d[1]**2
            root = du*du - uu*(dd - 4*r*r)
            if du < 0 and root > 0:
                best = min(best, (max((dd - 4*r*r)/(-du + math.sqrt(root)), 0.0), a, b, "pair"))
    return best
while True:
    s, a, b, kind = next_impact()
    if t + s > end:
        s = end - t
        kind = None
    for k in range(n):
        for c in (0, 1):
            p[k][c] += s*v[k][c]
    t += s
    if kind is None:
        break
    impacts += 1
    if kind == "wall":
        v[a][b] = -v[a][b]
    else:
        d = [p[a][c] - p[b][c] for c in (0, 1)]
        l = (d[0]*(v[a][0] - v[b][0]) + d[1]*(v[a][1] - v[b][1]))/(d[0]**2 + d[1]**2)
        for c in (0, 1):
            v[a][c] -= l*d[c]
            v[b][c] += l*d[c]
run = json.load(open(file))
worst = max(abs(run["final"]["q"]["xy"[c] + names[k]] - p[k][c]) for k in range(n) for c in (0, 1))
print("%d impacts, %d here, off by %.2e, energy by %.2e" % (len(run["impacts"]), impacts, worst, run["energy"]["balance_error"]))
sys.exit(0 if len(run["impacts"]) == impacts and impacts >= least and worst <= tol and run["energy"]["balance_error"] < 1e-8 else 1)
PYTHON
compare() { # NAME METHOD ROWS COLUMNS RADIUS TIME TOLERANCE IMPACTS
    checks=$((checks + 1))
    model "$3" "$4" "$5" "$6" > "$1.hamel"
    "$HAMEL" run "$1.hamel" --method "$2" --json > "$1.json" || failed "$1: run"
    python3 exact.py "$3" "$4" "$5" "$6" "$1.json" "$7" "$8" > "$1.txt" || failed "$1: $(cat "$1.txt")"
}
compare few-flight auto 5 2 0.2 10 1e-4 100 # chaos: errors grow some 1e12 times by then
compare few-early auto 5 2 0.3 4 1e-9 50
compare few-steps dop853 5 2 0.3 4 1e-4 50

# A hundred: all stay in the box and apart, energy to rounding.
model 10 10 0.35 0.3 > many.hamel
if [ -z "${HAMEL_SANITIZE:-}" ] || [ "$HAMEL_SANITIZE" = 0 ]; then
    checks=$((checks + 1))
    "$HAMEL" run many.hamel --json > many.json || failed "100 discs: run"
    python3 -c "
import json
d = json.load(open('many.json'))
assert d['status'] == 'ok' and len(d['impacts']) > 20, len(d['impacts'])
assert d['energy']['balance_error'] < 1e-12, d['energy']
assert max(d['violation'].values()) < 1e-12
" || failed "100 discs"
fi
finish
