/* CVODE of SUNDIALS: BDF of variable order with the exact Jacobian.          [Hindmarsh et al. 2005]
 *
 * An optional component (cmake/Sundials.cmake) and an independent check of the methods of this
 * folder. Drift is controlled by CVODE's own projection [Shampine 1986; Eich 1993], which calls the
 * run's; a state that was changed from outside restarts the method. Memory: see sundials.h.
 * Verified: test/unit/integrate/test_implicit_sundials.c
 */
#include "integrate/sundials/sundials.h"

#ifdef HAMEL_SUNDIALS

#include "integrate/implicit/newton.h"
#include "linalg/dense.h"

#include <cvode/cvode.h>
#include <sunmatrix/sunmatrix_dense.h>

typedef struct cvode {
    hmi_sundials sun;
    hmi_newton newton;
    double *projected; /* size */
} cvode;

static size_t memory_size(const hmi_method *method, const hmi_ode *ode)
{
    (void)method;
    return sizeof(cvode) + 2 * ode->size * sizeof(double) + hmi_newton_size(ode, false);
}

static hm_status applies(const hmi_ode *ode, const char **why)
{
    (void)ode;
    (void)why;
    return HM_OK;
}

/* ---- callbacks: 0, + try a smaller step ---- */

static int rates(realtype t, N_Vector y, N_Vector dy, void *user)
{
    hmi_stepper *s = user;
    return hmi_ode_evaluate(s->ode, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy)) != HM_OK;
}

static int jacobian(realtype t, N_Vector y, N_Vector dy, SUNMatrix J, void *user, N_Vector t1,
                    N_Vector t2, N_Vector t3)
{
    hmi_stepper *s = user;
    cvode *c = s->memory;
    hmi_newton *w = &c->newton;
    (void)dy, (void)t1, (void)t2, (void)t3;
    if (hmi_newton_jacobian(w, t, N_VGetArrayPointer(y)) != HM_OK)
        return 1;
    SUNMatZero(J);
    for (int j = 0; j < w->size; j++) {
        realtype *column = SM_COLUMN_D(J, j);
        if (w->kinematic && j >= w->kinematic && j < 2 * w->kinematic)
            column[j - w->kinematic] = 1;
        for (int i = 0; i < w->rows; i++)
            column[w->kinematic + i] = w->J[(size_t)i * (size_t)w->width + (size_t)j];
    }
    return 0;
}

/* correction := projection of y - y */
static int project(realtype t, N_Vector y, N_Vector correction, realtype epsilon, N_Vector error,
                   void *user)
{
    hmi_stepper *s = user;
    cvode *c = s->memory;
    double moved = 0;
    (void)epsilon, (void)error;
    const double *from = N_VGetArrayPointer(y);
    memcpy(c->projected, from, s->size * sizeof *from);
    if (s->settle(s, t, c->projected, &moved) != HM_OK)
        return 1;
    for (size_t i = 0; i < s->size; i++)
        N_VGetArrayPointer(correction)[i] = c->projected[i] - from[i];
    return 0;
}

/* ---- creation ---- */

static void finish(hmi_stepper *s)
{
    cvode *c = s->memory;
    if (!c)
        return;
    CVodeFree(&c->sun.solver);
    hmi_sundials_release(&c->sun);
}

static bool create(hmi_stepper *s, hmi_sundials *c)
{
    if (!hmi_sundials_create(c, s->size, 1) || !(c->solver = CVodeCreate(CV_BDF, c->context)))
        return false;
    memcpy(N_VGetArrayPointer(c->vector[0]), s->y, s->size * sizeof *s->y);
    void *m = c->solver;
    int flags = CVodeSetErrHandlerFn(m, hmi_sundials_silent, NULL);
    flags |= CVodeInit(m, rates, s->t, c->vector[0]);
    flags |= CVodeSetUserData(m, s);
    flags |= CVodeSStolerances(m, s->rtol, s->atol);
    flags |= CVodeSetLinearSolver(m, c->linear, c->J);
    flags |= CVodeSetJacFn(m, jacobian);
    if (s->settle)
        flags |= CVodeSetProjFn(m, project);
    return flags == CV_SUCCESS;
}

static hm_status start(hmi_stepper *s)
{
    cvode *c = s->memory;
    double last = c->sun.t_end - c->sun.t_begin; /* 0: there was none */
    finish(s);
    if (!create(s, &c->sun)) {
        finish(s);
        return HM_ERR_NOMEM;
    }
    c->sun.output = CVodeGetDky;
    c->projected = (double *)(c + 1);
    c->sun.missing = c->projected + s->size;
    if (isfinite(s->largest))
        CVodeSetMaxStep(c->sun.solver, s->largest);
    if (s->step > 0 || last != 0) /* its own guess would be lost in the noise near an event */
        CVodeSetInitStep(c->sun.solver, last != 0 ? 0.1 * last : s->step);
    return hmi_newton_init(&c->newton, s->ode, false, c->sun.missing + s->size);
}

/* ---- steps ---- */

static hm_status step(hmi_stepper *s, double t_limit)
{
    hmi_sundials *c = &((cvode *)s->memory)->sun;
    double *y = N_VGetArrayPointer(c->vector[0]), t = s->t;
    size_t bytes = s->size * sizeof *y;
    if (memcmp(y, s->y, bytes) != 0) {
        memcpy(y, s->y, bytes);
        CVodeReInit(c->solver, s->t, c->vector[0]);
        CVodeSetInitStep(c->solver, 0.1 * (c->t_end - c->t_begin));
    }
    CVodeSetStopTime(c->solver, t_limit);
    int flag = CVode(c->solver, t_limit, c->vector[0], &t, CV_ONE_STEP);
    if (flag < 0 || !hmi_all_finite((int)s->size, y)) {
        memcpy(y, s->y, bytes);
        s->trouble = "CVODE cannot take a further step";
        return s->ode->last != HM_OK ? s->ode->last : HM_ERR_NUMERIC;
    }
    hmi_sundials_accept(c, s, t);
    s->settled = s->settle != NULL;
    return HM_OK;
}

static void interpolate(const hmi_stepper *s, double t, double *y)
{
    const cvode *c = s->memory;
    hmi_sundials_interpolate(&c->sun, s, t, y);
}

const hmi_method hmi_method_cvode = {
    .name = "cvode",
    .doc = "CVODE of SUNDIALS: backward differentiation formulas of order 1 to 5 with the exact "
           "Jacobian and its own projection, for stiff motion. Hindmarsh et al. 2005.",
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
