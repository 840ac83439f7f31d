/* B, C, D of linearised systems: transfer functions in closed form, the same system in other coordinates,
 * prescribed motions (whose derivatives enter), servos, runs of the nonlinear model, and what has no
 * derivative or no name. */
#include "support/check.h"
#include "support/motion.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

typedef struct ports {
    const char *inputs[MOST], *outputs[MOST];
} ports;

static size_t count_names(const char *const *names)
{
    size_t count = 0;
    while (count < MOST && names[count])
        count++;
    return count;
}

static hm_status try_linearize(motion *m, ports p, hm_linearization **l)
{
    hm_linearize_options options = hm_linearize_options_default();
    const hm_moved *moved;
    size_t count;
    assert_int_equal(hm_sim_make_consistent(m->sim, false, &moved, &count), HM_OK);
    options.inputs = p.inputs;
    options.input_count = count_names(p.inputs);
    options.outputs = p.outputs;
    options.output_count = count_names(p.outputs);
    *l = NULL;
    return hm_sim_linearize(m->sim, &options, l);
}

static hm_linearization *linearize(motion *m, ports p)
{
    hm_linearization *l = NULL;
    hm_status status = try_linearize(m, p, &l);
    if (status != HM_OK) {
        size_t count = hm_context_diagnostic_count(hm_sim_context(m->sim));
        fail_msg("%s: %s", hm_status_text(status),
                 count ? hm_context_diagnostic(hm_sim_context(m->sim), count - 1)->message : "");
    }
    return l;
}

static double or_zero(const double *matrix, size_t k)
{
    return matrix ? matrix[k] : 0;
}

/* G(s) = C (s - A)^-1 (B + s B1 + s^2 B2) + D + s D1 + s^2 D2, by elimination with pivots. */
static double complex transfer(const hm_linearization *l, size_t output, size_t input,
                               double complex s)
{
    size_t d = l->dimension, in = l->input_count;
    double complex X[12][13], sum = 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++)
            X[i][j] = (i == j ? s : 0) - l->A[i * d + j];
        size_t k = i * in + input;
        X[i][d] = l->B[k] + s * or_zero(l->B_rate, k) + s * s * or_zero(l->B_rate2, k);
    }
    for (size_t c = 0; c < d; c++) {
        size_t best = c;
        for (size_t i = c; i < d; i++)
            best = cabs(X[i][c]) > cabs(X[best][c]) ? i : best;
        for (size_t j = 0; j <= d; j++) {
            double complex t = X[c][j];
            X[c][j] = X[best][j];
            X[best][j] = t;
        }
        for (size_t i = 0; i < d; i++)
            for (size_t j = d + 1; i != c && j-- > c;)
                X[i][j] -= X[i][c] / X[c][c] * X[c][j];
    }
    for (size_t i = 0; i < d; i++)
        sum += l->C[output * d + i] * X[i][d] / X[i][i];
    size_t k = output * in + input;
    return sum + l->D[k] + s * or_zero(l->D_rate, k) + s * s * or_zero(l->D_rate2, k);
}

static void expect(const char *what, double complex found, double complex wanted, double tolerance)
{
    if (!(cabs(found - wanted) <= tolerance * fmax(1, cabs(wanted))))
        fail_msg("%s: %.15g%+.15gi, not %.15g%+.15gi", what, creal(found), cimag(found),
                 creal(wanted), cimag(wanted));
}

static const double complex places[] = {0.7, 2.3 + 1.1 * I, -0.4 + 5 * I, 31 * I};

/* ---- cart and pendulum ---- */

#define CART "param m = 0.3, M = 1.7, l = 0.45, g = 9.81\ninput F = 0\n"

/* Upright: (M+m) x'' + m l th'' = F,  l th'' + x'' = g th. */
static void expect_cart(motion *m, ports p)
{
    hm_linearization *l = linearize(m, p);
    const double b = 0.3, M = 1.7, len = 0.45, g = 9.81;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double complex s = places[k], s2 = s * s;
        double complex th = -1 / (M * len * s2 - (M + b) * g);
        double complex x = (len * s2 - g) / (s2 * (M * len * s2 - (M + b) * g));
        expect("x/F", transfer(l, 0, 0, s), x, 1e-9);
        expect("th/F", transfer(l, 1, 0, s), th, 1e-9);
        expect("x'/F", transfer(l, 2, 0, s), s * x, 1e-9);
        expect("acceleration/F", transfer(l, 3, 0, s), s2 * x, 1e-9);
    }
    assert_null(l->B_rate);
    assert_null(l->B_rate2);
    hm_linearization_destroy(l);
    motion_close(m);
}

static void test_cart(void **state)
{
    (void)state;
    expect_cart(motion_text(CART "coord x, th\nbody c {mass M at [x, 0]}\n"
                                 "body b {mass m at [x + l*sin(th), l*cos(th)]}\n"
                                 "gravity [0, -g]\nforce x = F\noutput a = x''\n"),
                (ports){{"F"}, {"x", "th", "x'", "a"}});
}

/* The bob in Cartesian coordinates on a rod that is written twice. */
static void test_cart_with_rows(void **state)
{
    (void)state;
    expect_cart(motion_text(CART "coord x, X, Y\nkinetic M/2*x'^2 + m/2*(X'^2 + Y'^2)\n"
                                 "potential m*g*Y\nconstraint (X - x)^2 + Y^2 = l^2\n"
                                 "constraint 2*(X - x)^2 + 2*Y^2 = 2*l^2\nforce x = F\n"
                                 "initial x = 0, X = 0, Y = l\noutput th = atan2(X - x, Y)\n"
                                 "output a = x''\n"),
                (ports){{"F"}, {"x", "th", "x'", "a"}});
}

/* Units that differ by 1e6 in length and 1e-6 in time. */
static void test_cart_in_other_units(void **state)
{
    (void)state;
    motion *m = motion_text("param L = 1e6, T = 1e-6\ninput F = 0\ncoord x, th\n"
                            "body c {mass 2 at [x, 0]}\n"
                            "body b {mass 3 at [x + L*sin(th), L*cos(th)]}\n"
                            "gravity [0, -10*L/T^2]\nforce x = F\n");
    hm_linearization *l = linearize(m, (ports){{"F"}, {"th"}});
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double complex s = places[k] / 1e-6;
        double complex th = -1 / (2 * 1e6 * s * s - 5 * 10e18);
        expect("th/F", transfer(l, 0, 0, s) / th, 1, 1e-9);
    }
    hm_linearization_destroy(l);
    motion_close(m);
}

/* ---- inputs in constraints ---- */

/* A pendulum hanging from a cart whose place is given: l th'' = -g th - u''. The multiplier is that of
 * x - u = 0: (M + m) u'' + m l th'' to first order. */
static void test_prescribed(void **state)
{
    (void)state;
    motion *m = motion_text("param m = 0.3, M = 1.7, l = 0.45, g = 9.81\ninput u = 0\ncoord x, th\n"
                            "body c {mass M at [x, 0]}\n"
                            "body b {mass m at [x + l*sin(th), -l*cos(th)]}\n"
                            "gravity [0, -g]\nconstraint hold: x = u\noutput N = multiplier(hold)\n"
                            "output both = x' + 3*u''\n");
    hm_linearization *l = linearize(m, (ports){{"u"}, {"th", "x", "x'", "N", "both"}});
    assert_int_equal(l->dimension, 2);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double complex s = places[k], s2 = s * s, th = -s2 / (0.45 * s2 + 9.81);
        expect("th/u", transfer(l, 0, 0, s), th, 1e-10);
        expect("x/u", transfer(l, 1, 0, s), 1, 1e-12);
        expect("x'/u", transfer(l, 2, 0, s), s, 1e-12);
        expect("N/u", transfer(l, 3, 0, s), 2.0 * s2 + 0.3 * 0.45 * s2 * th, 1e-8);
        expect("both/u", transfer(l, 4, 0, s), s + 3 * s2, 1e-12);
    }
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A velocity constraint: x' = u y' at y' = 2, u = 1.5 (a steady motion). */
static void test_velocity_row(void **state)
{
    (void)state;
    motion *m = motion_text("input u = 1.5, F = 0\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                            "constraint x' = u*y'\nforce y = F\ninitial y' = 2, x' ~ 3\n");
    hm_linearization *l = linearize(m, (ports){{"u", "F"}, {"x'", "y'"}});
    /* (1 + u^2) y'' + u u' y' = F, so that s (1 + u^2) dy' = -u y' s du + dF; dx' = u dy' + y' du */
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double complex s = places[k], by_u = -3.0 / 3.25, by_F = 1 / (3.25 * s);
        bool first = strcmp(l->names[0], "y'") == 0 ||
                     strcmp(l->names[l->dimension - 1], "y'") == 0;
        assert_true(first || strcmp(l->names[l->dimension - 1], "x'") == 0);
        expect("y'/u", transfer(l, 1, 0, s), by_u, 1e-10);
        expect("x'/u", transfer(l, 0, 0, s), 1.5 * by_u + 2, 1e-10);
        expect("y'/F", transfer(l, 1, 1, s), by_F, 1e-10);
        expect("x'/F", transfer(l, 0, 1, s), 1.5 * by_F, 1e-10);
    }
    hm_linearization_destroy(l);
    motion_close(m);
}

/* ---- controllers ---- */

/* A servo on velocity: x'' = w' - k (x' - w); on position: b'' + 2 k b' + k^2 b = 0. */
static void test_servos(void **state)
{
    (void)state;
    motion *m = motion_text("input w = 0, p = 0\ncoord x, y\nkinetic x'^2 + y'^2/2\n"
                            "servo a: x' = w by x with gain 3\n"
                            "servo b: y = p by y with gain 2\n");
    hm_linearization *l = linearize(m, (ports){{"w", "p"}, {"x'", "y"}});
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double complex s = places[k];
        expect("x'/w", transfer(l, 0, 0, s), 1, 1e-8);
        expect("y/p", transfer(l, 1, 1, s), 1, 1e-8);
        expect("x'/p", transfer(l, 0, 1, s), 0, 1e-8);
    }
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A default that feeds back stays: u = -4 x + deviation. An actuator between: T z' = u - z. */
static void test_feedback_and_actuator(void **state)
{
    (void)state;
    motion *m = motion_text("param T = 0.2\ninput u = -4*x\nstate z' = (u - z)/T\ncoord x\n"
                            "kinetic x'^2/2\nforce x = z - x'\noutput sum = 2*u + x\n");
    hm_linearization *l = linearize(m, (ports){{"u"}, {"x", "z", "sum"}});
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double complex s = places[k], x = 1 / ((s * s + s) * (0.2 * s + 1) + 4);
        expect("x/u", transfer(l, 0, 0, s), x, 1e-10);
        expect("z/u", transfer(l, 1, 0, s), (s * s + s) * x, 1e-10);
        expect("sum/u", transfer(l, 2, 0, s), 2 * (1 - 4 * x) + x, 1e-8);
    }
    hm_linearization_destroy(l);
    motion_close(m);
}

/* ---- against runs of the nonlinear model ---- */

/* y(t) for a constant input u from y(0) = 0: sum of A^k B t^(k+1)/(k+1)! u */
static void step_response(const hm_linearization *l, size_t input, double t, double *y)
{
    size_t d = l->dimension;
    double term[12], next[12];
    for (size_t i = 0; i < d; i++)
        y[i] = term[i] = l->B[i * l->input_count + input] * t;
    for (int k = 2; k < 40; k++) {
        for (size_t i = 0; i < d; i++) {
            next[i] = 0;
            for (size_t j = 0; j < d; j++)
                next[i] += l->A[i * d + j] * term[j] * t / k;
        }
        for (size_t i = 0; i < d; i++)
            y[i] += term[i] = next[i];
    }
}

static double run_with(const char *text, size_t input, double u, double t, const char *name)
{
    motion *m = motion_text(text);
    m->options.rtol = 1e-12;
    m->options.atol = 1e-14;
    m->options.end = t;
    assert_int_equal(hm_sim_set_input(m->sim, input, u, 0, 0), HM_OK);
    motion_must(m);
    double value = motion_value(m, name);
    motion_close(m);
    return value;
}

/* A skate with a push and a torque about a glide, and a loop of rods: the answer to a step of the input. */
static void test_runs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *inputs[2], *names[3];
    } cases[] = {
        {"param s = 0.3\ninput F = 0, N = 0\ncoord x, y, th\n"
         "kinetic (x'^2 + y'^2)/2 + s*th'*(y'*cos(th) - x'*sin(th)) + th'^2/4\n"
         "constraint y'*cos(th) = x'*sin(th)\nforce x = F*cos(th), y = F*sin(th), th = N\n"
         "initial th = 0, th' = 0, x' = 0, y' ~ 0\nsimulate 0 .. 1\n",
         {"F", "N"},
         {"x", "th", "y"}},
        {"param g = 9.81\ninput F = 0, N = 0\ncoord x1, y1, x2, y2\n"
         "kinetic (x1'^2 + y1'^2)/2 + x2'^2 + y2'^2\npotential g*(y1 + 2*y2)\n"
         "constraint x1^2 + y1^2 = 1\nconstraint (x2 - x1)^2 + (y2 - y1)^2 = 1\n"
         "constraint (x2 - 2)^2 + y2^2 = 1.44\nforce x1 = F, y2 = N, x2 = F*y1\n"
         "initial x1 ~ 0.6, y1 ~ -0.8, x2 ~ 1.5, y2 ~ -1\nsimulate 0 .. 1\n",
         {"F", "N"},
         {"x1", "x2", "y2"}},
    };
    for (size_t c = 0; c < 2; c++) {
        motion *m = motion_text(cases[c].text);
        hm_linearize_options options = hm_linearize_options_default();
        hm_linearization *l = NULL;
        options.find = true;
        options.inputs = cases[c].inputs;
        options.outputs = cases[c].names;
        options.input_count = 2;
        options.output_count = 3;
        const hm_moved *moved;
        size_t count;
        assert_int_equal(hm_sim_make_consistent(m->sim, false, &moved, &count), HM_OK);
        assert_int_equal(hm_sim_linearize(m->sim, &options, &l), HM_OK);
        assert_int_equal(l->rest, HM_REST_EQUILIBRIUM);
        char at[1024], text[2048];
        size_t used = (size_t)snprintf(at, sizeof at, "initial ");
        for (size_t k = 0; k < l->n; k++)
            used += (size_t)snprintf(at + used, sizeof at - used, "%s%s ~ %.17g", k ? ", " : "",
                                     hm_model_coordinate_name(m->model, k), l->q[k]);
        const char *begin = strstr(cases[c].text, "initial"), *end = strstr(begin, "\n");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(begin - cases[c].text), cases[c].text, at,
                 end);
        for (size_t input = 0; input < 2; input++)
            for (size_t o = 0; o < 3; o++) {
                double y[12], linear = 0, h = 1e-4, t = 0.4;
                step_response(l, input, t, y);
                for (size_t j = 0; j < l->dimension; j++)
                    linear += l->C[o * l->dimension + j] * y[j];
                double run = (run_with(text, input, h, t, cases[c].names[o]) -
                              run_with(text, input, -h, t, cases[c].names[o])) /
                             (2 * h);
                expect(cases[c].names[o], linear, run, 1e-6);
            }
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* ---- what cannot be given ---- */

static void expect_refused(const char *text, ports p, hm_status wanted, const char *fragment)
{
    motion *m = motion_text(text);
    hm_linearization *l = NULL;
    hm_status status = try_linearize(m, p, &l);
    if (status != wanted || !motion_says(m, fragment))
        fail_msg("%s: status %s, or it does not say '%s'", text, hm_status_text(status), fragment);
    hm_linearization_destroy(l);
    motion_close(m);
}

#define MASS "coord x\nkinetic x'^2/2\n"

static void test_refused(void **state)
{
    (void)state;
    const ports u = {{"u"}, {"o"}};
    expect_refused(MASS "input u = 0\noutput o = x\nforce x = abs(u) - x\n", u, HM_ERR_NUMERIC,
                   "has no derivative by input 'u'");
    expect_refused(MASS "input u = 0\noutput o = x\nforce x = sign(u) - x\n", u, HM_ERR_NUMERIC,
                   "has no derivative by input 'u'");
    expect_refused(MASS "input u = 0\noutput o = abs(x)\nforce x = u - x\n", u, HM_ERR_NUMERIC,
                   "output 'o' has no derivative by 'x'");
    expect_refused(MASS "input u = 0\noutput o = 1e-7*max(x, 0)\nforce x = u - x\n", u,
                   HM_ERR_NUMERIC, "output 'o' has no derivative by 'x'");
    expect_refused(MASS "input u = 0\noutput o = x + if(u > 0, 1, 0)\nforce x = u - x\n", u,
                   HM_ERR_NUMERIC, "output 'o' has no derivative by input 'u'");
    expect_refused(MASS "input u = 0\nforce x = u\n", (ports){{"v"}, {"x"}}, HM_ERR_USAGE,
                   "there is no input 'v'");
    expect_refused(MASS "input u = 0\nforce x = u\n", (ports){{"u"}, {"y"}}, HM_ERR_USAGE,
                   "there is no output 'y'");
    expect_refused("coord x, y\nkinetic (x'^2 + y'^2)/2\ninput u = x^2\nconstraint y = u\n",
                   (ports){{"u"}, {"x"}}, HM_ERR_USAGE, "is part of constraint 'c1'");
    expect_refused("coord x, y\nkinetic (x'^2 + y'^2)/2\ninput u = 0\nforce y = u - y\n"
                   "initial x' = 1\n",
                   (ports){{"u"}, {"x"}}, HM_ERR_NUMERIC, "which is left out");
    expect_refused("coord x, y\nkinetic (x'^2 + y'^2)/2\ninput u = 0\nconstraint x = u\n"
                   "constraint x = 0\n",
                   (ports){{"u"}, {"y"}}, HM_ERR_NUMERIC, "cannot vary");
}

/* Steep, but smooth: no false alarm. */
static void test_steep(void **state)
{
    (void)state;
    motion *m = motion_text(MASS "input u = 0\noutput o = tanh(1e5*x) + exp(300*u)\n"
                                 "force x = sin(1e4*u) - 1e6*x\n");
    hm_linearization *l = linearize(m, (ports){{"u"}, {"o", "x"}});
    expect("o/u", transfer(l, 0, 0, 0), 1e5 * 1e4 / 1e6 + 300, 1e-9);
    hm_linearization_destroy(l);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cart),
        cmocka_unit_test(test_cart_with_rows),
        cmocka_unit_test(test_cart_in_other_units),
        cmocka_unit_test(test_prescribed),
        cmocka_unit_test(test_velocity_row),
        cmocka_unit_test(test_servos),
        cmocka_unit_test(test_feedback_and_actuator),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_steep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
