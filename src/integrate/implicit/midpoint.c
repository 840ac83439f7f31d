/* The implicit midpoint rule, fixed steps.                          [HLW06, II.1.4, VI.4]
 *
 *     y1 = y + h f(t + h/2, Y),   Y = (y + y1)/2 = y + h/2 f(t + h/2, Y)
 *
 * Order 2, A-stable, symmetric, symplectic for canonical coordinates; keeps quadratic invariants of
 * y' = f(y). Constraints enter through the index-reduced equations, and the run projects. Y is
 * found by simplified Newton with the exact Jacobian, (2/h I - J) dY = 2/h (y - Y) + f(Y), to rounding
 * error: what is left over would be a drift of the invariants. J is kept while it converges well.
 * Verified: test/unit/integrate/test_implicit_order.c
 */
#include "integrate/implicit/fixed_step.h"
#include "integrate/implicit/newton.h"
#include "linalg/dense.h"

enum { MOST_ITERATIONS = 30, VECTORS = 4 };
static const double slow = 0.2; /* a contraction worse than this asks for a new Jacobian */

typedef struct midpoint {
    hmi_newton newton;
    double h;      /* of the factorisation; 0: none */
    double h_last; /* of the last step */
    bool has_jacobian;
    double *stage, *f, *dy, *end;
} midpoint;

static size_t memory_size(const hmi_method *method, const hmi_ode *ode)
{
    (void)method;
    return sizeof(midpoint) + VECTORS * ode->size * sizeof(double) + hmi_newton_size(ode, false);
}

static hm_status applies(const hmi_ode *ode, const char **why)
{
    (void)ode;
    (void)why;
    return HM_OK;
}

static hm_status start(hmi_stepper *s)
{
    midpoint *m = s->memory;
    m->stage = (double *)(m + 1);
    m->f = m->stage + s->size;
    m->dy = m->f + s->size;
    m->end = m->dy + s->size;
    m->h = 0;
    m->has_jacobian = false;
    return hmi_newton_init(&m->newton, s->ode, false, m->end + s->size);
}

static hm_status factor(midpoint *m, double h)
{
    m->h = 0;
    if (!hmi_newton_factor(&m->newton, 2 / h))
        return HM_ERR_NUMERIC;
    m->h = h;
    return HM_OK;
}

/* J at this state, factored. */
static hm_status prepare(hmi_stepper *s, double t, const double *y, double h)
{
    midpoint *m = s->memory;
    hm_status status = hmi_newton_jacobian(&m->newton, t, y);
    m->has_jacobian = status == HM_OK;
    return status == HM_OK ? factor(m, h) : status;
}

/* The correction relative to the size of the state, component by component. */
static double relative_size(const hmi_stepper *s, const double *dy, const double *y)
{
    double largest = 0, size = hmi_max_abs((int)s->size, y);
    for (size_t i = 0; i < s->size; i++)
        largest = fmax(largest, fabs(dy[i]) / (fabs(y[i]) + 1e-3 * size + s->atol + 1e-300));
    return largest;
}

/* One correction of the stage; its relative size in *size. */
static hm_status correct(hmi_stepper *s, double h, double *size)
{
    midpoint *m = s->memory;
    hm_status status = hmi_ode_evaluate(s->ode, s->t + h / 2, m->stage, m->f);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < s->size; i++)
        m->dy[i] = 2 / h * (s->y[i] - m->stage[i]) + m->f[i];
    hmi_newton_solve(&m->newton, m->dy);
    *size = relative_size(s, m->dy, m->stage);
    if (!isfinite(*size))
        return HM_ERR_NUMERIC;
    for (size_t i = 0; i < s->size; i++)
        m->stage[i] += m->dy[i];
    return HM_OK;
}

/* The stage from the present guess. HM_OK: converged. Where that is slow the Jacobian is taken at
 * the stage itself, which makes it Newton's iteration proper. */
static hm_status iterate(hmi_stepper *s, double h)
{
    midpoint *m = s->memory;
    double last = INFINITY, size;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        hm_status status = correct(s, h, &size);
        if (status != HM_OK)
            return status;
        if (size < 4 * HMI_EPSILON || (size < 1e-12 && size > 0.5 * last))
            return HM_OK;
        if (size > slow * last && size > 1e-12)
            status = prepare(s, s->t + h / 2, m->stage, h);
        if (status != HM_OK)
            return status;
        last = size;
    }
    return last < 1e-10 ? HM_OK : HM_ERR_NUMERIC;
}

/* Guess: the midpoint of the step before, continued. */
static void guess(hmi_stepper *s, double h)
{
    midpoint *m = s->memory;
    double x = s->steps > 0 && s->t_old != s->t ? 0.5 * h / (s->t - s->t_old) : 0;
    for (size_t i = 0; i < s->size; i++)
        m->stage[i] = s->y[i] + (x != 0 ? x * (m->end[i] - s->y_old[i]) : 0);
}

static hm_status step(hmi_stepper *s, double t_limit)
{
    midpoint *m = s->memory;
    double h = hmi_fixed_step(s, t_limit);
    hm_status status = HM_OK;
    if (!m->has_jacobian)
        status = prepare(s, s->t, s->y, h);
    else if (h != m->h)
        status = factor(m, h);
    guess(s, h);
    if (status == HM_OK)
        status = iterate(s, h);
    if (status != HM_OK) { /* again, from the state itself and its Jacobian */
        status = prepare(s, s->t, s->y, h);
        memcpy(m->stage, s->y, s->size * sizeof *s->y);
        if (status == HM_OK)
            status = iterate(s, h);
    }
    if (status != HM_OK) {
        s->trouble = "the implicit equations of the step have no solution: try a smaller step";
        return status;
    }
    for (size_t i = 0; i < s->size; i++)
        m->end[i] = s->y[i] + 2 * (m->stage[i] - s->y[i]);
    hmi_fixed_accept(s, h, m->end);
    m->h_last = h;
    if (h == t_limit - s->t_old)
        s->t = t_limit;
    return HM_OK;
}

static void interpolate(const hmi_stepper *s, double t, double *y)
{
    const midpoint *m = s->memory;
    if (!s->ode->dirac) {
        hmi_fixed_interpolate(s, m->h_last, m->end, t, y);
        return;
    }
    double x = (t - s->t_old) / m->h_last;
    for (size_t i = 0; i < s->size; i++)
        y[i] = s->y_old[i] + x * (m->end[i] - s->y_old[i]);
}

const hmi_method hmi_method_midpoint = {
    .name = "midpoint",
    .doc =
        "The implicit midpoint rule: order 2, fixed step, symmetric and A-stable; keeps quadratic "
        "invariants. Hairer, Lubich & Wanner 2006, VI.4.",
    .order = 2,
    .dense_degree = 3,
    .fixed_step = true,
    .memory_size = memory_size,
    .applies = applies,
    .start = start,
    .step = step,
    .interpolate = interpolate,
};
