#!/usr/bin/env bash
# hamel action: closed forms of S; a sleigh's varied paths, its vakonomic motion against equations by hand; refusals.
. "${HAMEL_SOURCE_DIR:-.}/test/support/shell.bash"
exec < /dev/null
cd "$work" || exit 1

cat > oscillator.hamel << 'M'
param m = 2
param k = 3
coord x
initial x = 0.3
kinetic 1/2*m*x'^2
potential 1/2*k*x^2
initial x' = 0.7
simulate 0 .. 1.1 every 0.1
M
cat > free.hamel << 'M'
coord x
initial x = 1
kinetic 3/2*x'^2
initial x' = 2
simulate 0 .. 5 every 1
M
cat > sleigh.hamel << 'M'
coord x
initial x = 0
coord y
initial y = 0
coord th
initial th = 0.2
kinetic 1/2*(x'^2 + y'^2) + 1/2*th'^2
constraint blade: y'*cos(th) - x'*sin(th) = 0
initial x' = cos(0.2)
initial y' = sin(0.2)
initial th' = 1.3
simulate 0 .. 2 every 0.1
M

cat > check.py << 'PY'
import json, math, sys

def load(name):
    return json.load(open(name))

def near(what, a, b, tolerance):
    if not abs(a - b) <= tolerance:
        sys.exit(f"{what}: {a!r} is not {b!r}")

# the oscillator: S(x0, x1, T) = m w / (2 sin wT) ((x0^2 + x1^2) cos wT - 2 x0 x1)
a = load("oscillator.json")
m, k, x0, v0, T = 2, 3, 0.3, 0.7, 1.1
w = math.sqrt(k / m)
x1 = x0 * math.cos(w * T) + v0 / w * math.sin(w * T)
S = m * w / (2 * math.sin(w * T)) * ((x0**2 + x1**2) * math.cos(w * T) - 2 * x0 * x1)
E = m * v0**2 / 2 + k * x0**2 / 2
near("oscillator", a["S"]["value"], S, 1e-10)
for name in ("abbreviated", "twice_T", "modified"):
    near(name, a["maupertuis"][name]["value"], S + E * T, 1e-10)
if any(p["holds"] != "yes" for p in a["principles"]):
    sys.exit("a principle fails on the oscillator")
a = load("free.json")
near("free", a["S"]["value"], 1.5 * 4 * 5, 1e-10)

# the sleigh: (x', y') = (cos th, sin th), th = 0.2 + 1.3 t, lambda = th' (x' cos th + y' sin th)
a = load("sleigh.json")
near("sleigh", a["S"]["value"], (1 + 1.69) / 2 * 2, 1e-9)
holds = {p["equation"]: p["holds"] for p in a["principles"]}
if holds != {"Flannery (50)": "yes", "Flannery (51)": "yes", "Flannery (53)": "no", "Flannery (A6)": "yes"}:
    sys.exit(f"principles: {holds}")
th = lambda t: 0.2 + 1.3 * t
for v in a["variations"]:
    d, p = v["displaced"], v["possible"]
    near("identity", p["delta_S"]["value"], -p["reaction_work"]["value"], 1e-8)
    if not d["is_virtual"] or p["is_virtual"] or not p["is_possible"]:
        sys.exit(f"kinds: {v}")
# along x: delta q = cos th (cos th, sin th) eta; delta g = -eta th' cos th, largest absolute value on the way
ts = [i / 50000 for i in range(100001)]
x = [v for v in a["variations"] if v["coordinate"] == "x"][0]
near("delta g", x["displaced"]["delta_g"], max(abs(math.sin(math.pi * t / 2) * 1.3 * math.cos(th(t))) for t in ts), 2e-3)

# the vakonomic motion: its start, put into equations written by hand, reaches the end with this action
end = [(math.sin(th(2)) - math.sin(0.2)) / 1.3, (math.cos(0.2) - math.cos(th(2))) / 1.3, th(2)]
def rhs(y):
    X, Y, h, v, w, mu, S = y
    # of L + mu g, g = y' cos th - x' sin th: along the blade v' = mu w, across it mu' = -v w, th'' = -mu v
    return [v * math.cos(h), v * math.sin(h), w, mu * w, -mu * v, -v * w, (v * v + w * w) / 2]
def moved(y, k, f):
    return [a + f * b for a, b in zip(y, k)]
v = a["vakonomic"]
y, steps = [0, 0, 0.2, v["v"]["x"] / math.cos(0.2), v["v"]["th"], v["mu"]["blade"], 0], 4000
h = 2 / steps
for _ in range(steps):
    k1 = rhs(y)
    k2 = rhs(moved(y, k1, h / 2))
    k3 = rhs(moved(y, k2, h / 2))
    k4 = rhs(moved(y, k3, h))
    y = [c + h / 6 * (p + 2 * q + 2 * r + s) for c, p, q, r, s in zip(y, k1, k2, k3, k4)]
for i in range(3):
    near("end of the vakonomic motion", y[i], end[i], 1e-8)
near("its action", v["S"]["value"], y[6], 1e-9)
near("its start", v["v"]["y"] * math.cos(0.2), v["v"]["x"] * math.sin(0.2), 1e-10)
S = y[6]
if not S < a["S"]["value"]:
    sys.exit("the vakonomic motion has more action")
PY
for model in oscillator free; do
    run hamel action $model.hamel --json
    expect_status 0
    cp "$out" $model.json
done
run hamel action sleigh.hamel --vakonomic --json
expect_status 0
cp "$out" sleigh.json
checks=$((checks + 1))
python3 check.py > told 2>&1 || failed "$(cat told)"
run hamel action skate --to 1 --plot o.svg
expect_status 0
run hamel action pendulum --vakonomic --to 1
expect_status 0
run hamel action skate --modes 51
expect_status 2
run hamel action skate --to 0
expect_status 2
run hamel action oscillator.hamel --vakonomic
expect_status 1
run hamel action skate --end "nothing=1"
expect_status 2
finish
