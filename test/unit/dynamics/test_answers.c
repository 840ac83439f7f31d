/* Answers by the public calls: where there is none, what is said; the shortest way to q''; servos in
 * the company of forces that switch; formulations by name. */
#include "support/check.h"
#include "support/motion.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- failures in words ---- */

static void check_failure(const char *text, hm_status status, const char *message)
{
    probe *p = probe_text(text);
    hm_evaluation at;
    hm_context_clear(hm_sim_context(p->sim));
    assert_int_equal(hm_sim_evaluate(p->sim, NULL, &at), status);
    bool found = false;
    for (size_t i = 0; i < hm_context_diagnostic_count(hm_sim_context(p->sim)); i++)
        found |= strstr(hm_context_diagnostic(hm_sim_context(p->sim), i)->message, message) != NULL;
    if (!found) {
        show_diagnostics(hm_sim_context(p->sim));
        fail_msg("nobody says '%s'", message);
    }
    probe_close(p);
}

static void directions_without_mass(void **state)
{
    (void)state;
    check_failure("coord x, y; kinetic (x' + 2*y')^2/2", HM_ERR_UNDETERMINED,
                  "not determined along x'' - 0.5 y''");
    check_failure("coord x, y, z; kinetic (x' - y')^2/2 + z'^2/2", HM_ERR_UNDETERMINED,
                  "not determined along x'' + y''");
}

/* An evaluation gives what A q'' = b says, and warns; a run is refused, in the same words. */
static void check_vanished(const char *text)
{
    motion *m = motion_text(text);
    hm_evaluation at;
    assert_int_equal(hm_sim_evaluate(m->sim, NULL, &at), HM_OK);
    assert_true(at.rows_vanish && at.solved);
    assert_true(motion_says(m, "the row of constraint 'c' in A vanishes where it holds"));
    assert_int_equal(motion_run(m), HM_ERR_UNDETERMINED);
    assert_true(motion_says(m, "the row of constraint 'c' in A vanishes where it holds"));
    motion_close(m);
}

/* What a square demands its row of A does not say; where other rows say it, all is well. */
static void rows_that_vanish(void **state)
{
    (void)state;
#define PLANE "coord x, y; kinetic (x'^2 + y'^2)/2; potential x\n"
    check_vanished(PLANE "constraint c: x'^2 + y'^2 = 0");
    check_vanished(PLANE "constraint c: (x' - y')^2 = 0");
    check_vanished(PLANE "constraint c: (x - y)^2 = 0");
    check_failure(PLANE "constraint c: (x - y)^2 = 0; initial x' = 1", HM_ERR_INCONSISTENT,
                  "constraint 'c' contradicts");
    static const char *const good[] = {
        PLANE "constraint a: x' = 0; constraint b: y' = 0; constraint c: x'^2 + y'^2 = 0",
        PLANE "constraint a: x = y; constraint c: (x - y)^2 = 0; initial x' = 1, y' = 1",
        PLANE "constraint c: x'^2 + y'^2 = 1; initial x' = 1",
        "coord x, y; kinetic (x'^2 + y'^2)/2\nconstraint c: x'^2 + y'^2 = 0",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        motion *m = motion_text(good[i]);
        hm_evaluation at;
        assert_int_equal(hm_sim_evaluate(m->sim, NULL, &at), HM_OK);
        assert_false(at.rows_vanish);
        motion_close(m);
    }
}

/* A row that is zero on paper constrains nothing, in an evaluation and in a run. */
static void rows_of_rounding_errors(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "param a = 0.1*3, b = 0.3; constraint c: (a - b)*x' = 0",
        "param a = 0.1, b = 0.2, c = a + b - 0.3; constraint c0: c*x' = 0",
        "constraint c: (sqrt(2)*sqrt(2) - 2)*x' = 0",
        "param p = 1.1; constraint c: (sin(p)^2 + cos(p)^2 - 1)*x' = (a*7 - 0.7)*y'; param a = 0.1",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[400];
        hm_evaluation at;
        snprintf(
            text, sizeof text,
            "coord x, y; kinetic (x'^2 + y'^2)/2; force x = 1\n%s\ninitial x' = 1\nsimulate 0 .. 1",
            rows[i]);
        motion *m = motion_text(text);
        assert_int_equal(hm_sim_evaluate(m->sim, NULL, &at), HM_OK);
        assert_int_equal(at.rank_A, 0);
        check_number("x''", at.qdd[0], 1, 0);
        assert_true(at.disagreement < 1e-12);
        motion_must(m);
        check_number(rows[i], motion_value(m, "x"), 1.5, 1e-9);
        motion_close(m);
    }
}

/* Friction mu |R| of the whole reaction R of a floor, with masses coupled by a: R = c - 2 |R| for
 * a mu = 2. It has no solution for c < 0 and two for c > 0: Painleve's paradox. */
static void laws_of_total_reactions(void **state)
{
    (void)state;
    static const char law[] =
        "param F = %g; coord x, y; kinetic (x'^2 + y'^2)/2 + 0.8*x'*y'; constraint floor: y = 0\n"
        "force y = F; nonideal x = -2.5*abs(total_reaction(y))";
    char text[400];
    snprintf(text, sizeof text, law, 10.0);
    check_failure(text, HM_ERR_UNDETERMINED, "has no solution at this state");
    snprintf(text, sizeof text, law, -10.0);
    check_failure(text, HM_ERR_UNDETERMINED, "has several solutions at this state");
}

static void multipliers_that_are_not_unique(void **state)
{
    (void)state;
    check_failure("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                  "constraint one: y = 0; constraint two: 2*y = 0\n"
                  "nonideal x = -0.3*abs(multiplier(one))*x'; initial x' = 1",
                  HM_ERR_UNDETERMINED, "multiplier(one) is used in a force law");
}

static void servos_out_of_reach(void **state)
{
    (void)state;
    check_failure("coord x, y; kinetic (x'^2 + y'^2)/2; servo hold: x = 1 by y with gain 2",
                  HM_ERR_INCONSISTENT, "the actuators cannot enforce servo 'hold'");
}

/* A law that has no value. */
static void laws_without_a_value(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: y = 0\n"
                          "nonideal x = -sqrt(reaction(y) - 1)");
    hm_evaluation at;
    assert_int_not_equal(hm_sim_evaluate(p->sim, NULL, &at), HM_OK);
    assert_true(hm_context_error_count(hm_sim_context(p->sim)) > 0);
    probe_close(p);
}

/* ---- formulations ---- */

static void formulations_by_name(void **state)
{
    (void)state;
    hm_formulation found = HM_FORMULATION_AUTO;
    for (hm_formulation f = HM_FORMULATION_AUTO; f <= HM_FORMULATION_DIRAC; f++) {
        assert_true(hm_formulation_find(hm_formulation_name(f), &found));
        assert_int_equal(found, f);
    }
    assert_false(hm_formulation_find("none such", &found));
}

/* Formulas with M^-1 do not apply where M is singular: said, not computed. */
static void formulations_that_do_not_apply(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y; kinetic x'^2/2; constraint c: y = x + t");
    hm_evaluate_options options = hm_evaluate_options_default();
    hm_evaluation at;
    options.compare = false;
    for (hm_formulation f = HM_FORMULATION_AUTO; f <= HM_FORMULATION_SINGULAR; f++) {
        bool needs_inverse = f == HM_FORMULATION_UK || f == HM_FORMULATION_GRAM;
        options.formulation = f;
        hm_status status = hm_sim_evaluate(p->sim, &options, &at);
        assert_int_equal(status, needs_inverse ? HM_ERR_USAGE : HM_OK);
        if (status == HM_OK)
            check_close("q''", 2, at.qdd, (const double[]){0, 0}, 1e-15);
    }
    assert_int_equal(hm_context_error_count(hm_sim_context(p->sim)), 2);
    probe_close(p);
}

/* ---- large systems ---- */

#define MANY "coord x[1..401]; for i = 1..401 { kinetic x[i]'^2/2 }\n"

/* What needs dense matrices is refused; what has no value is said. */
static void large_systems(void **state)
{
    (void)state;
    probe *p = probe_text(MANY "force x[7] = 3; constraint c: x[1] = x[2]");
    hm_evaluate_options options = hm_evaluate_options_default();
    hm_evaluation at;
    const hm_geometry *geometry;
    double qdd[401];
    for (hm_formulation f = HM_FORMULATION_AUTO; f <= HM_FORMULATION_SINGULAR; f++) {
        options.formulation = f;
        hm_status status = hm_sim_evaluate(p->sim, &options, &at);
        assert_int_equal(
            status, f == HM_FORMULATION_AUTO || f == HM_FORMULATION_KKT ? HM_OK : HM_ERR_LIMIT);
        if (status == HM_OK) {
            assert_string_equal(at.formulation, "sparse");
            check_number("x[7]''", at.qdd[6], 3, 1e-15);
        }
    }
    assert_int_equal(hm_sim_geometry(p->sim, &geometry), HM_ERR_LIMIT);
    assert_int_equal(hm_sim_accelerate(p->sim, qdd), HM_OK);
    check_number("x[7]''", qdd[6], 3, 1e-15);
    probe_close(p);
    check_failure(MANY "force x[1] = 1/x[2]", HM_ERR_NUMERIC, "finite");
    check_failure(MANY "mass x[3], x[3] = 1/x[2]", HM_ERR_NUMERIC, "finite");
    check_failure(MANY "constraint c: x[5]' = 1/x[4]", HM_ERR_NUMERIC, "finite");
}

/* ---- the shortest way ---- */

/* x'' = -k x of an oscillator, at one state after the other: the first call compiles. */
static void accelerations_again_and_again(void **state)
{
    (void)state;
    probe *p = probe_text("param k = 4; coord x, y; kinetic (x'^2 + y'^2)/2; potential k*x^2/2\n"
                          "constraint c: y = x^2/2");
    for (int i = 0; i < 6; i++) {
        double x = 0.3 * i, v = 1 - 0.2 * i, k = i < 3 ? 4 : 9, qdd[2];
        hm_sim_set_state(p->sim, 0, (const double[]){x, x * x / 2}, (const double[]){v, x * v},
                         NULL);
        if (i == 3)
            assert_int_equal(hm_sim_set_param(p->sim, "k", k), HM_OK);
        for (int again = 0; again < 3; again++) {
            assert_int_equal(hm_sim_accelerate(p->sim, qdd), HM_OK);
            /* (1 + x^2) x'' = -k x - x v^2; y'' = x x'' + v^2 */
            double expected = -(k * x + x * v * v) / (1 + x * x);
            check_number("x''", qdd[0], expected, 1e-14);
            check_number("y''", qdd[1], x * expected + v * v, 1e-14);
        }
    }
    probe_close(p);
}

static void inputs_and_parameters(void **state)
{
    (void)state;
    probe *p = probe_text("param k = 1; coord x; input u = 0; kinetic x'^2/2; force x = k*u");
    double qdd;
    assert_int_equal(hm_sim_set_input(p->sim, 1, 1, 0, 0), HM_ERR_USAGE);
    assert_int_equal(hm_sim_set_param(p->sim, "none", 1), HM_ERR_USAGE);
    assert_int_equal(hm_sim_set_input(p->sim, 0, 3, 0, 0), HM_OK);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(hm_sim_set_param(p->sim, "k", i), HM_OK);
        assert_int_equal(hm_sim_accelerate(p->sim, &qdd), HM_OK);
        check_number("x''", qdd, 3.0 * i, 0);
    }
    probe_close(p);
}

/* ---- servos and switches ---- */

/* Dry friction switches at every turn of x = sin t; the servo makes up for it. A second one, by the
 * law of Lyapunov type, holds y' = 1. */
static void servos_with_friction(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "force x = -0.7*sign(x'), y = -abs(x)\n"
                            "servo follow: x = sin(t) by x with gain 2\n"
                            "servo pace: y' = 1 by y with gain 3 law lyapunov\n"
                            "initial x = 0, x' = 1, y' = 1; simulate 0 .. 5");
    motion_must(m);
    check_number("x", motion_value(m, "x"), sin(5), 1e-8);
    check_number("x'", motion_value(m, "x'"), cos(5), 1e-8);
    check_number("y", motion_value(m, "y"), 5, 1e-8);
    /* the servos do what friction takes, 0.7 times the way of x, what |x| takes from y (its integral
     * over 5 s), and what x gains */
    double way = 3 + (sin(5) + 1), below = 2 + (1 + cos(5));
    double gained = (cos(5) * cos(5) - 1) / 2;
    check_number("work", m->result.work.servo, 0.7 * way + below + gained, 1e-7);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_without_mass),
        cmocka_unit_test(rows_that_vanish),
        cmocka_unit_test(rows_of_rounding_errors),
        cmocka_unit_test(laws_of_total_reactions),
        cmocka_unit_test(multipliers_that_are_not_unique),
        cmocka_unit_test(servos_out_of_reach),
        cmocka_unit_test(laws_without_a_value),
        cmocka_unit_test(formulations_by_name),
        cmocka_unit_test(formulations_that_do_not_apply),
        cmocka_unit_test(large_systems),
        cmocka_unit_test(accelerations_again_and_again),
        cmocka_unit_test(inputs_and_parameters),
        cmocka_unit_test(servos_with_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
