/* Where bodies are: origin, frame and mass centre, from what their statements say.
 *
 *     at P frame R            origin and centre P, frame R
 *     free                    coordinates NAME_x, ... and a quaternion of their own
 *     on PARENT at P frame R0 by JOINT
 *         frame = frame(PARENT) R0 R_joint,  origin = origin(PARENT) + frame(PARENT) (P + R0 shift)
 *
 * A parent may come later in the file: places are found when they are first asked for, by going up to
 * the first ancestor that is placed and coming down again, without recursion. A frame remembers how it
 * was composed, so that angular velocities follow the tree, too: each costs one product.
 * Verified: test/unit/model/test_carried.c
 */
#include "model/build/body.h"

#include <string.h>

/* ---- vectors and matrices ---- */

static bool zero_vector(hmi_builder *b, uint32_t size, hmi_value *out)
{
    if (!hmi_value_new(b, 1, size, 1, out))
        return false;
    for (uint32_t k = 0; k < size; k++)
        out->items[k] = b->graph->zero;
    return true;
}

static bool unit_matrix(hmi_builder *b, uint32_t size, hmi_value *out)
{
    if (!hmi_value_new(b, 2, size, size, out))
        return false;
    for (uint32_t k = 0; k < size * size; k++)
        out->items[k] = k % (size + 1) ? b->graph->zero : b->graph->one;
    return true;
}

static bool planar_rotation(hmi_builder *b, hmi_expr angle, hmi_value *out)
{
    hmi_graph *g = b->graph;
    hmi_expr c = hmi_apply(g, HMI_COS, angle, 0, 0), s = hmi_apply(g, HMI_SIN, angle, 0, 0);
    if (!hmi_value_new(b, 2, 2, 2, out))
        return false;
    out->items[0] = out->items[3] = c;
    out->items[1] = hmi_neg(g, s);
    out->items[2] = s;
    return true;
}

/* A vector of the body's dimension; nothing written is zero. */
static bool build_vector(hmi_builder *b, const hmi_entry *entry, const hmi_place *place,
                         const char *what, hmi_value *out)
{
    char shape[HMI_SHAPE_TEXT];
    if (!entry)
        return zero_vector(b, place->dimension, out);
    if (!hmi_build_value(b, entry->value, place->scope, out))
        return false;
    if (out->rank == 1 && out->rows == place->dimension)
        return true;
    hmi_error(b->context, entry->value->span, NULL, "%s is a vector of %u components here, not %s",
              what, place->dimension, hmi_shape_text(out, shape));
    return false;
}

static bool build_matrix(hmi_builder *b, const hmi_entry *entry, const hmi_place *place,
                         hmi_value *out)
{
    char shape[HMI_SHAPE_TEXT];
    if (!entry)
        return unit_matrix(b, place->dimension, out);
    if (!hmi_build_value(b, entry->value, place->scope, out))
        return false;
    if (out->rank == 2 && out->rows == place->dimension && out->columns == place->dimension)
        return true;
    hmi_error(b->context, entry->value->span, NULL,
              "a frame is a rotation (a %ux%u matrix) here, not %s", place->dimension,
              place->dimension, hmi_shape_text(out, shape));
    return false;
}

/* ---- joints that carry ---- */

typedef struct joint_row {
    const char *name, *usage;
    uint32_t count; /* of arguments; in the plane one less for a hinge */
} joint_row;

static const joint_row joints[] = {
    {"hinge", "write by hinge(q, axis), in the plane by hinge(q)", 2},
    {"slider", "write by slider(q, axis)", 2},
    {"cylinder", "write by cylinder(angle, shift, axis)", 3},
    {"screw", "write by screw(q, axis, pitch)", 3},
    {"universal", "write by universal(a, axis1, b, axis2)", 4},
    {"ball", "write by ball(e0, e1, e2, e3)", 4},
    {"weld", "write by weld", 0},
};
enum { JOINTS = sizeof joints / sizeof *joints };
typedef enum joint_kind { HINGE, SLIDER, CYLINDER, SCREW, UNIVERSAL, BALL, WELD } joint_kind;

/* What a joint makes of its arguments: a rotation and a shift in the axes of R0. */
typedef struct joint {
    hmi_builder *b;
    const hmi_ast *e;
    hmi_place *place;
    joint_kind kind;
    hmi_value R, shift;
    hmi_expr rate; /* in the plane */
} joint;

static bool find_joint(hmi_builder *b, const hmi_ast *e, joint_kind *kind)
{
    bool named = e->kind == HMI_AST_NAME || e->kind == HMI_AST_CALL;
    const char *text = named ? hmi_names_text(&b->tree->names, e->name) : "";
    for (int k = 0; k < JOINTS; k++) {
        uint32_t count = e->kind == HMI_AST_CALL ? e->count : 0;
        if (strcmp(joints[k].name, text) != 0)
            continue;
        *kind = (joint_kind)k;
        if (count == joints[k].count || (k == HINGE && count == 1))
            return true;
        hmi_error(b->context, e->span, joints[k].usage, "%s does not take %u argument%s", text,
                  count, count == 1 ? "" : "s");
        return false;
    }
    hmi_error(b->context, e->span, "one of: hinge, slider, cylinder, screw, universal, ball, weld",
              "expected the joint that carries the body");
    return false;
}

/* A unit vector along argument k. */
static bool joint_axis(const joint *j, uint32_t k, hmi_value *out)
{
    hmi_graph *g = j->b->graph;
    const hmi_ast *e = j->e->items[k];
    hmi_value axis;
    hmi_expr square;
    double size;
    char shape[HMI_SHAPE_TEXT];
    if (!hmi_build_value(j->b, e, j->place->scope, &axis))
        return false;
    if (axis.rank != 1 || axis.rows != j->place->dimension) {
        hmi_error(j->b->context, e->span, NULL, "an axis is a vector of %u components here, not %s",
                  j->place->dimension, hmi_shape_text(&axis, shape));
        return false;
    }
    hmi_value_dot(j->b, &axis, &axis, &square);
    if (square == g->zero || (!(hmi_deps(g, square) & ~HMI_DEP(HMI_SYM_PARAM)) &&
                              hmi_constant_value(j->b, square, &size) && !(size > 0))) {
        hmi_error(j->b->context, e->span, NULL, "the axis of a joint is zero");
        return false;
    }
    if (!hmi_value_new(j->b, 1, axis.rows, 1, out))
        return false;
    hmi_expr length = hmi_apply(g, HMI_SQRT, square, 0, 0);
    for (uint32_t i = 0; i < axis.rows; i++)
        out->items[i] = hmi_div(g, axis.items[i], length);
    return true;
}

static bool turn_about(const joint *j, uint32_t axis_at, hmi_expr angle, hmi_value *R)
{
    hmi_value axis;
    return joint_axis(j, axis_at, &axis) &&
           hmi_rotation_about(j->b, j->e->span, axis.items, angle, R);
}

static bool shift_along(joint *j, uint32_t axis_at, hmi_expr amount)
{
    hmi_value axis;
    if (!joint_axis(j, axis_at, &axis))
        return false;
    for (uint32_t i = 0; i < axis.rows; i++)
        j->shift.items[i] = hmi_mul(j->b->graph, amount, axis.items[i]);
    return true;
}

static bool apply_screw(joint *j, hmi_expr q)
{
    hmi_graph *g = j->b->graph;
    hmi_expr pitch, turns = hmi_div(g, q, hmi_number(g, 2 * 3.14159265358979323846));
    return turn_about(j, 1, q, &j->R) &&
           hmi_build_scalar(j->b, j->e->items[2], j->place->scope, &pitch) &&
           shift_along(j, 1, hmi_mul(g, pitch, turns));
}

static bool apply_universal(joint *j, hmi_expr a)
{
    hmi_value first, second;
    hmi_expr angle;
    return turn_about(j, 1, a, &first) &&
           hmi_build_scalar(j->b, j->e->items[2], j->place->scope, &angle) &&
           turn_about(j, 3, angle, &second) &&
           hmi_value_product(j->b, j->e->span, &first, &second, &j->R);
}

static bool apply_ball(joint *j)
{
    hmi_expr e[4];
    for (int k = 0; k < 4; k++)
        if (!hmi_build_scalar(j->b, j->e->items[k], j->place->scope, &e[k]))
            return false;
    return hmi_rotation_quaternion(j->b, e, &j->R);
}

static bool apply_planar_hinge(joint *j, hmi_expr q)
{
    hmi_value angle = hmi_scalar(q), rate;
    if (!hmi_value_derivative(j->b, j->e->span, &angle, &rate))
        return false;
    j->rate = rate.scalar;
    return planar_rotation(j->b, q, &j->R);
}

static bool apply_by_kind(joint *j)
{
    hmi_expr first, second;
    const hmi_scope *scope = j->place->scope;
    if (j->kind == WELD)
        return true;
    if (j->kind == BALL)
        return apply_ball(j);
    if (!hmi_build_scalar(j->b, j->e->items[0], scope, &first))
        return false;
    switch (j->kind) {
    case HINGE:
        return j->e->count == 1 ? apply_planar_hinge(j, first) : turn_about(j, 1, first, &j->R);
    case SLIDER:
        return shift_along(j, 1, first);
    case CYLINDER:
        return turn_about(j, 2, first, &j->R) &&
               hmi_build_scalar(j->b, j->e->items[1], scope, &second) && shift_along(j, 2, second);
    case SCREW:
        return apply_screw(j, first);
    default:
        return apply_universal(j, first);
    }
}

/* In the plane there are hinge(q), slider and weld; in space a hinge has an axis. */
static bool check_joint_dimension(const joint *j)
{
    bool planar = j->place->dimension == 2;
    bool fits = planar
                    ? j->kind == SLIDER || j->kind == WELD || (j->kind == HINGE && j->e->count == 1)
                    : j->kind != HINGE || j->e->count == 2;
    if (!fits)
        hmi_error(j->b->context, j->e->span, joints[j->kind].usage,
                  planar ? "in the plane bodies are carried by hinge(q), slider or weld"
                         : "a hinge in space needs an axis");
    return fits;
}

static bool apply_joint(joint *j)
{
    return check_joint_dimension(j) && unit_matrix(j->b, j->place->dimension, &j->R) &&
           zero_vector(j->b, j->place->dimension, &j->shift) && apply_by_kind(j);
}

/* ---- the three ways ---- */

/* omega of a 2x2 rotation: (R' R^T)[2,1] */
static bool planar_rate(hmi_builder *b, hmi_span at, const hmi_value *R, hmi_expr *out)
{
    hmi_value dot;
    hmi_graph *g = b->graph;
    if (!hmi_value_derivative(b, at, R, &dot))
        return false;
    *out = hmi_add(g, hmi_mul(g, dot.items[2], R->items[0]), hmi_mul(g, dot.items[3], R->items[1]));
    return true;
}

static bool compose(hmi_builder *b, hmi_place *place, const hmi_place *parent, const joint *j,
                    const hmi_value *P, const hmi_value *R0)
{
    hmi_span at = place->statement->span;
    hmi_value shifted, from, carried, turned, fixed;
    hmi_expr own;
    if (!hmi_value_product(b, at, R0, &j->shift, &shifted) ||
        !hmi_value_combine(b, at, HMI_TOK_PLUS, P, &shifted, &from) ||
        !hmi_value_product(b, at, &parent->frame, &from, &carried) ||
        !hmi_value_combine(b, at, HMI_TOK_PLUS, &parent->origin, &carried, &place->origin) ||
        !hmi_value_product(b, at, &parent->frame, R0, &fixed) ||
        !hmi_value_product(b, at, &fixed, &j->R, &turned))
        return false;
    place->frame = turned;
    if (place->dimension == 3)
        return true;
    if (!planar_rate(b, at, R0, &own))
        return false;
    place->rate = hmi_add(b->graph, parent->rate, hmi_add(b->graph, own, j->rate));
    return true;
}

static bool place_carried(hmi_builder *b, hmi_place *place, const hmi_place *parent)
{
    const hmi_body_parts *parts = &place->parts;
    joint j = {.b = b, .e = parts->by->value, .place = place, .rate = b->graph->zero};
    hmi_value P, R0, C, offset;
    hmi_span at = place->statement->span;
    return find_joint(b, j.e, &j.kind) && apply_joint(&j) &&
           build_vector(b, parts->at, place, "the place of a joint", &P) &&
           build_matrix(b, parts->frame, place, &R0) && compose(b, place, parent, &j, &P, &R0) &&
           build_vector(b, parts->com, place, "a mass centre", &C) &&
           hmi_value_product(b, at, &place->frame, &C, &offset) &&
           hmi_value_combine(b, at, HMI_TOK_PLUS, &place->origin, &offset, &place->center);
}

/* at P, with a frame, an angle or nothing. */
static bool place_at(hmi_builder *b, hmi_place *place)
{
    const hmi_body_parts *parts = &place->parts;
    hmi_value angle, rate;
    char shape[HMI_SHAPE_TEXT];
    if (!hmi_build_value(b, parts->at->value, place->scope, &place->origin))
        return false;
    if (place->origin.rank != 1 || place->origin.rows < 2 || place->origin.rows > 3) {
        hmi_error(b->context, parts->at->value->span, NULL,
                  "the position of a body is a vector of 2 or 3 components, not %s",
                  hmi_shape_text(&place->origin, shape));
        return false;
    }
    place->center = place->origin;
    place->dimension = place->origin.rows;
    if (!hmi_check_body_parts(b, parts, place->dimension))
        return false;
    if (parts->frame) {
        if (!hmi_build_value(b, parts->frame->value, place->scope, &place->frame))
            return false;
        if (place->frame.rank == 2 && place->frame.rows == 3 && place->frame.columns == 3)
            return true;
        hmi_error(b->context, parts->frame->value->span, NULL,
                  "a frame is a rotation (a 3x3 matrix), not %s",
                  hmi_shape_text(&place->frame, shape));
        return false;
    }
    if (!parts->angle)
        return true;
    if (!hmi_build_value(b, parts->angle->value, place->scope, &angle))
        return false;
    if (angle.rank != 0) {
        hmi_error(b->context, parts->angle->value->span, NULL, "an angle is a number");
        return false;
    }
    if (!hmi_value_derivative(b, parts->angle->value->span, &angle, &rate))
        return false;
    place->rate = rate.scalar;
    return planar_rotation(b, angle.scalar, &place->frame);
}

static bool place_free(hmi_builder *b, hmi_place *place)
{
    hmi_expr e[7];
    uint32_t size = place->dimension;
    for (uint32_t k = 0; k < (size == 2 ? 3u : 7u); k++)
        e[k] = hmi_symbol(b->graph, HMI_SYM_COORD, place->first_coord + k);
    if (!hmi_value_new(b, 1, size, 1, &place->origin))
        return false;
    for (uint32_t k = 0; k < size; k++)
        place->origin.items[k] = e[k];
    place->center = place->origin;
    if (size == 3)
        return hmi_rotation_quaternion(b, e + 3, &place->frame);
    place->rate = hmi_symbol(b->graph, HMI_SYM_VELOCITY, place->first_coord + 2);
    return planar_rotation(b, e[2], &place->frame);
}

/* ---- parents ---- */

static const char *nearest_body(hmi_builder *b, const char *wanted)
{
    size_t length = strlen(wanted);
    int most = length <= 1 ? 0 : length <= 3 ? 1 : 2;
    for (size_t i = 0; i < b->places.count; i++)
        if (hmi_edit_distance(wanted, b->places.data[i]->name, most) <= most)
            return hmi_context_printf(b->context, "did you mean '%s'?", b->places.data[i]->name);
    return NULL;
}

bool hmi_is_ground(hmi_builder *b, const hmi_ast *e)
{
    return e->kind == HMI_AST_NAME &&
           strcmp(hmi_names_text(&b->tree->names, e->name), "ground") == 0;
}

hmi_place *hmi_named_place(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope,
                           const char *hint)
{
    const hmi_ast *base = e->kind == HMI_AST_INDEX ? e->items[0] : e;
    if (base->kind != HMI_AST_NAME) {
        hmi_error(b->context, e->span, hint, "expected the name of a body");
        return NULL;
    }
    const char *name = hmi_label_text(b, e, scope);
    int64_t index = name ? hmi_find_object(b, name, "body") : -1;
    if (name && index < 0)
        hmi_error(b->context, e->span, nearest_body(b, name), "there is no body '%s'", name);
    return index < 0 ? NULL : b->places.data[index];
}

/* A vector of 2 anywhere, or a hinge without an axis, means the plane; else it is that of the parent. */
static bool looks_planar(hmi_builder *b, const hmi_place *place)
{
    const hmi_body_parts *parts = &place->parts;
    const hmi_ast *by = parts->by->value;
    const hmi_entry *vectors[] = {parts->at, parts->com};
    hmi_value value;
    if (by->kind == HMI_AST_CALL && by->count == 1)
        return true;
    for (int k = 0; k < 2; k++)
        if (vectors[k] && hmi_build_value(b, vectors[k]->value, place->scope, &value))
            return value.rank == 1 && value.rows == 2;
    return by->kind == HMI_AST_CALL && by->count == 2 &&
           hmi_build_value(b, by->items[1], place->scope, &value) && value.rank == 1 &&
           value.rows == 2;
}

static bool place_on_ground(hmi_builder *b, hmi_place *place)
{
    hmi_place ground = {.dimension = looks_planar(b, place) ? 2 : 3, .rate = b->graph->zero};
    place->dimension = ground.dimension;
    return zero_vector(b, ground.dimension, &ground.origin) &&
           unit_matrix(b, ground.dimension, &ground.frame) && place_carried(b, place, &ground);
}

static bool place_on(hmi_builder *b, hmi_place *place, const hmi_place *parent)
{
    if (parent->frame.rank != 2) {
        hmi_error(b->context, place->parts.on->value->span, "give it an inertia and a frame",
                  "'%s' is a particle: it has no frame that could carry a body", parent->name);
        return false;
    }
    place->dimension = parent->dimension;
    return place_carried(b, place, parent);
}

static bool report_circle(hmi_builder *b, const hmi_place *place)
{
    hmi_error(b->context, place->parts.on->span, NULL, "body '%s' carries itself", place->name);
    return false;
}

static bool place_one(hmi_builder *b, hmi_place *place)
{
    if (place->parts.free)
        return place_free(b, place);
    if (!place->parts.on)
        return place_at(b, place);
    return hmi_is_ground(b, place->parts.on->value) ? place_on_ground(b, place)
                                                    : place_on(b, place, place->parent);
}

bool hmi_force_place(hmi_builder *b, hmi_place *place)
{
    hmi_place *user = NULL;
    /* Up to an ancestor that is placed, or that hangs on nothing ... */
    while (place->progress == HMI_LET_WAITING && place->parts.on &&
           !hmi_is_ground(b, place->parts.on->value)) {
        place->progress = HMI_LET_RUNNING;
        place->user = user;
        if (!(place->parent = hmi_named_place(b, place->parts.on->value, place->scope,
                                              "write on NAME or on ground"))) {
            place->progress = HMI_LET_FAILED;
            break;
        }
        user = place;
        place = place->parent;
    }
    bool good = place->progress != HMI_LET_RUNNING || report_circle(b, place);
    if (place->progress == HMI_LET_WAITING) {
        place->progress = HMI_LET_RUNNING;
        place->progress = place_one(b, place) ? HMI_LET_DONE : HMI_LET_FAILED;
    }
    good = good && place->progress == HMI_LET_DONE;
    /* ... and down again. */
    for (; user; user = user->user) {
        good = good && place_one(b, user);
        user->progress = good ? HMI_LET_DONE : HMI_LET_FAILED;
    }
    return good;
}

/* ---- declaration ---- */

static const char *const space_names[] = {"x", "y", "z", "e0", "e1", "e2", "e3"};
static const char *const plane_names[] = {"x", "y", "a"};

/* NAME_x, or NAME_x[i] of an indexed body. */
static bool declare_coordinate(hmi_builder *b, const hmi_place *place, const char *suffix)
{
    const char *bracket = strchr(place->name, '[');
    int length = bracket ? (int)(bracket - place->name) : (int)strlen(place->name);
    hmi_text text;
    hmi_text_init(&text, &b->context->allocator);
    hmi_text_addf(&text, "%.*s_%s", length, place->name, suffix);
    hmi_ast name = {.kind = HMI_AST_NAME, .span = place->statement->label->span};
    name.name = text.failed ? HMI_NO_NAME
                            : hmi_names_intern(&b->tree->names, text.data, text.length);
    hmi_text_add(&text, bracket ? bracket : "");
    char *kept = text.failed ? NULL : hmi_arena_text(&b->model->arena, text.data, text.length);
    hmi_text_release(&text);
    if (name.name == HMI_NO_NAME || !kept)
        return hmi_no_memory(b);
    uint32_t index = (uint32_t)b->model->coords.count;
    const hmi_binding *known = hmi_find_binding(b, NULL, name.name);
    hmi_expr symbol;
    if (!bracket || !known || known->kind != HMI_BIND_INDEXED) {
        hmi_binding *slot = hmi_declare(b, &name, "coordinate");
        if (!slot)
            return false;
        if (bracket)
            slot->kind = HMI_BIND_INDEXED;
        slot->value = hmi_scalar(hmi_symbol(b->graph, HMI_SYM_COORD, index));
    }
    return hmi_add_coord(b, kept, NULL, name.span, &symbol) &&
           (!bracket || hmi_declare_object(b, kept, "coordinate", index, name.span));
}

static bool declare_free(hmi_builder *b, hmi_place *place)
{
    bool planar = place->parts.free->guess;
    place->dimension = planar ? 2 : 3;
    place->first_coord = (uint32_t)b->model->coords.count;
    for (int k = 0; k < (planar ? 3 : 7); k++)
        if (!declare_coordinate(b, place, planar ? plane_names[k] : space_names[k]))
            return false;
    return true;
}

bool hmi_declare_body(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_place *place = hmi_builder_alloc(b, sizeof *place);
    const char *label = hmi_label_text(b, s->label, scope);
    if (!place || !label)
        return false;
    *place = (hmi_place){.statement = s, .scope = scope, .rate = b->graph->zero};
    place->name = hmi_arena_text(&b->model->arena, label, strlen(label));
    if (!place->name)
        return hmi_no_memory(b);
    if (strcmp(place->name, "ground") == 0) {
        hmi_error(b->context, s->label->span, "choose another name",
                  "'ground' is what does not move: a body cannot be called so");
        return false;
    }
    uint32_t index = (uint32_t)b->places.count;
    if (!hmi_sort_body_items(b, s, &place->parts) ||
        !hmi_declare_object(b, place->name, "body", index, s->label->span))
        return false;
    if (!hmi_array_push(&b->context->allocator, &b->places, place))
        return hmi_no_memory(b);
    return !place->parts.free || declare_free(b, place);
}
