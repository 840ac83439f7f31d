/* Energies and powers: the powers sum to d(total)/dt along the motion, and each is right. */
#include "support/check.h"
#include "support/probe.h"
#include "support/solve.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { N = 3, MOST_STATES = 4 };

/* ---- d(total)/dt by differences along the motion ---- */

static double sum_of_powers(const probe *p)
{
    return p->at.power.impressed + p->at.power.dissipation + p->at.power.gyroscopic +
           p->at.power.ideal + p->at.power.nonideal + p->at.power.servo + p->at.power.explicit_time;
}

/* A state with the rates that the equations give it. */
typedef struct flow {
    double t, q[N], v[N], a[N], z[MOST_STATES], rates[MOST_STATES];
    size_t states;
    double input[3]; /* u, u', u'' of the first input, where `driven` */
    bool driven;
} flow;

/* total a time h later. */
static double total_after(probe *p, const flow *f, double h)
{
    double q[N], v[N], z[MOST_STATES] = {0};
    for (size_t i = 0; i < p->n; i++) {
        q[i] = f->q[i] + h * f->v[i] + h * h / 2 * f->a[i];
        v[i] = f->v[i] + h * f->a[i];
    }
    for (size_t k = 0; k < f->states; k++)
        z[k] = f->z[k] + h * f->rates[k];
    if (f->driven)
        assert_int_equal(hm_sim_set_input(p->sim, 0,
                                          f->input[0] + h * f->input[1] + h * h / 2 * f->input[2],
                                          f->input[1] + h * f->input[2], f->input[2]),
                         HM_OK);
    hm_sim_set_state(p->sim, f->t + h, q, v, z);
    probe_evaluate(p);
    assert_true(p->at.has_total);
    return p->at.total;
}

static void check_balance(probe *p, flow *f)
{
    const double h = 1e-5;
    total_after(p, f, 0);
    double power = sum_of_powers(p);
    memcpy(f->a, p->at.qdd, p->n * sizeof *f->a);
    memcpy(f->rates, p->at.state_rates, f->states * sizeof *f->rates);
    if (p->m == 0 && hm_model_servo_count(p->model) == 0)
        assert_true(solve_dense(p->n, p->M, p->at.Q, f->a));
    double rate = (total_after(p, f, h) - total_after(p, f, -h)) / (2 * h);
    check_number("sum of powers", power, rate, 1e-7);
}

static void check_balances(const char *text, bool driven)
{
    random_source random = {11};
    probe *p = probe_text(text);
    assert_true(p->n <= N && hm_model_state_count(p->model) <= MOST_STATES);
    for (int round = 0; round < 10; round++) {
        flow f = {.t = random_between(&random, -1, 1),
                  .states = hm_model_state_count(p->model),
                  .driven = driven};
        random_fill(&random, -1, 1, p->n, f.q);
        random_fill(&random, -1, 1, p->n, f.v);
        random_fill(&random, -1, 1, f.states, f.z);
        random_fill(&random, -1, 1, 3, f.input);
        check_balance(p, &f);
    }
    probe_close(p);
}

/* ---- random systems ---- */

typedef struct writer {
    char text[6000];
    size_t length;
    random_source random;
} writer;

static void add_text(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(w->text + w->length, sizeof w->text - w->length, format, arguments);
    va_end(arguments);
    w->length += (size_t)length;
    assert_true(w->length < sizeof w->text);
}

static double coefficient(writer *w)
{
    return random_between(&w->random, -1, 1);
}

static int any_coordinate(writer *w)
{
    return 1 + (int)(3 * random_between(&w->random, 0, 1));
}

/* A square of something affine in the velocities, with coefficients that depend on q and t. */
static void write_kinetic(writer *w)
{
    add_text(w, "kinetic (%.3f*(1 + sin(%.3f*q[%d] + %.3f*t))*q[%d]' + ", coefficient(w),
             coefficient(w), any_coordinate(w), coefficient(w), any_coordinate(w));
    add_text(w, "%.3f*cos(q[%d])*q[%d]' + %.3f*t*q[%d])^2/2\n", coefficient(w), any_coordinate(w),
             any_coordinate(w), coefficient(w), any_coordinate(w));
}

static void write_potential(writer *w)
{
    add_text(w, "potential %.3f*cos(%.3f*q[%d] + %.3f*q[%d]*t)\n", coefficient(w), coefficient(w),
             any_coordinate(w), coefficient(w), any_coordinate(w));
    add_text(w, "lagrangian %.3f*q[%d]'*q[%d]*cos(%.3f*t)\n", coefficient(w), any_coordinate(w),
             any_coordinate(w), coefficient(w));
}

static void write_forces(writer *w)
{
    add_text(w, "force q[%d] = %.3f*sin(q[%d] + t) + %.3f*q[%d]'*q[%d]\n", any_coordinate(w),
             coefficient(w), any_coordinate(w), coefficient(w), any_coordinate(w),
             any_coordinate(w));
    add_text(w, "force [%.3f, t] at [q[%d]^2, sin(q[%d]*t)]\n", coefficient(w), any_coordinate(w),
             any_coordinate(w));
    add_text(w, "dissipation %.3f*q[%d]'^2*(1 + q[%d]^2) + %.3f*(q[1]' - q[%d]')^4\n",
             fabs(coefficient(w)), any_coordinate(w), any_coordinate(w), fabs(coefficient(w)),
             any_coordinate(w));
    int i = any_coordinate(w);
    add_text(w, "gyroscopic q[%d], q[%d] = %.3f + t*q[%d]\n", i, i % 3 + 1, coefficient(w),
             any_coordinate(w));
}

static void random_systems(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        writer w = {.random = {seed}};
        add_text(&w, "coord q[1..3]\nkinetic sum(i = 1..3, q[i]'^2)/2\n");
        for (int k = 0; k < 3; k++) {
            write_kinetic(&w);
            write_potential(&w);
            write_forces(&w);
        }
        check_balances(w.text, false);
    }
}

/* ---- what else may drive the energy ---- */

static void velocity_dependent_mass(void **state)
{
    (void)state;
    check_balances("coord x, y\nlagrangian -4*sqrt(1 - (x'^2 + y'^2)/4)*(1 + x*y*cos(t)/5)\n"
                   "force x = y', y = sin(t)\n",
                   false);
}

static void state_in_the_energy(void **state)
{
    (void)state;
    check_balances("coord x, y\nstate z' = x - z*y', w' = sin(z) + t\n"
                   "kinetic (2 + sin(z))/2*x'^2 + y'^2/2\npotential (x - z)^2/2 + w*y\n"
                   "force y = w\n",
                   false);
}

static void default_input_in_the_energy(void **state)
{
    (void)state;
    check_balances("coord x, y\ninput u = sin(2*t)\n"
                   "kinetic (x'^2 + y'^2)/2\npotential (x - u)^2/2\nforce y = u\n",
                   false);
}

static void program_input_in_the_energy(void **state)
{
    (void)state;
    check_balances("coord x, y\ninput u = 0\n"
                   "kinetic (1 + u^2)/2*x'^2 + y'^2/2\npotential (x - u)^2/2*y\n",
                   true);
}

/* A support that a program moves: its velocity is in T, its acceleration in dT/dt. */
static void moving_support(void **state)
{
    (void)state;
    check_balances("coord q\ninput u = 0\nbody bob { mass 2  at [u + sin(q), -cos(q)] }\n"
                   "gravity [0, -9.81]\n",
                   true);
}

static void constraints_that_work(void **state)
{
    (void)state;
    check_balances("coord x, y, z\nkinetic (x'^2 + y'^2 + 2*z'^2)/2\npotential x*y + z*t\n"
                   "constraint pull: y' - x*x' = sin(t)\nnonideal x = -x', z = y\n"
                   "dissipation z'^2\n",
                   false);
}

static void servos_work(void **state)
{
    (void)state;
    check_balances(
        "coord x, y, z\nkinetic (x'^2 + y'^2 + (x' + z')^2)/2\npotential cos(x)*y\n"
        "servo lead: x = sin(t) by x with gain 3\nservo hold: y' = z by y, z with gain 2\n",
        false);
}

/* ---- one by one ---- */

static void gyroscopic_forces_do_no_work(void **state)
{
    (void)state;
    random_source random = {21};
    probe *p = probe_text("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                          "gyroscopic x, y = x*t + 1\ngyroscopic z, y = sin(z)\n"
                          "gyroscopic x, z = y'*z'\n");
    for (int round = 0; round < 20; round++) {
        double q[3], v[3], t = random_between(&random, 0, 1);
        random_fill(&random, -2, 2, 3, q);
        random_fill(&random, -2, 2, 3, v);
        probe_state(p, t, q, v);
        double a = q[0] * t + 1, b = sin(q[2]), c = v[1] * v[2];
        const double Q[3] = {a * v[1] + c * v[2], -a * v[0] - b * v[2], b * v[1] - c * v[0]};
        check_close("Q", 3, p->at.Q, Q, 1e-14);
        check_number("power", p->at.power.gyroscopic, 0, 1e-14);
    }
    probe_close(p);
}

/* Q = -dD/dq'; a D of degree k takes the power k D. */
static void dissipation_takes_its_power(void **state)
{
    (void)state;
    random_source random = {22};
    probe *p = probe_text("param c = 0.7\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                          "dissipation c/2*(x' - y')^2*(1 + x^2)\ndissipation abs(y')^3\n");
    for (int round = 0; round < 20; round++) {
        double q[2], v[2];
        random_fill(&random, -2, 2, 2, q);
        random_fill(&random, -2, 2, 2, v);
        double k = 0.7 * (1 + q[0] * q[0]), slip = v[0] - v[1];
        const double Q[2] = {-k * slip, k * slip - 3 * fabs(v[1]) * v[1]};
        probe_state(p, 0, q, v);
        check_close("Q", 2, p->at.Q, Q, 1e-14);
        check_number("power", p->at.power.dissipation,
                     -k * slip * slip - 3 * fabs(v[1] * v[1] * v[1]), 1e-14);
    }
    probe_close(p);
}

static void kinds_of_power_are_kept_apart(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential x^2*t\n"
                          "force x = 3\ndissipation y'^2/2\ngyroscopic x, y = 2\n");
    probe_at(p, "x = 2, x' = 5, y' = 7, t = 1");
    check_number("impressed", p->at.power.impressed, 15, 0);
    check_number("dissipation", p->at.power.dissipation, -49, 0);
    check_number("gyroscopic", p->at.power.gyroscopic, 0, 0);
    check_number("explicit time", p->at.power.explicit_time, 4, 0);
    check_number("kinetic", p->at.kinetic, 37, 0);
    check_number("potential", p->at.potential, 4, 0);
    check_number("total", p->at.total, 41, 0);
    probe_close(p);
}

/* L = x'^4 is neither kinetic nor potential; the total q'.p - L exists all the same. */
static void energies_that_are_not_defined(void **state)
{
    (void)state;
    probe *p = probe_text("coord x\nlagrangian x'^4/4 + x'^2/2 - x\n");
    probe_at(p, "x = 1, x' = 2");
    assert_false(p->at.has_energy);
    assert_true(p->at.has_total);
    check_number("total", p->at.total, 2 * (8 + 2) - (4 + 2 - 1), 0);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems),
        cmocka_unit_test(velocity_dependent_mass),
        cmocka_unit_test(state_in_the_energy),
        cmocka_unit_test(default_input_in_the_energy),
        cmocka_unit_test(program_input_in_the_energy),
        cmocka_unit_test(moving_support),
        cmocka_unit_test(constraints_that_work),
        cmocka_unit_test(servos_work),
        cmocka_unit_test(gyroscopic_forces_do_no_work),
        cmocka_unit_test(dissipation_takes_its_power),
        cmocka_unit_test(kinds_of_power_are_kept_apart),
        cmocka_unit_test(energies_that_are_not_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
