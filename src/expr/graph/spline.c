/* Nodes to pieces.
 *
 * Every kind is cubic Hermite interpolation with slopes d at the nodes, or linear:
 *   cubic     the natural spline, or the periodic one: continuous second derivatives
 *   monotone  the slopes of Fritsch and Butland, with the three-point ends of Moler: between two nodes
 *             the function stays between their values   [Fritsch, Butland 1984; Fritsch, Carlson 1980]
 * With two arguments it is the tensor product: slopes along x, along y, and along both.
 * Verified: test/unit/expr/test_table.c against scipy.interpolate.
 */
#include "expr/graph/table.h"

#include <math.h>
#include <string.h>

/* One line of nodes: count values `stride` apart. */
typedef struct line {
    const double *knot;
    size_t count;
    const double *value;
    double *slope;
    size_t stride;
    bool periodic;
    double *scratch; /* 4 count */
} line;

static double width(const line *l, size_t k)
{
    return l->knot[k + 1] - l->knot[k];
}

static double chord(const line *l, size_t k)
{
    return (l->value[(k + 1) * l->stride] - l->value[k * l->stride]) / width(l, k);
}

/* ---- the natural and the periodic spline ---- */

/* diagonal, both neighbours `beside`, right-hand sides in place; destroys the diagonal. Row k holds
 * lower[k] x_{k-1} + diagonal[k] x_k + upper[k] x_{k+1}; the matrix is diagonally dominant. */
static void solve_tridiagonal(size_t n, const double *lower, double *diagonal, const double *upper,
                              double *x)
{
    for (size_t k = 1; k < n; k++) {
        double factor = lower[k] / diagonal[k - 1];
        diagonal[k] -= factor * upper[k - 1];
        x[k] -= factor * x[k - 1];
    }
    for (size_t k = n; k-- > 0;)
        x[k] = (x[k] - (k + 1 < n ? upper[k] * x[k + 1] : 0)) / diagonal[k];
}

/* Slopes d of the natural spline: h_k d_{k-1} + 2 (h_{k-1} + h_k) d_k + h_{k-1} d_{k+1} =
 * 3 (h_k s_{k-1} + h_{k-1} s_k), and 2 d_0 + d_1 = 3 s_0 where the second derivative vanishes.
 *                                                                        [de Boor 2001, IV (11)] */
static void natural_slopes(const line *l)
{
    size_t n = l->count;
    double *lower = l->scratch, *diagonal = lower + n, *upper = diagonal + n, *x = upper + n;
    for (size_t k = 0; k < n; k++) {
        if (k == 0 || k == n - 1) {
            lower[k] = upper[k] = 1;
            diagonal[k] = 2;
            x[k] = 3 * chord(l, k ? k - 1 : 0);
            continue;
        }
        double before = width(l, k - 1), behind = width(l, k);
        lower[k] = behind;
        upper[k] = before;
        diagonal[k] = 2 * (before + behind);
        x[k] = 3 * (behind * chord(l, k - 1) + before * chord(l, k));
    }
    solve_tridiagonal(n, lower, diagonal, upper, x);
    for (size_t k = 0; k < n; k++)
        l->slope[k * l->stride] = x[k];
}

static void periodic_row(const line *l, size_t k, double *lower, double *diagonal, double *upper,
                         double *right)
{
    size_t m = l->count - 1, previous = k ? k - 1 : m - 1;
    double before = width(l, previous), behind = width(l, k);
    *lower = behind;
    *upper = before;
    *diagonal = 2 * (before + behind);
    *right = 3 * (behind * chord(l, previous) + before * chord(l, k));
}

/* Two or fewer unknowns: the neighbours coincide. */
static void short_periodic_slopes(const line *l, size_t m)
{
    double a[2] = {0}, b[2] = {1, 1}, c[2] = {0}, r[2] = {0}, d[2] = {0};
    for (size_t k = 0; k < m; k++)
        periodic_row(l, k, &a[k], &b[k], &c[k], &r[k]);
    if (m == 1)
        d[0] = r[0] / (a[0] + b[0] + c[0]);
    else {
        double p = a[0] + c[0], q = a[1] + c[1], determinant = b[0] * b[1] - p * q;
        d[0] = (r[0] * b[1] - p * r[1]) / determinant;
        d[1] = (b[0] * r[1] - q * r[0]) / determinant;
    }
    for (size_t k = 0; k <= m; k++)
        l->slope[k * l->stride] = d[k % m];
}

/* The cyclic system by elimination of its last unknown: d = x + d_{m-1} y. */
static void periodic_slopes(const line *l)
{
    size_t m = l->count - 1;
    if (m < 3) {
        short_periodic_slopes(l, m);
        return;
    }
    double *lower = l->scratch, *diagonal = lower + m, *upper = diagonal + m, *x = upper + m;
    double *y = l->scratch + 4 * l->count;
    double a, b, c, right, last[2] = {0};
    for (size_t k = 0; k < m - 1; k++) {
        periodic_row(l, k, &lower[k], &diagonal[k], &upper[k], &x[k]);
        y[k] = 0;
    }
    y[0] = -lower[0];
    y[m - 2] -= upper[m - 2];
    memcpy(y + m, diagonal, (m - 1) * sizeof *y);
    solve_tridiagonal(m - 1, lower, diagonal, upper, x);
    solve_tridiagonal(m - 1, lower, y + m, upper, y);
    periodic_row(l, m - 1, &a, &b, &c, &right);
    last[0] = (right - a * x[m - 2] - c * x[0]) / (b + a * y[m - 2] + c * y[0]);
    for (size_t k = 0; k <= m; k++) {
        size_t j = k % m;
        l->slope[k * l->stride] = j == m - 1 ? last[0] : x[j] + last[0] * y[j];
    }
}

/* ---- monotone ---- */

/* The weighted harmonic mean of both chords, 0 at extremes. */
static double harmonic(double before, double behind, double s, double t)
{
    double w1 = 2 * behind + before, w2 = behind + 2 * before;
    return s * t > 0 ? (w1 + w2) / (w1 / s + w2 / t) : 0;
}

/* At an end: the parabola through three nodes, limited so that the shape is kept. */
static double end_slope(double h, double next, double s, double t)
{
    double d = ((2 * h + next) * s - h * t) / (h + next);
    if (d * s <= 0)
        return 0;
    return s * t < 0 && fabs(d) > 3 * fabs(s) ? 3 * s : d;
}

static void monotone_slopes(const line *l)
{
    size_t n = l->count;
    for (size_t k = 1; k + 1 < n; k++)
        l->slope[k * l->stride] = harmonic(width(l, k - 1), width(l, k), chord(l, k - 1),
                                           chord(l, k));
    double *first = l->slope, *last = l->slope + (n - 1) * l->stride;
    if (l->periodic)
        *first = *last = harmonic(width(l, n - 2), width(l, 0), chord(l, n - 2), chord(l, 0));
    else if (n == 2)
        *first = *last = chord(l, 0);
    else {
        *first = end_slope(width(l, 0), width(l, 1), chord(l, 0), chord(l, 1));
        *last = end_slope(width(l, n - 2), width(l, n - 3), chord(l, n - 2), chord(l, n - 3));
    }
}

static void find_slopes(const hmi_table *table, const line *l)
{
    if (table->kind == HMI_TABLE_MONOTONE)
        monotone_slopes(l);
    else if (table->kind == HMI_TABLE_LINEAR) /* used beyond the ends only */
        for (size_t k = 0; k < l->count; k++)
            l->slope[k * l->stride] = chord(l, k ? k - 1 : 0);
    else if (l->periodic)
        periodic_slopes(l);
    else
        natural_slopes(l);
}

/* ---- pieces ---- */

/* Coefficients by value and slope at the left end and at the right end of piece k. */
static void piece_matrix(const hmi_table *table, const hmi_table_axis *axis, size_t k,
                         double A[4][4])
{
    memset(A, 0, 16 * sizeof(double));
    bool outer = k == 0 || k == axis->count;
    A[0][0] = 1;
    if (outer) {
        A[1][1] = table->outside == HMI_OUTSIDE_EXTEND;
        return;
    }
    double h = axis->knot[k] - axis->knot[k - 1];
    if (table->kind == HMI_TABLE_LINEAR) {
        A[1][0] = -1 / h;
        A[1][2] = 1 / h;
        return;
    }
    const double square[4] = {-3 / (h * h), -2 / h, 3 / (h * h), -1 / h};
    const double cube[4] = {2 / (h * h * h), 1 / (h * h), -2 / (h * h * h), 1 / (h * h)};
    A[1][1] = 1;
    memcpy(A[2], square, sizeof square);
    memcpy(A[3], cube, sizeof cube);
}

/* Nodes at the ends of piece k. */
static void ends_of(const hmi_table_axis *axis, size_t k, size_t end[2])
{
    end[0] = k ? k - 1 : 0;
    end[1] = k < axis->count ? k : axis->count - 1;
}

/* One argument: by differences, which loses fewer digits than the matrix. */
static void make_piece(const hmi_table *table, const double *z, const double *d, size_t k,
                       double *c)
{
    const hmi_table_axis *axis = &table->axis[0];
    size_t end[2];
    ends_of(axis, k, end);
    c[0] = z[end[0]];
    c[1] = c[2] = c[3] = 0;
    if (k == 0 || k == axis->count) {
        c[1] = table->outside == HMI_OUTSIDE_EXTEND ? d[end[0]] : 0;
        return;
    }
    double h = axis->knot[k] - axis->knot[k - 1], s = (z[end[1]] - z[end[0]]) / h;
    c[1] = s;
    if (table->kind == HMI_TABLE_LINEAR)
        return;
    c[1] = d[end[0]];
    c[2] = (3 * s - 2 * d[end[0]] - d[end[1]]) / h;
    c[3] = (d[end[0]] + d[end[1]] - 2 * s) / (h * h);
}

/* nodes[0..3]: z, its slope along x, along y, along both. */
static void make_cell(const hmi_table *table, double *const nodes[4], size_t i, size_t j, double *c)
{
    const hmi_table_axis *x = &table->axis[0], *y = &table->axis[1];
    size_t ex[2], ey[2];
    double A[4][4], B[4][4], data[4][4], half[4][4];
    piece_matrix(table, x, i, A);
    piece_matrix(table, y, j, B);
    ends_of(x, i, ex);
    ends_of(y, j, ey);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            data[a][b] = nodes[a % 2 + 2 * (b % 2)][ex[a / 2] * y->count + ey[b / 2]];
    for (int p = 0; p < 4; p++)
        for (int b = 0; b < 4; b++) {
            half[p][b] = 0;
            for (int a = 0; a < 4; a++)
                half[p][b] += A[p][a] * data[a][b];
        }
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) {
            c[4 * p + q] = 0;
            for (int b = 0; b < 4; b++)
                c[4 * p + q] += half[p][b] * B[q][b];
        }
}

static void slopes_along(const hmi_table *table, int k, const double *from, double *to,
                         double *scratch)
{
    size_t nx = table->axis[0].count, ny = table->axis[1].count;
    size_t lines = k == 0 ? ny : nx, stride = k == 0 ? ny : 1, apart = k == 0 ? 1 : ny;
    for (size_t i = 0; i < lines; i++) {
        const line l = {.knot = table->axis[k].knot,
                        .count = table->axis[k].count,
                        .value = from + i * apart,
                        .slope = to + i * apart,
                        .stride = stride,
                        .periodic = table->outside == HMI_OUTSIDE_PERIODIC,
                        .scratch = scratch};
        find_slopes(table, &l);
    }
}

static hm_status build_cells(hmi_table *table, const double *values, hmi_arena *arena)
{
    size_t nx = table->axis[0].count, ny = table->axis[1].count;
    size_t most = nx > ny ? nx : ny;
    double *nodes[4], *scratch = hmi_arena_alloc(arena, 6 * most * sizeof *scratch);
    double *piece = hmi_arena_alloc(arena, 16 * (nx + 1) * (ny + 1) * sizeof *piece);
    for (int k = 0; k < 4; k++)
        if (!(nodes[k] = hmi_arena_alloc(arena, nx * ny * sizeof(double))))
            return HM_ERR_NOMEM;
    if (!scratch || !piece)
        return HM_ERR_NOMEM;
    memcpy(nodes[0], values, nx * ny * sizeof *values);
    slopes_along(table, 0, nodes[0], nodes[1], scratch);
    slopes_along(table, 1, nodes[0], nodes[2], scratch);
    slopes_along(table, 1, nodes[1], nodes[3], scratch);
    for (size_t i = 0; i <= nx; i++)
        for (size_t j = 0; j <= ny; j++)
            make_cell(table, nodes, i, j, piece + 16 * (i * (ny + 1) + j));
    table->piece = piece;
    return HM_OK;
}

/* Bounds of derivatives over all pieces that have an end. */
static void find_ranges(hmi_table *table)
{
    const hmi_table_axis *axis = &table->axis[0];
    for (int order = 0; order < 4; order++) {
        double *range = table->range[order];
        range[0] = INFINITY;
        range[1] = -INFINITY;
        for (size_t k = 1; k < axis->count; k++) {
            double part[2];
            bool jumps;
            const double lo[2] = {axis->knot[k - 1]}, hi[2] = {axis->knot[k]};
            hmi_table_bounds(&table->derivative[4 * order], lo, hi, part, &jumps);
            range[0] = fmin(range[0], part[0]);
            range[1] = fmax(range[1], part[1]);
        }
    }
}

static hm_status build_pieces(hmi_table *table, const double *values, hmi_arena *arena)
{
    size_t n = table->axis[0].count;
    double *slope = hmi_arena_alloc(arena, n * sizeof *slope);
    double *scratch = hmi_arena_alloc(arena, 6 * n * sizeof *scratch);
    double *piece = hmi_arena_alloc(arena, 4 * (n + 1) * sizeof *piece);
    if (!slope || !scratch || !piece)
        return HM_ERR_NOMEM;
    const line l = {.knot = table->axis[0].knot,
                    .count = n,
                    .value = values,
                    .slope = slope,
                    .stride = 1,
                    .periodic = table->outside == HMI_OUTSIDE_PERIODIC,
                    .scratch = scratch};
    find_slopes(table, &l);
    for (size_t k = 0; k <= n; k++)
        make_piece(table, values, slope, k, piece + 4 * k);
    table->piece = piece;
    find_ranges(table);
    return HM_OK;
}

hm_status hmi_table_build(hmi_table *table, const double *values, hmi_arena *arena)
{
    for (int k = 0; k < HMI_TABLE_VIEWS; k++) {
        table->derivative[k] = (hmi_table_view){
            table, {(uint8_t)(k / 4), (uint8_t)(k % 4)}, 2, false};
        table->coefficient[k] = table->derivative[k];
    }
    for (int k = 0; k < 2; k++) {
        table->knots[k] = (hmi_table_view){table, {0, 0}, (uint8_t)k, false};
        table->others[k] = (hmi_table_view){table, {0, 0}, (uint8_t)k, true};
    }
    for (int k = 0; k < table->arguments; k++) {
        hmi_table_axis *axis = &table->axis[k];
        axis->per_step = (double)(axis->count - 1) / (axis->knot[axis->count - 1] - axis->knot[0]);
    }
    return table->arguments == 2 ? build_cells(table, values, arena)
                                 : build_pieces(table, values, arena);
}
