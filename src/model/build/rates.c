/* Rates that follow the tree of bodies.
 *
 * A vector r = R c that a rotation carries along has the rate omega x r + R c', and omega of a product of
 * rotations follows its factors (rotation.c). Differentiating the entries of R = R1 R2 ... Rn by the
 * chain rule gives the same numbers from nine entries of R'; with omega there are three numbers that
 * hand motion on from body to body. These rates are not what is printed or derived: they are noted
 * beside the model, for the solve that runs along the tree (derive/tree_form.h).
 * Verified: test/unit/dynamics/test_tree.c
 */
#include "model/build/body.h"

/* Rates are wanted of what depends on coordinates and time alone. */
static bool plain_motion(const hmi_builder *b, const hmi_value *x)
{
    const uint16_t allowed = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME) |
                             HMI_DEP(HMI_SYM_PARAM);
    for (size_t k = 0; k < hmi_value_count(x); k++)
        if (hmi_deps(b->graph, hmi_value_item(x, k)) & ~allowed)
            return false;
    return true;
}

static bool note_rate(hmi_builder *b, hmi_expr value, hmi_expr rate)
{
    const hmi_known_rate known = {value, rate};
    const hmi_node *node = hmi_node_at(b->graph, value);
    if (node->op == HMI_CONST || node->op == HMI_SYMBOL ||
        !(node->deps & (HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME))))
        return true;
    return hmi_array_push(&b->context->allocator, &b->model->rates, known) || hmi_no_memory(b);
}

/* Component k of omega x r, r[0], r[stride], r[2 stride]. */
static hmi_expr cross_component(hmi_graph *g, const hmi_expr *omega, const hmi_expr *r,
                                size_t stride, size_t k)
{
    size_t i = (k + 1) % 3, j = (k + 2) % 3;
    return hmi_sub(g, hmi_mul(g, omega[i], r[j * stride]), hmi_mul(g, omega[j], r[i * stride]));
}

/* Columns of a rotation in space: R' = omega x R. */
static bool note_frame(hmi_builder *b, const hmi_value *R, const hmi_expr *omega)
{
    if (R->rotation->rates_known)
        return true;
    R->rotation->rates_known = true;
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < 3; k++)
            if (!note_rate(b, R->items[3 * k + j],
                           cross_component(b->graph, omega, R->items + j, 3, k)))
                return false;
    return true;
}

/* (R c)' = omega x (R c) + R c' */
static bool note_carried(hmi_builder *b, const hmi_carried *carried)
{
    const hmi_value *R = &carried->frame, *r = &carried->turned;
    hmi_value omega, slide, drift;
    hmi_graph *g = b->graph;
    if (r->rows != 3 || !plain_motion(b, R) || !plain_motion(b, &carried->vector))
        return true;
    if (!hmi_rotation_omega(b, hmi_no_span, R, false, &omega) || !note_frame(b, R, omega.items) ||
        !hmi_value_derivative(b, hmi_no_span, &carried->vector, &slide) ||
        !hmi_value_product(b, hmi_no_span, R, &slide, &drift))
        return false;
    for (size_t k = 0; k < 3; k++) {
        hmi_expr turn = cross_component(g, omega.items, r->items, 1, k);
        if (!note_rate(b, r->items[k], hmi_add(g, turn, drift.items[k])))
            return false;
    }
    return true;
}

/* In the plane: R' = rate [-R2; R1]. */
static bool note_planar_frame(hmi_builder *b, const hmi_place *place)
{
    hmi_graph *g = b->graph;
    const hmi_expr *R = place->frame.items;
    if (!place->parts.on || place->frame.rank != 2 || !plain_motion(b, &place->frame))
        return true;
    for (size_t j = 0; j < 2; j++)
        if (!note_rate(b, R[j], hmi_neg(g, hmi_mul(g, place->rate, R[2 + j]))) ||
            !note_rate(b, R[2 + j], hmi_mul(g, place->rate, R[j])))
            return false;
    return true;
}

static bool share_rates_of(hmi_builder *b, const hmi_place *place, hmi_body *body)
{
    const hmi_value *R = &place->frame;
    hmi_value omega;
    body->turns = place->parts.inertia && place->dimension == 2;
    if (place->dimension == 2) {
        body->omega[0] = place->rate;
        return note_planar_frame(b, place);
    }
    if (!place->parts.inertia || !R->rotation || !plain_motion(b, R))
        return true;
    if (!hmi_rotation_omega(b, place->statement->span, R, false, &omega) ||
        !note_frame(b, R, omega.items))
        return false;
    body->turns = true;
    for (size_t k = 0; k < 9; k++)
        body->frame[k] = R->items[k];
    for (size_t k = 0; k < 3; k++)
        body->omega[k] = omega.items[k];
    return true;
}

bool hmi_share_rates(hmi_builder *b)
{
    hm_model *model = b->model;
    if (model->bodies.count < 2 || model->bodies.count != b->places.count)
        return true; /* nothing to share */
    for (size_t i = 0; i < model->bodies.count; i++)
        if (b->places.data[i]->name == model->bodies.data[i].name &&
            !share_rates_of(b, b->places.data[i], &model->bodies.data[i]))
            return false;
    size_t count = b->carried.count; /* the products made below are noted as well */
    for (size_t i = 0; i < count; i++) {
        const hmi_carried carried = b->carried.data[i];
        if (!note_carried(b, &carried))
            return false;
    }
    return true;
}
