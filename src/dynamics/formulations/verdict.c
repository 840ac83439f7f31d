/* What can be said about the equations beyond their answer.
 *
 *   redundant     a row whose distance from the span of the rows declared before it is zero;
 *                 Gram-Schmidt in the order of declaration, applied twice, carries b along:
 *                 E x = beta for every basis vector E, so that a redundant row compares its own b
 *                 with what the rows before it demand. The difference is its discrepancy.
 *   unique        multiplier k is unique where no combination of rows that vanishes contains row k.
 *   undetermined  directions along which q'' is free, in reduced echelon form.
 *   ranks         of M by its inertia, of [M | A^T] by pivoted QR of the stacked matrix.
 *   conditioning  of the Gram matrix with rows of unit length in the metric of M: the square of the
 *                 ratio of singular values of A L^-T, found without forming the square.
 */
#include "dynamics/formulations/workspace.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* The basis that Gram-Schmidt builds row by row. */
typedef struct chain {
    int count;
    double *E;    /* rank x n */
    double *beta; /* rank: E x = beta */
    double *row;  /* n: what is left of the row at hand */
} chain;

/* Reduces the row in c->row with right side b; returns what is left of b. */
static double reduce_row(const hmi_dynamics *d, chain *c, double b)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < c->count; k++) {
            double t = hmi_dot(d->n, c->E + hmi_area(k, d->n), c->row);
            hmi_axpy(d->n, -t, c->E + hmi_area(k, d->n), c->row);
            b -= t * c->beta[k];
        }
    return b;
}

static void extend_chain(const hmi_dynamics *d, chain *c, double length, double b)
{
    for (int j = 0; j < d->n; j++)
        c->E[hmi_area(c->count, d->n) + (size_t)j] = c->row[j] / length;
    c->beta[c->count++] = b / length;
}

/* Row i of the model as it stands in d->A. */
static const double *scaled_row(const hmi_dynamics *d, int i)
{
    int k = 0;
    while (d->order[k] != i)
        k++;
    return d->A + hmi_area(k, d->n);
}

/* flags[0] := redundant, result_m[3] := discrepancy, in the order of declaration. A row counts as
 * redundant also once `rank` independent rows were found, so that the counts agree. */
static void judge_rows(hmi_dynamics *d, const double *b)
{
    size_t mark = d->scratch_used;
    chain c = {.E = hmi_take(d, hmi_area(d->rank, d->n)), .beta = hmi_take(d, (size_t)d->rank)};
    c.row = hmi_take(d, (size_t)d->n);
    for (int i = 0; i < d->m; i++) {
        const double *row = scaled_row(d, i);
        hmi_copy(d->n, row, c.row);
        double left = reduce_row(d, &c, b[i] * d->R[i]), length = hmi_norm(d->n, c.row);
        bool redundant = c.count == d->rank || length <= d->rank_tolerance;
        d->flags[0][i] = redundant;
        d->result_m[3][i] = redundant ? left / d->R[i] : 0;
        if (!redundant)
            extend_chain(d, &c, length, left);
    }
    d->scratch_used = mark;
}

/* flags[1] := inconsistent; at least the worst row where b is not consistent */
static void judge_consistency(hmi_dynamics *d, bool consistent)
{
    double tolerance = d->b_tolerance;
    int worst = -1;
    for (int i = 0; i < d->m; i++) {
        double amount = fabs(d->result_m[3][i]) * d->R[i];
        d->flags[1][i] = !consistent && amount > tolerance;
        if (worst < 0 || amount > fabs(d->result_m[3][worst]) * d->R[worst])
            worst = i;
    }
    if (!consistent && worst >= 0)
        d->flags[1][worst] = true;
    for (int i = 0; i < d->m; i++) /* rounding errors are not for people */
        if (!d->flags[1][i] && fabs(d->result_m[3][i]) * d->R[i] <= tolerance)
            d->result_m[3][i] = 0;
}

/* flags[2] := multiplier is unique. Vanishing combinations of rows: [-R1^-1 R12; I]. */
static void judge_multipliers(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    double *t = hmi_take(d, (size_t)d->rank);
    for (int k = 0; k < d->m; k++)
        d->flags[2][d->order[k]] = k < d->rank;
    for (int k = d->rank; k < d->m; k++) {
        hmi_copy(d->rank, d->QR + hmi_area(k, d->n), t);
        hmi_qr_solve(d->n, d->rank, d->QR, t);
        for (int i = 0; i < d->rank; i++)
            if (fabs(t[i]) > 1e-10)
                d->flags[2][d->order[i]] = false;
    }
    d->scratch_used = mark;
}

/* ---- ranks and directions -------------------------------------------------------------------- */

void hmi_fill_stack(const hmi_dynamics *d, double *X)
{
    int n = d->n, rows = n + d->m;
    for (int j = 0; j < n; j++) {
        double *column = X + hmi_area(j, rows);
        hmi_copy(n, d->M + hmi_area(j, n), column);
        for (int k = 0; k < d->m; k++)
            column[n + k] = d->A[hmi_area(k, n) + (size_t)j];
    }
}

static int rank_of_stack(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    int n = d->n, rows = n + d->m;
    double *X = hmi_take(d, hmi_area(rows, n)), *tau = hmi_take(d, (size_t)n);
    hmi_fill_stack(d, X);
    int rank = hmi_qr(rows, n, X, tau, d->judge_ints, n, d->rank_tolerance * fmax(1, d->mass_size));
    d->scratch_used = mark;
    return rank;
}

/* Row and column of the largest element among rows k.. */
static double largest_element(int count, int n, const double *X, int k, int *row, int *col)
{
    double largest = -1;
    for (int i = k; i < count; i++)
        for (int j = 0; j < n; j++)
            if (fabs(X[hmi_area(i, n) + (size_t)j]) > largest) {
                largest = fabs(X[hmi_area(i, n) + (size_t)j]);
                *row = i;
                *col = j;
            }
    return largest;
}

static void exchange_rows(int n, double *x, double *y)
{
    for (int j = 0; x != y && j < n; j++) {
        double t = x[j];
        x[j] = y[j];
        y[j] = t;
    }
}

void hmi_tidy_directions(int count, int n, double *directions)
{
    for (int k = 0; k < count; k++) {
        int row = k, col = 0;
        double *pivot = directions + hmi_area(k, n);
        if (!(largest_element(count, n, directions, k, &row, &col) > 0))
            return;
        exchange_rows(n, pivot, directions + hmi_area(row, n));
        double scale = pivot[col];
        for (int j = 0; j < n; j++)
            pivot[j] /= scale;
        for (int i = 0; i < count; i++) {
            double *other = directions + hmi_area(i, n), t = other[col];
            if (i != k)
                hmi_axpy(n, -t, pivot, other);
        }
    }
    for (int i = 0; i < count * n; i++)
        if (fabs(directions[i]) < 1e-12)
            directions[i] = 0;
}

static double condition_of_gram(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    int n = d->n, rank = d->rank;
    if (!d->cholesky || rank == 0)
        return d->cholesky ? 1 : 0;
    double *X = hmi_take(d, hmi_area(rank, n)), *V = hmi_take(d, hmi_area(rank, rank));
    double *sigma = hmi_take(d, (size_t)rank);
    hmi_copy(rank * n, d->A, X);
    for (int k = 0; k < rank; k++) {
        double *row = X + hmi_area(k, n);
        hmi_lower_solve(n, d->L, row);
        double length = hmi_norm(n, row);
        for (int j = 0; j < n; j++)
            row[j] /= length;
    }
    hmi_svd(n, rank, X, sigma, V);
    double ratio = sigma[rank - 1] > 0 ? sigma[0] / sigma[rank - 1] : 1e16;
    d->scratch_used = mark;
    return ratio * ratio;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void name_directions(hmi_dynamics *d)
{
    for (int k = 0; k < d->undetermined; k++)
        hmi_times(d->n, d->D, d->W + hmi_area(k, d->n), d->directions + hmi_area(k, d->n));
    hmi_tidy_directions(d->undetermined, d->n, d->directions);
}

/* result_m[4] := b - A q'' */
static void find_residual(hmi_dynamics *d, const hmi_equations *e, const double *qdd)
{
    for (int i = 0; i < d->m; i++) {
        hmi_sum sum = {e->b[i], 0};
        hmi_sum_dot(&sum, -1, d->n, e->A + hmi_area(i, d->n), 1, qdd);
        d->result_m[4][i] = sum.s + sum.e;
    }
}

void hmi_judge(hmi_dynamics *d, const hmi_equations *equations, hmi_solution *solution)
{
    hmi_verdict *v = &solution->verdict;
    judge_rows(d, equations->b);
    judge_consistency(d, v->consistent);
    judge_multipliers(d);
    name_directions(d);
    find_residual(d, equations, solution->qdd);
    v->rank_MA = d->mass == HMI_DEFINITE ? d->n : rank_of_stack(d);
    v->gram_condition = condition_of_gram(d);
    hmi_find_evidence(d, equations, v);
    v->redundant = d->flags[0];
    v->inconsistent = d->flags[1];
    v->multiplier_unique = d->flags[2];
    v->discrepancy = d->result_m[3];
    v->residual = d->result_m[4];
    v->directions = d->directions;
}
