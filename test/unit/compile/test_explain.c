/* A state where the equations are not finite: the message names the operation and what it is made
 * of, the innermost one; where the state itself is not finite there is nothing to name. */
#include "support/check.h"
#include "support/probe.h"

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
    hm_context_clear(p->context);
    hm_sim_set_state(p->sim, 0, q, NULL, NULL);
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_ERR_NUMERIC);
    assert_true(hm_context_diagnostic_count(p->context) > 0);
    assert_string_equal(hm_context_diagnostic(p->context, 0)->message, message);
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
        {"asin(y)", "an inverse sine or cosine outside -1 .. 1, in an expression of y"},
        {"acos(y + z)", "an inverse sine or cosine outside -1 .. 1, in an expression of y, z"},
        {"(z - y)^k", "a power that is not defined, in an expression of z, y"},
        {"exp(999*y)", "a value too large, in an expression of y"},
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
        snprintf(message, sizeof message, NOT_FINITE ": %s", list[i].reason);
        expect_message(p, q, message);
        probe_close(p);
    }
}

static void test_state_not_finite(void **state)
{
    (void)state;
    probe *p = model_of("x*y + if(z > w, y, z)");
    expect_message(p, (const double[5]){1, NAN, 1, 1, 1}, NOT_FINITE);
    expect_message(p, (const double[5]){INFINITY, 1, 1, 1, 1}, NOT_FINITE);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_state_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
