/* Bounds of multiple eigenvalues (spectrum.h).
 *
 * An eigenvalue that belongs to a Jordan block has no first-order bound. The m eigenvalues that an
 * error of size e can make equal are taken together: their invariant subspace has a condition number
 * s of its own (dtrsen), within it the error is e/s, and an m x m matrix of norm N has eigenvalues
 * that move by at most (2 N)^(1 - 1/m) (e/s)^(1/m).          [Elsner 1985; Bai, Demmel, McKenney 1993]
 * The smaller of both bounds holds. Verified: test/unit/analyse/test_spectrum.c
 */
#include "analyse/linearize/spectrum.h"

#include "linalg/dense.h"

void dgebal_(const char *job, const int *n, double *a, const int *lda, int *low, int *high,
             double *scale, int *info, size_t);
void dgees_(const char *vectors, const char *sort, int (*select)(const double *, const double *),
            const int *n, double *a, const int *lda, int *sorted, double *wr, double *wi,
            double *vs, const int *ldvs, double *work, const int *lwork, int *bwork, int *info,
            size_t, size_t);
void dtrsen_(const char *job, const char *vectors, const int *select, const int *n, double *t,
             const int *ldt, double *q, const int *ldq, double *wr, double *wi, int *m, double *s,
             double *sep, double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t, size_t);

typedef struct clusters {
    int n;
    double *T, *copy; /* the Schur form, and one for dtrsen to destroy */
    double *re, *im;  /* its eigenvalues, in its order */
    double *re_out, *im_out, *scale, *work;
    int *select, *iwork;
    int lwork;
    double norm, noise; /* of the balanced matrix and its error */
} clusters;

static bool take_memory(clusters *c, hmi_arena *arena, size_t n)
{
    bool failed = false;
    c->n = (int)n;
    c->T = hmi_arena_doubles(arena, n * n, &failed);
    c->copy = hmi_arena_doubles(arena, n * n, &failed);
    c->re = hmi_arena_doubles(arena, n, &failed);
    c->im = hmi_arena_doubles(arena, n, &failed);
    c->re_out = hmi_arena_doubles(arena, n, &failed);
    c->im_out = hmi_arena_doubles(arena, n, &failed);
    c->scale = hmi_arena_doubles(arena, n, &failed);
    c->lwork = (int)(n * n + 3 * n);
    c->work = hmi_arena_doubles(arena, (size_t)c->lwork, &failed);
    c->select = hmi_arena_alloc(arena, n * sizeof *c->select);
    c->iwork = hmi_arena_alloc(arena, (n * n + 1) * sizeof *c->iwork);
    return !failed && c->select && c->iwork;
}

static double one_norm(size_t n, const double *columns)
{
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += fabs(columns[j * n + i]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* The Schur form of the balanced matrix, its norm, and the norm of its error. */
static bool start(clusters *c, const double *A, const double *E, double rounding)
{
    size_t n = (size_t)c->n;
    int low, high, info = 0, none = 0, unused = 0;
    double vs = 0;
    for (size_t i = 0; i < n * n; i++)
        c->T[i] = A[i % n * n + i / n];
    dgebal_("S", &c->n, c->T, &c->n, &low, &high, c->scale, &info, 1);
    c->norm = one_norm(n, c->T);
    for (size_t i = 0; i < n * n; i++) /* columns of D^-1 E D */
        c->copy[i] = E ? E[i % n * n + i / n] * c->scale[i / n] / c->scale[i % n] : 0;
    c->noise = rounding * c->norm + one_norm(n, c->copy);
    dgees_("N", "N", NULL, &c->n, c->T, &c->n, &none, c->re, c->im, &vs, &(int){1}, c->work,
           &c->lwork, &unused, &info, 1, 1);
    return info == 0;
}

/* Selects the eigenvalues within the radius of this one and its conjugate; returns how many are near
 * the one itself. */
static size_t select_near(clusters *c, double re, double im, double radius)
{
    size_t count = 0;
    for (int j = 0; j < c->n; j++) {
        bool near = hypot(c->re[j] - re, c->im[j] - im) <= radius;
        c->select[j] = near || hypot(c->re[j] - re, c->im[j] + im) <= radius;
        count += near;
    }
    return count;
}

/* How far m eigenvalues that are equal on paper can be apart, with a margin. */
static double reach(const clusters *c, size_t m)
{
    double exponent = 1.0 / (double)m;
    return 4 * pow(2 * c->norm, 1 - exponent) * pow(c->noise, exponent);
}

/* A cluster of m stands alone where no other is within the reach of m + 1. */
static double cluster_bound(clusters *c, double re, double im)
{
    int found = 0, liwork = c->n * c->n + 1, info = 0, one = 1;
    double s = 1, sep = 0, q = 0;
    size_t m = 1, n = (size_t)c->n;
    while (m < n && select_near(c, re, im, reach(c, m + 1)) > m)
        m++;
    if (m == n)
        select_near(c, re, im, INFINITY);
    if (m == 1)
        return INFINITY; /* a simple one: its own condition number is right */
    hmi_copy((int)(n * n), c->T, c->copy);
    dtrsen_("E", "N", c->select, &c->n, c->copy, &c->n, &q, &one, c->re_out, c->im_out, &found, &s,
            &sep, c->work, &c->lwork, c->iwork, &liwork, &info, 1, 1);
    if (info != 0 || found == 0)
        return INFINITY;
    /* Conjugate clusters are selected together, and have their distance for a condition number. */
    double apart = found > (int)m ? fmax(1, c->norm / fabs(2 * im)) : 1;
    double error = c->noise * apart / fmax(s, HMI_EPSILON), exponent = 1.0 / (double)m;
    return pow(2 * c->norm, 1 - exponent) * pow(error, exponent);
}

/* Can the error make this eigenvalue meet another? Then it is no simple one. */
static bool may_meet(size_t n, const double *re, const double *im, const double *error, size_t k)
{
    for (size_t j = 0; j < n; j++)
        if (j != k && hypot(re[j] - re[k], im[j] - im[k]) <= 2 * error[k])
            return true;
    return false;
}

hm_status hmi_bound_clusters(hmi_arena *arena, size_t size, const double *A, const double *E,
                             double rounding, const double *re, const double *im, double *error)
{
    clusters c;
    bool any = false, started = false;
    for (size_t k = 0; k < size; k++)
        any |= may_meet(size, re, im, error, k);
    if (!any)
        return HM_OK;
    if (!take_memory(&c, arena, size))
        return HM_ERR_NOMEM;
    started = start(&c, A, E, rounding);
    for (size_t k = 0; k < size && started; k++) {
        if (im[k] < 0)
            error[k] = error[k - 1]; /* pairs keep together */
        else if (may_meet(size, re, im, error, k))
            error[k] = fmin(error[k], cluster_bound(&c, re[k], im[k]));
    }
    return HM_OK;
}
