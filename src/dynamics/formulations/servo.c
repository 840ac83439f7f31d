/* Servo constraints: As q'' = bs enforced by forces u on actuated coordinates, passive constraints
 * reacting.                                            [Zhao 2018 (71), (72), errata 1.11-1.14]
 *
 * With x0 the motion without servos and G the answer of the passive system to unit forces on
 * actuated coordinates (A G = 0), u = S w leads to x0 + G w:
 *     H w = bs - As x0,   H = As G,   w^T (M^-1)_SS w smallest.
 * The metric is written (M^-1)_SS = K^T K (QR of the columns of L^-1), so that
 *     w = K^-1 (H K^-1)^+ (bs - As x0).
 * Fully actuated and without passive constraints this is u = M^1/2 (As M^-1/2)^+ (bs - As a), the
 * ideal force. Where M is singular the metric is that of M + A^T A, where that is not positive
 * either that of scaled coordinates.
 *
 * `law lyapunov` treats bs without its gain terms this way and adds a force for them: lyapunov.c.
 *
 * Several servos: those with the same actuators share them (each is credited with the force of its
 * own rows); different sets of actuators add their costs.
 * Verified: test/unit/dynamics/test_servo.c, test_cases.c (001-manipulator, 001-swarm)
 */
#include "dynamics/formulations/workspace.h"

static bool acts(const hmi_servo *servo, int j)
{
    return !servo->actuated || servo->actuated[j];
}

static bool same_actuators(int n, const hmi_servo *a, const hmi_servo *b)
{
    for (int j = 0; j < n; j++)
        if (acts(a, j) != acts(b, j))
            return false;
    return true;
}

/* ---- the space of servo forces --------------------------------------------------------------- */

static void lay_out_columns(hmi_dynamics *d, const hmi_equations *e)
{
    hmi_servo_space *s = &d->servo;
    s->columns = 0;
    for (int i = 0; i < s->count; i++) {
        s->group[i] = i;
        for (int k = 0; k < i && s->group[i] == i; k++)
            if (same_actuators(d->n, &e->servos[k], &e->servos[i]))
                s->group[i] = k;
        s->first_column[i] = s->columns;
        for (int j = 0; s->group[i] == i && j < d->n; j++)
            if (acts(&e->servos[i], j))
                s->coordinate[s->columns++] = j;
    }
    s->first_column[s->count] = s->columns;
}

/* What is not larger than the bound of its error is zero, as in passive rows (prepare.c). */
static void drop_noise(int n, const double *entry, const double *error, double *a)
{
    for (int j = 0; j < n; j++)
        if (fabs(entry[j]) <= error[j] && isfinite(error[j]))
            a[j] = 0;
}

static void scale_servo_rows(hmi_dynamics *d, const hmi_equations *e)
{
    hmi_servo_space *s = &d->servo;
    int n = d->n, row = 0;
    for (int i = 0; i < s->count; i++) {
        const hmi_servo *servo = &e->servos[i];
        s->first_row[i] = row;
        for (int k = 0; k < servo->rows; k++, row++) {
            double *a = s->A + hmi_area(row, n);
            hmi_times(n, servo->A + hmi_area(k, n), d->D, a);
            if (e->servo_error)
                drop_noise(n, servo->A + hmi_area(k, n), e->servo_error + hmi_area(row, n), a);
            s->R[row] = hmi_power_of_two(hmi_norm(n, a));
            for (int j = 0; j < n; j++)
                a[j] *= s->R[row];
            s->b[row] = servo->b[k] * s->R[row];
            s->free[row] = (servo->b_free ? servo->b_free[k] : servo->b[k]) * s->R[row];
        }
    }
    s->rows = s->first_row[s->count] = row;
}

/* G: one solve with the passive system a column; the same coordinate is solved for once. */
static void passive_answers(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    hmi_servo_space *s = &d->servo;
    int n = d->n;
    double *unit = hmi_take(d, (size_t)n), *none = hmi_take(d, (size_t)d->m);
    double *l = hmi_take(d, (size_t)d->m);
    hmi_zero(d->m, none);
    for (int c = 0; c < s->columns; c++) {
        hmi_zero(n, unit);
        unit[s->coordinate[c]] = 1;
        hmi_solve_scaled(d, unit, none, s->G + hmi_area(c, n), l);
    }
    d->scratch_used = mark;
}

/* root := a factor of the metric's inverse: L of M, of M + A_r^T A_r, or the identity */
static void metric_root(hmi_dynamics *d, double *root)
{
    int n = d->n;
    hmi_copy(n * n, d->cholesky ? d->L : d->M, root);
    if (d->cholesky)
        return;
    for (int k = 0; k < d->rank; k++)
        for (int i = 0; i < n; i++)
            hmi_axpy(n, d->A[hmi_area(k, n) + (size_t)i], d->A + hmi_area(k, n),
                     root + hmi_area(i, n));
    if (hmi_cholesky(n, root, d->mass_tolerance))
        return;
    hmi_zero(n * n, root);
    for (int i = 0; i < n; i++)
        root[hmi_area(i, n) + (size_t)i] = 1;
}

/* K, group by group: upper triangles with K^T K = (root^-T root^-1)_SS, column c at K + c n. Plain
 * Gram-Schmidt twice over the columns of root^-1, which are of about unit size. */
static void factor_metric(hmi_dynamics *d)
{
    size_t mark = d->scratch_used;
    hmi_servo_space *s = &d->servo;
    int n = d->n;
    double *root = hmi_take(d, hmi_area(n, n)), *basis = hmi_take(d, hmi_area(n, n));
    metric_root(d, root);
    for (int g = 0; g < s->count; g++)
        for (int c = s->first_column[g]; c < s->first_column[g + 1]; c++) {
            int k = c - s->first_column[g];
            double *q = basis + hmi_area(k, n), *column = s->K + hmi_area(c, n);
            hmi_zero(n, q);
            hmi_zero(n, column);
            q[s->coordinate[c]] = 1;
            hmi_lower_solve(n, root, q);
            for (int pass = 0; pass < 2; pass++)
                for (int i = 0; i < k; i++) {
                    double t = hmi_dot(n, basis + hmi_area(i, n), q);
                    column[i] += t;
                    hmi_axpy(n, -t, basis + hmi_area(i, n), q);
                }
            column[k] = hmi_norm(n, q);
            for (int i = 0; i < n; i++)
                q[i] /= column[k];
        }
    d->scratch_used = mark;
}

/* row := row K^-1, group by group (K upper triangular, columns contiguous) */
static void divide_by_metric(const hmi_dynamics *d, double *row)
{
    const hmi_servo_space *s = &d->servo;
    for (int g = 0; g < s->count; g++) {
        int first = s->first_column[g], size = s->first_column[g + 1] - first;
        hmi_qr_solve_transposed(d->n, size, s->K + hmi_area(first, d->n), row + first);
    }
}

void hmi_servo_divide(const hmi_dynamics *d, int group, double *w)
{
    int first = d->servo.first_column[group], size = d->servo.first_column[group + 1] - first;
    hmi_qr_solve(d->n, size, d->servo.K + hmi_area(first, d->n), w);
}

void hmi_servo_find_reach(hmi_dynamics *d)
{
    hmi_servo_space *s = &d->servo;
    int n = d->n;
    for (int row = 0; row < s->rows; row++) {
        double *h = s->reach + hmi_area(row, s->columns);
        for (int c = 0; c < s->columns; c++) {
            double sum = 0, size = 0;
            for (int j = 0; j < n; j++) {
                double term = s->A[hmi_area(row, n) + (size_t)j] * s->G[hmi_area(c, n) + (size_t)j];
                sum += term;
                size += fabs(term);
            }
            h[c] = fabs(sum) <= d->rank_tolerance * size ? 0 : sum;
        }
        divide_by_metric(d, h);
    }
}

void hmi_servo_prepare(hmi_dynamics *d, const hmi_equations *equations)
{
    d->servo.count = equations->servo_count;
    d->servo.limited = false;
    lay_out_columns(d, equations);
    scale_servo_rows(d, equations);
    passive_answers(d);
    factor_metric(d);
    hmi_servo_find_reach(d);
}

double hmi_servo_cost(const hmi_dynamics *d, const double *u)
{
    const hmi_servo_space *s = &d->servo;
    double cost = 0;
    for (int g = 0; g < s->count; g++) {
        int first = s->first_column[g], size = s->first_column[g + 1] - first;
        for (int i = 0; i < size; i++) {
            double sum = 0;
            for (int c = i; c < size; c++)
                for (int t = 0; t < s->count; t++)
                    if (s->group[t] == g)
                        sum += s->K[hmi_area(first + c, d->n) + (size_t)i] *
                               u[hmi_area(t, d->n) + (size_t)s->coordinate[first + c]];
            cost += sum * sum;
        }
    }
    return cost;
}

/* ---- forces ---------------------------------------------------------------------------------- */

/* v (rows): multipliers such that K w = reach^T v meets `wanted` with the least cost */
static void solve_reach(hmi_dynamics *d, const double *wanted, double *v)
{
    size_t mark = d->scratch_used;
    hmi_servo_space *s = &d->servo;
    int rows = s->rows, columns = s->columns;
    double *scale = hmi_take(d, (size_t)rows), *right = hmi_take(d, (size_t)rows);
    double *w = hmi_take(d, (size_t)columns);
    for (int i = 0; i < rows; i++) {
        const double *h = s->reach + hmi_area(i, columns);
        scale[i] = hmi_power_of_two(hmi_norm(columns, h));
        right[i] = scale[i] * wanted[i];
        for (int c = 0; c < columns; c++)
            s->H[hmi_area(i, columns) + (size_t)c] = scale[i] * h[c];
    }
    hmi_cod cod; /* of the matrix whose columns are the rows of H */
    hmi_cod_factor(&cod, columns, rows, s->H, rows, d->rank_tolerance,
                   hmi_take(d, hmi_cod_doubles(columns, rows)), s->ints);
    hmi_cod_solve_transposed(&cod, right, w);
    hmi_cod_solve(&cod, w, v);
    hmi_times(rows, scale, v, v);
    d->scratch_used = mark;
}

/* Is the force of a row of servo i on the actuators of servo t the force of servo t? */
static bool credited(const hmi_servo_space *s, int i, int t)
{
    return i == t || (s->group[i] != s->group[t] && s->group[t] == t);
}

/* u_t := the part of K^-1 reach^T v that belongs to servo t */
static void credit_forces(hmi_dynamics *d, const double *v, int t, double *u)
{
    size_t mark = d->scratch_used;
    const hmi_servo_space *s = &d->servo;
    int first = s->first_column[s->group[t]], end = s->first_column[s->group[t] + 1];
    double *w = hmi_take(d, (size_t)s->columns);
    hmi_zero(s->columns, w);
    for (int i = 0; i < s->count; i++)
        for (int row = s->first_row[i]; credited(s, i, t) && row < s->first_row[i + 1]; row++)
            hmi_axpy(end - first, v[row], s->reach + hmi_area(row, s->columns) + first, w + first);
    hmi_servo_divide(d, s->group[t], w + first);
    hmi_zero(d->n, u);
    for (int c = first; c < end; c++)
        u[s->coordinate[c]] += w[c];
    d->scratch_used = mark;
}

void hmi_servo_forces(hmi_dynamics *d, const hmi_equations *equations, const double *x0, double *u)
{
    size_t mark = d->scratch_used;
    hmi_servo_space *s = &d->servo;
    double *wanted = hmi_take(d, (size_t)s->rows), *v = hmi_take(d, (size_t)s->rows);
    for (int row = 0; row < s->rows; row++)
        wanted[row] = s->free[row] - hmi_dot(d->n, s->A + hmi_area(row, d->n), x0);
    solve_reach(d, wanted, v);
    for (int t = 0; t < s->count; t++) {
        credit_forces(d, v, t, u + hmi_area(t, d->n));
        if (equations->servos[t].b_free)
            hmi_lyapunov_force(d, t, u + hmi_area(t, d->n));
    }
    d->scratch_used = mark;
}

void hmi_servo_limit(hmi_dynamics *d, const hmi_equations *equations, double *u)
{
    for (int t = 0; t < d->servo.count; t++) {
        double most = equations->servos[t].limit ? *equations->servos[t].limit : 0;
        for (int j = 0; most > 0 && j < d->n; j++) {
            double *force = &u[hmi_area(t, d->n) + (size_t)j], bound = most * fabs(d->D[j]);
            d->servo.limited |= fabs(*force) > bound;
            *force = fmin(fmax(*force, -bound), bound);
        }
    }
}
