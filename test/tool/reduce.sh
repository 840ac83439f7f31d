#!/usr/bin/env bash
# hamel reduce: classical systems in every form that applies equal the multiplier form at random states to 1e-12,
# and the model file that is written runs to the same place; known results; refusals.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

# ---- agreement, and the same motion ----
cat > compare.py << 'PY'
import json, re, sys
model, reduced = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
found = {}
for kind in ("q", "z", "outputs"):
    found.update(reduced["final"].get(kind) or {})
compared = worst = 0
for name, value in model["final"]["q"].items():
    plain = re.sub(r"[\[,]", "_", name).replace("]", "")
    if plain in found:
        compared += 1
        worst = max(worst, abs(value - found[plain]) / max(1, abs(value)))
print(compared, worst)
sys.exit(not (compared >= 1 and worst <= 1e-8 and reduced["status"] == "ok"))
PY

same_motion() { # MODEL END FORMS...
    local model=$1 end=$2 form
    shift 2
    hamel run "$model" --to "$end" --rtol 1e-11 --atol 1e-13 --json --quiet > model.json
    for form; do
        run hamel reduce "$model" --form "$form" -o reduced.hamel --json --quiet
        expect_status 0
        checks=$((checks + 1))
        python3 -c 'import json,sys; v=json.load(open(sys.argv[1]))["verified"]; sys.exit(not (v["states"] >= 10 and v["difference"] <= 1e-12))' "$out" ||
            failed "$model $form: $(grep -A3 verified "$out")"
        checks=$((checks + 1))
        hamel run reduced.hamel --to "$end" --rtol 1e-11 --atol 1e-13 --json --quiet > reduced.json &&
            python3 compare.py model.json reduced.json > where || failed "$model $form runs elsewhere: $(cat where)"
    done
}

quasi="maggi kane voronets appell boltzmann-hamel hamilton"
same_motion skate 2 $quasi
same_motion coin 1 $quasi
same_motion coin-straight 1 maggi voronets
same_motion chaplygin-sleigh 2 appell hamilton
same_motion knife-edge 1 kane boltzmann-hamel
same_motion snakeboard 0.5 maggi embed
same_motion rolling-disc 0.5 appell hamilton
same_motion double-pendulum 1 kane hamilton
same_motion heavy-top 0.3 routh hamilton
same_motion four-bar 1 maggi
same_motion spherical-pendulum 0.2 boltzmann-hamel embed
same_motion pendulum-redundant 0.2 kane embed
same_motion turntable 0.1 maggi
same_motion affine-constraint 1 boltzmann-hamel hamilton
same_motion kepler 1 hamilton
same_motion foucault 1 appell
same_motion n-pendulum 0.5 maggi

# n trailers with a pushed tractor: the speed along the first axle, and its turning
cat > trailers.hamel << 'HAMEL'
model trailers
param N = 3, l = 0.7
coord x, y, q[0..N]
let P[0] = [x, y]
for i = 1..N { let P[i] = P[i-1] - l*[cos(q[i]), sin(q[i])] }
kinetic sum(i = 0..N, dot(P[i]', P[i]')/2 + 0.1*q[i]'^2)
for i = 0..N { constraint axle[i]: P[i]'[2]*cos(q[i]) = P[i]'[1]*sin(q[i]) }
force x = 0.3*cos(q[0]), y = 0.3*sin(q[0]), q[0] = 0.02
for i = 1..N { initial q[i] = 0.1*i }
initial x' ~ 1, q[0]' = 0.2
simulate 0 .. 1
HAMEL
same_motion trailers.hamel 1 maggi boltzmann-hamel

# ---- known results ----
run hamel reduce skate --form boltzmann-hamel
expect_done
expect_out 'gamma(blade; theta'"'"', u1) = 1' 'm·u̇₁ = m·s·θ̇²' 'I·θ̈ = −m·s·u₁·θ̇'
run hamel reduce skate --form kane --speeds "u = x'*cos(theta) + y'*sin(theta), w = theta'"
expect_done
expect_out 'F*(u) = m·(s·w² − u̇)' 'ẇ = −m·s·u·w/I'
run hamel reduce kepler --form hamilton --json
expect_done
expect_out '"name": "H"' '"form": "hamilton"'
run hamel reduce pendulum-redundant --form embed
expect_out 'x = √(l² − y²)' 'constraint again follows from the others: left out'

# ---- refusals ----
run hamel reduce skate --form lagrange
expect_rejected "unknown form 'lagrange'"
run hamel reduce skate --speeds "u = x'"
expect_rejected "1 speed is given, but 3 coordinates and 1 independent constraint leave 2"
run hamel reduce skate --speeds "u = x'^2, theta'"
expect_rejected "the speed 'u' is not linear in the velocities"
run hamel reduce skate --speeds "u = y'*cos(theta) - x'*sin(theta), theta'"
expect_rejected "the velocities are not determined by these speeds"
run hamel reduce skate --speeds "m = x', theta'"
expect_rejected "the model uses this name already: 'm'"
run hamel reduce skate --speeds "u = , theta'"
expect_rejected "a speed is missing"
run hamel reduce skate --speeds "u = zzz', theta'"
expect_rejected "zzz"
run hamel reduce skate --form embed
expect_rejected "there is no constraint on positions to embed"
run hamel reduce skate --form routh
expect_rejected "no coordinate is cyclic"
run hamel reduce appell
expect_rejected "not linear in the velocities"
run hamel reduce ladder
expect_rejected "one-sided or switched constraint"
run hamel reduce cam
expect_rejected "the constraints leave no freedom"
run hamel reduce skate -o /nowhere/at/all.hamel
expect_rejected "/nowhere"

finish
