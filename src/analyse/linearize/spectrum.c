/* Calls LAPACK for eigenvalues and modes, bounds their errors, sorts and scales them
 * (spectrum.h). */
#include "analyse/linearize/spectrum.h"

#include "linalg/dense.h"

/* LAPACK as Fortran compilers export it; text lengths come last, by value. */
void dgeevx_(const char *balance, const char *left, const char *right, const char *sense,
             const int *n, double *a, const int *lda, double *wr, double *wi, double *vl,
             const int *ldvl, double *vr, const int *ldvr, int *ilo, int *ihi, double *scale,
             double *abnrm, double *rconde, double *rcondv, double *work, const int *lwork,
             int *iwork, int *info, size_t, size_t, size_t, size_t);

/* How much larger than one rounding the errors of a matrix that was solved for are taken. */
static const double rounding_factor = 1000;

typedef struct lapack_memory {
    double *a, *wr, *wi, *vl, *vr, *scale, *rconde, *rcondv, *work, *error;
    int lwork;
} lapack_memory;

static bool take_memory(lapack_memory *x, hmi_arena *arena, size_t n)
{
    bool failed = false;
    x->a = hmi_arena_doubles(arena, n * n, &failed);
    x->vl = hmi_arena_doubles(arena, n * n, &failed);
    x->vr = hmi_arena_doubles(arena, n * n, &failed);
    x->wr = hmi_arena_doubles(arena, n, &failed);
    x->wi = hmi_arena_doubles(arena, n, &failed);
    x->scale = hmi_arena_doubles(arena, n, &failed);
    x->rconde = hmi_arena_doubles(arena, n, &failed);
    x->rcondv = hmi_arena_doubles(arena, n, &failed);
    x->error = hmi_arena_doubles(arena, n, &failed);
    x->lwork = (int)(n * (n + 6) + 1);
    x->work = hmi_arena_doubles(arena, (size_t)x->lwork, &failed);
    return !failed;
}

static bool take_results(hmi_spectrum *s, hmi_arena *arena, size_t n)
{
    bool failed = false;
    *s = (hmi_spectrum){.size = n};
    s->re = hmi_arena_doubles(arena, n, &failed);
    s->im = hmi_arena_doubles(arena, n, &failed);
    s->error = hmi_arena_doubles(arena, n, &failed);
    s->modes_re = hmi_arena_doubles(arena, n * n, &failed);
    s->modes_im = hmi_arena_doubles(arena, n * n, &failed);
    return !failed;
}

/* What is within its error of 0 counts as 0. */
static double settled_re(const lapack_memory *x, size_t k)
{
    return fabs(x->wr[k]) <= x->error[k] ? 0 : x->wr[k];
}

/* Is eigenvalue i to stand before k? Pairs keep together: all but the sign of their imaginary parts
 * is equal, errors included. */
static bool goes_before(const lapack_memory *x, size_t i, size_t k)
{
    double re_i = settled_re(x, i), re_k = settled_re(x, k);
    if (re_i != re_k)
        return re_i > re_k;
    if (fabs(x->wi[i]) != fabs(x->wi[k]))
        return fabs(x->wi[i]) > fabs(x->wi[k]);
    return x->wr[i] != x->wr[k] ? x->wr[i] > x->wr[k] : x->wi[i] > x->wi[k];
}

/* The mode of eigenvalue k, turned and scaled so that its largest entry is 1. */
static void take_mode(const lapack_memory *x, size_t n, size_t k, double *re, double *im)
{
    bool second = x->wi[k] < 0;
    const double *real = x->vr + (second ? k - 1 : k) * n;
    const double *imaginary = x->wi[k] != 0 ? real + n : NULL;
    size_t top = 0;
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        re[j] = real[j];
        im[j] = imaginary ? (second ? -imaginary[j] : imaginary[j]) : 0;
        if (hypot(re[j], im[j]) > largest * (1 + 1e-9)) {
            largest = hypot(re[j], im[j]);
            top = j;
        }
    }
    double a = re[top], b = im[top], square = a * a + b * b;
    for (size_t j = 0; j < n && square > 0; j++) {
        double u = re[j], w = im[j];
        re[j] = (u * a + w * b) / square;
        im[j] = (w * a - u * b) / square;
    }
}

/* Entry j of the right or left vector of eigenvalue k, squared modulus. */
static double vector_size(const lapack_memory *x, const double *vectors, size_t n, size_t k,
                          size_t j)
{
    const double *real = vectors + (x->wi[k] < 0 ? k - 1 : k) * n;
    return x->wi[k] != 0 ? hypot(real[j], real[n + j]) : fabs(real[j]);
}

/* |y^H x| of eigenvalue k. */
static double vector_product(const lapack_memory *x, size_t n, size_t k)
{
    size_t first = x->wi[k] < 0 ? k - 1 : k;
    const double *l = x->vl + first * n, *r = x->vr + first * n;
    double re = hmi_dot((int)n, l, r), im = 0;
    if (x->wi[k] != 0) {
        re += hmi_dot((int)n, l + n, r + n);
        im = hmi_dot((int)n, l, r + n) - hmi_dot((int)n, l + n, r);
    }
    return hypot(re, im);
}

/* |y|^T E |x| / |y^H x| */
static double entry_error(const lapack_memory *x, size_t n, size_t k, const double *E)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double row = 0;
        for (size_t j = 0; j < n; j++)
            if (E[i * n + j] > 0)
                row += E[i * n + j] * vector_size(x, x->vr, n, k, j);
        sum += row * vector_size(x, x->vl, n, k, i);
    }
    double product = vector_product(x, n, k);
    return sum > 0 ? sum / fmax(product, HMI_EPSILON) : 0;
}

static void bound_errors(const lapack_memory *x, size_t n, double norm, const double *E)
{
    for (size_t k = 0; k < n; k++) {
        double condition = x->rconde[k] > HMI_EPSILON ? x->rconde[k] : HMI_EPSILON;
        x->error[k] = rounding_factor * HMI_EPSILON * norm / condition;
        x->error[k] += E ? entry_error(x, n, k, E) : 0;
    }
}

static void take_sorted(hmi_spectrum *s, const lapack_memory *x)
{
    size_t n = s->size;
    for (size_t k = 0; k < n; k++) {
        size_t place = 0;
        for (size_t i = 0; i < n; i++)
            place += i != k && (goes_before(x, i, k) || (i < k && !goes_before(x, k, i)));
        s->re[place] = x->wr[k];
        s->im[place] = x->wi[k];
        s->error[place] = x->error[k];
        take_mode(x, n, k, s->modes_re + place * n, s->modes_im + place * n);
    }
}

/* ---- units ---- */

/* A size of eigenvalues that does not depend on units: of diagonal entries and of pairs. */
static double pair_size(size_t n, const double *A)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            largest = fmax(largest, sqrt(fabs(A[i * n + j])) * sqrt(fabs(A[j * n + i])));
    return largest;
}

/* Sums of row and column i of D^-1 A D beside the diagonal. */
static void measure_cross(size_t n, const double *A, const double *unit, size_t i, double *row,
                          double *column)
{
    for (size_t j = 0; j < n; j++)
        if (j != i) {
            *row += fabs(A[i * n + j]) * unit[j] / unit[i];
            *column += fabs(A[j * n + i]) * unit[i] / unit[j];
        }
}

/* Units D, powers of two, in which D^-1 A D has rows and columns of about equal size [Osborne 1960]. LAPACK
 * leaves a variable as it is that acts on others and on which nothing acts; here all have something of the
 * size of the eigenvalues added, so that one-way couplings become no larger than they are. */
static void choose_units(size_t n, const double *A, double *unit)
{
    double floor = pair_size(n, A) / 256;
    bool changed = true;
    for (size_t i = 0; i < n; i++)
        unit[i] = 1;
    for (int sweep = 0; sweep < 100 && changed; sweep++) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            double row = floor, column = floor;
            measure_cross(n, A, unit, i, &row, &column);
            if (!(row > 0 && column > 0 && isfinite(row) && isfinite(column)))
                continue;
            double factor = ldexp(1, (int)rint(0.5 * log2(row / column)));
            if (row / factor + column * factor < 0.95 * (row + column)) {
                unit[i] *= factor;
                changed = true;
            }
        }
    }
}

/* to := D^-1 X D */
static void change_units(size_t n, const double *X, const double *unit, double *to)
{
    for (size_t i = 0; i < n * n; i++)
        to[i] = X[i] * unit[i % n] / unit[i / n];
}

hm_status hmi_spectrum_of(hmi_spectrum *s, hmi_arena *arena, size_t size, const double *A_given,
                          const double *E_given)
{
    lapack_memory x;
    bool failed = false;
    double *unit = hmi_arena_doubles(arena, size, &failed);
    double *A = hmi_arena_doubles(arena, size * size, &failed);
    double *E = E_given ? hmi_arena_doubles(arena, size * size, &failed) : NULL;
    if (failed || !take_results(s, arena, size) || !take_memory(&x, arena, size))
        return HM_ERR_NOMEM;
    if (size == 0)
        return HM_OK;
    if (!hmi_all_finite((int)(size * size), A_given))
        return HM_ERR_NUMERIC;
    choose_units(size, A_given, unit);
    change_units(size, A_given, unit, A);
    if (E)
        change_units(size, E_given, unit, E);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            x.a[j * size + i] = A[i * size + j];
    int n = (int)size, low, high, unused = 0, info = 0;
    double norm;
    dgeevx_("B", "V", "V", "E", &n, x.a, &n, x.wr, x.wi, x.vl, &n, x.vr, &n, &low, &high, x.scale,
            &norm, x.rconde, x.rcondv, x.work, &x.lwork, &unused, &info, 1, 1, 1, 1);
    if (info != 0)
        return HM_ERR_NUMERIC;
    bound_errors(&x, size, norm, E);
    hm_status status = hmi_bound_clusters(arena, size, A, E, rounding_factor * HMI_EPSILON, x.wr,
                                          x.wi, x.error);
    for (size_t i = 0; i < size * size; i++) /* modes in the given units */
        x.vr[i] *= unit[i % size];
    take_sorted(s, &x);
    return status;
}
