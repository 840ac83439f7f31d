/* The statement `joint`: two bodies, points and axes; what is missing is measured at the initial values.
 *
 * A missing axis, and the relative orientation of `slider` and `weld`, follow from the frames at the values
 * that `initial` gives, guesses and defaults included. They stay expressions of parameters, so that another
 * value of a parameter gives what reading the model again would give.
 * Verified: test/unit/model/test_joints.c
 */
#include "model/build/body.h"
#include "model/build/joint_parts.h"

#include "expr/graph/diff.h"

#include <math.h>
#include <string.h>

typedef struct kind_row {
    const char *name;
    unsigned space, plane; /* hmi_joint_part; 0: not in the plane */
    int axes;              /* at least; of two */
} kind_row;

static const kind_row kinds[] = {
    {"ball", HMI_JOINT_POINT, 0, 0},
    {"hinge", HMI_JOINT_POINT | HMI_JOINT_ALIGN, HMI_JOINT_POINT, 1},
    {"slider", HMI_JOINT_LINE | HMI_JOINT_TURN, HMI_JOINT_LINE | HMI_JOINT_TURN, 1},
    {"cylinder", HMI_JOINT_LINE | HMI_JOINT_ALIGN, 0, 1},
    {"universal", HMI_JOINT_POINT | HMI_JOINT_CROSS, 0, 2},
    {"plane", HMI_JOINT_NORMAL | HMI_JOINT_ALIGN, 0, 1},
    {"weld", HMI_JOINT_POINT | HMI_JOINT_TURN, HMI_JOINT_POINT | HMI_JOINT_TURN, 0},
    {"distance", HMI_JOINT_LENGTH, HMI_JOINT_LENGTH, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A joint while it is built. */
typedef struct joint {
    hmi_builder *b;
    const hmi_statement *s;
    const hmi_scope *scope;
    const char *name;
    const kind_row *kind;
    unsigned parts;
    hmi_place *place[2]; /* NULL: ground */
    uint32_t dimension;
    hmi_assembly a;
    hmi_substitution start; /* of coordinates by their initial values */
} joint;

static const char usage[] = "write joint NAME: hinge of A at u axis d and B at w";

/* ---- the kind ---- */

static bool find_kind(joint *j)
{
    const char *word = hmi_names_text(&j->b->tree->names, j->s->word), *hint = NULL;
    for (int k = 0; k < KINDS && !j->kind; k++)
        if (strcmp(kinds[k].name, word) == 0)
            j->kind = &kinds[k];
    if (j->kind)
        return true;
    for (int k = 0; k < KINDS && !hint; k++)
        if (hmi_edit_distance(word, kinds[k].name, 2) <= 2)
            hint = hmi_context_printf(j->b->context, "did you mean '%s'?", kinds[k].name);
    hmi_error(j->b->context, j->s->span,
              hint ? hint
                   : "one of: ball, hinge, slider, cylinder, universal, plane, weld, distance",
              "there is no kind of joint '%s'", word);
    return false;
}

static bool find_parts(joint *j)
{
    j->parts = j->dimension == 2 ? j->kind->plane : j->kind->space;
    if (j->parts)
        return true;
    hmi_error(j->b->context, j->s->span, "one of: hinge, slider, weld, distance",
              "there is no joint '%s' in the plane", j->kind->name);
    return false;
}

static bool build_length(joint *j)
{
    const hmi_ast *e = j->s->first;
    const uint16_t allowed = HMI_STATE_DEPS & ~HMI_DEP(HMI_SYM_VELOCITY);
    double value;
    bool wanted = j->kind->space == HMI_JOINT_LENGTH;
    if (wanted != (e != NULL)) {
        hmi_error(j->b->context, e ? e->span : j->s->span,
                  wanted ? "write joint NAME: distance L of A at u and B at w" : usage,
                  wanted ? "a distance needs its length" : "'%s' takes no length", j->kind->name);
        return false;
    }
    if (!e)
        return true;
    if (!hmi_build_scalar(j->b, e, j->scope, &j->a.length) ||
        !hmi_check_contents(j->b, j->a.length, allowed, e->span, "a distance"))
        return false;
    if ((hmi_deps(j->b->graph, j->a.length) & ~HMI_DEP(HMI_SYM_PARAM)) ||
        !hmi_constant_value(j->b, j->a.length, &value) || value > 0)
        return true;
    hmi_error(j->b->context, e->span,
              "points that coincide are joined by a ball, or by a hinge in the plane",
              "the length of a distance must be positive, not %.9g", value);
    return false;
}

/* ---- the bodies ---- */

static bool find_bodies(joint *j)
{
    const hmi_entry *sides = j->s->entries;
    bool ground[2];
    for (int k = 0; k < 2; k++) {
        ground[k] = hmi_is_ground(j->b, sides[k].target);
        if (!ground[k] &&
            (!(j->place[k] = hmi_named_place(j->b, sides[k].target, j->scope, usage)) ||
             !hmi_force_place(j->b, j->place[k])))
            return false;
    }
    if (j->place[0] == j->place[1]) {
        hmi_error(j->b->context, sides[1].target->span, usage,
                  ground[0] ? "a joint of ground and ground moves nothing"
                            : "a joint is between two bodies, not '%s' and itself",
                  ground[0] ? "" : j->place[0]->name);
        return false;
    }
    const hmi_place *first = j->place[0] ? j->place[0] : j->place[1];
    j->dimension = first->dimension;
    if (!j->place[0] || !j->place[1] || j->place[1]->dimension == j->dimension)
        return true;
    hmi_error(j->b->context, j->s->span, NULL,
              "'%s' is in %s and '%s' in %s: no joint can be between them", j->place[0]->name,
              j->place[0]->dimension == 2 ? "the plane" : "space", j->place[1]->name,
              j->place[1]->dimension == 2 ? "the plane" : "space");
    return false;
}

/* The frame as a 3x3 matrix: that of ground and of a particle is the identity. */
static void take_frame(joint *j, int k)
{
    hmi_graph *g = j->b->graph;
    const hmi_value *frame = j->place[k] ? &j->place[k]->frame : NULL;
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < 3; l++)
            j->a.R[k].c[i][l] = i == l ? g->one : g->zero;
    for (uint32_t i = 0; frame && i < frame->rows && frame->rank == 2; i++)
        for (uint32_t l = 0; l < frame->columns; l++)
            j->a.R[k].c[i][l] = frame->items[i * frame->columns + l];
}

/* A particle has no axes for points and directions in it, and does not turn. */
static bool check_frame(joint *j, int k)
{
    const hmi_place *place = j->place[k];
    const unsigned turns = HMI_JOINT_ALIGN | HMI_JOINT_CROSS | HMI_JOINT_TURN;
    bool needed = j->s->entries[k].value || j->s->entries[k].second || (j->parts & turns) ||
                  (k == 0 && (j->parts & (HMI_JOINT_LINE | HMI_JOINT_NORMAL)));
    if (!place || place->frame.rank == 2 || !needed)
        return true;
    hmi_error(
        j->b->context, j->s->entries[k].target->span,
        "give it an inertia and a frame (in the plane an angle), or join its origin by a ball "
        "or a distance",
        "'%s' is a particle: it has no frame", place->name);
    return false;
}

/* A written vector as a triple; its size is that of the bodies. */
static bool build_triple(joint *j, const hmi_ast *e, const char *what, uint16_t allowed,
                         hmi_triple *out)
{
    hmi_value value;
    char shape[HMI_SHAPE_TEXT];
    *out = (hmi_triple){{j->b->graph->zero, j->b->graph->zero, j->b->graph->zero}};
    if (!e)
        return true;
    if (!hmi_build_value(j->b, e, j->scope, &value))
        return false;
    if (value.rank != 1 || value.rows != j->dimension) {
        hmi_error(j->b->context, e->span, NULL, "%s is a vector of %u components here, not %s",
                  what, j->dimension, hmi_shape_text(&value, shape));
        return false;
    }
    for (uint32_t i = 0; i < j->dimension; i++) {
        out->c[i] = value.items[i];
        if (!hmi_check_contents(j->b, value.items[i], allowed, e->span, what))
            return false;
    }
    return true;
}

/* origin + frame u */
static bool build_point(joint *j, int k)
{
    hmi_graph *g = j->b->graph;
    hmi_triple u;
    if (!build_triple(j, j->s->entries[k].value, "the place of a joint",
                      HMI_STATE_DEPS & ~HMI_DEP(HMI_SYM_VELOCITY), &u))
        return false;
    j->a.P[k] = hmi_nine_times(g, &j->a.R[k], u);
    for (uint32_t i = 0; j->place[k] && i < j->dimension; i++)
        j->a.P[k].c[i] = hmi_add(g, j->place[k]->origin.items[i], j->a.P[k].c[i]);
    return true;
}

/* ---- initial values ---- */

/* What `initial` and `simulate` say of a leaf. */
static hmi_expr initial_leaf(hmi_graph *g, hmi_expr leaf, void *user)
{
    const hm_model *model = ((const hmi_builder *)user)->model;
    const hmi_node *node = hmi_node_at(g, leaf);
    const hmi_initial *initial = NULL;
    if (node->op != HMI_SYMBOL)
        return leaf;
    switch ((hmi_symbol_kind)node->a) {
    case HMI_SYM_COORD:
        initial = &model->coords.data[node->b].position;
        break;
    case HMI_SYM_STATE:
        initial = &model->states.data[node->b].initial;
        break;
    case HMI_SYM_INPUT:
        return model->inputs.data[node->b].value;
    case HMI_SYM_TIME:
        return model->simulate.given ? model->simulate.start_expr : g->zero;
    default:
        return leaf;
    }
    return initial->given != HMI_GIVEN_NOT ? initial->expr : hmi_number(g, initial->value);
}

/* A number where no parameter is in it. */
static hmi_expr as_number(hmi_builder *b, hmi_expr e)
{
    double value;
    return hmi_deps(b->graph, e) == 0 && hmi_constant_value(b, e, &value) && isfinite(value)
               ? hmi_number(b->graph, value)
               : e;
}

/* An expression at the initial values. Twice: inputs are functions of time and of coordinates. */
static bool at_start(joint *j, hmi_expr *e)
{
    double value;
    for (int k = 0; k < 2; k++)
        *e = hmi_substitute(&j->start, j->b->graph, *e);
    if (*e == HMI_NONE)
        return hmi_graph_sound(j->b, j->s->span) && hmi_no_memory(j->b);
    if (hmi_constant_value(j->b, *e, &value) && isfinite(value)) {
        *e = as_number(j->b, *e);
        return true;
    }
    hmi_error(j->b->context, j->s->span, "give `initial` values at which the frames are rotations",
              "joint '%s' cannot be measured: a frame has no value at the initial values", j->name);
    return false;
}

/* R_A^T R_B at the initial values. */
static bool measure(joint *j, hmi_nine *C)
{
    hmi_graph *g = j->b->graph;
    hmi_nine R[2];
    for (int k = 0; k < 2; k++) {
        if (j->place[k] && !hmi_start_quaternions(j->b, &j->place[k]->frame))
            return false;
        for (int i = 0; i < 9; i++) {
            R[k].c[i / 3][i % 3] = j->a.R[k].c[i / 3][i % 3];
            if (!at_start(j, &R[k].c[i / 3][i % 3]))
                return false;
        }
    }
    hmi_nine A = hmi_nine_transposed(&R[0]);
    *C = hmi_nine_product(g, &A, &R[1]);
    return true;
}

/* ---- axes ---- */

static bool normalise(joint *j, const hmi_ast *e, hmi_triple *axis)
{
    hmi_graph *g = j->b->graph;
    double size;
    hmi_expr length = hmi_triple_norm(g, *axis);
    if (!hmi_number_of(j->b, length, e->span, "the length of an axis", &size))
        return false;
    if (!(size > 0)) {
        hmi_error(j->b->context, e->span, NULL, "the axis of a joint is zero");
        return false;
    }
    *axis = hmi_triple_over(g, *axis, length);
    for (int i = 0; i < 3; i++)
        axis->c[i] = as_number(j->b, axis->c[i]);
    return true;
}

static bool build_axis(joint *j, int k)
{
    const hmi_ast *e = j->s->entries[k].second;
    return !e ||
           (build_triple(j, e, "the axis of a joint", HMI_DEP(HMI_SYM_PARAM), &j->a.axis[k]) &&
            normalise(j, e, &j->a.axis[k]));
}

static bool check_axis_count(joint *j)
{
    const hmi_entry *sides = j->s->entries;
    bool planar_hinge = j->dimension == 2 && j->parts == HMI_JOINT_POINT;
    int given = (sides[0].second != NULL) + (sides[1].second != NULL);
    int wanted = planar_hinge ? 0 : j->kind->axes;
    const hmi_ast *stray = sides[0].second ? sides[0].second : sides[1].second;
    if (wanted == 0 && given)
        hmi_error(j->b->context, stray->span, NULL, "a %s %shas no axis", j->kind->name,
                  planar_hinge ? "in the plane " : "");
    else if (given < wanted)
        hmi_error(j->b->context, j->s->span,
                  wanted == 2 ? "write axis d behind the first body and axis d2 behind the second"
                              : "write axis d behind one of the bodies",
                  wanted == 2 ? "a %s needs an axis in both bodies" : "a %s needs an axis",
                  j->kind->name);
    return wanted == 0 ? !given : given >= wanted;
}

/* Two unit vectors that are perpendicular to the axis; sparse where it is. */
static bool complete_axis(joint *j)
{
    hmi_graph *g = j->b->graph;
    hmi_triple d = j->a.axis[0];
    int smallest = 2;
    double size[3];
    for (int i = 0; i < 3; i++)
        if (!hmi_constant_value(j->b, d.c[i], &size[i]))
            return false;
    if (j->dimension == 3)
        for (int i = 1; i >= 0; i--)
            smallest = fabs(size[i]) <= fabs(size[smallest]) ? i : smallest;
    /* In the plane the helper is the third axis, and e3 x d the one that is perpendicular. */
    hmi_triple helper = hmi_unit_triple(g, smallest);
    hmi_triple first = j->dimension == 2 ? hmi_triple_cross(g, helper, d)
                                         : hmi_triple_cross(g, d, helper);
    first = hmi_triple_over(g, first, hmi_triple_norm(g, first));
    hmi_triple second = hmi_triple_cross(g, d, first);
    for (int i = 0; i < 3; i++) {
        j->a.across[0].c[i] = as_number(j->b, first.c[i]);
        j->a.across[1].c[i] = as_number(j->b, second.c[i]);
    }
    return true;
}

/* The rotation that takes the unit vector p to d on the shortest way, times C:
 * 1 + [v] + [v]^2/(1 + p.d) with v = p x d. */
static void turn_onto(hmi_graph *g, hmi_triple p, hmi_triple d, hmi_nine *C)
{
    hmi_triple v = hmi_triple_cross(g, p, d);
    hmi_expr factor = hmi_add(g, g->one, hmi_triple_dot(g, p, d));
    hmi_nine S = {{{g->zero, hmi_neg(g, v.c[2]), v.c[1]},
                   {v.c[2], g->zero, hmi_neg(g, v.c[0])},
                   {hmi_neg(g, v.c[1]), v.c[0], g->zero}}};
    hmi_nine square = hmi_nine_product(g, &S, &S);
    for (int i = 0; i < 9; i++) {
        hmi_expr *entry = &S.c[i / 3][i % 3];
        *entry = hmi_add(g, *entry, hmi_div(g, square.c[i / 3][i % 3], factor));
        *entry = hmi_add(g, *entry, i % 4 ? g->zero : g->one);
    }
    *C = hmi_nine_product(g, &S, C);
}

/* A slider both of whose axes are written: they are parallel as meant, and about them the orientation is
 * that of the initial values. */
static bool honour_axes(joint *j)
{
    hmi_graph *g = j->b->graph;
    hmi_triple p = hmi_nine_times(g, &j->a.C, j->a.axis[1]);
    double cosine;
    if (!hmi_constant_value(j->b, hmi_triple_dot(g, p, j->a.axis[0]), &cosine))
        return false;
    if (!(cosine > -1 + 1e-12)) {
        hmi_error(j->b->context, j->s->span,
                  "write the axis of one body only, or turn one of them round",
                  "the axes of joint '%s' are opposite at the initial values", j->name);
        return false;
    }
    turn_onto(g, p, j->a.axis[0], &j->a.C);
    return true;
}

/* What is not written: an axis, and the relative orientation. */
static bool complete(joint *j)
{
    hmi_graph *g = j->b->graph;
    const hmi_entry *sides = j->s->entries;
    bool axes = sides[0].second || sides[1].second;
    bool both = sides[0].second && sides[1].second;
    if ((axes && !both) || (j->parts & HMI_JOINT_TURN)) {
        if (!measure(j, &j->a.C))
            return false;
    }
    if (axes && !sides[1].second) {
        hmi_nine T = hmi_nine_transposed(&j->a.C);
        j->a.axis[1] = hmi_nine_times(g, &T, j->a.axis[0]);
    } else if (axes && !sides[0].second)
        j->a.axis[0] = hmi_nine_times(g, &j->a.C, j->a.axis[1]);
    if (both && (j->parts & HMI_JOINT_TURN) && !honour_axes(j))
        return false;
    for (int i = 0; i < 9 && (j->parts & HMI_JOINT_TURN); i++)
        j->a.C.c[i / 3][i % 3] = as_number(j->b, j->a.C.c[i / 3][i % 3]);
    for (int k = 0; k < 2 && axes; k++)
        for (int i = 0; i < 3; i++)
            j->a.axis[k].c[i] = as_number(j->b, j->a.axis[k].c[i]);
    return !axes || complete_axis(j);
}

/* ---- the rows ---- */

static bool keep_push(joint *j, hmi_joint *kept)
{
    size_t size = j->dimension == 3 ? 6 : 3;
    kept->push = hmi_model_alloc(j->b, size * HMI_MOST_JOINT_ROWS * sizeof *kept->push);
    if (!kept->push)
        return false;
    for (uint32_t k = 0; k < j->a.count; k++) {
        hmi_expr *push = kept->push + k * size;
        for (uint32_t i = 0; i < j->dimension; i++)
            push[i] = j->a.force[k].c[i];
        for (uint32_t i = 0; i < 3 && size == 6; i++)
            push[3 + i] = j->a.moment[k].c[i];
        if (size == 3)
            push[2] = j->a.moment[k].c[2];
    }
    return true;
}

static bool keep_joint(joint *j)
{
    hmi_builder *b = j->b;
    uint32_t first = (uint32_t)b->model->constraints.count;
    hmi_joint kept = {.name = j->name,
                      .span = j->s->span,
                      .first = first,
                      .count = j->a.count,
                      .dimension = (int)j->dimension,
                      .side = j->a.side};
    memcpy(kept.at[0], j->a.P[0].c, sizeof kept.at[0]);
    memcpy(kept.at[1], j->a.P[1].c, sizeof kept.at[1]);
    if (!hmi_declare_object(b, j->name, "joint", (uint32_t)b->model->joints.count, j->s->span) ||
        !hmi_declare_object(b, j->name, "vector constraint", first, j->s->span) ||
        !hmi_declare_object(b, j->name, "size of constraint", j->a.count, j->s->span) ||
        !keep_push(j, &kept))
        return false;
    for (uint32_t k = 0; k < j->a.count; k++) {
        const char *row = hmi_context_printf(b->context, "%s[%u]", j->name, k + 1);
        if (!row || !hmi_add_constraint(b, row, j->a.residual[k], j->s->span))
            return false;
    }
    return hmi_array_push(&b->context->allocator, &b->model->joints, kept) || hmi_no_memory(b);
}

static bool build_rows(joint *j)
{
    for (int k = 0; k < 2; k++) {
        take_frame(j, k);
        if (!check_frame(j, k) || !build_point(j, k) || !build_axis(j, k))
            return false;
    }
    if (!complete(j))
        return false;
    hmi_add_joint_rows(&j->a, j->parts);
    return hmi_graph_sound(j->b, j->s->span) && keep_joint(j);
}

bool hmi_build_joint(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    const uint16_t moving = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_STATE) |
                            HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_TIME);
    joint j = {.b = b, .s = s, .scope = scope};
    j.name = hmi_label_text(b, s->label, scope);
    if (!j.name || !find_kind(&j) || !build_length(&j) || !find_bodies(&j) || !find_parts(&j) ||
        !check_axis_count(&j))
        return false;
    j.a.graph = b->graph;
    j.a.planar = j.dimension == 2;
    j.a.side = HMI_NONE;
    hmi_substitution_init(&j.start, &b->context->allocator, initial_leaf, b, moving);
    bool good = build_rows(&j);
    hmi_substitution_release(&j.start);
    return good;
}
