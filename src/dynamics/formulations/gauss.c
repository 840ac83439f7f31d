/* Gauss' principle of least constraint, as constrained least squares.
 *
 *     minimise |G x - g|^2 subject to A_r x = s,   G^T G = M,  G^T g = r
 *
 * (q'' - a)^T M (q'' - a) up to a constant. Solved by direct elimination (Bjorck & Golub 1967): the
 * constraints give `rank` coordinates in terms of the others,
 *     A_r Pi = U [S1 S2],   x1 = S1^-1 (U^T s - S2 x2),
 * and what is left, |(G2 - G1 S1^-1 S2) x2 - ...|, is solved by QR of the root of M, not of M.
 *
 * M >= 0. Where M is singular, M + A_r^T A_r and r + A_r^T s stand in: the minimum is the same,
 * since they differ by |A_r x - s|^2. Verified: test/physics/test_properties.c (optimality)
 */
#include "dynamics/formulations/workspace.h"

static bool applies(const hmi_dynamics *d)
{
    return d->cholesky || (d->mass != HMI_INDEFINITE && d->undetermined == 0);
}

/* L L^T = M, or M + A_r^T A_r */
static bool root_of_mass(hmi_dynamics *d, double *L)
{
    int n = d->n;
    d->factors.shifted = !d->cholesky;
    hmi_copy(n * n, d->cholesky ? d->L : d->M, L);
    if (d->cholesky)
        return true;
    for (int k = 0; k < d->rank; k++) {
        const double *row = d->A + hmi_area(k, n);
        for (int i = 0; i < n; i++)
            hmi_axpy(n, row[i], row, L + hmi_area(i, n));
    }
    return hmi_cholesky(n, L, 0.01 * d->mass_tolerance);
}

/* Column p of G = L^T is row p of L, zero beyond the diagonal. */
static void add_column_of_root(const hmi_dynamics *d, double t, int p, double *y)
{
    hmi_axpy(p + 1, t, d->factors.array[0] + hmi_area(p, d->n), y);
}

/* array[0]: L; array[1]: QR of A_r (rank x n) with tau at its end; array[2]: S1^-1 S2 by columns;
 * array[3]: QR of the reduced root (n x freedom) with tau at its end. Ints: the coordinates in
 * pivot order, then those of the reduced root. */
static bool factor(hmi_dynamics *d)
{
    int n = d->n, rank = d->rank, freedom = n - rank, *order = d->factor_ints;
    hmi_factors *f = &d->factors;
    f->array[0] = d->factor;
    f->array[1] = f->array[0] + hmi_area(n, n);
    f->array[2] = f->array[1] + hmi_area(rank, n) + n;
    f->array[3] = f->array[2] + hmi_area(rank, freedom);
    if (!root_of_mass(d, f->array[0]))
        return false;
    double *S = f->array[1];
    for (int j = 0; j < n; j++)
        for (int k = 0; k < rank; k++)
            S[hmi_area(j, rank) + (size_t)k] = d->A[hmi_area(k, n) + (size_t)j];
    if (hmi_qr(rank, n, S, S + hmi_area(rank, n), order, rank, 0) < rank)
        return false;
    double *reduced = f->array[3];
    hmi_zero(n * freedom, reduced);
    for (int j = 0; j < freedom; j++) {
        double *t = f->array[2] + hmi_area(j, rank), *y = reduced + hmi_area(j, n);
        hmi_copy(rank, S + hmi_area(rank + j, rank), t);
        hmi_qr_solve(rank, rank, S, t);
        add_column_of_root(d, 1, order[rank + j], y);
        for (int k = 0; k < rank; k++)
            add_column_of_root(d, -t[k], order[k], y);
    }
    return hmi_qr(n, freedom, reduced, reduced + hmi_area(n, freedom), order + n, freedom, 0) ==
           freedom;
}

/* x1 (in `basic`) := S1^-1 U^T s */
static void eliminate(hmi_dynamics *d, const double *s, double *basic)
{
    double *S = d->factors.array[1];
    hmi_copy(d->rank, s, basic);
    hmi_qr_multiply_transposed(d->rank, d->rank, S, S + hmi_area(d->rank, d->n), basic);
    hmi_qr_solve(d->rank, d->rank, S, basic);
}

/* free coordinates x2 (in `free`) := least squares of what is left of g */
static void minimise(hmi_dynamics *d, const double *basic, double *g, double *free)
{
    int n = d->n, freedom = n - d->rank, *turn = d->factor_ints + n;
    double *reduced = d->factors.array[3];
    for (int k = 0; k < d->rank; k++)
        add_column_of_root(d, -basic[k], d->factor_ints[k], g);
    hmi_qr_multiply_transposed(n, freedom, reduced, reduced + hmi_area(n, freedom), g);
    hmi_qr_solve(n, freedom, reduced, g);
    for (int j = 0; j < freedom; j++)
        free[turn[j]] = g[j];
}

/* l from the balance of the eliminated coordinates: A1^T l = (M x - r)_1 */
static void balance(hmi_dynamics *d, const double *r, const double *x, double *l)
{
    double *S = d->factors.array[1];
    for (int k = 0; k < d->rank; k++) {
        int i = d->factor_ints[k];
        l[k] = hmi_dot(d->n, d->M + hmi_area(i, d->n), x) - r[i];
    }
    hmi_qr_solve_transposed(d->rank, d->rank, S, l);
    hmi_qr_multiply(d->rank, d->rank, S, S + hmi_area(d->rank, d->n), l);
}

static void solve(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used;
    int n = d->n, rank = d->rank, freedom = n - rank, *order = d->factor_ints;
    double *g = hmi_take(d, (size_t)n), *basic = hmi_take(d, (size_t)rank);
    double *free = hmi_take(d, (size_t)freedom);
    hmi_copy(n, r, g);
    if (d->factors.shifted)
        hmi_row_force(d, s, g);
    hmi_lower_solve(n, d->factors.array[0], g);
    eliminate(d, s, basic);
    minimise(d, basic, g, free);
    for (int j = 0; j < freedom; j++) {
        x[order[rank + j]] = free[j];
        hmi_axpy(rank, -free[j], d->factors.array[2] + hmi_area(j, rank), basic);
    }
    for (int k = 0; k < rank; k++)
        x[order[k]] = basic[k];
    balance(d, r, x, l);
    d->scratch_used = mark;
}

const hmi_solver hmi_solver_gauss = {HM_FORMULATION_GAUSS, applies, factor, solve};
