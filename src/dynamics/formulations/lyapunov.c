/* The gain terms of a servo with `law lyapunov`.              [Zhao 2018 (72), errata 1.11-1.14]
 *
 *     u = ideal force for bs without gain terms  -  M As^T (As As^T)^-1 P^-1 beta
 *
 * The second term is not an ideal force: it is M times the shortest change of acceleration delta
 * with As delta = -P^-1 beta =: D, shortest in the coordinates as they are. With passive
 * constraints and few actuators, delta = G w is sought where actuators can lead:
 *     delta = E eta,  E an orthonormal basis of the range of G,  eta = (As E)^+ D,
 * and of all w with G w = delta the one of least cost w^T (M^-1)_SS w.
 * Verified: test/unit/dynamics/test_cases.c (001-manipulator, u_72_corrected)
 */
#include "dynamics/formulations/workspace.h"

/* The columns of G that belong to one group of actuators, and what is made of them. */
typedef struct range {
    int n, size, rank;
    const double *G; /* size x n */
    double *E;       /* rank x n, model coordinates */
} range;

/* picked (rank of them): columns of G that span its range */
static int pick_columns(hmi_dynamics *d, const range *g, int *picked)
{
    size_t mark = d->scratch_used;
    double *copy = hmi_take(d, hmi_area(g->size, g->n)), *tau = hmi_take(d, (size_t)g->size);
    hmi_copy(g->size * g->n, g->G, copy);
    int rank = hmi_qr(g->n, g->size, copy, tau, picked, g->size,
                      d->rank_tolerance * hmi_max_abs(g->size * g->n, g->G));
    d->scratch_used = mark;
    return rank;
}

static void find_range(hmi_dynamics *d, range *g)
{
    size_t mark = d->scratch_used;
    int *picked = d->servo.ints;
    g->rank = pick_columns(d, g, picked);
    double *X = hmi_take(d, hmi_area(g->n, g->rank));
    for (int k = 0; k < g->rank; k++) {
        const double *column = g->G + hmi_area(picked[k], g->n);
        double scale = hmi_power_of_two(hmi_max_abs(g->n, column));
        for (int j = 0; j < g->n; j++)
            X[hmi_area(j, g->rank) + (size_t)k] = column[j] * scale * d->D[j];
    }
    hmi_graded graded;
    hmi_graded_factor(&graded, g->n, g->rank, X, hmi_take(d, hmi_graded_doubles(g->n, g->rank)),
                      picked);
    g->rank = graded.cols;
    hmi_graded_basis(&graded, g->E);
    d->scratch_used = mark;
}

/* delta (scaled) := D^-1 E (As E)^+ wanted */
static void shortest_change(hmi_dynamics *d, const range *g, const double *wanted, double *delta)
{
    size_t mark = d->scratch_used;
    const hmi_servo_space *s = &d->servo;
    int n = g->n;
    double *X = hmi_take(d, hmi_area(s->rows, g->rank)), *eta = hmi_take(d, (size_t)g->rank);
    double *row = hmi_take(d, (size_t)n);
    for (int i = 0; i < s->rows; i++) {
        for (int j = 0; j < n; j++)
            row[j] = s->A[hmi_area(i, n) + (size_t)j] / d->D[j];
        hmi_matvec(g->rank, n, g->E, row, X + hmi_area(i, g->rank));
    }
    hmi_cod cod; /* columns of this matrix are the rows of As E */
    hmi_cod_factor(&cod, g->rank, s->rows, X, s->rows,
                   d->rank_tolerance * hmi_max_abs(s->rows * g->rank, X),
                   hmi_take(d, hmi_cod_doubles(g->rank, s->rows)), s->ints);
    hmi_cod_solve_transposed(&cod, wanted, eta);
    hmi_zero(n, delta);
    hmi_mul_transposed(g->rank, n, 1, g->E, eta, delta);
    for (int j = 0; j < n; j++)
        delta[j] /= d->D[j];
    d->scratch_used = mark;
}

/* w := K^-1 (G K^-1)^+ delta */
static void cheapest_force(hmi_dynamics *d, const range *g, int group, const double *delta,
                           double *w)
{
    size_t mark = d->scratch_used;
    const hmi_servo_space *s = &d->servo;
    double *X = hmi_take(d, hmi_area(g->size, g->n)), *row = hmi_take(d, (size_t)g->size);
    const double *K = s->K + hmi_area(s->first_column[group], g->n);
    for (int j = 0; j < g->n; j++) {
        for (int c = 0; c < g->size; c++)
            row[c] = g->G[hmi_area(c, g->n) + (size_t)j];
        hmi_qr_solve_transposed(g->n, g->size, K, row);
        for (int c = 0; c < g->size; c++)
            X[hmi_area(c, g->n) + (size_t)j] = row[c];
    }
    hmi_cod cod;
    hmi_cod_factor(&cod, g->n, g->size, X, g->rank, 0, hmi_take(d, hmi_cod_doubles(g->n, g->size)),
                   s->ints);
    hmi_cod_solve(&cod, delta, w);
    hmi_servo_divide(d, group, w);
    d->scratch_used = mark;
}

void hmi_lyapunov_force(hmi_dynamics *d, int servo, double *u)
{
    size_t mark = d->scratch_used;
    const hmi_servo_space *s = &d->servo;
    int group = s->group[servo], first = s->first_column[group];
    range g = {.n = d->n, .size = s->first_column[group + 1] - first};
    g.G = s->G + hmi_area(first, d->n);
    g.E = hmi_take(d, hmi_area(g.size, d->n));
    double *wanted = hmi_take(d, (size_t)s->rows), *delta = hmi_take(d, (size_t)d->n);
    double *w = hmi_take(d, (size_t)g.size);
    hmi_zero(s->rows, wanted);
    for (int row = s->first_row[servo]; row < s->first_row[servo + 1]; row++)
        wanted[row] = s->b[row] - s->free[row];
    find_range(d, &g);
    shortest_change(d, &g, wanted, delta);
    cheapest_force(d, &g, group, delta, w);
    for (int c = 0; c < g.size; c++)
        u[s->coordinate[first + c]] += w[c];
    d->scratch_used = mark;
}
