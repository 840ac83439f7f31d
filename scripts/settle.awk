# awk -f scripts/settle.awk OLD NEW: the new text, with lines of the old one where they differ by noise
# only, so that generated pages change where something changed. Noise: numbers that agree to 1e-8 of
# their size, differ by 1e-12, or are both errors (below 1e-6, of one order of magnitude), counts of
# good digits (whole numbers up to 16 in a row of a table), and counts of steps that differ by 3 %.
# A tolerance is none: the column `allowed` of a table.
function size(x) { return x < 0 ? -x : x }
function larger(x, y) { return x > y ? x : y }
function near(x, y, table, counts,    d, s) {
    d = size(x - y); s = larger(size(x), size(y))
    if (d <= 1e-12 || d <= 1e-8 * s) return 1
    if (s < 1e-6) return s <= 12 * (size(x) < size(y) ? size(x) : size(y)) || s < 1e-12
    if (counts && x == int(x) && y == int(y) && x >= 0) return d <= 0.03 * s + 3
    return table && x == int(x) && y == int(y) && x > 5 && y > 5 && x <= 16 && y <= 16
}
# Numbers into list[1..], the rest returned.
function skeleton(line, list,    rest, n) {
    n = 0; rest = ""
    while (match(line, /[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) {
        list[++n] = substr(line, RSTART, RLENGTH) + 0
        rest = rest substr(line, 1, RSTART - 1) "N"
        line = substr(line, RSTART + RLENGTH)
    }
    rest = rest line
    gsub(/ +/, " ", rest)
    list[0] = n
    return rest
}
function column(line, k,    cells) { return split(line, cells, / [|] /) < k ? "" : cells[k] }
# The number of column `allowed` in the table this line belongs to; 0: there is none.
function tolerance_column(line, last,    cells, n) {
    if (line !~ /^[|]/) return 0
    for (n = split(line, cells, / [|] /); n > 0; n--)
        if (cells[n] == "allowed") return n
    return last
}
function same(x, y,    a, b, i) {
    if (exact && column(x, exact) != column(y, exact)) return 0
    if (skeleton(x, a) != skeleton(y, b)) return 0
    for (i = 1; i <= a[0]; i++)
        if (!near(a[i], b[i], x ~ /^[|]/, x ~ / steps| projections/)) return 0
    return 1
}
FNR == NR { key = skeleton($0, ignored); old[key, ++count[key]] = $0; next }
{
    exact = tolerance_column($0, exact)
    key = skeleton($0, ignored)
    for (i = used[key] + 1; i <= count[key]; i++)
        if (same(old[key, i], $0)) {
            used[key] = i
            print old[key, i]
            next
        }
    print
}
