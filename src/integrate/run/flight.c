/* Impacts of bodies in free flight, one after the other. flight.h has the idea. */
#include "integrate/run/flight.h"

#include "integrate/run/flight_path.h"

#include <math.h>
#include <string.h>

/* Fewer rows than that are no trouble for steps. */
enum { FEWEST_ROWS = 64, MOST_AT_ONCE = 10000 };
/* Rates below this part of what they are made of graze. */
#define GRAZING 1e-8
/* Gaps below this part of what they are made of touch (hmi_contacts_gap_noise). */
#define TOUCHING 2e-10

/* ---- does it apply? ---- */

static bool is_given(const hmi_graph *g, hmi_expr e)
{
    return e != HMI_NONE && !(hmi_deps(g, e) & ~HMI_DEP(HMI_SYM_PARAM));
}

static bool mass_is_diagonal(const hmi_derived *d)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = d->M.start[i]; k < d->M.start[i + 1]; k++)
            if (d->M.column.data[k] != i || !is_given(&d->graph, d->M.value.data[k]))
                return false;
    return true;
}

static bool forces_are_constant(const hm_system *system)
{
    for (size_t i = 0; i < system->derived.n; i++)
        if (!is_given(&system->derived.graph, system->dynamics_outputs[system->at.Q + i]))
            return false;
    return !system->derived.has_nonideal && !system->derived.force_symbols;
}

static bool rows_are_plain(const hm_system *system)
{
    const hm_model *model = system->model;
    const hmi_graph *g = &system->derived.graph;
    const uint16_t known = HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD);
    for (size_t i = 0; i < model->constraints.count; i++) {
        const hmi_constraint *row = &model->constraints.data[i];
        if (!row->one_sided || row->level != HM_LEVEL_POSITION || row->rheonomic ||
            row->when != HMI_NONE || !is_given(g, row->restitution) ||
            (hmi_deps(g, system->derived.constraints.position_residual[i]) & ~known))
            return false;
    }
    return true;
}

static bool applies(const hmi_events *ev)
{
    const hm_system *system = ev->ode->sim->system;
    const hm_model *model = system->model;
    return ev->contact->contacts && model->constraints.count >= FEWEST_ROWS &&
           ev->switches.events_end == 0 && model->frictions.count == 0 &&
           model->servos.count == 0 && model->states.count == 0 && rows_are_plain(system) &&
           mass_is_diagonal(&system->derived) && forces_are_constant(system);
}

/* ---- memory ---- */

static hm_status allocate(hmi_flight *f, hmi_arena *arena)
{
    hmi_flight_window *w = &f->window;
    size_t entries = f->contact->sim->system->derived.constraints.A.column.count;
    double **of_n[] = {&f->t,  &f->q,  &f->v,        &f->a,     &f->mass,
                       &f->x0, &f->x1, &f->gradient, &f->before};
    double **of_m[] = {&f->restitution, &w->not_before, &w->next};
    bool failed = false;
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        *of_n[i] = hmi_arena_doubles(arena, f->n, &failed);
    for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++)
        *of_m[i] = hmi_arena_doubles(arena, f->m, &failed);
    f->function = hmi_arena_alloc(arena, (f->m + 1) * sizeof *f->function);
    w->active = hmi_arena_alloc(arena, (f->m + 1) * sizeof *w->active);
    w->first = hmi_arena_alloc(arena, (f->n + 2) * sizeof *w->first);
    w->of = hmi_arena_alloc(arena, (entries + 1) * sizeof *w->of);
    w->looked = hmi_arena_alloc(arena, (f->m + 1) * sizeof *w->looked);
    f->slot = hmi_arena_alloc(arena, (entries + 1) * sizeof *f->slot);
    bool given = f->slot && f->function && w->active && w->first && w->of && w->looked;
    return failed || !given ? HM_ERR_NOMEM : HM_OK;
}

/* Tapes read ranges of coordinates, of which a row uses few: only these are written. False: one is not read. */
static bool find_slots(hmi_flight *f, size_t row)
{
    const hmi_expr_matrix *A = &f->contact->sim->system->derived.constraints.A;
    const hmi_tape *tape = &f->watch->functions[f->function[row]].tape;
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++) {
        size_t i = A->column.data[k];
        f->slot[k] = SIZE_MAX;
        for (size_t j = tape->param_inputs; j < tape->inputs.count; j++) {
            const hmi_tape_input *in = &tape->inputs.data[j];
            if (in->kind == HMI_SYM_COORD && i >= in->first && i < in->first + in->count)
                f->slot[k] = in->slot + (i - in->first);
        }
        if (f->slot[k] == SIZE_MAX)
            return false;
    }
    return true;
}

hm_status hmi_flight_init(hmi_flight *f, hmi_events *ev, hmi_arena *arena)
{
    const hm_system *system = ev->ode->sim->system;
    *f = (hmi_flight){.contact = ev->contact,
                      .watch = &ev->watch,
                      .n = system->derived.n,
                      .m = system->derived.constraints.count,
                      .first_function = ev->switches.events_end,
                      .possible = applies(ev)};
    if (!f->possible)
        return HM_OK;
    hm_status status = allocate(f, arena);
    for (size_t k = 0; k < ev->contact->count && status == HM_OK; k++) {
        const hmi_contact_function *one = &ev->contact->functions[k];
        if (one->kind == HMI_CONTACT_GAP)
            f->function[one->index] = f->first_function + k;
    }
    for (size_t i = 0; i < f->m && status == HM_OK; i++)
        f->possible = f->possible && find_slots(f, i);
    return status;
}

/* ---- the start ---- */

bool hmi_flight_serves(const hmi_flight *f)
{
    if (!f->possible)
        return false;
    for (size_t i = 0; i < f->m && !f->begun; i++)
        if (f->contact->contacts->holds[i])
            return false;
    return true;
}

/* Masses, accelerations and restitutions as they are now; false where a mass is not positive. */
static bool take_constants(hmi_flight *f, const hmi_point *at)
{
    hm_sim *sim = f->contact->sim;
    const hmi_expr_matrix *M = &sim->system->derived.M;
    hmi_sim_evaluate(sim, at);
    hmi_contacts_read(f->contact->contacts, at);
    memcpy(f->restitution, f->contact->contacts->restitution, f->m * sizeof *f->restitution);
    const double *Q = hmi_sim_dynamics(sim) + sim->system->at.Q, *entry = hmi_sim_mass_entries(sim);
    for (size_t i = 0; i < f->n; i++) {
        f->mass[i] = M->start[i] < M->start[i + 1] ? entry[M->start[i]] : 0;
        f->a[i] = Q[i] / f->mass[i];
        if (!(f->mass[i] > 0) || !isfinite(f->a[i]))
            return false;
    }
    return true;
}

static bool begin(hmi_flight *f, double t, const double *y)
{
    const hmi_point at = {t, y, y + f->n, y + 2 * f->n};
    if (!take_constants(f, &at))
        return false;
    for (size_t i = 0; i < f->n; i++) {
        f->t[i] = t;
        f->q[i] = y[i];
        f->v[i] = y[f->n + i];
    }
    f->now = t;
    f->begun = true;
    f->window.speed = 0;
    f->window.end = t;
    if (f->window.most == 0)
        f->window.most = 3 * f->n + 16;
    return true;
}

static void show(const hmi_flight *f, double t, double *y)
{
    for (size_t i = 0; i < f->n; i++) {
        double dt = t - f->t[i];
        y[i] = f->q[i] + dt * (f->v[i] + 0.5 * dt * f->a[i]);
        y[f->n + i] = f->v[i] + dt * f->a[i];
    }
}

/* ---- an impact ---- */

static const hmi_expr_matrix *pattern_of(const hmi_flight *f)
{
    return &f->contact->sim->system->derived.constraints.A;
}

/* The clocks of the coordinates of a row. */
static void set_clocks(hmi_flight *f, size_t row, double t)
{
    const hmi_expr_matrix *A = pattern_of(f);
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++) {
        size_t i = A->column.data[k];
        double dt = t - f->t[i];
        f->q[i] += dt * (f->v[i] + 0.5 * dt * f->a[i]);
        f->v[i] += dt * f->a[i];
        f->t[i] = t;
    }
}

/* What the impact of one row needs: u = A v, A M^-1 A^T, and what u and the gap are made of. */
typedef struct blow {
    double rate, compliance, speed, size;
} blow;

static blow look_at(hmi_flight *f, size_t row, double t)
{
    const hmi_expr_matrix *A = pattern_of(f);
    blow b = {0, 0, 0, 0};
    set_clocks(f, row, t);
    hmi_flight_gradient(f, row, f->gradient);
    for (size_t k = A->start[row], j = 0; k < A->start[row + 1]; k++, j++) {
        size_t i = A->column.data[k];
        double g = f->gradient[j];
        b.rate += g * f->v[i];
        b.speed += fabs(g * f->v[i]);
        b.size += fabs(g * f->q[i]);
        b.compliance += g * g / f->mass[i];
        f->before[j] = f->v[i];
    }
    return b;
}

/* Newton's impact of one row; the coordinates keep their velocities in f->before. */
static void strike(hmi_flight *f, size_t row, const blow *b)
{
    const hmi_expr_matrix *A = pattern_of(f);
    double impulse = -(1 + f->restitution[row]) * b->rate / b->compliance;
    for (size_t k = A->start[row], j = 0; k < A->start[row + 1]; k++, j++)
        f->v[A->column.data[k]] += f->gradient[j] * impulse / f->mass[A->column.data[k]];
}

static void take_back(hmi_flight *f, size_t row)
{
    const hmi_expr_matrix *A = pattern_of(f);
    for (size_t k = A->start[row], j = 0; k < A->start[row + 1]; k++, j++)
        f->v[A->column.data[k]] = f->before[j];
}

/* Is this one for the general way? */
static bool is_plain(const hmi_flight *f, size_t row, const blow *b)
{
    double e = f->restitution[row];
    return b->compliance > 0 && isfinite(b->rate) && e >= 0 && e <= 1 &&
           -b->rate * fmin(e, 1) > GRAZING * b->speed;
}

/* Looks again at the active rows of the coordinates that were struck; false where another one touches. */
static bool look_again(hmi_flight *f, size_t row, double t, double touching)
{
    const hmi_expr_matrix *A = pattern_of(f);
    hmi_flight_window *w = &f->window;
    f->taken++;
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++) {
        size_t i = A->column.data[k];
        for (size_t j = w->first[i]; j < w->first[i + 1]; j++) {
            size_t other = w->of[j];
            if (w->looked[other] == f->taken) /* by another coordinate of it */
                continue;
            w->looked[other] = f->taken;
            if (!hmi_flight_predict(f, other, t, other == row, touching))
                return false;
        }
    }
    return true;
}

static bool is_too_fast(const hmi_flight *f, size_t row)
{
    const hmi_expr_matrix *A = pattern_of(f);
    bool fast = false;
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++) {
        size_t i = A->column.data[k];
        fast |= fabs(f->v[i]) + fabs(f->a[i]) * HMI_FLIGHT_AHEAD * f->window.length >
                f->window.speed;
    }
    return fast;
}

/* One impact. *left: it is for the general way, and nothing has happened yet. */
static hm_status take_impact(hmi_flight *f, size_t row, bool *left)
{
    hmi_flight_window *w = &f->window;
    double t = w->next[row], e = f->restitution[row];
    const blow b = look_at(f, row, t);
    f->now = t;
    *left = !is_plain(f, row, &b) || hmi_contact_may_accumulate(f->contact, row, t);
    if (*left)
        return HM_OK;
    strike(f, row, &b);
    if (!look_again(f, row, t, TOUCHING * b.size)) {
        take_back(f, row);
        *left = true;
        return HM_OK;
    }
    w->impacts++;
    if (is_too_fast(f, row))
        w->end = t;
    return hmi_contact_note_impact(f->contact, row, t,
                                   0.5 * (1 - e) * (1 + e) * b.rate * b.rate / b.compliance);
}

/* ---- the whole ---- */

static hm_status advance(hmi_flight *f, double until, long *impacts, hmi_flight_end *end)
{
    hmi_flight_window *w = &f->window;
    hm_status status = HM_OK;
    *end = HMI_FLIGHT_ARRIVED;
    while (status == HM_OK && f->now < until) {
        bool left = false;
        if (f->now >= w->end)
            hmi_flight_open_window(f);
        size_t row = hmi_flight_first(f);
        if (row == f->m || w->next[row] > fmin(until, w->end)) {
            f->now = fmin(until, w->end);
            continue;
        }
        status = take_impact(f, row, &left);
        *end = left ? HMI_FLIGHT_LEFT : HMI_FLIGHT_ARRIVED;
        if (left)
            break;
        if (++*impacts == MOST_AT_ONCE) {
            *end = HMI_FLIGHT_PAUSE;
            break;
        }
    }
    return status;
}

hm_status hmi_flight_go(hmi_flight *f, double *t, double *y, double until, long *impacts,
                        hmi_flight_end *end)
{
    *impacts = 0;
    *end = HMI_FLIGHT_LEFT;
    if (!f->begun || f->now != *t) {
        if (!begin(f, *t, y)) {
            f->possible = false;
            return HM_OK;
        }
    }
    hm_status status = advance(f, until, impacts, end);
    *t = f->now;
    show(f, f->now, y);
    f->begun = *end != HMI_FLIGHT_LEFT;
    return status;
}
