/* Follows the leaf of a form with the classical Runge-Kutta method, halving the step until two
 * values of the integral agree (numeric_integral.h). */
#include "analyse/integrals/numeric_integral.h"

#include "dynamics/sim/sim.h"
#include "compile/jit/assemble.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 16, MOST = 1 << 15 };

/* Scratch to evaluate omega at a point. */
typedef struct place {
    const hmi_numeric_integral *in;
    double *z, *from, *to; /* n + 1 each */
    double *work;
} place;

static const double *form_at(const place *p)
{
    const hmi_numeric_integral *in = p->in;
    const hmi_tape_values values = {
        .by_kind = {
            [HMI_SYM_COORD] = p->z, [HMI_SYM_TIME] = p->z + in->n, [HMI_SYM_PARAM] = in->params}};
    hmi_tape_run(&in->tape, &values, p->work);
    return hmi_tape_outputs(&in->tape, p->work);
}

static hm_status open_place(place *p, const hmi_numeric_integral *in, hmi_arena *arena)
{
    size_t size = in->n + 1;
    p->in = in;
    p->z = hmi_arena_alloc(arena, (3 * size + in->tape.work_size + 1) * sizeof(double));
    if (!p->z)
        return HM_ERR_NOMEM;
    p->from = p->z + size;
    p->to = p->from + size;
    p->work = p->to + size;
    const hmi_tape_values values = {
        .by_kind = {
            [HMI_SYM_COORD] = p->z, [HMI_SYM_TIME] = p->z + in->n, [HMI_SYM_PARAM] = in->params}};
    hmi_tape_prepare(&in->tape, &values, p->work);
    return HM_OK;
}

/* dz_p/ds where z_p is y and the others are at s of the way. */
static double slope(const place *p, double s, double y)
{
    size_t n = p->in->n;
    double sum = 0;
    for (size_t j = 0; j <= n; j++)
        p->z[j] = (1 - s) * p->from[j] + s * p->to[j];
    p->z[p->in->p] = y;
    const double *omega = form_at(p);
    for (size_t j = 0; j <= n; j++)
        if (j != p->in->p)
            sum -= omega[j] * (p->to[j] - p->from[j]);
    return sum / omega[p->in->p];
}

/* The classical Runge-Kutta method of order 4 with this many steps. */
static double follow(const place *p, int steps)
{
    double y = p->from[p->in->p], h = 1.0 / steps;
    for (int k = 0; k < steps; k++) {
        double s = k * h;
        double a = slope(p, s, y), b = slope(p, s + h / 2, y + h / 2 * a),
               c = slope(p, s + h / 2, y + h / 2 * b), d = slope(p, s + h, y + h * c);
        y += h / 6 * (a + 2 * b + 2 * c + d);
    }
    return y;
}

hm_status hmi_numeric_integral_value(const hmi_numeric_integral *in, const double *q, double t,
                                     double *f)
{
    place p;
    hmi_arena arena;
    hmi_arena_init(&arena, in->allocator);
    hm_status status = open_place(&p, in, &arena);
    if (status == HM_OK) {
        memcpy(p.from, q, in->n * sizeof(double));
        memcpy(p.to, in->center, (in->n + 1) * sizeof(double));
        p.from[in->n] = t;
        double before = follow(&p, FEWEST), now = before;
        status = HM_ERR_NUMERIC;
        for (int steps = 2 * FEWEST; steps <= MOST && status != HM_OK; steps *= 2) {
            now = follow(&p, steps);
            if (fabs(now - before) <= 1e-12 * (1 + fabs(now)))
                status = HM_OK;
            before = now;
        }
        *f = now;
    }
    hmi_arena_release(&arena);
    return status;
}

/* ---- making one ---- */

static hm_status take_params(hmi_numeric_integral *in, hmi_arena *arena, const hm_system *system)
{
    hm_sim *sim = NULL;
    size_t count = system->model->params.count;
    hm_status status = hm_sim_create(system, &sim);
    if (status != HM_OK)
        return status;
    in->params = hmi_arena_alloc(arena, (count + 1) * sizeof *in->params);
    if (in->params)
        memcpy(in->params, sim->given.params, count * sizeof *in->params);
    hm_sim_destroy(sim);
    return in->params ? HM_OK : HM_ERR_NOMEM;
}

/* The coordinate with the largest component at the centre. */
static hm_status choose_coordinate(hmi_numeric_integral *in)
{
    place p;
    hmi_arena arena;
    double largest = 0;
    hmi_arena_init(&arena, in->allocator);
    hm_status status = open_place(&p, in, &arena);
    if (status == HM_OK) {
        memcpy(p.z, in->center, (in->n + 1) * sizeof(double));
        const double *omega = form_at(&p);
        for (size_t j = 0; j < in->n; j++)
            if (fabs(omega[j]) > largest) {
                largest = fabs(omega[j]);
                in->p = j;
            }
    }
    hmi_arena_release(&arena);
    return status == HM_OK && !(largest > 0) ? HM_ERR_NUMERIC : status;
}

hm_status hmi_numeric_integral_init(hmi_numeric_integral *in, hmi_arena *arena, hmi_forms *forms,
                                    const hmi_form *form, const double *q0, double t0)
{
    const uint16_t known = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM);
    size_t size = forms->n + 1;
    *in = (hmi_numeric_integral){
        .allocator = forms->allocator, .n = forms->n, .tape = {.allocator = forms->allocator}};
    hmi_expr *omega = hmi_arena_alloc(&forms->arena, size * sizeof *omega);
    in->center = hmi_arena_alloc(arena, size * sizeof *in->center);
    if (!omega || !in->center)
        return HM_ERR_NOMEM;
    for (size_t j = 0; j < size; j++) {
        omega[j] = hmi_form_component(forms, form, j);
        if (hmi_deps(&forms->graph, omega[j]) & ~known)
            return HM_ERR_NUMERIC;
    }
    memcpy(in->center, q0, forms->n * sizeof(double));
    in->center[forms->n] = t0;
    hm_status status = take_params(in, arena, forms->system);
    if (status == HM_OK)
        status = hmi_tape_compile(&in->tape, &forms->graph, omega, size);
    return status == HM_OK ? choose_coordinate(in) : status;
}

void hmi_numeric_integral_release(hmi_numeric_integral *in)
{
    hmi_tape_release(&in->tape);
}
