/* Energies, masses, forces, gravity. */
#include "model/build/statements.h"

#include <math.h>
#include <string.h>

/* ---- energies ---- */

static hmi_expr *energy_sum(hm_model *model, hmi_statement_kind kind)
{
    switch (kind) {
    case HMI_STMT_KINETIC:
        return &model->kinetic;
    case HMI_STMT_POTENTIAL:
        return &model->potential;
    case HMI_STMT_LAGRANGIAN:
        return &model->lagrangian;
    default:
        return &model->dissipation;
    }
}

const char *hmi_energy_text(hmi_statement_kind kind)
{
    return kind == HMI_STMT_KINETIC      ? "the kinetic energy"
           : kind == HMI_STMT_POTENTIAL  ? "the potential energy"
           : kind == HMI_STMT_LAGRANGIAN ? "the Lagrangian"
                                         : "the dissipation function";
}

bool hmi_build_energy(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_expr e;
    if (!hmi_build_scalar(b, s->first, scope, &e) ||
        !hmi_check_contents(b, e, HMI_STATE_DEPS, s->first->span, hmi_energy_text(s->kind)))
        return false;
    if (s->kind != HMI_STMT_DISSIPATION &&
        !hmi_check_jumps(b, e, s->first->span, hmi_energy_text(s->kind), false))
        return false;
    hmi_expr *sum = energy_sum(b->model, s->kind);
    *sum = hmi_add(b->graph, *sum, e);
    b->model->has_lagrangian |= s->kind == HMI_STMT_LAGRANGIAN;
    const hmi_energy term = {s->kind, e, s->first->span};
    return hmi_array_push(&b->context->allocator, &b->model->energies, term) || hmi_no_memory(b);
}

/* ---- entries of matrices: mass x, y = E and gyroscopic x, y = G ---- */

static bool build_pair(hmi_builder *b, const hmi_entry *entry, const hmi_scope *scope,
                       const char *where, hmi_pair *pair)
{
    const hmi_ast *second = entry->second ? entry->second : entry->target;
    pair->span = entry->span;
    return hmi_build_coordinate(b, entry->target, scope, &pair->row) &&
           hmi_build_coordinate(b, second, scope, &pair->column) &&
           hmi_build_scalar(b, entry->value, scope, &pair->value) &&
           hmi_check_contents(b, pair->value, HMI_STATE_DEPS, entry->value->span, where);
}

bool hmi_build_mass(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    for (size_t i = 0; i < s->entry_count; i++) {
        hmi_pair pair;
        if (!build_pair(b, &s->entries[i], scope, "an entry of the mass matrix", &pair))
            return false;
        if (!hmi_array_push(&b->context->allocator, &b->model->mass, pair))
            return hmi_no_memory(b);
    }
    return true;
}

bool hmi_build_gyroscopic(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    for (size_t i = 0; i < s->entry_count; i++) {
        hmi_pair pair;
        if (!build_pair(b, &s->entries[i], scope, "a gyroscopic coefficient", &pair))
            return false;
        if (pair.row == pair.column) {
            hmi_error(b->context, s->entries[i].span, "write gyroscopic x, y = G",
                      "a gyroscopic force couples two different coordinates");
            return false;
        }
        if (!hmi_array_push(&b->context->allocator, &b->model->gyroscopic, pair))
            return hmi_no_memory(b);
    }
    return true;
}

/* ---- forces ---- */

static uint16_t force_contents(const hmi_statement *s)
{
    uint16_t total = HMI_DEP(HMI_SYM_TOTAL_REACTION) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER);
    return HMI_STATE_DEPS | total | (s->kind == HMI_STMT_NONIDEAL ? HMI_DEP_FORCES : 0);
}

static bool check_force(hmi_builder *b, hmi_expr e, const hmi_statement *s, hmi_span at)
{
    uint16_t ideal = HMI_DEP(HMI_SYM_REACTION) | HMI_DEP(HMI_SYM_MULTIPLIER);
    if (s->kind != HMI_STMT_NONIDEAL && (hmi_deps(b->graph, e) & ideal)) {
        hmi_error(b->context, at,
                  "use total_reaction or total_multiplier, or write the law as 'nonideal'",
                  "an impressed force that depends on the ideal reaction is circular");
        return false;
    }
    return hmi_check_contents(b, e, force_contents(s), at,
                              s->kind == HMI_STMT_NONIDEAL ? "a non-ideal force" : "a force");
}

static bool add_force(hmi_builder *b, const hmi_statement *s, hmi_force force)
{
    bool pushed = s->kind == HMI_STMT_NONIDEAL
                      ? hmi_array_push(&b->context->allocator, &b->model->nonideal, force)
                      : hmi_array_push(&b->context->allocator, &b->model->forces, force);
    return pushed || hmi_no_memory(b);
}

static bool build_component_force(hmi_builder *b, const hmi_statement *s, const hmi_entry *entry,
                                  const hmi_scope *scope)
{
    hmi_force force = {.form = HMI_FORCE_COORDINATE, .size = 1, .span = entry->span};
    hmi_expr e;
    if (!hmi_build_coordinate(b, entry->target, scope, &force.coord) ||
        !hmi_build_scalar(b, entry->value, scope, &e) || !check_force(b, e, s, entry->value->span))
        return false;
    force.force = hmi_model_alloc(b, sizeof e);
    if (!force.force)
        return false;
    *force.force = e;
    return add_force(b, s, force);
}

static hmi_expr *keep_items(hmi_builder *b, const hmi_value *value)
{
    size_t size = hmi_value_count(value) * sizeof(hmi_expr);
    hmi_expr *items = hmi_model_alloc(b, size);
    if (items)
        memcpy(items, value->items, size);
    return items;
}

/* Records a vector force with what its components push along. */
static bool build_vector_force(hmi_builder *b, const hmi_statement *s, hmi_force_form form,
                               const hmi_value *F, const hmi_value *P)
{
    for (size_t k = 0; k < F->rows; k++)
        if (!check_force(b, F->items[k], s, s->first->span))
            return false;
    hmi_force force = {.form = form, .size = F->rows, .span = s->span};
    force.force = keep_items(b, F);
    force.point = keep_items(b, P);
    return force.force && force.point && add_force(b, s, force);
}

static bool build_force_at(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_value F, P;
    char shape[2][HMI_SHAPE_TEXT];
    if (!hmi_build_value(b, s->first, scope, &F) || !hmi_build_value(b, s->second, scope, &P))
        return false;
    if (F.rank != 1 || !hmi_same_shape(&F, &P)) {
        hmi_error(
            b->context, s->span, "write force [Fx, Fy, Fz] at [x, y, z]",
            "a force and its point of application must be vectors of the same size, not %s at %s",
            hmi_shape_text(&F, shape[0]), hmi_shape_text(&P, shape[1]));
        return false;
    }
    for (size_t k = 0; k < P.rows; k++)
        if (!hmi_check_contents(b, P.items[k], HMI_STATE_DEPS & ~HMI_DEP(HMI_SYM_VELOCITY),
                                s->second->span, "the point of application of a force"))
            return false;
    return build_vector_force(b, s, HMI_FORCE_AT_POINT, &F, &P);
}

bool hmi_build_force(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    if (s->first)
        return build_force_at(b, s, scope);
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++)
        good = build_component_force(b, s, &s->entries[i], scope) && good;
    return good;
}

bool hmi_build_torque(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_value N, R, omega;
    char shape[HMI_SHAPE_TEXT];
    if (!hmi_build_value(b, s->first, scope, &N) || !hmi_build_value(b, s->second, scope, &R))
        return false;
    if (N.rank != 1 || N.rows != 3) {
        hmi_error(b->context, s->first->span, NULL, "a torque is a vector of 3, not %s",
                  hmi_shape_text(&N, shape));
        return false;
    }
    if (R.rank != 2 || R.rows != 3 || R.columns != 3) {
        hmi_error(b->context, s->second->span, NULL,
                  "a torque acts on a rotation (a 3x3 matrix), not %s", hmi_shape_text(&R, shape));
        return false;
    }
    return hmi_rotation_omega(b, s->second->span, &R, false, &omega) &&
           build_vector_force(b, s, HMI_FORCE_ON_ROTATION, &N, &omega);
}

/* ---- gravity ---- */

bool hmi_build_gravity(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    char shape[HMI_SHAPE_TEXT];
    if (b->has_gravity) {
        hmi_error(b->context, s->span, NULL, "gravity is given twice");
        return false;
    }
    if (!hmi_build_value(b, s->first, scope, &b->gravity))
        return false;
    if (b->gravity.rank != 1 || b->gravity.rows < 2 || b->gravity.rows > 3) {
        hmi_error(b->context, s->first->span, "write gravity [0, 0, -g]",
                  "gravity is a vector of 2 or 3 components, not %s",
                  hmi_shape_text(&b->gravity, shape));
        return false;
    }
    const uint16_t allowed = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM);
    for (size_t k = 0; k < b->gravity.rows; k++)
        if (!hmi_check_contents(b, b->gravity.items[k], allowed, s->first->span, "gravity"))
            return false;
    b->has_gravity = true;
    b->gravity_span = s->span;
    return true;
}

/* V = -m g . P for every body. */
bool hmi_apply_gravity(hmi_builder *b)
{
    hmi_graph *g = b->graph;
    for (size_t i = 0; b->has_gravity && i < b->model->bodies.count; i++) {
        const hmi_body *body = &b->model->bodies.data[i];
        if ((uint32_t)body->dimension != b->gravity.rows) {
            hmi_error(b->context, b->gravity_span, NULL,
                      "gravity has %u components, but the position of body '%s' has %d",
                      b->gravity.rows, body->name, body->dimension);
            return false;
        }
        hmi_expr along = g->zero;
        for (int k = 0; k < body->dimension; k++)
            along = hmi_add(g, along, hmi_mul(g, b->gravity.items[k], body->at[k]));
        b->model->potential = hmi_sub(g, b->model->potential, hmi_mul(g, body->mass, along));
    }
    if (b->has_gravity && b->model->bodies.count == 0)
        hmi_warning(b->context, b->gravity_span, "write the potential of gravity with 'potential'",
                    "gravity acts on bodies, but this model has none");
    return true;
}
