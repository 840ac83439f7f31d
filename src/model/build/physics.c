/* Energies, masses, forces, bodies. */
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

/* ---- bodies ---- */

typedef struct body_parts {
    const hmi_entry *mass, *inertia, *at, *frame, *angle;
} body_parts;

static bool sort_body_items(hmi_builder *b, const hmi_statement *s, body_parts *parts)
{
    *parts = (body_parts){0};
    for (size_t i = 0; i < s->entry_count; i++) {
        const char *word = hmi_names_text(&b->tree->names, s->entries[i].word);
        const hmi_entry **slot = strcmp(word, "mass") == 0      ? &parts->mass
                                 : strcmp(word, "inertia") == 0 ? &parts->inertia
                                 : strcmp(word, "at") == 0      ? &parts->at
                                 : strcmp(word, "frame") == 0   ? &parts->frame
                                                                : &parts->angle;
        if (*slot) {
            hmi_error(b->context, s->entries[i].span, NULL, "'%s' is given twice", word);
            return false;
        }
        *slot = &s->entries[i];
    }
    if (!parts->mass || !parts->at) {
        hmi_error(b->context, s->span, "a particle is body NAME { mass m  at [x, y, z] }",
                  "this body has no '%s'", parts->mass ? "at" : "mass");
        return false;
    }
    return true;
}

/* m/2 |P'|^2 */
static bool add_translation(hmi_builder *b, const hmi_entry *at, const hmi_value *P, hmi_body *body)
{
    hmi_value velocity;
    hmi_expr square;
    hmi_graph *g = b->graph;
    if (!hmi_value_derivative(b, at->value->span, P, &velocity))
        return false;
    hmi_value_dot(b, &velocity, &velocity, &square);
    b->model->kinetic = hmi_add(g, b->model->kinetic,
                                hmi_mul(g, hmi_mul(g, g->half, body->mass), square));
    for (size_t k = 0; k < P->rows; k++) {
        body->at[k] = P->items[k];
        body->velocity[k] = velocity.items[k];
    }
    return true;
}

/* J/2 angle'^2 */
static bool add_planar_rotation(hmi_builder *b, const body_parts *parts, const hmi_scope *scope,
                                hmi_body *body)
{
    hmi_expr inertia;
    hmi_value angle, rate;
    hmi_graph *g = b->graph;
    if (!hmi_build_scalar(b, parts->inertia->value, scope, &inertia) ||
        !hmi_build_value(b, parts->angle->value, scope, &angle))
        return false;
    if (angle.rank != 0) {
        hmi_error(b->context, parts->angle->value->span, NULL, "an angle is a number");
        return false;
    }
    if (!hmi_value_derivative(b, parts->angle->value->span, &angle, &rate))
        return false;
    hmi_expr square = hmi_pow(g, rate.scalar, g->two);
    b->model->kinetic = hmi_add(g, b->model->kinetic,
                                hmi_mul(g, hmi_mul(g, g->half, inertia), square));
    body->spin[0] = hmi_mul(g, inertia, rate.scalar);
    return true;
}

/* An inertia tensor is symmetric; numbers that are not are an error, not averaged. */
static bool check_symmetric(hmi_builder *b, const hmi_value *J, hmi_span at)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) {
            double x, y;
            hmi_expr lower = J->items[3 * i + j], upper = J->items[3 * j + i];
            if (lower == upper || !hmi_constant_value(b, lower, &x) ||
                !hmi_constant_value(b, upper, &y))
                continue;
            if (fabs(x - y) <= 1e-12 * (fabs(x) + fabs(y)))
                continue;
            hmi_error(b->context, at, NULL,
                      "an inertia matrix is symmetric; entries (%d,%d) and (%d,%d) differ", i + 1,
                      j + 1, j + 1, i + 1);
            return false;
        }
    return true;
}

/* R J omega */
static void record_spin(hmi_graph *g, const hmi_value *R, const hmi_value *J,
                        const hmi_value *omega, hmi_body *body)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            hmi_expr component = g->zero; /* of J omega, along axis j of the body */
            for (int k = 0; k < 3; k++)
                component = hmi_add(g, component, hmi_mul(g, J->items[3 * j + k], omega->items[k]));
            body->spin[i] = hmi_add(g, body->spin[i], hmi_mul(g, R->items[3 * i + j], component));
        }
}

/* omega^T J omega / 2 in body axes. */
static bool add_rotation(hmi_builder *b, const body_parts *parts, const hmi_value *R,
                         const hmi_scope *scope, hmi_body *body)
{
    hmi_value J, omega;
    hmi_graph *g = b->graph;
    char shape[HMI_SHAPE_TEXT];
    if (!hmi_build_value(b, parts->inertia->value, scope, &J))
        return false;
    if (J.rank != 2 || J.rows != 3 || J.columns != 3) {
        hmi_error(b->context, parts->inertia->value->span, "write diag(J1, J2, J3)",
                  "the inertia of a body in space is a 3x3 matrix, not %s",
                  hmi_shape_text(&J, shape));
        return false;
    }
    if (!check_symmetric(b, &J, parts->inertia->value->span) ||
        !hmi_rotation_omega(b, parts->frame->value->span, R, true, &omega))
        return false;
    hmi_expr sum = g->zero;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            hmi_expr ww = hmi_mul(g, omega.items[i], omega.items[j]);
            hmi_expr term = hmi_mul(g, J.items[3 * i + j], ww);
            sum = hmi_add(g, sum, i == j ? hmi_mul(g, g->half, term) : term);
        }
    b->model->kinetic = hmi_add(g, b->model->kinetic, sum);
    record_spin(g, R, &J, &omega, body);
    return true;
}

/* ---- quaternions bring their own constraint ---- */

static bool all_coordinates(const hmi_builder *b, const hmi_expr e[4])
{
    for (int i = 0; i < 4; i++) {
        const hmi_node *node = hmi_node_at(b->graph, e[i]);
        if (node->op != HMI_SYMBOL || node->a != HMI_SYM_COORD)
            return false;
    }
    return true;
}

/* The body that a constraint is named after. */
typedef struct quaternion_owner {
    hmi_builder *b;
    const char *name;
    hmi_span at;
} quaternion_owner;

/* e0^2 + e1^2 + e2^2 + e3^2 = 1, once for each set of four coordinates. */
static bool constrain_quaternion(void *context, const hmi_expr e[4])
{
    const quaternion_owner *owner = context;
    hmi_builder *b = owner->b;
    hmi_graph *g = b->graph;
    hmi_expr sum = g->zero;
    if (!all_coordinates(b, e))
        return true;
    for (int i = 0; i < 4; i++)
        sum = hmi_add(g, sum, hmi_pow(g, e[i], g->two));
    hmi_expr residual = hmi_sub(g, sum, g->one);
    for (size_t k = 0; k < b->model->constraints.count; k++)
        if (b->model->constraints.data[k].residual == residual)
            return true;
    hmi_coord *scalar = &b->model->coords.data[hmi_node_at(g, e[0])->b];
    if (scalar->position.given == HMI_GIVEN_NOT)
        scalar->position.value = 1; /* ~ 1 unless `initial` says otherwise */
    return hmi_add_constraint(b, owner->name, residual, owner->at);
}

static bool build_frame(hmi_builder *b, const body_parts *parts, const hmi_scope *scope,
                        hmi_body *body)
{
    hmi_value R;
    char shape[HMI_SHAPE_TEXT];
    if (!hmi_build_value(b, parts->frame->value, scope, &R))
        return false;
    if (R.rank != 2 || R.rows != 3 || R.columns != 3) {
        hmi_error(b->context, parts->frame->value->span, NULL,
                  "a frame is a rotation (a 3x3 matrix), not %s", hmi_shape_text(&R, shape));
        return false;
    }
    quaternion_owner owner = {b, body->name, parts->frame->value->span};
    return add_rotation(b, parts, &R, scope, body) &&
           hmi_rotation_quaternions(R.rotation, constrain_quaternion, &owner);
}

/* Which parts go together in the plane and in space. */
static bool check_body_parts(hmi_builder *b, const body_parts *parts, int dimension)
{
    const hmi_entry *turns = dimension == 2 ? parts->angle : parts->frame;
    const hmi_entry *stray = dimension == 2 ? parts->frame : parts->angle;
    if (stray) {
        hmi_error(b->context, stray->span, NULL,
                  dimension == 2 ? "a body in the plane has an 'angle', not a 'frame'"
                                 : "a body in space has a 'frame', not an 'angle'");
        return false;
    }
    if (!parts->inertia != !turns) {
        const hmi_entry *alone = turns ? turns : parts->inertia;
        hmi_error(b->context, alone->span, "omit both for a particle",
                  dimension == 2 ? "'inertia' and 'angle' belong together"
                                 : "'inertia' and 'frame' belong together");
        return false;
    }
    return true;
}

bool hmi_build_body(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    body_parts parts;
    hmi_value P;
    hmi_graph *g = b->graph;
    hmi_body body = {.span = s->span, .spin = {g->zero, g->zero, g->zero}};
    char shape[HMI_SHAPE_TEXT];
    const uint16_t allowed = HMI_STATE_DEPS & ~HMI_DEP(HMI_SYM_VELOCITY);
    const size_t index = b->model->bodies.count;
    body.name = hmi_label_text(b, s->label, scope);
    if (!body.name || !sort_body_items(b, s, &parts) ||
        !hmi_declare_object(b, body.name, "body", (uint32_t)index, s->label->span) ||
        !hmi_build_scalar(b, parts.mass->value, scope, &body.mass) ||
        !hmi_check_contents(b, body.mass, allowed, parts.mass->value->span, "a mass") ||
        !hmi_build_value(b, parts.at->value, scope, &P))
        return false;
    if (P.rank != 1 || P.rows < 2 || P.rows > 3) {
        hmi_error(b->context, parts.at->value->span, NULL,
                  "the position of a body is a vector of 2 or 3 components, not %s",
                  hmi_shape_text(&P, shape));
        return false;
    }
    for (size_t k = 0; k < P.rows; k++)
        if (!hmi_check_contents(b, P.items[k], allowed, parts.at->value->span,
                                "the position of a body"))
            return false;
    body.dimension = (int)P.rows;
    if (!check_body_parts(b, &parts, body.dimension) || !add_translation(b, parts.at, &P, &body))
        return false;
    if (parts.angle && !add_planar_rotation(b, &parts, scope, &body))
        return false;
    if (parts.frame && !build_frame(b, &parts, scope, &body))
        return false;
    return hmi_array_push(&b->context->allocator, &b->model->bodies, body) || hmi_no_memory(b);
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
