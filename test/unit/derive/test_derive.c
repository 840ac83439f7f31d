/* Lagrange's equations: M = d2L/dq'2 and Q, by hand and against differences of L. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>

/* ---- the planar pendulum of n links, written in two ways ---- */

static const char pendulum_by_positions[] = "param n = 3, l = 0.7, m = 1.3, g = 9.81\n"
                                            "coord q[1..n]\n"
                                            "let X(i) = sum(k = 1..i, l*sin(q[k]))\n"
                                            "let Y(i) = -sum(k = 1..i, l*cos(q[k]))\n"
                                            "for i = 1..n {\n"
                                            "    kinetic m/2*(X(i)'^2 + Y(i)'^2)\n"
                                            "    potential m*g*Y(i)\n"
                                            "}\n";

static const char pendulum_expanded[] =
    "param n = 3, l = 0.7, m = 1.3, g = 9.81\n"
    "coord q[1..n]\n"
    "let below(i, j) = n - max(i, j) + 1      # bobs that move with both links\n"
    "kinetic sum(i = 1..n, sum(j = 1..n,\n"
    "            m*l^2/2*below(i, j)*q[i]'*q[j]'*cos(q[i] - q[j])))\n"
    "potential -sum(i = 1..n, m*g*l*below(i, i)*cos(q[i]))\n";

enum { MOST_LINKS = 50 };

/* M_ij = m l^2 k_ij cos(q_i - q_j), with k_ij bobs below both links;
 * Q_i  = -sum_j m l^2 k_ij sin(q_i - q_j) q_j'^2 - m g l k_ii sin q_i. */
static void pendulum_by_hand(size_t n, const double *q, const double *v, double *M, double *Q)
{
    const double l = 0.7, m = 1.3, g = 9.81;
    for (size_t i = 0; i < n; i++) {
        Q[i] = -m * g * l * (double)(n - i) * sin(q[i]);
        for (size_t j = 0; j < n; j++) {
            double k = m * l * l * (double)(n - (i > j ? i : j));
            M[i * n + j] = k * cos(q[i] - q[j]);
            Q[i] -= k * sin(q[i] - q[j]) * v[j] * v[j];
        }
    }
}

static void check_pendulum(size_t n)
{
    static double q[MOST_LINKS], v[MOST_LINKS], M[MOST_LINKS * MOST_LINKS], Q[MOST_LINKS];
    char size[24];
    random_source random = {n};
    snprintf(size, sizeof size, "%zu", n);
    const hm_override links = {"n", size};
    probe *positions = probe_text_with(pendulum_by_positions, &links, 1);
    probe *expanded = probe_text_with(pendulum_expanded, &links, 1);
    assert_int_equal(positions->n, n);
    for (int round = 0; round < 5; round++) {
        random_fill(&random, -3, 3, n, q);
        random_fill(&random, -2, 2, n, v);
        probe_state(positions, 0, q, v);
        probe_state(expanded, 0, q, v);
        pendulum_by_hand(n, q, v, M, Q);
        check_close("M from positions", n * n, positions->M, M, 1e-11);
        check_close("Q from positions", n, positions->at.Q, Q, 1e-11);
        check_close("M from the double sum", n * n, expanded->M, M, 1e-11);
        check_close("Q from the double sum", n, expanded->at.Q, Q, 1e-11);
        check_close("M both ways", n * n, positions->M, expanded->M, 1e-11);
        check_close("Q both ways", n, positions->at.Q, expanded->at.Q, 1e-11);
        check_number("total both ways", positions->at.total, expanded->at.total, 1e-11);
    }
    probe_close(positions);
    probe_close(expanded);
}

static void pendulum_3(void **state)
{
    (void)state;
    check_pendulum(3);
}

static void pendulum_10(void **state)
{
    (void)state;
    check_pendulum(10);
}

static void pendulum_50(void **state)
{
    (void)state;
    check_pendulum(50);
}

/* ---- L against differences ---- */

/* L of two coordinates, q = (x, y), v = (x', y'). */
typedef long double (*lagrangian)(const long double q[2], const long double v[2], long double t);

/* A place in (q, v, t): indices 0, 1 are q, 2, 3 are v, 4 is t. */
typedef struct place {
    long double at[5];
} place;

static long double value(lagrangian L, const place *p)
{
    return L(p->at, p->at + 2, p->at[4]);
}

/* Central differences of order h^4: 1/12 (f(-2) - 8 f(-1) + 8 f(1) - f(2))/h. */
static const long double step = 1e-3L;

static long double slope(lagrangian L, const place *p, int i)
{
    static const struct {
        int steps;
        long double weight;
    } stencil[] = {{-2, 1}, {-1, -8}, {1, 8}, {2, -1}};
    long double sum = 0;
    for (int k = 0; k < 4; k++) {
        place moved = *p;
        moved.at[i] += stencil[k].steps * step;
        sum += stencil[k].weight * value(L, &moved);
    }
    return sum / (12 * step);
}

static long double mixed_slope(lagrangian L, const place *p, int i, int j)
{
    static const int steps[] = {-2, -1, 1, 2};
    static const long double weights[] = {1, -8, 8, -1};
    long double sum = 0;
    for (int k = 0; k < 4; k++) {
        place moved = *p;
        moved.at[i] += steps[k] * step;
        sum += weights[k] * slope(L, &moved, j);
    }
    return sum / (12 * step);
}

/* M_ij = d2L/dv_i dv_j,  Q_i = dL/dq_i - sum_j d2L/dv_i dq_j v_j - d2L/dv_i dt. */
static void differences(lagrangian L, const place *p, double M[4], double Q[2])
{
    for (int i = 0; i < 2; i++) {
        long double sum = slope(L, p, i) - mixed_slope(L, p, 2 + i, 4);
        for (int j = 0; j < 2; j++) {
            M[2 * i + j] = (double)mixed_slope(L, p, 2 + i, 2 + j);
            sum -= mixed_slope(L, p, 2 + i, j) * p->at[2 + j];
        }
        Q[i] = (double)sum;
    }
}

static void check_lagrangian(const char *text, lagrangian L)
{
    random_source random = {7};
    probe *p = probe_text(text);
    for (int round = 0; round < 20; round++) {
        double q[2], v[2], M[4], Q[2], t = random_between(&random, -1, 1);
        random_fill(&random, -1, 1, 2, q);
        random_fill(&random, -0.7, 0.7, 2, v);
        const place here = {{q[0], q[1], v[0], v[1], t}};
        probe_state(p, t, q, v);
        differences(L, &here, M, Q);
        check_close("M", 4, p->M, M, 1e-9);
        check_close("Q", 2, p->at.Q, Q, 1e-9);
        double momentum[2] = {(double)slope(L, &here, 2), (double)slope(L, &here, 3)};
        check_close("dL/dv", 2, p->at.momentum, momentum, 1e-9);
        double total = momentum[0] * v[0] + momentum[1] * v[1] - (double)value(L, &here);
        check_number("total", p->at.total, total, 1e-9);
        check_number("-dL/dt", p->at.power.explicit_time, -(double)slope(L, &here, 4), 1e-9);
    }
    probe_close(p);
}

static long double relativistic(const long double q[2], const long double v[2], long double t)
{
    (void)t;
    long double c = 2, v2 = v[0] * v[0] + v[1] * v[1];
    return -c * c * sqrtl(1 - v2 / (c * c)) * (1 + q[0] * q[1] / 5) - q[0] * q[0] / 2;
}

static void relativistic_particle(void **state)
{
    (void)state;
    check_lagrangian("param c = 2\ncoord x, y\n"
                     "lagrangian -c^2*sqrt(1 - (x'^2 + y'^2)/c^2)*(1 + x*y/5)\n"
                     "potential x^2/2\n",
                     relativistic);
}

/* (3.38) of Udwadia & Wanichanon with a potential: M depends on q' and may be indefinite. */
static long double conflated(const long double q[2], const long double v[2], long double t)
{
    (void)t;
    long double c = 1.5L, product = c * v[0] * v[1];
    return (v[0] * v[0] + v[1] * v[1] - product * product) / 2 - q[0] * q[1];
}

static void mass_that_depends_on_velocity(void **state)
{
    (void)state;
    check_lagrangian("param c = 1.5\ncoord x, y\n"
                     "lagrangian (x'^2 + y'^2)/2 - (c*x'*y')^2/2\npotential x*y\n",
                     conflated);
}

static long double driven(const long double q[2], const long double v[2], long double t)
{
    long double spin = v[1] + sinl(t), reach = expl(q[1] / 3) + 2;
    return v[0] * v[0] * reach / 2 + spin * spin * (1 + q[0] * q[0]) / 2 + t * q[1] * v[0] +
           cosl(q[0] - t);
}

static void time_everywhere(void **state)
{
    (void)state;
    check_lagrangian("coord x, y\n"
                     "let spin = (y - cos(t))'\n"
                     "kinetic x'^2*(exp(y/3) + 2)/2 + spin^2*(1 + x^2)/2\n"
                     "lagrangian t*y*x'\n"
                     "potential -cos(x - t)\n",
                     driven);
}

static long double awkward(const long double q[2], const long double v[2], long double t)
{
    return coshl(v[0] + v[1] * q[0]) + atanl(v[1] * t) * q[1] + v[1] * v[1] * v[1] * v[1] +
           sqrtl(4 + v[0] * v[1]);
}

static void functions_of_velocity(void **state)
{
    (void)state;
    check_lagrangian("coord x, y\n"
                     "lagrangian cosh(x' + y'*x) + atan(y'*t)*y + y'^4 + sqrt(4 + x'*y')\n",
                     awkward);
}

/* ---- T = v^T M v/2 + N v + P ---- */

/* A bead on a wire that turns with w and whose pivot is pulled along: P = (r cos wt + a t^2, ...).
 * T = m/2 (r'^2 + w^2 r^2) + 2 m a t (r' cos wt - w r sin wt) + 2 m a^2 t^2. */
static void rheonomic_kinetic_energy(void **state)
{
    (void)state;
    const double m = 1.5, w = 2, a = 0.3, k = 4, r = 0.8, v = -0.6, t = 0.7;
    probe *p = probe_text("param m = 1.5, w = 2, a = 0.3, k = 4\ncoord r\n"
                          "let P = [r*cos(w*t) + a*t^2, r*sin(w*t)]\n"
                          "kinetic m/2*dot(P', P')\npotential k/2*r^2\n");
    double c = cos(w * t), s = sin(w * t), N = 2 * m * a * t * c;
    double rest = m / 2 * w * w * r * r - 2 * m * a * t * w * r * s + 2 * m * a * a * t * t;
    probe_state(p, t, &r, &v);
    check_number("M", p->M[0], m, 1e-14);
    check_number("momentum", p->at.momentum[0], m * v + N, 1e-14);
    check_number("T", p->at.kinetic, m / 2 * v * v + N * v + rest, 1e-14);
    check_number("V", p->at.potential, k / 2 * r * r, 1e-14);
    check_number("total", p->at.total, m / 2 * v * v - rest + k / 2 * r * r, 1e-14);
    check_number("Q", p->at.Q[0], m * w * w * r - 2 * m * a * c - k * r, 1e-14);
    probe_close(p);
}

/* ---- parts that add up ---- */

static void energies_add_up(void **state)
{
    (void)state;
    probe *p = probe_text("coord x\nkinetic x'^2\nkinetic 3*x'^2/2\n"
                          "potential x^2\npotential x\nlagrangian x'^2/2 - x^3\n");
    probe_at(p, "x = 2, x' = 3");
    check_number("M", p->M[0], 6, 0);
    check_number("Q", p->at.Q[0], -2 * 2 - 1 - 3 * 4, 0);
    check_number("kinetic", p->at.kinetic, 27, 0);
    check_number("potential", p->at.potential, 4 + 2 + 8, 0);
    check_number("total", p->at.total, 27 + 14, 0);
    probe_close(p);
}

static void constant_masses_are_an_energy(void **state)
{
    (void)state;
    probe *p = probe_text("param m = 2\ncoord x, y\nkinetic y'^2/2\n"
                          "mass x, x = m\nmass x, y = 0.25\nmass y, y = 1\nmass y, x = 0.25\n");
    const double M[4] = {2, 0.5, 0.5, 2};
    probe_at(p, "x' = 1, y' = 2");
    check_close("M", 4, p->M, M, 0);
    assert_true(p->at.has_total);
    check_number("kinetic", p->at.kinetic, 1 + 1 + 4, 0);
    check_number("momentum", p->at.momentum[0], 3, 0);
    probe_close(p);
}

/* M q'' = Q as given: entries that are not constant bring no forces and leave no energy. */
static void variable_masses_bring_no_forces(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic y'^2\nmass x, x = 1 + x^2\nmass x, y = x'*y\n"
                          "mass y, y = t\nforce x = y, y = -x\n");
    const double M[4] = {1 + 0.25, 3 * 2, 3 * 2, 2 + 0.5}, Q[2] = {2, -0.5};
    probe_at(p, "x = 0.5, y = 2, x' = 3, y' = 4, t = 0.5");
    check_close("M", 4, p->M, M, 0);
    check_close("Q", 2, p->at.Q, Q, 0);
    assert_false(p->at.has_total);
    assert_false(p->at.has_energy);
    probe_close(p);
}

static void impressed_forces_add_up(void **state)
{
    (void)state;
    probe *p = probe_text("param k = 3\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                          "force x = -k*x, y = t\nforce x = x'*y\n"
                          "force [1, 2] at [x + 2*y, x*y]\n"
                          "dissipation x'^2*y'^2/2 + abs(x)*x'^2/2\n"
                          "gyroscopic x, y = x + y\n");
    const double x = 0.5, y = 2, vx = 3, vy = -1, t = 0.25;
    const double Q[2] = {-3 * x + vx * y + 1 + 2 * y - vx * vy * vy - x * vx + (x + y) * vy,
                         t + 2 + 2 * x - vx * vx * vy - (x + y) * vx};
    probe_at(p, "x = 0.5, y = 2, x' = 3, y' = -1, t = 0.25");
    check_close("Q", 2, p->at.Q, Q, 1e-15);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_3),
        cmocka_unit_test(pendulum_10),
        cmocka_unit_test(pendulum_50),
        cmocka_unit_test(relativistic_particle),
        cmocka_unit_test(mass_that_depends_on_velocity),
        cmocka_unit_test(time_everywhere),
        cmocka_unit_test(functions_of_velocity),
        cmocka_unit_test(rheonomic_kinetic_energy),
        cmocka_unit_test(energies_add_up),
        cmocka_unit_test(constant_masses_are_an_energy),
        cmocka_unit_test(variable_masses_bring_no_forces),
        cmocka_unit_test(impressed_forces_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
