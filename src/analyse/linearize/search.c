/* Finds the state that was asked for, near the given one (job.h).
 *
 * There may be steady motions of both kinds near a state: variables that do not enter may move
 * (equilibrium.h), or all move along a symmetry (relative_equilibrium.h). Both are searched for, and
 * the nearer one is taken, where coordinates and velocities are compared by energy,
 *     d^2 = sum M_ii (dv_i^2 + w^2 dq_i^2),   w^2 = the largest d(q'')/dq at the given state.
 * A rest that is far away is not what somebody means who gives a nearly conical motion. The first kind,
 * which moves less of the state, has the preference unless the other is half as far.
 * Verified: test/physics/test_relative.c
 */
#include "analyse/linearize/job.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* ---- what is held ---- */

static hm_status mark_held(hmi_job *j)
{
    const hm_linearize_options *o = j->options;
    bool *held = hmi_arena_alloc(&j->r.arena, j->r.size + 1);
    if (!held)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < o->hold_count; i++) {
        bool found = false;
        for (size_t k = 0; k < j->r.size; k++) {
            const char *name = hmi_reduction_name(j->sim, k);
            if (!name)
                return HM_ERR_NOMEM;
            if (strcmp(name, o->hold[i]) == 0)
                held[k] = found = true;
        }
        if (!found) {
            hmi_error(j->sim->context, hmi_no_span,
                      "names are those of coordinates (x), velocities (x') and states",
                      "there is no '%s' to hold", o->hold[i]);
            return HM_ERR_USAGE;
        }
    }
    j->r.held = held;
    return HM_OK;
}

/* ---- how far ---- */

/* The weights of the metric at the state of r: of the squares of all variables. */
static void find_weights(const hmi_reduction *r, double *weight)
{
    double fastest = 0;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->n; k++)
            fastest = fmax(fastest, fabs(r->J[i * (r->size + 1) + k]) * r->unit[i] / r->unit[k]);
    for (size_t i = 0; i < r->n; i++) {
        weight[r->n + i] = r->unit[i] * r->unit[i];
        weight[i] = weight[r->n + i] * (fastest > 0 ? fastest : 1);
    }
    for (size_t k = 2 * r->n; k < r->size; k++)
        weight[k] = 1 / (1 + r->x[k] * r->x[k]);
}

static double distance(size_t size, const double *weight, const double *a, const double *b)
{
    double sum = 0;
    for (size_t k = 0; k < size; k++)
        sum += weight[k] * (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

/* ---- steady motions ---- */

/* From the state where the search began. */
static hm_status search_relative(hmi_job *j, double *x)
{
    hm_status status = hmi_reduction_update(&j->r, j->t, x);
    if (status == HM_OK)
        status = hmi_relative_equilibrium_init(&j->relative, &j->r);
    if (status == HM_OK && j->relative.count == 0)
        status = HM_ERR_NUMERIC;
    if (status == HM_OK)
        status = hmi_relative_equilibrium_find(&j->relative, j->options->tolerance, 60, j->t, x);
    hmi_relative_equilibrium_release(&j->relative);
    return status;
}

/* Both kinds from the start, into `rest` and `along`; the nearer one becomes the state. */
static hm_status search_steady(hmi_job *j, double *rest, double *along, double *weight)
{
    size_t size = j->r.size;
    hm_status given = hmi_reduction_update(&j->r, j->t, j->x);
    if (given == HM_OK)
        find_weights(&j->r, weight);
    hm_status first = hmi_find_rest(&j->r, &j->kept, &j->search, j->t, rest);
    double rate = first == HM_ERR_NUMERIC ? hmi_kept_rate(&j->r, &j->kept) : 0;
    hm_status second = first == HM_ERR_NOMEM ? first : search_relative(j, along);
    if (first == HM_ERR_NOMEM || second == HM_ERR_NOMEM)
        return HM_ERR_NOMEM;
    bool nearer = first != HM_OK ||
                  (given == HM_OK &&
                   distance(size, weight, along, j->x) < 0.5 * distance(size, weight, rest, j->x));
    bool take_second = second == HM_OK && nearer;
    hmi_copy((int)size, take_second ? along : rest, j->x);
    if (take_second || first == HM_OK)
        return hmi_reduction_update(&j->r, j->t, j->x);
    j->out->face.residual = rate;
    return first;
}

/* ---- periodic motions ---- */

typedef struct shooting {
    hmi_job *j;
    hmi_arena arena;
    double period, *x, *before, *Phi, *E, *right, *step;
} shooting;

/* Follows the motion from w->x for a period. */
static hm_status shoot(shooting *w, double *miss)
{
    hmi_job *j = w->j;
    hmi_reference_release(&j->reference);
    hm_status status = hmi_reduction_update(&j->r, j->t, w->x);
    if (status != HM_OK)
        return status;
    hmi_choose_kept(&j->r, j->options->ignorable != HM_IGNORABLE_KEEP, &j->kept);
    status = hmi_reference_init(&j->reference, &j->r, &j->kept, INFINITY);
    if (status == HM_OK)
        status = hmi_floquet_init(&j->floquet, &w->arena, &j->reference);
    if (status != HM_OK)
        return status;
    j->floquet.period = w->period;
    status = hmi_floquet_compute(&j->floquet);
    *miss = status == HM_OK ? j->floquet.closure : INFINITY;
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

/* (Phi - 1) step = x(0) - x(T), over the kept variables. */
static hm_status shooting_step(shooting *w)
{
    hmi_job *j = w->j;
    size_t count = j->kept.count;
    if (hmi_floquet_kept(&j->floquet, w->Phi, w->E) != HM_OK)
        return HM_ERR_NUMERIC;
    for (size_t i = 0; i < count; i++) {
        size_t k = j->r.independent[j->kept.index[i]];
        w->right[i] = j->r.x[k] - j->floquet.x_end[k];
        for (size_t l = 0; l < count; l++) /* contiguous columns */
            w->E[l * count + i] = w->Phi[i * count + l] - (i == l);
    }
    return hmi_minimum_norm(j->r.arena.allocator, count, count, w->E, 1e-10, w->right, w->step);
}

static hm_status try_part(shooting *w, double part, double *miss)
{
    hmi_job *j = w->j;
    hmi_copy((int)j->r.size, w->before, w->x);
    for (size_t i = 0; i < j->kept.count; i++)
        w->x[j->r.independent[j->kept.index[i]]] += part * w->step[i];
    hm_status status = hmi_reduction_restore(&j->r, j->t, w->x);
    *miss = INFINITY;
    return status == HM_OK ? shoot(w, miss) : status;
}

static hm_status iterate_shooting(shooting *w)
{
    hmi_job *j = w->j;
    double miss = INFINITY, next = INFINITY;
    hm_status status = shoot(w, &miss);
    for (int k = 0; k < 40 && status == HM_OK && miss > 1e-12; k++, j->search.iterations++) {
        status = shooting_step(w);
        hmi_copy((int)j->r.size, w->x, w->before);
        for (double part = 1; part > 1e-3 && status != HM_ERR_NOMEM; part /= 2) {
            status = try_part(w, part, &next);
            if (status == HM_OK && next < miss)
                break;
        }
        if (!(next < 0.9 * miss)) {
            hmi_copy((int)j->r.size, w->before, w->x);
            break;
        }
        miss = next;
    }
    double size = fmax(1, hmi_max_abs((int)j->r.size, w->x));
    if (status == HM_ERR_NOMEM)
        return status;
    return miss <= j->options->tolerance * size ? HM_OK : HM_ERR_NUMERIC;
}

static bool take_shooting_memory(shooting *w, size_t size)
{
    bool failed = false;
    w->x = hmi_arena_doubles(&w->arena, size, &failed);
    w->before = hmi_arena_doubles(&w->arena, size, &failed);
    w->right = hmi_arena_doubles(&w->arena, size, &failed);
    w->step = hmi_arena_doubles(&w->arena, size, &failed);
    w->Phi = hmi_arena_doubles(&w->arena, size * size, &failed);
    w->E = hmi_arena_doubles(&w->arena, size * size, &failed);
    return !failed;
}

static hm_status search_periodic(hmi_job *j)
{
    shooting w = {.j = j};
    hmi_arena_init(&w.arena, j->r.arena.allocator);
    hm_status status = hmi_reduction_update(&j->r, j->t, j->x);
    if (status == HM_OK)
        status = hmi_period_of_motions(j, &w.period);
    if (status == HM_OK && !(w.period > 0)) {
        hmi_error(j->sim->context, hmi_no_span, "--period T gives it",
                  "no period can be read from the equations");
        status = HM_ERR_USAGE;
    }
    if (status == HM_OK && !take_shooting_memory(&w, j->r.size))
        status = HM_ERR_NOMEM;
    if (status == HM_OK) {
        hmi_copy((int)j->r.size, j->x, w.x);
        status = iterate_shooting(&w);
        hmi_copy((int)j->r.size, w.x, j->x);
    }
    hmi_reference_release(&j->reference);
    j->floquet = (hmi_floquet){0};
    j->no_multipliers = NULL;
    if (status == HM_ERR_NUMERIC)
        hmi_error(j->sim->context, hmi_no_span, "start nearer to it (--at)",
                  "no motion of period %.10g was found near the given state", w.period);
    hmi_arena_release(&w.arena);
    return status == HM_OK ? hmi_reduction_update(&j->r, j->t, j->x) : status;
}

/* ---- the search ---- */

static void report_failure(hmi_job *j, double rate)
{
    const char *what = j->options->steady ? "steady motion" : "equilibrium";
    if (rate <= j->options->tolerance)
        hmi_error(j->sim->context, hmi_no_span, "start nearer to it (--at)",
                  "no %s was found near the given state: the search diverges", what);
    else
        hmi_error(j->sim->context, hmi_no_span, "start nearer to it (--at), or hold fewer values",
                  "no %s was found near the given state: the largest rate stays at %.3g", what,
                  rate);
}

static hm_status search_rest(hmi_job *j)
{
    hm_status status = HM_OK;
    double rate = 0;
    if (j->options->steady) {
        bool failed = false;
        double *memory = hmi_arena_doubles(&j->r.arena, 3 * j->r.size, &failed);
        if (failed)
            return HM_ERR_NOMEM;
        double *along = memory + j->r.size;
        hmi_copy((int)j->r.size, j->x, memory);
        hmi_copy((int)j->r.size, j->x, along);
        status = search_steady(j, memory, along, along + j->r.size);
        rate = j->out->face.residual;
    } else {
        status = hmi_find_rest(&j->r, &j->kept, &j->search, j->t, j->x);
        rate = status == HM_ERR_NUMERIC ? hmi_kept_rate(&j->r, &j->kept) : 0;
    }
    if (status == HM_ERR_NUMERIC)
        report_failure(j, rate);
    return status;
}

hm_status hmi_job_search(hmi_job *j)
{
    j->search.drop = j->options->steady;
    j->search.relax = !j->options->steady;
    j->search.tolerance = j->options->tolerance;
    j->search.most = 200;
    hm_status status = mark_held(j);
    if (status == HM_OK)
        status = j->options->periodic ? search_periodic(j) : search_rest(j);
    j->r.held = NULL;
    return status;
}
