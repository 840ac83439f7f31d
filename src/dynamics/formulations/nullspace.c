/* Projection on the virtual displacements (Maggi 1896, Kane 1961).
 *
 *     x = Y^T t + N^T z,   R1^T t = s,   (N M N^T) z = N (r - M Y^T t),   R1 l = Y (M x - r)
 *
 * N spans the null space of A, Y its complement. Constraint forces do no work along N and drop out:
 * z is found without them. N M N^T is nonsingular exactly where q'' is unique, for M of any rank
 * and sign. Verified: test/unit/dynamics/test_cases.c
 */
#include "dynamics/formulations/workspace.h"

static bool applies(const hmi_dynamics *d)
{
    return d->undetermined == 0;
}

/* array[0]: N M (freedom x n), array[1]: factored N M N^T */
static bool factor(hmi_dynamics *d)
{
    int n = d->n, freedom = n - d->rank;
    const double *N = d->Z + hmi_area(d->rank, n);
    double *NM = d->factor, *H = NM + hmi_area(freedom, n);
    for (int i = 0; i < freedom; i++) {
        hmi_matvec(n, n, d->M, N + hmi_area(i, n), NM + hmi_area(i, n));
        hmi_matvec(freedom, n, N, NM + hmi_area(i, n), H + hmi_area(i, freedom));
    }
    d->factors.array[0] = NM;
    d->factors.array[1] = H;
    return hmi_ldlt(freedom, H, d->factor_ints, HMI_NO_PIVOT * d->mass_size);
}

static void solve(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used;
    int n = d->n, freedom = n - d->rank;
    const double *N = d->Z + hmi_area(d->rank, n);
    double *t = hmi_take(d, (size_t)d->rank), *z = hmi_take(d, (size_t)freedom);
    double *force = hmi_take(d, (size_t)n);

    /* the particular part, which alone meets the constraints */
    hmi_copy(d->rank, s, t);
    hmi_qr_solve_transposed(n, d->rank, d->QR, t);
    hmi_zero(n, x);
    hmi_mul_transposed(d->rank, n, 1, d->Z, t, x);

    /* motion along the virtual displacements */
    for (int i = 0; i < freedom; i++)
        z[i] = hmi_dot(n, N + hmi_area(i, n), r) -
               hmi_dot(n, d->factors.array[0] + hmi_area(i, n), x);
    hmi_ldlt_solve(freedom, d->factors.array[1], d->factor_ints, z);
    hmi_mul_transposed(freedom, n, 1, N, z, x);

    hmi_matvec(n, n, d->M, x, force);
    hmi_axpy(n, -1, r, force);
    hmi_row_multipliers(d, force, l);
    d->scratch_used = mark;
}

const hmi_solver hmi_solver_nullspace = {HM_FORMULATION_NULLSPACE, applies, factor, solve};
