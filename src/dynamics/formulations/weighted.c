/* An answer that rests on no decision of rank, to check the others.
 *
 * All formulations work on the rows that prepare.c found independent: where that is wrong they are wrong
 * together. Here no row is kept or dropped. A row weighs as much as it stands out of the rounding errors
 * of its entries, and multipliers are found by iteration [Hestenes 1969, Powell 1969]:
 *     (M + w A^T A) dx = r + w A^T s,   dl = w (s - A dx),   r = f + A^T l - M x,   s = b - A x
 * Along a singular value sigma of A an error falls by 1/(1 + w sigma^2) in each round. Rows that depend on
 * others share their multipliers; a row of rounding errors (sigma = 1e-16) gets nowhere, which is as it
 * should be. Where values in between make the iteration slow there is no answer.
 * Verified: test/unit/dynamics/test_rank_evidence.c
 */
#include "dynamics/formulations/workspace.h"

#define WEIGHT    1e10
#define CONVERGED 1e-13
enum { MOST_ROUNDS = 40 };

typedef struct weighted {
    double *A, *b;     /* rows that weigh 1 where they are well known */
    double *L;         /* of M + w A^T A */
    double *f;         /* all forces but those of the rows */
    double *x, *l;     /* the answer */
    double *r, *s, *t; /* what is left of the forces (n) and of the rows (m); scratch (n) */
} weighted;

/* The length of a row, or the size of the terms that its errors tell of, if that is larger. */
static double natural_size(const hmi_dynamics *d, const double *row, const double *error)
{
    double length = 0, noise = 0;
    for (int j = 0; j < d->n; j++) {
        length = hypot(length, row[j] * d->D[j]);
        if (error && isfinite(error[j]))
            noise = hypot(noise, error[j] * d->D[j]);
    }
    return fmax(length, noise / (16 * HMI_EPSILON));
}

static void take_rows(hmi_dynamics *d, const hmi_equations *e, weighted *w)
{
    for (int i = 0; i < d->m; i++) {
        const double *row = e->A + hmi_area(i, d->n);
        double size = natural_size(d, row, e->A_error ? e->A_error + hmi_area(i, d->n) : NULL);
        double scale = size > 0 && !d->left_out[i] ? 1 / size : 0;
        for (int j = 0; j < d->n; j++)
            w->A[hmi_area(i, d->n) + (size_t)j] = row[j] * d->D[j] * scale;
        w->b[i] = e->b[i] * scale;
    }
}

static bool factor(hmi_dynamics *d, const hmi_equations *e, weighted *w)
{
    int n = d->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            w->L[hmi_area(i, n) + (size_t)j] = e->M[hmi_area(i, n) + (size_t)j] * d->D[i] * d->D[j];
    for (int k = 0; k < d->m; k++) {
        const double *a = w->A + hmi_area(k, n);
        for (int i = 0; i < n; i++)
            hmi_axpy(i + 1, WEIGHT * a[i], a, w->L + hmi_area(i, n));
    }
    return hmi_cholesky(n, w->L, 0);
}

/* r and s at x and l, as if in twice the precision. */
static void find_rest(hmi_dynamics *d, const hmi_equations *e, weighted *w)
{
    int n = d->n;
    hmi_times(n, d->D, w->x, w->t);
    for (int i = 0; i < n; i++) {
        hmi_sum sum = {w->f[i], 0};
        hmi_sum_dot(&sum, 1, d->m, w->A + i, n, w->l);
        hmi_sum_dot(&sum, -d->D[i], n, e->M + hmi_area(i, n), 1, w->t);
        w->r[i] = sum.s + sum.e;
    }
    for (int k = 0; k < d->m; k++) {
        hmi_sum sum = {w->b[k], 0};
        hmi_sum_dot(&sum, -1, n, w->A + hmi_area(k, n), 1, w->x);
        w->s[k] = sum.s + sum.e;
    }
}

/* One round; the largest change of x. */
static double improve(hmi_dynamics *d, const hmi_equations *e, weighted *w)
{
    int n = d->n;
    find_rest(d, e, w);
    hmi_mul_transposed(d->m, n, WEIGHT, w->A, w->s, w->r);
    hmi_lower_solve(n, w->L, w->r);
    hmi_lower_solve_transposed(n, w->L, w->r);
    for (int k = 0; k < d->m; k++)
        w->l[k] += WEIGHT * (w->s[k] - hmi_dot(n, w->A + hmi_area(k, n), w->r));
    hmi_axpy(n, 1, w->r, w->x);
    return hmi_max_abs(n, w->r);
}

static weighted make(hmi_dynamics *d, const double *force)
{
    size_t n = (size_t)d->n, m = (size_t)d->m;
    weighted w = {.A = hmi_take(d, m * n), .L = hmi_take(d, n * n)};
    double **of_n[] = {&w.f, &w.x, &w.r, &w.t}, **of_m[] = {&w.b, &w.l, &w.s};
    for (int i = 0; i < 4; i++)
        *of_n[i] = hmi_take(d, n);
    for (int i = 0; i < 3; i++)
        *of_m[i] = hmi_take(d, m);
    hmi_copy(d->n, force, w.f);
    hmi_zero(d->n, w.x);
    hmi_zero(d->m, w.l);
    return w;
}

double hmi_weighted_difference(hmi_dynamics *d, const hmi_equations *equations, const double *force,
                               const double *x, double size)
{
    size_t mark = d->scratch_used;
    weighted w = make(d, force);
    double change = INFINITY, difference = -1;
    take_rows(d, equations, &w);
    if (factor(d, equations, &w)) {
        for (int round = 0; round < MOST_ROUNDS && change > CONVERGED * size; round++)
            change = improve(d, equations, &w);
        hmi_axpy(d->n, -1, x, w.x);
        if (change <= CONVERGED * size)
            difference = hmi_max_abs(d->n, w.x);
    }
    d->scratch_used = mark;
    return difference;
}
