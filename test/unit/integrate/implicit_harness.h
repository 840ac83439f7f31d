/* Drives a method through src/integrate/ode/method.h directly: no run, no events, no projection unless asked for. */
#ifndef TEST_UNIT_INTEGRATE_IMPLICIT_HARNESS_H
#define TEST_UNIT_INTEGRATE_IMPLICIT_HARNESS_H

#include "support/check.h"
#include "support/probe.h"

#include "integrate/ode/degenerate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ride {
    probe *p;
    hmi_ode ode;
    hmi_stepper s;
    const hmi_method *method;
} ride;

static inline double *ride_doubles(size_t count)
{
    double *x = calloc(count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* From the model's initial state as written. step 0: the method chooses; rtol 0: every step is that. */
static inline ride *ride_open(const char *text, const hmi_method *method, double step, double rtol)
{
    ride *r = calloc(1, sizeof *r);
    const char *why = NULL;
    assert_non_null(r);
    r->p = strchr(text, '\n') ? probe_text(text) : probe_file(text, NULL, 0);
    r->method = method;
    assert_int_equal(hmi_ode_init(&r->ode, r->p->sim), HM_OK);
    hmi_solution solution;
    double *y = ride_doubles(r->ode.size);
    hmi_ode_load(&r->ode, y);
    if (hmi_sim_accelerate(r->p->sim, hmi_sim_present(r->p->sim), &solution) == HM_ERR_UNDETERMINED)
        assert_int_equal(hmi_ode_try_dirac(&r->ode, r->p->sim->state.at.t, y, &why), HM_OK);
    hmi_ode_store(&r->ode, r->p->sim->state.at.t, y);
    free(y);
    if (method->applies(&r->ode, &why) != HM_OK)
        fail_msg("%s: %s", method->name, why);
    size_t size = r->ode.size;
    r->s = (hmi_stepper){.ode = &r->ode,
                         .size = size,
                         .rtol = rtol,
                         .atol = 1e-3 * rtol,
                         .step = step,
                         .largest = INFINITY,
                         .t = r->p->sim->state.at.t,
                         .y = ride_doubles(size),
                         .f = ride_doubles(size),
                         .y_old = ride_doubles(size),
                         .method = method,
                         .memory = calloc(1, method->memory_size(method, &r->ode))};
    assert_non_null(r->s.memory);
    hmi_ode_load(&r->ode, r->s.y);
    assert_int_equal(hmi_ode_settle(&r->ode, r->s.t, r->s.y), HM_OK);
    assert_int_equal(method->start(&r->s), HM_OK);
    return r;
}

static inline void ride_close(ride *r)
{
    probe_close(r->p);
    free(r->s.y);
    free(r->s.f);
    free(r->s.y_old);
    free(r->s.memory);
    free(r);
}

static inline void ride_step(ride *r, double t_limit)
{
    hm_status status = r->method->step(&r->s, t_limit);
    if (status != HM_OK)
        fail_msg("%s at t = %g: %s, %s", r->method->name, r->s.t, hm_status_text(status),
                 r->s.trouble ? r->s.trouble : "");
    assert_int_equal(hmi_ode_settle(&r->ode, r->s.t, r->s.y), HM_OK);
}

static inline void ride_to(ride *r, double t)
{
    while (r->s.t < t)
        ride_step(r, t);
}

static inline double ride_energy(ride *r)
{
    hm_evaluation at;
    hmi_ode_store(&r->ode, r->s.t, r->s.y);
    hm_status status = hm_sim_evaluate(r->p->sim, NULL, &at);
    assert_true(status == HM_OK || (r->ode.dirac && status == HM_ERR_UNDETERMINED));
    return at.total;
}

/* The state at time t (q, v, z), from the initial state as written. */
static inline void ride_result(const char *text, const hmi_method *method, double step, double rtol,
                               double t, double *y)
{
    ride *r = ride_open(text, method, step, rtol);
    ride_to(r, t);
    memcpy(y, r->s.y, r->ode.size * sizeof *y);
    ride_close(r);
}

#endif
