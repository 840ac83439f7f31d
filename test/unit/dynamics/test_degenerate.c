/* Degenerate Lagrangians through the whole pipeline: velocities are results, q'' is not reported. */
#include <hamel/hamel.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct pipeline {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
} pipeline;

static pipeline open_model(const char *text)
{
    pipeline p = {.context = hm_context_create(NULL)};
    assert_non_null(p.context);
    assert_int_equal(hm_model_parse(p.context, text, strlen(text), NULL, &p.model), HM_OK);
    assert_int_equal(hm_system_create(p.model, &p.system), HM_OK);
    assert_int_equal(hm_sim_create(p.system, &p.sim), HM_OK);
    return p;
}

static void close_model(pipeline *p)
{
    hm_sim_destroy(p->sim);
    hm_system_destroy(p->system);
    hm_model_destroy(p->model);
    hm_context_destroy(p->context);
}

/* Two vortices of strengths g1, g2 at distance d turn about each other: the velocity that one gives
 * the other is g/(2 pi d), across the line between them. */
static void two_vortices(void **state)
{
    (void)state;
    pipeline p = open_model("param g1 = 1.5, g2 = -0.4\n"
                            "coord x1, y1, x2, y2\n"
                            "lagrangian g1/2*(x1*y1' - y1*x1') + g2/2*(x2*y2' - y2*x2')\n"
                            "lagrangian g1*g2/(4*pi)*log((x1 - x2)^2 + (y1 - y2)^2)\n"
                            "initial x1 = 0, y1 = 0, x2 = 2, y2 = 0\n");
    hm_evaluation e;
    assert_int_equal(hm_sim_evaluate(p.sim, NULL, &e), HM_OK);
    assert_true(e.velocity_determined);
    assert_null(e.qdd);
    assert_string_equal(e.formulation, "dirac");
    const double pi = acos(-1.0), expected[4] = {0, -(-0.4) / (4 * pi), 0, 1.5 / (4 * pi)};
    double sign = e.v[3] * expected[3] < 0 ? -1 : 1; /* the sense of turning is a convention of L */
    for (int i = 0; i < 4; i++)
        assert_true(fabs(e.v[i] - sign * expected[i]) <= 1e-14);
    close_model(&p);
}

/* Lotka-Volterra in logarithms: L = y x' - H with H = exp(x) - a x + exp(y) - b y. */
static void lotka_volterra(void **state)
{
    (void)state;
    pipeline p = open_model("param a = 1.3, b = 0.7\n"
                            "coord x, y\n"
                            "lagrangian y*x' - (exp(x) - a*x + exp(y) - b*y)\n"
                            "initial x = 0.4, y = -0.2\n");
    hm_evaluation e;
    assert_int_equal(hm_sim_evaluate(p.sim, NULL, &e), HM_OK);
    assert_true(e.velocity_determined);
    assert_true(fabs(e.v[0] - (exp(-0.2) - 0.7)) <= 1e-14);
    assert_true(fabs(e.v[1] - (1.3 - exp(0.4))) <= 1e-14);
    double energy = exp(0.4) - 1.3 * 0.4 + exp(-0.2) + 0.7 * 0.2;
    assert_true(fabs(e.total - energy) <= 1e-14);
    double v[2];
    hm_sim_state(p.sim, NULL, v, NULL); /* what was found is a result: the state is as it was */
    assert_true(v[0] == 0 && v[1] == 0);
    close_model(&p);
}

/* A coordinate that occurs nowhere in L: neither q'' nor q' is determined, and the state given is
 * left as it is. */
static void not_determined(void **state)
{
    (void)state;
    pipeline p = open_model("coord x, y\nkinetic x'^2/2\ninitial y' = 3\n");
    hm_evaluation e;
    assert_int_equal(hm_sim_evaluate(p.sim, NULL, &e), HM_ERR_UNDETERMINED);
    assert_false(e.velocity_determined);
    assert_true(e.v[1] == 3);
    const hm_diagnostic *said = hm_context_diagnostic(hm_sim_context(p.sim), 0);
    assert_non_null(said);
    assert_non_null(strstr(said->message, "y''"));
    assert_int_equal(hm_context_diagnostic_count(p.context), 0); /* the sim's own matter */
    close_model(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_vortices),
        cmocka_unit_test(lotka_volterra),
        cmocka_unit_test(not_determined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
