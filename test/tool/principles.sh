#!/usr/bin/env bash
# hamel check: the table of principles. The least Zwang equals Qc.M^-1 Qc of eval, other verdicts are known.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

cat > zwang.py << 'PY'
import json, sys
from fractions import Fraction
check, at = json.load(open("check.json")), json.load(open("eval.json"))
n = len(at["Qc"])
rows = [[Fraction(x) for x in row] + [Fraction(f)] for row, f in zip(at["M"], at["Qc"])]
for i in range(n):  # exact elimination: M x = Qc
    p = next(k for k in range(i, n) if rows[k][i] != 0)
    rows[i], rows[p] = rows[p], rows[i]
    rows[i] = [x / rows[i][i] for x in rows[i]]
    for k in range(n):
        if k != i:
            rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i])]
Z = float(sum(rows[i][n] * Fraction(at["Qc"][i]) for i in range(n)))
print(Z, check["principles"]["zwang"])
sys.exit(not abs(Z - check["principles"]["zwang"]) <= 1e-9 * abs(Z))
PY
for model in skate pendulum coin isokinetic double-pendulum rolling-disc; do
    hamel check $model --json --quiet > check.json
    hamel eval $model --json --quiet > eval.json
    checks=$((checks + 1))
    python3 zwang.py > told 2>&1 || { [ "$(python3 -c 'import json; print(json.load(open("eval.json"))["constraints"])')" = "[]" ] ||
        failed "$model: $(cat told)"; }
done

run hamel check coin-straight
expect_status 0
expect_out "L + λ f(q,t) (22)         yes: with f" "Jourdain's principle, δq' with δq = 0             yes"
run hamel check skate
expect_out "(29)      no: displaced paths violate g = 0; use (14)" "(53)    no: as for (29); use (50)"
run hamel check isokinetic
expect_out "Chetaev's rule, (∂g/∂q')·δq = 0                   yes" "(52)    no: as for (22); use Jourdain"
finish
