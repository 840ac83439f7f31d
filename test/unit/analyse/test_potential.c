/* Integrated forms: every one found is verified by the code itself, so that here it is only asked
 * whether one is found; forms without one in closed form must give none. */
#include "analyse_fixture.h"

#include "analyse/integrals/potential.h"

static bool finds(const char *constraint, const char *initial)
{
    char text[512];
    fixture f;
    hmi_expr e = HMI_NONE;
    snprintf(
        text, sizeof text,
        "param a = 2, k = 3\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nconstraint c: %s = 0\n"
        "initial %s\n",
        constraint, initial);
    open_fixture(&f, text);
    assert_int_equal(hmi_find_potential(&f.sampler, &f.forms.rows[0].form, &e), HM_OK);
    close_fixture(&f);
    return e != HMI_NONE;
}

/* The total derivative of anything is exact. */
static void found(void **state)
{
    (void)state;
    static const char *const list[] = {
        "(x^2*y + sin(z))'",      "(x*exp(k*y) - z)'",
        "(sin(x)*cos(y))'",       "(x*y*z)'",
        "((x + y)^3*z)'",         "(a*x^2/2 + tan(y) + z)'",
        "(log(x) + y/z)'",        "(sqrt(x) + atan(y))'",
        "(x*sin(y) + y*cos(x))'", "(sqrt(x^2 + y^2) - z)'",
        "(cosh(x) + sinh(y)*z)'", "(t*x + y)'",
        "(exp(-t)*x)'",           "(x^2*sin(x) + y)'",
        "(log(x^2 + 1) + y)'",    "(sin(x)^2*y + z)'",
        "(1/(x + 2) + y*z^2)'",   "atan(x)' + x'/(1 + x^2) + y'",
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!finds(list[i], "x = 1, y = 1, z = 1"))
            fail_msg("no integrated form of %s", list[i]);
}

/* Integrands as tables of integrals have them, by each rule. */
static void rules(void **state)
{
    (void)state;
    static const char *const list[] = {
        "sin(k*x)^2",
        "cos(x)^2",
        "1/cos(a*x)^2",
        "1/sin(x)^2",
        "tan(x)^2",
        "exp(x)^3",
        "sinh(k*x)",
        "cosh(x/2)",
        "tan(x)",
        "tanh(a*x)",
        "log(x)",
        "(-x)^3",
        "(-x)^4*sin(a)",
        "1/(a*x^2 + k)",
        "x^2*exp(x)",
        "x*log(x)",
        "x/sqrt(x^2 + 1)",
        "(x - 2)^3*(x + 1)",
        "x^2*(sin(x) - 1)",
        "-sqrt(2*x + 1)",
        "1/(a - k*x)",
        "x^0.5",
        "(x^2 + 1)^1.5*x",
        "cos(x)/(2 + sin(x))^2",
        "-(x + exp(-x))",
        "x*sin(x)*cos(x)",
        "exp(x)/(1 + exp(x))",
        "a^2",
        "atan(x)",
        "asin(x/2)",
        "x^2*log(k*x)",
        "sin(x)/cos(x)^3",
        "x^3*cos(k*x)",
        "x*(1 + x)*exp(-x)",
        "(-exp(x))^2",
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char constraint[200];
        snprintf(constraint, sizeof constraint, "(%s)*x' + y'", list[i]);
        if (!finds(constraint, "x = 1, y = 1, z = 1"))
            fail_msg("no integral of %s", list[i]);
    }
}

static void not_found(void **state)
{
    (void)state;
    assert_false(finds("z' - y*x'", "x = 1"));         /* not exact */
    assert_false(finds("exp(-x^2)*x' + y'", "x = 1")); /* not elementary */
    assert_false(finds("sin(x)/x*x' + y'", "x = 1"));
    assert_false(finds("sqrt(sin(x))*x' + y'", "x = 1"));
    assert_false(finds("sqrt(1 + x^3)*x' + y'", "x = 1"));
    assert_false(finds("x'/log(1 + x) + y'", "x = 1"));
    assert_false(finds("x*tan(x)*x' + y'", "x = 0.5"));
    assert_false(finds("(x^2 + 1)*exp(-x^2)*x' + y'", "x = 1"));
    assert_false(finds("(x + exp(x)/x)*x' + y'", "x = 1"));
    assert_false(finds("-sin(x^2)*x' + y'", "x = 1"));
    assert_false(finds("x'/(x + cos(x)) + y'", "x = 1"));
    assert_false(finds("x'/(x^2 + exp(x)) + y'", "x = 1"));
    assert_false(finds("x^x*x' + y'", "x = 1"));
}

static void factor_found(void **state)
{
    (void)state;
    static const char *const list[] = {"y*x' - x*y'", "y' + y*x'", "cos(y)*x' - sin(y)*y' + 0*z'",
                                       "z*x' + z*y' - (x + y)*z'", "x*x' + (x^2 + 1)*y'"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[512];
        fixture f;
        hmi_expr mu;
        hmi_form scaled;
        snprintf(text, sizeof text,
                 "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nconstraint c: %s = 0\n"
                 "initial x = 1, y = 1, z = 1\n",
                 list[i]);
        open_fixture(&f, text);
        assert_int_equal(
            hmi_find_integrating_factor(&f.sampler, &f.forms.rows[0].form, &mu, &scaled), HM_OK);
        if (mu == HMI_NONE)
            fail_msg("no integrating factor of %s", list[i]);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found),
        cmocka_unit_test(rules),
        cmocka_unit_test(not_found),
        cmocka_unit_test(factor_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
