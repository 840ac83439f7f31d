/* Exact derivatives of q'' and lambda: the equations differentiated, not their factorisation.
 *
 *     M dx = r1 + A^T dl,   A dx = r2,
 *     r1 = dQ - (dM) q'' + (dA)^T lambda,   r2 = db - (dA) q''
 *
 * the equations of the motion again, with the factorisation that the solve left behind.
 *
 * Redundant rows. q'' = ... A^+ b ... has, at constant rank and for consistent b, a derivative in
 * which r2 enters by its projection on R(A) only (Golub & Pereyra 1973). The multiplier of minimum
 * norm lies in R(A) = {A w}, which turns with A: its derivative has the part (I - A A^+) (dA) w
 * outside.
 *
 * Implicit laws. With H = d(Q + C)/d lambda the multipliers feed back:  M dx = r1 + (A^T + H) dl.
 * Verified against 256-bit differences: test/physics/test_jacobian.c
 */
#include "dynamics/formulations/workspace.h"

/* s[rank] := r2 (m, model) in scaled independent rows, projected on R(A) */
static void constraint_side(hmi_dynamics *d, const double *r2, double *s)
{
    size_t mark = d->scratch_used;
    double *p = hmi_take(d, (size_t)d->m);
    for (int k = 0; k < d->m; k++)
        p[k] = r2[d->order[k]];
    if (d->rank < d->m)
        hmi_graded_project(&d->graded, p);
    for (int k = 0; k < d->rank; k++)
        s[k] = p[k] * d->R[d->order[k]];
    d->scratch_used = mark;
}

/* dlambda += (I - A A^+) turning */
static void turn_multipliers(hmi_dynamics *d, const double *turning, double *dlambda)
{
    size_t mark = d->scratch_used;
    double *p = hmi_take(d, (size_t)d->m);
    for (int k = 0; k < d->m; k++)
        p[k] = turning[d->order[k]];
    hmi_graded_project(&d->graded, p);
    for (int k = 0; k < d->m; k++)
        dlambda[d->order[k]] += turning[d->order[k]] - p[k];
    d->scratch_used = mark;
}

/* K := [M, -(A_r^T + D H E); A_r, 0] with lambda = E l, factored. */
static bool factor_feedback(hmi_dynamics *d, const double *H, double *K)
{
    size_t mark = d->scratch_used;
    int n = d->n, rank = d->rank, size = n + rank;
    double *unit = hmi_take(d, (size_t)rank), *lambda = hmi_take(d, (size_t)d->m);
    hmi_zero(size * size, K);
    for (int i = 0; i < n; i++)
        hmi_copy(n, d->M + hmi_area(i, n), K + hmi_area(i, size));
    for (int k = 0; k < rank; k++) {
        hmi_zero(rank, unit);
        unit[k] = 1;
        hmi_model_multipliers(d, unit, lambda);
        for (int i = 0; i < n; i++)
            K[hmi_area(i, size) + (size_t)(n + k)] = -d->A[hmi_area(k, n) + (size_t)i] -
                                                     d->D[i] * hmi_dot(d->m, H + hmi_area(i, d->m),
                                                                       lambda);
        hmi_copy(n, d->A + hmi_area(k, n), K + hmi_area(n + k, size));
    }
    d->scratch_used = mark;
    return hmi_lu(size, K, d->law_ints, HMI_NO_PIVOT * fmin(1, d->mass_size));
}

/* One direction: (r, s) -> (x, l), scaled. K NULL: without feedback. */
static void solve_direction(hmi_dynamics *d, const double *K, const double *r, const double *s,
                            double *x, double *l)
{
    if (!K) {
        hmi_solve_scaled(d, r, s, x, l);
        return;
    }
    size_t mark = d->scratch_used;
    double *z = hmi_take(d, (size_t)(d->n + d->rank));
    hmi_copy(d->n, r, z);
    hmi_copy(d->rank, s, z + d->n);
    hmi_lu_solve(d->n + d->rank, K, d->law_ints, z);
    hmi_copy(d->n, z, x);
    hmi_copy(d->rank, z + d->n, l);
    d->scratch_used = mark;
}

hm_status hmi_dynamics_derivative(hmi_dynamics *d, const hmi_directions *directions, double *dqdd,
                                  double *dlambda)
{
    int n = d->n, m = d->m, size = n + d->rank;
    d->scratch_used = 0;
    double *K = directions->feedback ? hmi_take(d, hmi_area(size, size)) : NULL;
    double *r = hmi_take(d, (size_t)n), *x = hmi_take(d, (size_t)n);
    double *s = hmi_take(d, (size_t)m), *l = hmi_take(d, (size_t)m);
    if (K && !factor_feedback(d, directions->feedback, K))
        return HM_ERR_NUMERIC;
    bool finite = true;
    for (int c = 0; c < directions->count; c++) {
        double *to = dqdd + hmi_area(c, n);
        hmi_times(n, directions->force + hmi_area(c, n), d->D, r);
        constraint_side(d, m ? directions->constraint + hmi_area(c, m) : NULL, s);
        solve_direction(d, K, r, s, x, l);
        hmi_times(n, x, d->D, to);
        finite = finite && hmi_all_finite(n, to);
        if (!dlambda)
            continue;
        hmi_model_multipliers(d, l, dlambda + hmi_area(c, m));
        if (directions->turning && d->rank < m)
            turn_multipliers(d, directions->turning + hmi_area(c, m), dlambda + hmi_area(c, m));
    }
    d->scratch_used = 0;
    return finite ? HM_OK : HM_ERR_NUMERIC;
}

/* F y = lambda, w = D Y^T y: then A w = lambda */
void hmi_dynamics_preimage(hmi_dynamics *d, const hmi_solution *solution, double *w)
{
    size_t mark = d->scratch_used;
    double *p = hmi_take(d, (size_t)d->m), *y = hmi_take(d, (size_t)d->rank);
    hmi_zero(d->n, w);
    if (d->rank < d->m) {
        for (int k = 0; k < d->m; k++)
            p[k] = solution->total_lambda[d->order[k]];
        hmi_graded_solve(&d->graded, p, y);
    } else {
        for (int k = 0; k < d->m; k++)
            y[k] = solution->total_lambda[d->order[k]] * d->R[d->order[k]];
        hmi_qr_solve_transposed(d->n, d->rank, d->QR, y);
    }
    hmi_mul_transposed(d->rank, d->n, 1, d->Z, y, w);
    hmi_times(d->n, d->D, w, w);
    d->scratch_used = mark;
}
