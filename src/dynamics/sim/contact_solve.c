/* Forces of contacts at a point, and velocities after an impact.
 *
 * Two-sided rows without friction, the mass and all forces make up the base problem, which the dense
 * solve answers: a0 = its accelerations, r_k = those by a unit force along a contact direction. In the
 * space of contact directions d_k (rows of A, and of D = dU/dq') that is
 *     W_ik = d_i . r_k,    w0_i = d_i . a0 - b_i
 * which dynamics/contact solves. Forces that depend on constraint forces, and servos, are evaluated with
 * the rows that hold, until these no longer change.
 */
#include "dynamics/sim/contacts.h"

#include "linalg/dense.h"

enum { MOST_ROUNDS = 30 };

/* ---- the problem ---- */

static const hmi_constraint *constraint_of(const hmi_contacts *c, size_t row)
{
    return &c->sim->system->model->constraints.data[row];
}

/* Frictions act while their row is closed. */
static bool is_rubbed(const hmi_contacts *c, size_t row)
{
    const hm_model *model = c->sim->system->model;
    for (size_t j = 0; j < c->frictions; j++)
        if (model->frictions.data[j].row == row)
            return true;
    return false;
}

static const double *direction_row(const hmi_contacts *c, int k)
{
    size_t at = c->direction[k];
    return at < c->m ? c->sim->dense.A + at * c->n : c->D + (at - c->m) * c->n;
}

/* The directions: rows that are `wanted` first. HM_ERR_LIMIT: too many. */
static hm_status list_normals(hmi_contacts *c, const bool *wanted)
{
    c->size = c->items = 0;
    for (size_t i = 0; i < c->m; i++) {
        if (!wanted[i])
            continue;
        if (c->size == HMI_MOST_CLOSED) {
            c->trouble = "too many contacts are closed at once";
            return HM_ERR_LIMIT;
        }
        c->two_sided[c->size] = !constraint_of(c, i)->one_sided;
        c->direction[c->size++] = i;
    }
    c->normals = c->size;
    return HM_OK;
}

static int normal_of(const hmi_contacts *c, size_t row)
{
    for (int k = 0; k < c->normals; k++)
        if (c->direction[k] == row)
            return k;
    return -1;
}

/* The frictions on these normals, as items; impacts: with muk alone, and nothing slides beforehand. */
static void list_frictions(hmi_contacts *c, bool impact)
{
    const hm_model *model = c->sim->system->model;
    for (size_t j = 0; j < c->frictions; j++) {
        const hmi_friction *f = &model->frictions.data[j];
        int normal = normal_of(c, f->row);
        if (normal < 0)
            continue;
        hmi_friction_item *item = &c->item[c->items];
        *item = (hmi_friction_item){.normal = normal,
                                    .first = c->size,
                                    .count = (int)f->count,
                                    .mus = impact ? c->muk[j] : fmax(c->mus[j], c->muk[j]),
                                    .muk = c->muk[j],
                                    .slides = !impact && c->mode[j] == HMI_FRICTION_SLIP,
                                    .direction = {c->slip[2 * j], c->slip[2 * j + 1]}};
        for (size_t k = 0; k < f->count; k++)
            c->direction[c->size++] = c->m + f->first + k;
        c->friction_of[c->items++] = j;
    }
}

/* What the base problem leaves out: rows that do not hold in it. */
static void choose_base(hmi_contacts *c, const bool *in_base)
{
    for (size_t i = 0; i < c->m; i++)
        c->base[i] = !in_base[i] || normal_of(c, i) >= 0;
    hmi_dynamics_leave_out(c->sim->dense.dynamics, c->base);
}

/* b of a direction: d q'' = b is no acceleration along it. */
static double right_side(const hmi_contacts *c, int k)
{
    const hm_system *system = c->sim->system;
    const double *tape = hmi_tape_outputs(&system->contact, c->work);
    size_t at = c->direction[k];
    return at < c->m ? hmi_sim_dynamics(c->sim)[system->at.b + at]
                     : tape[system->contact_at.tangent_b + at - c->m];
}

/* Directions that the base rows block have a compliance of rounding errors, relative to that of the masses
 * alone: zero. */
static void clear_blocked(hmi_contacts *c)
{
    const double *M = c->sim->dense.M;
    for (int k = 0; k < c->size; k++) {
        const double *d = direction_row(c, k);
        double natural = 0;
        for (size_t i = 0; i < c->n; i++)
            natural += M[i * c->n + i] > 0 ? d[i] * d[i] / M[i * c->n + i] : 0;
        if (c->W[hmi_area(k, c->size) + (size_t)k] > 1e-13 * natural)
            continue;
        for (int i = 0; i < c->size; i++)
            c->W[hmi_area(k, c->size) + (size_t)i] = c->W[hmi_area(i, c->size) + (size_t)k] = 0;
    }
}

/* c->free, c->response and W; F: the forces, b: of the base rows. */
static hm_status find_responses(hmi_contacts *c, const double *F, const double *b)
{
    hmi_sim_dense *dense = &c->sim->dense;
    int n = (int)c->n, size = c->size;
    hm_status status = hmi_accelerate(dense->dynamics, dense->M, F, dense->A, b, c->free, NULL);
    for (int k = 0; k < size && status == HM_OK; k++)
        status = hmi_accelerate(dense->dynamics, dense->M, direction_row(c, k), dense->A, c->zero,
                                c->response + hmi_area(k, n), NULL);
    for (int i = 0; i < size && status == HM_OK; i++)
        for (int k = 0; k <= i; k++) {
            double one = hmi_dot(n, direction_row(c, i), c->response + hmi_area(k, n));
            double two = hmi_dot(n, direction_row(c, k), c->response + hmi_area(i, n));
            c->W[hmi_area(i, size) + (size_t)k] = c->W[hmi_area(k, size) + (size_t)i] = 0.5 *
                                                                                        (one + two);
        }
    if (status == HM_OK)
        clear_blocked(c);
    return status;
}

/* c->noise holds the sizes of what w0 is made of: what of it, and of w, is rounding. The largest one
 * counts for all, in units of the inertia that a direction feels. */
static void find_noise(hmi_contacts *c, double part)
{
    double most = 0;
    for (int k = 0; k < c->size; k++) {
        double d = c->W[hmi_area(k, c->size) + (size_t)k];
        if (d > 0)
            most = fmax(most, c->noise[k] / sqrt(d));
    }
    for (int k = 0; k < c->size; k++) {
        double d = c->W[hmi_area(k, c->size) + (size_t)k];
        c->noise[k] = part * c->noise[k] + 0.01 * part * most * sqrt(fmax(d, 0)) + 1e-300;
    }
}

/* How fast things have moved along a direction, at most. */
static double speed_along(const hmi_contacts *c, const double *d)
{
    double speed = 0;
    for (size_t i = 0; i < c->n; i++)
        speed += fabs(d[i]) * c->v_scale[i];
    return speed;
}

/* w0 = d.a0 - b, and what of it is rounding. */
static void find_free_motion(hmi_contacts *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->a_scale[i] = fmax(c->a_scale[i], fabs(c->free[i]));
    for (int k = 0; k < c->size; k++) {
        const double *d = direction_row(c, k);
        double b = right_side(c, k), size = fabs(b);
        c->w0[k] = -b;
        for (size_t i = 0; i < c->n; i++) {
            c->w0[k] += d[i] * c->free[i];
            size += fabs(d[i] * c->free[i]);
        }
        c->noise[k] = size;
        double compliance = c->W[hmi_area(k, c->size) + (size_t)k];
        if (compliance > 0) {
            c->force_size = fmax(c->force_size, size / compliance);
            c->momentum_size = fmax(c->momentum_size, speed_along(c, d) / compliance);
        }
    }
    find_noise(c, 1e-11);
}

static hmi_contact_problem problem_of(const hmi_contacts *c)
{
    return (hmi_contact_problem){.size = c->size,
                                 .normals = c->normals,
                                 .two_sided = c->two_sided,
                                 .W = c->W,
                                 .w0 = c->w0,
                                 .noise = c->noise,
                                 .frictions = c->items,
                                 .friction = c->item};
}

/* ---- forces ---- */

/* c->F := Q + C, and where laws or servos depend on what holds, with these; c->extra is added last. */
static hm_status find_forces(hmi_contacts *c, const hmi_point *at)
{
    hm_sim *sim = c->sim;
    const hm_system *system = sim->system;
    const double *values = hmi_sim_dynamics(sim);
    bool simple = !system->derived.force_symbols && system->model->servos.count == 0;
    hmi_sim_scatter(sim);
    if (simple) {
        for (size_t i = 0; i < c->n; i++)
            c->F[i] = values[system->at.Q + i] + values[system->at.C + i];
        return HM_OK;
    }
    hmi_question ask;
    hmi_solution s;
    const hmi_options options = hmi_options_default();
    hmi_contacts_apply(c);
    hmi_sim_pose(sim, at, &ask);
    hm_status status = hmi_dynamics_solve(sim->dense.dynamics, &ask.equations, &options, &s);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < c->n; i++) {
        c->F[i] = s.Q[i] + s.C[i] - c->extra[i];
        for (size_t k = 0; s.u && k < system->model->servos.count; k++)
            c->F[i] += s.u[k * c->n + i];
    }
    return HM_OK;
}

/* Does F depend on what holds? */
static bool depends_on_rows(const hmi_contacts *c)
{
    const hm_system *system = c->sim->system;
    return system->derived.force_symbols || system->model->servos.count;
}

/* Keeps forces: by row, by tangent, and as a generalized force of friction. */
static void keep_forces(hmi_contacts *c, const double *x, const double *w)
{
    hmi_zero((int)c->m, c->force);
    hmi_zero((int)c->tangents, c->traction);
    hmi_zero((int)c->n, c->extra);
    for (int k = 0; k < c->size; k++) {
        size_t at = c->direction[k];
        if (at < c->m) {
            c->force[at] = x[k];
            c->opening[at] = w[k];
            continue;
        }
        c->traction[at - c->m] = x[k];
        hmi_axpy((int)c->n, x[k], direction_row(c, k), c->extra);
    }
}

/* ---- the decision ---- */

static void keep_modes(hmi_contacts *c, const hmi_contact_answer *a)
{
    for (size_t j = 0; j < c->frictions; j++)
        if (c->mode[j] != HMI_FRICTION_SLIP)
            c->mode[j] = HMI_FRICTION_OPEN;
    for (int j = 0; j < c->items; j++) {
        size_t f = c->friction_of[j];
        c->mode[f] = a->mode[j];
        c->slip[2 * f] = a->slip[2 * j];
        c->slip[2 * f + 1] = a->slip[2 * j + 1];
        c->presses[f] = a->x[c->item[j].normal] < 0 ? -1 : 1;
    }
}

/* Rows that hold from now on; true where these are others than before. */
static bool keep_rows(hmi_contacts *c, const hmi_contact_answer *a, const bool *let_go)
{
    bool changed = false;
    for (size_t i = 0; i < c->m; i++) {
        int k = normal_of(c, i);
        bool holds = k < 0 ? c->closed[i] && !constraint_of(c, i)->one_sided : a->closed[k];
        if (k >= 0 && let_go && let_go[i] && !c->two_sided[k] && a->x[k] <= 0)
            holds = false;
        changed |= holds != c->holds[i];
        c->holds[i] = holds;
    }
    return changed;
}

static const char not_unique[] = "friction depends on forces of contacts that are not unique";

/* One motion, whatever forces are chosen. */
static bool is_settled(hmi_contacts *c, const hmi_contact_answer *answer)
{
    if (answer->solutions == 1 && answer->matters)
        c->trouble = not_unique;
    return answer->solutions == 1 && !answer->matters;
}

/* One round: the problem with c->F, solved and kept. */
static hm_status solve_round(hmi_contacts *c, const hmi_point *at, const bool *let_go,
                             bool *changed)
{
    hmi_contact_answer answer;
    hm_status status = find_forces(c, at);
    if (status != HM_OK)
        return status;
    choose_base(c, c->closed);
    status = find_responses(c, c->F, hmi_sim_dynamics(c->sim) + c->sim->system->at.b);
    if (status != HM_OK)
        return status;
    find_free_motion(c);
    const hmi_contact_problem problem = problem_of(c);
    hmi_contact_solve(c->solver, &problem, &answer);
    c->solutions = answer.solutions;
    if (!is_settled(c, &answer))
        return HM_ERR_UNDETERMINED;
    c->redundant = answer.redundant;
    keep_forces(c, answer.x, answer.w);
    *changed = keep_rows(c, &answer, let_go);
    keep_modes(c, &answer);
    return HM_OK;
}

/* Rows whose forces are searched for: one-sided ones that are closed, and those with friction. */
static hm_status list_problem(hmi_contacts *c, bool impact)
{
    for (size_t i = 0; i < c->m; i++)
        c->holds[i] = c->closed[i] && (constraint_of(c, i)->one_sided || is_rubbed(c, i));
    hm_status status = list_normals(c, c->holds);
    if (status == HM_OK)
        list_frictions(c, impact);
    for (size_t i = 0; i < c->m; i++)
        c->holds[i] = c->closed[i];
    return status;
}

/* 0 <= muk <= mus where friction acts, at the point just read. */
static hm_status check_coefficients(hmi_contacts *c)
{
    const hm_model *model = c->sim->system->model;
    for (size_t j = 0; j < c->frictions; j++) {
        if (!c->closed[model->frictions.data[j].row])
            continue;
        if (!(c->muk[j] >= 0))
            c->trouble = "a coefficient of friction is negative here, or no number";
        else if (!(c->muk[j] <= c->mus[j] * (1 + 1e-12)))
            c->trouble = "friction of sliding is larger than that of sticking here";
        else
            continue;
        return HM_ERR_UNDETERMINED;
    }
    return HM_OK;
}

hm_status hmi_contacts_decide(hmi_contacts *c, const hmi_point *at, const bool *let_go)
{
    bool changed = true;
    c->trouble = NULL;
    c->solutions = 1;
    hmi_zero((int)c->n, c->extra);
    hm_status status = check_coefficients(c);
    if (status == HM_OK)
        status = list_problem(c, false);
    for (int k = 0; status == HM_OK && changed && k < MOST_ROUNDS; k++) {
        status = solve_round(c, at, let_go, &changed);
        changed = changed && depends_on_rows(c);
    }
    if (status == HM_OK && changed) {
        c->trouble = "forces that depend on contacts do not settle";
        status = HM_ERR_UNDETERMINED;
    }
    hmi_contacts_apply(c);
    return status;
}

/* Twice: what of a velocity is as good as zero depends on accelerations too. */
hm_status hmi_contacts_evaluate(hmi_contacts *c, const hmi_point *at)
{
    hmi_sim_evaluate(c->sim, at);
    hmi_contacts_forget_sizes(c);
    hmi_contacts_measure(c, at, 0);
    hmi_contacts_classify(c, at);
    hm_status status = hmi_contacts_decide(c, at, NULL);
    hmi_contacts_classify(c, at);
    return status == HM_OK || c->solutions != 1 ? hmi_contacts_decide(c, at, NULL) : status;
}

/* ---- modes that hold ---- */

/* Only rows with friction are unknowns; all others that hold are in the base problem, unless forces are not
 * unique: then the signs of all of them count. */
static hm_status list_rubbed(hmi_contacts *c)
{
    bool *wanted = c->base;
    for (size_t i = 0; i < c->m; i++)
        wanted[i] = c->holds[i] &&
                    (is_rubbed(c, i) || (c->redundant && constraint_of(c, i)->one_sided));
    hm_status status = list_normals(c, wanted);
    if (status == HM_OK)
        list_frictions(c, false);
    for (int i = 0; i < c->normals; i++)
        c->is_closed[i] = true;
    return status;
}

/* The direction of item j at the point. Beyond the point of rest, within a step, it goes on along the
 * last direction. */
static void take_mode(hmi_contacts *c, int j)
{
    size_t f = c->friction_of[j];
    const hmi_friction *friction = &c->sim->system->model->frictions.data[f];
    const double *U = c->sliding + friction->first;
    double size = hmi_norm((int)friction->count, U);
    bool ahead = friction->count > 1 && hmi_dot(2, U, c->slip + 2 * f) > 1e-9 * size;
    c->item_mode[j] = c->mode[f];
    c->item_presses[j] = c->presses[f];
    for (int k = 0; k < 2; k++)
        c->item_slip[2 * j + k] = ahead ? U[k] / size : c->slip[2 * f + (size_t)k];
}

static hm_status solve_held(hmi_contacts *c)
{
    find_free_motion(c);
    const hmi_contact_problem problem = problem_of(c);
    const hmi_contact_modes modes = {.closed = c->is_closed,
                                     .mode = c->item_mode,
                                     .slip = c->item_slip,
                                     .presses = c->item_presses};
    if (!hmi_contact_held(c->solver, &problem, &modes, c->x, c->w))
        return HM_ERR_INCONSISTENT;
    keep_forces(c, c->x, c->w);
    if (hmi_contact_limits(c->solver, &problem, &modes, c->x, c->item_limit)) {
        c->trouble = not_unique;
        return HM_ERR_UNDETERMINED;
    }
    for (int j = 0; j < c->items; j++)
        c->limit[c->friction_of[j]] = c->item_limit[j];
    return HM_OK;
}

hm_status hmi_contacts_hold(hmi_contacts *c, const hmi_point *at)
{
    if (c->frictions == 0)
        return HM_OK;
    hmi_contacts_read(c, at);
    hm_status status = check_coefficients(c);
    if (status == HM_OK)
        status = list_rubbed(c);
    if (status != HM_OK || c->items == 0)
        return status;
    for (int j = 0; j < c->items; j++)
        take_mode(c, j);
    status = find_forces(c, at);
    choose_base(c, c->holds);
    if (status == HM_OK)
        status = find_responses(c, c->F, hmi_sim_dynamics(c->sim) + c->sim->system->at.b);
    if (status == HM_OK)
        status = solve_held(c);
    hmi_contacts_apply(c);
    return status;
}

/* ---- impacts ---- */

/* One-sided rows that may take an impulse: closed ones, and all on velocities. */
static void list_struck(hmi_contacts *c)
{
    for (size_t i = 0; i < c->m; i++) {
        const hmi_constraint *row = constraint_of(c, i);
        if (row->one_sided && row->level == HM_LEVEL_VELOCITY)
            c->closed[i] = c->in_force[i];
    }
}

/* The velocity that an impulse must bring about: u+ + e min(u-, 0) >= 0, and U+ of tangents. */
static void find_free_velocities(hmi_contacts *c, const double *before)
{
    for (int k = 0; k < c->size; k++) {
        size_t at = c->direction[k];
        const double *d = direction_row(c, k);
        double change = hmi_dot((int)c->n, d, c->free), size = 0;
        double u = at < c->m ? c->rate[at] : c->sliding[at - c->m];
        double e = at < c->m && !c->two_sided[k] ? c->restitution[at] : 0;
        for (size_t i = 0; i < c->n; i++)
            size += fabs(d[i] * c->free[i]) + fabs(d[i] * before[i]);
        c->w0[k] = change + u + e * fmin(u, 0);
        c->noise[k] = size + fabs(u);
    }
    find_noise(c, 1e-12);
}

hm_status hmi_contacts_impact(hmi_contacts *c, const hmi_point *at, double *v)
{
    hmi_contact_answer answer;
    c->trouble = NULL;
    hmi_sim_scatter(c->sim);
    list_struck(c);
    hm_status status = check_coefficients(c);
    if (status == HM_OK)
        status = list_problem(c, true);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < c->m; i++) { /* rows on accelerations take no impulse */
        c->holds[i] = c->closed[i] && constraint_of(c, i)->level != HM_LEVEL_ACCELERATION;
        c->b[i] = -c->rate[i];
    }
    choose_base(c, c->holds);
    hmi_zero((int)c->n, c->F);
    status = find_responses(c, c->F, c->b);
    if (status == HM_OK) {
        find_free_velocities(c, at->v);
        const hmi_contact_problem problem = problem_of(c);
        hmi_contact_solve(c->solver, &problem, &answer);
        c->solutions = answer.solutions;
        status = is_settled(c, &answer) ? HM_OK : HM_ERR_UNDETERMINED;
    }
    hmi_zero((int)c->m, c->impulse);
    for (size_t i = 0; i < c->n && status == HM_OK; i++)
        v[i] = at->v[i] + c->free[i];
    for (int k = 0; k < c->size && status == HM_OK; k++) {
        hmi_axpy((int)c->n, answer.x[k], c->response + hmi_area(k, (int)c->n), v);
        if (c->direction[k] < c->m)
            c->impulse[c->direction[k]] = answer.x[k];
    }
    hmi_contacts_apply(c);
    return status;
}

void hmi_contacts_rest(hmi_contacts *c, const hmi_point *at, double *v)
{
    int stuck = 0;
    hmi_contacts_read(c, at);
    hmi_sim_scatter(c->sim);
    c->size = c->normals = 0;
    for (size_t j = 0; j < c->frictions; j++) {
        const hmi_friction *f = &c->sim->system->model->frictions.data[j];
        for (size_t k = 0; k < f->count && c->mode[j] == HMI_FRICTION_STICK; k++, stuck++)
            c->direction[c->size++] = c->m + f->first + k;
    }
    if (stuck == 0)
        return;
    choose_base(c, c->holds);
    hmi_zero((int)c->n, c->F);
    if (find_responses(c, c->F, c->zero) == HM_OK) {
        for (int k = 0; k < c->size; k++) {
            c->w0[k] = c->sliding[c->direction[k] - c->m];
            c->noise[k] = INFINITY;
            c->is_closed[k] = true;
            c->two_sided[k] = true;
        }
        c->normals = c->size;
        hmi_contact_problem problem = problem_of(c);
        problem.frictions = 0;
        const hmi_contact_modes modes = {.closed = c->is_closed};
        if (hmi_contact_held(c->solver, &problem, &modes, c->x, c->w))
            for (int k = 0; k < c->size; k++)
                hmi_axpy((int)c->n, c->x[k], c->response + hmi_area(k, (int)c->n), v);
    }
    hmi_contacts_apply(c);
}
