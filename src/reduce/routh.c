/* Routh: the momenta of cyclic coordinates are constants beta, and rows p_c = beta give their velocities. */
#include "reduce/reduce.h"

static bool is_zero(hmi_reduce *r, hmi_expr e)
{
    return e == HMI_NONE || hmi_reduce_normal(r, e) == r->graph.zero;
}

/* Neither L nor a force nor a constraint knows the coordinate? */
static bool is_cyclic(hmi_reduce *r, uint32_t i)
{
    const hmi_derived *eq = r->eq;
    if (!is_zero(r, eq->dL_dq[i]) || !is_zero(r, eq->impressed[i]) ||
        !is_zero(r, eq->dissipation[i]) || !is_zero(r, eq->gyroscopic[i]) ||
        (eq->has_nonideal && !is_zero(r, eq->C[i])))
        return false;
    for (size_t k = 0; k < r->rows; k++) {
        if (!is_zero(r, r->row[k].c[i]) || hmi_reduce_contains(r, r->row[k].rest, HMI_SYM_COORD, i))
            return false;
        for (size_t j = 0; j < r->n; j++)
            if (hmi_reduce_contains(r, r->row[k].c[j], HMI_SYM_COORD, i))
                return false;
    }
    for (size_t j = 0; j < r->n; j++)
        if (hmi_reduce_contains(r, hmi_reduce_normal(r, eq->Q[j]), HMI_SYM_COORD, i))
            return false;
    return true;
}

static hm_status find_cyclic(hmi_reduce *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (is_cyclic(r, i))
            r->cyclic_index[r->cyclic++] = i;
    if (r->cyclic == 0) {
        hmi_error(r->context, hmi_no_span, "other forms need no cyclic coordinate: --form maggi",
                  "no coordinate is cyclic: each occurs in L, a force or a constraint");
        return HM_ERR_USAGE;
    }
    if (r->cyclic == r->n) {
        hmi_error(r->context, hmi_no_span,
                  "all momenta are constant: there is nothing to integrate",
                  "every coordinate is cyclic: Routh's equations are none");
        return HM_ERR_USAGE;
    }
    return HM_OK;
}

/* M_cc c' = beta - (the rest of p_c), solved: rows c' + ... = 0. */
static hm_status solve_momenta(hmi_reduce *r, hmi_linear_form *p)
{
    hmi_graph *g = &r->graph;
    size_t c = r->cyclic, sides = r->n + 1;
    hmi_expr *matrix = hmi_reduce_vector(r, c * c), *rhs = hmi_reduce_vector(r, c * sides);
    hmi_expr *out = hmi_reduce_vector(r, c * sides);
    if (r->failed)
        return HM_ERR_NOMEM;
    for (size_t a = 0; a < c; a++) {
        for (size_t b = 0; b < c; b++)
            matrix[a * c + b] = p[a].c[r->cyclic_index[b]];
        for (size_t i = 0; i < r->n; i++)
            rhs[a * sides + i] = p[a].c[i];
        rhs[a * sides + r->n] = hmi_sub(g, p[a].rest,
                                        hmi_symbol(g, HMI_SYM_PARAM, (uint32_t)(r->np + a)));
    }
    hm_status status = c > HMI_SYMBOLIC_MOST
                           ? HM_ERR_LIMIT
                           : hmi_symbolic_solve(r->normal, c, matrix, sides, rhs, out, NULL);
    for (size_t a = 0; status == HM_OK && a < c; a++) {
        hmi_linear_form *row = &r->row[r->rows++];
        *row = (hmi_linear_form){.name = r->model->coords.data[r->cyclic_index[a]].name,
                                 .c = &out[a * sides],
                                 .rest = out[a * sides + r->n],
                                 .wanted = r->cyclic_index[a] + 1};
    }
    if (status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT) {
        hmi_error(
            r->context, hmi_no_span, "--form maggi needs no momenta",
            "the velocities of the cyclic coordinates are not given by their momenta in symbols");
        return status == HM_ERR_LIMIT ? HM_ERR_LIMIT : HM_ERR_USAGE;
    }
    return status;
}

hm_status hmi_reduce_routh(hmi_reduce *r)
{
    hm_status status = find_cyclic(r);
    hmi_linear_form *p = status == HM_OK ? hmi_arena_alloc(&r->arena, (r->cyclic + 1) * sizeof *p)
                                         : NULL;
    if (!p)
        return status == HM_OK ? HM_ERR_NOMEM : status;
    for (size_t a = 0; a < r->cyclic; a++)
        if (!hmi_reduce_linear(r, r->eq->momentum[r->cyclic_index[a]], NULL, &p[a])) {
            hmi_error(r->context, hmi_no_span, "--form maggi needs no momenta",
                      "the momentum of '%s' is not linear in the velocities",
                      r->model->coords.data[r->cyclic_index[a]].name);
            return HM_ERR_USAGE;
        }
    return solve_momenta(r, p);
}
