/* Friction that slides, sticks and starts again: test/data/benchmarks/friction_nonideal.md. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>

#define INCLINE                                                                                    \
    "param m = 2, g = 9.81, al = 0.3, mu = 0.5, v0 = 0; coord x, y\n"                              \
    "kinetic m/2*(x'^2 + y'^2); potential m*g*(-x*sin(al) + y*cos(al))\n"                          \
    "constraint floor: y = 0\n"                                                                    \
    "nonideal x = -mu*abs(multiplier(floor))*sign(x')\n"                                           \
    "initial x' = v0; simulate 0 .. 10 every 0.1"

static motion *incline(const char *mu, const char *v0)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", INCLINE);
    motion *m = motion_text(text);
    double v[2] = {0};
    double number;
    sscanf(mu, "%lf", &number);
    assert_int_equal(hm_sim_set_param(m->sim, "mu", number), HM_OK);
    sscanf(v0, "%lf", &v[0]);
    hm_sim_set_state(m->sim, 0, NULL, v, NULL);
    m->options.fix_state = true;
    return m;
}

static bool look_at_force(void *user, const hm_frame *frame)
{
    double *worst = user; /* friction holds the weight: Qni = -m g sin(al) */
    *worst = fmax(*worst, fabs(frame->Qni[0] + 2 * 9.81 * sin(0.3)));
    return true;
}

/* tan(0.3) = 0.309 < 0.5: it stays, and friction is what holds it. */
static void test_sticks(void **state)
{
    (void)state;
    double worst = 0;
    motion *m = incline("0.5", "0");
    m->options.on_frame = look_at_force;
    m->options.user = &worst;
    motion_must(m);
    assert_true(fabs(motion_value(m, "x")) < 1e-9);
    assert_true(worst < 1e-12);
    motion_close(m);
}

/* mu < tan(al): it slides with g (sin - mu cos). */
static void test_slides(void **state)
{
    (void)state;
    motion *m = incline("0.2", "0");
    motion_must(m);
    check_number("x", motion_value(m, "x"), 50 * 9.81 * (sin(0.3) - 0.2 * cos(0.3)), 1e-11);
    motion_close(m);
}

/* Thrown down it comes to rest and stays; thrown up it stops too. */
static void test_comes_to_rest(void **state)
{
    (void)state;
    double a = 9.81 * (0.5 * cos(0.3) - sin(0.3));
    motion *m = incline("0.5", "3");
    motion_must(m);
    check_number("x", motion_value(m, "x"), 9 / (2 * a), 1e-10);
    assert_true(fabs(motion_value(m, "x'")) < 1e-13);
    motion_close(m);
    a = 9.81 * (0.5 * cos(0.3) + sin(0.3));
    m = incline("0.5", "-3");
    motion_must(m);
    check_number("x up", motion_value(m, "x"), -9 / (2 * a), 1e-10);
    motion_close(m);
    m = incline("0.2", "-3"); /* and down again */
    motion_must(m);
    assert_true(motion_value(m, "x'") > 1);
    motion_close(m);
}

/* A force that grows: stuck until 2 t = mu N, then x = (t - t0)^3/3. */
static void test_starts_when_it_must(void **state)
{
    (void)state;
    motion *m = motion_text("param g = 10, mu = 0.5; coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "potential g*y; constraint floor: y = 0; force x = 2*t\n"
                            "nonideal x = -mu*abs(multiplier(floor))*sign(x'); simulate 0 .. 10");
    assert_int_equal(hm_sim_start(m->sim, NULL), HM_OK);
    motion_advance(m, 2.4);
    assert_true(fabs(motion_value(m, "x")) < 1e-12);
    motion_advance(m, 10);
    check_number("x", motion_value(m, "x"), 7.5 * 7.5 * 7.5 / 3, 1e-10);
    motion_close(m);
}

/* Dry oscillator: amplitude falls by 2 F/k each half period, then it sticks for good. */
static void test_dry_oscillator(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2; force x = -0.3*sign(x')\n"
                            "initial x = 2; simulate 0 .. 1000 every 10");
    m->options.rtol = 1e-12;
    m->options.atol = 1e-14;
    motion_must(m);
    check_number("x", motion_value(m, "x"), -0.2, 1e-10); /* 2, -1.4, 0.8, -0.2 */
    check_number("work", m->result.work.impressed, 0.02 - 2, 1e-10);
    assert_true(m->result.steps < 2000);
    motion_close(m);
}

/* Written with `if`, the same. */
static void test_friction_by_if(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2\n"
                            "force x = if(x' > 0, -0.3, 0.3); initial x = 2; simulate 0 .. 20");
    m->options.rtol = 1e-12;
    m->options.atol = 1e-14;
    motion_must(m);
    check_number("x", motion_value(m, "x"), -0.2, 1e-10);
    motion_close(m);
}

/* Stick-slip on a belt: periodic, never hangs; two coupled blocks with two frictions. */
static void test_stick_slip(void **state)
{
    (void)state;
    motion *m = motion_text("param v = 0.5, F = 1; coord x; kinetic x'^2/2; potential x^2/2\n"
                            "force x = F*sign(v - x')/(1 + abs(v - x')); simulate 0 .. 60");
    motion_must(m);
    double amplitude = hypot(motion_value(m, "x"), motion_value(m, "x'"));
    assert_true(amplitude < 2 && m->result.steps < 5000);
    motion_close(m);
    m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential (x - y)^2/2\n"
                    "force x = -0.3*sign(x') + 0.5*sin(t), y = -0.3*sign(y'); simulate 0 .. 50");
    motion_must(m);
    assert_true(m->result.balance_error < 1e-7);
    motion_close(m);
}

/* F2: a bead on a rough hoop, N = m v^2/R: v = v0/(1 + mu v0 t/R). */
static void test_rough_hoop(void **state)
{
    (void)state;
    motion *m = motion_text("param mu = 0.3, R = 0.5; coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "constraint hoop: x^2 + y^2 = R^2\n"
                            "let N = hypot(reaction(x), reaction(y)); let s = hypot(x', y')\n"
                            "nonideal x = -mu*N*x'/s, y = -mu*N*y'/s\n"
                            "initial x = R, y = 0, y' = 2; simulate 0 .. 1");
    m->options.rtol = 1e-12;
    motion_must(m);
    double speed = hypot(motion_value(m, "x'"), motion_value(m, "y'"));
    check_number("v", speed, 2 / 2.2, 1e-11);
    double angle = atan2(motion_value(m, "y"), motion_value(m, "x")) + 2 * M_PI;
    check_number("s", fmod(angle, 2 * M_PI), fmod(log(2.2) / 0.3, 2 * M_PI), 1e-11);
    motion_close(m);
}

/* A block on an incline that may move in its plane, friction written along u/|u| in four ways. */
#define PLANE(SPEED)                                                                               \
    "param mu = 0.5, g = 9.81, al = 0.3, vx = 0, vy = 0, w = 0; coord x, y\n"                      \
    "kinetic (x'^2 + y'^2)/2; potential -g*sin(al)*x; let N = g*cos(al)\n"                         \
    "force x = -mu*N*x'/" SPEED " + w*t, y = -mu*N*y'/" SPEED "\n"                                 \
    "initial x' = vx, y' = vy; simulate 0 .. 10"

static const char *const planes[] = {
    PLANE("hypot(x', y')"), PLANE("sqrt(x'^2 + y'^2)"), PLANE("hypot(y', x')"),
    "param mu = 0.5, g = 9.81, al = 0.3, vx = 0, vy = 0, w = 0; coord x, y\n"
    "kinetic (x'^2 + y'^2)/2; potential -g*sin(al)*x; let u = [x', y']; let e = u/norm(u)\n"
    "force x = -mu*g*cos(al)*e[1] + w*t, y = -mu*g*cos(al)*e[2]\n"
    "initial x' = vx, y' = vy; simulate 0 .. 10"};

static motion *plane(const char *text, double mu, double vx, double vy, double w)
{
    motion *m = motion_text(text);
    const double v[2] = {vx, vy};
    assert_int_equal(hm_sim_set_param(m->sim, "mu", mu), HM_OK);
    assert_int_equal(hm_sim_set_param(m->sim, "w", w), HM_OK);
    hm_sim_set_state(m->sim, 0, NULL, v, NULL);
    m->options.fix_state = true;
    return m;
}

static void test_plane_sticks(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        motion *m = plane(planes[k], 0.5, 0, 0, 0); /* from rest: tan(0.3) < mu */
        motion_must(m);
        assert_true(fabs(motion_value(m, "x")) + fabs(motion_value(m, "y")) < 1e-9);
        motion_close(m);
        m = plane(planes[k], 0.5, 3, 0, 0); /* along the slope, as in one dimension */
        motion_must(m);
        check_number("x", motion_value(m, "x"), 4.5 / (9.81 * (0.5 * cos(0.3) - sin(0.3))), 1e-9);
        assert_true(fabs(motion_value(m, "x'")) < 1e-12);
        motion_close(m);
    }
}

/* On the level: straight to rest after v^2/(2 mu g), whatever the direction. */
static void test_plane_level(void **state)
{
    static const char *const methods[] = {"dop853", "rk5", "radau"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        motion *m = plane(PLANE("hypot(x', y')"), 0.5, 3, -4, 0);
        assert_int_equal(hm_sim_set_param(m->sim, "al", 0), HM_OK);
        m->options.method = methods[k];
        motion_must(m);
        double way = 25 / (2 * 0.5 * 9.81);
        check_number("x", motion_value(m, "x"), 0.6 * way, 1e-7);
        check_number("y", motion_value(m, "y"), -0.8 * way, 1e-7);
        check_number("work", m->result.work.impressed, -12.5, 1e-7);
        assert_true(m->result.balance_error < 1e-7);
        motion_close(m);
    }
}

/* Too steep: from rest it slides at once; thrown up it turns round. A force that grows breaks it
 * loose when it must. */
static void test_plane_moves(void **state)
{
    (void)state;
    double down = 9.81 * (sin(0.3) - 0.2 * cos(0.3)), up = 9.81 * (sin(0.3) + 0.2 * cos(0.3));
    motion *m = plane(planes[0], 0.2, 0, 0, 0);
    motion_must(m);
    check_number("x", motion_value(m, "x"), 50 * down, 1e-9);
    motion_close(m);
    m = plane(planes[1], 0.2, -3, 0, 0);
    motion_must(m);
    double left = 10 - 3 / up;
    check_number("x after turning", motion_value(m, "x"), -4.5 / up + down * left * left / 2, 1e-8);
    motion_close(m);
    m = plane(planes[0], 0.5, 0, 0, 1);
    motion_must(m);
    double start = 9.81 * (0.5 * cos(0.3) - sin(0.3));
    check_number("x loose", motion_value(m, "x"), pow(10 - start, 3) / 6, 1e-8);
    motion_close(m);
}

/* A force across the slope: it gives way along the sum of both, which friction opposes. */
static void test_plane_oblique(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; let s = hypot(x', y')\n"
                            "force x = 3*t - 10*x'/s, y = 4*t - 10*y'/s; simulate 0 .. 4");
    motion_must(m); /* loose at t = 2, then |u|' = 5 t - 10 */
    check_number("x", motion_value(m, "x"), 0.6 * 5 * 8 / 6.0, 1e-8);
    check_number("y", motion_value(m, "y"), 0.8 * 5 * 8 / 6.0, 1e-8);
    motion_close(m);
}

/* v/abs(v) is sign(v) without the value at 0; and a belt that carries the block along first. */
static void test_line(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = -2*x'/abs(x'); initial x' = 3\n"
                            "simulate 0 .. 5");
    motion_must(m);
    check_number("x", motion_value(m, "x"), 9 / 4.0, 1e-9);
    motion_close(m);
    m = motion_text("param vb = 2; coord x; kinetic x'^2/2; let u = x' - vb\n"
                    "force x = -4*u/abs(u); simulate 0 .. 5");
    motion_must(m); /* 2/4 s to the belt's speed, then with it */
    check_number("on the belt", motion_value(m, "x"), 0.5 + 4.5 * 2, 1e-9);
    motion_close(m);
}

/* Friction of a law, along a wire: two components, one degree of freedom. */
static void test_wire_holds(void **state)
{
    (void)state;
    double x[2];
    for (int k = 0; k < 2; k++) {
        motion *m = motion_file("examples/ellipse.hamel", NULL, 0);
        m->options.end = k == 0 ? 3 : 10;
        motion_must(m);
        x[k] = motion_value(m, "x");
        assert_true(fabs(motion_value(m, "x'")) < 1e-12);
        motion_close(m);
    }
    check_number("stays", x[1], x[0], 1e-9);
}

static bool keep_outputs(void *user, const hm_frame *frame)
{
    double *kept = user;
    kept[0] = frame->outputs[0];
    kept[1] = frame->outputs[1];
    return true;
}

/* Outputs show what holds a block that sticks: on a slope its weight, whatever rounding makes of
 * u/|u|; and where one has no value it is said. */
static void test_outputs_at_rest(void **state)
{
    (void)state;
    double kept[2];
    motion *m = motion_text("param g = 9.81, mu = 0.6, a = 0.3; coord x, y\n"
                            "kinetic (x'^2 + y'^2)/2; potential g*sin(a)*x; let s = hypot(x', y')\n"
                            "force x = -mu*g*cos(a)*x'/s, y = -mu*g*cos(a)*y'/s\n"
                            "output hold = -mu*g*cos(a)*x'/s; output none = x\n"
                            "initial x' = 1, y' = 0.5; simulate 0 .. 2 every 0.5");
    m->options.on_frame = keep_outputs;
    m->options.user = kept;
    m->options.content = HM_FRAME_CONTENT_ENERGY;
    motion_must(m);
    check_number("hold", kept[0], 9.81 * sin(0.3), 1e-9);
    motion_close(m);
    m = motion_text("coord x; kinetic x'^2/2; output a = x; output b = x/x; simulate 0 .. 1");
    m->options.on_frame = keep_outputs;
    m->options.user = kept;
    m->options.content = HM_FRAME_CONTENT_ENERGY;
    motion_must(m);
    assert_true(motion_says(m, "output 'b' has no finite value at t = 0"));
    assert_false(motion_says(m, "output 'a'"));
    motion_close(m);
}

/* A quotient that has no direction in it still ends with a reason. */
static void test_not_a_direction(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; let s = hypot(x', y')\n"
                            "force x = -x'/s - y'/s^2, y = -y'/s + x'/s^2\n"
                            "initial x' = 1; simulate 0 .. 5");
    assert_int_not_equal(motion_run(m), HM_OK);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    assert_true(m->result.t_end > 0.5 && m->result.t_end < 1.5);
    assert_true(motion_says(m, "stopped at t = "));
    motion_close(m);
}

/* A leaning disc whose friction takes its normal force as friction itself makes it (total_multiplier),
 * rough enough to roll: it is the disc of examples/rolling-disc.hamel. */
static void test_disc_rolls(void **state)
{
    static const char *const coordinates[] = {"x", "y", "yaw", "lean", "spin", "lean'", "spin'"};
    static const double rough[] = {0.4, 0.8, 2};
    (void)state;
    motion *rolls = motion_file("examples/rolling-disc.hamel", NULL, 0);
    rolls->options.end = 1;
    rolls->options.rtol = 1e-12;
    motion_must(rolls);
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text(
            "param m = 3.43, r = 0.26, g = 9.81, mu = 1\n"
            "coord x, y, z, yaw, lean, spin; let up = rotz(yaw)*rotx(lean); let P = [x, y, z]\n"
            "body disc { mass m inertia m*r^2/4*diag(1, 2, 1) at P frame up*roty(spin) }\n"
            "gravity [0, 0, -g]; constraint contact: z = r*cos(lean)\n"
            "let s = P' - cross(omega(up*roty(spin)), up*[0, 0, r])\n"
            "let F = -mu*total_multiplier(contact)/hypot(s[1], s[2])*[s[1], s[2], 0]\n"
            "let N = cross(F, up*[0, 0, r])\n"
            "nonideal x = F[1], y = F[2], yaw = N[3], lean = dot(N, rotz(yaw)*[1, 0, 0])\n"
            "nonideal spin = dot(N, up*[0, 1, 0])\n"
            "initial lean = 0.1, spin' = 4, yaw' = 0.3, x' = r*(4 + 0.3*sin(0.1)), z ~ r\n"
            "simulate 0 .. 1");
        assert_int_equal(hm_sim_set_param(m->sim, "mu", rough[k]), HM_OK);
        motion_must(m);
        for (size_t i = 0; i < sizeof coordinates / sizeof *coordinates; i++)
            check_number(coordinates[i], motion_value(m, coordinates[i]),
                         motion_value(rolls, coordinates[i]), 1e-8);
        motion_close(m);
    }
    motion_close(rolls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sticks),
        cmocka_unit_test(test_slides),
        cmocka_unit_test(test_comes_to_rest),
        cmocka_unit_test(test_starts_when_it_must),
        cmocka_unit_test(test_dry_oscillator),
        cmocka_unit_test(test_friction_by_if),
        cmocka_unit_test(test_stick_slip),
        cmocka_unit_test(test_rough_hoop),
        cmocka_unit_test(test_plane_sticks),
        cmocka_unit_test(test_plane_level),
        cmocka_unit_test(test_plane_moves),
        cmocka_unit_test(test_plane_oblique),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_wire_holds),
        cmocka_unit_test(test_outputs_at_rest),
        cmocka_unit_test(test_not_a_direction),
        cmocka_unit_test(test_disc_rolls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
