/* The energy audit: the rate of the total energy, differentiated, against the powers, on rheonomic,
 * affine, non-ideal, servo, gyroscopic and time-dependent systems with known rates. */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/audit.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static hm_audit audit_at(const char *text, const char *state, double *row_power)
{
    hm_audit a;
    probe *p = probe_text(text);
    probe_at(p, state);
    assert_int_equal(hm_sim_audit(p->sim, &a, row_power), HM_OK);
    assert_true(a.defined);
    assert_true(a.balanced);
    check_number("sum", a.sum, a.rate, 1e-12);
    probe_close(p);
    return a;
}

/* A bead on a rod that turns at the rate w: r'' = r w^2, the drive's power is 2 m r r' w^2. */
static void test_rheonomic(void **state)
{
    (void)state;
    double rows[1];
    hm_audit a = audit_at("param m = 2, w = 3\ncoord r, th\n"
                          "kinetic m/2*(r'^2 + r^2*th'^2)\nconstraint drive: th = w*t\n",
                          "r = 0.5, r' = 0.7, th = 1.5, th' = 3, t = 0.5", rows);
    double expected = 2 * 2 * 0.5 * 0.7 * 9 * 3 / 3;
    check_number("rate", a.rate, expected, 1e-13);
    check_number("ideal", a.power.ideal, expected, 1e-13);
    check_number("row", rows[0], expected, 1e-13);
}

/* An affine constraint x' = z y' + c: dE/dt = lambda c, the homogeneous one works nothing
 * (errata 4.3). */
static void test_affine(void **state)
{
    (void)state;
    double rows[2];
    hm_audit a = audit_at("param c = 0.4\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                          "constraint belt: x' = z*y' + c\nconstraint free: z' = x*y'\n",
                          "x = 0.3, y' = 1, z = 0.5, x' = 0.9, z' = 0.3", rows);
    assert_true(fabs(rows[0]) > 0.05);
    check_number("the homogeneous row", rows[1], 0, 1e-14);
    check_number("the affine row", rows[0], a.rate, 1e-13);
}

static void test_nonideal_and_dissipation(void **state)
{
    (void)state;
    hm_audit a = audit_at("param k = 0.8, d = 0.3\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                          "potential 9.81*y\ndissipation d/2*(x'^2 + y'^2)\n"
                          "force x = 0.2\nconstraint line: y = 2*x\n"
                          "nonideal x = -k*x', y = -k*y'\n",
                          "x = 1, y = 2, x' = 0.5, y' = 1", NULL);
    check_number("impressed", a.power.impressed, 0.1, 1e-14);
    check_number("dissipation", a.power.dissipation, -0.3 * 1.25, 1e-14);
    check_number("nonideal", a.power.nonideal, -0.8 * 1.25, 1e-14);
    check_number("ideal", a.power.ideal, 0, 1e-14);
    check_number("rate", a.rate, 0.1 - 1.1 * 1.25, 1e-13);
}

static void test_gyroscopic(void **state)
{
    (void)state;
    hm_audit a = audit_at("param B = 7\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                          "gyroscopic x, y = B*z\ngyroscopic y, z = sin(x)\n",
                          "x = 0.3, z = 0.4, x' = 1.1, y' = -0.7, z' = 2", NULL);
    assert_true(a.gyroscopic_error < 1e-15);
    check_number("gyroscopic", a.power.gyroscopic, 0, 1e-14);
    check_number("rate", a.rate, 0, 1e-13);
}

static void test_servo_and_time(void **state)
{
    (void)state;
    hm_audit a = audit_at("coord x, y\nkinetic (2 + cos(t))/2*x'^2 + y'^2/2\npotential t*x\n"
                          "servo hold: x' = y' + 1 by x with gain 3\n",
                          "x = 0.2, x' = 0.4, y' = 0.5, t = 0.7", NULL);
    assert_true(fabs(a.power.servo) > 0.1);
    /* -dL/dt at fixed q, q' */
    check_number("explicit_time", a.power.explicit_time, sin(0.7) / 2 * 0.16 + 0.2, 1e-13);
}

/* A magnetic term, linear in the velocities, belongs to L and does no work; an input does. */
static void test_input_and_linear_terms(void **state)
{
    (void)state;
    hm_audit a = audit_at("coord x, y\ninput u = sin(3*t)\nstate s' = x - s\n"
                          "lagrangian (x'^2 + y'^2)/2 + x*y' - u*x^2/2 - s*y\n",
                          "x = 0.5, y = 0.2, x' = 1, y' = -2, s = 0.3, t = 0.1", NULL);
    assert_true(a.error < 1e-14);
}

static void test_undefined(void **state)
{
    (void)state;
    hm_audit a;
    probe *p = probe_text("coord x\nmass x, x = 1 + x^2\nforce x = 1\n");
    assert_int_equal(hm_sim_audit(p->sim, &a, NULL), HM_OK);
    assert_false(a.defined);
    probe_close(p);
}

/* What the verdict says of one model: a string of letters, one a power that works: impressed,
 * dissipation, `c` ideal constraint, nonideal, servo, time; upper case J first: Jacobi's integral. */
static void expect_energy(const char *text, const char *expected)
{
    hm_energy e;
    bool works[4];
    char found[16] = "";
    probe *p = probe_text(text);
    assert_int_equal(hm_system_energy(p->system, &e, works), HM_OK);
    assert_true(e.defined);
    strcat(found, e.jacobi ? "J" : "");
    strcat(found, e.share.impressed > 0 ? "i" : "");
    strcat(found, e.share.dissipation > 0 ? "d" : "");
    strcat(found, e.share.ideal > 0 ? "c" : "");
    strcat(found, e.share.nonideal > 0 ? "n" : "");
    strcat(found, e.share.servo > 0 ? "s" : "");
    strcat(found, e.share.explicit_time > 0 ? "t" : "");
    assert_string_equal(found, expected);
    assert_int_equal(e.conserved, strspn(expected, "J") == strlen(expected));
    if (e.share.ideal > 0)
        assert_true(works[0]);
    probe_close(p);
}

/* Conserved or not and why; initial states at rest do not hide what works. */
static void test_verdicts(void **state)
{
    (void)state;
    const char *plane = "coord x, y\nkinetic (x'^2 + y'^2)/2\n";
    static const char *const models[][2] = {
        {"potential y + x^2", ""},
        {"force x = -3*x", "i"},
        {"dissipation x'^2", "d"},
        {"force x = 2*t; dissipation x'^4", "id"},
        {"gyroscopic x, y = 4", ""},
        {"lagrangian y'*x", ""},
        {"kinetic x", "J"},
        {"potential x^2*sin(t)", "t"},
        {"constraint c: y = t^2", "c"},
        {"constraint c: y = x^2", ""},
        {"constraint c: x' = y*y' + 1", "c"},
        {"constraint c: x'^2 = 4*y'^2", ""},
        {"constraint c: x'^2 + y'^2 = 1; initial x' ~ 1", ""},
        {"potential y\nconstraint c: x'^2 + y'^2 = 1; initial x' ~ 1", "c"},
        {"constraint c: y = x; nonideal x = -x'", "n"},
        {"servo c: x' = 1 by x with gain 2", "s"},
        {"constraint c: y = x; nonideal x = -0.2*abs(reaction(y))*x'; potential y", "n"},
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s\n", plane, models[i][0]);
        expect_energy(text, models[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rheonomic),
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_nonideal_and_dissipation),
        cmocka_unit_test(test_gyroscopic),
        cmocka_unit_test(test_servo_and_time),
        cmocka_unit_test(test_input_and_linear_terms),
        cmocka_unit_test(test_undefined),
        cmocka_unit_test(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
