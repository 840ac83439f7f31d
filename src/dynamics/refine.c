/* Iterative refinement: a method's own factorisation, residuals of the equations themselves.
 *
 *     r' = r + A_r^T l - M x,   s' = s - A_r x;   (x, l) += method(r', s')
 *
 * Residuals are formed as if in twice the precision, so that the answer is accurate to the last
 * digits as long as the method gains any digit at all. It also removes what a formulation loses by
 * its shape: M^-1 Q may be far larger than the constrained acceleration that is left of it.
 */
#include "dynamics/workspace.h"

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

/* |dx|/|x| or |dl|/|l|, whichever is larger; 0 where nothing changes. */
static double relative_change(int count, const double *x, const double *dx)
{
    double size = hmi_max_abs(count, x), change = hmi_max_abs(count, dx);
    return change == 0 ? 0 : change / (size > change ? size : change);
}

void hmi_solve_scaled(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used, n = (size_t)d->n, m = (size_t)d->m;
    double *dr = hmi_take(d, n), *ds = hmi_take(d, m), *dx = hmi_take(d, n), *dl = hmi_take(d, m);
    d->method->solve(d, r, s, x, l);
    double last = 1;
    for (int step = 0; step < d->refinements; step++) {
        residuals(d, r, s, x, l, dr, ds);
        d->method->solve(d, dr, ds, dx, dl);
        double change = fmax(relative_change(d->n, x, dx), relative_change(d->rank, l, dl));
        if (!(change < 0.5 * last))
            break;
        hmi_axpy(d->n, 1, dx, x);
        hmi_axpy(d->rank, 1, dl, l);
        if (change <= HMI_EPSILON)
            break;
        last = change;
    }
    d->scratch_used = mark;
}
