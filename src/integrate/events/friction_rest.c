/* Conditions that ask whether something rests: |u| > 0 where u itself is a switch or a direction, as in friction with
 * two coefficients, `if(abs(u) > 0, muk, mus)*sign(u)`. Such a function never changes its sign; it is 0 exactly while u
 * is held at 0. So it is not watched: its mode is +1 while u moves and -1 while u sticks, whatever rounding leaves
 * of |u|. Whether u sticks is asked with the law at rest first (sides.c): sticking has priority.
 * Verified: test/physics/test_two_coefficients.c
 */
#include "integrate/events/switch_build.h"

static bool is_mode(const hmi_graph *g, hmi_expr e, size_t k)
{
    const hmi_node *node = hmi_node_at(g, e);
    return node->op == HMI_SYMBOL && node->a == HMI_SYM_MODE && node->b == k;
}

/* Is f a positive multiple c of another expression? Then that one. */
static hmi_expr strip_number(const hmi_graph *g, hmi_expr f)
{
    const hmi_node *node = hmi_node_at(g, f);
    if (node->op == HMI_MUL && hmi_is_const(g, node->a) && hmi_constant_of(g, node->a)->value > 0)
        return node->b;
    if (node->op == HMI_MUL && hmi_is_const(g, node->b) && hmi_constant_of(g, node->b)->value > 0)
        return node->a;
    if (node->op == HMI_DIV && hmi_is_const(g, node->b) && hmi_constant_of(g, node->b)->value > 0)
        return node->a;
    return f;
}

/* Is f, as the copy has it, |w| (which is mode times w) or w^2 of switch j? */
static bool is_size_of(const hmi_rebuilder *r, hmi_expr f, size_t j)
{
    const hmi_graph *g = &r->graph;
    const hmi_switch_function *w = &r->functions.data[j];
    const hmi_node *node = hmi_node_at(g, f);
    if (w->of_direction || w->b != HMI_NONE)
        return false;
    bool same = node->a == w->a || hmi_is_negative_of(g, node->a, w->a);
    if (node->op == HMI_POWI)
        return same && hmi_is_const(g, node->b) && hmi_constant_of(g, node->b)->value == 2;
    if (node->op != HMI_MUL)
        return false;
    return (same && node->b == node->a) || (node->a == w->a && is_mode(g, node->b, j)) ||
           (node->b == w->a && is_mode(g, node->a, j));
}

static size_t partner_of(const hmi_rebuilder *r, size_t k)
{
    const hmi_switch_function *f = &r->functions.data[k];
    if (f->of_direction || f->b != HMI_NONE)
        return HMI_NO_SWITCH;
    hmi_expr size = strip_number(&r->graph, f->a);
    for (size_t d = 0; d < r->directions.count; d++)
        if (r->map[r->directions.data[d].norm] == size)
            return r->directions.data[d].first + 1; /* it slides while the direction sticks */
    for (size_t j = 0; j < r->functions.count; j++)
        if (j != k && is_size_of(r, size, j))
            return j;
    return HMI_NO_SWITCH;
}

hm_status hmi_rests_find(const hmi_rebuilder *r, hmi_switches *sw)
{
    sw->rest_of = hmi_arena_alloc(r->arena, (sw->switches + 1) * sizeof *sw->rest_of);
    if (!sw->rest_of)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < sw->switches; k++)
        sw->rest_of[k] = partner_of(r, k);
    return HM_OK;
}

void hmi_rests_settle(hmi_switches *sw)
{
    for (size_t k = 0; k < sw->switches; k++)
        if (sw->rest_of[k] != HMI_NO_SWITCH)
            sw->mode[k] = sw->side[k] = sw->sliding[sw->rest_of[k]] ? -1 : 1;
}

bool hmi_rests_suppose(hmi_switches *sw, size_t partner, bool rests)
{
    bool any = false;
    for (size_t k = 0; k < sw->switches; k++)
        if (sw->rest_of[k] == partner) {
            sw->mode[k] = rests ? -1 : 1;
            any = true;
        }
    return any;
}
