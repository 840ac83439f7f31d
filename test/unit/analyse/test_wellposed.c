/* Well-posedness: initial states, ranks, functions that are not Lipschitz. */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>

static hm_analysis *analyse(probe *p)
{
    hm_analysis *a = NULL;
    assert_int_equal(hm_system_analyse(p->context, p->system, &a), HM_OK);
    return a;
}

/* Two rods that are almost parallel: the distance to rank 1 is the smaller singular value of their
 * unit rows, sqrt(1 - cos) = sqrt(2) sin(angle/2). */
static void distance_to_lower_rank(void **state)
{
    (void)state;
    probe *p = probe_text("param e = 0.01\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                          "constraint a: x' = 0\nconstraint b: cos(e)*x' + sin(e)*y' = 0\n");
    hm_analysis *a = analyse(p);
    check_number("distance", a->wellposedness.distance, sqrt(2) * sin(0.005), 1e-12);
    /* condition of the Gram matrix with unit rows: (1 + cos e)/(1 - cos e) */
    double c = cos(0.01);
    check_number("condition", a->wellposedness.gram_condition / ((1 + c) / (1 - c)), 1, 1e-8);
    assert_int_equal(a->wellposedness.rank_A, 2);
    assert_true(a->wellposedness.wellposed);
    hm_analysis_destroy(a);
    probe_close(p);
}

/* A particle held to x' = t y' ... with a row that shrinks along the run: the lowest distance is met
 * at its end. */
static void distance_along_a_run(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                          "constraint a: x' = 0\nconstraint b: x' + (2 - t)*y' = 0\n"
                          "initial z' = 1\nsimulate 0 .. 1 every 0.1 method rk5 step 0.1");
    hm_analysis *a = analyse(p);
    const hm_wellposedness *w = &a->wellposedness;
    assert_true(w->run_end > 0 && w->distance_lowest < w->distance);
    assert_true(w->distance_time == w->run_end);
    hm_analysis_destroy(a);
    probe_close(p);
}

static bool well_posed(const char *text, size_t *here)
{
    probe *p = probe_text(text);
    hm_analysis *a = analyse(p);
    bool result = a->wellposedness.wellposed;
    *here = 0;
    for (size_t i = 0; i < a->wellposedness.function_count; i++)
        *here += a->wellposedness.functions[i].here;
    hm_analysis_destroy(a);
    probe_close(p);
    return result;
}

static void functions(void **state)
{
    (void)state;
    size_t here;
    assert_false(well_posed("coord x\nkinetic x'^2/2\nforce x = sqrt(x)", &here));
    assert_int_equal(here, 1);
    assert_true(well_posed("coord x\nkinetic x'^2/2\nforce x = sqrt(x)\ninitial x = 1", &here));
    assert_int_equal(here, 0);
    assert_false(well_posed("coord x\nkinetic x'^2/2\nforce x = abs(x)^(1/3)", &here));
    assert_false(well_posed("coord x\nkinetic x'^2/2\nforce x = -sign(x')", &here));
    assert_true(well_posed("coord x\nkinetic x'^2/2\nforce x = -sign(x')\ninitial x' = 1", &here));
    assert_true(well_posed("coord x\nkinetic x'^2/2\nforce x = -abs(x)", &here));
    assert_true(well_posed("coord x\nkinetic x'^2/2\nforce x = if(x' < 0, 2*x', x')", &here));
    assert_false(well_posed("coord x\nkinetic x'^2/2\nforce x = if(x' < 0, 2, 1)", &here));
    assert_true(
        well_posed("coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = sqrt(x^2 + y^2)", &here));
    assert_int_equal(here, 0);
}

/* Powers, arcs and conditions of several parts. */
static void more_functions(void **state)
{
    (void)state;
    static const struct {
        const char *force, *initial;
        bool wellposed;
    } list[] = {
        {"abs(x)^1.5", "x = 0", true},
        {"abs(x)^0.3", "x = 0", false},
        {"abs(x)^0.3", "x = 1", true},
        {"(1 + x^2)^y", "x = 0", true}, /* no constant power */
        {"asin(1 + x)", "x = 0", false},
        {"-asin(x/2)", "x = 1", true},
        {"sqrt(abs(x))", "x = 0", false},
        {"sqrt(abs(x))", "x = 1", true},
        {"abs(x)^(2/3)", "x = 0", false},
        {"max(0, x)^0.5", "x = 0", false},
        {"max(0, x)^0.5", "x = -1", true},
        {"max(0, -x)^1.5", "x = 0", true}, /* Hertz */
        {"1e6*x + 1e-3*sqrt(abs(x))", "x = 0", false},
        {"x*sqrt(abs(x))", "x = 0", true},
        {"y*sqrt(abs(x))", "x = 0", false}, /* Lipschitz at the state, but not near it */
        {"if(x == 0, 0, x*log(abs(x)))", "x = 0", false},
        {"sin(sqrt(abs(x)))^2", "x = 0", true}, /* |x| */
        {"sqrt(1 - cos(x))", "x = 0", true},    /* |x|/sqrt(2) */
        {"hypot(x, y)", "x = 0", true},
        {"(x^2 + y^2)^0.4", "x = 0", false},
        {"(x^4)^(1/4)", "x = 0", true},
        {"(x^4)^(1/5)", "x = 0", false},
        {"abs(sin(x))^0.9", "x = 0", false},
        {"abs(x' - 1)^0.5", "x' = 1", false},
        {"abs(y - 1)^(0.1 + t)", "y = 1", false},
        {"atan2(x, -1)", "x = 0", false},
        {"atan2(x, 1)", "x = 0", true},
        {"acos(x)", "x = -1", false},
        {"(x^2 + y^2)^0.3", "x = 0", false}, /* |q|^0.6 */
        {"sqrt(t)", "x = 0", false},
        {"if(x == y, 2, 1)", "x = 0", false},
        {"if(x == y, 2, 1)", "x = 1", true},
        {"if(x < 0 and y < 1, 2, 1)", "x = 0", false},
        {"if(x < 0 and y < 1, 2, 1)", "x = 0.5", true},
        {"if(not (x >= 0) or y > 0, x, 1)", "y = 0, x = -1",
         true}, /* true on both sides of y = 0 */
        {"if(not (x >= 0) or y > 0, x, 1)", "y = 0, x = 1", false},
        {"if(x >= 0, x, 2*x)", "x = 0", true},                 /* both agree */
        {"if(not (x >= 0) or y > 0, x, 2*x)", "x = 0", false}, /* not where x > 0 and y = 0 */
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[256];
        size_t here;
        snprintf(text, sizeof text, "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = %s\ninitial %s",
                 list[i].force, list[i].initial);
        if (well_posed(text, &here) != list[i].wellposed)
            fail_msg("%s at %s", list[i].force, list[i].initial);
        assert_int_equal(here > 0, !list[i].wellposed);
    }
}

/* Where the motion comes to a place that is not Lipschitz. x = 1 - t until it meets 0; the pendulum of
 * the third case falls from 1 through 0; the fourth never comes to x = 1. */
static void on_the_way(void **state)
{
    (void)state;
    static const struct {
        const char *force, *initial, *lost;
        double when;
        bool wellposed;
    } list[] = {
        {"abs(x)^0.5*y", "x = 1, x' = -1", "x = 0", 1, false},
        {"sign(x)*0.5 - 0.5", "x = 1, x' = -1", "x = 0", 1, true}, /* a jump */
        {"max(0, x)^0.5", "x = -3, x' = 2", "x = 0", 1.5, false},
        {"-x + max(0, x - 1)^0.5", "x = 0.5", NULL, 0, true},
        {"max(0, x - 2)^1.5", "x' = 1", NULL, 0, true},
        {"sqrt(2 - t)", "x = 0", "2 - t = 0", 2, false},
        {"if(t > 3, 1, 0)", "x = 0", "3 - t = 0", 3, true},
        {"abs(t - 1)", "x = 0", NULL, 0, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = %s\ninitial %s\nsimulate 0 .. 4",
                 list[i].force, list[i].initial);
        probe *p = probe_text(text);
        hm_analysis *a = analyse(p);
        const hm_wellposedness *w = &a->wellposedness;
        if (w->wellposed != list[i].wellposed)
            fail_msg("%s: well posed: %d", list[i].force, w->wellposed);
        if (!list[i].lost) {
            assert_null(w->lipschitz_lost);
        } else {
            assert_non_null(w->lipschitz_lost);
            assert_string_equal(w->lipschitz_lost, list[i].lost);
            check_number("when", w->lipschitz_until, list[i].when, 1e-6);
        }
        hm_analysis_destroy(a);
        probe_close(p);
    }
}

/* No motion, or more than one: and why. */
static void no_motion(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        bool known;
    } list[] = {
        {"coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: x'' = 1\nconstraint b: x'' = 2",
         "constraint 'b' contradicts the constraints before it by 1", true},
        {"coord x, y\nkinetic x'^2/2", "the motion is not determined along y''", true},
        {"coord x, y\nkinetic (x'^2 + y'^2)/2\nforce x = 1/y",
         "the force on 'x' is not finite at this state: a division by zero, in an expression of y",
         false},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        probe *p = probe_text(list[i].text);
        hm_analysis *a = analyse(p);
        assert_false(a->wellposedness.wellposed);
        assert_int_equal(a->wellposedness.known, list[i].known);
        assert_string_equal(a->wellposedness.message, list[i].message);
        hm_analysis_destroy(a);
        probe_close(p);
    }
}

/* Motion that is not determined, and an initial state that cannot be. */
static void refused(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x^2 + y^2 = 1\n"
                          "initial x = 2, y = 0");
    hm_analysis *a = analyse(p);
    assert_false(a->wellposedness.consistent);
    assert_false(a->wellposedness.wellposed);
    assert_true(a->set.known && a->set.holonomic_part == 1);
    hm_analysis_destroy(a);
    probe_close(p);
}

/* `initial keep` runs a state that is off the constraint, and says that it is. */
static void kept(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x^2 + y^2 = 1\n"
                          "initial keep x = 2, y = 0");
    hm_analysis *a = analyse(p);
    assert_true(a->wellposedness.kept && !a->wellposedness.consistent);
    assert_true(a->wellposedness.wellposed);
    hm_analysis_destroy(a);
    probe_close(p);
}

/* Redundant constraints: multipliers are not unique, q'' is (errata 4.6). */
static void redundant(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: x = 1\n"
                          "constraint b: 2*x = 2\ninitial x = 1");
    hm_analysis *a = analyse(p);
    assert_true(a->wellposedness.unique_acceleration && a->wellposedness.wellposed);
    assert_false(a->wellposedness.unique_multipliers);
    assert_true(a->constraints[1].redundant && !a->constraints[0].redundant);
    check_number("distance", a->wellposedness.distance, sqrt(2), 1e-12);
    hm_analysis_destroy(a);
    probe_close(p);
}

/* Flannery's table on four models. */
static void principles(void **state)
{
    (void)state;
    static const struct {
        const char *constraint;
        bool basic, holonomic, semiholonomic, exact;
    } cases[] = {{"x^2 + y^2 = 1", true, true, true, true},
                 {"x*x' + y*y' = 0", true, false, true, true},
                 {"y*x' = x*y'", true, false, true, false},
                 {"z' = y*x'", true, false, false, false},
                 {"x'^2 + y'^2 = z'^2 + 1", false, false, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nconstraint c: %s\n"
                 "initial x ~ 1, x' ~ 1",
                 cases[i].constraint);
        probe *p = probe_text(text);
        hm_analysis *a = analyse(p);
        assert_int_equal(a->principles.basic, cases[i].basic);
        assert_int_equal(a->principles.holonomic, cases[i].holonomic);
        assert_int_equal(a->principles.semiholonomic, cases[i].semiholonomic);
        assert_int_equal(a->principles.exact, cases[i].exact);
        assert_true(a->principles.potential);
        assert_int_equal(a->principles.G > 0, i == 3);
        hm_analysis_destroy(a);
        probe_close(p);
    }
}

/* Large systems are said not to be classified. */
static void large(void **state)
{
    (void)state;
    probe *p = probe_text("param N = 200\ncoord x[1..N]\nkinetic sum(i = 1..N, x[i]'^2)/2\n"
                          "constraint c: x[1]' = x[2]*x[3]'\nconstraint d: x[5] = x[6]");
    hm_analysis *a = analyse(p);
    assert_false(a->set.known);
    assert_int_equal(a->constraints[0].kind, HM_CLASS_UNCLASSIFIED);
    assert_int_equal(a->constraints[1].kind, HM_CLASS_HOLONOMIC);
    assert_int_equal(a->remark_count, 1);
    hm_analysis_destroy(a);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_to_lower_rank),
        cmocka_unit_test(distance_along_a_run),
        cmocka_unit_test(functions),
        cmocka_unit_test(more_functions),
        cmocka_unit_test(on_the_way),
        cmocka_unit_test(no_motion),
        cmocka_unit_test(refused),
        cmocka_unit_test(redundant),
        cmocka_unit_test(principles),
        cmocka_unit_test(large),
        cmocka_unit_test(kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
