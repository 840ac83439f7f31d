/* What linearize does not claim: verdicts within the error of an eigenvalue, families that are none,
 * derivatives that do not exist; and verdicts that do not depend on units or on multiplicity. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static hm_linearization *about(motion *m, const hm_linearize_options *options)
{
    hm_linearization *l = NULL;
    hm_status status = hm_sim_linearize(m->sim, options, &l);
    if (status != HM_OK)
        fail_msg("%s", hm_status_text(status));
    assert_true(l->zeros >= l->family);
    assert_true((l->stability == HM_STABILITY_UNDECIDED) == (l->reason != NULL));
    return l;
}

typedef struct expected {
    const char *text;
    hm_stability stability;
    size_t family;
} expected;

static void expect_all(const expected *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        motion *m = motion_text(list[i].text);
        hm_linearization *l = about(m, NULL);
        if (l->stability != list[i].stability || l->family != list[i].family)
            fail_msg("%s%s with a family of %zu, not %s with %zu", list[i].text,
                     hm_stability_text(l->stability), l->family,
                     hm_stability_text(list[i].stability), list[i].family);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

#define LINE(force)   "coord x\nkinetic x'^2/2\nforce x = " force "\n"
#define PLANE(fx, fy) "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = " fx ", y = " fy "\n"

/* Zero eigenvalues are explained by a family, or decide nothing. */
static void test_families(void **state)
{
    (void)state;
    static const expected list[] = {
        {LINE("-x' + x^7"), HM_STABILITY_MARGINAL, 0},
        {LINE("-x' - x^7"), HM_STABILITY_MARGINAL, 0},
        {LINE("-x' + 1e-20*x^3"), HM_STABILITY_MARGINAL, 0},
        {LINE("-x' + 1e-9*x"), HM_STABILITY_UNSTABLE, 0},
        {LINE("-x' - 1e-10*x"), HM_STABILITY_STABLE, 0},
        {LINE("-x' + (1 - cos(x))^4"), HM_STABILITY_MARGINAL, 0},
        {LINE("-x' + max(0, x)^3"), HM_STABILITY_MARGINAL, 0},
        {LINE("-x'"), HM_STABILITY_STABLE, 1},
        {LINE("0"), HM_STABILITY_MARGINAL, 1},
        {PLANE("-x' + x*y", "-y'"), HM_STABILITY_MARGINAL, 1},
        {PLANE("-x' + 5*x^3*y^5", "-y'"), HM_STABILITY_MARGINAL, 1},
        {PLANE("-x' - (x - y)", "-y' + (x - y)"), HM_STABILITY_STABLE, 1},
        {PLANE("-x' - sin(x^2 + y - 2)", "-y' - 2*sin(x^2 + y - 2)\ninitial x = 1, y = 1"),
         HM_STABILITY_STABLE, 1},
        {LINE("-x - x'\nstate z' = z^7"), HM_STABILITY_MARGINAL, 0},
        {LINE("-x - x'\nstate z' = -z + x"), HM_STABILITY_STABLE, 0},
    };
    expect_all(list, sizeof list / sizeof *list);
}

/* Multiple eigenvalues that rounding splits, or that are exactly defective. */
static void test_defective(void **state)
{
    (void)state;
    static const expected list[] = {
        {LINE("-2*x' - x"), HM_STABILITY_STABLE, 0},
        {LINE("2*x' - x"), HM_STABILITY_UNSTABLE, 0},
        {LINE("-x - x'\nstate a' = -a\nstate b' = a - b\nstate c' = b - c"), HM_STABILITY_STABLE,
         0},
        {LINE("-x - x'\nstate a' = -a\nstate b' = 1000*a - b"), HM_STABILITY_STABLE, 0},
        {LINE("-x - x'\nstate a' = a\nstate b' = a + b\nstate c' = b + c"), HM_STABILITY_UNSTABLE,
         0},
        {LINE("-x - x'\nstate a' = b\nstate b' = 0*a"), HM_STABILITY_MARGINAL, 1},
    };
    expect_all(list, sizeof list / sizeof *list);
}

/* The state is known to its residual only: x'' = -x - 4 x x' has the real part -2 x, which is 2e-12
 * where a search has left x = -1e-12. Far from there it counts. */
static void test_error_of_the_state(void **state)
{
    (void)state;
    motion *m = motion_text(LINE("-x - 4*x*x'"));
    for (int k = 0; k < 2; k++) {
        double q = k ? 3e-9 : -1e-12, v = 0;
        hm_sim_set_state(m->sim, 0, &q, &v, NULL);
        hm_linearization *l = about(m, NULL);
        assert_int_equal(l->rest, HM_REST_EQUILIBRIUM);
        assert_int_equal(l->stability, HM_STABILITY_MARGINAL);
        hm_linearization_destroy(l);
    }
    motion_close(m);
    /* Where the equilibrium is of third order, rates of 1e-8 are a long way from it. */
    m = motion_text(LINE("-x' + x^3\ninitial x = 2e-3"));
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->stability, HM_STABILITY_MARGINAL);
    hm_linearization_destroy(l);
    motion_close(m);
    m = motion_text(LINE("-x + 1e-6*x'"));
    l = about(m, NULL);
    assert_int_equal(l->stability, HM_STABILITY_UNSTABLE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* No derivative: said, with the function; no matrix, no verdict. */
static void test_no_derivative(void **state)
{
    (void)state;
    static const struct {
        const char *text, *function;
    } list[] = {
        {LINE("-x - 0.3*sign(x')"), "sign(x')"},
        {LINE("-x' - x - abs(x)"), "abs(x)"},
        {LINE("-x' - max(x, 3*x)"), "max(x, 3*x)"},
        {LINE("-x' - min(2*x - 2, x - 1)\ninitial x = 1"), "min("},
        {LINE("-x' - x - if(x > 0, x, 0)"), ""},
        {PLANE("-x' - hypot(x, y)", "-y - y'"), "hypot("},
        {LINE("-x' - x - 2*abs(x)^0.5*sign(x)"), ""},
        {"coord x\nkinetic x'^2/2\npotential abs(x)\nforce x = -x'\n", ""},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        motion *m = motion_text(list[i].text);
        hm_linearization *l = NULL;
        hm_status status = hm_sim_linearize(m->sim, NULL, &l);
        if (status == HM_OK) {
            assert_int_equal(l->stability, HM_STABILITY_UNDECIDED);
            assert_null(l->A);
            if (!l->reason || !strstr(l->reason, "no derivative") ||
                !strstr(l->reason, list[i].function))
                fail_msg("%s: %s", list[i].text, l->reason);
        } else if (status != HM_ERR_NUMERIC || !motion_says(m, "derivative")) {
            fail_msg("%s: %s", list[i].text, hm_status_text(status));
        }
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* Functions with an edge that the motion does not notice, or that is elsewhere. */
static void test_smooth_enough(void **state)
{
    (void)state;
    static const expected list[] = {
        {LINE("-x' - x - x*abs(x)"), HM_STABILITY_STABLE, 0},
        {LINE("-x' - x - x'*abs(x')"), HM_STABILITY_STABLE, 0},
        {LINE("-x' - x - max(0, x)^2"), HM_STABILITY_STABLE, 0},
        {LINE("-x' - x - abs(x)^1.5*sign(x)"), HM_STABILITY_STABLE, 0},
        {LINE("-x' - x - max(0, x - 1)"), HM_STABILITY_STABLE, 0},
    };
    expect_all(list, sizeof list / sizeof *list);
}

/* Nothing fails without a word. */
static void test_words(void **state)
{
    (void)state;
    static const char *const list[] = {LINE("-x + sqrt(x)"), LINE("-x' + log(x)"),
                                       LINE("-x' - 1/x"), LINE("-x - sqrt(abs(x))*x^(1/3)")};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        motion *m = motion_text(list[i]);
        hm_linearization *l = NULL;
        hm_linearize_options find = hm_linearize_options_default();
        for (int k = 0; k < 2; k++) {
            find.find = k;
            double q = 0, v = 0;
            hm_sim_set_state(m->sim, 0, &q, &v, NULL);
            hm_context_clear(hm_sim_context(m->sim));
            hm_status status = hm_sim_linearize(m->sim, &find, &l);
            if (status != HM_OK && hm_context_error_count(hm_sim_context(m->sim)) == 0)
                fail_msg("%s fails without a word", list[i]);
            if (status == HM_OK)
                assert_true(l->A || l->reason);
            hm_linearization_destroy(l);
            l = NULL;
        }
        motion_close(m);
    }
    motion *m = motion_text(LINE("-x' - x + sqrt(x)\ninitial x = 0.7"));
    hm_linearize_options find = hm_linearize_options_default();
    find.find = true;
    hm_linearization *l = about(m, &find);
    check_number("x", l->q[0], 1, 1e-12);
    assert_int_equal(l->stability, HM_STABILITY_STABLE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* Metres or micrometres, grams or tons: the same eigenvalues, family and verdict. */
static void test_units(void **state)
{
    (void)state;
    static const double units[] = {1, 1e-6, 1e3};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            char text[600];
            snprintf(text, sizeof text,
                     "param L = %g, m = %g, g = 9.81*L\ncoord x, y, a\n"
                     "kinetic m*(x'^2 + y'^2)/2 + m*L^2*a'^2\npotential m*g*y - m*g*L*cos(a)\n"
                     "constraint rod: x^2 + y^2 = L^2\nforce a = -0.2*m*L^2*a', x = -0.1*m*x'\n"
                     "initial x = 0, y ~ -L\n",
                     units[i], units[k]);
            motion *m = motion_text(text);
            hm_linearization *l = about(m, NULL);
            assert_int_equal(l->rest, HM_REST_EQUILIBRIUM);
            assert_int_equal(l->dimension, 4);
            assert_int_equal(l->stability, HM_STABILITY_STABLE);
            check_number("first", l->re[0], -0.05, 1e-9);
            hm_linearization_destroy(l);
            motion_close(m);
        }
}

/* A quaternion whose norm has no inertia, tilted a little: the top grows as it does upright. */
static void test_nearly_sleeping_top(void **state)
{
    (void)state;
    double J = 0.2 + 1.3 * 0.16, spin = 0.8 * sqrt(4 * 1.3 * 9.81 * 0.4 * J) / 0.12;
    double half = 0.12 * spin / (2 * J), growth = sqrt(1.3 * 9.81 * 0.4 / J - half * half);
    static const double tilts[] = {0, 1e-15, 1e-12, 1e-10};
    for (size_t i = 0; i < 4; i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "param m = 1.3, g = 9.81, l = 0.4, J = 0.2, J3 = 0.12\n"
                 "coord e0, e1, e2, e3\nlet R = quat(e0, e1, e2, e3)\n"
                 "body top { mass m inertia diag(J, J, J3) at R*[0, 0, l] frame R }\n"
                 "gravity [0, 0, -g]\ninitial e0 = 1, e1 = %g, e3' = %.17g\n",
                 tilts[i], spin / 2);
        motion *m = motion_text(text);
        hm_linearization *l = about(m, NULL);
        assert_int_equal(l->rest, HM_REST_RELATIVE);
        check_number("growth", l->re[0], growth, 1e-7);
        assert_int_equal(l->stability, HM_STABILITY_UNSTABLE);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),      cmocka_unit_test(test_defective),
        cmocka_unit_test(test_no_derivative), cmocka_unit_test(test_error_of_the_state),
        cmocka_unit_test(test_smooth_enough), cmocka_unit_test(test_words),
        cmocka_unit_test(test_units),         cmocka_unit_test(test_nearly_sleeping_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
