/* G u' = f: the equations of motion on the directions that the constraints leave. */
#include "reduce/reduce.h"

static hm_status express_forces(hmi_reduce *r)
{
    const hmi_derived *eq = r->eq;
    hmi_graph *g = &r->graph;
    for (size_t i = 0; i < r->n; i++)
        r->force[i] = eq->has_nonideal ? hmi_add(g, eq->Q[i], eq->C[i]) : eq->Q[i];
    for (size_t i = 0; i < r->nz; i++)
        r->state_rate[i] = eq->state_rates[i];
    hm_status status = hmi_reduce_express(r, r->force, r->n);
    return status == HM_OK ? hmi_reduce_express(r, r->state_rate, r->nz) : status;
}

/* M as expressions of q, t (and u, where L is not quadratic), n x n. */
static hm_status express_mass(hmi_reduce *r, hmi_expr *M)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->n; j++)
            M[i * r->n + j] = hmi_mass_entry(r->eq, i, j);
    return hmi_reduce_express(r, M, r->n * r->n);
}

static hmi_expr dot_column(hmi_reduce *r, size_t k, const hmi_expr *x, size_t stride)
{
    hmi_graph *g = &r->graph;
    hmi_expr sum = g->zero;
    for (size_t i = 0; i < r->n; i++)
        sum = hmi_add(g, sum, hmi_mul(g, r->N[i * r->k + k], x[i * stride]));
    return sum;
}

/* MN := M N (n x k), net := Q - M dv/dt at u' = 0. */
static void multiply(hmi_reduce *r, const hmi_expr *M, hmi_expr *MN, hmi_expr *net)
{
    hmi_graph *g = &r->graph;
    for (size_t i = 0; i < r->n; i++) {
        net[i] = r->force[i];
        for (size_t j = 0; j < r->n; j++) {
            hmi_expr m = M[i * r->n + j];
            if (m == g->zero)
                continue;
            net[i] = hmi_sub(g, net[i], hmi_mul(g, m, r->drift[j]));
            for (size_t k = 0; k < r->k; k++)
                MN[i * r->k + k] = hmi_add(g, MN[i * r->k + k], hmi_mul(g, m, r->N[j * r->k + k]));
        }
    }
}

hm_status hmi_reduce_project(hmi_reduce *r)
{
    hmi_expr *M = hmi_reduce_vector(r, r->n * r->n), *MN = hmi_reduce_vector(r, r->n * r->k);
    hmi_expr *net = hmi_reduce_vector(r, r->n);
    r->drift = hmi_reduce_vector(r, r->n);
    r->force = hmi_reduce_vector(r, r->n);
    r->state_rate = hmi_reduce_vector(r, r->nz);
    r->G = hmi_reduce_vector(r, r->k * r->k);
    r->f = hmi_reduce_vector(r, r->k);
    if (r->failed)
        return HM_ERR_NOMEM;
    hm_status status = express_forces(r);
    if (status == HM_OK)
        status = express_mass(r, M);
    if (status == HM_OK)
        status = hmi_reduce_along_motion(r, r->velocity, r->n, r->drift);
    if (status != HM_OK)
        return status;
    multiply(r, M, MN, net);
    for (size_t k = 0; k < r->k; k++) {
        r->f[k] = hmi_reduce_normal(r, dot_column(r, k, net, 1));
        for (size_t l = 0; l < r->k; l++)
            r->G[k * r->k + l] = hmi_reduce_normal(r, dot_column(r, k, &MN[l], r->k));
    }
    return hmi_reduce_status(r);
}
