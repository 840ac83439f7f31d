/* The hot loop: q'' and lambda of a well-conditioned system by the saddle-point solver of linalg.
 * Where that does not trust its answer the rank-revealing solve takes over.
 * Verified: test/unit/dynamics/test_accelerate.c
 */
#include "dynamics/formulations/workspace.h"

/* The rank-revealing solve. */
static hm_status take_over(hmi_dynamics *d, const double *M, const double *Q, const double *A,
                           const double *b, double *qdd, double *lambda)
{
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b};
    hmi_options options = hmi_options_default();
    hmi_solution solution;
    options.refinements = 2;
    options.rank_tolerance = d->accelerate_rank;
    hm_status status = hmi_dynamics_solve(d, &equations, &options, &solution);
    hmi_copy(d->n, solution.qdd, qdd);
    if (lambda)
        hmi_copy(d->held.gathers ? d->held.all : d->m, solution.lambda, lambda);
    return status;
}

hm_status hmi_accelerate(hmi_dynamics *d, const double *restrict M, const double *restrict Q,
                         const double *restrict A, const double *restrict b, double *restrict qdd,
                         double *restrict lambda)
{
    hmi_saddle *s = &d->saddle;
    if (d->held.overfull)
        return HM_ERR_LIMIT;
    const hmi_equations all = {.A = A, .b = b}, held = hmi_gather_rows(d, &all);
    double *l = lambda && !d->held.gathers ? lambda
                                           : d->scratch + hmi_saddle_doubles(d->n, d->m, false);
    s->A = held.A;
    if (hmi_saddle_factor(s, M)) {
        hmi_saddle_solve(s, Q, held.b, qdd, l);
        if (hmi_saddle_accepts(s, M, held.b, qdd, l)) {
            if (lambda && l != lambda)
                hmi_spread_multipliers(d, l, lambda);
            return HM_OK;
        }
    }
    return take_over(d, M, Q, A, b, qdd, lambda);
}
