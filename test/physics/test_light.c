/* Inertias that vanish, or nearly so, at a state: the scalar part of a quaternion near the identity has an
 * inertia of the square of the turn. Ranks and accelerations do not depend on how small that is, from 0.1
 * to numbers that are not normal any more. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>

#define TOP                                                                                        \
    "param m = 15, l = 1, g = 9.81\ncoord x, y, z, e0, e1, e2, e3\nlet P = [x, y, z]\n"            \
    "let R = quat(e0, e1, e2, e3)\n"                                                               \
    "body top { mass m  inertia diag(0.234, 0.469, 0.234)  at P  frame R }\n"                      \
    "gravity [0, 0, -g]\nconstraint tip: P = R*[0, l, 0]\n"

static void evaluate(motion *m, const double e[4], double qdd[7], int *rank)
{
    const double norm = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    double q[7] = {0, 1, 0}, v[7] = {4.6, 0, 0, 0, 0, 75, -2.3};
    for (int k = 0; k < 4; k++)
        q[3 + k] = e[k] / norm;
    hm_evaluation out;
    hm_sim_set_state(m->sim, 0, q, v, NULL);
    assert_int_equal(hm_sim_evaluate(m->sim, NULL, &out), HM_OK);
    for (int k = 0; k < 7; k++)
        qdd[k] = out.qdd[k];
    *rank = out.rank_A;
    assert_true(out.unique_acceleration);
    if (out.disagreement > 1e-8)
        fail_msg("e = %g %g %g: formulations differ by %g", e[1], e[2], e[3], out.disagreement);
}

static void compare(const char *text, int rank)
{
    motion *m = motion_text(text);
    for (int which = 1; which < 8; which++)
        for (int power = -1; power >= -320; power -= power > -30 ? 1 : 17) {
            double tiny = pow(10, power), at[4] = {1, 0, 0, 0}, qdd[7], limit[7];
            const double none[4] = {1, 0, 0, 0};
            int found, wanted;
            for (int k = 0; k < 3; k++)
                at[1 + k] = which >> k & 1 ? tiny / (1 + k) : 0;
            evaluate(m, at, qdd, &found);
            evaluate(m, none, limit, &wanted);
            assert_int_equal(wanted, rank);
            if (found != rank)
                fail_msg("turn %d of 1e%d: rank of A %d, not %d", which, power, found, rank);
            for (int k = 0; k < 7; k++)
                if (!(fabs(qdd[k] - limit[k]) <= 1e5 * tiny + 1e-7))
                    fail_msg("turn %d of 1e%d: q''[%d] = %.12g, without %.12g", which, power, k,
                             qdd[k], limit[k]);
        }
    motion_close(m);
}

static void test_quaternion(void **state)
{
    (void)state;
    compare(TOP, 4);
}

/* The norm is written once more, and scaled. */
static void test_redundant_norm(void **state)
{
    (void)state;
    compare(TOP "constraint again: 1e3*(e0^2 + e1^2 + e2^2 + e3^2) = 1e3\n", 4);
}

/* A light particle between heavy ones, on a wire through both rows: y'' does not depend on its mass. */
static void test_masses(void **state)
{
    (void)state;
    for (int power = 0; power >= -40; power -= 2) {
        char text[400];
        snprintf(text, sizeof text,
                 "param e = 1e%d\ncoord a, b, c\nkinetic a'^2 + b'^2/2 + e*c'^2/2\n"
                 "constraint a + c = 0\nconstraint b + 2*c = 0\nforce a = 1, b = 3\n",
                 power);
        motion *m = motion_text(text);
        hm_evaluation out;
        assert_int_equal(hm_sim_evaluate(m->sim, NULL, &out), HM_OK);
        assert_int_equal(out.rank_A, 2);
        /* a = -c, b = -2 c: (2 + 4 + e) c'' = -7 */
        double c = -7 / (6 + pow(10, power));
        if (!(fabs(out.qdd[2] - c) <= 1e-9) || !(fabs(out.qdd[1] + 2 * c) <= 1e-9))
            fail_msg("mass 1e%d: c'' = %.12g, not %.12g", power, out.qdd[2], c);
        motion_close(m);
    }
}

/* A servo row that is 0 on paper and 1e-16 in numbers asks for nothing, in eval and in a run. */
static void test_servo_of_rounding_errors(void **state)
{
    (void)state;
    motion *m = motion_text(
        "coord th, al, psi\nlet R = rotz(th)*roty(-al)*rotx(psi)\n"
        "kinetic (th'^2 + al'^2 + psi'^2)/2\nforce th = 1, al = 2, psi = 3\n"
        "servo c: [th', dot(R*[1,2,3], R*[1,2,3])*al' - 14*al'] = [0, 0] with gain 2\n"
        "initial th = 0.7, al = 0.31, psi = 0.3, th' = 0.1, al' = 0.2, psi' = 0.4\n"
        "simulate 0 .. 0.5\n");
    hm_evaluation out;
    assert_int_equal(hm_sim_evaluate(m->sim, NULL, &out), HM_OK);
    assert_true(fabs(out.qdd[0] + 0.2) < 1e-12 && fabs(out.qdd[1] - 2) < 1e-12);
    motion_must(m);
    assert_true(fabs(motion_value(m, "al'") - 1.2) < 1e-9);
    assert_true(fabs(motion_value(m, "th'") - 0.1 * exp(-1)) < 1e-9);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quaternion),
        cmocka_unit_test(test_redundant_norm),
        cmocka_unit_test(test_masses),
        cmocka_unit_test(test_servo_of_rounding_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
