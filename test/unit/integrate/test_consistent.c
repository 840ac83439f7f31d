/* Consistent initial states: what is given stays, the rest moves as little as possible. */
#include "integrate/run/run.h"
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const hm_moved *moved(const motion *m, const char *name)
{
    for (size_t i = 0; i < m->result.moved_count; i++)
        if (strcmp(m->result.moved[i].name, name) == 0)
            return &m->result.moved[i];
    return NULL;
}

static void test_guess_is_moved(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                            "constraint rod: x^2 + y^2 = 25\n"
                            "initial x = 3, y ~ -3, x' = 1; simulate 0 .. 1");
    motion_must(m);
    assert_non_null(moved(m, "y"));
    check_number("y", moved(m, "y")->to, -4, 1e-14);
    check_number("y before", moved(m, "y")->from, -3, 0);
    check_number("y'", moved(m, "y'")->to, 0.75, 1e-14);
    assert_null(moved(m, "x"));
    assert_null(moved(m, "x'"));
    motion_close(m);
}

/* Nearest in the mass metric: minimise x^2 m1 + y^2 m2 of the move on a line. */
static void test_mass_metric(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic 1*x'^2/2 + 4*y'^2/2\n"
                            "constraint line: x + y = 5; initial x ~ 0, y ~ 0; simulate 0 .. 1");
    motion_must(m);
    check_number("x", moved(m, "x")->to, 4, 1e-14);
    check_number("y", moved(m, "y")->to, 1, 1e-14);
    motion_close(m);
    m = motion_text("coord x, y; kinetic x'^2/2 + 4*y'^2/2\n" /* curved: nearest on an ellipse */
                    "constraint oval: x^2/4 + y^2 = 1; initial x ~ 3, y ~ 0; simulate 0 .. 0.1");
    motion_must(m);
    check_number("x on the oval", moved(m, "x")->to, 2, 1e-13);
    motion_close(m);
}

/* A far guess is the nearest point even on a curve: Lagrange's condition holds there. */
static void test_nearest_on_a_curve(void **state)
{
    (void)state;
    const hm_moved *list;
    size_t count;
    double q[2];
    motion *m = motion_text("coord x, y; kinetic (x'^2 + 3*y'^2)/2\n"
                            "constraint oval: x^2/9 + y^2/4 = 1; initial x ~ 4, y ~ 3");
    assert_int_equal(hm_sim_make_consistent(m->sim, false, &list, &count), HM_OK);
    assert_int_equal(count, 2);
    hm_sim_state(m->sim, q, NULL, NULL);
    check_number("on the oval", q[0] * q[0] / 9 + q[1] * q[1] / 4, 1, 1e-14);
    double along = (q[0] - 4) * (q[1] / 2) - 3 * (q[1] - 3) * (2 * q[0] / 9); /* M d x grad = 0 */
    check_number("nearest", along, 0, 1e-9);
    motion_close(m);
}

/* No run is needed, what was compiled serves again with other parameters, and a run that was under way
 * ends: it cannot go on from another state. */
static void test_without_a_run(void **state)
{
    (void)state;
    const hm_moved *list;
    size_t count;
    motion *m = motion_text(
        "param r = 5; coord x, y; kinetic (x'^2 + y'^2)/2\n"
        "constraint rod: x^2 + y^2 = r^2; initial x = 3, y ~ 3; simulate 0 .. 1");
    assert_int_equal(hm_sim_make_consistent(m->sim, false, &list, &count), HM_OK);
    assert_null(hmi_run_of(m->sim));
    assert_int_equal(count, 1);
    check_number("y", list[0].to, 4, 1e-14);
    assert_int_equal(hm_sim_make_consistent(m->sim, false, &list, &count), HM_OK);
    assert_int_equal(count, 0);
    assert_int_equal(hm_sim_set_param(m->sim, "r", 3 * sqrt(2)), HM_OK);
    assert_int_equal(hm_sim_start(m->sim, NULL), HM_OK);
    assert_int_equal(hm_sim_set_param(m->sim, "r", 5), HM_OK);
    assert_int_equal(hm_sim_make_consistent(m->sim, false, &list, &count), HM_OK);
    check_number("y again", list[0].to, 4, 1e-14);
    assert_int_equal(hm_sim_step(m->sim), HM_ERR_USAGE);
    motion_close(m);
}

static void test_impossible_is_refused(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "constraint rod: x^2 + y^2 = 1; initial x = 2, y ~ 0; simulate 0 .. 1");
    assert_int_equal(motion_run(m), HM_ERR_INPUT);
    assert_true(motion_says(m, "rod"));
    assert_true(motion_says(m, "by 3"));
    motion_close(m);
    m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2\n"
                    "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0, x' = 1; simulate 0 .. 1");
    assert_int_equal(motion_run(m), HM_ERR_INPUT);
    assert_true(motion_says(m, "velocity level"));
    motion_close(m);
}

/* Lengths of nanometres, and constraints multiplied by a small number: what does not fit is refused, what
 * may move is moved, and the motion is the same. */
static void test_small_units(void **state)
{
    static const char *const units[] = {"u = 1, k = 1", "u = 1e-9, k = 1", "u = 1, k = 1e-12"};
    (void)state;
    double x[3];
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "param %s; coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*u*y\n"
                 "constraint rod: k*(x^2 + y^2) = k*u^2; initial x = u, y = u/2; simulate 0 .. 3",
                 units[i]);
        motion *m = motion_text(text);
        assert_int_equal(motion_run(m), HM_ERR_INPUT);
        assert_true(motion_says(m, "'rod' is violated"));
        motion_close(m);
        snprintf(text, sizeof text,
                 "param %s; coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*u*y\n"
                 "constraint rod: k*(x^2 + y^2) = k*u^2; initial x ~ u, y ~ u/2; simulate 0 .. 3",
                 units[i]);
        m = motion_text(text);
        motion_must(m);
        x[i] = motion_value(m, "x") / (i == 1 ? 1e-9 : 1);
        motion_close(m);
    }
    check_number("x in nanometres", x[1], x[0], 1e-7);
    check_number("x by the small constraint", x[2], x[0], 1e-7);
}

/* Rows that depend on one another where they hold only: the nearest state is the one of the first. */
static void test_redundant_where_it_holds(void **state)
{
    static const char one[] = "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential z\n"
                              "constraint a: (1 + x^2)*(x^2 + y^2 + z^2 - 1) = 0\n"
                              "initial x ~ 0.6, y ~ 0.5, z ~ -0.6, x' ~ 0.3; simulate 0 .. 5\n";
    (void)state;
    char text[600];
    snprintf(text, sizeof text, "%sconstraint b: x^2 + y^2 + z^2 = 1; constraint c: %s", one,
             "x*x' + y*y' + z*z' = 0");
    motion *m = motion_text(text), *plain = motion_text(one);
    motion_must(m);
    motion_must(plain);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"x", "y", "z"};
        check_number(names[i], moved(m, names[i])->to, moved(plain, names[i])->to, 1e-13);
        check_number(names[i], motion_value(m, names[i]), motion_value(plain, names[i]), 1e-7);
    }
    motion_close(m);
    motion_close(plain);
}

/* A circle seen from its centre: the message says that guesses help, and which. */
static void test_guess_without_direction(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "constraint rod: x^2 + y^2 = 1; simulate 0 .. 1");
    assert_int_equal(motion_run(m), HM_ERR_INPUT);
    assert_true(motion_says(m, "'rod' is violated by -1"));
    const hm_diagnostic *d = hm_context_diagnostic(hm_sim_context(m->sim), 0);
    assert_non_null(strstr(d->hint, "`initial x ~ 1`"));
    motion_close(m);
}

/* Near the top of sin q its tangent leads 600 radians away: the solution beside is found. */
static void test_flat_guess(void **state)
{
    static const double guesses[] = {1.57, 1.5707, 1.572};
    (void)state;
    for (int k = 0; k < 3; k++) {
        char text[200];
        snprintf(text, sizeof text,
                 "coord q; kinetic q'^2/2; constraint c: sin(q) = 0.5; initial q ~ %g\n"
                 "simulate 0 .. 1",
                 guesses[k]);
        motion *m = motion_text(text);
        const double pi = acos(-1);
        motion_must(m);
        check_number("q", motion_value(m, "q"), guesses[k] < pi / 2 ? pi / 6 : 5 * pi / 6, 1e-13);
        motion_close(m);
    }
}

/* Functions that bend away from their tangents, end at a pole or where they have no values, and
 * solutions that are tiny or huge: from far away, by steps that stay where there are values. */
static void test_steep_and_flat(void **state)
{
    static const struct {
        const char *constraint, *guess;
        double x;
    } list[] = {
        {"log(x) = -50", "0.5", 1.9287498479639178e-22},
        {"log(x) = -100", "0.5", 3.720075976020836e-44},
        {"sqrt(x) = 1e-10", "0.5", 1e-20},
        {"x^0.1 = 1e-3", "0.5", 1e-30},
        {"1/x = 1e6", "0.5", 1e-6},
        {"1/x = 2", "1e-5", 0.5},
        {"x^3 = 1e-60", "10", 1e-20},
        {"x^3 = 8", "-3", 2},
        {"exp(x) = 1e20", "0.5", 46.051701859880914},
        {"exp(x) = 1", "-100", 0},
        {"exp(x) = 1", "100", 0},
        {"tan(x) = 1e8", "0.5", 1.5707963167948966},
        {"tanh(x) = 0.5", "17", 0.5493061443340548},
        {"atan(x) = 0.5", "1e12", 0.5463024898437905},
        {"cosh(x) = 1e10", "0.5", 23.718998110500402},
    };
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        char text[200];
        snprintf(text, sizeof text,
                 "coord x; kinetic x'^2/2; constraint c: %s; initial x ~ %s; simulate 0 .. 1",
                 list[k].constraint, list[k].guess);
        motion *m = motion_text(text);
        motion_must(m);
        check_number(list[k].constraint, motion_value(m, "x"), list[k].x,
                     1e-13 * (list[k].x == 0 ? 1 : fabs(list[k].x)));
        motion_close(m);
    }
}

/* A search that gets lost is refused: it is no state to run from. */
static void test_lost_is_refused(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; constraint c: 1/x = 2; initial x ~ -1\n"
                            "simulate 0 .. 1");
    assert_int_equal(motion_run(m), HM_ERR_INPUT);
    assert_true(motion_says(m, "'c' is violated by -2"));
    motion_close(m);
}

/* `initial keep` runs as it is: phi'' = 0 keeps phi growing on a line. */
static void test_keep(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "constraint floor: y = 0; initial keep y = 0.25, y' = 0.5, x' = 1\n"
                            "simulate 0 .. 2");
    motion_must(m);
    assert_string_equal(m->result.drift, "none");
    check_number("y", motion_value(m, "y"), 1.25, 1e-12);
    check_number("violation", motion_violation(m), 1.25, 1e-12);
    motion_close(m);
}

static void test_redundant_and_nonlinear(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential z\n"
                            "constraint a: x^2 + y^2 = 1; constraint b: 2*x^2 + 2*y^2 = 2\n"
                            "constraint speed: x'^2 + y'^2 + z'^2 = 4\n"
                            "initial x ~ 1, y ~ 0.3, y' ~ 1, z' ~ 1; simulate 0 .. 1");
    motion_must(m);
    assert_true(motion_violation(m) < 1e-14);
    motion_close(m);
}

/* Baumgarte: a small violation decays; without drift control it stays. */
static void test_drift_controls(void **state)
{
    (void)state;
    const char *text = "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                       "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0; simulate 0 .. 20";
    double left[3];
    const char *drifts[] = {"project", "baumgarte", "none"};
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text(text);
        m->options.rtol = m->options.atol = 1e-7;
        m->options.drift = drifts[k];
        motion_must(m);
        double x = motion_value(m, "x"), y = motion_value(m, "y");
        left[k] = fabs(x * x + y * y - 1);
        motion_close(m);
    }
    print_message("violation: project %.1e, baumgarte %.1e, none %.1e\n", left[0], left[1],
                  left[2]);
    assert_true(left[0] < 1e-14 && left[1] < 1e-6 && left[2] > 10 * left[1]);
}

/* ---- states that there are not ---- */

/* Where a constraint has no value, the reason is its expression; where it cannot be met, by how much
 * it is missed at the nearest state. */
static void test_no_such_state(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"constraint c: y = log(x); initial x = -1", "logarithm of a number that is not positive"},
        {"constraint c: y = log(x); initial x ~ -1, y ~ 0", "logarithm"},
        {"constraint c: y' = log(x); initial x = -1", "logarithm"},
        {"constraint c: (x'^2 + y'^2 - 1)*x' = 1/x; initial x ~ 0", "division by zero"},
        {"constraint c: sqrt(x) = -1; initial x ~ 4", "'c' is violated by 1 at position level"},
        {"constraint c: x^2 + y^2 = -1; initial x ~ 4", "'c' is violated by 1 at position level"},
        {"constraint c: y'^2 = log(x); initial x = 0.5", "'c' is violated by 0.693147 at velocity"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[300];
        snprintf(text, sizeof text, "coord x, y; kinetic (x'^2 + y'^2)/2; %s", cases[k].text);
        motion *m = motion_text(text);
        hm_status status = motion_run(m);
        if ((status != HM_ERR_INPUT && status != HM_ERR_NUMERIC) ||
            !motion_says(m, cases[k].message))
            fail_msg("'%s': %s", cases[k].text, hm_status_text(status));
        assert_null(m->result.q);
        motion_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_such_state),
        cmocka_unit_test(test_guess_is_moved),
        cmocka_unit_test(test_mass_metric),
        cmocka_unit_test(test_nearest_on_a_curve),
        cmocka_unit_test(test_without_a_run),
        cmocka_unit_test(test_impossible_is_refused),
        cmocka_unit_test(test_redundant_where_it_holds),
        cmocka_unit_test(test_small_units),
        cmocka_unit_test(test_guess_without_direction),
        cmocka_unit_test(test_flat_guess),
        cmocka_unit_test(test_steep_and_flat),
        cmocka_unit_test(test_lost_is_refused),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_redundant_and_nonlinear),
        cmocka_unit_test(test_drift_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
