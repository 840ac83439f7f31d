/* Isolated rank drops of the constraints, that a step jumps over: see driver.h.
 *
 * With rows of unit length, A_old A_new^T is near the Gram matrix of either while nothing happens. A
 * direction in which the constraints lose rank and regain it changes its sign on the way, and so
 * does an eigenvalue of the symmetric part. A row that itself turns far in one step proves nothing.
 * Rows that depend on others at the start are left out.
 *
 * At the drop itself q'' is not determined, and near it (singular value s) an error e of the state
 * is one of e/s in q''. The motion, however, passes smoothly. So the drop is foreseen, on the
 * continuation of the last step by Hermite's polynomial of q, q', q'', and the next steps are chosen
 * such that no evaluation comes near it (hmi_place_step).
 * Verified: test/physics/test_rank_drop.c
 */
#include "integrate/driver.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Steps of the present length to look ahead, and how often the interval is halved. */
enum { AHEAD = 3, HALVINGS = 7 };

hm_status hmi_rank_watch_allocate(hmi_rank_watch *w, hmi_arena *arena, size_t m, size_t n,
                                  size_t size)
{
    w->row = hmi_arena_alloc(arena, m * sizeof *w->row);
    w->now = hmi_arena_alloc(arena, m * n * sizeof(double));
    w->last = hmi_arena_alloc(arena, m * n * sizeof(double));
    w->product = hmi_arena_alloc(arena, m * m * sizeof(double));
    w->tau = hmi_arena_alloc(arena, (m + n) * sizeof(double));
    w->pivots = hmi_arena_alloc(arena, m * sizeof(int));
    w->motion[0] = hmi_arena_alloc(arena, 3 * n * sizeof(double));
    w->motion[1] = hmi_arena_alloc(arena, 3 * n * sizeof(double));
    w->y = hmi_arena_alloc(arena, size * sizeof(double));
    w->m = m;
    w->n = n;
    bool good = w->row && w->now && w->last && w->product && w->tau && w->pivots && w->motion[0] &&
                w->motion[1] && w->y;
    return good ? HM_OK : HM_ERR_NOMEM;
}

hm_status hmi_rank_watch_init(hmi_driver *d)
{
    size_t m = d->projection.velocity.count;
    if (m < 2 || !d->sim->dynamics || d->sim->fast) /* dense algebra: not for large systems */
        return HM_OK;
    d->projection.keep_rows = true;
    return hmi_rank_watch_allocate(&d->rank, &d->arena, m, d->ode.n, d->ode.size);
}

void hmi_rank_watch_forget(hmi_rank_watch *w)
{
    w->known = false;
    w->steps = 0;
}

void hmi_driver_forget_rank(hmi_driver *d)
{
    hmi_rank_watch_forget(&d->rank);
    d->s.singular = INFINITY;
}

/* ---- rows ---- */

static void take_row(const double *row, int n, double *unit)
{
    double length = hmi_norm(n, row);
    for (int j = 0; j < n; j++)
        unit[j] = length > 0 ? row[j] / length : 0;
}

/* Rows of unit length out of all m; rows of zeros stay. */
static void take_rows(const hmi_rank_watch *w, const double *all, double *rows)
{
    for (size_t k = 0; k < w->count; k++)
        take_row(all + w->row[k] * w->n, (int)w->n, rows + k * w->n);
}

/* The same at the sim's state. */
static void find_rows(const hmi_driver *d, double *rows)
{
    size_t n = d->ode.n;
    const size_t *row = d->projection.velocity.row;
    hm_sim_evaluate_fast(d->sim);
    hmi_sim_scatter(d->sim);
    for (size_t k = 0; k < d->rank.count; k++)
        take_row(d->sim->A + row[d->rank.row[k]] * n, (int)n, rows + k * n);
}

/* Those that do not depend on others, at the first state; in their order. */
static void choose_rows(hmi_rank_watch *w, const double *all)
{
    size_t n = w->n, m = w->m;
    for (size_t k = 0; k < m; k++)
        w->row[k] = k;
    w->count = m;
    take_rows(w, all, w->now);
    int most = (int)(m < n ? m : n);
    int rank = hmi_qr((int)n, (int)m, w->now, w->tau, w->pivots, most, 1e-10);
    w->count = 0;
    for (size_t k = 0; k < m; k++)
        for (int i = 0; i < rank; i++)
            if (w->pivots[i] == (int)k)
                w->row[w->count++] = k;
}

/* Negative eigenvalues of the symmetric part; -1 where a row turned too far to say. */
static int count_negative(hmi_rank_watch *w, int n)
{
    int positive, negative, m = (int)w->count;
    for (int i = 0; i < m; i++)
        for (int k = 0; k <= i; k++) {
            const double *a = w->last + (size_t)i * (size_t)n, *b = w->now + (size_t)k * (size_t)n;
            const double *c = w->now + (size_t)i * (size_t)n, *e = w->last + (size_t)k * (size_t)n;
            double s = 0.5 * (hmi_dot(n, a, b) + hmi_dot(n, c, e));
            w->product[(size_t)i * (size_t)m + (size_t)k] = s;
            if (i == k && s < 0.5)
                return -1;
        }
    if (!hmi_ldlt(m, w->product, w->pivots, 1e-12))
        return -1;
    hmi_ldlt_inertia(m, w->product, w->pivots, &positive, &negative);
    return negative;
}

/* The least sine of the angle between a row and those before it; 0 where they depend. */
static double least_angle(hmi_rank_watch *w, int n)
{
    int m = (int)w->count;
    double least = 1;
    for (int i = 0; i < m; i++)
        for (int k = 0; k <= i; k++)
            w->product[(size_t)i * (size_t)m + (size_t)k] = hmi_dot(
                n, w->now + (size_t)i * (size_t)n, w->now + (size_t)k * (size_t)n);
    if (!hmi_cholesky(m, w->product, 0))
        return 0;
    for (int i = 0; i < m; i++)
        least = fmin(least, w->product[(size_t)i * (size_t)m + (size_t)i]);
    return least;
}

/* ---- what comes ---- */

/* The method evaluates f at the new state anyway, at once or in its next step. */
static bool find_rates(hmi_driver *d)
{
    hmi_stepper *s = &d->s;
    if (!s->f_valid)
        s->f_valid = (d->method->carries_work ? hmi_ode_evaluate_all : hmi_ode_evaluate)(
                         &d->ode, s->t, s->y, s->f) == HM_OK;
    return s->f_valid;
}

static void keep_motion(hmi_rank_watch *w, double t, const double *y, const double *qdd)
{
    size_t n = w->n;
    double *swap = w->motion[0];
    w->motion[0] = w->motion[1];
    w->motion[1] = swap;
    w->t[0] = w->t[1];
    w->smallest[0] = w->smallest[1];
    memcpy(swap, y, 2 * n * sizeof *swap);
    memcpy(swap + 2 * n, qdd, n * sizeof *swap);
    w->t[1] = t;
    w->smallest[1] = least_angle(w, (int)n);
    w->steps += w->steps < 2;
}

/* Is it worth a look? The angle falls such that it may be gone soon. */
static bool is_near(const hmi_rank_watch *w)
{
    double h = w->t[1] - w->t[0], fall = w->smallest[0] - w->smallest[1];
    return w->steps == 2 && h > 0 && fall > 0 && w->smallest[1] <= AHEAD * fall;
}

/* q and q' at t[1] + x h by the Hermite polynomial of the last two states (order 6): by differences
 * with nodes t1, t1, t1, t0, t0, t0 in units of h = t1 - t0. */
static void foresee(const hmi_driver *d, double x, double *y)
{
    const hmi_rank_watch *w = &d->rank;
    size_t n = d->ode.n;
    double h = w->t[1] - w->t[0];
    for (size_t i = 0; i < n; i++) {
        double q0 = w->motion[0][i], v0 = h * w->motion[0][n + i];
        double a0 = h * h * w->motion[0][2 * n + i];
        double q1 = w->motion[1][i], v1 = h * w->motion[1][n + i];
        double a1 = h * h * w->motion[1][2 * n + i];
        double d1 = q1 - q0, c1 = v1 - d1, c0 = d1 - v0; /* second differences 110, 100 */
        double b11 = 0.5 * a1 - c1, b10 = c1 - c0, b00 = c0 - 0.5 * a0;
        double e1 = b11 - b10, e0 = b10 - b00, f = e1 - e0; /* fourth, fifth */
        double u = x + 1;
        y[i] = q1 + x * (v1 + x * (0.5 * a1 + x * (b11 + u * (e1 + u * f))));
        y[n + i] = (v1 + x * (a1 + x * (3 * b11 + e1 * (4 * x + 3) + f * u * (5 * x + 3)))) / h;
    }
    memcpy(y + 2 * n, d->s.y + 2 * n, d->ode.states * sizeof *y);
}

/* Has a direction changed its sign by then? Too far to say counts as no. */
static bool is_lost_at(hmi_driver *d, double x)
{
    hmi_rank_watch *w = &d->rank;
    foresee(d, x, w->y);
    hmi_ode_store(&d->ode, w->t[1] + x * (w->t[1] - w->t[0]), w->y);
    find_rows(d, w->now);
    return hmi_all_finite((int)(w->count * d->ode.n), w->now) &&
           count_negative(w, (int)d->ode.n) > 0;
}

/* w->last holds the rows at the present state. */
static double foresee_drop(hmi_driver *d)
{
    const hmi_rank_watch *w = &d->rank;
    double low = 0, high = 0, h = w->t[1] - w->t[0];
    for (int k = 1; k <= 2 * AHEAD && high == 0; k++) { /* the first interval that has it */
        if (is_lost_at(d, 0.5 * k))
            high = 0.5 * k;
        else
            low = 0.5 * k;
    }
    for (int k = 0; k < HALVINGS && high > 0; k++) {
        double x = 0.5 * (low + high);
        if (is_lost_at(d, x))
            high = x;
        else
            low = x;
    }
    hmi_ode_store(&d->ode, d->s.t, d->s.y);
    return high > 0 ? d->s.t + 0.5 * (low + high) * h : INFINITY;
}

bool hmi_rank_watch_rows(hmi_rank_watch *w, const double *all)
{
    if (w->count == 0)
        choose_rows(w, all);
    take_rows(w, all, w->now);
    return w->known && count_negative(w, (int)w->n) > 0;
}

bool hmi_rank_watch_motion(hmi_rank_watch *w, double t, const double *y, const double *qdd)
{
    if (qdd)
        keep_motion(w, t, y, qdd);
    double *swap = w->last;
    w->last = w->now;
    w->now = swap;
    w->known = true;
    return qdd && is_near(w);
}

void hmi_driver_watch_rank(hmi_driver *d)
{
    hmi_rank_watch *w = &d->rank;
    d->s.singular = INFINITY;
    if (!w->now)
        return;
    if (hmi_rank_watch_rows(w, hmi_part_dense_rows(d->projection.velocity.part)))
        hmi_driver_warn(d,
                        "the constraints lost rank for a moment before t = %.6g: the motion was "
                        "continued across",
                        d->s.t);
    bool look = d->method->places_steps && find_rates(d);
    if (hmi_rank_watch_motion(w, d->s.t, d->s.y, look ? d->s.f + d->ode.n : NULL))
        d->s.singular = foresee_drop(d);
}
