/* Finds the one square root in a constraint, isolates it and squares (square_root.h). */
#include "analyse/classify/square_root.h"

enum { DEEPEST = 40 };

static bool is_root(const hmi_graph *g, hmi_expr e)
{
    hmi_op op = hmi_op_of(g, e);
    return (op == HMI_SQRT || op == HMI_HYPOT || op == HMI_ABS) &&
           hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY);
}

/* The only root in e that contains velocities, or HMI_NONE. *several: there is more than one, or
 * the expression is too deep to be searched. */
static hmi_expr find_root(const hmi_graph *g, hmi_expr e, int depth, bool *several)
{
    hmi_expr found = HMI_NONE;
    if (!(hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY)))
        return HMI_NONE;
    if (is_root(g, e))
        return e;
    *several |= depth > DEEPEST;
    for (int k = 0; k < hmi_op_arity(hmi_op_of(g, e)) && !*several; k++) {
        hmi_expr below = find_root(g, hmi_operand(g, e, k), depth + 1, several);
        *several |= below != HMI_NONE && found != HMI_NONE && below != found;
        found = below != HMI_NONE ? below : found;
    }
    return found;
}

/* e with `from` replaced. */
static hmi_expr replace(hmi_graph *g, hmi_expr e, hmi_expr from, hmi_expr to)
{
    hmi_expr part[3] = {HMI_NONE, HMI_NONE, HMI_NONE};
    int arity = hmi_op_arity(hmi_op_of(g, e));
    if (e == from)
        return to;
    if (arity == 0 || !(hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY)))
        return e;
    hmi_op op = hmi_op_of(g, e);
    for (int k = 0; k < arity; k++)
        part[k] = replace(g, hmi_operand(g, e, k), from, to);
    return hmi_apply(g, op, part[0], part[1], part[2]);
}

/* The expression under the root. */
static hmi_expr radicand(hmi_graph *g, hmi_expr root)
{
    hmi_expr x = hmi_operand(g, root, 0);
    if (hmi_op_of(g, root) == HMI_SQRT)
        return x;
    if (hmi_op_of(g, root) == HMI_ABS)
        return hmi_mul(g, x, x);
    hmi_expr y = hmi_operand(g, root, 1);
    return hmi_add(g, hmi_mul(g, x, x), hmi_mul(g, y, y));
}

hm_status hmi_clear_square_root(hmi_forms *forms, hmi_expr psi, hmi_expr *squared, hmi_expr *side)
{
    hmi_graph *g = &forms->graph;
    bool several = false;
    *squared = HMI_NONE;
    hmi_expr root = find_root(g, psi, 0, &several);
    if (root == HMI_NONE || several || !forms->normal)
        return HM_OK;
    hmi_expr b = hmi_forms_normal(forms, replace(g, psi, root, g->zero));
    hmi_expr a = hmi_forms_normal(forms, hmi_sub(g, replace(g, psi, root, g->one), b));
    hmi_expr twice = hmi_sub(g, replace(g, psi, root, g->two), b);
    hmi_expr bend = hmi_forms_normal(forms, hmi_sub(g, twice, hmi_mul(g, g->two, a)));
    if (hmi_forms_status(forms) != HM_OK)
        return hmi_forms_status(forms);
    if (bend != g->zero || a == g->zero || hmi_deps(g, a) & HMI_DEP(HMI_SYM_VELOCITY))
        return HM_OK;
    hmi_expr under = hmi_mul(g, hmi_mul(g, a, a), radicand(g, root));
    *squared = hmi_forms_normal(forms, hmi_sub(g, under, hmi_mul(g, b, b)));
    *side = hmi_forms_normal(forms, hmi_neg(g, hmi_div(g, b, a)));
    return hmi_forms_status(forms);
}
