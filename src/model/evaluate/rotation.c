/* Rotations and their angular velocities.
 *
 * A rotation remembers how it was composed, and its angular velocity follows the composition:
 *     about a fixed axis u by a:    omega = a' u                  (body and base axes alike)
 *     quaternion e = (e0, ev):      omega = 2 (e0 ev' - e0' ev -+ ev x ev') / |e|^2
 *     product R1 R2:                body axes  R2^T omega1 + omega2,   base axes  omega1 + R1 omega2
 *     transpose:                    body axes  -omega_base,            base axes  -omega_body
 * which is what one writes by hand. A matrix of unknown origin gets the general
 *     skew(omega_body) = R^T R',   skew(omega_base) = R' R^T.
 * Verified: test/unit/model/test_rotation.c (each against the general form).
 */
#include "model/evaluate/builder.h"

#include <string.h>

static hmi_rotation *new_rotation(hmi_builder *b, hmi_rotation_kind kind)
{
    hmi_rotation *rotation = hmi_builder_alloc(b, sizeof *rotation);
    if (rotation)
        rotation->kind = kind;
    return rotation;
}

static bool moves(const hmi_builder *b, hmi_expr e)
{
    return hmi_deps(b->graph, e) & ~HMI_DEP(HMI_SYM_PARAM);
}

/* Rodrigues: R = cos a I + (1 - cos a) u u^T + sin a skew(u), |u| = 1. */
bool hmi_rotation_about(hmi_builder *b, hmi_span at, const hmi_expr axis[3], hmi_expr angle,
                        hmi_value *out)
{
    hmi_graph *g = b->graph;
    hmi_expr c = hmi_apply(g, HMI_COS, angle, 0, 0), s = hmi_apply(g, HMI_SIN, angle, 0, 0);
    hmi_expr rest = hmi_sub(g, g->one, c);
    if (!hmi_value_new(b, 2, 3, 3, out))
        return false;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            hmi_expr uu = hmi_mul(g, axis[i], axis[j]);
            hmi_expr e = hmi_mul(g, rest, uu);
            if (i == j)
                e = uu == g->one ? g->one : hmi_add(g, c, e);
            else if ((i + 1) % 3 == j)
                e = hmi_sub(g, e, hmi_mul(g, s, axis[3 - i - j]));
            else
                e = hmi_add(g, e, hmi_mul(g, s, axis[3 - i - j]));
            out->items[3 * i + j] = e;
        }
    }
    if (moves(b, axis[0]) || moves(b, axis[1]) || moves(b, axis[2]))
        return hmi_graph_sound(b, at); /* a moving axis: the general form of omega */
    hmi_rotation *rotation = new_rotation(b, HMI_ROT_AXIS);
    if (!rotation)
        return false;
    for (int i = 0; i < 3; i++)
        rotation->axis[i] = axis[i];
    rotation->angle = angle;
    out->rotation = rotation;
    return hmi_graph_sound(b, at);
}

/* The rotation of a quaternion of any length: every entry is divided by |e|^2. */
bool hmi_rotation_quaternion(hmi_builder *b, const hmi_expr e[4], hmi_value *out)
{
    hmi_graph *g = b->graph;
    hmi_rotation *rotation = new_rotation(b, HMI_ROT_QUATERNION);
    if (!rotation || !hmi_value_new(b, 2, 3, 3, out))
        return false;
    hmi_expr square[4], norm2 = g->zero;
    for (int i = 0; i < 4; i++) {
        rotation->quaternion[i] = e[i];
        square[i] = hmi_pow(g, e[i], g->two);
        norm2 = hmi_add(g, norm2, square[i]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        hmi_expr diagonal = hmi_sub(
            g, hmi_sub(g, hmi_add(g, square[0], square[i + 1]), square[j + 1]), square[k + 1]);
        hmi_expr product = hmi_mul(g, e[i + 1], e[j + 1]), turn = hmi_mul(g, e[0], e[k + 1]);
        out->items[3 * i + i] = hmi_div(g, diagonal, norm2);
        out->items[3 * i + j] = hmi_div(g, hmi_mul(g, g->two, hmi_sub(g, product, turn)), norm2);
        out->items[3 * j + i] = hmi_div(g, hmi_mul(g, g->two, hmi_add(g, product, turn)), norm2);
    }
    out->rotation = rotation;
    return true;
}

static bool is_fixed_matrix(const hmi_builder *b, const hmi_value *x)
{
    for (size_t k = 0; k < hmi_value_count(x); k++)
        if (moves(b, x->items[k]))
            return false;
    return x->rank == 2 && x->rows == 3 && x->columns == 3;
}

/* The tag of a factor; a fixed matrix counts as a rotation at rest. NULL where there is none. */
static hmi_rotation *tag_of(hmi_builder *b, const hmi_value *x)
{
    if (x->rotation || !is_fixed_matrix(b, x))
        return x->rotation;
    return new_rotation(b, HMI_ROT_FIXED);
}

bool hmi_rotation_tag_product(hmi_builder *b, const hmi_value *x, const hmi_value *y,
                              hmi_value *out)
{
    if (!x->rotation && !y->rotation)
        return true;
    hmi_rotation *first = tag_of(b, x), *second = tag_of(b, y);
    if (!first || !second)
        return !b->context->out_of_memory;
    hmi_rotation *rotation = new_rotation(b, HMI_ROT_PRODUCT);
    if (!rotation)
        return false;
    rotation->part[0] = first;
    rotation->part[1] = second;
    rotation->matrix[0] = *x;
    rotation->matrix[1] = *y;
    out->rotation = rotation;
    return true;
}

bool hmi_rotation_tag_transpose(hmi_builder *b, const hmi_value *x, hmi_value *out)
{
    if (!x->rotation)
        return true;
    hmi_rotation *rotation = new_rotation(b, HMI_ROT_TRANSPOSE);
    if (!rotation)
        return false;
    rotation->part[0] = x->rotation;
    out->rotation = rotation;
    return true;
}

bool hmi_rotation_note_carried(hmi_builder *b, const hmi_value *R, const hmi_value *vector,
                               const hmi_value *out)
{
    const hmi_carried carried = {.frame = *R, .vector = *vector, .turned = *out};
    if (!R->rotation || vector->rank != 1 || out->rank != 1)
        return true;
    return hmi_array_push(&b->context->allocator, &b->carried, carried) || hmi_no_memory(b);
}

/* ---- angular velocity ---- */

static hmi_expr rate(hmi_builder *b, hmi_span at, hmi_expr e)
{
    hmi_value x = hmi_scalar(e), dot;
    return hmi_value_derivative(b, at, &x, &dot) ? dot.scalar : HMI_NONE;
}

static bool omega_axis(hmi_builder *b, hmi_span at, const hmi_rotation *r, hmi_expr w[3])
{
    hmi_expr dot = rate(b, at, r->angle);
    for (int i = 0; i < 3; i++)
        w[i] = hmi_mul(b->graph, dot, r->axis[i]);
    return dot != HMI_NONE;
}

static bool omega_quaternion(hmi_builder *b, hmi_span at, const hmi_rotation *r, bool body,
                             hmi_expr w[3])
{
    hmi_graph *g = b->graph;
    const hmi_expr *e = r->quaternion;
    hmi_expr d[4], norm2 = g->zero;
    for (int i = 0; i < 4; i++) {
        if ((d[i] = rate(b, at, e[i])) == HMI_NONE)
            return false;
        norm2 = hmi_add(g, norm2, hmi_pow(g, e[i], g->two));
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3 + 1, k = (i + 2) % 3 + 1;
        hmi_expr along = hmi_sub(g, hmi_mul(g, e[0], d[i + 1]), hmi_mul(g, d[0], e[i + 1]));
        hmi_expr cross = hmi_sub(g, hmi_mul(g, e[j], d[k]), hmi_mul(g, e[k], d[j]));
        hmi_expr sum = body ? hmi_sub(g, along, cross) : hmi_add(g, along, cross);
        w[i] = hmi_div(g, hmi_mul(g, g->two, sum), norm2);
    }
    return true;
}

/* out = R w or R^T w. */
static void rotate(hmi_graph *g, const hmi_value *R, bool transposed, const hmi_expr w[3],
                   hmi_expr out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = g->zero;
        for (int j = 0; j < 3; j++)
            out[i] = hmi_add(g, out[i],
                             hmi_mul(g, R->items[transposed ? 3 * j + i : 3 * i + j], w[j]));
    }
}

/* From the angular velocities of the factors, which are known. */
static void omega_product(hmi_graph *g, const hmi_rotation *r, bool body, hmi_expr w[3])
{
    const hmi_expr *first = r->part[0]->omega[body], *second = r->part[1]->omega[body];
    hmi_expr turned[3];
    if (body)
        rotate(g, &r->matrix[1], true, first, turned);
    else
        rotate(g, &r->matrix[0], false, second, turned);
    for (int i = 0; i < 3; i++)
        w[i] = hmi_add(g, body ? turned[i] : first[i], body ? second[i] : turned[i]);
}

static bool omega_by_kind(hmi_builder *b, hmi_span at, const hmi_rotation *r, bool body,
                          hmi_expr w[3])
{
    switch (r->kind) {
    case HMI_ROT_FIXED:
        w[0] = w[1] = w[2] = b->graph->zero;
        return true;
    case HMI_ROT_AXIS:
        return omega_axis(b, at, r, w);
    case HMI_ROT_QUATERNION:
        return omega_quaternion(b, at, r, body, w);
    case HMI_ROT_PRODUCT:
        omega_product(b->graph, r, body, w);
        return true;
    case HMI_ROT_TRANSPOSE:
        for (int i = 0; i < 3; i++)
            w[i] = hmi_neg(b->graph, r->part[0]->omega[!body][i]);
        return true;
    }
    return false;
}

/* A part whose angular velocity has to be known first, in the axes `*body`; NULL where none is. */
static hmi_rotation *unknown_part(const hmi_rotation *r, bool *body)
{
    *body ^= r->kind == HMI_ROT_TRANSPOSE;
    for (int k = 0; k < 2; k++)
        if (r->part[k] && !r->part[k]->omega_known[*body])
            return r->part[k];
    return NULL;
}

/* Goes down to parts that are not known yet and comes back by `user`. */
static bool omega_of(hmi_builder *b, hmi_span at, hmi_rotation *r, bool body)
{
    r->user[body].rotation = NULL;
    while (r) {
        bool part_body = body;
        hmi_rotation *part = r->omega_known[body] ? NULL : unknown_part(r, &part_body);
        if (part) {
            part->user[part_body].rotation = r;
            part->user[part_body].body = body;
            r = part;
            body = part_body;
            continue;
        }
        if (!r->omega_known[body] && !omega_by_kind(b, at, r, body, r->omega[body]))
            return false;
        r->omega_known[body] = true;
        hmi_rotation *user = r->user[body].rotation;
        body = r->user[body].body;
        r = user;
    }
    return true;
}

bool hmi_rotation_quaternions(const hmi_rotation *rotation, hmi_quaternion_purpose purpose,
                              hmi_quaternion_visit *visit, void *context)
{
    hmi_rotation *r = (hmi_rotation *)rotation;
    if (!r || r->visited[purpose])
        return true;
    r->user[0].rotation = NULL;
    while (r) {
        hmi_rotation *part = NULL;
        if (!r->visited[purpose] && r->kind == HMI_ROT_QUATERNION && !visit(context, r->quaternion))
            return false;
        r->visited[purpose] = true;
        for (int k = 1; k >= 0; k--)
            if (r->part[k] && !r->part[k]->visited[purpose])
                part = r->part[k];
        if (part)
            part->user[0].rotation = r;
        r = part ? part : r->user[0].rotation;
    }
    return true;
}

static bool omega_general(hmi_builder *b, hmi_span at, const hmi_value *R, bool body, hmi_expr w[3])
{
    hmi_value dot, transposed, S;
    if (!hmi_value_derivative(b, at, R, &dot) || !hmi_value_transpose(b, R, &transposed))
        return false;
    transposed.rotation = NULL;
    if (!(body ? hmi_value_product(b, at, &transposed, &dot, &S)
               : hmi_value_product(b, at, &dot, &transposed, &S)))
        return false;
    for (int i = 0; i < 3; i++)
        w[i] = S.items[3 * ((i + 2) % 3) + (i + 1) % 3];
    return true;
}

bool hmi_rotation_omega(hmi_builder *b, hmi_span at, const hmi_value *R, bool body, hmi_value *out)
{
    if (!hmi_value_new(b, 1, 3, 1, out))
        return false;
    if (R->rotation) {
        if (!omega_of(b, at, R->rotation, body))
            return false;
        memcpy(out->items, R->rotation->omega[body], sizeof R->rotation->omega[body]);
        return hmi_graph_sound(b, at);
    }
    return omega_general(b, at, R, body, out->items);
}
