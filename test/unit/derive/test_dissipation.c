/* Dissipation functions that are linear in a velocity damp nothing: a warning at their place. */
#include "support/check.h"
#include "support/probe.h"

#include <stdio.h>
#include <string.h>

static probe *model_of(const char *statements)
{
    char text[400];
    snprintf(text, sizeof text,
             "param c = 1, mu = 0.3, u = 2\ncoord x, y; kinetic (x'^2 + y'^2)/2\n%s\n", statements);
    return probe_text(text);
}

static void expect_warning(const char *statements, const char *velocity, int column)
{
    char fragment[64];
    probe *p = model_of(statements);
    assert_int_equal(hm_context_diagnostic_count(p->context), 1);
    const hm_diagnostic *d = hm_context_diagnostic(p->context, 0);
    snprintf(fragment, sizeof fragment, "is linear in %s:", velocity);
    assert_int_equal(d->severity, HM_SEVERITY_WARNING);
    assert_non_null(strstr(d->message, fragment));
    assert_int_equal(d->line, 3);
    assert_int_equal(d->column, column);
    snprintf(fragment, sizeof fragment, "c/2*%s^2", velocity);
    assert_non_null(strstr(d->hint, fragment));
    probe_close(p);
}

static void test_linear(void **state)
{
    (void)state;
    expect_warning("dissipation c*x'", "x'", 13);
    expect_warning("dissipation c/2*x'^2 + (c + x^2)*y'", "y'", 13);
    expect_warning("dissipation x'*sin(y)/c - x^2", "x'", 13);
    expect_warning("dissipation c/2*x'^2; dissipation -c*y'", "y'", 35);
}

static void test_legitimate(void **state)
{
    (void)state;
    static const char *const list[] = {
        "dissipation c/2*x'^2",
        "dissipation c/2*(x' - u)^2",
        "dissipation c/2*(x' - y')^2 + c*x'^4",
        "dissipation mu*c*abs(x')",
        "dissipation mu*abs(x' - u)",
        "dissipation mu*norm([x', y'])",
        "dissipation c*log(cosh(x'))",
        "dissipation if(x > 0, c*x'^2, 0)",
        "dissipation c*x'*y'",
        "dissipation 0*x'",
        "dissipation c*x^2",
        "force x = -c",
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        probe *p = model_of(list[i]);
        if (hm_context_diagnostic_count(p->context))
            fail_msg("%s: %s", list[i], hm_context_diagnostic(p->context, 0)->message);
        probe_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_legitimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
