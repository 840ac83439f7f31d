#!/usr/bin/env bash
# hamel report: a page for every example (under the sanitizers for some), whole, with JSON that parses,
# nothing that is fetched, and no text of a model that gets out of its place.
set -eu
work=$TMPDIR
if ! "$HAMEL" report skate -o "$work/skate.html" > /dev/null 2> "$work/said"; then
    grep -q 'no pages' "$work/said" && exit 77
    cat "$work/said"
    exit 1
fi
fail() { echo "$1"; exit 1; }

# usage and bad inputs
status=0; "$HAMEL" report skate 2> "$work/said" || status=$?
[ $status -eq 2 ] && grep -q 'needs -o' "$work/said" || fail "no -o: status $status"
status=0; "$HAMEL" report nowhere.hamel -o "$work/x.html" 2> /dev/null || status=$?
[ $status -eq 2 ] && [ ! -e "$work/x.html" ] || fail "a missing model: status $status"
status=0; "$HAMEL" report skate -o "$work/no/such/folder.html" 2> /dev/null || status=$?
[ $status -ne 0 ] || fail "a folder that is not there"
status=0; "$HAMEL" report skate --to nonsense -o "$work/x.html" 2> /dev/null || status=$?
[ $status -eq 2 ] || fail "a bad time: status $status"

# the same bytes again but for the time that the run took
"$HAMEL" report skate -o "$work/again.html" > /dev/null
cmp <(sed 's/"wall_s":[0-9.e-]*//' "$work/skate.html") <(sed 's/"wall_s":[0-9.e-]*//' "$work/again.html")

# text that tries to get out
printf 'model evil "</script><img src=x onerror=alert(1)>& <!--"\ncoord x "</title><b>"\nkinetic x'"'"'^2/2 # </script>\ninitial x'"'"' = 1\n' > "$work/evil.hamel"
"$HAMEL" report "$work/evil.hamel" -o "$work/evil.html" > /dev/null

if [ "$HAMEL_SANITIZE" = 1 ]; then
    examples='pendulum rolling-disc swarm ball-to-rest vortices four-bar-joints turntable'
else
    examples=$("$HAMEL" examples --json | sed -n 's/.*"name": "\(.*\)".*/\1/p')
fi
[ -n "$examples" ] || fail "no examples"
for name in $examples; do
    "$HAMEL" report "$name" --quiet -o "$work/of-$name.html" > /dev/null 2> "$work/said" || { cat "$work/said"; fail "$name"; }
done

python3 - "$work" << 'CHECK'
import base64, glob, hashlib, html.parser, json, math, os, re, sys

class Page(html.parser.HTMLParser):
    void = {"meta", "br", "img", "link", "input"}
    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.texts, self.problems, self.policy = [], [], {}, [], ""
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        for key in ("src", "href"):
            if key in a:
                self.problems.append(f"<{tag} {key}={a[key]}>")
        if a.get("http-equiv") == "Content-Security-Policy":
            self.policy = a["content"]
        if tag not in self.void:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([a, ""])
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")
    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts[-1][1] += data
        else:
            self.texts[inside] = self.texts.get(inside, "") + data

def columns(motion, path):
    rows = motion["rows"]
    assert rows > 1, f"{path}: {rows} rows"
    for group, list_ in motion.items():
        if isinstance(list_, list):
            for column in list_:
                assert len(column) in (1, rows), f"{path}: {group}"
    t = motion["t"][0]
    assert all(a <= b for a, b in zip(t, t[1:])), f"{path}: time goes back"

drawn = 0
for path in sorted(glob.glob(sys.argv[1] + "/*.html")):
    page = Page()
    text = open(path, encoding="utf-8").read()
    page.feed(text)
    page.close()
    assert not page.problems and not page.open, (path, page.problems, page.open)
    kinds = [a.get("type") for a, _ in page.scripts]
    assert kinds == ["application/json", "application/json", None], (path, kinds)
    data, motion = (json.loads(s) for _, s in page.scripts[:2])
    digest = base64.b64encode(hashlib.sha256(page.scripts[2][1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in page.policy and "default-src 'none'" in page.policy, path
    assert not re.search(r"url\((?!data:)", page.texts["style"]), path
    assert "@import" not in page.texts["style"], path
    assert os.path.getsize(path) <= 3_500_000, (path, os.path.getsize(path))
    columns(motion, path)
    values = len(motion["drawings"])
    for d in data["drawings"]:
        for p in d["parts"]:
            assert p["first"] + p["rows"] * p["columns"] <= values, path
    drawn += bool(data["drawings"])
    assert data["run"]["status"] in ("ok", "event"), path
    assert data["check"] and data["run"]["final"]["q"], path
    if path.endswith("evil.html"):
        assert page.texts["title"].strip() == '</script><img src=x onerror=alert(1)>& <!--', page.texts["title"]
        assert data["title"] == page.texts["title"].strip() and "</title><b>" in json.dumps(data["coordinates"])
    if path.endswith("/skate.html"):
        assert os.path.getsize(path) <= 3_000_000
        assert "\\ddot{\\theta}" in data["latex"]
        # the columns are those of a run: theta and the constraint force Q_x = -lambda sin(theta)
        q, f, l = motion["q"], motion["ideal"], motion["lambda"]
        worst = max(abs(f[0][k] + l[0][k] * math.sin(q[2][k])) for k in range(motion["rows"]))
        assert worst < 1e-8, worst
print(drawn, "drawn")
CHECK
