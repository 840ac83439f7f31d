/* Equilibration: the choice of units in which ranks are decided.
 *
 * Changing units turns (M, A) into (D M D, R A D). A decision of rank that must not depend on units
 * is made in units that the system itself supplies:
 *   coordinates  D_j = 1/sqrt|M_jj|, or what keeps |D M D| <= 1 where M is indefinite (Bunch 1971);
 *   rows         R_i = 1/|row i of A D|, the length of the row in the metric of the inertias.
 * A coordinate without inertia has no unit of its own and takes that of the rows that hold it most; one
 * with almost none is kept from making rows look alike (limit_light).
 *
 * Invariants
 *   1. Scales are powers of two: scaling is exact, and answers keep every bit.
 *   2. Scaling a row of A, or (M, Q, A) by a unit that is a power of two, changes no scaled number.
 */
#include "linalg/linalg.h"

#define WELL_KNOWN 0.125 /* see link */
/* How much a light coordinate may outweigh the heavier ones of a row (limit_light). */
#define MOST_OUTWEIGHING 0x1p26
/* Units so far from those of all heavy coordinates are not believed: an entry that asks for one is nothing
 * beside the others of its row, or they are nothing beside it. */
#define FARTHEST 0x1p40
/* Nor does a coordinate that rows hold need a unit farther than this from the smallest: its acceleration
 * would be found as a rounding error of the others. */
#define EXTREME 0x1p60

double hmi_power_of_two(double x)
{
    if (!(x > 0))
        return 1;
    int e;
    frexp(x, &e);
    if (e > 1000)
        e = 1000;
    if (e < -1000)
        e = -1000;
    return ldexp(1, -e);
}

/* 1/sqrt(x) rounded to a power of two */
static double inverse_root(double x)
{
    int e;
    frexp(x, &e);
    return ldexp(1, -(e >= 0 ? e / 2 : -((1 - e) / 2)));
}

/* The scale of coordinate j seen from the inertias that are scaled already; 0: none in sight. */
static double coordinate_scale(int n, int j, const double *M, const double *D)
{
    const double *row = M + (size_t)j * (size_t)n;
    double own = fabs(row[j]) > 0 ? inverse_root(fabs(row[j])) : 0, coupling = 0;
    for (int k = 0; k < n; k++)
        if (k != j && D[k] > 0 && fabs(row[k]) * D[k] > coupling)
            coupling = fabs(row[k]) * D[k];
    double bound = coupling > 0 ? hmi_power_of_two(coupling) : 0;
    if (own > 0 && bound > 0)
        return own < 2 * bound ? own : 2 * bound;
    return own > 0 ? own : bound;
}

/* The largest |M_jk| over coordinates k that have no scale yet. */
static double open_coupling(int n, int j, const double *M, const double *D)
{
    double largest = 0;
    for (int k = 0; k < n; k++)
        if (D[k] == 0 && fabs(M[(size_t)j * (size_t)n + (size_t)k]) > largest)
            largest = fabs(M[(size_t)j * (size_t)n + (size_t)k]);
    return largest;
}

static void scale_by_mass(int n, const double *M, double *D)
{
    hmi_zero(n, D);
    for (bool changed = true; changed;) {
        changed = false;
        for (int j = 0; j < n; j++)
            if (D[j] == 0 && (D[j] = coordinate_scale(n, j, M, D)) > 0)
                changed = true;
        for (int j = 0; j < n && !changed; j++)
            if (D[j] == 0 && open_coupling(n, j, M, D) > 0) {
                D[j] = inverse_root(open_coupling(n, j, M, D));
                changed = true;
            }
    }
}

/* The heaviest coordinate, that of the smallest unit, among those with D > 0; -1: none. */
static int heaviest(int n, const double *D)
{
    int best = -1;
    for (int j = 0; j < n; j++)
        if (D[j] > 0 && (best < 0 || D[j] < D[best]))
            best = j;
    return best;
}

/* The units that are believed: about those of the heavy coordinates. */
typedef struct unit_range {
    double low, high, extreme;
} unit_range;

static unit_range believed_units(double least)
{
    return (unit_range){least / FARTHEST, least * MOST_OUTWEIGHING * FARTHEST, least * EXTREME};
}

/* Two rows look alike where coordinate j outweighs all else in both. The row that is most of all j is told
 * from the others by these: the next one must keep a share of 1/MOST_OUTWEIGHING. size: of the rows by the
 * coordinates before j. */
static double limited_unit(int n, int m, const double *A, int j, double unit, const double *size,
                           unit_range range)
{
    double first = INFINITY, second = INFINITY;
    bool held = false;
    for (int i = 0; i < m; i++) {
        double x = fabs(A[(size_t)i * (size_t)n + (size_t)j]), share = size[i] / x;
        if (!(x > 0) || share > range.high)
            continue;
        held = true;
        share = share < range.low ? 0 : share; /* j alone */
        if (share < first) {
            second = first;
            first = share;
        } else if (share < second && share > 0) {
            second = share;
        }
    }
    double most = second > 0 ? MOST_OUTWEIGHING * second : INFINITY;
    most = held && range.extreme < most ? range.extreme : most;
    return unit > most ? hmi_power_of_two(1 / most) : unit;
}

/* An inertia that vanishes on paper, or nearly so (that of the scalar part of a quaternion near the
 * identity), gives a unit in which its coordinate is all there is of every row that holds it: rows that
 * differ in the others then look dependent. From the heaviest on, a coordinate is kept from outweighing
 * those whose units are their own. size[m]: of the rows so far; units that are done are negative. */
static void limit_light(int n, int m, const double *A, double *D, double *size)
{
    int j = heaviest(n, D);
    double least = j >= 0 ? D[j] : 1, largest = hmi_max_abs(n, D);
    if (largest <= MOST_OUTWEIGHING * least)
        return;
    hmi_zero(m, size);
    for (; j >= 0; j = heaviest(n, D)) {
        double unit = limited_unit(n, m, A, j, D[j], size, believed_units(least));
        for (int i = 0; i < m && unit == D[j]; i++) {
            double x = fabs(A[(size_t)i * (size_t)n + (size_t)j]) * unit;
            size[i] = x > size[i] ? x : size[i];
        }
        D[j] = -unit;
    }
    for (j = 0; j < n; j++)
        D[j] = fabs(D[j]);
}

/* Length of a row over the coordinates that have a scale. */
static double row_length(int n, const double *row, const double *D)
{
    double largest = 0, sum = 0;
    for (int j = 0; j < n; j++)
        if (fabs(row[j]) * D[j] > largest)
            largest = fabs(row[j]) * D[j];
    if (!(largest > 0))
        return 0;
    double unit = hmi_power_of_two(largest);
    for (int j = 0; j < n; j++) {
        double x = row[j] * D[j] * unit;
        sum += x * x;
    }
    return sqrt(sum) / unit;
}

static void scale_rows(int n, int m, const double *A, const double *D, double *R)
{
    for (int i = 0; i < m; i++) {
        double length = row_length(n, A + (size_t)i * (size_t)n, D);
        R[i] = length > 0 ? hmi_power_of_two(length) : 0;
    }
}

/* What coordinate j is of a row beside the largest of the others, those without a unit in the model's
 * own; 0: the row does not hold it, or holds it alone and knows no unit. */
static double share(int n, const double *row, const double *D, int j)
{
    double others = 0;
    for (int k = 0; k < n; k++) {
        double x = fabs(row[k]) * (D[k] > 0 ? D[k] : 1);
        if (k != j && x > others)
            others = x;
    }
    return others > 0 ? fabs(row[j]) / others : 0;
}

/* How well the scaled rows know the unit of coordinate j: its largest share in one of them as part of
 * its largest share in any row. A unit vector that happens to be almost normal to a bar is almost
 * nothing of the row that says so; the unit taken from there would be extreme. */
static double link(int n, int m, const double *A, const double *D, const double *R, int j)
{
    double scaled = 0, any = 0;
    for (int i = 0; i < m; i++) {
        double x = share(n, A + (size_t)i * (size_t)n, D, j);
        if (x > any)
            any = x;
        if (R[i] > 0 && x > scaled)
            scaled = x;
    }
    return any > 0 ? scaled / any : 0;
}

/* The unit that keeps coordinate j from outweighing what has a scale in any row. */
static double massless_scale(int n, int m, const double *A, const double *R, int j)
{
    double largest = 0;
    for (int i = 0; i < m; i++) {
        double x = fabs(A[(size_t)i * (size_t)n + (size_t)j]) * R[i];
        largest = x > largest ? x : largest;
    }
    return largest > 0 ? hmi_power_of_two(largest) : 0;
}

/* Massless coordinates take their unit from scaled rows, those first that the rows know well; true
 * when one did. */
static bool scale_massless(int n, int m, const double *A, double *D, const double *R)
{
    double best = 0;
    int first = -1;
    bool changed = false;
    for (int j = 0; j < n; j++) {
        double known = D[j] == 0 ? link(n, m, A, D, R, j) : 0;
        if (known > best) {
            best = known;
            first = j;
        }
        if (known >= WELL_KNOWN && (D[j] = massless_scale(n, m, A, R, j)) > 0)
            changed = true;
    }
    if (!changed && first >= 0)
        changed = (D[first] = massless_scale(n, m, A, R, first)) > 0;
    return changed;
}

/* Where nothing has a unit, the first coordinate lends its own. */
static bool lend_unit(int n, double *D)
{
    for (int j = 0; j < n; j++)
        if (D[j] == 0) {
            D[j] = 1;
            return true;
        }
    return false;
}

void hmi_equilibrate_rows(int n, int m, const double *A, const double *D, double *R)
{
    scale_rows(n, m, A, D, R);
    for (int i = 0; i < m; i++)
        if (R[i] == 0)
            R[i] = 1;
}

void hmi_equilibrate(int n, int m, const double *M, const double *A, double *D, double *R)
{
    scale_by_mass(n, M, D);
    limit_light(n, m, A, D, R);
    do
        scale_rows(n, m, A, D, R);
    while (scale_massless(n, m, A, D, R) || lend_unit(n, D));
    hmi_equilibrate_rows(n, m, A, D, R);
}
