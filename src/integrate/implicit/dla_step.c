/* One step of the discrete Lagrange-d'Alembert principle (the equations are in dla.h): Newton's iteration for
 * positions and multipliers, then velocities from momenta. */
#include "integrate/implicit/dla.h"

#include "dynamics/sim/motion_derivatives.h"
#include "linalg/linalg.h"

enum { MOST_ITERATIONS = 40 };

/* The momentum form at one (t, q, v), dense. */
typedef struct point {
    double *p, *g, *phi, *psi;     /* n, n, m, m */
    double *p_q, *p_v, *g_v;       /* n x n */
    double *phi_q, *psi_q, *psi_v; /* m x n */
} point;

typedef struct discrete {
    size_t n, m;
    bool continued; /* there was a step before, */
    double h;       /* of this size */
    int rank;       /* rows in use: order[0 .. rank) */
    int *order, *pivots;
    point left, right, middle;     /* (q0, w), (q1, w), and the midpoint */
    double *p0, *A0;               /* momentum and A at q0 */
    double *q1, *v1, *w, *average; /* n */
    double *K, *x;                 /* (n + m)^2, n + m */
    double *impulse;               /* m: L0 h, then L1 */
    double *rows, *tau;            /* m x n, m: for the choice of rows */
    double *end;                   /* size: y at the end of the last step */
} discrete;

/* ---- memory ---- */

static size_t point_doubles(size_t n, size_t m)
{
    return 2 * n + 2 * m + 3 * n * n + 3 * m * n;
}

static size_t all_doubles(const hmi_ode *ode)
{
    size_t n = ode->n, m = ode->sim->system->derived.constraints.count;
    return 3 * point_doubles(n, m) + 5 * n + 2 * m * n + (n + m) * (n + m) + (n + m) + 2 * m +
           ode->size;
}

size_t hmi_dla_memory_size(const hmi_method *method, const hmi_ode *ode)
{
    (void)method;
    size_t n = ode->n, m = ode->sim->system->derived.constraints.count;
    return sizeof(discrete) + all_doubles(ode) * sizeof(double) + (n + 2 * m) * sizeof(int);
}

static double *take(double **next, size_t count)
{
    double *x = *next;
    *next += count;
    return x;
}

static void take_point(point *at, size_t n, size_t m, double **next)
{
    at->p = take(next, n);
    at->g = take(next, n);
    at->phi = take(next, m);
    at->psi = take(next, m);
    at->p_q = take(next, n * n);
    at->p_v = take(next, n * n);
    at->g_v = take(next, n * n);
    at->phi_q = take(next, m * n);
    at->psi_q = take(next, m * n);
    at->psi_v = take(next, m * n);
}

static void take_memory(discrete *d, size_t n, size_t m, size_t size)
{
    double *next = (double *)(d + 1);
    d->n = n;
    d->m = m;
    d->continued = false;
    take_point(&d->left, n, m, &next);
    take_point(&d->right, n, m, &next);
    take_point(&d->middle, n, m, &next);
    d->p0 = take(&next, n);
    d->q1 = take(&next, n);
    d->v1 = take(&next, n);
    d->w = take(&next, n);
    d->average = take(&next, n);
    d->A0 = take(&next, m * n);
    d->rows = take(&next, m * n);
    d->K = take(&next, (n + m) * (n + m));
    d->x = take(&next, n + m);
    d->impulse = take(&next, m);
    d->tau = take(&next, m);
    d->end = take(&next, size);
    d->pivots = (int *)next;
    d->order = d->pivots + n + m;
}

hm_status hmi_dla_start(hmi_stepper *s)
{
    const hmi_ode *ode = s->ode;
    take_memory(s->memory, ode->n, ode->sim->system->derived.constraints.count, s->size);
    return hmi_sim_prepare_derivatives(ode->sim, HMI_JACOBIAN_DISCRETE);
}

hm_status hmi_dla_applies(const hmi_ode *ode, const char **why)
{
    const hm_system *system = ode->sim->system;
    const hm_model *model = system->model;
    *why = NULL;
    for (size_t k = 0; k < model->constraints.count; k++)
        if (model->constraints.data[k].level == HM_LEVEL_ACCELERATION)
            *why = "a constraint on accelerations has no discrete form";
    if (ode->dirac)
        *why = "the velocities follow from the coordinates: there are no momenta to continue";
    else if (model->states.count)
        *why = "auxiliary states have no discrete Lagrangian";
    else if (model->servos.count)
        *why = "servo forces are not given by a law";
    else if (system->derived.force_symbols)
        *why = "a force depends on constraint forces";
    else if (system->derived.total == HMI_NONE)
        *why = "mass entries that are not constant have no Lagrangian";
    return *why ? HM_ERR_USAGE : HM_OK;
}

/* ---- the momentum form at a point ---- */

/* Entries of a block in the columns of q (v) into by_q (by_v), rows x n; NULL: not wanted. */
static void scatter(const hmi_jacobian *j, hmi_block b, const double *out, size_t n, double *by_q,
                    double *by_v)
{
    const hmi_jacobian_block *block = &j->block[b];
    const double *value = out + block->partial;
    size_t size = block->rows * n * sizeof(double);
    if (by_q)
        memset(by_q, 0, size);
    if (by_v)
        memset(by_v, 0, size);
    for (size_t i = 0; i < block->rows; i++)
        for (size_t k = block->start[i]; k < block->start[i + 1]; k++) {
            size_t c = block->column[k];
            if (c < n && by_q)
                by_q[i * n + c] = value[k];
            else if (c >= n && by_v)
                by_v[i * n + c - n] = value[k];
        }
}

static bool evaluate(hmi_stepper *s, point *at, double t, const double *q, const double *v)
{
    hm_sim *sim = s->ode->sim;
    const discrete *d = s->memory;
    const hmi_jacobian *j = sim->extras.derivatives->by[HMI_JACOBIAN_DISCRETE].jacobian;
    int n = (int)d->n, m = (int)d->m;
    s->ode->evaluations++;
    const hmi_point here = {t, q, v, sim->state.z}; /* systems with states do not come here */
    hmi_sim_refresh(sim, &here);
    const double *out = hmi_sim_run_slopes(sim, &here, HMI_JACOBIAN_DISCRETE, NULL, NULL);
    hmi_copy(n, out + j->block[HMI_BLOCK_MOMENTUM].value, at->p);
    hmi_copy(n, out + j->block[HMI_BLOCK_DRIVE].value, at->g);
    hmi_copy(m, out + j->block[HMI_BLOCK_POSITION].value, at->phi);
    hmi_copy(m, out + j->block[HMI_BLOCK_VELOCITY].value, at->psi);
    scatter(j, HMI_BLOCK_MOMENTUM, out, d->n, at->p_q, at->p_v);
    scatter(j, HMI_BLOCK_DRIVE, out, d->n, NULL, at->g_v);
    scatter(j, HMI_BLOCK_POSITION, out, d->n, at->phi_q, NULL);
    scatter(j, HMI_BLOCK_VELOCITY, out, d->n, at->psi_q, at->psi_v);
    return hmi_all_finite(n, at->p) && hmi_all_finite(n, at->g) && hmi_all_finite(m, at->phi) &&
           hmi_all_finite(m, at->psi);
}

static bool at_position(const hmi_stepper *s, int row)
{
    return s->ode->sim->system->model->constraints.data[row].level == HM_LEVEL_POSITION;
}

/* ---- the start of a step ---- */

/* rank, order: rows of A0 that are independent, measured against their own length. */
static void choose_rows(discrete *d)
{
    int n = (int)d->n, m = (int)d->m;
    for (int k = 0; k < m; k++) {
        double length = hmi_norm(n, d->A0 + (size_t)k * d->n);
        for (int i = 0; i < n; i++)
            d->rows[k * n + i] = length > 0 ? d->A0[k * n + i] / length : 0;
    }
    d->rank = m ? hmi_qr(n, m, d->rows, d->tau, d->order, n < m ? n : m, 1e-9) : 0;
}

static bool begin(hmi_stepper *s, double h)
{
    discrete *d = s->memory;
    if (!evaluate(s, &d->left, s->t, s->y, s->y + d->n))
        return false;
    memcpy(d->p0, d->left.p, d->n * sizeof(double));
    if (d->m)
        memcpy(d->A0, d->left.psi_v, d->m * d->n * sizeof(double));
    choose_rows(d);
    /* guess: the acceleration of the step before goes on */
    double before = s->t - s->t_old, x = d->continued && before != 0 ? h * h / (2 * before) : 0;
    for (size_t i = 0; i < d->n; i++)
        d->q1[i] = s->y[i] + h * s->y[d->n + i] +
                   (x != 0 ? x * (s->y[d->n + i] - s->y_old[d->n + i]) : 0);
    memset(d->impulse, 0, d->m * sizeof(double));
    return true;
}

/* ---- positions ---- */

static bool evaluate_ends(hmi_stepper *s, double h)
{
    discrete *d = s->memory;
    for (size_t i = 0; i < d->n; i++) {
        d->w[i] = (d->q1[i] - s->y[i]) / h;
        d->average[i] = (d->q1[i] + s->y[i]) / 2;
    }
    bool velocity_rows = false;
    for (int k = 0; k < d->rank; k++)
        velocity_rows |= !at_position(s, d->order[k]);
    return evaluate(s, &d->left, s->t, s->y, d->w) &&
           evaluate(s, &d->right, s->t + h, d->q1, d->w) &&
           (!velocity_rows || evaluate(s, &d->middle, s->t + h / 2, d->average, d->w));
}

/* K dx = -R of the first two lines of dla.h times h, x = (q1, h L0). */
static void linearise_position(hmi_stepper *s, double h)
{
    discrete *d = s->memory;
    size_t n = d->n, size = n + (size_t)d->rank;
    const point *l = &d->left, *r = &d->right, *c = &d->middle;
    for (size_t i = 0; i < n; i++) {
        double *row = d->K + i * size;
        for (size_t j = 0; j < n; j++)
            row[j] = (l->p_v[i * n + j] + r->p_v[i * n + j] + h * r->p_q[i * n + j]) / 2 -
                     h / 2 * l->g_v[i * n + j];
        d->x[i] = h * (d->p0[i] + h / 2 * l->g[i] - (l->p[i] + r->p[i]) / 2);
        for (int k = 0; k < d->rank; k++) {
            size_t at = (size_t)d->order[k];
            row[n + (size_t)k] = -d->A0[at * n + i];
            d->x[i] += d->A0[at * n + i] * d->impulse[k];
        }
    }
    for (int k = 0; k < d->rank; k++) {
        size_t at = (size_t)d->order[k];
        double *row = d->K + (n + (size_t)k) * size;
        bool position = at_position(s, d->order[k]);
        for (size_t j = 0; j < n; j++)
            row[j] = position ? r->phi_q[at * n + j]
                              : h / 2 * c->psi_q[at * n + j] + c->psi_v[at * n + j];
        memset(row + n, 0, (size_t)d->rank * sizeof *row);
        d->x[n + (size_t)k] = position ? -r->phi[at] : -h * c->psi[at];
    }
}

static bool solve(discrete *d)
{
    int size = (int)d->n + d->rank;
    if (!hmi_lu(size, d->K, d->pivots, 0))
        return false;
    hmi_lu_solve(size, d->K, d->pivots, d->x);
    return hmi_all_finite(size, d->x);
}

/* x += dx; the size of dx relative to x (and `scale`). */
static double move(int n, const double *dx, double *x, double scale)
{
    double size = fmax(hmi_max_abs(n, x), scale);
    double change = hmi_max_abs(n, dx);
    hmi_axpy(n, 1, dx, x);
    return change == 0 ? 0 : change / size;
}

/* Has Newton's iteration done what it can? It is quadratic: what is left after a change of 1e-9 is
 * beyond rounding. */
static bool settled(double change, double last)
{
    return change < 1e-9 && (change < 1e-11 || change < 1e-2 * last);
}

static bool find_position(hmi_stepper *s, double h)
{
    discrete *d = s->memory;
    double last = INFINITY, scale = fabs(h) * hmi_max_abs((int)d->n, s->y + d->n);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        if (!evaluate_ends(s, h))
            return false;
        linearise_position(s, h);
        if (!solve(d))
            return false;
        double change = move((int)d->n, d->x, d->q1, scale);
        hmi_axpy(d->rank, 1, d->x + d->n, d->impulse);
        if (settled(change, last))
            return evaluate_ends(s, h);
        last = change;
    }
    return false;
}

/* ---- velocities ---- */

/* K dx = -R of the last line of dla.h, x = (v1, L1). */
static void linearise_velocity(discrete *d, const double *p1)
{
    size_t n = d->n, size = n + (size_t)d->rank;
    const point *r = &d->middle; /* at (q1, v1) */
    for (size_t i = 0; i < n; i++) {
        double *row = d->K + i * size;
        memcpy(row, r->p_v + i * n, n * sizeof *row);
        d->x[i] = p1[i] - r->p[i];
        for (int k = 0; k < d->rank; k++) {
            double a = r->psi_v[(size_t)d->order[k] * n + i];
            row[n + (size_t)k] = -a;
            d->x[i] += a * d->impulse[k];
        }
    }
    for (int k = 0; k < d->rank; k++) {
        double *row = d->K + (n + (size_t)k) * size;
        memcpy(row, r->psi_v + (size_t)d->order[k] * n, n * sizeof *row);
        memset(row + n, 0, (size_t)d->rank * sizeof *row);
        d->x[n + (size_t)k] = -r->psi[d->order[k]];
    }
}

static bool find_velocity(hmi_stepper *s, double h)
{
    discrete *d = s->memory;
    double *p1 = d->average, last = INFINITY;
    for (size_t i = 0; i < d->n; i++)
        p1[i] = (d->left.p[i] + d->right.p[i]) / 2 + h / 2 * d->right.g[i];
    memcpy(d->v1, d->w, d->n * sizeof(double));
    memset(d->impulse, 0, d->m * sizeof(double));
    bool linear = s->ode->sim->system->derived.quadratic;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        if (!evaluate(s, &d->middle, s->t + h, d->q1, d->v1))
            return false;
        linearise_velocity(d, p1);
        if (!solve(d))
            return false;
        double change = move((int)d->n, d->x, d->v1, 0);
        hmi_axpy(d->rank, 1, d->x + d->n, d->impulse);
        if (settled(change, last) || linear)
            return true;
        last = change;
    }
    return false;
}

/* ---- the step ---- */

hm_status hmi_dla_step(hmi_stepper *s, double t_limit)
{
    discrete *d = s->memory;
    double h = hmi_fixed_step(s, t_limit);
    if (s->ode->branches && s->ode->branches->sliding) {
        s->trouble = "a force sticks at a discontinuity here, which this method cannot follow";
        return HM_ERR_NUMERIC;
    }
    if (!begin(s, h) || !find_position(s, h) || !find_velocity(s, h)) {
        s->trouble = "the implicit equations of the step have no solution: try a smaller step";
        return HM_ERR_NUMERIC;
    }
    memcpy(d->end, d->q1, d->n * sizeof(double));
    memcpy(d->end + d->n, d->v1, d->n * sizeof(double));
    hmi_fixed_accept(s, h, d->end);
    d->continued = true;
    d->h = h;
    if (h == t_limit - s->t_old)
        s->t = t_limit;
    return HM_OK;
}

void hmi_dla_interpolate(const hmi_stepper *s, double t, double *y)
{
    const discrete *d = s->memory;
    hmi_fixed_interpolate(s, d->h, d->end, t, y);
}
