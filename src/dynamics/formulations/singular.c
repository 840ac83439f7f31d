/* Singular mass matrices: the stacked equation of Udwadia & Phohomsiri.              [UW (2.7)]
 *
 *     q'' = [ (I - A^+ A) M ]^+ [ Q ]
 *           [       A       ]   [ b ]
 *
 * I - A^+ A = I - Y^T Y projects on the virtual displacements. The stacked matrix has full column
 * rank exactly where q'' is unique (M of any sign); the pseudo-inverse then gives q'', and where
 * q'' is not unique the least-squares answer of minimum norm. All rows of A take part, redundant
 * ones included. Verified: test/unit/dynamics/test_cases.c (002-singular-mass, 002-ex1-conflated)
 */
#include "dynamics/formulations/workspace.h"

static bool applies(const hmi_dynamics *d)
{
    (void)d;
    return true;
}

/* y := (I - Y^T Y) y */
static void project(hmi_dynamics *d, double *y)
{
    size_t mark = d->scratch_used;
    double *t = hmi_take(d, (size_t)d->rank);
    hmi_matvec(d->rank, d->n, d->Z, y, t);
    hmi_mul_transposed(d->rank, d->n, -1, d->Z, t, y);
    d->scratch_used = mark;
}

/* cod: of the stacked matrix, (n + m) x n */
static bool factor(hmi_dynamics *d)
{
    int n = d->n, rows = n + d->m;
    double *stacked = d->factor;
    for (int j = 0; j < n; j++) {
        double *column = stacked + hmi_area(j, rows);
        hmi_copy(n, d->M + hmi_area(j, n), column);
        project(d, column);
        for (int k = 0; k < d->m; k++)
            column[n + k] = d->A[hmi_area(k, n) + (size_t)j];
    }
    hmi_cod_factor(&d->factors.cod, rows, n, stacked, n - d->undetermined,
                   HMI_NO_PIVOT * d->mass_size, stacked + hmi_area(rows, n), d->factor_ints);
    return d->undetermined > 0 || d->factors.cod.rank == n;
}

static void solve(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    double *right = hmi_take(d, (size_t)(n + d->m)), *force = hmi_take(d, (size_t)n);
    hmi_copy(n, r, right);
    project(d, right);
    (void)hmi_complete_rows(d, s, right + n);
    hmi_cod_solve(&d->factors.cod, right, x);
    hmi_matvec(n, n, d->M, x, force);
    hmi_axpy(n, -1, r, force);
    hmi_row_multipliers(d, force, l);
    d->scratch_used = mark;
}

const hmi_solver hmi_solver_singular = {HM_FORMULATION_SINGULAR, applies, factor, solve};
