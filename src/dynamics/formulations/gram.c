/* Lagrange multipliers by the Gram matrix of the constraints.
 *
 *     (A M^-1 A^T) l = s - A M^-1 r,   x = M^-1 (r + A^T l)
 *
 * The Gram matrix holds the angles between the rows in the metric of M. Its condition is the square
 * of that of A L^-T, so this is the formulation that gives up first: dependent rows are dropped
 * before, and a Gram matrix that is singular to working precision is refused.
 * Needs M > 0. Verified: test/unit/dynamics/test_cases.c
 */
#include "dynamics/formulations/workspace.h"

static bool applies(const hmi_dynamics *d)
{
    return d->cholesky;
}

/* array[0]: rows of A_r L^-T of unit length, array[1]: their scales, array[2]: Cholesky factor */
static bool factor(hmi_dynamics *d)
{
    int n = d->n, rank = d->rank;
    hmi_factors *f = &d->factors;
    f->array[0] = d->factor;
    f->array[1] = f->array[0] + hmi_area(rank, n);
    f->array[2] = f->array[1] + rank;
    hmi_copy(rank * n, d->A, f->array[0]);
    for (int k = 0; k < rank; k++) {
        double *row = f->array[0] + hmi_area(k, n);
        hmi_lower_solve(n, d->L, row);
        f->array[1][k] = hmi_power_of_two(hmi_norm(n, row));
        for (int j = 0; j < n; j++)
            row[j] *= f->array[1][k];
        hmi_matvec(k + 1, n, f->array[0], row, f->array[2] + hmi_area(k, rank));
    }
    return hmi_cholesky(rank, f->array[2], d->mass_tolerance);
}

static void solve(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    int n = d->n, rank = d->rank;
    const double *B = d->factors.array[0], *scale = d->factors.array[1];
    hmi_copy(n, r, x);
    hmi_lower_solve(n, d->L, x);
    for (int k = 0; k < rank; k++)
        l[k] = scale[k] * s[k] - hmi_dot(n, B + hmi_area(k, n), x);
    hmi_lower_solve(rank, d->factors.array[2], l);
    hmi_lower_solve_transposed(rank, d->factors.array[2], l);
    hmi_mul_transposed(rank, n, 1, B, l, x);
    hmi_lower_solve_transposed(n, d->L, x);
    hmi_times(rank, scale, l, l);
}

const hmi_solver hmi_solver_gram = {HM_FORMULATION_GRAM, applies, factor, solve};
