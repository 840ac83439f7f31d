/* Values of tables: which piece, and its polynomial. */
#include "expr/graph/table.h"

#include <math.h>
#include <stdint.h>

double hmi_table_address(const hmi_table_view *view)
{
    return (double)(uintptr_t)view;
}

const hmi_table_view *hmi_table_view_at(double address)
{
    return (const hmi_table_view *)(uintptr_t)address;
}

const hmi_table_view *hmi_table_slope(const hmi_table_view *view, int k)
{
    int order[2] = {view->order[0], view->order[1]};
    order[k]++;
    if (order[k] > hmi_table_degree(view->table))
        return NULL;
    return &view->table->derivative[4 * order[0] + order[1]];
}

/* ---- pieces ---- */

static double period_of(const hmi_table_axis *axis)
{
    return axis->knot[axis->count - 1] - axis->knot[0];
}

/* The number of knots at or before x: its piece. */
static size_t piece_of(const hmi_table_axis *axis, double x)
{
    size_t n = axis->count;
    if (!(x >= axis->knot[0]))
        return 0;
    if (x >= axis->knot[n - 1])
        return n;
    double guess = (x - axis->knot[0]) * axis->per_step;
    size_t low = 0, high = n - 1, k = guess < (double)(n - 1) ? (size_t)guess : n - 2;
    if (axis->knot[k] <= x && x < axis->knot[k + 1])
        return k + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (axis->knot[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* Beyond an end by rounding of a time or a position is not outside. */
static double slack_of(const hmi_table_axis *axis)
{
    double first = axis->knot[0], last = axis->knot[axis->count - 1];
    return 1e-12 * (last - first) + 8e-16 * fmax(fabs(first), fabs(last));
}

bool hmi_table_ends(const hmi_table *table, int axis, double x)
{
    const hmi_table_axis *a = &table->axis[axis];
    double slack = slack_of(a);
    return table->outside == HMI_OUTSIDE_ERROR &&
           !(x >= a->knot[0] - slack && x <= a->knot[a->count - 1] + slack);
}

/* An outside piece that has no polynomial goes on with that of its neighbour. */
static size_t with_polynomial(const hmi_table *table, const hmi_table_axis *axis, size_t piece)
{
    if (table->outside != HMI_OUTSIDE_ERROR && table->outside != HMI_OUTSIDE_PERIODIC)
        return piece;
    return piece == 0 ? 1 : piece == axis->count ? axis->count - 1 : piece;
}

/* Polynomials of outside pieces are in x less the knot at their end. */
static double origin_of(const hmi_table_axis *axis, size_t piece)
{
    return axis->knot[piece ? piece - 1 : 0];
}

static double reduced(const hmi_table *table, const hmi_table_axis *axis, double x)
{
    if (table->outside != HMI_OUTSIDE_PERIODIC)
        return x;
    double first = axis->knot[0], period = period_of(axis);
    double y = x - period * floor((x - first) / period);
    return fmin(fmax(y, first), axis->knot[axis->count - 1]);
}

/* ---- values ---- */

/* The derivative of c0 + c1 u + c2 u^2 + c3 u^3 with coefficients `stride` apart. */
static double polynomial(const double *c, size_t stride, int order, double u)
{
    switch (order) {
    case 0:
        return c[0] + u * (c[stride] + u * (c[2 * stride] + u * c[3 * stride]));
    case 1:
        return c[stride] + u * (2 * c[2 * stride] + u * (3 * c[3 * stride]));
    case 2:
        return 2 * c[2 * stride] + u * (6 * c[3 * stride]);
    default:
        return 6 * c[3 * stride];
    }
}

double hmi_table_value(double x, double view)
{
    const hmi_table_view *v = hmi_table_view_at(view);
    const hmi_table *table = v->table;
    const hmi_table_axis *axis = &table->axis[0];
    if (!isfinite(x) || hmi_table_ends(table, 0, x))
        return NAN;
    x = reduced(table, axis, x);
    size_t piece = with_polynomial(table, axis, piece_of(axis, x));
    return polynomial(table->piece + 4 * piece, 1, v->order[0], x - origin_of(axis, piece));
}

static const double *cell_at(const hmi_table *table, size_t first, size_t second)
{
    return table->piece + 16 * (first * (table->axis[1].count + 1) + second);
}

double hmi_table_value2(double x, double y, double view)
{
    const hmi_table_view *v = hmi_table_view_at(view);
    const hmi_table *table = v->table;
    double at[2] = {x, y}, row[4];
    size_t piece[2];
    for (int k = 0; k < 2; k++) {
        const hmi_table_axis *axis = &table->axis[k];
        if (!isfinite(at[k]) || hmi_table_ends(table, k, at[k]))
            return NAN;
        at[k] = reduced(table, axis, at[k]);
        piece[k] = with_polynomial(table, axis, piece_of(axis, at[k]));
        at[k] -= origin_of(axis, piece[k]);
    }
    const double *c = cell_at(table, piece[0], piece[1]);
    for (int p = 0; p < 4; p++)
        row[p] = polynomial(c + 4 * p, 1, v->order[1], at[1]);
    return polynomial(row, 1, v->order[0], at[0]);
}

/* ---- places: 2 B + 1 is the piece behind knot B, 2 B the one before it ---- */

typedef struct place {
    size_t piece;
    double shift; /* of knot B from the origin of the piece's polynomial */
} place;

/* Knot B of a periodic table is one of the first count - 1, some periods on. */
static int64_t knot_within(const hmi_table *table, const hmi_table_axis *axis, int64_t B,
                           double *periods)
{
    int64_t distinct = (int64_t)axis->count - 1, last = distinct;
    *periods = 0;
    if (table->outside != HMI_OUTSIDE_PERIODIC)
        return B < 0 ? 0 : B > last ? last : B;
    int64_t k = B % distinct;
    k += k < 0 ? distinct : 0;
    *periods = (double)((B - k) / distinct);
    return k;
}

static place place_at(const hmi_table *table, const hmi_table_axis *axis, double whole)
{
    double periods, half = floor(whole / 2);
    int64_t B = knot_within(table, axis, (int64_t)half, &periods);
    bool behind = whole - 2 * half > 0.5;
    size_t k = (size_t)B, piece = behind ? k + 1 : k;
    if (table->outside == HMI_OUTSIDE_PERIODIC && !behind &&
        k == 0) { /* the last piece, at its end */
        piece = axis->count - 1;
        return (place){piece, axis->knot[piece] - axis->knot[piece - 1]};
    }
    piece = with_polynomial(table, axis, piece);
    return (place){piece, axis->knot[k] - origin_of(axis, piece)};
}

/* Coefficient p of the polynomial in u with c in u + shift. */
static double shifted(const double *c, size_t stride, int p, double shift)
{
    static const double factorial[4] = {1, 1, 2, 6};
    return shift == 0 ? c[(size_t)p * stride] : polynomial(c, stride, p, shift) / factorial[p];
}

static double knot_value(const hmi_table_view *v, double whole)
{
    const hmi_table_axis *axis = &v->table->axis[v->axis];
    double periods, half = floor(whole / 2);
    int64_t B = (int64_t)half, last = (int64_t)axis->count - 1;
    if (v->other)
        B += whole - 2 * half > 0.5 ? 1 : -1;
    if (v->table->outside != HMI_OUTSIDE_PERIODIC && (B < 0 || B > last))
        return B < 0 ? -1e300 : 1e300; /* no further knot */
    int64_t k = knot_within(v->table, axis, B, &periods);
    return axis->knot[k] + periods * period_of(axis);
}

static double lookup_at(const hmi_table_view *v, double whole)
{
    if (v->axis != 2)
        return knot_value(v, whole);
    const place at = place_at(v->table, &v->table->axis[0], whole);
    return shifted(v->table->piece + 4 * at.piece, 1, v->order[0], at.shift);
}

static double lookup2_at(const hmi_table_view *v, double first, double second)
{
    double row[4];
    const place x = place_at(v->table, &v->table->axis[0], first);
    const place y = place_at(v->table, &v->table->axis[1], second);
    const double *c = cell_at(v->table, x.piece, y.piece);
    for (int p = 0; p < 4; p++)
        row[p] = shifted(c + 4 * p, 1, v->order[1], y.shift);
    return shifted(row, 1, v->order[0], x.shift);
}

double hmi_table_lookup(double where, double view)
{
    const hmi_table_view *v = hmi_table_view_at(view);
    double low = floor(where), part = where - low;
    if (!(fabs(where) < 0x1p50))
        return NAN;
    double value = lookup_at(v, low);
    return part == 0 ? value : (1 - part) * value + part * lookup_at(v, low + 1);
}

double hmi_table_lookup2(double where, double second, double view)
{
    const hmi_table_view *v = hmi_table_view_at(view);
    double low[2] = {floor(where), floor(second)};
    double part[2] = {where - low[0], second - low[1]}, sum = 0;
    if (!(fabs(where) < 0x1p50) || !(fabs(second) < 0x1p50))
        return NAN;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double weight = (i ? part[0] : 1 - part[0]) * (j ? part[1] : 1 - part[1]);
            if (weight != 0)
                sum += weight * lookup2_at(v, low[0] + i, low[1] + j);
        }
    return sum;
}

double hmi_table_nearest(const hmi_table *table, int which, double x)
{
    const hmi_table_axis *axis = &table->axis[which];
    double periods = 0, y = x;
    if (table->outside == HMI_OUTSIDE_PERIODIC) {
        periods = floor((x - axis->knot[0]) / period_of(axis));
        y = reduced(table, axis, x);
    }
    size_t piece = piece_of(axis, y), n = axis->count;
    size_t before = piece ? piece - 1 : 0, behind = piece < n ? piece : n - 1;
    size_t knot = y - axis->knot[before] <= axis->knot[behind] - y ? before : behind;
    return (double)knot + periods * (double)(n - 1);
}

/* One argument, and all pieces the same straight line? */
static bool is_line(const hmi_table *table)
{
    if (table->arguments != 1 || table->outside == HMI_OUTSIDE_HOLD ||
        table->outside == HMI_OUTSIDE_PERIODIC)
        return false;
    const double *first = table->piece + 4;
    double h = table->axis[0].knot[1] - table->axis[0].knot[0];
    for (size_t k = 1; k < table->axis[0].count; k++) {
        const double *c = table->piece + 4 * k;
        double size = 1e-12 * (fabs(first[1]) + fabs(first[0]) / h);
        if (fabs(c[2]) * h > size || fabs(c[3]) * h * h > size || fabs(c[1] - first[1]) > size)
            return false;
    }
    return true;
}

void hmi_table_stand_in(const hmi_table_view *view, double c[16])
{
    static const double factorial[4] = {1, 1, 2, 6};
    const hmi_table *table = view->table;
    int a = view->order[0], b = view->order[1];
    bool line = is_line(table);
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) {
            double any = 0.618033988749895 * (table->number + 1) * (1 + p + a) +
                         0.41421356 * (q + b);
            double value = 0.3 + any - floor(any);
            bool there = p + a < 4 && q + b < 4 && (table->arguments == 2 || q + b == 0);
            if (line) {
                there = there && p + a < 2;
                value = p + a == 0 ? table->piece[4] - table->piece[5] * table->axis[0].knot[0]
                                   : table->piece[5];
            }
            c[4 * p + q] = !there ? 0
                                  : value * (factorial[p + a] / factorial[p]) *
                                        (factorial[q + b] / factorial[q]);
        }
}

/* ---- bounds ---- */

/* Of the derivative of a piece over [lo, hi] of its own variable: by its Taylor polynomial about the
 * middle. */
static void widen_by_piece(const double *c, int order, double lo, double hi, double range[2])
{
    static const double factorial[4] = {1, 1, 2, 6};
    double middle = 0.5 * (lo + hi), radius = 0.5 * (hi - lo), spread = 0, power = radius;
    double value = polynomial(c, 1, order, middle);
    for (int p = order + 1; p < 4; p++, power *= radius)
        spread += fabs(polynomial(c, 1, p, middle)) / factorial[p - order] * power;
    spread += 1e-15 * (fabs(value) + spread);
    range[0] = fmin(range[0], value - spread);
    range[1] = fmax(range[1], value + spread);
}

enum { MOST_PIECES = 64 };

static void bound_pieces(const hmi_table *table, int order, double lo, double hi, double range[2],
                         size_t *pieces)
{
    const hmi_table_axis *axis = &table->axis[0];
    size_t first = with_polynomial(table, axis, piece_of(axis, lo));
    size_t last = with_polynomial(table, axis, piece_of(axis, hi));
    *pieces = last - first + 1;
    if (*pieces > MOST_PIECES) {
        range[0] = fmin(range[0], table->range[order][0]);
        range[1] = fmax(range[1], table->range[order][1]);
        if (table->outside != HMI_OUTSIDE_EXTEND)
            return;
    }
    for (size_t k = first; k <= last; k++) {
        bool inner = k > first && k < last;
        if (*pieces > MOST_PIECES && inner)
            continue;
        double a = k == first ? lo : fmax(lo, axis->knot[k - 1]);
        double b = k == last ? hi : fmin(hi, axis->knot[k]);
        double origin = origin_of(axis, k);
        widen_by_piece(table->piece + 4 * k, order, a - origin, b - origin, range);
    }
}

/* The value's size times the change of the other factors, cell by cell; few cells only. */
static bool bound_cells(const hmi_table_view *v, const double lo[2], const double hi[2],
                        double range[2], bool *jumps)
{
    const hmi_table *table = v->table;
    size_t first[2], last[2];
    for (int k = 0; k < 2; k++) {
        first[k] = with_polynomial(table, &table->axis[k], piece_of(&table->axis[k], lo[k]));
        last[k] = with_polynomial(table, &table->axis[k], piece_of(&table->axis[k], hi[k]));
        *jumps |= last[k] > first[k] && v->order[k] >= hmi_table_first_jump(table);
    }
    if ((last[0] - first[0] + 1) * (last[1] - first[1] + 1) > MOST_PIECES)
        return false;
    for (size_t i = first[0]; i <= last[0]; i++)
        for (size_t j = first[1]; j <= last[1]; j++) {
            const double *c = cell_at(table, i, j);
            double x0 = origin_of(&table->axis[0], i), y0 = origin_of(&table->axis[1], j);
            double a = (i == first[0] ? lo[0] : table->axis[0].knot[i - 1]) - x0;
            double b = (i == last[0] ? hi[0] : table->axis[0].knot[i]) - x0;
            double low = (j == first[1] ? lo[1] : table->axis[1].knot[j - 1]) - y0;
            double high = (j == last[1] ? hi[1] : table->axis[1].knot[j]) - y0;
            double y = 0.5 * (low + high), r = 0.5 * (high - low), row[4], spread = 0;
            double m = 0.5 * (a + b), s = 0.5 * (b - a), size[4];
            for (int p = 0; p < 4; p++) {
                double part[2] = {INFINITY, -INFINITY};
                widen_by_piece(c + 4 * p, v->order[1], y - r, y + r, part);
                row[p] = 0.5 * (part[0] + part[1]);
                size[p] = 0.5 * (part[1] - part[0]);
            }
            double most = fmax(fabs(m - s), fabs(m + s));
            for (int p = 3; p >= v->order[0]; p--) {
                double factor = 1;
                for (int q = 0; q < v->order[0]; q++)
                    factor *= p - q;
                spread += size[p] * factor * pow(most, p - v->order[0]);
            }
            double part[2] = {INFINITY, -INFINITY};
            widen_by_piece(row, v->order[0], a, b, part);
            range[0] = fmin(range[0], part[0] - spread);
            range[1] = fmax(range[1], part[1] + spread);
        }
    return true;
}

bool hmi_table_bounds(const hmi_table_view *view, const double lo[2], const double hi[2],
                      double range[2], bool *jumps)
{
    const hmi_table *table = view->table;
    double low[2], high[2];
    range[0] = INFINITY;
    range[1] = -INFINITY;
    *jumps = false;
    for (int k = 0; k < table->arguments; k++) {
        const hmi_table_axis *axis = &table->axis[k];
        low[k] = lo[k];
        high[k] = hi[k];
        if (hmi_table_ends(table, k, lo[k]) || hmi_table_ends(table, k, hi[k]))
            return false;
        if (table->outside != HMI_OUTSIDE_PERIODIC)
            continue;
        double by = period_of(axis) * floor((lo[k] - axis->knot[0]) / period_of(axis));
        low[k] -= by;
        high[k] -= by;
        if (high[k] > axis->knot[axis->count - 1]) { /* over the seam: all of it */
            low[k] = axis->knot[0];
            high[k] = axis->knot[axis->count - 1];
        }
        low[k] = fmax(low[k], axis->knot[0]);
    }
    if (table->arguments == 2)
        return bound_cells(view, low, high, range, jumps);
    size_t pieces;
    bound_pieces(table, view->order[0], low[0], high[0], range, &pieces);
    *jumps = pieces > 1 && view->order[0] >= hmi_table_first_jump(table);
    return true;
}

double hmi_table_size(const hmi_table_view *v, double x, double y)
{
    const hmi_table *table = v->table;
    const double at[2] = {x, y};
    double u[2] = {0, 0}, sum = 0;
    size_t piece[2] = {0, 0};
    for (int k = 0; k < table->arguments; k++) {
        const hmi_table_axis *axis = &table->axis[k];
        double r = reduced(table, axis, at[k]);
        piece[k] = with_polynomial(table, axis, piece_of(axis, r));
        /* The difference from the knot carries the rounding of both. */
        u[k] = fabs(r) + fabs(origin_of(axis, piece[k]));
    }
    const double *c = table->arguments == 2 ? cell_at(table, piece[0], piece[1])
                                            : table->piece + 4 * piece[0];
    int columns = table->arguments == 2 ? 4 : 1;
    for (int p = v->order[0]; p < 4; p++)
        for (int q = 0; q < columns; q++) {
            double width[2] = {u[0], u[1]};
            for (int k = 0; k < table->arguments; k++) { /* no farther than the piece is wide */
                const hmi_table_axis *axis = &table->axis[k];
                bool inner = piece[k] > 0 && piece[k] < axis->count;
                if (inner)
                    width[k] = axis->knot[piece[k]] - axis->knot[piece[k] - 1];
            }
            double factor = 6; /* a bound of p!/(p - order)! */
            sum += factor * fabs(c[columns == 1 ? p : 4 * p + q]) * pow(width[0], p - v->order[0]) *
                   (columns == 4 && q >= v->order[1] ? pow(width[1], q - v->order[1])
                                                     : columns == 1);
        }
    return sum;
}
