/* Rank drops that a step jumps over: see hmi_driver_watch_rank in driver.h.
 *
 * With rows of unit length, A_old A_new^T is near the Gram matrix of either while nothing happens. A
 * direction in which the constraints lose rank and regain it changes its sign on the way, and so
 * does an eigenvalue of the symmetric part. A row that itself turns far in one step proves nothing.
 * Verified: test/physics/test_benchmarks.c (IFToMM A02)
 */
#include "integrate/driver.h"

#include "linalg/linalg.h"

hm_status hmi_rank_watch_init(hmi_driver *d)
{
    size_t m = d->projection.velocity.count, n = d->ode.n;
    hmi_rank_watch *w = &d->rank;
    if (m < 2)
        return HM_OK;
    w->now = hmi_arena_alloc(&d->arena, m * n * sizeof(double));
    w->last = hmi_arena_alloc(&d->arena, m * n * sizeof(double));
    w->product = hmi_arena_alloc(&d->arena, m * m * sizeof(double));
    w->pivots = hmi_arena_alloc(&d->arena, m * sizeof(int));
    return w->now && w->last && w->product && w->pivots ? HM_OK : HM_ERR_NOMEM;
}

/* Rows of unit length; rows of zeros stay. */
static void take_rows(const hmi_level *level, int n, double *rows)
{
    for (size_t k = 0; k < level->count; k++) {
        const double *row = level->A + k * (size_t)n;
        double length = hmi_norm(n, row);
        for (int j = 0; j < n; j++)
            rows[k * (size_t)n + (size_t)j] = length > 0 ? row[j] / length : 0;
    }
}

/* Negative eigenvalues of the symmetric part; -1 where a row turned too far to say. */
static int count_negative(hmi_rank_watch *w, int m, int n)
{
    int positive, negative;
    for (int i = 0; i < m; i++)
        for (int k = 0; k <= i; k++) {
            const double *a = w->last + (size_t)i * (size_t)n, *b = w->now + (size_t)k * (size_t)n;
            const double *c = w->now + (size_t)i * (size_t)n, *e = w->last + (size_t)k * (size_t)n;
            double s = 0.5 * (hmi_dot(n, a, b) + hmi_dot(n, c, e));
            w->product[(size_t)i * (size_t)m + (size_t)k] = s;
            if (i == k && s < 0.5)
                return -1;
        }
    if (!hmi_ldlt(m, w->product, w->pivots, 1e-12)) /* redundant rows */
        return -1;
    hmi_ldlt_inertia(m, w->product, w->pivots, &positive, &negative);
    return negative;
}

void hmi_driver_watch_rank(hmi_driver *d, double t)
{
    hmi_rank_watch *w = &d->rank;
    int m = (int)d->projection.velocity.count, n = (int)d->ode.n;
    if (!w->now)
        return;
    take_rows(&d->projection.velocity, n, w->now);
    if (w->known && count_negative(w, m, n) > 0) {
        w->dropped = true;
        hmi_driver_warn(d,
                        "the constraints lost rank for a moment before t = %.6g: the motion was "
                        "continued across",
                        t);
    }
    double *swap = w->last;
    w->last = w->now;
    w->now = swap;
    w->known = true;
}
