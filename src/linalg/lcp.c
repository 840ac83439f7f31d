/* Lemke's method on a dense tableau, and least forces by an active set. */
#include "linalg/lcp.h"

#include "linalg/dense.h"
#include "linalg/linalg.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/* The tableau has columns w, z, z0 and the right side. */
static int columns_of(int n)
{
    return 2 * n + 2;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t hmi_lcp_doubles(int n)
{
    size_t tableau = hmi_area(n, columns_of(n)) + (size_t)n;
    size_t refined = hmi_area(n, n) + 3 * (size_t)n + hmi_cod_doubles(n, n);
    size_t forces = 2 * hmi_area(n, n) + 4 * (size_t)n + hmi_cod_doubles(n, n);
    return larger(larger(tableau, refined), forces) + 1;
}

size_t hmi_lcp_ints(int n)
{
    return 2 * (size_t)n + hmi_cod_ints(n, n) + 1;
}

/* ---- Lemke ----------------------------------------------------------------------------------- */

typedef struct lemke {
    int n, columns;
    double *T;      /* n x columns */
    double *units;  /* n: z = units largest z' */
    double largest; /* |q|, in these units */
    int *basis;     /* by row: its variable, a column of T */
} lemke;

/* What a pivot or a difference must exceed, relative to entries of about 1. */
#define SMALL 1e-11

static double *row_of(const lemke *l, int i)
{
    return l->T + hmi_area(i, l->columns);
}

/* w - W z - d z0 = q with d = 1; q is raised by up to `shift` of its largest, by row. */
static void set_up(lemke *l, const double *W, const double *q, const double *noise, double shift)
{
    int n = l->n, right = l->columns - 1;
    double largest = 0;
    hmi_zero(n * l->columns, l->T);
    for (int i = 0; i < n; i++) {
        double d = W[hmi_area(i, n) + (size_t)i];
        l->units[i] = d > 0 ? 1 / sqrt(d) : 1;
        l->basis[i] = i;
        largest = fmax(largest, fabs(q[i]) * l->units[i]);
    }
    for (int i = 0; i < n; i++) {
        double *row = row_of(l, i), value = q[i];
        if (noise && value < 0 && value >= -noise[i])
            value = 0;
        for (int j = 0; j < n; j++)
            row[n + j] = -W[hmi_area(i, n) + (size_t)j] * l->units[i] * l->units[j];
        row[i] = 1;
        row[2 * n] = -1;
        double other = fmod(0.618033988749895 * (i + 1), 1);
        row[right] = largest > 0 ? value * l->units[i] / largest + shift * (0.5 + other) : 0;
    }
    l->largest = largest;
}

static void pivot(lemke *l, int r, int entering)
{
    double *row = row_of(l, r), scale = 1 / row[entering];
    for (int j = 0; j < l->columns; j++)
        row[j] *= scale;
    row[entering] = 1;
    for (int i = 0; i < l->n; i++) {
        double *other = row_of(l, i), factor = other[entering];
        if (i == r || factor == 0)
            continue;
        hmi_axpy(l->columns, -factor, row, other);
        other[entering] = 0;
    }
    l->basis[r] = entering;
}

/* Is row a lexicographically before row b, both divided by their entries of the entering column? The
 * right side first, then the columns of w, which hold the inverse of the basis. */
static bool comes_before(const lemke *l, int a, int b, int entering)
{
    const double *x = row_of(l, a), *y = row_of(l, b);
    double p = x[entering], q = y[entering];
    for (int k = -1; k < l->n; k++) {
        int j = k < 0 ? l->columns - 1 : k;
        double u = x[j] / p, v = y[j] / q;
        if (fabs(u - v) > SMALL * (fabs(u) + fabs(v)) + 1e-14)
            return u < v;
    }
    return a < b;
}

/* The row that leaves when a column enters; z0 leaves where it can. -1: a ray. */
static int leaving_row(const lemke *l, int entering)
{
    int best = -1, last = 2 * l->n;
    for (int i = 0; i < l->n; i++) {
        if (!(row_of(l, i)[entering] > SMALL))
            continue;
        if (best < 0 || comes_before(l, i, best, entering))
            best = i;
    }
    for (int i = 0; best >= 0 && i < l->n; i++) {
        const double *x = row_of(l, i), *y = row_of(l, best);
        int right = l->columns - 1;
        if (l->basis[i] == last && x[entering] > SMALL &&
            x[right] / x[entering] <= y[right] / y[entering] + SMALL)
            best = i;
    }
    return best;
}

/* The first row to leave, for z0: the most negative right side, the lexicographically last of them. */
static int first_row(const lemke *l)
{
    int best = 0, right = l->columns - 1;
    for (int i = 1; i < l->n; i++)
        if (row_of(l, i)[right] <= row_of(l, best)[right])
            best = i;
    return best;
}

static hmi_lcp_result follow(lemke *l)
{
    int n = l->n, leaving = first_row(l), variable = leaving;
    if (row_of(l, leaving)[l->columns - 1] >= 0)
        return HMI_LCP_SOLVED;
    pivot(l, leaving, 2 * n);
    for (int k = 0; k < 50 * (n + 10); k++) {
        int entering = variable < n ? variable + n : variable - n;
        int r = leaving_row(l, entering);
        if (r < 0)
            return HMI_LCP_RAY;
        variable = l->basis[r];
        pivot(l, r, entering);
        if (variable == 2 * n)
            return HMI_LCP_SOLVED;
    }
    return HMI_LCP_GAVE_UP;
}

/* How far z is from a solution: the largest of what is negative and of products, in units of the diagonal. */
static double miss_of(int n, const double *W, const double *q, const double *z)
{
    double miss = 0;
    for (int i = 0; i < n; i++) {
        double d = W[hmi_area(i, n) + (size_t)i], unit = d > 0 ? 1 / sqrt(d) : 1;
        double w = unit * (q[i] + hmi_dot(n, W + hmi_area(i, n), z));
        miss = fmax(miss, fmax(-w, fmin(fabs(w), z[i] / unit)));
    }
    return miss;
}

/* Pivots on entries near zero leave errors in the tableau. The equations of the basis it ended with, solved
 * afresh, have none of them: z := their answer, where that is the better one. ints: the basis first. */
static void refine(int n, const double *W, const double *q, double *z, double *doubles, int *ints)
{
    double *X = doubles, *y = X + hmi_area(n, n), *answer = y + n, *trial = answer + n;
    int *list = ints, count = 0;
    hmi_cod cod;
    for (int i = 0; i < n; i++)
        if (z[i] > 0 && W[hmi_area(i, n) + (size_t)i] > 0)
            list[count++] = i;
    if (count < 2)
        return;
    for (int j = 0; j < count; j++) {
        double dj = W[hmi_area(list[j], n) + (size_t)list[j]];
        for (int i = 0; i < count; i++) {
            double di = W[hmi_area(list[i], n) + (size_t)list[i]];
            X[hmi_area(j, count) + (size_t)i] = W[hmi_area(list[i], n) + (size_t)list[j]] /
                                                sqrt(di * dj);
        }
        y[j] = -q[list[j]] / sqrt(dj);
    }
    hmi_cod_factor(&cod, count, count, X, count, SMALL, trial + n, ints + n);
    hmi_cod_solve(&cod, y, answer);
    hmi_zero(n, trial);
    for (int j = 0; j < count; j++)
        trial[list[j]] = fmax(answer[j] / sqrt(W[hmi_area(list[j], n) + (size_t)list[j]]), 0);
    if (miss_of(n, W, q, trial) < miss_of(n, W, q, z))
        hmi_copy(n, trial, z);
}

/* z of the basis that the tableau ended with. */
static void take_solution(const lemke *l, double *z)
{
    hmi_zero(l->n, z);
    for (int i = 0; i < l->n; i++)
        if (l->basis[i] >= l->n && l->basis[i] < 2 * l->n) {
            int j = l->basis[i] - l->n;
            z[j] = fmax(row_of(l, i)[l->columns - 1], 0) * l->units[j] * l->largest;
        }
}

/* Where many rows are active at once (all of them, with w = 0, at rest) rounding errors decide between ties
 * and may end in a ray that is none. A q that is a little larger has no ties; its basis counts if its
 * equations, with the q that was given, are an answer. */
hmi_lcp_result hmi_lcp_solve(int n, const double *W, const double *q, const double *noise,
                             double *z, double *doubles, int *ints)
{
    static const double shifts[] = {0, 1e-12, 1e-11, 1e-10};
    hmi_lcp_result first = HMI_LCP_SOLVED;
    hmi_zero(n, z);
    for (int k = 0; k < 4 && n > 0; k++) {
        lemke l = {.n = n, .columns = columns_of(n), .T = doubles, .basis = ints};
        l.units = doubles + hmi_area(n, l.columns);
        set_up(&l, W, q, noise, shifts[k]);
        hmi_lcp_result result = follow(&l);
        first = k == 0 ? result : first;
        if (result == HMI_LCP_SOLVED) {
            take_solution(&l, z);
            refine(n, W, q, z, doubles, ints);
            if (k == 0 || miss_of(n, W, q, z) <= 1e-11 * l.largest)
                return HMI_LCP_SOLVED;
        }
    }
    if (first != HMI_LCP_SOLVED)
        hmi_zero(n, z);
    return first;
}

/* ---- least forces ---------------------------------------------------------------------------- */

typedef struct forces {
    int n;
    const double *W;
    const bool *one_sided;
    double *z, *target, *next, *dual; /* W z, the trial, and y with next = W y */
    double *X, *memory;
    int *list, *ints;
    int *held; /* flags */
    double size;
} forces;

static bool is_bounded(const forces *f, int i)
{
    return !f->one_sided || f->one_sided[i];
}

/* f->next := the vector of least norm on the listed components with W next = target; f->dual := y with
 * next = W y there. */
static void least_on(forces *f, int count)
{
    int n = f->n;
    hmi_cod cod;
    double largest = 0;
    for (int j = 0; j < count; j++) /* column j of X is column list[j] of W */
        for (int i = 0; i < n; i++)
            f->X[hmi_area(j, n) + (size_t)i] = f->W[hmi_area(i, n) + (size_t)f->list[j]];
    for (int j = 0; j < count; j++)
        largest = fmax(largest, hmi_norm(n, f->X + hmi_area(j, n)));
    hmi_cod_factor(&cod, n, count, f->X, n < count ? n : count, 1e-11 * largest, f->memory,
                   f->ints);
    hmi_cod_solve(&cod, f->target, f->next);
    hmi_cod_solve_transposed(&cod, f->next, f->dual);
}

/* How far towards the trial before a component would be negative; *blocking: which. */
static double step_to_bound(const forces *f, int count, int *blocking)
{
    double part = 1;
    *blocking = -1;
    for (int j = 0; j < count; j++) {
        int i = f->list[j];
        if (!is_bounded(f, i) || f->next[j] >= -1e-12 * f->size)
            continue;
        double most = fmax(f->z[i], 0) / (fmax(f->z[i], 0) - f->next[j]);
        if (most < part || *blocking < 0) {
            part = fmin(part, most);
            *blocking = i;
        }
    }
    return part;
}

/* The component held at zero that would make the norm smaller if it rose; -1: none. */
static int worth_releasing(const forces *f, const bool *free)
{
    int best = -1;
    double most = 1e-9 * f->size;
    for (int i = 0; i < f->n; i++) {
        if (!f->held[i] || (free && free[i]))
            continue;
        double gain = hmi_dot(f->n, f->W + hmi_area(i, f->n), f->dual);
        if (gain > most) {
            most = gain;
            best = i;
        }
    }
    return best;
}

static int list_components(forces *f)
{
    int count = 0;
    for (int i = 0; i < f->n; i++)
        if (!f->held[i])
            f->list[count++] = i;
    return count;
}

void hmi_least_forces(int n, const double *W, const bool *one_sided, const bool *free, double *z,
                      double *doubles, int *ints)
{
    forces f = {.n = n, .W = W, .one_sided = one_sided, .z = z};
    f.target = doubles;
    f.next = f.target + n;
    f.dual = f.next + n;
    f.X = f.dual + n;
    f.memory = f.X + hmi_area(n, n);
    f.list = ints;
    f.held = ints + n;
    f.ints = ints + 2 * n;
    f.size = hmi_norm(n, z);
    if (f.size == 0)
        return;
    hmi_matvec(n, n, W, z, f.target);
    for (int i = 0; i < n; i++)
        f.held[i] = (free && free[i]) || (is_bounded(&f, i) && z[i] <= 0);
    for (int k = 0; k < 20 * (n + 5); k++) {
        int count = list_components(&f), blocking, other;
        least_on(&f, count);
        double part = step_to_bound(&f, count, &blocking);
        for (int j = 0; j < count; j++) {
            int i = f.list[j];
            z[i] += part * (f.next[j] - z[i]);
            if (is_bounded(&f, i) && z[i] < 0)
                z[i] = 0; /* several reach their bounds together, and rounding takes one beyond */
        }
        if (blocking >= 0) {
            f.held[blocking] = true;
            z[blocking] = 0;
            continue;
        }
        if ((other = worth_releasing(&f, free)) < 0)
            return;
        f.held[other] = false;
    }
}
