/* Integrates an exact form term by term, hmi_find_potential.
 *
 * The rules cover sums, substitution u' g(u) for powers and the functions of the language,
 * integration by parts of x^k g, of logarithms and of inverse functions, and 1/(a x^2 + b). A wrong
 * or missing antiderivative is harmless: what is reported has been differentiated and compared.
 * Verified: test/unit/analyse/test_potential.c
 */
#include "analyse/integrals/potential.h"

#include <math.h>

enum { MOST_FACTORS = 12, MOST_DEPTH = 12 };

typedef struct integrator {
    hmi_forms *forms;
    size_t j; /* the variable */
    int depth;
    int work;
} integrator;

typedef struct factor {
    hmi_expr base;
    double power;
} factor;

/* constant * prod base^power; bases depend on the variable. */
typedef struct product {
    hmi_expr constant;
    factor list[MOST_FACTORS];
    size_t count;
    bool full;
} product;

static hmi_expr integrate(integrator *in, hmi_expr e);

static hmi_expr variable(integrator *in)
{
    hmi_graph *g = &in->forms->graph;
    return in->j == in->forms->n ? hmi_symbol(g, HMI_SYM_TIME, 0)
                                 : hmi_symbol(g, HMI_SYM_COORD, (uint32_t)in->j);
}

static hmi_expr derivative(integrator *in, hmi_expr e)
{
    return hmi_forms_normal(in->forms, hmi_partial_by(in->forms, e, in->j));
}

static bool depends(integrator *in, hmi_expr e)
{
    return e == HMI_NONE || derivative(in, e) != in->forms->graph.zero;
}

static hmi_expr power(hmi_graph *g, hmi_expr base, double p)
{
    return p == 1 ? base : hmi_pow(g, base, hmi_number(g, p));
}

static void add_factor(integrator *in, product *out, hmi_expr e, double p)
{
    hmi_graph *g = &in->forms->graph;
    if (!depends(in, e)) {
        out->constant = hmi_mul(g, out->constant, power(g, e, p));
        return;
    }
    for (size_t i = 0; i < out->count; i++)
        if (out->list[i].base == e) {
            out->list[i].power += p;
            return;
        }
    out->full |= out->count == MOST_FACTORS;
    if (!out->full)
        out->list[out->count++] = (factor){e, p};
}

/* Takes products, quotients and constant powers apart. */
static void split(integrator *in, product *out, hmi_expr e, double p, int depth)
{
    hmi_graph *g = &in->forms->graph;
    if (e == HMI_NONE) {
        out->full = true;
        return;
    }
    hmi_op op = hmi_op_of(g, e);
    hmi_expr a = hmi_op_arity(op) > 0 ? hmi_operand(g, e, 0) : HMI_NONE;
    hmi_expr b = hmi_op_arity(op) > 1 ? hmi_operand(g, e, 1) : HMI_NONE;
    if (depth > MOST_DEPTH) {
        add_factor(in, out, e, p);
    } else if (op == HMI_MUL || op == HMI_DIV) {
        split(in, out, a, p, depth + 1);
        split(in, out, b, op == HMI_MUL ? p : -p, depth + 1);
    } else if (op == HMI_NEG && p == round(p)) {
        if (fmod(p, 2) != 0)
            out->constant = hmi_neg(g, out->constant);
        split(in, out, a, p, depth + 1);
    } else if ((op == HMI_POWI || op == HMI_POW) && hmi_is_const(g, b)) {
        split(in, out, a, p * hmi_constant_of(g, b)->value, depth + 1);
    } else if (op == HMI_SQRT) {
        split(in, out, a, p / 2, depth + 1);
    } else {
        add_factor(in, out, e, p);
    }
}

static hmi_expr rest_of(integrator *in, const product *p, size_t without)
{
    hmi_graph *g = &in->forms->graph;
    hmi_expr rest = p->constant;
    for (size_t i = 0; i < p->count; i++)
        if (i != without)
            rest = hmi_mul(g, rest, power(g, p->list[i].base, p->list[i].power));
    return rest;
}

/* c with rest = c u', where there is one. */
static hmi_expr cofactor(integrator *in, hmi_expr rest, hmi_expr u)
{
    hmi_graph *g = &in->forms->graph;
    hmi_expr du = derivative(in, u);
    if (du == HMI_NONE || du == g->zero)
        return HMI_NONE;
    hmi_expr ratio = hmi_forms_normal(in->forms, hmi_div(g, rest, du));
    return depends(in, ratio) ? HMI_NONE : ratio;
}

static hmi_expr power_integral(hmi_graph *g, hmi_expr u, double p)
{
    if (p == -1)
        return hmi_apply(g, HMI_LOG, hmi_apply(g, HMI_ABS, u, HMI_NONE, HMI_NONE), HMI_NONE,
                         HMI_NONE);
    return hmi_div(g, power(g, u, p + 1), hmi_number(g, p + 1));
}

static hmi_expr apply1(hmi_graph *g, hmi_op op, hmi_expr u)
{
    return hmi_apply(g, op, u, HMI_NONE, HMI_NONE);
}

/* The integral of f(u)^p by u for a function node f(u). */
static hmi_expr function_integral(hmi_graph *g, hmi_op op, hmi_expr u, double p)
{
    hmi_expr sine = apply1(g, HMI_SIN, u), cosine = apply1(g, HMI_COS, u);
    hmi_expr both = hmi_mul(g, sine, cosine);
    if (p == 2 && (op == HMI_SIN || op == HMI_COS))
        return hmi_mul(g, g->half, op == HMI_SIN ? hmi_sub(g, u, both) : hmi_add(g, u, both));
    if (p == -2 && op == HMI_COS)
        return apply1(g, HMI_TAN, u);
    if (p == -2 && op == HMI_SIN)
        return hmi_neg(g, hmi_div(g, cosine, sine));
    if (p == 2 && op == HMI_TAN)
        return hmi_sub(g, apply1(g, HMI_TAN, u), u);
    if (op == HMI_EXP)
        return hmi_div(g, power(g, apply1(g, HMI_EXP, u), p), hmi_number(g, p));
    if (p != 1)
        return HMI_NONE;
    switch (op) {
    case HMI_SIN:
        return hmi_neg(g, cosine);
    case HMI_COS:
        return sine;
    case HMI_SINH:
        return apply1(g, HMI_COSH, u);
    case HMI_COSH:
        return apply1(g, HMI_SINH, u);
    case HMI_TAN:
        return hmi_neg(g, power_integral(g, cosine, -1));
    case HMI_TANH:
        return apply1(g, HMI_LOG, apply1(g, HMI_COSH, u));
    case HMI_LOG:
        return hmi_sub(g, hmi_mul(g, u, apply1(g, HMI_LOG, u)), u);
    default:
        return HMI_NONE;
    }
}

static hmi_expr by_substitution(integrator *in, const product *p)
{
    hmi_graph *g = &in->forms->graph;
    for (size_t i = 0; i < p->count; i++) {
        hmi_expr base = p->list[i].base, rest = rest_of(in, p, i);
        hmi_expr c = cofactor(in, rest, base);
        if (c != HMI_NONE)
            return hmi_mul(g, c, power_integral(g, base, p->list[i].power));
        if (hmi_op_arity(hmi_op_of(g, base)) != 1)
            continue;
        hmi_expr u = hmi_operand(g, base, 0);
        c = cofactor(in, rest, u);
        hmi_expr F = c == HMI_NONE ? c
                                   : function_integral(g, hmi_op_of(g, base), u, p->list[i].power);
        if (F != HMI_NONE)
            return hmi_mul(g, c, F);
    }
    return HMI_NONE;
}

/* 1/(a x^2 + b) -> atan(x sqrt(a/b)) / sqrt(a b) */
static hmi_expr by_arctangent(integrator *in, const product *p)
{
    hmi_graph *g = &in->forms->graph;
    hmi_expr x = variable(in);
    if (p->count != 1 || p->list[0].power != -1)
        return HMI_NONE;
    hmi_expr u = p->list[0].base;
    hmi_expr a = hmi_forms_normal(in->forms, hmi_div(g, derivative(in, u), hmi_mul(g, g->two, x)));
    hmi_expr b = hmi_forms_normal(in->forms, hmi_sub(g, u, hmi_mul(g, a, hmi_mul(g, x, x))));
    if (depends(in, a) || depends(in, b))
        return HMI_NONE;
    hmi_expr angle = apply1(g, HMI_ATAN, hmi_mul(g, x, apply1(g, HMI_SQRT, hmi_div(g, a, b))));
    hmi_expr root = apply1(g, HMI_SQRT, hmi_mul(g, a, b));
    return hmi_mul(g, p->constant, hmi_div(g, angle, root));
}

/* F p = (F P)' - F' P for functions F whose derivative is algebraic */
static hmi_expr by_inverse(integrator *in, const product *p)
{
    hmi_graph *g = &in->forms->graph;
    for (size_t i = 0; i < p->count; i++) {
        hmi_expr F = p->list[i].base;
        hmi_op op = hmi_op_of(g, F);
        if ((op != HMI_LOG && op != HMI_ATAN && op != HMI_ASIN) || p->list[i].power != 1)
            continue;
        hmi_expr P = integrate(in, rest_of(in, p, i));
        if (P == HMI_NONE)
            return HMI_NONE;
        hmi_expr inner = hmi_forms_normal(in->forms, hmi_mul(g, derivative(in, F), P));
        hmi_expr other = integrate(in, inner);
        return other == HMI_NONE ? other : hmi_sub(g, hmi_mul(g, F, P), other);
    }
    return HMI_NONE;
}

/* x^k g = (x^k G)' - k x^(k-1) G */
static hmi_expr by_parts(integrator *in, const product *p)
{
    hmi_graph *g = &in->forms->graph;
    hmi_expr x = variable(in);
    for (size_t i = 0; i < p->count; i++) {
        double k = p->list[i].power;
        if (p->list[i].base != x || k < 1 || k != round(k) || p->count < 2)
            continue;
        hmi_expr G = integrate(in, rest_of(in, p, i));
        if (G == HMI_NONE)
            return HMI_NONE;
        hmi_expr inner = hmi_mul(g, hmi_mul(g, hmi_number(g, k), power(g, x, k - 1)), G);
        hmi_expr other = integrate(in, inner);
        return other == HMI_NONE ? other : hmi_sub(g, hmi_mul(g, power(g, x, k), G), other);
    }
    return HMI_NONE;
}

/* A factor that is a sum, taken once, term by term. */
static hmi_expr by_expansion(integrator *in, const product *p)
{
    hmi_graph *g = &in->forms->graph;
    for (size_t i = 0; i < p->count; i++) {
        hmi_expr base = p->list[i].base;
        hmi_op op = hmi_op_of(g, base);
        double k = p->list[i].power;
        if ((op != HMI_ADD && op != HMI_SUB) || k < 1 || k != round(k) || k > 6)
            continue;
        hmi_expr rest = hmi_mul(g, rest_of(in, p, i), power(g, base, k - 1));
        hmi_expr a = integrate(in, hmi_mul(g, hmi_operand(g, base, 0), rest));
        hmi_expr b = a == HMI_NONE ? a : integrate(in, hmi_mul(g, hmi_operand(g, base, 1), rest));
        return b == HMI_NONE ? b : op == HMI_ADD ? hmi_add(g, a, b) : hmi_sub(g, a, b);
    }
    return HMI_NONE;
}

static hmi_expr integrate_product(integrator *in, hmi_expr e)
{
    product p = {.constant = in->forms->graph.one};
    split(in, &p, e, 1, 0);
    if (p.full)
        return HMI_NONE;
    hmi_expr F = by_substitution(in, &p);
    if (F == HMI_NONE)
        F = by_arctangent(in, &p);
    if (F == HMI_NONE)
        F = by_expansion(in, &p);
    if (F == HMI_NONE)
        F = by_inverse(in, &p);
    return F == HMI_NONE ? by_parts(in, &p) : F;
}

static hmi_expr integrate(integrator *in, hmi_expr e)
{
    hmi_graph *g = &in->forms->graph;
    if (e == HMI_NONE || in->depth > MOST_DEPTH || ++in->work > 400)
        return HMI_NONE;
    hmi_op op = hmi_op_of(g, e);
    hmi_expr result;
    in->depth++;
    if (!depends(in, e)) {
        result = hmi_mul(g, e, variable(in));
    } else if (op == HMI_ADD || op == HMI_SUB) {
        hmi_expr a = integrate(in, hmi_operand(g, e, 0));
        hmi_expr b = a == HMI_NONE ? a : integrate(in, hmi_operand(g, e, 1));
        result = b == HMI_NONE ? b : op == HMI_ADD ? hmi_add(g, a, b) : hmi_sub(g, a, b);
    } else if (op == HMI_NEG) {
        result = integrate(in, hmi_operand(g, e, 0));
        result = result == HMI_NONE ? result : hmi_neg(g, result);
    } else {
        result = integrate_product(in, e);
    }
    in->depth--;
    return result;
}

/* An antiderivative of e by z_j; HMI_NONE where the rules do not find one. Not verified. */
static hmi_expr antiderivative(hmi_forms *forms, hmi_expr e, size_t j)
{
    integrator in = {.forms = forms, .j = j};
    hmi_expr normal = hmi_forms_normal(forms, e);
    hmi_expr F = integrate(&in, e);
    if (F == HMI_NONE && normal != e) {
        in.work = 0;
        F = integrate(&in, normal);
    }
    return F;
}

/* ---- potentials ---- */

/* Component by component, beginning with the one at `first`. */
static hmi_expr build_potential(hmi_forms *forms, const hmi_form *form, size_t first)
{
    hmi_graph *g = &forms->graph;
    hmi_expr f = g->zero;
    for (size_t k = 0; k < form->count; k++) {
        size_t at = (first + k) % form->count, j = form->at[at];
        hmi_expr left = hmi_sub(g, form->value[at], hmi_partial_by(forms, f, j));
        left = hmi_forms_normal(forms, left);
        if (left == g->zero)
            continue;
        hmi_expr F = antiderivative(forms, left, j);
        if (F == HMI_NONE)
            return HMI_NONE;
        f = hmi_add(g, f, F);
    }
    return hmi_forms_normal(forms, f);
}

static hm_status verify(hmi_sampler *sampler, const hmi_form *form, hmi_expr f, bool *right)
{
    hmi_forms *forms = sampler->forms;
    hmi_evidence evidence;
    hmi_expr *list = hmi_arena_alloc(&forms->arena, (forms->n + 1) * sizeof *list);
    size_t count = 0;
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t j = 0; j <= forms->n; j++) {
        hmi_expr left = hmi_sub(&forms->graph, hmi_form_component(forms, form, j),
                                hmi_partial_by(forms, f, j));
        if (left != forms->graph.zero)
            list[count++] = left;
    }
    hm_status status = hmi_all_zero(sampler, list, count, right, &evidence);
    if (status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT)
        *right = false;
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

hmi_expr hmi_guess_potential(hmi_forms *forms, const hmi_form *form)
{
    hmi_expr f = form->count ? HMI_NONE : forms->graph.zero;
    for (size_t first = 0; forms->normal && first < form->count && first < 4 && f == HMI_NONE;
         first++)
        f = build_potential(forms, form, first);
    return f;
}

hm_status hmi_find_potential(hmi_sampler *sampler, const hmi_form *form, hmi_expr *f)
{
    hmi_forms *forms = sampler->forms;
    *f = HMI_NONE;
    for (size_t first = 0; forms->normal && first < form->count && first < 4; first++) {
        bool right = false;
        hmi_expr found = build_potential(forms, form, first);
        hm_status status = hmi_forms_status(forms);
        if (status == HM_OK && found != HMI_NONE)
            status = verify(sampler, form, found, &right);
        if (status != HM_OK)
            return status;
        if (right) {
            *f = found;
            return HM_OK;
        }
    }
    return HM_OK;
}
