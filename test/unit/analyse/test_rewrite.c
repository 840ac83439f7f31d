/* Where the left-hand side of a substitution is found: up to order, sign and a common factor, and not
 * elsewhere. L+ is judged by its accelerations against a model written out by hand. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char head[] = "param m = 2, c = 0.7, s = 0.3\ncoord x, y, z\n";
static const char tail[] = "\nconstraint slope: y' = c*z*x'\n";
static const char state_text[] = "x = 0.3, y = -0.2, z = 0.8, x' = 1.1, y' = 0.616, z' = -0.4";

static probe *model_of(const char *kinetic)
{
    char text[500];
    snprintf(text, sizeof text, "%skinetic %s%s", head, kinetic, tail);
    probe *p = probe_text(text);
    probe_at(p, state_text);
    return p;
}

/* Putting `with` into `kinetic` gives the motion of `expected`. */
static void check_rewrite(const char *kinetic, const char *with, const char *expected)
{
    char what[300], text[200];
    probe *p = model_of(kinetic), *q = model_of(expected);
    hm_comparison *c = NULL;
    hm_compared at;
    snprintf(what, sizeof what, "%s in %s", with, kinetic);
    snprintf(text, sizeof text, "conflated:%s", with);
    if (hm_comparison_create(p->context, p->system, text, &c) != HM_OK) {
        show_diagnostics(p->context);
        fail_msg("%s: not found", what);
    }
    assert_int_equal(hm_comparison_evaluate(c, p->sim, NULL, &at), HM_OK);
    check_close(what, 3, at.other_qdd, q->at.qdd, 1e-13);
    hm_comparison_destroy(c);
    probe_close(p);
    probe_close(q);
}

static void check_not_found(const char *kinetic, const char *with, const char *fragment)
{
    char text[200];
    probe *p = model_of(kinetic);
    hm_comparison *c = NULL;
    snprintf(text, sizeof text, "conflated:%s", with);
    assert_int_equal(hm_comparison_create(p->context, p->system, text, &c), HM_ERR_INPUT);
    assert_null(c);
    bool said = false;
    for (size_t i = 0; i < hm_context_diagnostic_count(p->context); i++)
        said |= strstr(hm_context_diagnostic(p->context, i)->message, fragment) != NULL;
    assert_true(said);
    probe_close(p);
}

static void test_leaves(void **state)
{
    (void)state;
    const char *T = "m/2*(x'^2 + y'^2 + z'^2) + s*x'*y'";
    check_rewrite(T, "y' = c*z*x'", "m/2*(x'^2 + (c*z*x')^2 + z'^2) + s*x'*(c*z*x')");
    check_rewrite(T, "y' = c*z*x'@0.25",
                  "m/2*(x'^2 + z'^2) + 0.75*(m/2*y'^2 + s*x'*y') +"
                  " 0.25*(m/2*(c*z*x')^2 + s*x'*(c*z*x'))");
    check_rewrite(T, "y' = c*z*x' @ s",
                  "m/2*(x'^2 + z'^2) + (1 - s)*(m/2*y'^2 + s*x'*y') +"
                  " s*(m/2*(c*z*x')^2 + s*x'*(c*z*x'))");
    check_rewrite("(x'^2 + y'^2 + z'^2)/2 + z/(3 + y'^2)", "y' = c*z*x'",
                  "(x'^2 + (c*z*x')^2 + z'^2)/2 + z/(3 + (c*z*x')^2)");
}

static void test_products(void **state)
{
    (void)state;
    const char *T = "m/2*(x'^2 + y'^2 + z'^2) + m*s*x'*cos(z)*y'";
    check_rewrite(T, "y'*cos(z) = z'", "m/2*(x'^2 + y'^2 + z'^2) + m*s*x'*z'");
    check_rewrite(T, "-cos(z)*y' = z'", "m/2*(x'^2 + y'^2 + z'^2) - m*s*x'*z'");
    check_rewrite(T, "2*y'*cos(z)*m = z'", "m/2*(x'^2 + y'^2 + z'^2) + s*x'*z'/2");
    check_rewrite(T, "y'^2 = x'*z'", "m/2*(x'^2 + x'*z' + z'^2) + m*s*x'*cos(z)*y'");
    check_rewrite("(x'^2 + z'^2)/2 + y'^2/2 + y'^4/12", "y'^2 = c*x'^2",
                  "(x'^2 + z'^2)/2 + c*x'^2/2 + c^2*x'^4/12");
}

/* Factors in denominators, and more of a power than there is to replace. */
static void test_quotients(void **state)
{
    (void)state;
    const char *T = "m/2*(x'^2 + y'^2 + z'^2) + s*x'*y'/z";
    check_rewrite(T, "y'/z = x'", "m/2*(x'^2 + y'^2 + z'^2) + s*x'*x'");
    check_rewrite(T, "x'/z = z'", "m/2*(x'^2 + y'^2 + z'^2) + s*z'*y'");
    check_rewrite("m/2*(x'^2 + y'^2 + z'^2) + s*x'*y'/z^3", "y'/z = x'",
                  "m/2*(x'^2 + y'^2 + z'^2) + s*x'*x'/z^2");
    check_rewrite("m/2*(x'^2 + y'^2 + z'^2) + x'^5*z/20", "x'^2 = y'^2",
                  "m/2*(y'^2 + y'^2 + z'^2) + y'^4*x'*z/20");
    check_not_found(T, "y'*z = x'", "does not occur");
    check_not_found(T, "y'/z^2 = x'", "does not occur");
    check_not_found(T, "y'/x = x'", "does not occur");
}

static void test_sums(void **state)
{
    (void)state;
    const char *T = "(x'^2 + y'^2 + z'^2)/2 + m*s*z'*(y'*cos(z) - x'*sin(z))";
    const char *without = "(x'^2 + y'^2 + z'^2)/2 + m*s*z'*y'";
    check_rewrite(T, "y'*cos(z) - x'*sin(z) = y'", without);
    check_rewrite(T, "x'*sin(z) - cos(z)*y' = -y'", without);
    check_rewrite(T, "-(x'*sin(z)) + y'*cos(z) = y'", without);
    check_rewrite(T, "-(x'*sin(z) - y'*cos(z)) = y'", without);
    check_rewrite("(x'^2 + y'^2 + z'^2)/2 + m*s*z'*x'*sin(z) - m*s*z'*y'*cos(z)",
                  "y'*cos(z) - x'*sin(z) = y'", "(x'^2 + y'^2 + z'^2)/2 - m*s*z'*y'");
    check_rewrite("(x'^2 + y'^2 + z'^2)/2 - (s*x' + s*y')*z' + s*x'", "x' + y' = 2*z'",
                  "(x'^2 + y'^2 + z'^2)/2 - 2*s*z'*z' + s*x'");
    check_rewrite("(x'^2 + y'^2 + z'^2)/2 + m*s*z'*y'*cos(z) - m*s*z'*x'*sin(z)",
                  "y'*cos(z) - x'*sin(z) = y'", without);
    check_rewrite("m/2*(x'^2 + y'^2 + z'^2)", "z'^2 + x'^2 = c*x'*z' + 2*z'^2 + x'^2",
                  "m/2*(c*x'*z' + 2*z'^2 + x'^2 + y'^2)");
}

static void test_refusals(void **state)
{
    (void)state;
    const char *T = "m/2*(x'^2 + y'^2 + z'^2)";
    check_not_found(T, "x = y", "does not occur");
    check_not_found(T, "x'*y' = z'", "does not occur");
    check_not_found(T, "x'^2 - y'^2 = 0", "does not occur");
    check_not_found(T, "y'^3 = 0", "does not occur");
    check_not_found(T, "y'", "LHS = RHS");
    check_not_found(T, "y' == 2", "LHS = RHS");
    check_not_found(T, "y' <= 2", "LHS = RHS");
    check_not_found(T, "= 2", "LHS = RHS");
    check_not_found(T, "y'@0.5 = x'", "LHS = RHS");
    check_not_found(T, "w' = 2", "unknown name");
    check_not_found(T, "y' = z*", "");
    check_not_found(T, "y'' = x'", "accelerations");
    check_not_found(T, "y' = x'@y", "alpha");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves),    cmocka_unit_test(test_products),
        cmocka_unit_test(test_quotients), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
