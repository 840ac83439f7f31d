/* Dirac structures: implicit Lagrangian systems, degenerate Lagrangians.             [LdA chapter]
 *
 * On (q, v, p) with E = p.v - L the inclusion (X, dE - F) in D_Delta says
 *     qdot = v,   p = dL/dv,   A qdot = c,   pdot - dL/dq - F = A^T lambda.
 *
 * 1. As a formulation: the rate of p is kept as an unknown y beside x and l,
 *        M x - y = 0,   y - A_r^T l = r,   A_r x = s,
 *    a system of size 2n + rank, solved by LU with partial pivoting.
 * 2. As a check: hmi_dirac_inclusion measures how far a state with its rates is from the structure.
 *    Verified: test/unit/dynamics/test_cases.c (004-dirac-skate)
 * 3. Degenerate L (hmi_dirac_solve): along W, the virtual displacements that M does not see,
 *    W rho(q') = 0 holds without accelerations and determines velocities. Where L is linear in
 *    velocities, theta(q).q' - H(q), M = 0 and J is the two-form d theta: point vortices,
 *    Lotka-Volterra. Verified: test/unit/dynamics/test_dirac.c
 */
#include "dynamics/formulations/workspace.h"

/* ---- 1. the formulation ---------------------------------------------------------------------- */

static bool applies(const hmi_dynamics *d)
{
    return d->undetermined == 0 && d->size.compare;
}

static bool factor(hmi_dynamics *d)
{
    int n = d->n, size = 2 * n + d->rank;
    double *K = d->factor;
    hmi_zero(size * size, K);
    for (int i = 0; i < n; i++) {
        hmi_copy(n, d->M + hmi_area(i, n), K + hmi_area(i, size));
        K[hmi_area(i, size) + (size_t)(n + i)] = -1;
        double *row = K + hmi_area(n + i, size);
        row[n + i] = 1;
        for (int k = 0; k < d->rank; k++)
            row[2 * n + k] = -d->A[hmi_area(k, n) + (size_t)i];
    }
    for (int k = 0; k < d->rank; k++)
        hmi_copy(n, d->A + hmi_area(k, n), K + hmi_area(2 * n + k, size));
    return hmi_lu(size, K, d->factor_ints, HMI_NO_PIVOT * fmin(1, d->mass_size));
}

static void solve(hmi_dynamics *d, const double *r, const double *s, double *x, double *l)
{
    size_t mark = d->scratch_used;
    int n = d->n, size = 2 * n + d->rank;
    double *z = hmi_take(d, (size_t)size);
    hmi_zero(n, z);
    hmi_copy(n, r, z + n);
    hmi_copy(d->rank, s, z + 2 * n);
    hmi_lu_solve(size, d->factor, d->factor_ints, z);
    hmi_copy(n, z, x);
    hmi_copy(d->rank, z + 2 * n, l);
    d->scratch_used = mark;
}

const hmi_solver hmi_solver_dirac = {HM_FORMULATION_DIRAC, applies, factor, solve};

/* ---- 2. the inclusion ------------------------------------------------------------------------ */

static bool state_is_finite(const hmi_dynamics *d, const hmi_dirac_state *s)
{
    int n = d->n, m = d->m;
    return hmi_all_finite(n, s->v) && hmi_all_finite(n, s->p) && hmi_all_finite(n, s->qdot) &&
           hmi_all_finite(n, s->pdot) && hmi_all_finite(n, s->L_q) && hmi_all_finite(n, s->L_v) &&
           (!s->F || hmi_all_finite(n, s->F)) && hmi_all_finite(m * n, s->A) &&
           (!s->c || hmi_all_finite(m, s->c));
}

/* The metric of the plain Euclidean norm of coordinates: no scaling of them. */
static void prepare_euclidean(hmi_dynamics *d, const double *A)
{
    d->scratch_used = 0;
    d->rank_tolerance = hmi_rank_tolerance(d->m, d->n);
    d->most_rank = 0;
    double *identity = hmi_take(d, hmi_area(d->n, d->n));
    hmi_zero(d->n * d->n, identity);
    for (int i = 0; i < d->n; i++)
        identity[hmi_area(i, d->n) + (size_t)i] = 1;
    hmi_prepare_constraints(d, &(hmi_equations){.M = identity, .A = A});
    d->scratch_used = 0;
}

hm_status hmi_dirac_inclusion(hmi_dynamics *d, const hmi_dirac_state *state,
                              const hmi_dirac_residual *residual)
{
    int n = d->n, m = d->m;
    if (!state_is_finite(d, state))
        return HM_ERR_NUMERIC;
    for (int i = 0; i < n; i++) {
        residual->kinematic[i] = state->qdot[i] - state->v[i];
        residual->momentum[i] = state->p[i] - state->L_v[i];
        residual->covector[i] = state->pdot[i] - state->L_q[i] - (state->F ? state->F[i] : 0);
    }
    hmi_matvec(m, n, state->A, state->qdot, residual->constraint);
    if (state->c)
        hmi_axpy(m, -1, state->c, residual->constraint);

    prepare_euclidean(d, state->A);
    double *l = hmi_take(d, (size_t)m), *t = hmi_take(d, (size_t)n);
    for (int i = 0; i < n; i++)
        t[i] = residual->covector[i] * d->D[i];
    hmi_row_multipliers(d, t, l);
    hmi_model_multipliers(d, l, residual->lambda);
    hmi_copy(n, residual->covector, residual->outside);
    hmi_mul_transposed(m, n, -1, state->A, residual->lambda, residual->outside);
    d->scratch_used = 0;
    return HM_OK;
}

/* ---- 3. degenerate Lagrangians --------------------------------------------------------------- */

static double largest_rate(const hmi_dynamics *d, const double *c)
{
    double largest = 0;
    for (int i = 0; i < d->m; i++)
        largest = fmax(largest, fabs(c[i]) * d->R[i]);
    return largest;
}

/* x (scaled velocities) moved the shortest way to A q' = c; the contradiction left over. */
static double meet_constraints(hmi_dynamics *d, const double *c, double *x)
{
    size_t mark = d->scratch_used;
    double *t = hmi_take(d, (size_t)d->rank);
    (void)hmi_prepare_right_side(d, c, 1e-9 * largest_rate(d, c) + 1e-12);
    hmi_matvec(d->rank, d->n, d->A, x, t);
    for (int k = 0; k < d->rank; k++)
        t[k] = d->b[k] - t[k];
    hmi_qr_solve_transposed(d->n, d->rank, d->QR, t);
    hmi_mul_transposed(d->rank, d->n, 1, d->Z, t, x);
    double worst = 0;
    for (int k = 0; k < d->m; k++) {
        double scale = d->R[d->order[k]], at = hmi_dot(d->n, d->A + hmi_area(k, d->n), x);
        worst = fmax(worst, fabs(c[d->order[k]] - at / scale));
    }
    d->scratch_used = mark;
    return worst;
}

/* S := W J^ W^T, right := -W rho^(x) for the scaled J^ = D J D, rho^ = D (rho + J (q' - v)) */
static void reduce_balance(hmi_dynamics *d, const hmi_dirac_balance *b, const double *x, double *S,
                           double *right)
{
    size_t mark = d->scratch_used;
    int n = d->n, fast = d->undetermined;
    double *step = hmi_take(d, (size_t)n), *rho = hmi_take(d, (size_t)n);
    double *column = hmi_take(d, (size_t)n);
    for (int i = 0; i < n; i++)
        step[i] = d->D[i] * x[i] - b->v[i];
    for (int i = 0; i < n; i++)
        rho[i] = d->D[i] * (b->rho[i] + hmi_dot(n, b->J + hmi_area(i, n), step));
    for (int k = 0; k < fast; k++) {
        hmi_times(n, d->D, d->W + hmi_area(k, n), step);
        hmi_matvec(n, n, b->J, step, column);
        hmi_times(n, d->D, column, column);
        for (int i = 0; i < fast; i++)
            S[hmi_area(i, fast) + (size_t)k] = hmi_dot(n, d->W + hmi_area(i, n), column);
        right[k] = -hmi_dot(n, d->W + hmi_area(k, n), rho);
    }
    d->scratch_used = mark;
}

/* directions (model coordinates) := the `count` weakest right singular vectors of S, through W */
static void name_free_velocities(hmi_dynamics *d, double *S, int count)
{
    size_t mark = d->scratch_used;
    int n = d->n, fast = d->undetermined;
    double *columns = hmi_take(d, hmi_area(fast, fast)), *V = hmi_take(d, hmi_area(fast, fast));
    double *sigma = hmi_take(d, (size_t)fast);
    for (int i = 0; i < fast; i++)
        for (int k = 0; k < fast; k++)
            columns[hmi_area(k, fast) + (size_t)i] = S[hmi_area(i, fast) + (size_t)k];
    hmi_svd(fast, fast, columns, sigma, V);
    for (int k = 0; k < count; k++) {
        double *direction = d->directions + hmi_area(k, n);
        hmi_zero(n, direction);
        hmi_mul_transposed(fast, n, 1, d->W, V + hmi_area(fast - count + k, fast), direction);
        hmi_times(n, d->D, direction, direction);
    }
    hmi_tidy_directions(count, n, d->directions);
    d->scratch_used = mark;
}

/* x += W^T eta with S eta = right; returns the rank of S. */
static int determine_velocities(hmi_dynamics *d, const hmi_dirac_balance *b, double *x)
{
    size_t mark = d->scratch_used;
    int n = d->n, fast = d->undetermined;
    double *S = d->factor, *S_plus = S + hmi_area(fast, fast);
    double *right = hmi_take(d, (size_t)fast), *eta = hmi_take(d, (size_t)fast);
    reduce_balance(d, b, x, S, right);
    int rank = hmi_pseudo_inverse(fast, fast, S, -1, S_plus,
                                  hmi_take(d, hmi_pseudo_inverse_doubles(fast, fast)),
                                  d->factor_ints);
    hmi_matvec(fast, fast, S_plus, right, eta);
    hmi_mul_transposed(fast, n, 1, d->W, eta, x);
    if (rank < fast)
        name_free_velocities(d, S, fast - rank);
    d->scratch_used = mark;
    return rank;
}

static void report_velocities(hmi_dynamics *d, int rank, hmi_dirac_velocity *velocity)
{
    int n = d->n, fast = d->undetermined;
    for (int k = 0; k < fast; k++)
        hmi_times(n, d->D, d->W + hmi_area(k, n), d->virtual_displacements + hmi_area(k, n));
    velocity->fast = fast;
    velocity->W = d->virtual_displacements;
    velocity->determined = rank == fast;
    velocity->undetermined = fast - rank;
    velocity->directions = d->directions;
}

hm_status hmi_dirac_solve(hmi_dynamics *d, const hmi_dirac_balance *balance, double *qdot,
                          hmi_dirac_velocity *velocity)
{
    int n = d->n;
    hmi_options options = hmi_options_default();
    const hmi_equations all = {
        .M = balance->M, .Q = balance->rho, .A = balance->A, .b = balance->c};
    hmi_equations equations = hmi_gather_rows(d, &all);
    double *zero = d->result_m[0];
    hmi_zero(d->m, zero);
    equations.b = equations.b ? equations.b : zero;
    *velocity = (hmi_dirac_velocity){0};
    hmi_copy(n, balance->v, qdot);
    if (!hmi_all_finite(n, balance->v) || !hmi_all_finite(n * n, balance->J) ||
        hmi_prepare(d, &equations, &options) != HM_OK)
        return HM_ERR_NUMERIC;

    double *x = hmi_take(d, (size_t)n);
    for (int i = 0; i < n; i++)
        x[i] = balance->v[i] / d->D[i];
    if (balance->c && d->m > 0)
        velocity->discrepancy = meet_constraints(d, equations.b, x);
    int rank = determine_velocities(d, balance, x);
    hmi_times(n, d->D, x, qdot);
    report_velocities(d, rank, velocity);
    double change = 0, size = hmi_max_abs(n, qdot);
    for (int i = 0; i < n; i++)
        change = fmax(change, fabs(qdot[i] - balance->v[i]));
    velocity->change = change == 0 ? 0 : change / fmax(change, size);
    d->scratch_used = 0;
    return velocity->determined ? HM_OK : HM_ERR_UNDETERMINED;
}
