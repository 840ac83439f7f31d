/* What is drawn of a model without `draw` statements, as drawings like those of statements:
 *
 *     body with inertia   ball, disc or box of that mass and inertia: for a box of edges a, b, c
 *                         J1 = m (b^2 + c^2)/12 and so on, hence a^2 = 6 (J2 + J3 - J1)/m
 *     in the plane        a bar along the first axis with J = m (a^2 + b^2)/12, b = a/12
 *     particle            a point, larger with its mass
 *     carried body        a line from the origin of the body that carries it
 *     joint               its two points with a line between them (which is nothing for a hinge)
 *     coordinates x, y, z points where there are no bodies: x, y; x2, y2; x[3], y[3], z[3]; x, z
 *
 *     distances, heights  lines and the ground that constraints show (scene_constraints.c)
 *
 * Sizes are numbers of the model's parameters. Verified: test/unit/model/test_scene.c
 */
#include "linalg/linalg.h"
#include "model/build/body.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DRAWN = 2000, MOST_TRACES = 4 };

/* ---- values ---- */

static hmi_value number_value(hmi_builder *b, double x)
{
    return hmi_scalar(hmi_number(b->graph, x));
}

static bool vector_value(hmi_builder *b, const hmi_expr *items, size_t size, hmi_value *out)
{
    if (!hmi_value_new(b, 1, size, 1, out))
        return false;
    for (size_t k = 0; k < size; k++)
        out->items[k] = items[k];
    return true;
}

/* R E with E of numbers, row by row. */
static bool turned_frame(hmi_builder *b, const hmi_value *R, const double E[9], hmi_value *out)
{
    hmi_graph *g = b->graph;
    if (!hmi_value_new(b, 2, 3, 3, out))
        return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            hmi_expr sum = g->zero;
            for (int k = 0; k < 3; k++)
                if (E[3 * k + j] != 0)
                    sum = hmi_add(g, sum,
                                  hmi_mul(g, R->items[3 * i + k], hmi_number(g, E[3 * k + j])));
            out->items[3 * i + j] = sum;
        }
    return true;
}

static bool same_items(const hmi_value *x, const hmi_value *y)
{
    return hmi_same_shape(x, y) && memcmp(x->items, y->items, x->rows * sizeof *x->items) == 0;
}

/* ---- bodies ---- */

static bool draw_point(hmi_builder *b, const hmi_value *P, const char *label, double weight)
{
    return hmi_add_drawing(b, HM_DRAWING_POINT, P, 1, label, weight);
}

/* The value of an expression of parameters, else 0: nothing is drawn after it. */
static double number_or_zero(hmi_builder *b, hmi_expr e)
{
    double value = 0;
    bool known = !(hmi_deps(b->graph, e) & ~HMI_DEP(HMI_SYM_PARAM)) &&
                 hmi_constant_value(b, e, &value) && isfinite(value);
    return known ? value : 0;
}

static bool draw_bar(hmi_builder *b, const hmi_place *place, const hmi_body *body)
{
    hmi_expr inertia;
    if (!hmi_build_scalar(b, place->parts.inertia->value, place->scope, &inertia))
        return false;
    double m = number_or_zero(b, body->mass), J = number_or_zero(b, inertia);
    double length = m > 0 && J > 0 ? sqrt(12 * J / m / (1 + 1.0 / 144)) : 0;
    if (!(length > 0) || !isfinite(length))
        return draw_point(b, &place->center, body->name, 1);
    hmi_expr edges[2] = {hmi_number(b->graph, length), hmi_number(b->graph, length / 12)};
    hmi_value parts[3] = {place->center, place->frame};
    return vector_value(b, edges, 2, &parts[2]) &&
           hmi_add_drawing(b, HM_DRAWING_BOX, parts, 3, body->name, 1);
}

/* The principal axes as columns of E, a right-handed frame; the two moments that are closest come first. */
static void principal_axes(double J[9], double moments[3], double E[9])
{
    double values[3], vectors[9];
    hmi_eigen(3, J, values, vectors);
    int last = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(values[(k + 1) % 3] - values[(k + 2) % 3]) <
            fabs(values[(last + 1) % 3] - values[(last + 2) % 3]))
            last = k;
    for (int j = 0; j < 3; j++) {
        int from = (last + 1 + j) % 3;
        moments[j] = values[from];
        for (int i = 0; i < 3; i++)
            E[3 * i + j] = vectors[3 * from + i];
    }
    double turn = E[0] * (E[4] * E[8] - E[5] * E[7]) - E[1] * (E[3] * E[8] - E[5] * E[6]) +
                  E[2] * (E[3] * E[7] - E[4] * E[6]);
    for (int i = 0; i < 3 && turn < 0; i++)
        E[3 * i] = -E[3 * i];
}

static bool read_inertia(hmi_builder *b, const hmi_place *place, double J[9])
{
    hmi_value inertia;
    if (!hmi_build_value(b, place->parts.inertia->value, place->scope, &inertia))
        return false;
    for (int k = 0; k < 9; k++)
        J[k] = inertia.rank == 2 ? number_or_zero(b, inertia.items[k]) : 0;
    return true;
}

/* A box of this mass and these moments; edges that come out as nothing get a tenth of the longest. */
static bool draw_box(hmi_builder *b, const hmi_value *center, const hmi_value *frame,
                     const char *name, double m, const double J[3])
{
    double sum = J[0] + J[1] + J[2], edge[3], longest = 0;
    hmi_expr edges[3];
    hmi_value parts[3] = {*center, *frame};
    for (int k = 0; k < 3; k++) {
        edge[k] = sqrt(fmax(0, 6 * (sum - 2 * J[k]) / m));
        longest = fmax(longest, edge[k]);
    }
    if (!(longest > 0) || !isfinite(longest))
        return draw_point(b, center, name, 1);
    for (int k = 0; k < 3; k++)
        edges[k] = hmi_number(b->graph, fmax(edge[k], longest / 10));
    return vector_value(b, edges, 3, &parts[2]) &&
           hmi_add_drawing(b, HM_DRAWING_BOX, parts, 3, name, 1);
}

static bool nearly(double x, double y)
{
    return fabs(x - y) <= 1e-6 * (fabs(x) + fabs(y));
}

static bool draw_solid(hmi_builder *b, const hmi_place *place, const hmi_body *body)
{
    double J[9], moments[3], E[9], m = number_or_zero(b, body->mass);
    hmi_value parts[3] = {place->center};
    if (!read_inertia(b, place, J))
        return false;
    principal_axes(J, moments, E);
    if (!(m > 0) || !(moments[0] + moments[1] + moments[2] > 0))
        return draw_point(b, &place->center, body->name, 1);
    if (!turned_frame(b, &place->frame, E, &parts[1]))
        return false;
    bool round = nearly(moments[0], moments[1]);
    if (round && nearly(moments[1], moments[2])) { /* with its frame: one sees it turn */
        hmi_value ball[3] = {parts[0], number_value(b, sqrt(2.5 * moments[0] / m)), parts[1]};
        return hmi_add_drawing(b, HM_DRAWING_SPHERE, ball, 3, body->name, 1);
    }
    if (round && moments[2] > 1.8 * moments[0]) { /* 2 for a thin one */
        parts[2] = number_value(b, sqrt(2 * moments[2] / m));
        return hmi_add_drawing(b, HM_DRAWING_DISC, parts, 3, body->name, 1);
    }
    return draw_box(b, &parts[0], &parts[1], body->name, m, moments);
}

/* From the origin of the body that carries it, where that is elsewhere. */
static bool draw_link(hmi_builder *b, const hmi_place *place)
{
    if (!place->parent || same_items(&place->parent->origin, &place->origin))
        return true;
    hmi_value ends[2] = {place->parent->origin, place->origin};
    return hmi_add_drawing(b, HM_DRAWING_LINE, ends, 2, NULL, 1);
}

static bool draw_body(hmi_builder *b, const hmi_place *place, const hmi_body *body, double heaviest)
{
    double mass = number_or_zero(b, body->mass);
    if (!draw_link(b, place))
        return false;
    if (place->parts.inertia)
        return body->dimension == 2 ? draw_bar(b, place, body) : draw_solid(b, place, body);
    return mass == 0 || heaviest <= 0 ||
           draw_point(b, &place->center, body->name, fmax(0.4, cbrt(mass / heaviest)));
}

static bool draw_bodies(hmi_builder *b)
{
    size_t count = b->model->bodies.count;
    double heaviest = 0;
    for (size_t i = 0; i < count; i++)
        heaviest = fmax(heaviest, number_or_zero(b, b->model->bodies.data[i].mass));
    for (size_t i = 0; i < count && i < MOST_DRAWN; i++) {
        const hmi_body *body = &b->model->bodies.data[i];
        int64_t index = hmi_find_object(b, body->name, "body");
        if (index < 0 || !draw_body(b, b->places.data[index], body, heaviest))
            return false;
    }
    for (size_t i = 0; i < count && count <= MOST_TRACES; i++) {
        const hmi_body *body = &b->model->bodies.data[i];
        hmi_value P;
        if (!vector_value(b, body->at, (size_t)body->dimension, &P) ||
            !hmi_add_drawing(b, HM_DRAWING_TRACE, &P, 1, NULL, 1))
            return false;
    }
    return true;
}

static bool draw_joints(hmi_builder *b)
{
    for (size_t i = 0; i < b->model->joints.count && i < MOST_DRAWN; i++) {
        const hmi_joint *joint = &b->model->joints.data[i];
        hmi_value ends[2];
        for (int k = 0; k < 2; k++)
            if (!vector_value(b, joint->at[k], (size_t)joint->dimension, &ends[k]) ||
                !draw_point(b, &ends[k], k ? NULL : joint->name, 0.4))
                return false;
        if (!hmi_add_drawing(b, HM_DRAWING_LINE, ends, 2, NULL, 1))
            return false;
    }
    return true;
}

/* ---- coordinates that are places ---- */

/* The symbol of the coordinate with this letter in place of the first one; HMI_NONE: there is none. */
static hmi_expr sibling(hmi_builder *b, const char *name, char letter)
{
    const hm_model *m = b->model;
    for (size_t i = 0; i < m->coords.count; i++) {
        const char *other = m->coords.data[i].name;
        if (other[0] == letter && strcmp(other + 1, name + 1) == 0)
            return hmi_symbol(b->graph, HMI_SYM_COORD, (uint32_t)i);
    }
    return HMI_NONE;
}

static bool draw_coordinates(hmi_builder *b)
{
    size_t drawn = 0;
    for (size_t i = 0; i < b->model->coords.count && drawn < MOST_DRAWN; i++) {
        const char *name = b->model->coords.data[i].name;
        char tail = name[0] == 'x' ? name[1] : 'x';
        if (name[0] != 'x' || (tail && !strchr("0123456789_[", tail)))
            continue;
        hmi_expr y = sibling(b, name, 'y'), z = sibling(b, name, 'z'), items[3];
        size_t size = 0;
        items[size++] = hmi_symbol(b->graph, HMI_SYM_COORD, (uint32_t)i);
        if (y != HMI_NONE)
            items[size++] = y;
        if (z != HMI_NONE)
            items[size++] = z;
        hmi_value P;
        if (size < 2)
            continue;
        drawn++;
        if (!vector_value(b, items, size, &P) || !draw_point(b, &P, NULL, 1) ||
            !hmi_add_drawing(b, HM_DRAWING_TRACE, &P, 1, NULL, 1))
            return false;
    }
    return true;
}

bool hmi_build_scene(hmi_builder *b)
{
    for (size_t k = 0; b->has_gravity && k < b->gravity.rows && k < 3; k++)
        b->model->gravity[k] = number_or_zero(b, b->gravity.items[k]);
    if (b->model->drawings.count > 0)
        return true;
    bool good = b->model->bodies.count == 0 ? draw_coordinates(b)
                                            : draw_bodies(b) && draw_joints(b);
    return good && hmi_draw_constraints(b);
}
