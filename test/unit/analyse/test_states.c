/* Random states of the motion in balls: on the constraints, with the acceleration of the equations,
 * and rates of change along the motion. */
#include "analyse_fixture.h"

#include "analyse/states.h"

#include <math.h>

static double mid(arb_srcptr x)
{
    return arf_get_d(arb_midref(x), ARF_RND_NEAR);
}

static void open_states(fixture *f, hmi_states *states, const char *text)
{
    open_fixture(f, text);
    assert_null(hmi_states_refusal(f->system));
    assert_int_equal(hmi_states_init(states, &f->sampler, 192), HM_OK);
}

static void close_states(fixture *f, hmi_states *states)
{
    hmi_states_release(states);
    close_fixture(f);
}

/* The pendulum in x and y: phi = phi' = 0 at every state, and
 * lambda = -(v^2 + g y)/2 for phi = x^2 + y^2 - 1, M = 1, l = 1. */
static void test_pendulum(void **state)
{
    (void)state;
    fixture f;
    hmi_states s;
    open_states(&f, &s,
                "param g = 10; coord x, y; kinetic (x'^2 + y'^2)/2; potential -g*y\n"
                "constraint rod: x^2 + y^2 = 1; initial x = 0.6, y ~ 0.8");
    for (int k = 0; k < 5; k++) {
        assert_int_equal(hmi_states_draw(&s), HM_OK);
        double x = mid(s.point.z), y = mid(s.point.z + 1), u = mid(s.v), w = mid(s.v + 1);
        double lambda = -(u * u + w * w + 10 * y) / 2;
        check_number("phi", x * x + y * y, 1, 1e-14);
        check_number("phi'", x * u + y * w, 0, 1e-13);
        assert_true(hypot(u, w) > 1e-3);
        assert_int_equal(s.rank, 1);
        check_number("lambda", mid(s.lambda), lambda, 1e-12);
        check_number("x''", mid(s.acceleration), 2 * x * lambda, 1e-12);
        check_number("y''", mid(s.acceleration + 1), 10 + 2 * y * lambda, 1e-12);
    }
    close_states(&f, &s);
}

/* Rates of watched expressions: of x', of the energy, of the power of a force. */
static void test_rates(void **state)
{
    (void)state;
    fixture f;
    hmi_states s;
    open_states(&f, &s,
                "param c = 0.3; coord x, y; kinetic (x'^2 + y'^2)/2; potential x^2*y\n"
                "dissipation c/2*x'^2; constraint k: y' = x*x'; initial x = 1, y = 0.5");
    hmi_graph *g = &f.forms.graph;
    hmi_expr vx = hmi_symbol(g, HMI_SYM_VELOCITY, 0), vy = hmi_symbol(g, HMI_SYM_VELOCITY, 1);
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0), y = hmi_symbol(g, HMI_SYM_COORD, 1);
    hmi_expr kinetic = hmi_div(g, hmi_add(g, hmi_mul(g, vx, vx), hmi_mul(g, vy, vy)), g->two);
    hmi_expr energy = hmi_add(g, kinetic, hmi_mul(g, hmi_mul(g, x, x), y));
    assert_int_equal(hmi_states_watch(&s, energy), HM_OK);
    assert_int_equal(hmi_states_watch(&s, vx), HM_OK);
    assert_int_equal(hmi_states_watch(&s, x), HM_OK);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(hmi_states_draw(&s), HM_OK);
        double u = mid(s.v);
        check_number("y' = x x'", mid(s.v + 1), mid(s.point.z) * u, 1e-14);
        check_number("dE/dt = -c x'^2", mid(hmi_states_value(&s, 0, 1)), -0.3 * u * u, 1e-12);
        check_number("d(x')/dt", mid(hmi_states_value(&s, 1, 1)), mid(s.acceleration), 1e-15);
        check_number("x'", mid(hmi_states_value(&s, 1, 0)), u, 1e-15);
        check_number("dx/dt", mid(hmi_states_value(&s, 2, 1)), u, 1e-15);
    }
    assert_false(hmi_states_inexact(&s));
    close_states(&f, &s);
}

/* Redundant rows are left out; auxiliary states move by their rates. */
static void test_redundant_and_states(void **state)
{
    (void)state;
    fixture f;
    hmi_states s;
    open_states(&f, &s,
                "coord x, y; state z' = x - 2*z; kinetic (x'^2 + y'^2)/2; force x = z\n"
                "constraint a: x' + y' = 0; constraint b: 2*x' + 2*y' = 0; initial x = 1");
    assert_int_equal(hmi_states_draw(&s), HM_OK);
    assert_int_equal(s.rank, 1);
    check_number("z'", mid(s.z_rate), mid(s.point.z) - 2 * mid(s.z), 1e-14);
    check_number("x''", mid(s.acceleration), mid(s.z) / 2, 1e-14);
    close_states(&f, &s);
}

static void test_refusals(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "coord x; kinetic x'^2/2; servo s: x = sin(t) with gain 1; initial x ~ 0");
    assert_non_null(hmi_states_refusal(f.system));
    close_fixture(&f);
    open_fixture(&f, "coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: y = x\n"
                     "nonideal x = -abs(reaction(y))*x'");
    assert_non_null(hmi_states_refusal(f.system));
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_redundant_and_states),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
