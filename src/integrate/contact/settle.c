/* Contacts are settled: impacts, and which rows hold afterwards. */
#include "integrate/contact/contact_run.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

hm_status hmi_contact_run_init(hmi_contact_run *r, hmi_projection *projection, hmi_stepper *stepper,
                               hmi_ledger *ledger, hmi_messages *messages, hmi_arena *arena)
{
    hm_sim *sim = projection->ode->sim;
    bool failed = false;
    *r = (hmi_contact_run){.contacts = sim->contacts,
                           .sim = sim,
                           .projection = projection,
                           .stepper = stepper,
                           .ledger = ledger,
                           .messages = messages,
                           .arena = arena};
    if (!r->contacts)
        return HM_OK;
    r->before = hmi_arena_doubles(arena, r->contacts->n, &failed);
    r->v = hmi_arena_doubles(arena, r->contacts->n, &failed);
    r->let_go = hmi_arena_alloc(arena, r->contacts->m + 1);
    r->was_in_force = hmi_arena_alloc(arena, r->contacts->m + 1);
    r->stuck = hmi_arena_alloc(arena, r->contacts->frictions + 1);
    r->times.last = hmi_arena_alloc(arena, (r->contacts->m + 1) * sizeof *r->times.last);
    if (failed || !r->let_go || !r->was_in_force || !r->stuck || !r->times.last)
        return HM_ERR_NOMEM;
    return hmi_contact_list_functions(r);
}

void hmi_contact_forget(hmi_contact_run *r)
{
    hmi_contacts *c = r->contacts;
    for (size_t k = 0; k < r->count; k++) {
        hmi_contact_function *f = &r->functions[k];
        f->side = f->kind == HMI_CONTACT_CONDITION ? 0 : 1;
        f->largest = f->fastest = 0;
    }
    for (size_t j = 0; j < c->frictions; j++)
        c->presses[j] = 1;
    hmi_contacts_forget_sizes(c);
    memset(r->fired, 0, r->count);
    memset(r->times.last, 0, c->m * sizeof *r->times.last);
    memset(r->stuck, 0, c->frictions);
    memset(r->was_in_force, 1, c->m); /* as made consistent */
    r->impacts.count = r->accumulations.count = r->impacts_dropped = r->times.count = 0;
    r->by_impacts = r->force_scale = 0;
    r->quick_t = r->stepper->t;
    r->quick = 0;
}

void hmi_contact_run_release(hmi_contact_run *r)
{
    if (!r->contacts)
        return;
    hmi_array_release(r->arena->allocator, &r->impacts);
    hmi_array_release(r->arena->allocator, &r->accumulations);
}

static const hmi_constraint *constraint_of(const hmi_contact_run *r, size_t row)
{
    return &r->sim->system->model->constraints.data[row];
}

/* ---- failures ---- */

static hm_status fail(hmi_contact_run *r, hm_status status, bool impact)
{
    const hmi_contacts *c = r->contacts;
    const char *names = hmi_contacts_names(c);
    double t = r->stepper->t;
    if (c->trouble)
        hmi_messages_fail(r->messages, "stopped at t = %.12g: %s (%s)", t, c->trouble, names);
    else if (c->solutions == 0)
        hmi_messages_fail(r->messages,
                          "stopped at t = %.12g: no %s of the contacts %s satisfy their laws (0 "
                          "solutions)",
                          t, impact ? "impulses" : "forces", names);
    else if (c->solutions > 1)
        hmi_messages_fail(r->messages,
                          "stopped at t = %.12g: the laws of the contacts %s allow several motions "
                          "(at least 2 solutions)",
                          t, names);
    else
        hmi_messages_fail(r->messages, "stopped at t = %.12g, in contact: %s", t,
                          hm_status_text(status));
    return status == HM_OK ? HM_ERR_UNDETERMINED : status;
}

/* A row whose condition became true: its position must fit. */
static hm_status check_positions(hmi_contact_run *r, const hmi_point *at)
{
    const hmi_contacts *c = r->contacts;
    for (size_t i = 0; i < c->m; i++) {
        const hmi_constraint *row = constraint_of(r, i);
        double off = c->gap[i], allowed = 1e3 * hmi_contacts_gap_noise(c, i, at);
        if (row->when == HMI_NONE || !c->in_force[i] || r->was_in_force[i] ||
            row->level != HM_LEVEL_POSITION)
            continue;
        if (row->one_sided ? off >= -allowed : fabs(off) <= allowed)
            continue;
        hmi_messages_fail(
            r->messages,
            "stopped at t = %.12g: constraint '%s' begins to hold, but its position is "
            "off by %.6g",
            at->t, row->name, off);
        return HM_ERR_INCONSISTENT;
    }
    return HM_OK;
}

/* ---- impacts ---- */

/* Would the row be violated from now on? */
static bool is_struck(const hmi_contact_run *r, size_t i, const hmi_point *at)
{
    const hmi_contacts *c = r->contacts;
    const hmi_constraint *row = constraint_of(r, i);
    double noise = hmi_contacts_rate_noise(c, i, at);
    if (!c->in_force[i] || row->level == HM_LEVEL_ACCELERATION)
        return false;
    if (!row->one_sided)
        return row->when != HMI_NONE && !r->was_in_force[i] && fabs(c->rate[i]) > noise;
    return (row->level == HM_LEVEL_VELOCITY || c->closed[i]) && c->rate[i] < -noise;
}

static bool is_impact(const hmi_contact_run *r, const hmi_point *at)
{
    for (size_t i = 0; i < r->contacts->m; i++)
        if (is_struck(r, i, at))
            return true;
    return false;
}

/* Position rows that touch take part, whether they approach or not. */
static void close_touching(hmi_contact_run *r, const hmi_point *at)
{
    hmi_contacts *c = r->contacts;
    for (size_t i = 0; i < c->m; i++) {
        const hmi_constraint *row = constraint_of(r, i);
        c->closed[i] = c->in_force[i] && (!row->one_sided || row->level == HM_LEVEL_VELOCITY ||
                                          c->gap[i] <= hmi_contacts_gap_noise(c, i, at));
    }
}

/* Names of the rows that took an impulse, or (impulses NULL) of those that hold. */
static const char *const *name_rows(hmi_contact_run *r, const double *impulse, size_t *count)
{
    const hmi_contacts *c = r->contacts;
    double largest = impulse ? hmi_max_abs((int)c->m, impulse) : 0;
    const char **list = hmi_arena_alloc(r->arena, (c->m < 16 ? c->m + 1 : 16) * sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < c->m && *count < 15; i++) {
        const hmi_constraint *row = constraint_of(r, i);
        bool begins = row->when != HMI_NONE && !row->one_sided && c->in_force[i] &&
                      !r->was_in_force[i];
        if (impulse ? fabs(impulse[i]) > 1e-12 * largest || begins : row->one_sided && c->holds[i])
            list[(*count)++] = row->name;
    }
    return list;
}

static hm_status note(hmi_contact_run *r, bool accumulation, double t, double lost)
{
    size_t count;
    if (!accumulation && r->impacts.count >= HMI_MOST_IMPACTS) {
        r->impacts_dropped++;
        return HM_OK;
    }
    const char *const *names = name_rows(r, accumulation ? NULL : r->contacts->impulse, &count);
    const hm_run_impact one = {t, names, count, lost + 0.0}; /* -0 is 0 */
    const hm_allocator *allocator = r->arena->allocator;
    bool good = names && (accumulation ? hmi_array_push(allocator, &r->accumulations, one)
                                       : hmi_array_push(allocator, &r->impacts, one));
    return good ? HM_OK : HM_ERR_NOMEM;
}

hm_status hmi_contact_note_impact(hmi_contact_run *r, size_t row, double t, double lost)
{
    const hm_run_impact one = {t, &r->sim->system->model->constraints.data[row].name, 1, lost};
    hmi_contact_note_time(r, row, t);
    r->by_impacts -= lost;
    if (r->impacts.count < HMI_MOST_IMPACTS)
        return hmi_array_push(r->arena->allocator, &r->impacts, one) ? HM_OK : HM_ERR_NOMEM;
    r->impacts_dropped++;
    return HM_OK;
}

static void warn_gain(hmi_contact_run *r, double t, double gained)
{
    hmi_messages_warn(
        r->messages,
        "the impact at t = %.9g of %s raises the energy by %.6g: Newton's restitution "
        "with friction can do that",
        t, hmi_contacts_names(r->contacts), gained);
}

/* Are the rows no faster than by a fall through what of gaps is noise? */
static bool is_faint(const hmi_contact_run *r, const hmi_point *at)
{
    const hmi_contacts *c = r->contacts;
    for (size_t i = 0; i < c->m; i++)
        if (is_struck(r, i, at) &&
            (constraint_of(r, i)->level != HM_LEVEL_POSITION ||
             -c->rate[i] > 3 * hmi_contacts_fall(c, i, hmi_contact_gap_slack(r, i, at))))
            return false;
    return true;
}

/* Velocities after the impact, in the stepper's state. */
static hm_status strike(hmi_contact_run *r)
{
    hmi_contacts *c = r->contacts;
    hmi_stepper *s = r->stepper;
    const hmi_point at = hmi_stepper_point(s);
    double before = hmi_ledger_total(r->ledger, r->sim, &at);
    hmi_sim_evaluate(r->sim, &at);
    hmi_contacts_read(c, &at);
    close_touching(r, &at);
    r->times.faint = is_faint(r, &at);
    hm_status status = hmi_contacts_impact(c, &at, r->v);
    if (status != HM_OK)
        return fail(r, status, true);
    memcpy(s->y + c->n, r->v, c->n * sizeof *r->v);
    double gained = hmi_ledger_total(r->ledger, r->sim, &at) - before;
    if (gained > 1e-9 * fabs(before) && c->frictions)
        warn_gain(r, at.t, gained);
    r->by_impacts += gained;
    return note(r, false, at.t, -gained);
}

/* ---- the decision ---- */

static void use_rows(hmi_contact_run *r)
{
    const bool *rows = r->contacts->left_out;
    if (r->projection->position.count)
        hmi_subproblem_leave_out(r->projection->position.subproblem, rows);
    if (r->projection->velocity.count)
        hmi_subproblem_leave_out(r->projection->velocity.subproblem, rows);
}

/* One-sided rows hold no more, until contacts are settled: velocities that events set may strike them. */
void hmi_contact_release(hmi_contact_run *r)
{
    hmi_contacts *c = r->contacts;
    for (size_t i = 0; i < c->m; i++)
        c->holds[i] = c->holds[i] && !constraint_of(r, i)->one_sided;
    hmi_contacts_apply(c);
    use_rows(r);
}

const char *hmi_contact_close_violated(hmi_contact_run *r)
{
    hmi_contacts *c = r->contacts;
    const char *name = NULL;
    const hmi_point at = hmi_stepper_point(r->stepper);
    hmi_sim_evaluate(r->sim, &at);
    hmi_contacts_read(c, &at);
    for (size_t i = 0; i < c->m; i++) {
        const hmi_constraint *row = constraint_of(r, i);
        if (!row->one_sided || row->level != HM_LEVEL_POSITION || !c->in_force[i] || c->holds[i] ||
            c->gap[i] >= -hmi_contacts_gap_noise(c, i, &at))
            continue;
        c->holds[i] = true;
        name = row->name;
    }
    hmi_contacts_apply(c);
    use_rows(r);
    return name;
}

/* Where U changes its sign it is zero; in the plane it may only have turned. */
static bool is_at_rest(const hmi_contact_run *r, size_t j, const hmi_point *at)
{
    const hmi_contacts *c = r->contacts;
    const hmi_friction *f = &r->sim->system->model->frictions.data[j];
    double size = 0;
    for (size_t k = f->first; k < f->first + f->count; k++)
        for (size_t i = 0; i < c->n; i++)
            size += fabs(c->D[k * c->n + i] * at->v[i]);
    return f->count == 1 || hmi_norm((int)f->count, c->sliding + f->first) <= 1e-7 * size;
}

/* Rows that touch and do not part are closed; of frictions those that do not slide may stick. */
static hm_status decide(hmi_contact_run *r)
{
    hmi_contacts *c = r->contacts;
    const hmi_point at = hmi_stepper_point(r->stepper);
    hmi_sim_evaluate(r->sim, &at);
    hmi_contacts_read(c, &at);
    close_touching(r, &at);
    for (size_t i = 0; i < c->m; i++)
        if (constraint_of(r, i)->one_sided && c->rate[i] > hmi_contacts_rate_noise(c, i, &at))
            c->closed[i] = false;
    hmi_contacts_classify_frictions(c, &at);
    for (size_t k = 0; k < r->count; k++)
        if (r->fired[k] && r->functions[k].kind == HMI_CONTACT_SLIDE &&
            is_at_rest(r, r->functions[k].index, &at))
            c->mode[r->functions[k].index] = HMI_FRICTION_STICK; /* it may */
    hm_status status = hmi_contacts_decide(c, &at, r->let_go);
    use_rows(r);
    if (status != HM_OK)
        return fail(r, status, false);
    for (size_t j = 0; j < c->frictions; j++)
        if (c->holds[r->sim->system->model->frictions.data[j].row])
            r->stuck[j] = c->mode[j] == HMI_FRICTION_STICK;
    hmi_contact_rest(r, r->stepper->t, r->stepper->y);
    return HM_OK;
}

/* Many actions in no time: contacts that open and close without end. */
static hm_status check_pace(hmi_contact_run *r)
{
    double t = r->stepper->t;
    if (t - r->quick_t > 1e-9 * fmax(isfinite(r->span) ? r->span : 0, fabs(t))) {
        r->quick_t = t;
        r->quick = 0;
    }
    if (++r->quick < 2000)
        return HM_OK;
    hmi_messages_fail(r->messages,
                      "stopped at t = %.12g: the contacts %s open and close without end", t,
                      hmi_contacts_names(r->contacts));
    return HM_ERR_NUMERIC;
}

static void list_let_go(hmi_contact_run *r)
{
    memset(r->let_go, 0, r->contacts->m);
    for (size_t k = 0; k < r->count; k++)
        if (r->fired[k] && r->functions[k].kind == HMI_CONTACT_FORCE)
            r->let_go[r->functions[k].index] = true;
}

/* Frictions that stuck whenever their rows were closed are at rest in the limit, too. */
static void stop_sliding(hmi_contact_run *r)
{
    hmi_contacts *c = r->contacts;
    for (size_t j = 0; j < c->frictions; j++) {
        size_t row = r->sim->system->model->frictions.data[j].row;
        c->mode[j] = c->holds[row] && r->stuck[j] ? HMI_FRICTION_STICK : HMI_FRICTION_OPEN;
    }
    hmi_contact_rest(r, r->stepper->t, r->stepper->y);
}

/* The limit of an accumulation: the rows that were struck in turn touch and stay. What is left of the
 * bounces is within the error of the limit. */
static hm_status come_to_rest(hmi_contact_run *r, size_t period, double limit)
{
    hmi_contacts *c = r->contacts;
    hmi_stepper *s = r->stepper;
    const hmi_point at = hmi_stepper_point(s);
    double before = hmi_ledger_total(r->ledger, r->sim, &at);
    for (size_t i = 0; i < c->m; i++)
        if (constraint_of(r, i)->one_sided && r->times.last[i] + period > r->times.count)
            c->holds[i] = true;
    hmi_contacts_apply(c);
    use_rows(r);
    hm_status status = hmi_project(r->projection, s->t, s->y);
    stop_sliding(r);
    double gained = hmi_ledger_total(r->ledger, r->sim, &at) - before;
    r->by_impacts += gained;
    if (status == HM_OK)
        status = note(r, false, at.t, -gained);
    if (status == HM_OK)
        status = note(r, true, limit, 0);
    r->times.count = 0;
    memset(r->times.last, 0, c->m * sizeof *r->times.last);
    return status;
}

static hm_status strike_and_rest(hmi_contact_run *r)
{
    double limit;
    hm_status status = strike(r);
    size_t period = status == HM_OK ? hmi_contact_accumulates(r, r->stepper->t, &limit) : 0;
    if (!period)
        return status;
    status = come_to_rest(r, period, limit);
    return status == HM_OK || status == HM_ERR_NOMEM ? status : fail(r, status, true);
}

hm_status hmi_contact_settle(hmi_contact_run *r, bool *jumped)
{
    hmi_contacts *c = r->contacts;
    hmi_point at = hmi_stepper_point(r->stepper);
    hm_status status = check_pace(r);
    list_let_go(r);
    hmi_contacts_measure(c, &at, r->stepper->t - r->stepper->t_old);
    hmi_sim_evaluate(r->sim, &at);
    hmi_contacts_read(c, &at);
    if (status == HM_OK)
        status = check_positions(r, &at);
    if (status != HM_OK)
        return status;
    close_touching(r, &at);
    *jumped = is_impact(r, &at);
    if (*jumped)
        status = strike_and_rest(r);
    if (status == HM_OK)
        status = decide(r);
    memcpy(r->was_in_force, c->in_force, c->m);
    at = hmi_stepper_point(r->stepper);
    hmi_contact_watch(r, &at);
    return status;
}

void hmi_contact_turn(hmi_contact_run *r)
{
    hmi_contacts *c = r->contacts;
    const hmi_point at = hmi_stepper_point(r->stepper);
    bool read = false;
    hmi_contacts_measure(c, &at, r->stepper->t - r->stepper->t_old);
    for (size_t j = 0; j < c->frictions; j++) {
        const hmi_friction *f = &r->sim->system->model->frictions.data[j];
        if (f->count < 2 || c->mode[j] != HMI_FRICTION_SLIP)
            continue;
        if (!read)
            hmi_contacts_read(c, &at);
        read = true;
        double size = hmi_norm(2, c->sliding + f->first);
        if (is_at_rest(r, j, &at) || !(size > 0))
            continue; /* it has just started: the direction is that of the start */
        c->slip[2 * j] = c->sliding[f->first] / size;
        c->slip[2 * j + 1] = c->sliding[f->first + 1] / size;
    }
}

void hmi_contact_rest(hmi_contact_run *r, double t, double *y)
{
    const hmi_point at = hmi_ode_point(r->projection->ode, t, y);
    bool sticks = false;
    for (size_t j = 0; j < r->contacts->frictions; j++)
        sticks |= r->contacts->mode[j] == HMI_FRICTION_STICK;
    if (!sticks)
        return;
    hmi_sim_evaluate(r->sim, &at);
    hmi_contacts_rest(r->contacts, &at, y + r->contacts->n);
}
