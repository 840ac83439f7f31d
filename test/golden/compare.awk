# awk -f compare.awk EXPECTED ACTUAL: compares line by line. Numbers may differ by 1e-9 of their size
# (1e-12 where they are smaller than 1), since math libraries differ in the last digits; then spaces
# do not matter. A line "..." in EXPECTED stands for any lines.
function is_number(x) { return x ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?,?$/ }
function size(x) { return x < 0 ? -x : x }
function same_number(x, y,    d, s) {
    if (!is_number(x) || !is_number(y)) return 0
    sub(/,$/, "", x); sub(/,$/, "", y)
    d = size(x - y); s = size(x) > size(y) ? size(x) : size(y)
    return d <= 1e-12 || d <= 1e-9 * s
}
function same_line(x, y,    i, n, m, a, b, numeric) {
    if (x == y) return 1
    n = split(x, a, " "); m = split(y, b, " ")
    if (n != m) return 0
    for (i = 1; i <= n; i++) {
        if (a[i] == b[i]) continue
        if (!same_number(a[i], b[i])) return 0
        numeric = 1
    }
    return numeric
}
function complain(i, j) {
    printf "line %d: expected |%s|\n          found    |%s|\n", i, i <= ne ? e[i] : "<the end>", \
        j <= na ? f[j] : "<the end>"
    exit 1
}
FNR == NR { e[++ne] = $0; next }
{ f[++na] = $0 }
END {
    for (i = j = 1; i <= ne; i++) {
        if (e[i] == "...") {
            if (i == ne) exit 0
            while (j <= na && !same_line(e[i + 1], f[j])) j++
            continue
        }
        if (j > na || !same_line(e[i], f[j])) complain(i, j)
        j++
    }
    if (j <= na) complain(i, j)
}
