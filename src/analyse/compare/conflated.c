/* Hamel's paradox: the constraint put into L before Lagrange's equations are formed.
 *
 *     L+ = (1 - alpha) L + alpha L[LHS -> RHS],    then again with the constraint
 *
 * The mass matrix of L+ may be singular (a velocity is gone) or indefinite (it came in from a
 * potential), which the solver takes as it comes.
 *     [Udwadia & Wanichanon (1.13), (3.8), (3.21), (3.38), (3.52)]
 * Verified: test/cases/test_compare.c (oracle cases 002-*-conflated)
 */
#include "analyse/compare/variant.h"

#include <string.h>

/* "LHS = RHS@alpha" cut in pieces. */
typedef struct pieces {
    const char *lhs, *rhs, *alpha; /* alpha NULL: 1 */
    size_t lhs_length, rhs_length, alpha_length;
} pieces;

/* The = that is no part of ==, <= or >=. */
static const char *find_equals(const char *text)
{
    for (const char *s = text; *s; s++)
        if (*s == '=') {
            if (s[1] == '=')
                s++;
            else if (s == text || !strchr("<>", s[-1]))
                return s;
        }
    return NULL;
}

static bool cut(const char *text, pieces *p)
{
    const char *equals = find_equals(text), *at = strrchr(text, '@'), *end = text + strlen(text);
    if (!equals || equals == text || (at && at < equals))
        return false;
    *p = (pieces){.lhs = text, .lhs_length = (size_t)(equals - text), .rhs = equals + 1};
    p->rhs_length = (size_t)((at ? at : end) - p->rhs);
    p->alpha = at ? at + 1 : NULL;
    p->alpha_length = at ? (size_t)(end - at - 1) : 0;
    return p->rhs_length > 0;
}

static hm_status refuse(const hmi_variant *v, const char *hint, const char *message)
{
    hmi_error(v->model.context, hmi_no_span, hint, "%s", message);
    return HM_ERR_INPUT;
}

static hm_status read_pieces(hmi_variant *v, const pieces *p, hmi_expr *lhs, hmi_expr *rhs,
                             hmi_expr *alpha)
{
    static const char source[] = "conflated";
    *alpha = v->model.graph.one;
    hm_status status = hmi_model_read_expression(&v->model, source, p->lhs, p->lhs_length, lhs);
    if (status == HM_OK)
        status = hmi_model_read_expression(&v->model, source, p->rhs, p->rhs_length, rhs);
    if (status == HM_OK && p->alpha)
        status = hmi_model_read_expression(&v->model, "alpha", p->alpha, p->alpha_length, alpha);
    if (status == HM_OK && hmi_deps(&v->model.graph, *alpha) & ~HMI_DEP(HMI_SYM_PARAM))
        status = refuse(v, NULL, "alpha is a number or an expression of parameters");
    return status;
}

hm_status hmi_make_conflated(hmi_variant *v, const char *text)
{
    pieces p;
    hmi_expr lhs, rhs, alpha;
    hmi_graph *g = &v->model.graph;
    if (!cut(text, &p))
        return refuse(v, "as in conflated:\"y' = c*z*x'\", or with a share, ...@0.5",
                      "what is substituted into L is written LHS = RHS");
    hm_status status = read_pieces(v, &p, &lhs, &rhs, &alpha);
    if (status != HM_OK)
        return status;
    v->equation = hmi_sub(g, lhs, rhs);
    hmi_expr L = v->model.lagrangian, changed = hmi_rewrite(g, L, lhs, rhs);
    if (changed == HMI_NONE)
        return g->status != HM_OK ? g->status : HM_ERR_NOMEM;
    if (changed == L)
        return refuse(v,
                      "write it as it stands in the kinetic or potential energy, up to order, sign "
                      "and a common factor; hamel derive shows them",
                      "the left-hand side does not occur in the Lagrangian");
    hmi_expr rest = hmi_mul(g, hmi_sub(g, g->one, alpha), L);
    v->model.lagrangian = hmi_add(g, rest, hmi_mul(g, alpha, changed));
    return hmi_variant_build(v);
}
