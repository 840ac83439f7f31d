/* Visits energies, masses, forces, constraints, states and inputs of a model, one term at a time. */
#include "compile/system/terms.h"

typedef struct visit {
    const hm_model *model;
    hmi_model_term_visitor call;
    void *user;
} visit;

static bool one(const visit *v, const char *what, const char *name, hmi_span span,
                const hmi_expr *values, size_t count, int derivatives)
{
    const hmi_model_term term = {what, name, span, values, count, derivatives};
    return v->call(&term, v->user);
}

/* From L the second derivatives by the velocities are in M; from V, R the first are forces. */
static bool visit_energies(const visit *v)
{
    const hm_model *m = v->model;
    for (size_t i = 0; i < m->energies.count; i++) {
        const hmi_energy *e = &m->energies.data[i];
        int order = e->kind == HMI_STMT_KINETIC || e->kind == HMI_STMT_LAGRANGIAN ? 2 : 1;
        if (one(v, hmi_energy_text(e->kind), NULL, e->span, &e->value, 1, order))
            return true;
    }
    for (size_t i = 0; i < m->bodies.count; i++) {
        const hmi_body *b = &m->bodies.data[i];
        if (one(v, "the mass of body", b->name, b->span, &b->mass, 1, 1) ||
            one(v, "body", b->name, b->span, b->velocity, (size_t)b->dimension, 2) ||
            one(v, "body", b->name, b->span, b->spin, 3, 1))
            return true;
    }
    return false;
}

static bool visit_matrices(const visit *v)
{
    const hm_model *m = v->model;
    for (size_t i = 0; i < m->mass.count; i++)
        if (one(v, "an entry of the mass matrix", NULL, m->mass.data[i].span,
                &m->mass.data[i].value, 1, 1))
            return true;
    for (size_t i = 0; i < m->gyroscopic.count; i++)
        if (one(v, "a gyroscopic coefficient", NULL, m->gyroscopic.data[i].span,
                &m->gyroscopic.data[i].value, 1, 0))
            return true;
    return false;
}

static bool visit_force(const visit *v, const hmi_force *f, const char *what)
{
    if (f->form == HMI_FORCE_COORDINATE)
        return one(v, what, v->model->coords.data[f->coord].name, f->span, f->force, f->size, 0);
    return one(v, "a force", NULL, f->span, f->force, f->size, 0) ||
           one(v, "the point of application of a force", NULL, f->span, f->point, f->size, 1);
}

static bool visit_forces(const visit *v)
{
    const hm_model *m = v->model;
    for (size_t i = 0; i < m->forces.count; i++)
        if (visit_force(v, &m->forces.data[i], "the force on"))
            return true;
    for (size_t i = 0; i < m->nonideal.count; i++)
        if (visit_force(v, &m->nonideal.data[i], "the non-ideal force on"))
            return true;
    return false;
}

static bool visit_row(const visit *v, const hmi_constraint *row, const char *what)
{
    int order = row->level == HM_LEVEL_POSITION ? 2 : row->level == HM_LEVEL_VELOCITY ? 1 : 0;
    return one(v, what, row->name, row->span, &row->residual, 1, order);
}

static bool visit_rows(const visit *v)
{
    const hm_model *m = v->model;
    for (size_t i = 0; i < m->constraints.count; i++)
        if (visit_row(v, &m->constraints.data[i], "constraint"))
            return true;
    for (size_t i = 0; i < m->servo_rows.count; i++)
        if (visit_row(v, &m->servo_rows.data[i].row, "servo"))
            return true;
    for (size_t i = 0; i < m->servos.count; i++)
        if (one(v, "the gain of servo", m->servos.data[i].name, m->servos.data[i].span,
                &m->servos.data[i].gain, 1, 0))
            return true;
    return false;
}

static bool visit_signals(const visit *v)
{
    const hm_model *m = v->model;
    for (size_t i = 0; i < m->states.count; i++)
        if (one(v, "the rate of", m->states.data[i].name, m->states.data[i].span,
                &m->states.data[i].rate, 1, 0))
            return true;
    for (size_t i = 0; i < m->inputs.count; i++)
        if (one(v, "input", m->inputs.data[i].name, m->inputs.data[i].span,
                &m->inputs.data[i].value, 1, 0))
            return true;
    return false;
}

bool hmi_visit_terms(const hm_model *model, hmi_model_term_visitor call, void *user)
{
    const visit v = {model, call, user};
    return visit_energies(&v) || visit_matrices(&v) || visit_forces(&v) || visit_rows(&v) ||
           visit_signals(&v);
}
