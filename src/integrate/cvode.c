/* CVODE of SUNDIALS: BDF of variable order with the exact Jacobian.          [Hindmarsh et al. 2005]
 *
 * An optional component (cmake/Sundials.cmake) and an independent check of the methods of this
 * folder. Drift is controlled by CVODE's own projection [Shampine 1986; Eich 1993], which calls the
 * driver's; a state that was changed from outside restarts the method. Its memory is SUNDIALS' own
 * (malloc), given back by `finish`.
 * Verified: test/unit/integrate/test_implicit_sundials.c
 */
#include "integrate/method.h"

#ifdef HAMEL_SUNDIALS

#include "integrate/newton.h"
#include "linalg/dense.h"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

typedef struct cvode {
    hmi_newton newton;
    SUNContext context;
    void *solver;
    N_Vector y, dense;
    SUNMatrix J;
    SUNLinearSolver linear;
    double t_begin, t_end;       /* of the last step */
    double *projected, *missing; /* size */
} cvode;

static size_t memory_size(const hmi_ode *ode)
{
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

static void silent(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

/* ---- creation ---- */

static void finish(hmi_stepper *s)
{
    cvode *c = s->memory;
    if (!c)
        return;
    CVodeFree(&c->solver);
    if (c->linear)
        SUNLinSolFree(c->linear);
    if (c->J)
        SUNMatDestroy(c->J);
    if (c->y)
        N_VDestroy(c->y);
    if (c->dense)
        N_VDestroy(c->dense);
    SUNContext_Free(&c->context);
    *c = (cvode){0};
}

static bool create(hmi_stepper *s, cvode *c)
{
    sunindextype size = (sunindextype)s->size;
    if (SUNContext_Create(NULL, &c->context) != 0)
        return false;
    c->y = N_VNew_Serial(size, c->context);
    c->dense = N_VNew_Serial(size, c->context);
    c->J = SUNDenseMatrix(size, size, c->context);
    c->solver = CVodeCreate(CV_BDF, c->context);
    if (!c->y || !c->dense || !c->J || !c->solver)
        return false;
    c->linear = SUNLinSol_Dense(c->y, c->J, c->context);
    memcpy(N_VGetArrayPointer(c->y), s->y, s->size * sizeof *s->y);
    void *m = c->solver;
    return c->linear && CVodeSetErrHandlerFn(m, silent, NULL) == CV_SUCCESS &&
           CVodeInit(m, rates, s->t, c->y) == CV_SUCCESS && CVodeSetUserData(m, s) == CV_SUCCESS &&
           CVodeSStolerances(m, s->rtol, s->atol) == CV_SUCCESS &&
           CVodeSetLinearSolver(m, c->linear, c->J) == CV_SUCCESS &&
           CVodeSetJacFn(m, jacobian) == CV_SUCCESS &&
           (!s->settle || CVodeSetProjFn(m, project) == CV_SUCCESS);
}

static hm_status start(hmi_stepper *s)
{
    cvode *c = s->memory;
    double last = c->t_end - c->t_begin; /* 0: there was none */
    finish(s);
    c->projected = (double *)(c + 1);
    c->missing = c->projected + s->size;
    if (!create(s, c)) {
        finish(s);
        return HM_ERR_NOMEM;
    }
    if (isfinite(s->largest))
        CVodeSetMaxStep(c->solver, s->largest);
    if (s->step > 0 || last != 0) /* its own guess would be lost in the noise near an event */
        CVodeSetInitStep(c->solver, last != 0 ? 0.1 * last : s->step);
    return hmi_newton_init(&c->newton, s->ode, false, c->missing + s->size);
}

/* ---- steps ---- */

static hm_status step(hmi_stepper *s, double t_limit)
{
    cvode *c = s->memory;
    double *y = N_VGetArrayPointer(c->y), t = s->t;
    size_t bytes = s->size * sizeof *y;
    if (memcmp(y, s->y, bytes) != 0) {
        memcpy(y, s->y, bytes);
        CVodeReInit(c->solver, s->t, c->y);
        CVodeSetInitStep(c->solver, 0.1 * (c->t_end - c->t_begin));
    }
    CVodeSetStopTime(c->solver, t_limit);
    int flag = CVode(c->solver, t_limit, c->y, &t, CV_ONE_STEP);
    if (flag < 0 || !hmi_all_finite((int)s->size, y)) {
        memcpy(y, s->y, bytes);
        s->trouble = "CVODE cannot take another step";
        return s->ode->last != HM_OK ? s->ode->last : HM_ERR_NUMERIC;
    }
    memcpy(s->y_old, s->y, (s->size + s->works) * sizeof *y);
    memcpy(s->y, y, bytes);
    c->t_begin = s->t_old = s->t;
    c->t_end = s->t = t;
    memset(c->missing, 0, bytes);
    if (CVodeGetDky(c->solver, s->t_old, 0, c->dense) == CV_SUCCESS)
        for (size_t i = 0; i < s->size; i++)
            c->missing[i] = s->y_old[i] - N_VGetArrayPointer(c->dense)[i];
    s->f_valid = false;
    s->steps++;
    s->settled = s->settle != NULL;
    return HM_OK;
}

/* The polynomial of the formula misses the start of the step by about the tolerance, which events
 * that begin there must not see: what is missing is added, fading out over the step. */
static void interpolate(const hmi_stepper *s, double t, double *y)
{
    const cvode *c = s->memory;
    const double *from = s->y;
    double fade = (c->t_end - t) / (c->t_end - c->t_begin);
    if (CVodeGetDky(c->solver, t, 0, c->dense) == CV_SUCCESS)
        from = N_VGetArrayPointer(c->dense);
    for (size_t i = 0; i < s->size; i++)
        y[i] = from[i] + fade * c->missing[i];
}

const hmi_method hmi_method_cvode = {
    .name = "cvode",
    .doc = "CVODE of SUNDIALS: backward differentiation formulas of order 1 to 5 with the exact "
           "Jacobian and its own projection, for stiff motion. Hindmarsh et al. 2005.",
    .order = 5,
    .memory_size = memory_size,
    .applies = applies,
    .start = start,
    .step = step,
    .interpolate = interpolate,
    .finish = finish,
};

#endif
