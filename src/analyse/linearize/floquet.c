/* Integrates deviations over a period (floquet.h). */
#include "analyse/linearize/floquet.h"

#include "integrate/rk/sums.h"
#include "linalg/linalg.h"

#include <math.h>

static const double fine = 1e-13, coarse = 1e-11; /* tolerances of the two integrations */
enum { MOST_EVALUATIONS = 400000 };

/* ---- the equations ---- */

/* y is the deviations, one direction after the other, and before them the state where the motion is
 * integrated, too. */
typedef struct flow {
    hmi_floquet *f;
    const hmi_rk_table *table;
    hmi_rk_rows rows;
    hmi_rk_sums *sum;
    size_t lead, size, directions, count; /* count: of y */
    double *y, *next, *K, *error, *scale;
    double *J, *x;
    double tolerance;
    long evaluations;
} flow;

static void deviate(const flow *w, const double *from, double *to)
{
    const hmi_reduction *base = w->f->ref->base;
    size_t n = base->n, width = w->size + 1;
    for (size_t d = 0; d < w->directions; d++, from += w->size, to += w->size) {
        hmi_copy((int)n, from + n, to);
        for (size_t i = 0; i < n + base->states; i++)
            to[n + i] = hmi_dot((int)w->size, w->J + i * width, from);
    }
}

static hm_status evaluate(flow *w, double s, const double *y, double *rate)
{
    hmi_reference *ref = w->f->ref;
    hm_sim *sim = ref->base->sim;
    size_t n = ref->base->n;
    hm_status status = HM_OK;
    if (w->lead)
        hmi_copy((int)w->size, y, w->x);
    else
        status = hmi_reference_state(ref, s, w->x);
    const hmi_point at = {ref->base->at.t + s, w->x, w->x + n, w->x + 2 * n};
    if (status == HM_OK)
        status = hmi_sim_jacobian(sim, &at, NULL, w->J);
    if (status != HM_OK)
        return status;
    if (w->lead) {
        hmi_copy((int)n, at.v, rate);
        hmi_copy((int)n, sim->last.qdd, rate + n);
        hmi_copy((int)ref->base->states, hmi_sim_state_rates(sim), rate + 2 * n);
    }
    deviate(w, y + w->lead, rate + w->lead);
    return ++w->evaluations > MOST_EVALUATIONS ? HM_ERR_LIMIT : HM_OK;
}

/* ---- steps ---- */

/* Entries count relative to themselves and to the largest of their direction. */
static void find_scale(flow *w)
{
    for (size_t first = 0; first < w->count; first += w->size) {
        double largest = hmi_max_abs((int)w->size, w->y + first);
        for (size_t i = first; i < first + w->size; i++)
            w->scale[i] = w->tolerance * (fabs(w->y[i]) + largest + 1e-300);
    }
}

static double scaled_square(const flow *w)
{
    double sum = 0;
    for (size_t i = 0; i < w->count; i++)
        sum += w->error[i] / w->scale[i] * (w->error[i] / w->scale[i]);
    return sum / (double)w->count;
}

/* The error of the step relative to the tolerance, as in rk.h. */
static double step_error(flow *w, double h)
{
    double square[2] = {0, 0};
    for (int k = 0; k < w->table->errors; k++) {
        w->sum(&w->rows.estimate[k], w->K, w->count, NULL, h, w->error);
        square[k] = scaled_square(w);
    }
    double both = square[0] + 0.01 * square[1];
    return both > 0 ? square[0] / sqrt(both) : 0;
}

/* One step tried; K[0] is f at its beginning. */
static hm_status try_step(flow *w, double s, double h, double *error)
{
    const hmi_rk_table *table = w->table;
    hm_status status = HM_OK;
    for (int i = 1; i < table->stages && status == HM_OK; i++) {
        w->sum(&w->rows.A[i], w->K, w->count, w->y, h, w->next);
        status = evaluate(w, s + table->c[i] * h, w->next, w->K + (size_t)i * w->count);
    }
    if (status != HM_OK)
        return status;
    w->sum(&w->rows.b, w->K, w->count, w->y, h, w->next);
    *error = step_error(w, h);
    return HM_OK;
}

static hm_status accept(flow *w, double s)
{
    hmi_reduction *probe = &w->f->ref->probe;
    hmi_copy((int)w->count, w->next, w->y);
    if (!w->lead || !probe->m)
        return HM_OK;
    return hmi_reduction_restore(probe, w->f->ref->base->at.t + s, w->y);
}

static hm_status integrate(flow *w)
{
    double T = w->f->period, h = T / 50, s = 0, error = 0;
    hm_status status = evaluate(w, 0, w->y, w->K);
    while (s < T && status == HM_OK) {
        bool last = h >= T - s;
        double step = last ? T - s : h;
        find_scale(w);
        status = try_step(w, s, step, &error);
        if (status == HM_ERR_NOMEM || status == HM_ERR_LIMIT)
            return status;
        bool tiny = step <= 1e-14 * T;
        if (status != HM_OK && !tiny) { /* no derivative on the way: shorter */
            h = step / 4;
            status = HM_OK;
            continue;
        }
        double factor = error > 0 ? 0.9 * pow(error, -1.0 / 8) : 5;
        h = step * fmin(5, fmax(0.2, factor));
        if (status == HM_OK && (error <= 1 || tiny)) {
            s = last ? T : s + step;
            status = accept(w, s);
            if (status == HM_OK)
                status = evaluate(w, s, w->y, w->K);
            h = fmax(h, 4e-15 * T);
        }
    }
    return status;
}

/* ---- the matrix ---- */

static bool take_memory(flow *w, hmi_arena *arena)
{
    bool failed = false;
    const hmi_reduction *base = w->f->ref->base;
    w->y = hmi_arena_doubles(arena, w->count, &failed);
    w->next = hmi_arena_doubles(arena, w->count, &failed);
    w->error = hmi_arena_doubles(arena, w->count, &failed);
    w->scale = hmi_arena_doubles(arena, w->count, &failed);
    w->K = hmi_arena_doubles(arena, w->count * ((size_t)w->table->stages + 1), &failed);
    w->J = hmi_arena_doubles(arena, (base->n + base->states) * (w->size + 1), &failed);
    w->x = hmi_arena_doubles(arena, w->size, &failed);
    return !failed;
}

static hm_status run_once(flow *w, double tolerance, double *Phi)
{
    hmi_floquet *f = w->f;
    const hmi_reduction *base = f->ref->base;
    w->tolerance = tolerance;
    w->evaluations = 0;
    hmi_copy((int)w->lead, base->x, w->y);
    for (size_t j = 0; j < w->directions; j++)
        hmi_reduction_direction(base, j, w->y + w->lead + j * w->size);
    hm_status status = integrate(w);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < f->size; i++)
        for (size_t j = 0; j < f->size; j++)
            Phi[i * f->size + j] = w->y[w->lead + j * w->size + base->independent[i]];
    if (w->lead)
        hmi_copy((int)w->size, w->y, f->x_end);
    return HM_OK;
}

static void find_closure(hmi_floquet *f)
{
    const hmi_reduction *base = f->ref->base;
    f->closure = 0;
    for (size_t k = 0; k < f->ref->kept->count && !f->at_rest; k++) {
        size_t i = base->independent[f->ref->kept->index[k]];
        f->closure = fmax(f->closure, fabs(f->x_end[i] - base->x[i]));
    }
}

hm_status hmi_floquet_init(hmi_floquet *f, hmi_arena *arena, hmi_reference *ref)
{
    bool failed = false;
    size_t d = ref->base->dimension;
    *f = (hmi_floquet){.ref = ref, .size = d};
    f->Phi = hmi_arena_doubles(arena, d * d, &failed);
    f->error = hmi_arena_doubles(arena, d * d, &failed);
    f->x_end = hmi_arena_doubles(arena, ref->base->size, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_floquet_compute(hmi_floquet *f)
{
    size_t size = f->ref->base->size, lead = f->at_rest ? 0 : size;
    flow w = {.f = f, .table = hmi_method_dop853.table, .sum = hmi_rk_sums_here()};
    hmi_arena arena;
    w.lead = lead;
    w.size = size;
    w.directions = f->size;
    w.count = lead + size * f->size;
    hmi_rk_collect(w.table, &w.rows);
    hmi_arena_init(&arena, f->ref->probe.arena.allocator);
    hm_status status = take_memory(&w, &arena) ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK && w.count > 0) {
        status = run_once(&w, coarse, f->error);
        if (status == HM_OK)
            status = run_once(&w, fine, f->Phi);
        for (size_t i = 0; i < f->size * f->size; i++)
            f->error[i] = 2 * fabs(f->error[i] - f->Phi[i]);
        find_closure(f);
    }
    hmi_arena_release(&arena);
    return status;
}

hm_status hmi_floquet_kept(const hmi_floquet *f, double *Phi, double *error)
{
    const hmi_kept *kept = f->ref->kept;
    size_t d = f->size, count = kept->count;
    for (size_t i = 0; i < count; i++) {
        const double *row = f->Phi + kept->index[i] * d;
        double outside = hmi_max_abs((int)d, row);
        for (size_t j = 0; j < count; j++) {
            Phi[i * count + j] = row[kept->index[j]];
            error[i * count + j] = f->error[kept->index[i] * d + kept->index[j]];
        }
        for (size_t j = 0, k = 0; j < d; j++) {
            bool inside = k < count && kept->index[k] == j;
            k += inside;
            if (!inside && fabs(row[j]) > 1e-8 * outside)
                return HM_ERR_NUMERIC;
        }
    }
    return HM_OK;
}
