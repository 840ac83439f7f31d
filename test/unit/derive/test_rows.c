/* Constraints brought to A q'' = b: levels, inputs and states in them, servos with their gains. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <string.h>

#define FREE_XY "coord x, y\nkinetic (x'^2 + y'^2)/2\n"

static void check_row(const probe *p, const char *name, const double *A, double b)
{
    size_t i = probe_constraint(p, name);
    check_close(name, p->n, p->A + i * p->n, A, 1e-14);
    check_number(name, p->at.b[i], b, 1e-14);
}

static void check_servo_row(const probe *p, const char *name, const double *A, double b)
{
    size_t i = probe_servo(p, name);
    check_close(name, p->n, p->servo_A + i * p->n, A, 1e-14);
    check_number(name, p->at.servo_b[i], b, 1e-14);
}

static void check_residuals(const probe *p, const char *name, double position, double velocity)
{
    size_t i = probe_constraint(p, name);
    check_number(name, p->at.position_residual[i], position, 1e-14);
    check_number(name, p->at.velocity_residual[i], velocity, 1e-14);
}

static void check_info(const probe *p, const char *name, hm_level level, bool linear,
                       bool rheonomic)
{
    hm_constraint_info info = hm_model_constraint(p->model, probe_constraint(p, name));
    assert_int_equal(info.level, level);
    assert_int_equal(info.linear, linear);
    assert_int_equal(info.rheonomic, rheonomic);
    assert_false(info.servo);
}

/* ---- levels ---- */

/* The same curve at each level: y = x^3 + sin t, with y' and y'' spelled out. */
static void levels(void **state)
{
    (void)state;
    probe *p = probe_text(FREE_XY "constraint where: y = x^3 + sin(t)\n"
                                  "constraint speed: y' = 3*x^2*x' + cos(t)\n"
                                  "constraint turn: y'' = 3*x^2*x'' + 6*x*x'^2 - sin(t)\n"
                                  "constraint circle: x'^2 + y'^2 = 4\n");
    const double x = 1.5, y = 0.3, vx = -0.7, vy = 2, t = 0.6;
    const double A[2] = {-3 * x * x, 1}, b = 6 * x * vx * vx - sin(t);
    const double speed[2] = {2 * vx, 2 * vy};
    probe_at(p, "x = 1.5, y = 0.3, x' = -0.7, y' = 2, t = 0.6");
    check_row(p, "where", A, b);
    check_row(p, "speed", A, b);
    check_row(p, "turn", A, b);
    check_row(p, "circle", speed, 0);
    double phi = y - x * x * x - sin(t), rate = vy - 3 * x * x * vx - cos(t);
    check_residuals(p, "where", phi, rate);
    check_residuals(p, "speed", 0, rate);
    check_residuals(p, "turn", 0, 0);
    check_residuals(p, "circle", 0, vx * vx + vy * vy - 4);
    check_info(p, "where", HM_LEVEL_POSITION, true, true);
    check_info(p, "speed", HM_LEVEL_VELOCITY, true, true);
    check_info(p, "turn", HM_LEVEL_ACCELERATION, true, true);
    check_info(p, "circle", HM_LEVEL_VELOCITY, false, false);
    probe_close(p);
}

/* Nothing is rescaled: A keeps the factor that was written. */
static void rows_are_not_rescaled(void **state)
{
    (void)state;
    probe *p = probe_text(FREE_XY "constraint a: 7*x = 7*y\nconstraint b: (x - y)/7 = 0\n"
                                  "constraint c: 0 = x - y\n");
    const double A[3][2] = {{7, -7}, {1.0 / 7, -1.0 / 7}, {-1, 1}};
    probe_at(p, "");
    check_row(p, "a", A[0], 0);
    check_row(p, "b", A[1], 0);
    check_row(p, "c", A[2], 0);
    probe_close(p);
}

/* x' of a let: the derivative of a position is a velocity constraint. */
static void primes_decide_the_level(void **state)
{
    (void)state;
    probe *p = probe_text(FREE_XY "let r = x^2 + y^2\nconstraint still: r' = 0\n"
                                  "constraint steady: r'' = 0\n");
    const double x = 0.5, y = 2, vx = 3, vy = -1, A[2] = {2 * x, 2 * y};
    probe_at(p, "x = 0.5, y = 2, x' = 3, y' = -1");
    check_row(p, "still", A, -2 * (vx * vx + vy * vy));
    check_row(p, "steady", A, -2 * (vx * vx + vy * vy));
    check_info(p, "still", HM_LEVEL_VELOCITY, true, false);
    check_info(p, "steady", HM_LEVEL_ACCELERATION, true, false);
    probe_close(p);
}

/* ---- inputs ---- */

/* x = u y: with u, u', u'' from a program, b = u'' y + 2 u' y'. */
static void input_of_a_program(void **state)
{
    (void)state;
    const double y = 2, vx = 0.1, vy = 0.7, u = 0.25, u1 = 3, u2 = -4, A[2] = {1, -u};
    probe *p = probe_text(FREE_XY "input u = 0\nconstraint track: x = u*y\n"
                                  "constraint drive: x' = u\nconstraint push: x'' = u\n");
    assert_int_equal(hm_sim_set_input(p->sim, 0, u, u1, u2), HM_OK);
    assert_int_equal(hm_sim_set_input(p->sim, 1, u, u1, u2), HM_ERR_USAGE);
    const double q[2] = {1, y}, v[2] = {vx, vy}, along_x[2] = {1, 0};
    probe_state(p, 0, q, v);
    check_row(p, "track", A, u2 * y + 2 * u1 * vy);
    check_row(p, "drive", along_x, u1);
    check_row(p, "push", along_x, u);
    check_residuals(p, "track", 1 - u * y, vx - u1 * y - u * vy);
    check_info(p, "track", HM_LEVEL_POSITION, true, true);
    probe_close(p);
}

/* The default and its derivatives, until a program sets the input and after it lets go. */
static void input_default_and_back(void **state)
{
    (void)state;
    const double t = 0.4, w = 3, A[2] = {1, 0};
    const double q[2] = {0}, v[2] = {0};
    probe *p = probe_text("param w = 3\n" FREE_XY "input u = sin(w*t)\n"
                          "constraint track: x = u\nforce y = 2*u\n");
    for (int round = 0; round < 2; round++) {
        probe_state(p, t, q, v);
        check_row(p, "track", A, -w * w * sin(w * t));
        check_residuals(p, "track", -sin(w * t), -w * cos(w * t));
        check_number("force", p->at.Q[1], 2 * sin(w * t), 1e-15);
        check_number("input", p->at.inputs[0], sin(w * t), 1e-15);
        assert_int_equal(hm_sim_set_input(p->sim, 0, 5, 6, 7), HM_OK);
        probe_state(p, t, q, v);
        check_row(p, "track", A, 7);
        check_residuals(p, "track", -5, -6);
        check_number("force", p->at.Q[1], 10, 0);
        assert_int_equal(hm_sim_reset_input(p->sim, 0), HM_OK);
    }
    probe_close(p);
}

static void prime_of_an_input(void **state)
{
    (void)state;
    const double q[2] = {0}, v[2] = {0}, A[2] = {1, 1};
    probe *p = probe_text(FREE_XY "input u = t^3, w = 0\nconstraint a: x' + y' = u'\n"
                                  "force y = (u*w)'\n");
    assert_int_equal(hm_sim_set_input(p->sim, 1, 2, 5, 0), HM_OK);
    probe_state(p, 2, q, v);
    check_row(p, "a", A, 12);
    check_number("force", p->at.Q[1], 12 * 2 + 8 * 5, 1e-15);
    probe_close(p);
}

/* ---- states ---- */

/* z' = x - 2 z: x = z gives phi' = x' - (x - 2 z) and b = (x' - 2 z'). */
static void state_in_a_constraint(void **state)
{
    (void)state;
    const double x = 1.5, vx = 0.5, z = 0.2, rate = x - 2 * z, A[2] = {1, 0};
    const double q[2] = {x, 0}, v[2] = {vx, 0};
    probe *p = probe_text(FREE_XY "state z' = x - 2*z\nconstraint follow: x = z\n"
                                  "constraint chase: x' = z\nforce y = -z'\n");
    hm_sim_set_state(p->sim, 0, NULL, NULL, &z);
    probe_state(p, 0, q, v);
    check_row(p, "follow", A, vx - 2 * rate);
    check_row(p, "chase", A, rate);
    check_residuals(p, "follow", x - z, vx - rate);
    check_number("rate", p->at.state_rates[0], rate, 1e-15);
    check_number("force", p->at.Q[1], -rate, 1e-15);
    probe_close(p);
}

/* z' contains x', so phi' = y' - z' has an x-component that phi does not show. */
static void state_driven_by_velocity(void **state)
{
    (void)state;
    const double x = 0.5, vx = 3, vy = 0.25, z = -1, q[2] = {x, 0}, v[2] = {vx, vy};
    const double A[2] = {-x, 1}, rate = x * vx - z;
    probe *p = probe_text(FREE_XY "state z' = x*x' - z\nconstraint lag: y = z\n");
    hm_sim_set_state(p->sim, 0, NULL, NULL, &z);
    probe_state(p, 0, q, v);
    check_row(p, "lag", A, vx * vx - rate);
    check_residuals(p, "lag", -z, vy - rate);
    probe_close(p);
}

/* States in any order, one driving the other, indexed in a loop. */
static void chain_of_states(void **state)
{
    (void)state;
    probe *p = probe_text("coord x\nkinetic x'^2/2\nparam N = 3\n"
                          "for i = 1..N { state s[i]' = if(i == 1, x, s[max(i - 1, 1)]) - s[i] }\n"
                          "force x = -s[N]\ninitial s[2] = 0.5, s[3] ~ 4, x = 1\n");
    const double rates[3] = {1 - 0, 0 - 0.5, 0.5 - 4};
    probe_at(p, "");
    assert_int_equal(hm_model_state_count(p->model), 3);
    assert_string_equal(hm_model_state_name(p->model, 2), "s[3]");
    check_close("rates", 3, p->at.state_rates, rates, 0);
    check_number("force", p->at.Q[0], -4, 0);
    probe_close(p);
}

/* ---- servos ---- */

/* beta'' + 2 k beta' + k^2 beta = 0 and beta' = -k beta; acceleration rows as they are. */
static void servo_gains(void **state)
{
    (void)state;
    const double k = 5, x = 0.3, y = 1, vx = 2, vy = -1, t = 0.5, q[2] = {x, y}, v[2] = {vx, vy};
    probe *p = probe_text("param k = 5\n" FREE_XY "servo position: x = y^2 + sin(t) with gain k\n"
                          "servo speed: x'*y = 1 by x with gain 2*k\n"
                          "servo push: x'' = y by x, y\n");
    const double A[3][2] = {{1, -2 * y}, {y, 0}, {1, 0}};
    double beta = x - y * y - sin(t), rate = vx - 2 * y * vy - cos(t);
    probe_state(p, t, q, v);
    check_servo_row(p, "position", A[0], 2 * vy * vy - sin(t) - 2 * k * rate - k * k * beta);
    check_servo_row(p, "speed", A[1], -vx * vy - 2 * k * (vx * y - 1));
    check_servo_row(p, "push", A[2], y);
    assert_int_equal(p->m, 0);
    assert_true(hm_model_servo(p->model, 0).servo);
    probe_close(p);
}

static void servo_follows_a_parameter(void **state)
{
    (void)state;
    const double q[2] = {2, 0}, v[2] = {0.5, 0}, A[2] = {1, 0};
    probe *p = probe_text("param k = 5\n" FREE_XY "servo s: x = 0 with gain k\n");
    probe_set(p, "k", 3);
    probe_state(p, 0, q, v);
    check_servo_row(p, "s", A, -2 * 3 * 0.5 - 9 * 2);
    probe_close(p);
}

static void servo_of_a_vector(void **state)
{
    (void)state;
    probe *p = probe_text(FREE_XY "input gx = 1, gy = t\n"
                                  "servo [x, y]' = [gx, gy] by x, y with gain 4\n");
    assert_int_equal(hm_model_servo_count(p->model), 2);
    assert_string_equal(hm_model_servo(p->model, 0).name, "s1[1]");
    assert_string_equal(hm_model_servo(p->model, 1).name, "s1[2]");
    const double q[2] = {0}, v[2] = {3, 5}, A[2][2] = {{1, 0}, {0, 1}};
    probe_state(p, 2, q, v);
    check_servo_row(p, "s1[1]", A[0], -4 * (3 - 1));
    check_servo_row(p, "s1[2]", A[1], 1 - 4 * (5 - 2));
    probe_close(p);
}

/* ---- non-ideal forces ---- */

static void nonideal_forces_add_up(void **state)
{
    (void)state;
    const double q[2] = {0.5, 2}, v[2] = {3, -1};
    probe *p = probe_text(FREE_XY "constraint flat: y = x\n"
                                  "nonideal x = -x', y = t\nnonideal x = x*y\n"
                                  "nonideal [2, y'] at [x*y, y]\n");
    const double C[2] = {-3 + 0.5 * 2 + 2 * 2, 0.25 + 2 * 0.5 - 1}, Q[2] = {0, 0};
    probe_state(p, 0.25, q, v);
    check_close("C", 2, p->at.C, C, 1e-15);
    check_close("Q", 2, p->at.Q, Q, 0);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(rows_are_not_rescaled),
        cmocka_unit_test(primes_decide_the_level),
        cmocka_unit_test(input_of_a_program),
        cmocka_unit_test(input_default_and_back),
        cmocka_unit_test(prime_of_an_input),
        cmocka_unit_test(state_in_a_constraint),
        cmocka_unit_test(state_driven_by_velocity),
        cmocka_unit_test(chain_of_states),
        cmocka_unit_test(servo_gains),
        cmocka_unit_test(servo_follows_a_parameter),
        cmocka_unit_test(servo_of_a_vector),
        cmocka_unit_test(nonideal_forces_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
