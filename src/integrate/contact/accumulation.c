/* Impacts that come ever faster: a ball that bounces infinitely often in a finite time.
 *
 * The rows that are struck repeat after p impacts (1: one contact; 2: two that alternate), and the
 * periods d_k = t_k - t_(k-p) shrink by a factor that tends to some r < 1. Then the rest of them lasts
 * d r / (1 - r). The accumulation counts as reached when that estimate, which is better the steadier the
 * factor is, is known well within 1e-6 of the time that the impacts took, and is short itself.
 * It is also reached where impacts that repeat are as slow as rounding errors make them: then the periods
 * do not shrink any more.
 */
#include "integrate/contact/contact_run.h"

#include "linalg/dense.h"

#include <math.h>

enum { MOST_PERIOD = 8, FEWEST_PERIODS = 4 };

/* The time of the impact `back` before the last one. */
static double time_back(const hmi_impact_times *x, size_t back)
{
    return x->t[(x->count - 1 - back) % HMI_IMPACTS_KEPT];
}

static bool repeats(const hmi_impact_times *x, size_t p)
{
    for (size_t k = 0; k < 2 * p; k++)
        if (x->rows[(x->count - 1 - k) % HMI_IMPACTS_KEPT] !=
            x->rows[(x->count - 1 - k - p) % HMI_IMPACTS_KEPT])
            return false;
    return true;
}

/* The time that is left, if impacts with period p accumulate; NaN: they do not. *error: of it. */
static double time_left(const hmi_impact_times *x, size_t p, double *error)
{
    double d[FEWEST_PERIODS];
    for (size_t k = 0; k < FEWEST_PERIODS; k++)
        d[k] = time_back(x, k * p) - time_back(x, (k + 1) * p);
    double r = d[0] / d[1], r1 = d[1] / d[2], r2 = d[2] / d[3];
    if (!(r < 1 && r1 < 1 && r2 < 1))
        return NAN;
    double change = fabs(r - r1) + fabs(r1 - r2), left = d[0] * r / (1 - r);
    *error = d[0] * change / ((1 - r) * (1 - r));
    return left;
}

static const uint64_t no_rows = 1469598103934665603u;

static uint64_t add_row(uint64_t hash, size_t row)
{
    return (hash ^ (row + 1)) * 1099511628211u;
}

/* Notes which rows took an impulse, as a hash and by row. */
static uint64_t note_rows(hmi_contact_run *r)
{
    const hmi_contacts *c = r->contacts;
    double largest = hmi_max_abs((int)c->m, c->impulse);
    uint64_t hash = no_rows;
    for (size_t i = 0; i < c->m; i++) {
        if (!(fabs(c->impulse[i]) > 1e-9 * largest))
            continue;
        hash = add_row(hash, i);
        r->times.last[i] = r->times.count + 1;
    }
    return hash;
}

/* Is the rest of impacts with period p over soon? *limit: when. */
static bool is_reached(const hmi_contact_run *r, size_t p, double t, double *limit)
{
    const hmi_impact_times *x = &r->times;
    if (x->faint && x->count > 3 * p) {
        *limit = t;
        return true;
    }
    double error = 0, left = x->count > FEWEST_PERIODS * p ? time_left(x, p, &error) : NAN;
    double scale = fmin(fmax(r->span, 1e-300), fabs(t - r->stepper->t_begin));
    *limit = t + left;
    return left <= 3e-5 * scale && error <= 1e-7 * scale;
}

static void put(hmi_impact_times *x, double t, uint64_t rows)
{
    x->t[x->count % HMI_IMPACTS_KEPT] = t;
    x->rows[x->count++ % HMI_IMPACTS_KEPT] = rows;
}

size_t hmi_contact_accumulates(hmi_contact_run *r, double t, double *limit)
{
    hmi_impact_times *x = &r->times;
    uint64_t rows = note_rows(r);
    if (x->count > 0 && t == time_back(x, 0)) /* the same moment */
        return 0;
    put(x, t, rows);
    for (size_t p = 1; p <= MOST_PERIOD && x->count > 3 * p; p++)
        if (repeats(x, p) && is_reached(r, p, t, limit))
            return p;
    return 0;
}

bool hmi_contact_may_accumulate(hmi_contact_run *r, size_t row, double t)
{
    hmi_impact_times *x = &r->times;
    bool may = false;
    double error;
    put(x, t, add_row(no_rows, row)); /* in the place of the oldest, which nobody reads */
    for (size_t p = 1; p <= MOST_PERIOD && x->count > FEWEST_PERIODS * p && !may; p++)
        may = repeats(x, p) && !isnan(time_left(x, p, &error));
    x->count--;
    return may;
}

void hmi_contact_note_time(hmi_contact_run *r, size_t row, double t)
{
    r->times.last[row] = r->times.count + 1;
    put(&r->times, t, add_row(no_rows, row));
}
