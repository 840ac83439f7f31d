/* Taylor series of the motion: order and step from the tolerance.          [Jorba & Zou 2005]
 *
 * Order p = 1 - c ln(rtol): c = 1/2 is best where work grows with p^2, 1 where it grows with p, and more
 * where much of a step does not depend on p, as in small systems (bench/bench_taylor.c). The step makes
 * the last terms |y_k| h^k, k = p-2 .. p, as large as the tolerance, in the norm of hmi_scaled_norm; the part left out is smaller by h over the radius of convergence. A step is
 * verified before it is taken: drift control must not move the state by more than the tolerance,
 * the equations must hold at its end, and the accelerations there must be those of the series. A
 * smaller step costs no new series.
 *
 * Where there is no series (a square root at 0), where branches slide or constraints are crossed by
 * least squares, and where verified steps shrink too far, DOP853 takes some steps in its place. So it
 * does where the constraints lose rank ahead (a four-bar in its flat position) and where the radius
 * of convergence collapses from one step to the next: series would creep towards such a place, where
 * a step of DOP853 leads across.
 * Verified: test/unit/integrate/test_taylor.c
 */
#include "integrate/taylor/taylor.h"

#include "integrate/ode/ledger.h"
#include "integrate/ode/method.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_ORDER = 6,
    MOST_ORDER = 40,
    SUBSTITUTE_STEPS = 8, /* by DOP853, before a series is tried again */
    MOST_TRIALS = 6,      /* of one series */
    STIFF_STEPS = 15      /* suspicious ones in a row */
};
#define SAFETY         0.9
#define LARGEST_FACTOR 10
/* A step that is this much shorter than the last one: something other than the motion itself. */
#define COLLAPSE 0.2
/* h |f - f of the series| at the end of a step, in tolerances: p + 1 times the part left out. */
#define MOST_DEFECT 100
/* and this much of h |f| whatever the tolerance: accelerations have rounding errors too. */
#define DEFECT_NOISE 1e-9

typedef struct memory {
    hmi_taylor *T;   /* the run's */
    bool begun;      /* T stands at (s->t, s->y) with f */
    bool has_series; /* of the last step, for dense output */
    bool by_rk;      /* the last step was DOP853's */
    int substitute;  /* steps that DOP853 still takes */
    bool was_fast;   /* the solve of the last step was well conditioned */
    int suspicious;
    double h;      /* the last step; 0: none yet */
    double looked; /* part is the series there */
    double h_done, t_from;
    double *trial, *f_new; /* states */
    double *part, *slope;  /* components of the series, as weight: */
    double *weight;
    double *end; /* y - series at the end of the last step */
    void *rk;    /* memory of DOP853 */
} memory;

static size_t rk_size(const hmi_ode *ode)
{
    return (hmi_method_dop853.memory_size(&hmi_method_dop853, ode) + 63) / 64 * 64;
}

static size_t memory_size(const hmi_method *method, const hmi_ode *ode)
{
    (void)method;
    return (sizeof(memory) + 63) / 64 * 64 + rk_size(ode) +
           6 * (ode->size + HMI_MOST_WORKS + 7) * sizeof(double);
}

static memory *memory_of(const hmi_stepper *s)
{
    return s->memory;
}

/* ---- what it is for ---- */

static hm_status applies(const hmi_ode *ode, const char **why)
{
    const hm_system *system = ode->sim->system;
    if (!ode->sim->dense.dynamics)
        *why = "the system is solved by the sparse solver";
    else if (ode->dirac)
        *why = "the Lagrangian is degenerate: velocities, not accelerations, are determined";
    else if (system->derived.force_symbols)
        *why = "a force depends on constraint forces, which have no series of their own";
    else if (system->model->servos.count)
        *why = "the model has servos";
    else if (ode->branches && ode->branches->directions)
        *why = "a force is along u/|u| of velocities, which has no series at rest";
    else
        return HM_OK;
    return HM_ERR_USAGE;
}

static int order_for(const hmi_stepper *s)
{
    enum { SHORT_TAPE = 30 };
    size_t length = s->ode->sim->tapes.dynamics->body.count;
    double factor = length <= SHORT_TAPE ? 1.5 : 1.1;
    double order = ceil(1 - factor * log(s->rtol));
    return (int)fmin(MOST_ORDER, fmax(LEAST_ORDER, order));
}

/* ---- DOP853 in its place ---- */

static hm_status with_rk(hmi_stepper *s, double t_limit, bool start)
{
    memory *m = memory_of(s);
    const hmi_method *own = s->method;
    s->method = &hmi_method_dop853;
    s->memory = m->rk;
    hm_status status = start ? hmi_method_dop853.start(s) : HM_OK;
    if (status == HM_OK)
        status = hmi_method_dop853.step(s, t_limit);
    s->method = own;
    s->memory = m;
    return status;
}

static hm_status substitute(hmi_stepper *s, double t_limit)
{
    memory *m = memory_of(s);
    bool start = !m->by_rk;
    if (m->substitute <= 0)
        m->substitute = SUBSTITUTE_STEPS;
    m->substitute--;
    m->by_rk = true;
    m->begun = m->has_series = false;
    hm_status status = with_rk(s, t_limit, start);
    if (status == HM_OK)
        m->h = s->t - s->t_old;
    return status;
}

/* No series while a branch slides, and none near or across a rank drop. */
static bool must_substitute(const hmi_stepper *s)
{
    const hmi_ode *ode = s->ode;
    return ode->forgiving || isfinite(s->singular) || (ode->branches && ode->branches->sliding > 0);
}

/* ---- start ---- */

static void place(hmi_stepper *s)
{
    memory *m = memory_of(s);
    size_t width = s->size + s->works + 7; /* blocks of eight are whole */
    char *at = (char *)s->memory + (sizeof(memory) + 63) / 64 * 64;
    m->rk = at;
    m->trial = (double *)(at + rk_size(s->ode));
    m->f_new = m->trial + width;
    m->slope = m->f_new + width;
    m->part = m->slope + width;
    m->end = m->part + width;
    m->weight = m->end + width;
}

static hm_status refresh(hmi_stepper *s)
{
    memory *m = memory_of(s);
    if (m->begun && s->f_valid)
        return HM_OK;
    hm_status status = hmi_taylor_begin(m->T, s->t, s->y, s->f);
    m->begun = s->f_valid = status == HM_OK;
    return status;
}

/* Those of an earlier run, or new ones. */
static hm_status take_series(hmi_stepper *s, int order)
{
    hmi_taylor **series = s->ode->series;
    const hm_allocator *allocator = s->ode->sim->system->allocator;
    if (*series && hmi_taylor_reuse(*series, s->ode, order))
        return HM_OK;
    if (!*series)
        *series = hmi_alloc(allocator, sizeof **series);
    else
        hmi_taylor_release(*series);
    if (!*series)
        return HM_ERR_NOMEM;
    **series = (hmi_taylor){0};
    hm_status status = hmi_taylor_init(*series, s->ode, order);
    if (status != HM_OK)
        hmi_taylor_release(*series);
    return status;
}

static hm_status start(hmi_stepper *s)
{
    memory *m = memory_of(s);
    size_t width = s->size + s->works;
    place(s);
    hm_status status = take_series(s, order_for(s));
    if (status != HM_OK)
        return status;
    m->T = *s->ode->series;
    m->begun = m->has_series = m->by_rk = m->was_fast = false;
    m->substitute = 0;
    m->h = 0;
    s->t_old = s->t;
    memcpy(s->y_old, s->y, width * sizeof *s->y);
    if (must_substitute(s) || refresh(s) != HM_OK) /* the step will say what is wrong */
        s->f_valid = false;
    return HM_OK;
}

/* ---- the step size ---- */

/* m->weight := 1 over the tolerance of each component of the series, of works a hundred times wider. */
static void weigh(const hmi_stepper *s, const double *end)
{
    const hmi_taylor *T = memory_of(s)->T;
    double *weight = memory_of(s)->weight;
    size_t count = T->width - T->works;
    for (size_t i = 0; i < count; i++) {
        double now = fabs(T->Y[i]), then = fabs(end[i]);
        if (s->least && now < s->least[T->place[i]])
            now = s->least[T->place[i]];
        weight[i] = 1 / (s->atol + s->rtol * (now > then ? now : then));
    }
    for (size_t i = count; i < T->width; i++)
        weight[i] = 0.01 / (s->atol + s->rtol * fmax(s->work_scale, fabs(T->Y[i])));
}

/* The square of the size of x in tolerances, as hmi_scaled_norm has it, with the weights of the last weigh. */
static double square_of(const hmi_stepper *s, const double *x)
{
    const hmi_taylor *T = memory_of(s)->T;
    const double *weight = memory_of(s)->weight;
    size_t count = T->width - T->works;
    double sum = 0, most = 0;
    for (size_t i = 0; i < count; i++)
        sum += (x[i] * weight[i]) * (x[i] * weight[i]);
    for (size_t i = count; i < T->width; i++)
        most = fmax(most, (x[i] * weight[i]) * (x[i] * weight[i]));
    return fmax(sum / (double)count, most);
}

/* Of term k of the series at x = h/tau = 1. */
static double square_of_term(const hmi_stepper *s, int k)
{
    const hmi_taylor *T = memory_of(s)->T;
    return square_of(s, T->Y + (size_t)k * T->width);
}

/* The largest h for which the last terms are within the tolerance, with the weights of the last weigh;
 * infinite for polynomials. */
static double largest_step(const hmi_stepper *s)
{
    const hmi_taylor *T = memory_of(s)->T;
    double most = -INFINITY; /* the logarithm of 1/x */
    for (int k = T->order - 2; k <= T->order; k++) {
        double rate = log(square_of_term(s, k)) / (2 * k);
        most = rate > most ? rate : most;
    }
    return SAFETY * exp(-most) * T->tau;
}

static double power_of_two(double h)
{
    int exponent;
    (void)frexp(h, &exponent);
    return ldexp(1, exponent);
}

/* Before the first step: the time in which y changes by itself. */
static double first_guess(const hmi_stepper *s)
{
    double y = hmi_scaled_norm(s, s->y, s->y, s->y), f = hmi_scaled_norm(s, s->f, s->y, s->y);
    double guess = f > 0 && y > 0 ? 0.1 * y / f : 1;
    return fmin(fmax(guess, 1e-9), 1e3);
}

/* m->part := the series at h; is it finite? Every coefficient is in it. */
static bool look(hmi_stepper *s, double h)
{
    memory *m = memory_of(s);
    m->looked = h;
    hmi_taylor_evaluate(m->T, h, m->part, NULL);
    return hmi_all_finite((int)m->T->width, m->part);
}

/* The series, and where it leads in a step like the last. */
static hm_status expand(hmi_stepper *s)
{
    memory *m = memory_of(s);
    double guess = m->h > 0 ? m->h : fmin(first_guess(s), s->largest);
    for (int i = 0; i < 3; i++, guess *= 1e-6) {
        hm_status status = refresh(s);
        if (status != HM_OK)
            return status;
        m->T->tau = power_of_two(guess);
        hmi_taylor_expand(m->T, s->y, s->f);
        m->begun = false; /* its rows have moved on; f is still good */
        if (look(s, guess))
            return HM_OK;
        hmi_taylor_clear(m->T);
    }
    return HM_ERR_NUMERIC;
}

/* Components that are small now need not be at the end, which is looked for where the last step led too
 * far. */
static double choose_step(hmi_stepper *s)
{
    memory *m = memory_of(s);
    double most = LARGEST_FACTOR * m->h;
    if (!(m->h > 0)) /* the first one */
        most = s->step > 0 ? s->step : LARGEST_FACTOR * first_guess(s);
    weigh(s, m->part);
    double h = largest_step(s);
    if (h < 0.7 * m->looked && look(s, h)) {
        weigh(s, m->part);
        h = fmin(h, largest_step(s));
    }
    return fmin(fmin(h, most), s->largest);
}

/* Stability limits steps of series at h |lambda| = 0.4 p about, where the last terms (h lambda)^k/k!
 * fall by 0.4 each. Where the first ones fall a hundred times faster, the motion itself is slow: the
 * fast modes are not in it any more. */
static void look_for_stiffness(hmi_stepper *s, double h)
{
    memory *m = memory_of(s);
    const hmi_taylor *T = m->T;
    double x = h / T->tau, first = square_of_term(s, 1), second = square_of_term(s, 2);
    double slow = 0, fast = 0;
    if (x * x * second < 1e-4 * first) { /* slow < 0.01; else the last terms do not grow */
        double before = square_of_term(s, T->order - 2);
        slow = x * sqrt(second / first);
        fast = before > 0 ? x * sqrt(sqrt(square_of_term(s, T->order) / before)) : 0;
    }
    m->suspicious = fast > 0.35 && slow < 0.01 * fast ? m->suspicious + 1 : 0;
    if (m->suspicious >= STIFF_STEPS)
        s->stiff = true;
}

/* ---- one step ---- */

/* m->trial back to the constraints, where that is not by construction. */
static bool settle(hmi_stepper *s, double t)
{
    memory *m = memory_of(s);
    size_t width = s->size + s->works;
    double moved = 0;
    memset(m->end, 0, width * sizeof *m->end);
    s->settled = true;
    if (!s->settle || m->T->given_velocities.used)
        return true;
    memcpy(m->end, m->trial, width * sizeof *m->end);
    if (s->settle(s, t, m->trial, &moved) != HM_OK)
        return false;
    for (size_t i = 0; i < width; i++)
        m->end[i] = m->trial[i] - m->end[i];
    return moved <= 1;
}

/* Do the accelerations at the end agree with the series? */
static bool slopes_agree(hmi_stepper *s, double h)
{
    memory *m = memory_of(s);
    const hmi_taylor *T = m->T;
    double *f = m->f_new;
    for (size_t i = 0; i < T->width; i++)
        m->slope[i] -= f[T->place[i]];
    weigh(s, m->part);
    double defect = h * sqrt(square_of(s, m->slope));
    if (defect <= MOST_DEFECT)
        return true;
    for (size_t i = 0; i < T->width; i++)
        m->slope[i] = f[T->place[i]];
    return defect <= MOST_DEFECT + DEFECT_NOISE * h * sqrt(square_of(s, m->slope));
}

/* The state at t + h in m->trial, drift control done, f there; false: a smaller step is needed. */
static bool verify(hmi_stepper *s, double t, double h)
{
    memory *m = memory_of(s);
    hmi_taylor_evaluate(m->T, h, m->part, m->slope);
    hmi_taylor_spread(m->T, m->part, m->trial);
    if (!settle(s, t) || hmi_taylor_begin(m->T, t, m->trial, m->f_new) != HM_OK)
        return false;
    hmi_taylor_take_given(m->T, m->trial);
    return slopes_agree(s, h);
}

static void accept(hmi_stepper *s, double t, double h, bool cut)
{
    memory *m = memory_of(s);
    size_t bytes = (s->size + s->works) * sizeof(double);
    look_for_stiffness(s, h);
    memcpy(s->y_old, s->y, bytes);
    memcpy(s->y, m->trial, bytes);
    memcpy(s->f, m->f_new, bytes);
    m->t_from = s->t_old = s->t;
    s->t = t;
    s->f_valid = m->begun = m->has_series = true;
    s->steps++;
    m->h_done = h;
    if (!cut || h > m->h)
        m->h = h;
}

static hm_status try_step(hmi_stepper *s, double t_limit)
{
    memory *m = memory_of(s);
    hm_status status = expand(s);
    if (status != HM_OK)
        return status;
    double h = choose_step(s);
    if (h < COLLAPSE * m->h || (m->was_fast && !m->T->solver.fast)) {
        m->was_fast = false;
        return HM_ERR_NUMERIC;
    }
    m->was_fast = m->T->solver.fast;
    for (int i = 0; i < MOST_TRIALS; i++, h *= 0.5) {
        bool cut = s->t + 1.01 * h >= t_limit;
        double t = cut ? t_limit : s->t + h;
        if (!(t > s->t))
            break;
        if (verify(s, t, t - s->t)) {
            accept(s, t, t - s->t, cut);
            return HM_OK;
        }
        h = fmin(h, t - s->t);
        s->rejected++;
    }
    m->begun = false;
    return HM_ERR_NUMERIC;
}

static hm_status step(hmi_stepper *s, double t_limit)
{
    memory *m = memory_of(s);
    if (m->substitute > 0 || must_substitute(s))
        return substitute(s, t_limit);
    hm_status status = try_step(s, t_limit);
    if (status == HM_OK) {
        m->by_rk = false;
        return status;
    }
    s->f_valid = false;
    s->settled = false;
    return substitute(s, t_limit);
}

/* ---- dense output ---- */

/* The series, and what drift control added at the end of the step, faded in with both slopes 0. */
static void interpolate(const hmi_stepper *s, double t, double *y)
{
    memory *m = memory_of(s);
    size_t width = s->size + s->works;
    if (m->by_rk) {
        hmi_stepper rk = *s;
        rk.method = &hmi_method_dop853;
        rk.memory = m->rk;
        hmi_method_dop853.interpolate(&rk, t, y);
        return;
    }
    if (t == s->t || !m->has_series) {
        memcpy(y, s->y, width * sizeof *y);
        return;
    }
    double x = (t - m->t_from) / m->h_done, fade = x * x * (3 - 2 * x);
    hmi_taylor_evaluate(m->T, t - m->t_from, m->part, NULL);
    hmi_taylor_spread(m->T, m->part, y);
    hmi_taylor_find_given(m->T, t, y);
    for (size_t i = 0; i < width; i++)
        y[i] += fade * m->end[i];
}

/* The same as coefficients. Between the end of the step as it was made and as it is cut nothing differs:
 * s counts from the end as it was made. */
static int polynomial(const hmi_stepper *s, const uint32_t *place, int most_degree,
                      double *coefficient, double *origin)
{
    memory *m = memory_of(s);
    const hmi_taylor *T = m->T;
    *origin = 0;
    int degree = T->order < 3 ? 3 : T->order;
    if (m->by_rk || !m->has_series || T->given_velocities.used || degree > most_degree)
        return -1;
    double unit = m->h_done / T->tau;
    for (size_t i = 0; i < T->width; i++) {
        uint32_t at = T->place[i] < s->size ? place[T->place[i]] : UINT32_MAX;
        if (at == UINT32_MAX)
            continue;
        double *c = coefficient + (size_t)at * ((size_t)degree + 1), power = 1;
        const double *Y = T->Y + i;
        c[degree] = 0;
        for (int k = 0; k <= T->order; k++, Y += T->width, power *= unit)
            c[k] = power * *Y;
        c[2] += 3 * m->end[T->place[i]]; /* fade = 3 s^2 - 2 s^3 */
        c[3] -= 2 * m->end[T->place[i]];
    }
    return degree;
}

const hmi_method hmi_method_taylor = {
    .name = "taylor",
    .doc = "Taylor series of the motion, generated from its equations: order and step follow from "
           "the tolerance, and the series is the dense output. For tight tolerances (rtol 1e-10 "
           "and below). Jorba & Zou (2005).",
    .order = MOST_ORDER,
    .carries_work = true,
    .dense_degree = 7, /* where DOP853 makes the steps */
    .polynomial = polynomial,
    .places_steps = true,
    .memory_size = memory_size,
    .applies = applies,
    .start = start,
    .step = step,
    .interpolate = interpolate,
};
