/* Rigid bodies, forces at points, torques, gravity: the same body in several coordinates, against
 * T = m |P'|^2/2 + omega^T J omega/2 and Euler's equations by hand. */
#include "support/check.h"
#include "support/probe.h"
#include "support/solve.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double mass = 2, J[9] = {1.5, 0.1, -0.2, 0.1, 2, 0.3, -0.2, 0.3, 1.2};

#define PARAMS                                                                                     \
    "param m = 2\n"                                                                                \
    "param J = [[1.5, 0.1, -0.2], [0.1, 2, 0.3], [-0.2, 0.3, 1.2]]\n"
#define ANGLES PARAMS "coord x, y, z, a, b, c\n"
#define EULER  ANGLES "let R = rotz(a)*rotx(b)*rotz(c)\n"
#define BODY   "body top { mass m  inertia J  at [x, y, z]  frame R }\n"

static const char euler[] = EULER BODY;
static const char about_axes[] = ANGLES
    "let R = rotation([0, 0, 3], a)*rotation([0.5, 0, 0], b)*rotation([0, 0, 1], c)\n" BODY;
/* The sum forgets how the rotation was composed, so omega comes from R^T R'. */
static const char of_unknown_origin[] = EULER
    "body top { mass m  inertia J  at [x, y, z]  frame R + 0*R }\n";
static const char quaternion[] = PARAMS "coord x, y, z, e0, e1, e2, e3\n"
                                        "let R = quat(e0, e1, e2, e3)\n" BODY;

/* ---- a random motion of the body, in both sets of coordinates ---- */

typedef struct motion {
    double angles[6], angle_rates[6]; /* x, y, z, a, b, c */
    double quat[7], quat_rates[7];    /* x, y, z, e0, e1, e2, e3 */
    double R[9], omega_body[3], omega_base[3];
} motion;

/* omega in body axes = a' (sb sc, sb cc, cb) + b' (cc, -sc, 0) + c' (0, 0, 1). */
static void euler_omega(const double q[3], const double v[3], double omega[3])
{
    double sb = sin(q[1]), cb = cos(q[1]), sc = sin(q[2]), cc = cos(q[2]);
    omega[0] = v[0] * sb * sc + v[1] * cc;
    omega[1] = v[0] * sb * cc - v[1] * sc;
    omega[2] = v[0] * cb + v[2];
}

static motion random_motion(random_source *random)
{
    motion m;
    double first[9], second[9], half[9], p[4], q[4], r[4];
    random_fill(random, -2, 2, 6, m.angles);
    random_fill(random, -2, 2, 6, m.angle_rates);
    memcpy(m.quat, m.angles, 3 * sizeof(double));
    memcpy(m.quat_rates, m.angle_rates, 3 * sizeof(double));
    turn3(2, m.angles[3], first);
    turn3(0, m.angles[4], second);
    multiply3(first, second, half);
    turn3(2, m.angles[5], second);
    multiply3(half, second, m.R);
    euler_omega(m.angles + 3, m.angle_rates + 3, m.omega_body);
    apply3(m.R, m.omega_body, m.omega_base);
    turn_quaternion(2, m.angles[3], p);
    turn_quaternion(0, m.angles[4], q);
    multiply_quaternions(p, q, r);
    turn_quaternion(2, m.angles[5], q);
    multiply_quaternions(r, q, m.quat + 3);
    quaternion_rate(m.quat + 3, m.omega_body, m.quat_rates + 3);
    return m;
}

static double kinetic_by_hand(const motion *m)
{
    double H[3];
    apply3(J, m->omega_body, H);
    return mass / 2 * dot3(m->angle_rates, m->angle_rates) + dot3(m->omega_body, H) / 2;
}

/* v^T M v/2 */
static double kinetic_by_mass(const probe *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            sum += p->at.v[i] * p->M[i * p->n + j] * p->at.v[j] / 2;
    return sum;
}

/* ---- one body, four descriptions ---- */

static void check_kinetic(probe *p, const double *q, const double *v, double expected)
{
    probe_state(p, 0, q, v);
    check_number("kinetic", p->at.kinetic, expected, 1e-13);
    check_number("v^T M v/2", kinetic_by_mass(p), expected, 1e-13);
}

static void same_kinetic_energy(void **state)
{
    (void)state;
    random_source random = {1};
    probe *by_angles[] = {probe_text(euler), probe_text(about_axes), probe_text(of_unknown_origin)};
    probe *by_quaternion = probe_text(quaternion);
    for (int round = 0; round < 50; round++) {
        motion m = random_motion(&random);
        double T = kinetic_by_hand(&m);
        for (int k = 0; k < 3; k++)
            check_kinetic(by_angles[k], m.angles, m.angle_rates, T);
        check_kinetic(by_quaternion, m.quat, m.quat_rates, T);
        for (int k = 1; k < 3; k++) {
            check_close("M", 36, by_angles[k]->M, by_angles[0]->M, 1e-13);
            check_close("Q", 6, by_angles[k]->at.Q, by_angles[0]->at.Q, 1e-12);
        }
    }
    for (int k = 0; k < 3; k++)
        probe_close(by_angles[k]);
    probe_close(by_quaternion);
}

/* omega from the composition costs less than from R^T R'. */
static void composition_is_remembered(void **state)
{
    (void)state;
    probe *composed = probe_text(euler), *general = probe_text(of_unknown_origin);
    size_t short_tape = hm_system_get_statistics(composed->system).tape_nodes;
    size_t long_tape = hm_system_get_statistics(general->system).tape_nodes;
    if (short_tape * 3 / 2 > long_tape)
        fail_msg("%zu operations against %zu", short_tape, long_tape);
    probe_close(composed);
    probe_close(general);
}

/* The axis turns too: rotation(u(s), a) = rotz(s) rotx(a) rotz(-s) for u = (cos s, sin s, 0). */
static void moving_axis(void **state)
{
    (void)state;
    static const char head[] = PARAMS "coord s, a\n";
    char text[2][600];
    random_source random = {2};
    snprintf(
        text[0], sizeof text[0], "%s%s", head,
        "body top { mass m  inertia J  at [0, 0, 0]  frame rotation([cos(s), sin(s), 0], a) }\n");
    snprintf(text[1], sizeof text[1], "%s%s", head,
             "body top { mass m  inertia J  at [0, 0, 0]  frame rotz(s)*rotx(a)*rotz(-s) }\n");
    probe *moving = probe_text(text[0]), *composed = probe_text(text[1]);
    for (int round = 0; round < 20; round++) {
        double q[2], v[2];
        random_fill(&random, -2, 2, 2, q);
        random_fill(&random, -2, 2, 2, v);
        probe_state(moving, 0, q, v);
        probe_state(composed, 0, q, v);
        check_close("M", 4, moving->M, composed->M, 1e-13);
        check_close("Q", 2, moving->at.Q, composed->at.Q, 1e-12);
    }
    probe_close(moving);
    probe_close(composed);
}

/* ---- quaternions ---- */

static void quaternion_brings_its_constraint(void **state)
{
    (void)state;
    probe *p = probe_text(quaternion);
    motion m = random_motion(&(random_source){3});
    double A[7] = {0}, b = 0;
    for (int i = 0; i < 4; i++) {
        A[3 + i] = 2 * m.quat[3 + i];
        b -= 2 * m.quat_rates[3 + i] * m.quat_rates[3 + i];
    }
    assert_int_equal(p->m, 1);
    assert_string_equal(hm_model_constraint(p->model, 0).name, "top");
    probe_state(p, 0, m.quat, m.quat_rates);
    check_close("A", 7, p->A, A, 1e-15);
    check_number("b", p->at.b[0], b, 1e-14);
    check_number("residual", p->at.position_residual[0], 0, 1e-15);
    probe_close(p);
}

static void quaternion_starts_upright(void **state)
{
    (void)state;
    double q[7];
    probe *p = probe_text(quaternion);
    const double upright[7] = {0, 0, 0, 1, 0, 0, 0};
    hm_model_initial(p->model, q, NULL, NULL);
    check_close("initial", 7, q, upright, 0);
    probe_close(p);
    char text[600];
    snprintf(text, sizeof text, "%sinitial e0 = 0.6, e1 = 0.8\n", quaternion);
    p = probe_text(text);
    const double tilted[7] = {0, 0, 0, 0.6, 0.8, 0, 0};
    hm_model_initial(p->model, q, NULL, NULL);
    check_close("initial", 7, q, tilted, 0);
    probe_close(p);
}

/* The matrix divides by |e|^2: a quaternion of length 3 turns and moves just as well. */
static void quaternion_of_any_length(void **state)
{
    (void)state;
    random_source random = {4};
    probe *p = probe_text(quaternion);
    for (int round = 0; round < 20; round++) {
        motion m = random_motion(&random);
        for (int i = 3; i < 7; i++) {
            m.quat[i] *= 3;
            m.quat_rates[i] *= 3;
        }
        check_kinetic(p, m.quat, m.quat_rates, kinetic_by_hand(&m));
    }
    probe_close(p);
}

static void shared_quaternion_is_constrained_once(void **state)
{
    (void)state;
    probe *p = probe_text("coord e0, e1, e2, e3\nlet R = quat(e0, e1, e2, e3)\n"
                          "body hull { mass 1  inertia identity(3)  at [0, 0, 0]  frame R }\n"
                          "body mast { mass 1  inertia identity(3)  at R*[0, 0, 1]  frame R }\n");
    assert_int_equal(p->m, 1);
    assert_string_equal(hm_model_constraint(p->model, 0).name, "hull");
    probe_close(p);
}

/* A wheel on an axle of a hull: the quaternion is a factor of the wheel's frame only. */
static void quaternion_inside_a_product(void **state)
{
    (void)state;
    probe *p = probe_text("coord e0, e1, e2, e3, a\n"
                          "body wheel { mass 1  inertia diag(1, 2, 1)  at [0, 0, 0]\n"
                          "             frame quat(e0, e1, e2, e3)*roty(a) }\n");
    double q[5];
    const double upright[5] = {1, 0, 0, 0, 0};
    assert_int_equal(p->m, 1);
    assert_string_equal(hm_model_constraint(p->model, 0).name, "wheel");
    hm_model_initial(p->model, q, NULL, NULL);
    check_close("initial", 5, q, upright, 0);
    probe_close(p);
}

/* [M A^T; A 0] (q'', -lambda) = (Q, b) */
static void solve_motion(const probe *p, double *qdd)
{
    double K[64] = {0}, rhs[8], x[8];
    size_t n = p->n, size = n + p->m;
    assert_true(size <= 8);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            K[i * size + j] = p->M[i * n + j];
    for (size_t k = 0; k < p->m; k++)
        for (size_t j = 0; j < n; j++)
            K[(n + k) * size + j] = K[j * size + n + k] = p->A[k * n + j];
    memcpy(rhs, p->at.Q, n * sizeof *rhs);
    memcpy(rhs + n, p->at.b, p->m * sizeof *rhs);
    assert_true(solve_dense(size, K, rhs, x));
    memcpy(qdd, x, n * sizeof *x);
}

/* J omega' = N_body - omega x J omega, with the base-frame torque N. */
static void euler_equation(const motion *m, const double N[3], double rate[3])
{
    double H[3], rhs[3], turn[3];
    apply3(J, m->omega_body, H);
    cross3(m->omega_body, H, turn);
    for (int i = 0; i < 3; i++)
        rhs[i] = m->R[i] * N[0] + m->R[3 + i] * N[1] + m->R[6 + i] * N[2] - turn[i];
    assert_true(solve_dense(3, J, rhs, rate));
}

/* omega_body' from e'': e'' = (e (0, omega') + e' (0, omega))/2. */
static void check_quaternion_motion(const motion *m, const double *qdd, const double N[3])
{
    double rate[3], from_rate[4], from_omega[4], expected[4];
    euler_equation(m, N, rate);
    quaternion_rate(m->quat + 3, rate, from_rate);
    quaternion_rate(m->quat_rates + 3, m->omega_body, from_omega);
    for (int i = 0; i < 4; i++)
        expected[i] = from_rate[i] + from_omega[i];
    check_close("e''", 4, qdd + 3, expected, 1e-11);
}

static void quaternion_obeys_euler(void **state)
{
    (void)state;
    random_source random = {5};
    char text[700];
    const double N[3] = {0.7, -0.4, 1.1};
    snprintf(text, sizeof text, "%storque [0.7, -0.4, 1.1] on R\n", quaternion);
    probe *p = probe_text(text);
    for (int round = 0; round < 50; round++) {
        motion m = random_motion(&random);
        double qdd[7], zero[3] = {0};
        probe_state(p, 0, m.quat, m.quat_rates);
        solve_motion(p, qdd);
        check_close("P''", 3, qdd, zero, 1e-12);
        check_quaternion_motion(&m, qdd, N);
    }
    probe_close(p);
}

/* ---- forces and torques ---- */

#define LOADS                                                                                      \
    "force [1 + x^2, sin(t), -z] at [x, y, z] + R*[0.3, -0.2, 0.5]\n"                              \
    "torque [cos(t), x', 2] on R\n"                                                                \
    "torque R*[0.5, 0, -1] on R      # fixed in the body\n"

static double power_by_hand(const motion *m, double t)
{
    const double *P = m->angles, arm[3] = {0.3, -0.2, 0.5}, fixed[3] = {0.5, 0, -1};
    double F[3] = {1 + P[0] * P[0], sin(t), -P[2]}, N[3] = {cos(t), m->angle_rates[0], 2};
    double r[3], v[3];
    apply3(m->R, arm, r);
    cross3(m->omega_base, r, v);
    for (int i = 0; i < 3; i++)
        v[i] += m->angle_rates[i];
    return dot3(F, v) + dot3(N, m->omega_base) + dot3(fixed, m->omega_body);
}

/* Q.v = F.v_P + N.omega */
static void loads_have_their_power(void **state)
{
    (void)state;
    random_source random = {6};
    char text[2][800];
    snprintf(text[0], sizeof text[0], "%s%s", euler, LOADS);
    snprintf(text[1], sizeof text[1], "%s%s", quaternion, LOADS);
    probe *angles = probe_text(text[0]), *quat = probe_text(text[1]);
    for (int round = 0; round < 50; round++) {
        motion m = random_motion(&random);
        double t = random_between(&random, 0, 3), power = power_by_hand(&m, t);
        probe_state(angles, t, m.angles, m.angle_rates);
        probe_state(quat, t, m.quat, m.quat_rates);
        check_number("power, angles", angles->at.power.impressed, power, 1e-13);
        check_number("power, quaternion", quat->at.power.impressed, power, 1e-13);
    }
    probe_close(angles);
    probe_close(quat);
}

/* Components of Q one by one: at rest the power of each unit rate is that component. */
static void force_at_a_point_pulls_along_its_derivatives(void **state)
{
    (void)state;
    probe *p = probe_text("param l = 2\ncoord s, q\nkinetic (s'^2 + q'^2)/2\n"
                          "let P = [s + l*sin(q), -l*cos(q)]\nforce [3, -5] at P\n");
    const double q = 0.6, Q[2] = {3, 3 * 2 * cos(q) - 5 * 2 * sin(q)};
    probe_at(p, "s = 1, q = 0.6");
    check_close("Q", 2, p->at.Q, Q, 1e-15);
    probe_close(p);
}

/* A point carried along by time does no work on the coordinates by that. */
static void force_at_a_moving_point(void **state)
{
    (void)state;
    probe *p = probe_text("coord r\nkinetic r'^2/2\nforce [0, 2] at r*[cos(t), sin(t)]\n");
    probe_at(p, "r = 3, r' = 0.5, t = 0.4");
    check_number("Q", p->at.Q[0], 2 * sin(0.4), 1e-15);
    check_number("power", p->at.power.impressed, sin(0.4), 1e-15);
    probe_close(p);
}

/* ---- the plane, particles, gravity ---- */

static void planar_bodies(void **state)
{
    (void)state;
    probe *p = probe_text("param m = 3, I = 0.4, l = 1.5, g = 9.81\ncoord s, q\n"
                          "body cart { mass 2*m, at [s, 0] }\n"
                          "body rod {\n    mass m\n    inertia I\n"
                          "    at [s + l*sin(q), -l*cos(q)]\n    angle q\n}\n"
                          "gravity [0, -g]\n");
    const double l = 1.5, q = 0.7, v = 1.2,
                 M[4] = {9, 3 * l * cos(q), 3 * l * cos(q), 3 * l * l + 0.4};
    const double Q[2] = {3 * l * sin(q) * v * v, -3 * 9.81 * l * sin(q)};
    probe_at(p, "q = 0.7, q' = 1.2, s' = -0.3");
    check_close("M", 4, p->M, M, 1e-14);
    check_close("Q", 2, p->at.Q, Q, 1e-14);
    check_number("potential", p->at.potential, -3 * 9.81 * l * cos(q), 1e-14);
    probe_close(p);
}

/* V = -sum m g.P, in any direction, for bodies named in a loop too. */
static void gravity_pulls_every_body(void **state)
{
    (void)state;
    probe *p = probe_text("param g = [1, -2, 3]\ncoord x[1..2], y\n"
                          "for i = 1..2 { body ball[i] { mass i  at [x[i], i, y] } }\n"
                          "gravity g\nbody last { mass 5  at [0, y^2, t] }\n");
    probe_at(p, "x[1] = 0.5, x[2] = -1, y = 2, t = 4");
    double V = -1 * (0.5 - 2 + 6) - 2 * (-1 - 4 + 6) - 5 * (-2 * 4 + 12);
    const double Q[3] = {1, 2, 3 * (1 + 2) - 5 * 2 * 2 * 2};
    check_number("potential", p->at.potential, V, 1e-14);
    check_close("Q", 3, p->at.Q, Q, 1e-14);
    probe_close(p);
}

static void point_mass_in_space(void **state)
{
    (void)state;
    probe *p = probe_text("coord r, u, w\n"
                          "body star { mass 2  at r*[cos(u)*cos(w), cos(u)*sin(w), sin(u)] }\n");
    const double r = 1.5, u = 0.4,
                 M[9] = {2, 0, 0, 0, 2 * r * r, 0, 0, 0, 2 * r * r * cos(u) * cos(u)};
    probe_at(p, "r = 1.5, u = 0.4, w = -1");
    check_close("M", 9, p->M, M, 1e-15);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_kinetic_energy),
        cmocka_unit_test(composition_is_remembered),
        cmocka_unit_test(moving_axis),
        cmocka_unit_test(quaternion_brings_its_constraint),
        cmocka_unit_test(quaternion_starts_upright),
        cmocka_unit_test(quaternion_of_any_length),
        cmocka_unit_test(shared_quaternion_is_constrained_once),
        cmocka_unit_test(quaternion_inside_a_product),
        cmocka_unit_test(quaternion_obeys_euler),
        cmocka_unit_test(loads_have_their_power),
        cmocka_unit_test(force_at_a_point_pulls_along_its_derivatives),
        cmocka_unit_test(force_at_a_moving_point),
        cmocka_unit_test(planar_bodies),
        cmocka_unit_test(gravity_pulls_every_body),
        cmocka_unit_test(point_mass_in_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
