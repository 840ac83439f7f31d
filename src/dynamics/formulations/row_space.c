/* What follows from the decomposition of the constraint matrix (workspace.h).
 *
 *     A_r = R1^T Y,  all rows = [R1 R12]^T Y;   A_r^T l = f  <=>  l = R1^-1 Y f  for f in R(A^T)
 *
 * Multipliers in the model's units solve A^T lambda = Qi; where rows are redundant the one of
 * minimum norm is (A^T)^+ Qi = (A M^-1 A^T)^+ e, found from
 *     F^T lambda = Y f,   F = A D Y^T = R^-1 [R1 R12]^T,
 * by QR with sorted rows: the rows of A may differ by many decades.
 */
#include "dynamics/formulations/workspace.h"

double hmi_complete_rows(hmi_dynamics *d, const double *s, double *all)
{
    size_t mark = d->scratch_used;
    double *t = hmi_take(d, (size_t)d->rank);
    hmi_copy(d->rank, s, t);
    hmi_qr_solve_transposed(d->n, d->rank, d->QR, t);
    hmi_copy(d->rank, s, all);
    for (int k = d->rank; k < d->m; k++)
        all[k] = hmi_dot(d->rank, d->QR + hmi_area(k, d->n), t);
    d->scratch_used = mark;
    return hmi_norm(d->rank, t);
}

void hmi_row_multipliers(hmi_dynamics *d, const double *f, double *l)
{
    hmi_matvec(d->rank, d->n, d->Z, f, l);
    hmi_qr_solve(d->n, d->rank, d->QR, l);
}

void hmi_row_force(hmi_dynamics *d, const double *l, double *f)
{
    hmi_mul_transposed(d->rank, d->n, 1, d->A, l, f);
}

/* f := A_r^T l - A^T R^-1 p, what multipliers p (pivot order, model units) leave of the force */
static void force_left(hmi_dynamics *d, const double *l, const double *p, double *f)
{
    size_t mark = d->scratch_used;
    double *t = hmi_take(d, (size_t)d->m);
    for (int k = 0; k < d->m; k++)
        t[k] = p[k] / d->R[d->order[k]];
    for (int i = 0; i < d->n; i++) {
        hmi_sum sum = {0, 0};
        hmi_sum_dot(&sum, 1, d->rank, d->A + i, d->n, l);
        hmi_sum_dot(&sum, -1, d->m, d->A + i, d->n, t);
        f[i] = sum.s + sum.e;
    }
    d->scratch_used = mark;
}

/* Multipliers that almost cancel between large rows leave a force: two corrections remove it. */
static void shortest_multipliers(hmi_dynamics *d, const double *l, double *p)
{
    size_t mark = d->scratch_used;
    double *f = hmi_take(d, (size_t)d->n), *g = hmi_take(d, (size_t)d->rank);
    double *dp = hmi_take(d, (size_t)d->m);
    hmi_zero(d->m, p);
    for (int pass = 0; pass < 3; pass++) {
        force_left(d, l, p, f);
        hmi_matvec(d->rank, d->n, d->Z, f, g);
        hmi_graded_solve_transposed(&d->graded, g, dp);
        hmi_axpy(d->m, 1, dp, p);
    }
    d->scratch_used = mark;
}

void hmi_model_multipliers(hmi_dynamics *d, const double *l, double *lambda)
{
    if (d->rank == d->m) {
        for (int k = 0; k < d->m; k++)
            lambda[d->order[k]] = d->R[d->order[k]] * l[k];
        return;
    }
    size_t mark = d->scratch_used;
    double *p = hmi_take(d, (size_t)d->m);
    shortest_multipliers(d, l, p);
    for (int k = 0; k < d->m; k++)
        lambda[d->order[k]] = p[k];
    d->scratch_used = mark;
}
