#!/usr/bin/env bash
# hamel animate: films that another decoder reads, pictures where the motion is, the same bytes again, bad inputs.
. "$(dirname "$0")/../support/shell.bash"
exec < /dev/null
cd "$work" || exit 1
printf "coord x, y\nkinetic (x'^2+y'^2)/2\npotential (x^2+y^2)/2\ninitial x = 1, y = 0, y' = 0.5\nsimulate 0 .. 6.28\ndraw sphere [x, y], 0.1 color \"red\"\n" > ring.hamel
run hamel animate ring.hamel -o probe.gif --duration 1 --quiet
grep -q 'without cairo\|cannot be loaded' "$err" && exit 77

films=(--fps 10 --duration 2 --size 200x160 --hide all --to 2*pi)
run hamel animate ring.hamel -o a.gif "${films[@]}"
expect_done
run hamel animate ring.hamel -o b.gif "${films[@]}"
cmp -s a.gif b.gif || failed 'the same film is other bytes'
run hamel animate ring.hamel -o f.png "${films[@]}"
expect_done
[ "$(ls f-*.png | wc -l)" -eq 20 ] || failed "$(ls f-*.png | wc -l) frames"
run hamel animate ring.hamel -o 'g%02d.png' "${films[@]}" --duration 0.3
expect_done
[ -e g01.png ] && [ -e g03.png ] || failed 'the pattern'
run hamel animate ring.hamel -o one.png --at-time 1
expect_done
run hamel animate ring.hamel -o s.svg --json
expect_done
expect_out '"pictures": 9'
grep -q '</svg>' s.svg || failed 'the SVG is not whole'
[ -z "$(ls *.partial 2> /dev/null)" ] || failed 'parts are left'

# A decoder of its own; the centroid of red in frame k is at (cos t_k, sin t_k / 2) on the page.
python3 - << 'CHECK' || failed 'the film is not right'
import math
b = open('a.gif', 'rb').read()
assert b[:6] == b'GIF89a'
w, h = b[6] + 256*b[7], b[8] + 256*b[9]
assert (w, h) == (200, 160) and b[10] == 0xf7
table = [tuple(b[13+3*k:16+3*k]) for k in range(256)]
at, screen, frames, control = 13 + 768, [(255,)*3]*(w*h), [], None
def blocks(at):
    data = b''
    while b[at]:
        data += b[at+1:at+1+b[at]]; at += 1 + b[at]
    return data, at + 1
def unpack(data, size):
    clear, end, out, bits, acc, have = 1 << size, (1 << size) + 1, [], size + 1, 0, 0
    codes = [[k] for k in range(1 << size)] + [None, None]; base = list(codes); last = None
    for byte in data:
        acc |= byte << have; have += 8
        while have >= bits:
            code = acc & ((1 << bits) - 1); acc >>= bits; have -= bits
            if code == clear: codes, bits, last = list(base), size + 1, None; continue
            if code == end: return out
            entry = codes[code] if code < len(codes) else last + [last[0]]
            out += entry
            if last is not None and len(codes) < 4096: codes.append(last + [entry[0]])
            if len(codes) == 1 << bits and bits < 12: bits += 1
            last = entry
    raise SystemExit('no end code')
while b[at] != 0x3b:
    if b[at] == 0x21:
        if b[at+1] == 0xf9: control = (b[at+3], b[at+4] + 256*b[at+5], b[at+6])
        _, at = blocks(at + 2)
        continue
    assert b[at] == 0x2c
    l, t, fw, fh = (b[at+1+2*k] + 256*b[at+2+2*k] for k in range(4))
    size = b[at+10]; data, at = blocks(at + 11); pixels = unpack(data, size)
    assert len(pixels) == fw*fh, (len(pixels), fw*fh)
    for k, p in enumerate(pixels):
        if not (control[0] & 1 and p == control[2]):
            screen[(t + k // fw)*w + l + k % fw] = table[p]
    frames.append((control[1], list(screen)))
assert at + 1 == len(b) and len(frames) == 20, len(frames)
assert sum(d for d, _ in frames) == 200
centers = []
for d, picture in frames:
    n = sx = sy = 0
    for k, (r, g, c) in enumerate(picture):
        weight = max(0, 255 - (g + c)/2)
        n += weight; sx += weight*(k % w + 0.5); sy += weight*(k // w + 0.5)
    centers.append((sx/n, sy/n))
ts = [2*math.pi*k/20 for k in range(20)]
mx, my = sum(c[0] for c in centers)/20, sum(c[1] for c in centers)/20
scale = (centers[0][0] - centers[10][0])/2
assert scale > 50, scale
for (x, y), t in zip(centers, ts):
    assert abs(x - mx - scale*math.cos(t)) < 0.6 and abs(y - my + scale*math.sin(t)/2) < 0.6, (t, x, y)
CHECK

run hamel animate ring.hamel; expect_rejected 'needs -o FILE'
run hamel animate ring.hamel -o a.avi; expect_rejected 'must end in .gif'
run hamel animate ring.hamel -o /nowhere/a.gif; expect_rejected 'No such file or directory'
run hamel animate ring.hamel -o a.gif --size big; expect_rejected 'WIDTHxHEIGHT'
run hamel animate ring.hamel -o a.gif --fps 1000; expect_rejected '--fps must be'
run hamel animate ring.hamel -o a.gif --fps 0; expect_status 2
run hamel animate ring.hamel -o a.gif --speed 1e-9; expect_rejected 'pictures, of at most'
run hamel animate ring.hamel -o a.gif --at-time 1; expect_rejected 'single pictures'
run hamel animate ring.hamel -o a.png --at-time 99; expect_rejected 'within the run'
run hamel animate ring.hamel -o a.gif --hide stars; expect_rejected "not 'stars'"
run hamel animate ring.hamel -o a.gif --camera top; expect_rejected 'lies in a plane'
run hamel animate ring.hamel -o 'x%s.png'; expect_rejected 'does not name frames'
PATH=/nowhere run hamel animate ring.hamel -o a.mp4; expect_rejected 'ffmpeg, which writes .mp4, is not installed'
mkdir closed.gif; run hamel animate ring.hamel -o closed.gif; expect_rejected 'Is a directory'
run bash -c "trap '' XFSZ; ulimit -c 0; ulimit -f 1; exec \"\$0\" animate rattleback -o full.gif --duration 1" "$HAMEL"
expect_status 1
[ ! -e full.gif ] || failed 'a part of a film has the name of it'
finish
