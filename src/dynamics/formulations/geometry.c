/* The geometry of constrained motion.                                          [UK02 section 6]
 *
 *     B = A M^-1/2 (symmetric root),   T = B^+ B,   N = I - T,
 *     a_s = M^-1/2 Q,   c_s = M^-1/2 C,   q''_s = M^1/2 q'',
 *     q''_s = N (a_s + c_s) + B^+ b           (43)
 *     q''_s - a_s = B^+ e + N c_s             (45)
 *     B^+ b = B^+ e + T a_s                   (46)
 *
 * The roots come from the eigenvectors of M as it stands; the rank of B is that of A.
 * Verified: test/unit/dynamics/test_cases.c (000-linalg-results1to6)
 */
#include "dynamics/formulations/workspace.h"

/* S (n x n) := vectors^T diag(f(values)) vectors with f = sqrt or 1/sqrt */
static void rebuild(int n, const double *values, const double *vectors, bool inverse, double *S)
{
    hmi_zero(n * n, S);
    for (int k = 0; k < n; k++) {
        double root = sqrt(values[k]), f = inverse ? 1 / root : root;
        const double *v = vectors + hmi_area(k, n);
        for (int i = 0; i < n; i++)
            hmi_axpy(n, f * v[i], v, S + hmi_area(i, n));
    }
}

static bool find_roots(hmi_dynamics *d, const double *M, double *root, double *inverse)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    double *copy = hmi_take(d, hmi_area(n, n)), *values = hmi_take(d, (size_t)n);
    double *vectors = hmi_take(d, hmi_area(n, n));
    hmi_copy(n * n, M, copy);
    hmi_eigen(n, copy, values, vectors);
    bool positive = true;
    for (int k = 0; k < n; k++)
        positive = positive && values[k] > 0;
    if (positive) {
        rebuild(n, values, vectors, false, root);
        rebuild(n, values, vectors, true, inverse);
    }
    d->scratch_used = mark;
    return positive;
}

/* T := B^+ B, N := I - T */
static void projectors(int n, int m, const double *B, const double *B_plus, double *T, double *N)
{
    hmi_zero(n * n, T);
    for (int i = 0; i < n; i++) {
        hmi_mul_transposed(m, n, 1, B, B_plus + hmi_area(i, m), T + hmi_area(i, n));
        for (int j = 0; j < n; j++)
            N[hmi_area(i, n) + (size_t)j] = (i == j) - T[hmi_area(i, n) + (size_t)j];
    }
}

/* to := S x, where it is wanted */
static void give_product(int rows, int cols, const double *S, const double *x, double *to)
{
    if (to)
        hmi_matvec(rows, cols, S, x, to);
}

static void give(int count, const double *x, double *to)
{
    if (to)
        hmi_copy(count, x, to);
}

/* The matrices of the geometry, all in scratch memory. */
typedef struct matrices {
    double *root, *inverse, *B, *B_plus, *T, *N;
} matrices;

static void give_matrices(int n, int m, const matrices *g, const hmi_geometry *to)
{
    give(n * n, g->root, to->root);
    give(n * n, g->inverse, to->inverse_root);
    give(m * n, g->B, to->B);
    give(m * n, g->B_plus, to->B_plus);
    give(n * n, g->T, to->T);
    give(n * n, g->N, to->N);
}

static void give_vectors(hmi_dynamics *d, const matrices *g, const hmi_equations *e,
                         const hmi_solution *s, const hmi_geometry *to)
{
    int n = d->n, m = d->m;
    double *a_s = hmi_take(d, (size_t)n), *c_s = hmi_take(d, (size_t)n);
    hmi_matvec(n, n, g->inverse, s->Q, a_s);
    hmi_matvec(n, n, g->inverse, s->C, c_s);
    give(n, a_s, to->a_s);
    give(n, c_s, to->c_s);
    give_product(n, n, g->root, s->qdd, to->qdd_s);
    give_product(n, m, g->B_plus, e->b, to->B_plus_b);
    give_product(n, m, g->B_plus, hmi_gather_vector(d, s->e, d->held.b_error), to->B_plus_e);
    give_product(n, n, g->T, a_s, to->T_a_s);
    give_product(n, n, g->N, a_s, to->N_a_s);
    give_product(n, n, g->N, c_s, to->N_c_s);
}

hm_status hmi_dynamics_geometry(hmi_dynamics *d, const hmi_equations *all,
                                const hmi_solution *solution, const hmi_geometry *geometry)
{
    int n = d->n, m = d->m;
    const hmi_equations held = hmi_gather_rows(d, all), *equations = &held;
    if (!solution->a || !d->cholesky)
        return HM_ERR_UNDETERMINED;
    d->scratch_used = 0;
    matrices g = {.root = hmi_take(d, hmi_area(n, n)), .inverse = hmi_take(d, hmi_area(n, n))};
    if (!find_roots(d, equations->M, g.root, g.inverse))
        return HM_ERR_UNDETERMINED;
    g.B = hmi_take(d, hmi_area(m, n));
    g.B_plus = hmi_take(d, hmi_area(m, n));
    g.T = hmi_take(d, hmi_area(n, n));
    g.N = hmi_take(d, hmi_area(n, n));
    for (int i = 0; i < m; i++)
        hmi_matvec(n, n, g.inverse, equations->A + hmi_area(i, n), g.B + hmi_area(i, n));
    if (m > 0)
        (void)hmi_pseudo_inverse(m, n, g.B, d->rank, g.B_plus,
                                 hmi_take(d, hmi_pseudo_inverse_doubles(m, n)), d->law_ints);
    projectors(n, m, g.B, g.B_plus, g.T, g.N);
    give_matrices(n, m, &g, geometry);
    give_vectors(d, &g, equations, solution, geometry);
    hmi_spread_geometry(d, geometry);
    d->scratch_used = 0;
    return HM_OK;
}
