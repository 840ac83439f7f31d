/* A state where the equations are not finite: the message names the term, the operation and what it is
 * made of, the innermost one; where the state itself is not finite there is nothing to name. */
#include "support/check.h"
#include "support/probe.h"

#include "dynamics/sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static probe *model_of(const char *force)
{
    char text[400];
    snprintf(text, sizeof text,
             "param k = 1\ncoord x, y, z, w, u\nkinetic (x'^2 + y'^2 + z'^2 + w'^2 + u'^2)/2\n"
             "force x = %s\n",
             force);
    return probe_text(text);
}

static void expect_message(probe *p, const double *q, const char *message)
{
    hm_evaluation at;
    hm_context_clear(hm_sim_context(p->sim));
    hmi_sim_set_state(p->sim, 0, q, NULL, NULL);
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_ERR_NUMERIC);
    assert_true(hm_context_diagnostic_count(hm_sim_context(p->sim)) > 0);
    assert_string_equal(hm_context_diagnostic(hm_sim_context(p->sim), 0)->message, message);
}

#define NOT_FINITE "the equations are not finite at this state"

static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        const char *force, *reason;
    } list[] = {
        {"x/(y - 2)", "a division by zero, in an expression of y"},
        {"sqrt(1 - y)", "the square root of a negative number, in an expression of y"},
        {"log(z*(1 - y))",
         "the logarithm of a number that is not positive, in an expression of z, y"},
        {"asin(y)", "an inverse sine or cosine of a number outside -1 .. 1, in an expression of y"},
        {"acos(y + z)",
         "an inverse sine or cosine of a number outside -1 .. 1, in an expression of y, z"},
        {"(z - y)^k", "a power that is not defined, in an expression of z, y"},
        {"exp(999*y)", "a value that is too large, in an expression of y"},
        {"if(y > 1, z, y) + x/(y - 2)", "a division by zero, in an expression of y"},
        {"exp(sin(1/(k - 1/2 - z/2)))", "a division by zero, in an expression of k, z"},
        {"1/(x*(y + z + w + u))", "a division by zero, in an expression of x, y, z, w"},
    };
    const double q[5] = {0, 2, 1, -1, 0.5};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char message[300];
        probe *p = model_of(list[i].force);
        if (strstr(list[i].force, "^k"))
            probe_set(p, "k", 0.3);
        snprintf(message, sizeof message, "the force on 'x' is not finite at this state: %s",
                 list[i].reason);
        expect_message(p, q, message);
        probe_close(p);
    }
}

/* The caller cannot set such a state, and the present one stays; integrators can get there. */
static void expect_no_name(probe *p, const double *q)
{
    hm_evaluation at;
    const double fine[5] = {1, 2, 3, 4, 5};
    assert_int_equal(hm_sim_set_state(p->sim, 0, fine, NULL, NULL), HM_OK);
    assert_int_equal(hm_sim_set_state(p->sim, 0, q, NULL, NULL), HM_ERR_USAGE);
    assert_memory_equal(p->sim->state.q, fine, sizeof fine);
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_OK);
    expect_message(p, q, NOT_FINITE);
}

static void test_state_not_finite(void **state)
{
    (void)state;
    probe *p = model_of("x*y + if(z > w, y, z)");
    expect_no_name(p, (const double[5]){1, NAN, 1, 1, 1});
    expect_no_name(p, (const double[5]){INFINITY, 1, 1, 1, 1});
    probe_close(p);
}

/* Every kind of term, at its place, whether it has no value itself or its derivatives have none. */
static void test_terms(void **state)
{
    (void)state;
    static const struct {
        const char *statement, *message;
        int column;
        const char *hint;
    } list[] = {
        {"kinetic x'^2/y", "the kinetic energy is not finite", 9, "`initial y = ...`"},
        {"kinetic x'^2*sqrt(y)", "the derivatives of the kinetic energy are not", 9, "initial y ="},
        {"potential log(y)", "the potential energy is not finite", 11, "`initial y = ...`"},
        {"potential norm([x, y])", "the derivatives of the potential energy", 11, "`initial x ="},
        {"lagrangian sqrt(y - 1)", "the Lagrangian is not finite", 12, "`initial y = ...`"},
        {"dissipation x'^2/k", "the dissipation function is not finite", 13, "check k"},
        {"mass y = 1/x", "an entry of the mass matrix is not finite", 6, "initial x ="},
        {"gyroscopic x, y = log(x)", "a gyroscopic coefficient is not finite", 12, "initial x ="},
        {"force y = if(x > 0, 1/k, log(x'))", "the force on 'y' is not finite", 7, "initial x' ="},
        {"force [1/x, 0] at [x, y]", "a force is not finite", 1, "initial x ="},
        {"force [1, 0] at [sqrt(x), y]", "the derivatives of the point of application of a force",
         1, "initial x"},
        {"nonideal y = 1/0", "the non-ideal force on 'y' is not finite", 10, "at any state"},
        {"constraint c: x + 1/y = 2", "constraint 'c' is not finite", 1, "initial y ="},
        {"constraint c: x + y^1.5 = 0", "the derivatives of constraint 'c'", 1, "initial y ="},
        {"servo s: log(y) = 0 with gain 1", "servo 's' is not finite", 1, "initial y ="},
        {"state w' = 1/x; force x = w", "the rate of 'w' is not finite", 7, "initial x ="},
        {"input u = 1/t; force x = u", "input 'u' is not finite", 7, "check t"},
        {"body b { mass 1/y at [x, y] }", "the mass of body 'b' is not finite", 1, "initial y ="},
        {"body b { mass 1 at [x, log(y)] }", "body 'b' is not finite", 1, "initial y ="},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[300];
        hm_evaluation at;
        snprintf(text, sizeof text, "param k = 0\ncoord x, y; kinetic x'^2 + y'^2\n%s\n",
                 list[i].statement);
        probe *p = probe_text(text);
        assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_ERR_NUMERIC);
        const hm_diagnostic *d = hm_context_diagnostic(hm_sim_context(p->sim), 0);
        if (!strstr(d->message, list[i].message) || d->line != 3 || d->column != list[i].column ||
            !d->hint || !strstr(d->hint, list[i].hint))
            fail_msg("%s: %d:%d: %s; %s", list[i].statement, d->line, d->column, d->message,
                     d->hint ? d->hint : "");
        probe_close(p);
    }
}

/* Terms that have values, and derivatives, do not hide the one that has none. */
static void test_branch_not_taken(void **state)
{
    (void)state;
    hm_evaluation at;
    probe *p = probe_text("coord x; kinetic x'^2; potential if(x < 1, x^2, log(x))\n"
                          "force x = 1/(1 - x)\ninitial x = 1/2");
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_OK);
    hm_sim_set_state(p->sim, 0, (const double[1]){1}, NULL, NULL);
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_ERR_NUMERIC);
    assert_int_equal(hm_context_diagnostic(hm_sim_context(p->sim), 0)->line, 2);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_state_not_finite),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_branch_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
