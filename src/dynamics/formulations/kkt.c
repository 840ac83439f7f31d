/* The equations and the constraints as one symmetric system (Karush-Kuhn-Tucker).         [UW (2.6)]
 *
 *     [ M    A_r^T ] [  x ]   [ r ]
 *     [ A_r  0     ] [ -l ] = [ s ]
 *
 * Needs no inverse and no root of M: it serves singular and indefinite M alike, as long as M is
 * nonsingular on the null space of A. Dependent rows are dropped before. Factored by Bunch-Kaufman.
 * Verified: test/unit/dynamics/test_cases.c (002-ex3-conflated has indefinite M)
 */
#include "dynamics/formulations/workspace.h"

static bool applies(const hmi_dynamics *d)
{
    return d->undetermined == 0;
}

static bool factor(hmi_dynamics *d)
{
    int n = d->n, size = n + d->rank;
    double *K = d->factor;
    hmi_zero(size * size, K);
    for (int i = 0; i < n; i++)
        hmi_copy(n, d->M + hmi_area(i, n), K + hmi_area(i, size));
    for (int k = 0; k < d->rank; k++)
        hmi_copy(n, d->A + hmi_area(k, n), K + hmi_area(n + k, size));
    return hmi_ldlt(size, K, d->factor_ints, HMI_NO_PIVOT * d->mass_size);
}

static void solve(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used;
    int n = d->n, size = n + d->rank;
    double *z = hmi_take(d, (size_t)size);
    hmi_copy(n, r, z);
    hmi_copy(d->rank, s, z + n);
    hmi_ldlt_solve(size, d->factor, d->factor_ints, z);
    hmi_copy(n, z, x);
    for (int k = 0; k < d->rank; k++)
        l[k] = -z[n + k];
    d->scratch_used = mark;
}

const hmi_solver hmi_solver_kkt = {HM_FORMULATION_KKT, applies, factor, solve};
