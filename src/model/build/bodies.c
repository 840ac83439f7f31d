/* The statement `body`: its items, and its kinetic energy from where it is (places.c). */
#include "model/build/body.h"

#include <math.h>
#include <string.h>

static const hmi_entry **slot_of(hmi_body_parts *parts, const char *word)
{
    const struct {
        const char *word;
        const hmi_entry **slot;
    } slots[] = {{"mass", &parts->mass},   {"inertia", &parts->inertia}, {"at", &parts->at},
                 {"frame", &parts->frame}, {"angle", &parts->angle},     {"com", &parts->com},
                 {"on", &parts->on},       {"by", &parts->by},           {"free", &parts->free}};
    for (size_t k = 0; k < sizeof slots / sizeof *slots; k++)
        if (strcmp(slots[k].word, word) == 0)
            return slots[k].slot;
    return NULL;
}

static bool report_together(hmi_builder *b, const hmi_entry *entry, const char *problem)
{
    hmi_error(
        b->context, entry->span,
        "write body NAME { mass m  inertia J  com C  on PARENT at P frame R0 by hinge(q, axis) }",
        "%s", problem);
    return false;
}

/* at P, free, or on PARENT by JOINT: one of the three. */
static bool check_way(hmi_builder *b, const hmi_statement *s, const hmi_body_parts *parts)
{
    const hmi_entry *stray = parts->at ? parts->at : parts->frame ? parts->frame : parts->angle;
    if (!parts->on != !parts->by)
        return report_together(b, parts->on ? parts->on : parts->by,
                               "'on' and 'by' belong together");
    if (parts->com && !parts->on)
        return report_together(b, parts->com,
                               parts->free
                                   ? "the origin of a free body is its mass centre"
                                   : "'com' goes with 'on' and 'by'; 'at' is the mass centre");
    if (parts->free && (parts->on || stray))
        return report_together(b, parts->on ? parts->on : stray,
                               "a free body is placed by its own coordinates");
    if (parts->on && parts->angle)
        return report_together(b, parts->angle, "a carried body has a 'frame', not an 'angle'");
    if (parts->on || (parts->mass && (parts->at || parts->free)))
        return true;
    hmi_error(b->context, s->span, "a particle is body NAME { mass m  at [x, y, z] }",
              "this body has no '%s'", parts->mass ? "at" : "mass");
    return false;
}

bool hmi_sort_body_items(hmi_builder *b, const hmi_statement *s, hmi_body_parts *parts)
{
    *parts = (hmi_body_parts){0};
    for (size_t i = 0; i < s->entry_count; i++) {
        const char *word = hmi_names_text(&b->tree->names, s->entries[i].word);
        const hmi_entry **slot = slot_of(parts, word);
        if (!slot || *slot) {
            hmi_error(b->context, s->entries[i].span, NULL, "'%s' is given twice", word);
            return false;
        }
        *slot = &s->entries[i];
    }
    return check_way(b, s, parts);
}

/* m/2 |P'|^2 */
static bool add_translation(hmi_builder *b, hmi_span at, const hmi_value *P, hmi_body *body)
{
    hmi_value velocity;
    hmi_expr square;
    hmi_graph *g = b->graph;
    if (!hmi_value_derivative(b, at, P, &velocity))
        return false;
    hmi_value_dot(b, &velocity, &velocity, &square);
    body->energy = hmi_mul(g, hmi_mul(g, g->half, body->mass), square);
    b->model->kinetic = hmi_add(g, b->model->kinetic, body->energy);
    for (size_t k = 0; k < P->rows; k++) {
        body->at[k] = P->items[k];
        body->velocity[k] = velocity.items[k];
    }
    return true;
}

/* J/2 angle'^2 */
static bool add_planar_rotation(hmi_builder *b, const hmi_place *place, hmi_body *body)
{
    hmi_expr inertia;
    hmi_graph *g = b->graph;
    if (!hmi_build_scalar(b, place->parts.inertia->value, place->scope, &inertia))
        return false;
    hmi_expr square = hmi_pow(g, place->rate, g->two);
    hmi_expr energy = hmi_mul(g, hmi_mul(g, g->half, inertia), square);
    b->model->kinetic = hmi_add(g, b->model->kinetic, energy);
    body->energy = hmi_add(g, body->energy, energy);
    body->inertia[0] = inertia;
    body->spin[0] = hmi_mul(g, inertia, place->rate);
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
static bool add_rotation(hmi_builder *b, const hmi_place *place, hmi_body *body)
{
    const hmi_body_parts *parts = &place->parts;
    const hmi_value *R = &place->frame;
    hmi_value J, omega;
    hmi_graph *g = b->graph;
    char shape[HMI_SHAPE_TEXT];
    if (!hmi_build_value(b, parts->inertia->value, place->scope, &J))
        return false;
    if (J.rank != 2 || J.rows != 3 || J.columns != 3) {
        hmi_error(b->context, parts->inertia->value->span, "write diag(J1, J2, J3)",
                  "the inertia of a body in space is a 3x3 matrix, not %s",
                  hmi_shape_text(&J, shape));
        return false;
    }
    if (!check_symmetric(b, &J, parts->inertia->value->span) ||
        !hmi_rotation_omega(b, place->statement->span, R, true, &omega))
        return false;
    hmi_expr sum = g->zero;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            hmi_expr ww = hmi_mul(g, omega.items[i], omega.items[j]);
            hmi_expr term = hmi_mul(g, J.items[3 * i + j], ww);
            sum = hmi_add(g, sum, i == j ? hmi_mul(g, g->half, term) : term);
        }
    b->model->kinetic = hmi_add(g, b->model->kinetic, sum);
    body->energy = hmi_add(g, body->energy, sum);
    memcpy(body->inertia, J.items, sizeof body->inertia);
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

/* e0 ~ 1 unless `initial` says otherwise. */
static bool start_quaternion(void *context, const hmi_expr e[4])
{
    hmi_builder *b = context;
    if (!all_coordinates(b, e))
        return true;
    hmi_coord *scalar = &b->model->coords.data[hmi_node_at(b->graph, e[0])->b];
    if (scalar->position.given == HMI_GIVEN_NOT)
        scalar->position.value = 1;
    return true;
}

bool hmi_start_quaternions(hmi_builder *b, const hmi_value *frame)
{
    return hmi_rotation_quaternions(frame->rotation, HMI_QUATERNION_START, start_quaternion, b);
}

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
    start_quaternion(b, e);
    return hmi_add_constraint(b, owner->name, residual, owner->at);
}

/* Which parts go together in the plane and in space. */
bool hmi_check_body_parts(hmi_builder *b, const hmi_body_parts *parts, uint32_t dimension)
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

static bool check_positions(hmi_builder *b, const hmi_place *place, uint16_t allowed)
{
    const hmi_entry *at = place->parts.at;
    for (size_t k = 0; k < place->center.rows; k++)
        if (!hmi_check_contents(b, place->center.items[k], allowed,
                                at ? at->value->span : place->statement->span,
                                "the position of a body"))
            return false;
    return true;
}

bool hmi_build_body(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_graph *g = b->graph;
    hmi_body body = {.span = s->span, .mass = g->zero, .spin = {g->zero, g->zero, g->zero}};
    const uint16_t allowed = HMI_STATE_DEPS & ~HMI_DEP(HMI_SYM_VELOCITY);
    const char *name = hmi_label_text(b, s->label, scope);
    int64_t index = name ? hmi_find_object(b, name, "body") : -1;
    hmi_place *place = index < 0 ? NULL : b->places.data[index];
    if (!place || place->statement != s)
        return false; /* reported when it was declared */
    const hmi_entry *mass = place->parts.mass;
    body.name = place->name;
    if ((mass && (!hmi_build_scalar(b, mass->value, scope, &body.mass) ||
                  !hmi_check_contents(b, body.mass, allowed, mass->value->span, "a mass"))) ||
        !hmi_force_place(b, place) || !check_positions(b, place, allowed))
        return false;
    body.dimension = (int)place->dimension;
    body.rigid = place->parts.inertia != NULL;
    hmi_span at = place->parts.at ? place->parts.at->value->span : s->span;
    if (!add_translation(b, at, &place->center, &body))
        return false;
    if (place->parts.inertia && !(place->dimension == 2 ? add_planar_rotation(b, place, &body)
                                                        : add_rotation(b, place, &body)))
        return false;
    quaternion_owner owner = {b, body.name, s->label->span};
    if (place->parts.frame && !place->parts.on)
        owner.at = place->parts.frame->value->span;
    return hmi_rotation_quaternions(place->frame.rotation, HMI_QUATERNION_NORM,
                                    constrain_quaternion, &owner) &&
           (hmi_array_push(&b->context->allocator, &b->model->bodies, body) || hmi_no_memory(b));
}
