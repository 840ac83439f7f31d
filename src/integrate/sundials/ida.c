/* IDA of SUNDIALS on the equations themselves, not on their solution.        [Hindmarsh et al. 2005]
 *
 *     q' = v,   M v' = Q + C + A^T lambda,   A v' = b,   z' = rates
 *
 * with lambda as unknowns: an index-1 system in which q'' is never solved for, hence a check of the
 * solve as well as of the methods. The constraints drift with the tolerance: IDA has no projection, and
 * one from outside would restart it at every step. Rows must be independent. Memory: see sundials.h.
 * Verified: test/unit/integrate/test_implicit_sundials.c
 */
#include "integrate/sundials/sundials.h"

#ifdef HAMEL_SUNDIALS

#include "linalg/dense.h"

#include <ida/ida.h>

typedef struct ida {
    hmi_sundials sun;
    size_t n, m, size; /* size of the unknowns: (q, v, z, lambda) */
} ida;

/* The vectors: unknowns, their rates, which of them have rates. */
enum { Y, DY, ID, VECTORS };

static size_t memory_size(const hmi_method *method, const hmi_ode *ode)
{
    (void)method;
    return sizeof(ida) + ode->size * sizeof(double);
}

static hm_status applies(const hmi_ode *ode, const char **why)
{
    const hm_system *system = ode->sim->system;
    *why = NULL;
    if (ode->dirac)
        *why = "only the velocities are determined";
    else if (system->model->servos.count)
        *why = "servo forces are not part of its equations";
    else if (system->derived.force_symbols)
        *why = "a force depends on constraint forces";
    return *why ? HM_ERR_USAGE : HM_OK;
}

/* ---- callbacks ---- */

static int residual(realtype t, N_Vector unknowns, N_Vector slopes, N_Vector to, void *user)
{
    hmi_stepper *s = user;
    const ida *c = s->memory;
    hm_sim *sim = s->ode->sim;
    const hmi_dynamics_layout *at = &sim->system->at;
    int n = (int)c->n, m = (int)c->m, states = (int)s->ode->states;
    const double *y = N_VGetArrayPointer(unknowns), *dy = N_VGetArrayPointer(slopes);
    const double *lambda = y + s->size;
    double *r = N_VGetArrayPointer(to);
    s->ode->evaluations++;
    const hmi_point here = hmi_ode_point(s->ode, t, y);
    if (s->ode->branches && s->ode->branches->directions)
        s->ode->branches->look_up(s->ode->branches, &here);
    hmi_sim_evaluate(sim, &here);
    hmi_sim_scatter(sim);
    const double *values = hmi_sim_dynamics(sim);
    for (int i = 0; i < n; i++) {
        r[i] = dy[i] - y[n + i];
        r[n + i] = hmi_dot(n, sim->dense.M + (size_t)i * c->n, dy + n) - values[at->Q + (size_t)i] -
                   values[at->C + (size_t)i];
    }
    hmi_mul_transposed(m, n, -1, sim->dense.A, lambda, r + n);
    for (int i = 0; i < states; i++)
        r[2 * n + i] = dy[2 * n + i] - values[at->state_rates + (size_t)i];
    for (int k = 0; k < m; k++)
        r[2 * n + states + k] = hmi_dot(n, sim->dense.A + (size_t)k * c->n, dy + n) -
                                values[at->b + (size_t)k];
    return !hmi_all_finite((int)c->size, r);
}

/* ---- creation ---- */

static void finish(hmi_stepper *s)
{
    ida *c = s->memory;
    if (!c)
        return;
    IDAFree(&c->sun.solver);
    hmi_sundials_release(&c->sun);
}

/* y, y' and lambda of the motion at the present state. */
static hm_status take_state(hmi_stepper *s)
{
    ida *c = s->memory;
    hmi_solution solution;
    double *y = N_VGetArrayPointer(c->sun.vector[Y]), *dy = N_VGetArrayPointer(c->sun.vector[DY]);
    const hmi_point at = hmi_ode_point(s->ode, s->t, s->y);
    hm_status status = hmi_sim_accelerate(s->ode->sim, &at, &solution);
    if (status != HM_OK)
        return status;
    if (solution.verdict.rank_A < (int)c->m) {
        s->trouble = "ida needs independent constraints";
        return HM_ERR_USAGE;
    }
    memcpy(y, s->y, s->size * sizeof *y);
    memcpy(dy, s->y + c->n, c->n * sizeof *y);
    memcpy(dy + c->n, solution.qdd, c->n * sizeof *y);
    hmi_copy((int)s->ode->states, hmi_sim_state_rates(s->ode->sim), dy + 2 * c->n);
    hmi_copy((int)c->m, solution.total_lambda, y + s->size);
    for (size_t i = 0; i < c->size; i++)
        N_VGetArrayPointer(c->sun.vector[ID])[i] = i < s->size;
    memset(dy + s->size, 0, c->m * sizeof *dy);
    return HM_OK;
}

static bool allocate(ida *c)
{
    return hmi_sundials_create(&c->sun, c->size, VECTORS) &&
           (c->sun.solver = IDACreate(c->sun.context));
}

static bool set_up(hmi_stepper *s, hmi_sundials *c)
{
    void *m = c->solver;
    int flags = IDASetErrHandlerFn(m, hmi_sundials_silent, NULL);
    flags |= IDAInit(m, residual, s->t, c->vector[Y], c->vector[DY]);
    flags |= IDASetUserData(m, s);
    flags |= IDASStolerances(m, s->rtol, s->atol);
    flags |= IDASetId(m, c->vector[ID]);
    flags |= IDASetSuppressAlg(m, SUNTRUE);
    flags |= IDASetLinearSolver(m, c->linear, c->J);
    return flags == IDA_SUCCESS;
}

static hm_status start(hmi_stepper *s)
{
    ida *c = s->memory;
    double last = c->sun.t_end - c->sun.t_begin; /* 0: there was none */
    finish(s);
    c->n = s->ode->n;
    c->m = s->ode->sim->system->derived.constraints.count;
    c->size = s->size + c->m;
    hm_status status = allocate(c) ? take_state(s) : HM_ERR_NOMEM;
    if (status == HM_OK && !set_up(s, &c->sun))
        status = HM_ERR_NOMEM;
    if (status != HM_OK) {
        finish(s);
        return status;
    }
    c->sun.output = IDAGetDky;
    c->sun.missing = (double *)(c + 1);
    if (isfinite(s->largest))
        IDASetMaxStep(c->sun.solver, s->largest);
    if (s->step > 0 || last != 0) /* its own guess would be lost in the noise near an event */
        IDASetInitStep(c->sun.solver, last != 0 ? 0.1 * last : s->step);
    return HM_OK;
}

/* ---- steps ---- */

static hm_status step(hmi_stepper *s, double t_limit)
{
    hmi_sundials *c = &((ida *)s->memory)->sun;
    double *y = N_VGetArrayPointer(c->vector[Y]), t = s->t;
    size_t bytes = s->size * sizeof *y;
    if (s->ode->branches && s->ode->branches->sliding) {
        s->trouble = "a force sticks at a discontinuity here, which this method cannot follow";
        return HM_ERR_NUMERIC;
    }
    if (memcmp(y, s->y, bytes) != 0) {
        hm_status status = take_state(s);
        if (status != HM_OK)
            return status;
        IDAReInit(c->solver, s->t, c->vector[Y], c->vector[DY]);
    }
    IDASetStopTime(c->solver, t_limit);
    int flag = IDASolve(c->solver, t_limit, &t, c->vector[Y], c->vector[DY], IDA_ONE_STEP);
    if (flag < 0 || !hmi_all_finite((int)s->size, y)) {
        memcpy(y, s->y, bytes);
        s->trouble = "IDA cannot take a further step";
        return HM_ERR_NUMERIC;
    }
    hmi_sundials_accept(c, s, t);
    s->settled = true;
    return HM_OK;
}

static void interpolate(const hmi_stepper *s, double t, double *y)
{
    const ida *c = s->memory;
    hmi_sundials_interpolate(&c->sun, s, t, y);
}

const hmi_method hmi_method_ida = {
    .name = "ida",
    .doc = "IDA of SUNDIALS on M q'' = Q + A^T lambda, A q'' = b with lambda as unknowns: backward "
           "differentiation formulas of order 1 to 5; an independent check. Hindmarsh et al. 2005.",
    .order = 5,
    .dense_degree = 5,
    .memory_size = memory_size,
    .applies = applies,
    .start = start,
    .step = step,
    .interpolate = interpolate,
    .finish = finish,
};

#endif
