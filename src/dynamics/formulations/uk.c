/* The Udwadia-Kalaba equation.                                                  [UK02 (32), (38)]
 *
 *     q'' = a + M^-1/2 B^+ (b - A a),   B = A M^-1/2,   a = M^-1 Q,   Qi = M^1/2 B^+ (b - A a)
 *
 * L^-T with M = L L^T stands in for M^-1/2: they differ by an orthogonal factor that cancels. Then,
 * with y = L^-1 r:  x = L^-T (y + z),  z = B^+ (s - B y),  Qi = L z.
 * The pseudo-inverse is what lets constraints be redundant: all m rows take part here, not only
 * independent ones, each brought to unit length in the metric of M, with the rank found on A.
 * Needs M > 0. Verified: test/unit/dynamics/test_cases.c, test/physics/test_properties.c
 */
#include "dynamics/formulations/workspace.h"

static bool applies(const hmi_dynamics *d)
{
    return d->cholesky;
}

/* array[0]: lengths of the rows of B; cod: of B^T */
static bool factor(hmi_dynamics *d)
{
    int n = d->n, m = d->m;
    hmi_factors *f = &d->factors;
    double *scale = d->factor, *Bt = scale + m;
    f->array[0] = scale;
    hmi_copy(m * n, d->A, Bt);
    for (int k = 0; k < m; k++) {
        double *row = Bt + hmi_area(k, n);
        hmi_lower_solve(n, d->L, row);
        scale[k] = hmi_power_of_two(hmi_norm(n, row));
        for (int j = 0; j < n; j++)
            row[j] *= scale[k];
    }
    hmi_cod_factor(&f->cod, n, m, Bt, d->rank, 0, Bt + hmi_area(m, n), d->factor_ints);
    return f->cod.rank == d->rank;
}

static void solve(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used;
    int n = d->n, m = d->m;
    double *e = hmi_take(d, (size_t)m), *z = hmi_take(d, (size_t)n),
           *force = hmi_take(d, (size_t)n);
    hmi_copy(n, r, x);
    hmi_lower_solve(n, d->L, x);
    hmi_lower_solve_transposed(n, d->L, x);

    /* e = b - A a, over all rows  [UK02 (20)] */
    (void)hmi_complete_rows(d, s, e);
    for (int k = 0; k < m; k++)
        e[k] = d->factors.array[0][k] * (e[k] - hmi_dot(n, d->A + hmi_area(k, n), x));
    hmi_cod_solve_transposed(&d->factors.cod, e, z);

    for (int i = 0; i < n; i++)
        force[i] = hmi_dot(i + 1, d->L + hmi_area(i, n), z);
    hmi_row_multipliers(d, force, l);
    hmi_lower_solve_transposed(n, d->L, z);
    hmi_axpy(n, 1, z, x);
    d->scratch_used = mark;
}

const hmi_solver hmi_solver_uk = {HM_FORMULATION_UK, applies, factor, solve};
