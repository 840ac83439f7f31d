/* What each form is known by, as quantities beside its equations. */
#include "reduce/reduce.h"

#include <string.h>

/* L (or another expression of the model) on the constraints. */
static hmi_expr on_constraints(hmi_reduce *r, hmi_expr e)
{
    r->failed |= hmi_reduce_express(r, &e, 1) != HM_OK;
    return e;
}

/* Gamma_r = N^T (forces - dV/dq): everything that is not inertia, as far as L says which part of it is V. */
static hm_status active_forces(hmi_reduce *r, hmi_expr *active)
{
    const hmi_derived *eq = r->eq;
    hmi_graph *g = &r->graph;
    hmi_expr *push = hmi_reduce_vector(r, r->n), *slope = hmi_reduce_vector(r, r->n);
    if (r->failed)
        return HM_ERR_NOMEM;
    hm_status status = HM_OK;
    if (eq->potential != HMI_NONE)
        status = hmi_reduce_gradient(r, eq->potential, HMI_SYM_COORD, r->n, slope);
    for (size_t i = 0; i < r->n; i++) {
        push[i] = hmi_add(g, eq->impressed[i], hmi_add(g, eq->dissipation[i], eq->gyroscopic[i]));
        if (eq->has_nonideal)
            push[i] = hmi_add(g, push[i], eq->C[i]);
        push[i] = hmi_sub(g, push[i], slope[i]);
    }
    if (status == HM_OK)
        status = hmi_reduce_express(r, push, r->n);
    for (size_t k = 0; k < r->k; k++) {
        active[k] = g->zero;
        for (size_t i = 0; i < r->n; i++)
            active[k] = hmi_add(g, active[k], hmi_mul(g, r->N[i * r->k + k], push[i]));
        active[k] = hmi_reduce_normal(r, active[k]);
    }
    return status;
}

/* Sum of G_rs u_s'. */
static hmi_expr left_side(hmi_reduce *r, size_t k)
{
    hmi_graph *g = &r->graph;
    hmi_expr sum = g->zero;
    for (size_t l = 0; l < r->k; l++)
        sum = hmi_add(g, sum, hmi_mul(g, r->G[k * r->k + l], r->speed[l].rate));
    return sum;
}

/* [Kane & Levinson 1985, section 6.1]: generalized active and inertia forces. */
static hm_status kane(hmi_reduce *r)
{
    hmi_graph *g = &r->graph;
    hmi_expr *active = hmi_reduce_vector(r, r->k);
    hm_status status = r->failed ? HM_ERR_NOMEM : active_forces(r, active);
    for (size_t k = 0; status == HM_OK && k < r->k; k++) {
        hmi_expr inertia = hmi_sub(g, hmi_sub(g, r->f[k], active[k]), left_side(r, k));
        hmi_reduce_quantity(r, hmi_reduce_name(r, "F(%s)", r->speed[k].name), active[k]);
        hmi_reduce_quantity(r, hmi_reduce_name(r, "F*(%s)", r->speed[k].name), inertia);
    }
    return status;
}

/* [Gibbs 1879; Appell 1899]: S up to terms without u', so that dS/du' = Gamma. */
static hm_status appell(hmi_reduce *r)
{
    hmi_graph *g = &r->graph;
    hmi_expr *active = hmi_reduce_vector(r, r->k), S = g->zero;
    hm_status status = r->failed ? HM_ERR_NOMEM : active_forces(r, active);
    for (size_t k = 0; status == HM_OK && k < r->k; k++) {
        hmi_expr half = hmi_mul(g, g->half, left_side(r, k));
        hmi_expr rest = hmi_sub(g, active[k], r->f[k]);
        S = hmi_add(g, S, hmi_mul(g, r->speed[k].rate, hmi_add(g, half, rest)));
    }
    hmi_reduce_quantity(r, "S", S);
    for (size_t k = 0; status == HM_OK && k < r->k; k++)
        hmi_reduce_quantity(r, hmi_reduce_name(r, "Gamma(%s)", r->speed[k].name), active[k]);
    return status;
}

/* ---- Boltzmann and Hamel ---- */

/* d(form_i)/dq_j, and by time for j = n; i = n: of what the form has besides velocities. */
static hm_status form_slopes(hmi_reduce *r, const hmi_linear_form *form, hmi_expr *slope)
{
    size_t n = r->n, width = n + 1;
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i <= n; i++) {
        hmi_expr e = i < n ? form->c[i] : form->rest;
        status = hmi_reduce_gradient(r, e, HMI_SYM_COORD, n, &slope[i * width]);
        if (status == HM_OK)
            status = hmi_reduce_gradient(r, e, HMI_SYM_TIME, 1, &slope[i * width + n]);
    }
    return status;
}

/* gamma = sum (d alpha_i/dq_j - d alpha_j/dq_i) N_ir w_j, with time as the last coordinate.
 *                                                         [Hamel 1904; Neimark & Fufaev 1972, chapter III] */
static hmi_expr transpose_coefficient(hmi_reduce *r, const hmi_expr *slope, size_t one,
                                      const hmi_expr *other)
{
    hmi_graph *g = &r->graph;
    size_t n = r->n, width = n + 1;
    hmi_expr sum = g->zero;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= n; j++) {
            hmi_expr curl = hmi_sub(g, slope[i * width + j], slope[j * width + i]);
            hmi_expr e = hmi_mul(g, r->N[i * r->k + one], other[j]);
            sum = hmi_add(g, sum, hmi_mul(g, curl, e));
        }
    return hmi_reduce_normal(r, sum);
}

static const char *form_name(hmi_reduce *r, size_t s)
{
    const char *name = s < r->k ? r->speed[s].name : r->row[s - r->k].name;
    return name ? name : hmi_reduce_name(r, "row %zu", s - r->k + 1);
}

/* All gamma of one quasi-velocity s (speeds, then constraints) that are not zero. */
static hm_status gammas_of(hmi_reduce *r, size_t s, hmi_expr *slope, hmi_expr *other)
{
    const hmi_linear_form *form = s < r->k ? &r->speed[s].form : &r->row[s - r->k];
    hm_status status = form_slopes(r, form, slope);
    for (size_t one = 0; status == HM_OK && one < r->k; one++)
        for (size_t two = one + 1; two <= r->k; two++) {
            for (size_t i = 0; i < r->n; i++)
                other[i] = two < r->k ? r->N[i * r->k + two] : r->offset[i];
            other[r->n] = two < r->k ? r->graph.zero : r->graph.one;
            hmi_expr gamma = transpose_coefficient(r, slope, one, other);
            if (gamma == r->graph.zero)
                continue;
            hmi_reduce_quantity(r,
                                hmi_reduce_name(r, "gamma(%s; %s, %s)", form_name(r, s),
                                                r->speed[one].name,
                                                two < r->k ? r->speed[two].name : "t"),
                                gamma);
        }
    return status;
}

static hm_status boltzmann_hamel(hmi_reduce *r)
{
    hmi_expr *slope = hmi_reduce_vector(r, (r->n + 1) * (r->n + 1));
    hmi_expr *other = hmi_reduce_vector(r, r->n + 1);
    if (r->failed)
        return HM_ERR_NOMEM;
    size_t before = r->quantities.count;
    hmi_reduce_quantity(r, "L*", on_constraints(r, r->eq->lagrangian));
    hm_status status = HM_OK;
    for (size_t s = 0; status == HM_OK && s < r->k + r->rows; s++)
        status = gammas_of(r, s, slope, other);
    if (r->quantities.count == before + 1)
        hmi_reduce_note(
            r, "all transpositional coefficients gamma are zero: these are Lagrange's equations");
    return status;
}

/* ---- Voronets and Chaplygin ---- */

/* Chaplygin's case: nothing knows the coordinates whose velocities are given. */
static bool is_chaplygin(hmi_reduce *r, hmi_expr lagrangian)
{
    for (uint32_t i = 0; i < r->n; i++) {
        bool free = false;
        for (size_t k = 0; k < r->k; k++)
            free |= r->speed[k].coordinate == i;
        if (free)
            continue;
        if (hmi_reduce_contains(r, lagrangian, HMI_SYM_COORD, i))
            return false;
        for (size_t j = 0; j < r->n; j++)
            if (hmi_reduce_contains(r, r->velocity[j], HMI_SYM_COORD, i) ||
                hmi_reduce_contains(r, r->force[j], HMI_SYM_COORD, i))
                return false;
    }
    return true;
}

static hm_status voronets(hmi_reduce *r)
{
    hmi_graph *g = &r->graph;
    hmi_expr lagrangian = hmi_reduce_normal(r, on_constraints(r, r->eq->lagrangian));
    hmi_reduce_quantity(r, "L*", lagrangian);
    for (size_t k = 0; k < r->k; k++) {
        hmi_expr P = g->zero;
        for (size_t i = 0; i < r->n; i++)
            P = hmi_add(g, P,
                        hmi_mul(g, r->N[i * r->k + k], on_constraints(r, r->eq->momentum[i])));
        hmi_reduce_quantity(r, hmi_reduce_name(r, "P(%s)", r->speed[k].name), P);
    }
    if (r->rows && is_chaplygin(r, lagrangian))
        hmi_reduce_note(
            r, "Chaplygin's case: the coordinates whose velocities are given do not occur");
    return r->failed ? HM_ERR_NOMEM : HM_OK;
}

/* ---- Routh ---- */

static hm_status routh(hmi_reduce *r)
{
    hmi_graph *g = &r->graph;
    hmi_expr R = on_constraints(r, r->eq->lagrangian);
    for (size_t c = 0; c < r->cyclic; c++) {
        hmi_expr beta = hmi_symbol(g, HMI_SYM_PARAM, (uint32_t)(r->np + c));
        R = hmi_sub(g, R, hmi_mul(g, beta, r->velocity[r->cyclic_index[c]]));
    }
    hmi_reduce_quantity(r, "R", R);
    for (size_t c = 0; c < r->cyclic; c++)
        hmi_reduce_quantity(
            r, hmi_reduce_name(r, "p_%s", r->model->coords.data[r->cyclic_index[c]].name),
            r->eq->momentum[r->cyclic_index[c]]);
    return r->failed ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_reduce_present(hmi_reduce *r)
{
    switch (r->form) {
    case HM_REDUCED_FORM_KANE:
        return kane(r);
    case HM_REDUCED_FORM_APPELL:
        return appell(r);
    case HM_REDUCED_FORM_BOLTZMANN_HAMEL:
        return boltzmann_hamel(r);
    case HM_REDUCED_FORM_VORONETS:
        return voronets(r);
    case HM_REDUCED_FORM_ROUTH:
        return routh(r);
    case HM_REDUCED_FORM_HAMILTON:
        return hmi_reduce_hamilton(r);
    case HM_REDUCED_FORM_EMBED:
        hmi_reduce_quantity(r, "L", on_constraints(r, r->eq->lagrangian));
        return r->failed ? HM_ERR_NOMEM : HM_OK;
    case HM_REDUCED_FORM_MAGGI:
        break;
    }
    return HM_OK;
}
