"""The language server through a client of our own: what it answers, diagnostics as the command has them, renaming
that keeps the meaning of random models, and input that is no conversation."""
import glob
import json
import os
import random
import re
import subprocess
import sys

from lsp_client import Client

HAMEL, SOURCE = sys.argv[1], sys.argv[2]
SANITIZED = bool(os.environ.get("HAMEL_SANITIZE"))
MODEL = """model skate "s"
param m = 1, k = 100 in 0 .. 500 "spring (N/m)"
coord x, θ
let v2 = x'^2 + θ'^2
kinetic m/2*v2   # θ̇, 𝜃 and θ
potential k/2*x^2
constraint blade: θ' = x'*cos(θ)
initial x' = 1, θ' ~ 1
output o = sum(i = 1..2, i*x) + multiplier(blade)
"""


def labels(answer):
    return {item["label"] for item in answer["result"]}


def answers():
    client, uri = Client(HAMEL), "file:///tmp/a%20b.hamel"
    client.open(uri, MODEL)
    assert client.diagnostics(uri) == []
    hover = lambda line, at: client.at("hover", uri, line, at)["result"]["contents"]["value"]
    assert "parameter" in hover(1, 13) and "spring (N/m)" in hover(1, 13) and "`100`" in hover(1, 13)
    assert "named expression" in hover(3, 5) and r"\dot{\theta}^{2}" in hover(3, 5) and "`2`" in hover(3, 5)
    assert "constraint on the velocities" in hover(6, 12)
    assert client.at("definition", uri, 6, 18)["result"]["range"]["start"] == {"line": 2, "character": 9}
    assert client.at("definition", uri, 8, 46)["result"]["range"]["start"] == {"line": 6, "character": 11}
    assert len(client.at("references", uri, 6, 18, context={"includeDeclaration": True})["result"]) == 5
    assert len(client.at("references", uri, 8, 11 + 14, context={"includeDeclaration": True})["result"]) == 2
    for name in ("x", "coord", "t", "2a", "a b", "", "pi", "not"):
        assert client.at("rename", uri, 6, 18, newName=name)["error"]["code"] == -32803, name
    assert "error" in client.at("rename", uri, 8, 25, newName="x")  # the index would hide the coordinate
    assert "param" in labels(client.at("completion", uri, 9, 0))
    inside = labels(client.at("completion", uri, 8, 27))
    assert {"i", "x", "θ", "sin"} <= inside and "param" not in inside
    assert labels(client.at("completion", uri, 8, 46)) >= {"blade"}
    names = [s["name"] for s in client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]]
    assert names == ["skate", "m", "k", "x", "θ", "v2", "blade", "o"], names
    changes(client, uri)
    assert client.ask("textDocument/nothing", {})["error"]["code"] == -32601
    assert client.at("hover", "file:///tmp/none", 0, 0)["error"]["code"] == -32602
    assert client.leave() == 0


def changes(client, uri):
    """Incremental changes behind characters of two UTF-16 units, line ends of two bytes, layout."""
    def change(line, start, end, text):
        client.tell("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"range": {"start": {"line": line, "character": start},
                                          "end": {"line": line, "character": end}}, "text": text}]})
        return client.diagnostics(uri)
    assert change(4, 31, 32, "\r\nforce x = zeta") != []  # behind 𝜃, which counts two
    found = change(4, 31, 31, "")
    assert [(d["range"]["start"]["line"], d["range"]["start"]["character"]) for d in found] == [(5, 10)], found
    assert change(5, 10, 14, "k*θ") == []
    client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 3}, "contentChanges": [
        {"text": "coord x\r\nkinetic   x'^2\r\n"}]})
    assert client.diagnostics(uri) == []
    edit = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}})["result"][0]
    assert edit["newText"] == "coord x\r\nkinetic x'^2\r\n", edit
    client.close(uri)
    assert client.diagnostics(uri) == []


def include(folder):
    """A message about an included file arrives at that file, and goes when it is mended; names reach across."""
    part, main = os.path.join(folder, "part.hamel"), os.path.join(folder, "main.hamel")
    with open(part, "w") as file:
        file.write("coord x\nkinetic zeta*x'^2\n")
    client, text = Client(HAMEL), 'param m = 1\ninclude "part.hamel"\n'
    client.open("file://" + main, text)
    assert client.diagnostics("file://" + main) == []
    found = client.diagnostics("file://" + part)
    assert found[0]["range"]["start"] == {"line": 1, "character": 8}, found
    client.open("file://" + part, "coord x\nkinetic m*x'^2\n")  # as the editor has it, not as it is saved
    client.tell("textDocument/didSave", {"textDocument": {"uri": "file://" + part}})
    while client.diagnostics("file://" + main):
        pass
    edits = client.at("rename", "file://" + main, 0, 6, newName="mass_1")["result"]["changes"]
    assert set(edits) == {"file://" + main, "file://" + part}, edits
    assert client.leave() == 0


def corpus():
    every = 1 if os.environ.get("HAMEL_LSP_ALL") else 40 if SANITIZED else 8
    client = Client(HAMEL, ["utf-32"])
    count = 0
    for path in sorted(glob.glob(SOURCE + "/test/cases/bad/*.hamel"))[::every]:
        text = open(path, "rb").read().decode(errors="replace")
        if "# set " in text or "# at " in text or "\ufffd" in text:
            continue
        client.open("file://" + path, text)
        found = {(d["range"]["start"]["line"] + 1, d["range"]["start"]["character"] + 1,
                  d["message"].split("\nhint: ")[0]) for d in client.diagnostics("file://" + path)}
        client.close("file://" + path)
        said = set()
        for command in ("check", "eval"):
            run = subprocess.run([HAMEL, command, path], capture_output=True, text=True, errors="replace")
            for m in re.finditer(r"^(?:(\S+?):(\d+):(\d+): |hamel: )?(error|warning|note): (.*)$", run.stderr, re.M):
                if not m[1] or m[1].endswith(os.path.basename(path)):
                    said.add((int(m[2] or 1), int(m[3] or 1), m[5]))
        assert found == said, (path, found, said)
        count += len(found)
    assert count > 10
    assert client.leave() == 0


# ---- renaming ----

def random_model(random):
    """A model with names of every kind, some of which are words of statements or hide others."""
    pool = ["a", "b", "gain", "at", "every", "θ", "q1", "mass_", "i", "j", "by", "x", "with", "limit"]
    random.shuffle(pool)
    p, c1, c2, let, f, arg, index, body, row, out = pool[:10]
    number = lambda: "%.3g" % random.uniform(0.2, 3)
    return "\n".join([
        f"param {p} = {number()}, N = {random.randint(1, 3)}",
        f"coord {c1}, {c2}, s[1..N]",
        f"let {let} = {c1}'*{c2}' + {p}",
        f"let {f}({arg}) = {arg}^2*{p} + sum({index} = 1..2, {index}*{arg})",
        f"kinetic {f}({c1}') + {number()}*{c2}'^2 + sum({index} = 1..N, s[{index}]'^2)",
        f"potential {number()}*sin({c1})*{c2} + cos({let}*0 + {c2})",
        f"body {body} {{ mass {p}  at [{c1}, {c2}*{number()}] }}",
        f"constraint {row}: {c1}' = {number()}*{c2}'*cos({c1})",
        f"for {index} = 1..N {{ force s[{index}] = -{p}*s[{index}] + {index} }}",
        f"force {c1} = {f}({c2}) - {let}",
        f"servo {out}: s[1]' = {number()} by s[1] with gain {p}" if random.random() < 0.5 else f"dissipation {p}*{c2}'^2",
        f"initial {c1} = {number()}, {c2} = {number()}, {c2}' = {number()}",
        f"output {out} = origin({body})[1] + multiplier({row})",
        f"event {row}: {c1} = {p} stop",
        "simulate 0 .. 1 every 0.5 rtol 1e-8"]) + "\n"


def apply(text, edits):
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda e: -e["range"]["start"]["character"]):
        start, end = edit["range"]["start"], edit["range"]["end"]
        line = lines[start["line"]]
        lines[start["line"]] = line[:start["character"]] + edit["newText"] + line[end["character"]:]
    return "\n".join(lines)


def evaluate(text):
    run = subprocess.run([HAMEL, "eval", "-", "--json", "--quiet"], input=text, capture_output=True, text=True)
    result = json.loads(run.stdout) if run.stdout else {}
    return run.returncode, [result.get(k) for k in ("M", "Q", "A", "b", "qdd", "Qc")], \
        list((result.get("lambda") or {}).values())


def renaming():
    wanted = int(os.environ.get("HAMEL_LSP_RENAMES", 20 if SANITIZED else 60))
    generator, client, done, refused = random.Random(7), Client(HAMEL), 0, 0
    for k in range(wanted):
        text, uri = random_model(generator), f"file:///tmp/r{k}.hamel"
        client.open(uri, text)
        words = [(m.start(), m[0]) for m in re.finditer(r"[^\W\d]\w*", text)]
        offset, old = generator.choice(words)
        line = text.count("\n", 0, offset)
        at = offset - (text.rfind("\n", 0, offset) + 1)
        fresh = generator.choice(["fresh", "φ", "gain", "i", "x", "at"])
        answer = client.at("rename", uri, line, at, newName=fresh)
        client.close(uri)
        if "error" in answer:
            refused += 1
            continue
        after = apply(text, answer["result"]["changes"][uri])
        assert after != text or old == fresh, (text, old)
        before = evaluate(text)
        assert before[0] == 0 and before == evaluate(after), (text, after, before)
        done += 1
    assert done > wanted / 4, (done, refused)
    print(f"{done} renamed, {refused} refused")
    assert client.leave() == 0


# ---- what is no conversation ----

def told(data):
    return subprocess.run([HAMEL, "lsp"], input=data, capture_output=True, timeout=60)


def frames():
    good = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
    frame = lambda body: b"Content-Length: %d\r\n\r\n" % len(body) + body
    ending = frame(b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}') + frame(b'{"jsonrpc":"2.0","method":"exit"}')
    assert told(frame(good) + ending).returncode == 0
    assert told(b"").returncode == 1
    assert b"middle" in told(frame(good) + b"Content-Length: 100\r\n\r\n{").stderr
    for bad in (frame(b"{"), frame(b"[]"), frame(b"17"), frame(b"[" * 5000), frame(b'"\xff"'), b"Content-Length: -3\r\n\r\n",
                b"Content-Length: 99999999999999999999999\r\n\r\n", b"Nothing: 1\r\n\r\n",
                b"Content-Length: 70000000\r\n\r\n" + b" " * 70000000, frame(b'{"id":3,"method":7}')):
        run = told(frame(good) + bad + ending)
        assert run.returncode == 0 and b'"error"' in run.stdout, (bad[:60], run.returncode, run.stdout[-200:])
    assert told(b"x" * 100000).returncode == 1
    whole = frame(good) + frame(json.dumps({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {
        "textDocument": {"uri": "file:///a.hamel", "version": 1, "text": MODEL}}}).encode()) + ending
    generator = random.Random(11)
    for _ in range(20 if SANITIZED else 100):
        data = bytearray(whole)
        for _ in range(generator.randint(1, 6)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        assert told(bytes(data[:generator.randint(1, len(data))])).returncode in (0, 1)


answers()
include(os.environ["TMPDIR"])
corpus()
renaming()
frames()
