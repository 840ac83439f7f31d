/* Friction with two coefficients: a block that a belt drags against a spring sticks up to mus N, every time, and slides
 * under muk N. Slip from x = mus N/k with x' = v lasts until x' = v again, at x = (2 muk - mus) N/k:
 *     period = 2 d/v + 2 (pi - atan(d w/v))/w,   d = (mus - muk) N/k,  w^2 = k/m.
 * Whatever way of writing it, whatever method, whatever the state that a run starts from. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = 900 };

static const char *const methods[] = {"dop853", "taylor", "rk5", "radau"};

static const char *const laws[] = {
    "force x = -N*if(abs(u) > 0, muk, mus)*sign(u)",
    "force x = -N*if(abs(u) <= 0, mus, muk)*sign(u)",
    "force x = -N*if(u == 0, mus, muk)*sign(u)",
    "force x = N*if(2*abs(v - x') > 0, muk, mus)*sign(v - x')",
    "force x = -N*if(u^2 > 0, muk, mus)*sign(u)",
    "force x = -N*if(abs(u) > 0, muk, mus)*u/abs(u)", /* no series: without taylor */
    "coord y; kinetic y'^2/2; force x = -N*if(hypot(u, y') > 0, muk, mus)*u/hypot(u, y'), "
    "y = -N*if(hypot(u, y') > 0, muk, mus)*y'/hypot(u, y')",
    "coord y; kinetic y'^2/2; potential N*y; constraint floor: y = 0\n"
    "nonideal x = -abs(total_multiplier(floor))*if(abs(u) > 0, muk, mus)*sign(u)",
};

typedef struct world {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    hm_run_result result;
} world;

static bool open_world(world *w, const char *law, const char *rest, const char *belt,
                       const char *method, double end)
{
    const hm_override speed = {"v", belt};
    hm_model_options parse = hm_model_options_default();
    char text[LENGTH];
    snprintf(text, sizeof text,
             "param m = 1.3, k = 2, N = 1.5, mus = 0.9, muk = 0.4, v = 0.25\ncoord x\n"
             "let u = x' - v\nkinetic m*x'^2/2\npotential k*x^2/2\n%s\n%s\n",
             law, rest);
    parse.overrides = &speed;
    parse.override_count = 1;
    *w = (world){.context = hm_context_create(NULL)};
    assert_int_equal(hm_model_parse(w->context, text, strlen(text), &parse, &w->model), HM_OK);
    assert_int_equal(hm_system_create(w->model, &w->system), HM_OK);
    assert_int_equal(hm_sim_create(w->system, &w->sim), HM_OK);
    hm_run_options options = hm_run_options_default(w->model);
    options.method = method;
    options.end = end;
    options.rtol = 1e-10;
    options.atol = 1e-12;
    return hm_sim_run(w->sim, &options, &w->result) != HM_ERR_USAGE;
}

static void close_world(world *w)
{
    hm_sim_destroy(w->sim);
    hm_system_destroy(w->system);
    hm_model_destroy(w->model);
    hm_context_destroy(w->context);
}

/* ---- stick and slip ---- */

static void compare_events(const world *w, size_t law, const char *method)
{
    const double m = 1.3, k = 2, N = 1.5, mus = 0.9, muk = 0.4, v = 0.25;
    double d = (mus - muk) * N / k, omega = sqrt(k / m), pi = acos(-1.0);
    double period = 2 * d / v + 2 * (pi - atan(d * omega / v)) / omega;
    double first = mus * N / k /
                   v; /* it sticks from x = 0 on; the event is slip with its own speed */
    double speed = 0.1, amplitude = hypot(d * omega, v);
    /* x' = v cos(s) - d w sin(s) = speed */
    double after = (acos(speed / amplitude) - atan(d * omega / v)) / omega;
    assert_true(w->result.event_count >= 12);
    for (size_t i = 0; i < w->result.event_count; i++) {
        double expected = first + after + (double)i * period;
        if (fabs(w->result.events[i].t - expected) > 2e-7)
            fail_msg("law %zu by %s: slip %zu at t = %.10f, expected %.10f", law, method, i + 1,
                     w->result.events[i].t, expected);
    }
    assert_int_equal(w->result.warning_count, 0);
}

static void stick_and_slip(void **state)
{
    (void)state;
    for (size_t law = 0; law < sizeof laws / sizeof *laws; law++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            world w;
            bool ran = open_world(&w, laws[law],
                                  "initial x = 0, x' = v; event slip: x' = 0.1 falling record",
                                  "0.25", methods[k], 100);
            assert_true(ran || (law >= 5 && strcmp(methods[k], "taylor") == 0));
            if (ran)
                compare_events(&w, law, methods[k]);
            close_world(&w);
        }
}

/* ---- the same state, the same answer ---- */

/* On a table at rest: held below mus N/k = 0.675, above it slides by x = c + (x0 - c) cos(w t) with c = muk N/k and
 * stays where it stops. */
static void rest_on_a_table(void **state)
{
    static const struct {
        double start, end;
    } cases[] = {{0.2, 0.2}, {0.5, 0.5}, {0.67, 0.67}, {-0.67, -0.67}, {0.8, -0.2}, {1.1, -0.5}};
    (void)state;
    for (size_t law = 0; law < sizeof laws / sizeof *laws; law++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                char rest[200];
                world w;
                snprintf(rest, sizeof rest, "initial x = %.17g, x' = 0", cases[i].start);
                if (open_world(&w, laws[law], rest, "0", methods[k], 10)) {
                    double x = w.result.q[0];
                    if (w.result.status != HM_RUN_OK || fabs(x - cases[i].end) > 1e-7)
                        fail_msg("law %zu by %s from %g: x = %.10f, expected %g", law, methods[k],
                                 cases[i].start, x, cases[i].end);
                }
                close_world(&w);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stick_and_slip),
                                       cmocka_unit_test(rest_on_a_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
