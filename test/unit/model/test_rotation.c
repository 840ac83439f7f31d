/* Rotations: their matrices by hand, and the angular velocity of every composition against the
 * general form skew(omega) = R' R^T, which the language uses for a matrix of unknown origin. */
#include "support/check.h"
#include "support/probe.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>

#define MODEL                                                                                      \
    "param beta = 0.3\n"                                                                           \
    "coord a, b, c, e0, e1, e2, e3, s\n"                                                           \
    "kinetic (a'^2 + b'^2 + c'^2 + e0'^2 + e1'^2 + e2'^2 + e3'^2 + s'^2)/2\n"                      \
    "let Q = quat(e0, e1, e2, e3)\n"
#define AT                                                                                         \
    "a = 0.4, b = -1.2, c = 2.1, e0 = 0.5, e1 = -0.7, e2 = 0.2, e3 = 0.9, s = 0.8, "               \
    "a' = 1, b' = 0.5, c' = -2, e0' = 0.3, e1' = 0.1, e2' = -0.4, e3' = 1.5, s' = 0.6, t = 0.7"

/* ---- matrices ---- */

static void check_matrix(const char *expression, const double R[9])
{
    check_values(MODEL, expression, AT, 9, R);
}

static void turns_about_axes(void **state)
{
    (void)state;
    double R[9], S[9], product[9];
    const char *const by_name[] = {"rotx(a)", "roty(a)", "rotz(a)"};
    const char *const by_axis[] = {"rotation([1, 0, 0], a)", "rotation([0, 3, 0], a)",
                                   "rotation([0, 0, 0.1], a)"};
    for (int k = 0; k < 3; k++) {
        turn3(k, 0.4, R);
        check_matrix(by_name[k], R);
        check_matrix(by_axis[k], R);
    }
    turn3(2, 0.4, R);
    turn3(0, -1.2, S);
    multiply3(R, S, product);
    check_matrix("rotz(a)*rotx(b)", product);
    turn3(2, -0.4, R);
    check_matrix("transpose(rotz(a))", R);
    check_matrix("rotz(-a)", R);
    check_matrix("rotation([0, 0, -1], a)", R);
}

/* Rodrigues: R = cos a I + (1 - cos a) u u^T + sin a skew(u). */
static void turn_about_any_axis(void **state)
{
    (void)state;
    const double u[3] = {1.0 / 3, -2.0 / 3, 2.0 / 3}, c = cos(0.4), s = sin(0.4);
    const double skew[9] = {0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0};
    double R[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = (i == j) * c + (1 - c) * u[i] * u[j] + s * skew[3 * i + j];
    check_matrix("rotation([1, -2, 2], a)", R);
    check_matrix("rotation([0.5, -1, 1], a)", R);
}

/* quat is divided by |e|^2, so any length will do; the double angle shows in the sign. */
static void turn_by_quaternion(void **state)
{
    (void)state;
    double R[9];
    turn3(0, 0.4, R);
    check_matrix("quat(cos(a/2), sin(a/2), 0, 0)", R);
    check_matrix("quat(7*cos(a/2), 7*sin(a/2), 0, 0)", R);
    check_matrix("quat(-cos(a/2), -sin(a/2), 0, 0)", R);
    turn3(2, 0.4, R);
    check_matrix("quat(cos(a/2), 0, 0, sin(a/2))", R);
    const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    check_matrix("Q*transpose(Q)", unit);
    check_matrix("quat(2, 0, 0, 0)", unit);
}

/* ---- angular velocity ---- */

/* The outputs below at one state: omega by composition and in general, in base and body axes. */
static void compare_omegas(const char *R, const probe *p)
{
    const double *base = p->at.outputs, *general = base + 3, *turned = base + 6;
    const double *body = base + 9, *general_body = base + 12;
    check_close(R, 3, base, general, 1e-12);
    check_close(R, 3, body, general_body, 1e-12);
    check_close(R, 3, turned, base, 1e-12);
    assert_true(max_norm(3, general) > 1e-3);
}

/* A composed R against the plain list of its entries, which has forgotten the composition. */
static void check_omega(const char *R)
{
    char text[900];
    random_source random = {3};
    snprintf(text, sizeof text,
             MODEL "let R = %s\nlet plain = [[R[1,1], R[1,2], R[1,3]], [R[2,1], R[2,2], R[2,3]], "
                   "[R[3,1], R[3,2], R[3,3]]]\n"
                   "output w = omega(R)\noutput W = omega(plain)\noutput turned = R*omega_body(R)\n"
                   "output b = omega_body(R)\noutput B = omega_body(plain)\n",
             R);
    probe *p = probe_text(text);
    probe_at(p, AT);
    compare_omegas(R, p);
    for (int round = 0; round < 5; round++) {
        double q[8], v[8];
        random_fill(&random, 0.1, 2, 8, q);
        random_fill(&random, 0.5, 2, 8, v);
        probe_state(p, random_between(&random, 0.1, 1), q, v);
        compare_omegas(R, p);
    }
    probe_close(p);
}

static void omega_follows_the_composition(void **state)
{
    (void)state;
    const char *const rotations[] = {
        "rotx(a)",
        "roty(a)",
        "rotz(a)",
        "rotz(a)*rotx(b)*rotz(c)",
        "rotx(a)*roty(b)*rotz(c)",
        "rotz(a*b + t^2)",
        "rotation([1, 2, -2], a)",
        "rotation([1, beta, -2], a)*rotation([0, 1, 1], b)",
        "Q",
        "Q*rotx(a)",
        "rotz(a)*Q",
        "transpose(rotz(a)*rotx(b))",
        "transpose(Q)",
        "transpose(transpose(Q)*rotz(a))*rotx(c)",
        "rotz(beta)*rotx(a)",
        "rotx(a)*rotz(beta)",
        "rotx(pi/2)*rotz(a)*roty(0.3)*rotx(b)",
        "[[0, -1, 0], [1, 0, 0], [0, 0, 1]]*rotx(a)",
        "rotx(a)*identity(3)",
        "quat(cos(a/2), sin(a/2), 0, 0)",
        "quat(e0, e1*t, e2, sin(e3))",
        "quat(1 + beta, a, b, c)",
    };
    for (size_t i = 0; i < sizeof rotations / sizeof *rotations; i++)
        check_omega(rotations[i]);
}

/* The axis moves as well, so that a' u is not the whole of omega. */
static void omega_of_a_moving_axis(void **state)
{
    (void)state;
    check_omega("rotation([cos(s), sin(s), 0], a)");
    check_omega("rotation([1, b, c^2], a)");
    check_omega("rotx(c)*rotation([1, b, t], a)*rotz(s)");
}

/* Lets, calls and `if` carry a rotation along or forget how it came about; the value is one. */
static void omega_through_names(void **state)
{
    (void)state;
    check_omega("if(a > 0, rotx(a), rotz(b))");
    check_omega("rotx(a)*if(t > 0, Q, identity(3))");
    check_value(MODEL "let turn(k) = if(k == 1, rotx(a), rotz(c))\n", "omega(turn(1))[1]", AT, 1);
    check_value(MODEL "let turn(k) = rotz(k*c)\nlet F = turn(2)\n", "omega(F)[3]", AT, -4);
    check_value(MODEL "let turn(R) = omega(R)[3]\n", "turn(rotz(a)*rotz(b))", AT, 1.5);
}

static void omega_by_hand(void **state)
{
    (void)state;
    const double u[3] = {1.0 / 3, 2.0 / 3, -2.0 / 3}, none[3] = {0};
    check_values(MODEL, "omega(rotation([1, 2, -2], a))", AT, 3, u);
    check_values(MODEL, "omega(rotx(beta))", AT, 3, none);
    check_values(MODEL, "omega_body(rotz(beta)*rotx(0.2))", AT, 3, none);
    const double base[3] = {0.5 * cos(0.4), 0.5 * sin(0.4), 1};
    check_values(MODEL, "omega(rotz(a)*rotx(b))", AT, 3, base);
    const double body[3] = {0.5, sin(-1.2), cos(-1.2)};
    check_values(MODEL, "omega_body(rotz(a)*rotx(b))", AT, 3, body);
    const double rate[3] = {0, 0, 2 * 0.7};
    check_values(MODEL, "omega(rotz(t^2))", AT, 3, rate);
}

/* omega' is an angular acceleration: a' u gives a'' u. */
static void omega_can_be_differentiated(void **state)
{
    (void)state;
    const double expected[3] = {2, 4, -4};
    check_values(MODEL "force a = 6\n", "omega(rotation([1, 2, -2], a))'", AT, 3, expected);
}

static void what_is_not_a_rotation(void **state)
{
    (void)state;
    check_rejected(MODEL "output w = omega([a, b, c])\n", HM_ERR_INPUT, "3x3 rotation matrix");
    check_rejected(MODEL "output w = rotation([0, 0, 0], a)\n", HM_ERR_INPUT, "axis");
    check_rejected(MODEL "output w = rotation([1, 0], a)\n", HM_ERR_INPUT, "a vector of 3");
    check_rejected(MODEL "output w = quat(a, b, c)\n", HM_ERR_INPUT, "four components");
    check_rejected(MODEL "output w = rotz([a, b])\n", HM_ERR_INPUT, "a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_about_axes),       cmocka_unit_test(turn_about_any_axis),
        cmocka_unit_test(turn_by_quaternion),     cmocka_unit_test(omega_follows_the_composition),
        cmocka_unit_test(omega_of_a_moving_axis), cmocka_unit_test(omega_through_names),
        cmocka_unit_test(omega_by_hand),          cmocka_unit_test(omega_can_be_differentiated),
        cmocka_unit_test(what_is_not_a_rotation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
