/* Method taylor: exact motions, every kind of system it takes against DOP853, order, dense output,
 * events, works of the ledger, places without a series, refusals, bits, memory. */
#include "support/check.h"
#include "support/disc.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static motion *run_by(const char *text, const char *method, double rtol)
{
    motion *m = motion_text(text);
    m->options.method = method;
    m->options.rtol = rtol;
    m->options.atol = 1e-2 * rtol;
    motion_must(m);
    return m;
}

/* ---- exact solutions ---- */

/* x = sin t, u = 1/(1 + t^2) to the last digits, in few steps. */
static void test_exact(void **state)
{
    (void)state;
    motion *m = run_by("coord x; state u' = -2*t*u^2; kinetic x'^2/2; potential x^2/2\n"
                       "initial x' = 1, u = 1; simulate 0 .. 10",
                       "taylor", 1e-14);
    double u;
    hm_sim_state(m->sim, NULL, NULL, &u);
    check_number("x", motion_value(m, "x"), sin(10), 2e-14);
    check_number("x'", motion_value(m, "x'"), cos(10), 2e-14);
    check_number("u", u, 1.0 / 101, 2e-14);
    assert_true(m->result.steps < 60 && m->result.evaluations <= m->result.steps + 5);
    assert_string_equal(m->result.method, "taylor");
    motion_close(m);
}

/* Rounding errors of the coefficients must not have a preferred sign. When coefficients were multiplied by
 * the rounded number 1/3 in place of a division by 3, the energy of this orbit drifted in proportion to
 * time, by 1.3e-13 after these 5 000 revolutions. What is left grows like the square root of their number. */
static void test_no_bias(void **state)
{
    (void)state;
    motion *m = run_by("coord x, y; kinetic (x'^2 + y'^2)/2; potential -1/sqrt(x^2 + y^2)\n"
                       "initial x = 1, y' = 1.1; simulate 0 .. 30000",
                       "taylor", 1e-15);
    double x = motion_value(m, "x"), y = motion_value(m, "y");
    double u = motion_value(m, "x'"), v = motion_value(m, "y'");
    double energy = (u * u + v * v) / 2 - 1 / sqrt(x * x + y * y), exact = 1.1 * 1.1 / 2 - 1;
    print_message("energy %.1e\n", energy / exact - 1);
    assert_true(fabs(energy / exact - 1) < 4e-14);
    motion_close(m);
}

/* Looser tolerances take lower orders, and the error follows the tolerance. */
static void test_tolerances(void **state)
{
    (void)state;
    for (double rtol = 1e-4; rtol > 1e-14; rtol *= 0.1) {
        motion *m = run_by("coord x; mass x, x = 1; force x = -sin(x); initial x = 3, x' = 0\n"
                           "simulate 0 .. 20",
                           "taylor", rtol);
        motion *exact = run_by("coord x; mass x, x = 1; force x = -sin(x); initial x = 3, x' = 0\n"
                               "simulate 0 .. 20",
                               "dop853", 1e-15);
        double error = fabs(motion_value(m, "x") - motion_value(exact, "x"));
        print_message("rtol %.0e: error %.1e, %ld steps\n", rtol, error, m->result.steps);
        assert_true(error <= 3e3 * rtol + 1e-11); /* the separatrix is near: errors grow */
        motion_close(m);
        motion_close(exact);
    }
}

/* With steps of given length h and order p the error falls like h^p. */
static double error_with_step(double h)
{
    motion *m = motion_text("coord x; mass x, x = 1; force x = -x^3 + cos(t)*x'\n"
                            "initial x = 1; simulate 0 .. 3");
    m->options.method = "taylor";
    m->options.rtol = m->options.atol = 1e-2; /* order 7 of short tapes */
    m->options.largest_step = h;
    motion_must(m);
    double x = motion_value(m, "x");
    motion_close(m);
    m = run_by("coord x; mass x, x = 1; force x = -x^3 + cos(t)*x'\n"
               "initial x = 1; simulate 0 .. 3",
               "dop853", 1e-14);
    x -= motion_value(m, "x");
    motion_close(m);
    return fabs(x);
}

static void test_order(void **state)
{
    (void)state;
    double coarse = error_with_step(0.12), fine = error_with_step(0.06);
    double order = log2(coarse / fine);
    print_message("errors %.2e, %.2e: order %.2f\n", coarse, fine, order);
    assert_true(order > 6.3 && order < 8.2);
}

/* ---- systems of every kind, against DOP853 ---- */

static const struct {
    const char *what, *text;
} kinds[] = {
    {"one coordinate, M changes",
     "coord a, r; kinetic (r'^2 + (1 + r^2)*a'^2)/2; potential r^2 + cos(a)\n"
     "initial a = 0.3, r = 0.4, a' = 1; simulate 0 .. 6"},
    {"constraint", "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                   "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0; simulate 0 .. 5"},
    {"redundant rows", "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                       "constraint rod: x^2 + y^2 = 1; constraint again: 3*x^2 + 3*y^2 = 3\n"
                       "initial x = 1, y = 0; simulate 0 .. 5"},
    {"rheonomic", "coord x, y; kinetic (x'^2 + y'^2)/2; potential 3*x\n"
                  "constraint rod: x^2 + y^2 = (1 + 0.2*sin(3*t))^2\n"
                  "initial x ~ 0.6, y = 0.8; simulate 0 .. 4"},
    {"knife edge", "coord x, y, th; kinetic (x'^2 + y'^2)/2 + 0.05*th'^2; potential -4.9*x\n"
                   "constraint blade: sin(th)*x' = cos(th)*y'\n"
                   "initial th' = 1, th = 0.2, x' ~ 0.5; simulate 0 .. 6"},
    {"nonlinear in velocities", "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential 2*z\n"
                                "constraint speed: x'^2 + y'^2 = 0.5*z'^2 + 1\n"
                                "initial x' = 1, y' ~ 0.3, z' ~ 0.5; simulate 0 .. 3"},
    {"singular M", "coord x, y, s; kinetic (x'^2 + y'^2)/2; potential 9.81*y + x^2\n"
                   "constraint link: s = x + 2*y; constraint rod: x^2 + y^2 = 1\n"
                   "initial x = 0.8, y ~ 0.6, s ~ 2; simulate 0 .. 3"},
    {"non-ideal", "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                  "constraint rod: x^2 + y^2 = 1; nonideal x = -0.1*x', y = -0.1*y'\n"
                  "initial x = 1, y = 0; simulate 0 .. 5"},
    {"inputs and states", "input u = sin(2*t); coord x, y; state w' = x - w\n"
                          "kinetic (x'^2 + y'^2)/2; force x = u - w; constraint line: y = x^2 + u\n"
                          "initial x = 0.1, x' = 1, y ~ 0, w = 0.5; simulate 0 .. 3"},
    {"states that turn each other, driven angle",
     "coord a, b; state c' = s, s' = -c; param w = 2; kinetic a'^2/2 + (2 + cos(a - b))*b'^2/2\n"
     "force a = c; force b = sin(w*t + 0.3 + a)*cos(3*t - 2*b); initial a = 0.2, b' = 1, s = 0.5\n"
     "simulate 0 .. 4"},
    {"forces that are coordinates and velocities",
     "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; force x = y; force y = -x'; force z = 3\n"
     "constraint turn: sin(x)*y' = z'; initial x = 1, y = 0.3, x' = 0.2; simulate 0 .. 3"},
    {"velocities that constraints give",
     DISC "initial lean = 0.2, yaw' = 0.5, spin' = 3, x' ~ 3, y' ~ 0; simulate 0 .. 4"},
    {"such velocities in each other, with states and losses",
     "coord x, y, z, a; state w' = y' - w*x\n"
     "kinetic (x'^2 + (1 + a^2)*y'^2 + z'^2 + a'^2)/2 + x'*a'/4; potential x^2 + a*z\n"
     "force a = -w + cos(t); force y = 0.1*z'; dissipation 0.05*y'^2 + 0.02*a'^2\n"
     "constraint one: 2*x' = 3*y'*cos(a) + a'/(2 + sin(a)); constraint two: z' = x'*a - y' + 0.2\n"
     "initial a = 0.3, a' = 0.7, y' = 0.4, x' ~ 0, z' ~ 0, w = 0.1; simulate 0 .. 3"},
    {"one velocity left, driven",
     "coord x, y; kinetic (x'^2 + y'^2)/2; potential 2*x^2 + x*y\n"
     "constraint pull: y' = x*x' + sin(t); initial x = 1, x' = 0.3, y' ~ 0; simulate 0 .. 4"},
    {"more rows than an inverse has",
     "param N = 6, g = 9.81; coord x[1..N], y[1..N]\n"
     "for i = 1..N { kinetic (x[i]'^2 + y[i]'^2)/2; potential g*y[i] }\n"
     "constraint first: x[1]^2 + y[1]^2 = 1\n"
     "for i = 2..N { constraint rod[i]: (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 }\n"
     "for i = 1..N { initial x[i] = i, y[i] = 0 }\n"
     "simulate 0 .. 0.4"},
    {"functions in a constraint",
     "coord x, y; param l = 1.4; kinetic (x'^2 + y'^2)/2; potential y + x^2/4\n"
     "constraint c: y = exp(-l*x^2) + sqrt(1 + x^2); initial x = -1, y ~ 1, y' ~ 0, x' = 1\n"
     "simulate 0 .. 4"},
    {"every function",
     "coord x; param p = 2.5; kinetic x'^2/2\n"
     "force x = -atan2(x, 2 + t) - tanh(x)*asin(x/4) + exp(-t)*log(3 + x) - sqrt(4 + x^2)*x"
     "  + (2 + x)^p/20 + acos(x/5)/9 - x^3 + 1/(2 + x)^2 + sinh(x/2)*cosh(x/3) + atan(t)"
     "  - hypot(x, 1)*tan(x/5); initial x = 0.5; simulate 0 .. 3"},
};

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double y[2][32];
        motion *m = run_by(kinds[i].text, "taylor", 1e-13);
        hm_sim_state(m->sim, y[0], y[0] + m->n, NULL);
        size_t n = m->n;
        double balance = m->result.balance_error, size = fabs(m->result.energy_initial) + 1;
        print_message("%-26s %ld steps, balance %.1e\n", kinds[i].what, m->result.steps, balance);
        assert_true(balance <= 1e-11 * size);
        motion_close(m);
        m = run_by(kinds[i].text, "dop853", 1e-13);
        hm_sim_state(m->sim, y[1], y[1] + m->n, NULL);
        motion_close(m);
        check_close(kinds[i].what, 2 * n, y[0], y[1], 2e-11);
    }
}

/* Works: those of the series are those of DOP853, by kind. */
static void test_ledger(void **state)
{
    (void)state;
    const char *text = "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y; force x = cos(t)\n"
                       "dissipation 0.05*y'^2; constraint rod: x^2 + y^2 = (1 + 0.1*t)^2\n"
                       "nonideal x = -0.1*x', y = -0.1*y'\n"
                       "initial x = 1, y = 0, x' ~ 0.1; simulate 0 .. 4";
    motion *a = run_by(text, "taylor", 1e-13), *b = run_by(text, "dop853", 1e-13);
    const hm_ledger *s = &a->result.work, *t = &b->result.work;
    check_number("impressed", s->impressed, t->impressed, 1e-10);
    check_number("dissipation", s->dissipation, t->dissipation, 1e-10);
    check_number("ideal", s->ideal, t->ideal, 1e-10);
    check_number("nonideal", s->nonideal, t->nonideal, 1e-10);
    assert_true(fabs(s->ideal) > 0.1 && fabs(s->nonideal) > 0.1);
    assert_true(a->result.balance_error < 1e-11);
    motion_close(a);
    motion_close(b);
}

static void test_baumgarte(void **state)
{
    (void)state;
    double y[2][4];
    for (int k = 0; k < 2; k++) {
        motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                                "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0\n"
                                "simulate 0 .. 2 drift baumgarte(5, 5)");
        m->options.method = k == 0 ? "taylor" : "dop853";
        m->options.rtol = 1e-13;
        m->options.atol = 1e-15;
        motion_must(m);
        hm_sim_state(m->sim, y[k], y[k] + 2, NULL);
        motion_close(m);
    }
    check_close("baumgarte", 4, y[0], y[1], 1e-11);
}

/* ---- dense output and events ---- */

static bool compare_frame(void *user, const hm_frame *frame)
{
    double *worst = user;
    *worst = fmax(*worst, fabs(frame->q[0] - sin(frame->t)));
    *worst = fmax(*worst, fabs(frame->v[0] - cos(frame->t)));
    return true;
}

static void test_dense_output(void **state)
{
    (void)state;
    double worst = 0;
    motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2; initial x' = 1\n"
                            "simulate 0 .. 10 every 0.01 method taylor rtol 1e-13 atol 1e-15");
    m->options.content = HM_FRAME_CONTENT_STATE;
    m->options.on_frame = compare_frame;
    m->options.user = &worst;
    motion_must(m);
    assert_true(worst < 2e-13 && m->result.steps < 100);
    motion_close(m);
}

/* A ball that loses half its speed: impact times are known. */
static void test_events(void **state)
{
    (void)state;
    motion *m = motion_text("coord y; kinetic y'^2/2; potential 9.81*y; initial y = 1\n"
                            "event hit: y = 0 falling set y' = -y'/2\n"
                            "simulate 0 .. 1.2 method taylor rtol 1e-12 atol 1e-14");
    motion_must(m);
    double first = sqrt(2 / 9.81);
    assert_true(m->result.event_count >= 3);
    check_number("first", m->result.events[0].t, first, 1e-13);
    check_number("second", m->result.events[1].t, 2 * first, 1e-13);
    check_number("third", m->result.events[2].t, 2.5 * first, 1e-13);
    motion_close(m);
}

static bool roll(void *user, const hm_frame *frame)
{
    double *worst = user, yaw = frame->q[2], spin = frame->v[4];
    *worst = fmax(*worst, fabs(frame->v[0] - cos(yaw) * spin));
    *worst = fmax(*worst, fabs(frame->v[1] - sin(yaw) * spin));
    return true;
}

/* Velocities that constraints give are right between steps too, and after an event that changes others. */
static void test_given_velocities(void **state)
{
    (void)state;
    double worst = 0, y[2][10];
    for (int k = 0; k < 2; k++) {
        motion *m = motion_text(DISC "initial lean = 0.2, yaw' = 0.5, spin' = 3, x' ~ 3, y' ~ 0\n"
                                     "event low: lean = 0.5 rising set spin' = 0.9*spin'\n"
                                     "simulate 0 .. 6 every 0.05");
        m->options.method = k == 0 ? "taylor" : "dop853";
        m->options.rtol = 1e-12;
        m->options.atol = 1e-14;
        m->options.content = HM_FRAME_CONTENT_STATE;
        m->options.on_frame = roll;
        m->options.user = &worst;
        motion_must(m);
        assert_true(m->result.event_count >= 2);
        assert_true(motion_violation(m) < 1e-14);
        hm_sim_state(m->sim, y[k], y[k] + 5, NULL);
        motion_close(m);
    }
    assert_true(worst < 1e-14);
    check_close("disc", 10, y[0], y[1], 1e-9);
}

/* A solve that the user wants is made, though the run before went without one. */
static void test_wanted_solve(void **state)
{
    (void)state;
    double y[2][10];
    motion *m = motion_text(DISC "initial lean = 0.2, yaw' = 0.5, spin' = 3, x' ~ 3, y' ~ 0\n"
                                 "simulate 0 .. 2 method taylor rtol 1e-12 atol 1e-14");
    for (int k = 0; k < 2; k++) {
        double q[5], v[5];
        hm_model_initial(m->model, q, v, NULL);
        hm_sim_set_state(m->sim, 0, q, v, NULL);
        m->options.formulation = k == 0 ? HM_FORMULATION_AUTO : HM_FORMULATION_GRAM;
        motion_must(m);
        assert_true(m->result.steps < 20); /* by series */
        hm_sim_state(m->sim, y[k], y[k] + 5, NULL);
    }
    check_close("disc", 10, y[0], y[1], 1e-11);
    motion_close(m);
}

/* Off the constraints, by the user's wish, such velocities are not given: the distance stays. */
static void test_kept_initial(void **state)
{
    (void)state;
    double y[2][10];
    for (int k = 0; k < 2; k++) {
        motion *m = motion_text(DISC
                                "initial lean = 0.2, yaw' = 0.5, spin' = 3, x' = 2.5, y' = 0.25\n"
                                "simulate 0 .. 1");
        m->options.method = k == 0 ? "taylor" : "dop853";
        m->options.rtol = 1e-12;
        m->options.atol = 1e-14;
        m->options.keep_initial = true;
        motion_must(m);
        hm_sim_state(m->sim, y[k], y[k] + 5, NULL);
        motion_close(m);
    }
    check_close("disc", 10, y[0], y[1], 1e-10);
    check_number("distance", y[0][5] - cos(y[0][2]) * y[0][9], -0.5, 1e-10);
}

/* Steps are long, and yet what comes and goes within a step is seen. */
static void test_brief_events(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2; initial x' = 1\n"
                            "event top: x = 0.999 rising record\n"
                            "simulate 0 .. 20 method taylor rtol 1e-12 atol 1e-14");
    motion_must(m);
    assert_int_equal(m->result.event_count, 3);
    check_number("second", m->result.events[1].t, asin(0.999) + 2 * acos(-1), 1e-12);
    motion_close(m);
}

/* Branches are held between events: |x| is smooth on either side; friction slides and sticks. */
static void test_switches(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "coord x; kinetic x'^2/2; force x = -sign(x) + 0.1*abs(x')*cos(t)\n"
        "initial x = 1; simulate 0 .. 7",
        "coord x; kinetic x'^2/2; potential 2*x^2; force x = -0.3*sign(x') + max(0, sin(t))\n"
        "initial x = 1; simulate 0 .. 9",
    };
    for (size_t i = 0; i < 2; i++) {
        motion *a = run_by(texts[i], "taylor", 1e-12), *b = run_by(texts[i], "dop853", 1e-12);
        check_number("x", motion_value(a, "x"), motion_value(b, "x"), 1e-10);
        check_number("x'", motion_value(a, "x'"), motion_value(b, "x'"), 1e-10);
        motion_close(a);
        motion_close(b);
    }
}

/* ---- where there is no series, and what is refused ---- */

/* x^(3/2) has no series at x = 0, where it starts; another method takes these steps. */
static void test_no_series(void **state)
{
    (void)state;
    const char *text = "coord x, y; kinetic (x'^2 + y'^2)/2; force x = 1 + y*sqrt(x)^3\n"
                       "initial y = 0.2; simulate 0 .. 2";
    motion *a = run_by(text, "taylor", 1e-11), *b = run_by(text, "dop853", 1e-12);
    check_number("x", motion_value(a, "x"), motion_value(b, "x"), 1e-9);
    motion_close(a);
    motion_close(b);
}

static void check_refused(const char *text, const char *why)
{
    motion *m = motion_text(text);
    m->options.method = "taylor";
    assert_int_equal(motion_run(m), HM_ERR_USAGE);
    if (!motion_says(m, why))
        fail_msg("it does not say: %s", why);
    motion_close(m);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("coord x, y; kinetic (x'^2 + y'^2)/2; servo s: x' = 1 by y with gain 1\n"
                  "constraint c: x = y; simulate 0 .. 1",
                  "the model has servos");
    check_refused("coord x, y; kinetic (x'^2 + y'^2)/2; potential 10*y; constraint floor: y = 0\n"
                  "force x = 1; nonideal x = -0.01*multiplier(floor); simulate 0 .. 1",
                  "depends on constraint forces");
}

/* Stiff problems are found and left to an implicit method. */
static void test_stiff(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = -1e6*(x - cos(t)) - 1e5*x'\n"
                            "initial x = 1; simulate 0 .. 0.5 rtol 1e-10 atol 1e-12");
    motion_must(m);
    assert_true(m->result.stiff);
    assert_string_equal(m->result.method, "radau");
    motion_close(m);
}

/* ---- auto, bits, memory ---- */

/* What `auto` takes for a model at a tolerance. */
static void check_auto(const char *text, double rtol, const char *method)
{
    motion *m = run_by(text, "auto", rtol);
    assert_string_equal(m->result.method, method);
    motion_close(m);
}

static void test_auto(void **state)
{
    (void)state;
    const char *simple = "coord x; kinetic x'^2/2; potential x^4; initial x = 1; simulate 0 .. 3";
    check_auto(simple, 1e-9, "dop853");
    check_auto(simple, 1e-11, "taylor");
    /* long tapes: by momenta, and where there are none */
#define LINKS                                                                                      \
    "param N = 10; coord q[1..N]; let X(i) = sum(k = 1..i, sin(q[k]))\n"                           \
    "let Y(i) = -sum(k = 1..i, cos(q[k]))\n"                                                       \
    "for i = 1..N { kinetic (X(i)'^2 + Y(i)'^2)/2; potential 9.81*Y(i); initial q[i] = 0.1 }\n"    \
    "simulate 0 .. 0.1\n"
    check_auto(LINKS, 1e-10, "taylor");
    check_auto(LINKS, 1e-9, "dop853");
    check_auto(LINKS "input u = 1; force q[1] = u", 1e-10, "dop853");
#undef LINKS
}

static void test_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double y[2][32] = {{0}};
        for (int k = 0; k < 2; k++) {
            motion *m = run_by(kinds[i].text, "taylor", 1e-12);
            hm_sim_state(m->sim, y[k], y[k] + m->n, NULL);
            motion_close(m);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
    }
}

/* The state at the end by one engine. */
static void run_engine(const char *text, hm_engine engine, double *y)
{
    const hm_system_options how = {.engine = engine};
    hm_context *context = hm_context_create(NULL);
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    hm_run_result result;
    assert_int_equal(hm_model_parse(context, text, strlen(text), NULL, &model), HM_OK);
    assert_int_equal(hm_system_create_with(model, &how, &system), HM_OK);
    assert_int_equal(hm_sim_create(system, &sim), HM_OK);
    hm_run_options options = hm_run_options_default(model);
    options.method = "taylor";
    options.rtol = 1e-12;
    options.atol = 1e-14;
    double first[72];
    for (int k = 0; k < 2; k++) { /* the second run has the series of the first */
        assert_int_equal(hm_sim_run(sim, &options, &result), HM_OK);
        hm_sim_state(sim, y, y + 16, y + 64);
        if (k == 0)
            memcpy(first, y, sizeof first);
        else
            assert_memory_equal(first, y, 32 * sizeof *y);
        hm_model_initial(model, y + 32, y + 48, y + 68);
        hm_sim_set_state(sim, 0, y + 32, y + 48, y + 68);
    }
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

/* Machine code and interpreter: the same bits. */
static void test_engines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double y[2][72] = {{0}};
        run_engine(kinds[i].text, HM_ENGINE_INTERP, y[0]);
        run_engine(kinds[i].text, HM_ENGINE_AUTO, y[1]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),        cmocka_unit_test(test_no_bias),
        cmocka_unit_test(test_tolerances),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_kinds),        cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_baumgarte),    cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_events),       cmocka_unit_test(test_given_velocities),
        cmocka_unit_test(test_kept_initial), cmocka_unit_test(test_wanted_solve),
        cmocka_unit_test(test_brief_events), cmocka_unit_test(test_switches),
        cmocka_unit_test(test_no_series),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_stiff),        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_same_bits),    cmocka_unit_test(test_engines),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
