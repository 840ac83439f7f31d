/* What a comparison says: reasons, spans, redundant rows, refusals, and models that look conflated. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct compared {
    probe *p;
    hm_comparison *c;
    hm_compared at;
} compared;

static compared compare(const char *text, const char *state, const char *with, const double *mu)
{
    compared x = {.p = probe_text(text)};
    probe_at(x.p, state);
    if (hm_comparison_create(x.p->context, x.p->system, with, &x.c) != HM_OK) {
        show_diagnostics(x.p->context);
        fail_msg("%s", with);
    }
    assert_int_equal(hm_comparison_evaluate(x.c, x.p->sim, mu, &x.at), HM_OK);
    return x;
}

static void done(compared *x)
{
    hm_comparison_destroy(x->c);
    probe_close(x->p);
}

static void expect_reason(const compared *x, const char *fragment)
{
    if (!strstr(x->at.reason, fragment))
        fail_msg("'%s' is not in: %s", fragment, x->at.reason);
}

/* Exact: G = 0. Inexact but integrable, Flannery's (42): G in the span. Nonholonomic: neither. */
static void test_spans(void **state)
{
    (void)state;
    const double mu = 0.6;
    compared x = compare("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 2*y\n"
                         "constraint c: x^2 + y^2 = 1\n",
                         "x = 0.6, y = 0.8, x' = 0.8, y' = -0.6", "vakonomic", &mu);
    assert_true(x.at.G_in_span && x.at.G_distance == 0);
    assert_true(x.at.largest_difference < 1e-13);
    check_number("lambda = -mu'", x.at.correct_lambda[0], -x.at.mudot[0], 1e-13);
    expect_reason(&x, "lambda = -mu'");
    done(&x);
    x = compare("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 2*y\n"
                "constraint c: (4*x + 3*y^2)*x' + 2*x*y*y' = 0\n",
                "x = 1, y = 0.5, x' = 0.5, y' = -2.375", "vakonomic", &mu);
    assert_true(x.at.G_in_span && fabs(x.at.G[0]) > 0.1);
    assert_true(x.at.largest_difference < 1e-12);
    expect_reason(&x, "combination of the rows");
    done(&x);
    static const char knife[] = "coord x, y, th\nkinetic (x'^2 + y'^2 + th'^2)/2\n"
                                "constraint blade: x'*sin(th) = y'*cos(th)\n";
    x = compare(knife, "th = 0.3, x' = cos(0.3), y' = sin(0.3), th' = 1", "vakonomic", &mu);
    assert_false(x.at.G_in_span);
    assert_true(x.at.largest_difference > 0.1);
    expect_reason(&x, "not that of the mechanical system");
    done(&x);
    x = compare(knife, "th = 0.3, x' = cos(0.3), y' = sin(0.3), th' = 1", "vakonomic", NULL);
    assert_true(x.at.largest_difference < 1e-13);
    expect_reason(&x, "agree at this instant");
    done(&x);
}

/* Nonlinear in the velocities: G = 0, and yet the rule is wrong, since mu adds to the masses. */
static void test_nonlinear(void **state)
{
    (void)state;
    static const char isokinetic[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\n"
                                     "constraint speed: x'^2 + y'^2 = 4\n";
    const double mu = 0.6;
    compared x = compare(isokinetic, "x' = 1.2, y' = 1.6", "vakonomic", &mu);
    assert_true(x.at.G[0] == 0 && x.at.G[1] == 0);
    assert_true(x.at.largest_difference > 0.1);
    expect_reason(&x, "not linear in the velocities");
    expect_reason(&x, "not that of the mechanical system");
    done(&x);
    x = compare(isokinetic, "x' = 1.2, y' = 1.6", "vakonomic", NULL);
    assert_true(x.at.largest_difference < 1e-13);
    expect_reason(&x, "agree at this instant");
    done(&x);
}

/* The same row twice has one mu. */
static void test_redundant(void **state)
{
    (void)state;
    compared x = compare("coord x, y, th\nkinetic (x'^2 + y'^2 + th'^2)/2\n"
                         "constraint a: x'*sin(th) = y'*cos(th)\n"
                         "constraint b: 2*y'*cos(th) = 2*x'*sin(th)\n"
                         "constraint c: th' = x'\n",
                         "th = 0.3, x' = cos(0.3), y' = sin(0.3), th' = cos(0.3)", "vakonomic",
                         (const double[2]){0.5, 0.1});
    assert_int_equal(x.at.k, 2);
    assert_int_equal(hm_comparison_mu_row(x.c, 0), 0);
    assert_int_equal(hm_comparison_mu_row(x.c, 1), 2);
    check_number("th''", x.at.other_qdd[2], x.at.other_qdd[0], 1e-12);
    done(&x);
}

/* Holonomic: harmless for the motion, not for lambda [UW example 4; errata 2.8]. */
static void test_harmless(void **state)
{
    (void)state;
    compared x = compare("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nforce y = 1, z = -2\n"
                         "constraint c: y = z^2/2\n",
                         "z = 0.5, y = 0.125, z' = 0.75, y' = 0.375", "conflated:y' = z*z'", NULL);
    assert_true(x.at.largest_difference < 1e-13);
    check_number("lambda", x.at.other_lambda[0], -1, 1e-13);
    check_number("lambda", x.at.other_lambda[0], x.at.correct_lambda[0] - x.at.correct_qdd[1],
                 1e-13);
    expect_reason(&x, "harmless for the motion");
    expect_reason(&x, "multipliers are wrong");
    expect_reason(&x, "lost rank: its mass matrix has rank 2 of 3");
    expect_reason(&x, "both readings");
    done(&x);
    x = compare("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nforce y = 1, z = -2\n"
                "constraint c: y = z^2/2\n",
                "z = 0.5, y = 0.125, z' = 0.75, y' = 0.375", "conflated:y' = 7*z'", NULL);
    expect_reason(&x, "does not hold at this state");
    done(&x);
}

/* A coefficient that is an auxiliary state has that state's rate: w' = 1 is t itself. */
static void test_states(void **state)
{
    (void)state;
    const double mu = 0.6;
    compared x = compare("coord x, y\nstate w' = 1\nkinetic (x'^2 + y'^2)/2\npotential x*y\n"
                         "constraint c: y' = w*x'\ninitial w = 0.5\n",
                         "x = 0.3, y = 0.2, x' = 1, y' = 0.5, w = 0.5", "vakonomic", &mu);
    compared y = compare("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential x*y\n"
                         "constraint c: y' = t*x'\n",
                         "t = 0.5, x = 0.3, y = 0.2, x' = 1, y' = 0.5", "vakonomic", &mu);
    check_close("other q''", 2, x.at.other_qdd, y.at.other_qdd, 1e-14);
    check_close("correct q''", 2, x.at.correct_qdd, y.at.correct_qdd, 1e-14);
    check_close("G", 2, x.at.G, y.at.G, 1e-14);
    check_number("d/dt of -w", x.at.G[0], -1, 1e-14);
    done(&x);
    done(&y);
}

/* Entries of `mass` that depend on the state stay beside L: a holonomic constraint shows no
 * difference, and M x'' is as it was given. */
static void test_given_mass(void **state)
{
    (void)state;
    compared x = compare("coord x, y\nkinetic (x'^2 + y'^2)/2\nmass x = 1 + x^2, y = 3\n"
                         "force x = 2\nconstraint c: y = 2*x\n",
                         "x = 0.5, y = 1, x' = 0.3, y' = 0.6", "vakonomic", NULL);
    check_number("(1 + x^2 + 4*3 + 1 + 4) x'' = 2", x.at.correct_qdd[0], 2 / 18.25, 1e-14);
    assert_true(x.at.largest_difference < 1e-13);
    done(&x);
}

static bool message_has(const hm_context *context, const char *fragment)
{
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++)
        if (strstr(hm_context_diagnostic(context, i)->message, fragment))
            return true;
    return false;
}

/* A run of both motions, until one of them ends. */
static void test_runs_that_end(void **state)
{
    (void)state;
    static const char knife[] = "coord x, y, th\nkinetic (x'^2 + y'^2 + th'^2)/2\n"
                                "constraint blade: x'*sin(th) = y'*cos(th)\n"
                                "initial x' = 1, th' = 1\nsimulate 0 .. 0.4 every 0.1\n";
    char text[500];
    hm_diverging d;
    snprintf(text, sizeof text, "%sevent late: t = 0.25 rising stop\n", knife);
    compared x = compare(text, "x' = 1, th' = 1", "vakonomic", NULL), other;
    assert_int_equal(hm_comparison_run(x.c, x.p->sim, NULL, NULL, &d), HM_OK);
    assert_int_equal(d.count, 3);
    assert_non_null(strstr(d.message, "the correct motion ended: event 'late' at t = 0.25"));
    other = compare(knife, "x' = 1, th' = 1", "vakonomic", NULL);
    assert_int_equal(hm_comparison_run(other.c, other.p->sim, NULL, NULL, &d), HM_OK);
    assert_int_equal(d.count, 5);
    check_number("last time", d.t[4], 0.4, 1e-15);
    assert_string_equal(d.message, "");
    hm_run_options often = hm_run_options_default(other.p->model);
    often.every = 1e-9;
    assert_int_equal(hm_comparison_run(other.c, other.p->sim, &often, NULL, &d), HM_ERR_USAGE);
    assert_true(message_has(hm_sim_context(other.p->sim), "output times"));
    assert_int_equal(hm_comparison_run(other.c, x.p->sim, NULL, NULL, &d), HM_ERR_USAGE);
    assert_int_equal(hm_comparison_evaluate(other.c, x.p->sim, NULL, &x.at), HM_ERR_USAGE);
    assert_int_equal(hm_comparison_mu_row(other.c, 7), 1); /* no such: the number of rows */
    done(&x);
    done(&other);
}

/* States where one of the two has no acceleration. */
static void test_undetermined(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y, w\nkinetic (x'^2 + y'^2)/2\nconstraint c: x' = y*y'\n");
    hm_comparison *c = NULL;
    hm_compared at;
    probe_at(p, "y = 1, x' = 1, y' = 1");
    assert_int_equal(hm_comparison_create(p->context, p->system, "vakonomic", &c), HM_OK);
    assert_int_equal(hm_comparison_evaluate(c, p->sim, NULL, &at), HM_ERR_UNDETERMINED);
    hm_comparison_destroy(c);
    probe_close(p);
}

static void refused(const char *text, const char *with, hm_status status)
{
    probe *p = probe_text(text);
    hm_comparison *c = NULL;
    assert_int_equal(hm_comparison_create(p->context, p->system, with, &c), status);
    assert_null(c);
    assert_true(hm_context_error_count(p->context) > 0);
    probe_close(p);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("coord x\nkinetic x'^2/2\n", "vakonomic", HM_ERR_USAGE);
    refused("coord x\nkinetic x'^2/2\n", "conflated:x' = 1", HM_ERR_USAGE);
    refused("coord x\nkinetic x'^2/2\nconstraint x' = 1\n", "newtonian", HM_ERR_USAGE);
    refused("coord x\nkinetic x'^2/2\nconstraint x'' = 1\n", "vakonomic", HM_ERR_USAGE);
    refused("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x' = y*y'\n"
            "servo s: y = 1 by y with gain 1\n",
            "vakonomic", HM_ERR_USAGE);
    refused("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x' = y*y'\n"
            "nonideal x = -abs(reaction(x))*sign(x')\n",
            "vakonomic", HM_ERR_USAGE);
}

static void test_looks_conflated(void **state)
{
    (void)state;
    probe *p = probe_text("param c = 1\ncoord x, y, z\nkinetic (x'^2 + (c*z*x')^2 + z'^2)/2\n"
                          "constraint slope: y' = c*z*x'\n");
    hm_context_clear(p->context);
    assert_int_equal(hm_system_warn_conflated(p->context, p->system), 1);
    assert_non_null(strstr(hm_context_diagnostic(p->context, 0)->message, "y' occurs"));
    probe_close(p);
    p = probe_text("coord x, y, z\nkinetic ((x' + y')^2 + z'^2)/2\nconstraint y' = z*x'\n"
                   "initial z = 0.5\n");
    hm_context_clear(p->context);
    assert_int_equal(hm_system_warn_conflated(p->context, p->system), 1);
    assert_non_null(strstr(hm_context_diagnostic(p->context, 0)->message, "2 of 3 directions"));
    probe_close(p);
    p = probe_text("coord x[1..7], z\nkinetic z'^2/2\n"
                   "for i = 1..7 { constraint c[i]: x[i]' = z*z' }\n");
    hm_context_clear(p->context);
    assert_int_equal(hm_system_warn_conflated(p->context, p->system), 5); /* and no more */
    probe_close(p);
    static const char *const sound[] = {
        /* a mass beside L */
        "coord x, y\nkinetic x'^2/2\nmass y = 2\nconstraint y' = x*x'\n",
        "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nconstraint y' = z*x'\n",
        /* a ball in Euler parameters: M is singular, and the norm makes up for it */
        "coord x, y, e0, e1, e2, e3\nlet R = quat(e0, e1, e2, e3)\n"
        "body b { mass 1 inertia diag(1, 1, 1) at [x, y, 0] frame R }\n"
        "constraint u: x' = omega(R)[2]\nconstraint w: y' = -omega(R)[1]\n",
        /* polar coordinates that start at the pole */
        "coord r, a\nkinetic (r'^2 + r^2*a'^2)/2\nconstraint r' = 1\n"};
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        hm_context *context = hm_context_create(NULL);
        hm_model *model = NULL;
        hm_system *system = NULL;
        assert_int_equal(hm_model_parse(context, sound[i], strlen(sound[i]), NULL, &model), HM_OK);
        assert_int_equal(hm_system_create(model, &system), HM_OK);
        assert_int_equal(hm_system_warn_conflated(context, system), 0);
        hm_system_destroy(system);
        hm_model_destroy(model);
        hm_context_destroy(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),         cmocka_unit_test(test_nonlinear),
        cmocka_unit_test(test_redundant),     cmocka_unit_test(test_harmless),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_looks_conflated),
        cmocka_unit_test(test_states),        cmocka_unit_test(test_given_mass),
        cmocka_unit_test(test_runs_that_end), cmocka_unit_test(test_undetermined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
