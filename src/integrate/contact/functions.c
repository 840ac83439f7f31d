/* The functions that a run watches for its contacts: their list, their sides, the conditions. */
#include "integrate/contact/contact_run.h"

#include "linalg/dense.h"

#include <math.h>

/* While a row holds, comparisons that it keeps at zero stay as they are: parts of the largest difference so
 * far, and of its rate. */
#define CONDITION_SLACK  1e-11
#define CONDITION_NEAR   1e-9
#define CONDITION_STEADY 1e-8

/* ---- the list ---- */

static size_t most_functions(const hmi_contact_run *r)
{
    const hm_model *model = r->sim->system->model;
    size_t comparisons = 0;
    for (size_t i = 0; i < model->constraints.count; i++)
        comparisons += model->constraints.data[i].when != HMI_NONE ? 64 : 0;
    return 2 * model->constraints.count + 2 * model->frictions.count + comparisons + 1;
}

static hmi_contact_function *add(hmi_contact_run *r, hmi_contact_kind kind, size_t index,
                                 hmi_expr a, hmi_expr b)
{
    hmi_contact_function *f = &r->functions[r->count++];
    *f = (hmi_contact_function){.kind = kind, .index = index, .a = a, .b = b, .side = 1};
    return f;
}

/* The comparisons of a condition, at most 64 of a row. */
static void add_comparisons(hmi_contact_run *r, size_t row, hmi_expr e, int depth)
{
    const hmi_graph *g = &r->sim->system->derived.graph;
    hmi_op op = hmi_op_of(g, e);
    if (depth == 0)
        return;
    if (op == HMI_LT || op == HMI_LE || op == HMI_EQ) {
        hmi_contact_function *f = add(r, HMI_CONTACT_CONDITION, row, hmi_operand(g, e, 0),
                                      hmi_operand(g, e, 1));
        f->op = op;
        f->side = 0; /* not known yet */
    } else if (op == HMI_AND || op == HMI_OR) {
        add_comparisons(r, row, hmi_operand(g, e, 0), depth - 1);
        add_comparisons(r, row, hmi_operand(g, e, 1), depth - 1);
    } else if (op == HMI_NOT)
        add_comparisons(r, row, hmi_operand(g, e, 0), depth - 1);
}

hm_status hmi_contact_list_functions(hmi_contact_run *r)
{
    const hm_model *model = r->sim->system->model;
    const hmi_rows *rows = &r->sim->system->derived.constraints;
    size_t most = most_functions(r);
    r->functions = hmi_arena_alloc(r->arena, most * sizeof *r->functions);
    r->fired = hmi_arena_alloc(r->arena, most);
    if (!r->functions || !r->fired)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < model->constraints.count; i++) {
        const hmi_constraint *row = &model->constraints.data[i];
        if (row->one_sided) {
            bool position = row->level == HM_LEVEL_POSITION;
            add(r, HMI_CONTACT_GAP, i,
                position ? rows->position_residual[i] : rows->velocity_residual[i], HMI_NONE);
            add(r, HMI_CONTACT_FORCE, i, HMI_NONE, HMI_NONE);
        }
        if (row->when != HMI_NONE)
            add_comparisons(r, i, row->when, 6);
    }
    for (size_t j = 0; j < model->frictions.count; j++) {
        const hmi_friction *f = &model->frictions.data[j];
        add(r, HMI_CONTACT_SLIDE, j,
            f->count == 1 ? r->sim->system->derived.tangents.velocity_residual[f->first] : HMI_NONE,
            HMI_NONE);
        add(r, HMI_CONTACT_LIMIT, j, HMI_NONE, HMI_NONE);
    }
    return HM_OK;
}

/* ---- values ---- */

double hmi_contact_watched_value(const hmi_contact_run *r, size_t k, double g)
{
    const hmi_contact_function *f = &r->functions[k];
    const hmi_contacts *c = r->contacts;
    if (f->kind == HMI_CONTACT_FORCE)
        return r->sim->last.total_multiplier[f->index] + f->slack;
    if (f->kind == HMI_CONTACT_LIMIT)
        return c->limit[f->index] + f->slack;
    if (hmi_contact_is_sampled(f)) { /* sliding in the plane: along its last direction */
        const hmi_friction *friction = &r->sim->system->model->frictions.data[f->index];
        return hmi_dot(2, c->sliding + friction->first, c->slip + 2 * f->index);
    }
    return f->side * g + f->slack;
}

/* ---- sides ---- */

/* a < b has the side -1; at a = b so has a <= b, which is true there. */
static double side_at(const hmi_contact_function *f, double g, double slack)
{
    if (f->op == HMI_EQ)
        return fabs(g) <= slack ? -1 : 1;
    return g < 0 || (g <= slack && f->op == HMI_LE) ? -1 : 1;
}

static double condition_slack(const hmi_contact_run *r, const hmi_contact_function *f)
{
    return CONDITION_SLACK * f->largest + hmi_contacts_least(r->contacts);
}

void hmi_contact_find_sides(hmi_contact_run *r, const double *g)
{
    for (size_t k = 0; k < r->count; k++) {
        hmi_contact_function *f = &r->functions[k];
        if (f->kind != HMI_CONTACT_CONDITION)
            continue;
        f->largest = fmax(f->largest, fabs(g[k]));
        double slack = condition_slack(r, f);
        if (r->fired[k])
            f->side = -f->side;
        else if (fabs(g[k]) > slack || f->side == 0)
            f->side = side_at(f, g[k], slack);
    }
}

static bool truth(const hmi_contact_run *r, hmi_expr e, size_t row, size_t *next)
{
    const hmi_graph *g = &r->sim->system->derived.graph;
    hmi_op op = hmi_op_of(g, e);
    if (op == HMI_LT || op == HMI_LE || op == HMI_EQ) {
        while (*next < r->count && (r->functions[*next].kind != HMI_CONTACT_CONDITION ||
                                    r->functions[*next].index != row))
            ++*next;
        return *next < r->count && r->functions[(*next)++].side < 0;
    }
    if (op == HMI_AND || op == HMI_OR) {
        bool x = truth(r, hmi_operand(g, e, 0), row, next);
        bool y = truth(r, hmi_operand(g, e, 1), row, next);
        return op == HMI_AND ? x && y : x || y;
    }
    if (op == HMI_NOT)
        return !truth(r, hmi_operand(g, e, 0), row, next);
    return hmi_is_const(g, e) && hmi_constant_of(g, e)->value != 0;
}

void hmi_contact_find_conditions(hmi_contact_run *r)
{
    const hm_model *model = r->sim->system->model;
    for (size_t i = 0; i < model->constraints.count; i++) {
        size_t next = 0;
        hmi_expr when = model->constraints.data[i].when;
        r->contacts->in_force[i] = when == HMI_NONE || truth(r, when, i, &next);
    }
}

/* ---- what is watched from now on ---- */

double hmi_contact_gap_slack(const hmi_contact_run *r, size_t row, const hmi_point *at)
{
    return 1e-3 * hmi_contacts_gap_noise(r->contacts, row, at);
}

static void watch_gap(const hmi_contact_run *r, hmi_contact_function *f, const hmi_point *at)
{
    const hmi_contacts *c = r->contacts;
    bool position = r->sim->system->model->constraints.data[f->index].level == HM_LEVEL_POSITION;
    f->watched = c->in_force[f->index] && !c->holds[f->index];
    f->side = 1;
    f->slack = position ? hmi_contact_gap_slack(r, f->index, at)
                        : 1e-3 * hmi_contacts_rate_noise(c, f->index, at);
}

/* Forces that are zero throughout are noise; so are those that change velocities by rounding errors. */
static double force_slack(const hmi_contact_run *r)
{
    const hmi_contacts *c = r->contacts;
    double time = isfinite(r->span) && r->span > 0 ? r->span : c->step;
    double by_momentum = time > 0 ? c->momentum_size / time : 0;
    return 1e-9 * r->force_scale + 1e-12 * (c->force_size + by_momentum) + 1e-290;
}

static void watch_friction(const hmi_contact_run *r, hmi_contact_function *f)
{
    const hmi_contacts *c = r->contacts;
    const hmi_friction *friction = &r->sim->system->model->frictions.data[f->index];
    bool acts = c->holds[friction->row];
    if (f->kind == HMI_CONTACT_LIMIT) {
        f->watched = acts && c->mode[f->index] == HMI_FRICTION_STICK;
        f->slack = force_slack(r);
        return;
    }
    const hmi_point at = hmi_stepper_point(r->stepper);
    f->watched = acts && c->mode[f->index] == HMI_FRICTION_SLIP;
    f->side = friction->count > 1 ? 1 : c->slip[2 * f->index] < 0 ? -1 : 1;
    f->slack = friction->count > 1 ? 0 : 0.01 * hmi_contacts_sliding_noise(c, friction->first, &at);
}

void hmi_contact_leave_conditions(hmi_contact_run *r, const double *g, const double *rates)
{
    r->steady = false;
    for (size_t k = 0; k < r->count; k++) {
        hmi_contact_function *f = &r->functions[k];
        if (f->kind != HMI_CONTACT_CONDITION)
            continue;
        f->largest = fmax(f->largest, fabs(g[k]));
        f->fastest = fmax(f->fastest, fabs(rates[k]));
        bool steady = fabs(g[k]) <= CONDITION_NEAR * f->largest + hmi_contacts_least(r->contacts) &&
                      fabs(rates[k]) <= CONDITION_STEADY * f->fastest;
        f->watched = f->op != HMI_EQ && !steady;
        r->steady |= steady;
    }
}

void hmi_contact_watch(hmi_contact_run *r, const hmi_point *at)
{
    const hmi_contacts *c = r->contacts;
    r->force_scale = fmax(hmi_max_abs((int)c->m, c->force),
                          hmi_max_abs((int)c->tangents, c->traction));
    for (size_t k = 0; k < r->count; k++) {
        hmi_contact_function *f = &r->functions[k];
        switch (f->kind) {
        case HMI_CONTACT_GAP:
            watch_gap(r, f, at);
            break;
        case HMI_CONTACT_FORCE:
            f->watched = c->holds[f->index];
            f->slack = force_slack(r);
            break;
        case HMI_CONTACT_CONDITION:
            f->watched = f->op != HMI_EQ;
            break;
        default:
            watch_friction(r, f);
        }
    }
}
