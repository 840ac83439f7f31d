/* Iterative refinement: a method's own factorisation, residuals of the equations themselves.
 *
 *     r' = r + A_r^T l - M x,   s' = s - A_r x;   (x, l) += method(r', s')
 *
 * Residuals are formed as if in twice the precision, so that the answer is accurate to the last
 * digits as long as the method gains any digit at all. It also removes what a formulation loses by
 * its shape: M^-1 Q may be far larger than the constrained acceleration that is left of it.
 */
#include "dynamics/formulations/workspace.h"

static void residuals(hmi_dynamics *d, const double *r, const double *s, const double *x,
                      const double *l, double *dr, double *ds)
{
    int n = d->n;
    for (int i = 0; i < n; i++) {
        hmi_sum sum = {r[i], 0};
        hmi_sum_dot(&sum, 1, d->rank, d->A + i, n, l);
        hmi_sum_dot(&sum, -1, n, d->M + hmi_area(i, n), 1, x);
        dr[i] = sum.s + sum.e;
    }
    for (int k = 0; k < d->rank; k++) {
        hmi_sum sum = {s[k], 0};
        hmi_sum_dot(&sum, -1, n, d->A + hmi_area(k, n), 1, x);
        ds[k] = sum.s + sum.e;
    }
}

/* A correction and the one before it, of x or of l. */
typedef struct progress {
    double last;
    bool settled; /* no digit is left to gain */
} progress;

/* false when the correction is no smaller than it should be: the digits are used up. */
static bool gains(progress *p, int count, const double *x, const double *dx)
{
    double change = hmi_max_abs(count, dx);
    p->settled = change <= 0.5 * HMI_EPSILON * hmi_max_abs(count, x);
    bool good = p->settled || change < 0.5 * p->last;
    p->last = change;
    return good;
}

void hmi_solve_scaled(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used, n = (size_t)d->n, m = (size_t)d->m;
    double *dr = hmi_take(d, n), *ds = hmi_take(d, m), *dx = hmi_take(d, n), *dl = hmi_take(d, m);
    progress of_x = {.last = INFINITY}, of_l = {.last = INFINITY};
    d->method->solve(d, r, s, x, l);
    for (int step = 0; step < d->refinements && !(of_x.settled && of_l.settled); step++) {
        residuals(d, r, s, x, l, dr, ds);
        d->method->solve(d, dr, ds, dx, dl);
        bool x_gains = gains(&of_x, d->n, x, dx), l_gains = gains(&of_l, d->rank, l, dl);
        if (!x_gains || !l_gains)
            break;
        hmi_axpy(d->n, 1, dx, x);
        hmi_axpy(d->rank, 1, dl, l);
    }
    d->scratch_used = mark;
}
