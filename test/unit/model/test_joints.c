/* Joints: their rows, what is measured at the initial values, and their wrenches, which must balance the
 * body by the laws of Newton and Euler, written out in the models themselves. */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct machine {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
} machine;

static machine open_machine(const char *text)
{
    machine m = {.context = hm_context_create(NULL)};
    hm_status status = hm_model_parse(m.context, text, strlen(text), NULL, &m.model);
    if (status != HM_OK)
        fail_msg("%s\n%s", hm_context_diagnostic(m.context, 0)->message, text);
    assert_int_equal(hm_system_create(m.model, &m.system), HM_OK);
    assert_int_equal(hm_sim_create(m.system, &m.sim), HM_OK);
    return m;
}

static void close_machine(machine *m)
{
    hm_sim_destroy(m->sim);
    hm_system_destroy(m->system);
    hm_model_destroy(m->model);
    hm_context_destroy(m->context);
}

/* At the consistent initial state. */
static hm_evaluation evaluate(machine *m)
{
    const hm_evaluate_options options = {.formulation = HM_FORMULATION_AUTO};
    hm_evaluation at;
    hm_status status = hm_sim_make_consistent(m->sim, false, NULL, NULL);
    if (status != HM_OK)
        fail_msg("%s", hm_context_diagnostic(hm_sim_context(m->sim), 0)->message);
    assert_int_equal(hm_sim_evaluate(m->sim, &options, &at), HM_OK);
    return at;
}

/* ---- Newton and Euler ---- */

/* Body a turns about two axes of the ground; body b hangs on it by the joint alone. */
static const char space[] =
    "let J = [[0.3, 0.02, 0.01], [0.02, 0.5, 0.03], [0.01, 0.03, 0.7]]\n"
    "coord p, r\n"
    "gravity [0.3, -0.2, -9.81]\n"
    "body a { mass 1.5  inertia diag(0.2, 0.3, 0.4)  com [0.1, 0.2, 0.3]\n"
    "         on ground by universal(p, [1, 0.2, 0], r, [0, 1, 0.5]) }\n"
    "body b { mass 2  inertia J  free }\n"
    "let w = [0.2, -0.1, 0.4]\n"
    "initial p = 0.3, r = -0.4, p' = 0.7, r' = -1.1, b_x ~ 0.5, b_y ~ 0.4, b_z ~ -0.6\n"
    "initial b_e0 ~ 0.9, b_e1 ~ 0.2, b_e2 ~ -0.3, b_e3 ~ 0.1\n"
    "initial b_e1' ~ 0.6, b_e2' ~ 0.3, b_e3' ~ -0.5, b_x' ~ 1, b_y' ~ -0.5\n"
    "let W = wrench(j)\n"
    "let F = [W[1], W[2], W[3]]\n"
    "let N = [W[4], W[5], W[6]]\n"
    "output push = (2*center(b))'' - 2*[0.3, -0.2, -9.81] - F\n"
    "output spin = (frame(b)*J*omega_body(frame(b)))' - cross(frame(b)*w, F) - N\n"
    "output size = norm(F) + norm(N)\n";

static void balanced(const char *common, const char *joint, size_t rows, size_t checks)
{
    char text[4000];
    snprintf(text, sizeof text, "%sjoint j: %s\n", common, joint);
    machine m = open_machine(text);
    hm_evaluation at = evaluate(&m);
    size_t own = 0;
    for (size_t i = 0; i < hm_model_constraint_count(m.model); i++)
        own += strncmp(hm_model_constraint(m.model, i).name, "j[", 2) == 0;
    assert_int_equal(own, rows);
    double size = at.outputs[checks];
    assert_true(size > 0.1);
    for (size_t k = 0; k < checks; k++)
        if (!(fabs(at.outputs[k]) <= 1e-11 * (1 + size)))
            fail_msg("%s: output %zu is %g", joint, k, at.outputs[k]);
    close_machine(&m);
}

static void test_balance_in_space(void **state)
{
    (void)state;
    balanced(space, "ball of a at [0.3, 0.1, -0.2] and b at w", 3, 6);
    balanced(space, "hinge of a at [0.3, 0.1, -0.2] axis [1, 2, 2] and b at w", 5, 6);
    balanced(space, "hinge of a at [0.3, 0.1, -0.2] and b at w axis [-3, 0, 1]", 5, 6);
    balanced(space, "slider of a at [0.3, 0.1, -0.2] axis [1, 2, 2] and b at w", 5, 6);
    balanced(space, "slider of a axis [0, 0, 2] and b at w axis [0.3, 0.1, 1]", 5, 6);
    balanced(space, "cylinder of a at [0.3, 0.1, -0.2] axis [1, 0, 2] and b at w", 4, 6);
    balanced(space, "universal of a at [0, 0, -1] axis [1, 0, 0] and b at w axis [0, 1, 0]", 4, 6);
    balanced(space, "plane of a at [0, 0, -1] axis [1, 2, 3] and b at w", 3, 6);
    balanced(space, "weld of a at [0, 0, -1] and b at w", 6, 6);
    balanced(space, "distance 1.3 of a at [0, 0, -1] and b at w", 1, 6);
    balanced(space, "hinge of ground at [0, 0, -1] axis [1, 1, 0] and b at w", 5, 6);
    balanced(space, "slider of ground axis [1, 1, 0] and b at w", 5, 6);
}

static const char plane[] =
    "coord p\n"
    "gravity [0.3, -9.81]\n"
    "body a { mass 1.5  inertia 0.2  com [0.3, 0.1]  on ground by hinge(p) }\n"
    "body b { mass 2  inertia 0.7  free planar }\n"
    "let w = [0.2, -0.1]\n"
    "initial p = 0.3, p' = 1.2, b_x ~ 0.5, b_y ~ -0.6, b_a ~ 0.4, b_a' ~ 2\n"
    "initial b_x' ~ 0.7\n"
    "let W = wrench(j)\n"
    "let u = frame(b)*w\n"
    "output push = (2*center(b))'' - 2*[0.3, -9.81] - [W[1], W[2]]\n"
    "output spin = 0.7*b_a'' - (u[1]*W[2] - u[2]*W[1]) - W[3]\n"
    "output size = norm(W)\n";

static void test_balance_in_plane(void **state)
{
    (void)state;
    balanced(plane, "hinge of a at [1, 0.2] and b at w", 2, 3);
    balanced(plane, "slider of a at [1, 0.2] axis [1, 3] and b at w", 2, 3);
    balanced(plane, "slider of ground and b at w axis [-1, 3]", 2, 3);
    balanced(plane, "weld of a at [1, 0.2] and b at w", 3, 3);
    balanced(plane, "distance 0.5 of a at [1, 0.2] and b at w", 1, 3);
}

/* ---- statics by hand ---- */

static void near_to(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static double output(const char *text, size_t index)
{
    machine m = open_machine(text);
    hm_evaluation at = evaluate(&m);
    double value = at.outputs[index];
    close_machine(&m);
    return value;
}

/* A beam of weight 20 in two walls: of all forces that hold it, the smallest are 10 in each wall. */
static void test_minimum_norm(void **state)
{
    (void)state;
    static const char beam[] = "gravity [0, 0, -10]\n"
                               "body beam { mass 2  inertia identity(3)  free }\n"
                               "joint left: weld of ground at [-1, 0, 0] and beam at [-1, 0, 0]\n"
                               "joint right: weld of ground at [1, 0, 0] and beam at [1, 0, 0]\n"
                               "output L = wrench(left)\noutput R = wrench(right)\n";
    for (size_t k = 0; k < 12; k++)
        near_to(output(beam, k), k % 6 == 2 ? 10 : 0, 1e-12);
}

/* A cantilever: the wall holds 20 and the moment 20*1.5 about its end. */
static void test_cantilever(void **state)
{
    (void)state;
    static const char text[] = "gravity [0, -10]\n"
                               "body beam { mass 2  inertia 1  free planar }\n"
                               "joint wall: weld of ground and beam at [-1.5, 0]\n"
                               "initial beam_x ~ 1.5\noutput W = wrench(wall)\n";
    const double expected[] = {0, 20, 30};
    for (size_t k = 0; k < 3; k++)
        near_to(output(text, k), expected[k], 1e-12);
}

/* Friction in a bearing that uses its own load: total forces, so that the law is implicit. A rod of mass m
 * and length 1 turns about its end: with tau = -mu |F| sign, the moment about the pin is tau - m g/2. */
static void test_wrench_in_law(void **state)
{
    (void)state;
    static const char text[] = "gravity [0, -10]\n"
                               "body rod { mass 3  inertia 0.25  free planar }\n"
                               "joint pin: hinge of ground and rod at [-0.5, 0]\n"
                               "initial rod_x ~ 0.5, rod_a' = 2\n"
                               "let W = wrench(pin)\n"
                               "let F = norm([W[1], W[2]])\n"
                               "nonideal rod_a = -0.1*F\n"
                               "output balance = rod_a'' + 0.1*F + 15\noutput load = F\n";
    near_to(output(text, 0), 0, 1e-10);
    assert_true(output(text, 1) > 1);
}

/* ---- the start ---- */

static void refused(const char *text, const char *message)
{
    machine m = open_machine(text);
    assert_int_equal(hm_sim_make_consistent(m.sim, false, NULL, NULL), HM_ERR_INPUT);
    const char *said = hm_context_diagnostic(hm_sim_context(m.sim), 0)->message;
    if (!strstr(said, message))
        fail_msg("'%s' is not in '%s'", message, said);
    close_machine(&m);
}

static void test_mirrored(void **state)
{
    (void)state;
    static const char *const kinds[] = {"hinge", "cylinder", "plane"};
    char text[400];
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text,
                 "body b { mass 1  inertia identity(3)  free }\n"
                 "joint j: %s of ground axis [0, 0, 1] and b axis [0, 0, -1]\n",
                 kinds[k]);
        refused(text, "mirror image");
        snprintf(text, sizeof text,
                 "body b { mass 1  inertia identity(3)  free }\n"
                 "joint j: %s of ground axis [0, 0, 1] and b axis [0, 0, -1]\n"
                 "initial b_e0 ~ 0.2, b_e1 ~ 1\noutput up = frame(b)[3,3]\n",
                 kinds[k]);
        near_to(output(text, 0), -1, 1e-12);
    }
}

/* A missing axis is that of the values as written, not of those that the solver moves to; parameters in
 * them count. */
static void test_measured_axis(void **state)
{
    (void)state;
    static const char text[] = "param a = 0.3\n"
                               "body b { mass 1  inertia identity(3)  free }\n"
                               "joint j: hinge of ground axis [0, 0, 1] and b\n"
                               "initial b_e0 ~ 2*cos(a/2), b_e1 ~ 2*sin(a/2), b_x ~ 5\n"
                               "output axis = transpose(frame(b))*[0, 0, 1]\noutput x = b_x\n";
    near_to(output(text, 0), 0, 1e-12);
    near_to(output(text, 1), sin(0.3), 1e-12);
    near_to(output(text, 2), cos(0.3), 1e-12);
    near_to(output(text, 3), 0, 1e-12);
}

/* The joint may come before its bodies, whose e0 starts at ~ 1 all the same. */
static void test_any_order(void **state)
{
    (void)state;
    static const char text[] =
        "joint j: weld of b and c\n"
        "coord e0, e1, e2, e3\n"
        "body b { mass 1  inertia identity(3)  free }\n"
        "body c { mass 1  inertia identity(3)  at [1, 2, 3]  frame quat(e0, e1, e2, e3) }\n"
        "initial b_x ~ 1, b_y ~ 2, b_z ~ 3\noutput x = b_x\noutput up = e0\n";
    near_to(output(text, 0), 1, 1e-12);
    near_to(output(text, 1), 1, 1e-12);
}

/* A family: a chain of joints between indexed bodies hangs straight down, and each carries what is below. */
static void test_family(void **state)
{
    (void)state;
    static const char text[] =
        "param N = 4\ngravity [0, 0, -10]\n"
        "for i = 1..N {\n"
        "  body b[i] { mass 1  inertia 0.1*identity(3)  free }\n"
        "  initial b_z[i] ~ 0.5 - i\n"
        "  output load[i] = wrench(pin[i])[3]\n"
        "}\n"
        "joint pin[1]: ball of ground and b[1] at [0, 0, 0.5]\n"
        "for i = 2..N { joint pin[i]: ball of b[i-1] at [0, 0, -0.5] and b[i] at [0, 0, 0.5] }\n";
    for (size_t k = 0; k < 4; k++)
        near_to(output(text, k), 10 * (4 - (double)k), 1e-11);
}

/* Points without a frame: particles on rods. */
static void test_particles(void **state)
{
    (void)state;
    static const char text[] = "coord x, y, u, v\ngravity [0, -10]\n"
                               "body p { mass 1  at [x, y] }\nbody s { mass 2  at [u, v] }\n"
                               "joint upper: distance 1 of ground and p\n"
                               "joint lower: distance 2 of p and s\n"
                               "initial y ~ -1, v ~ -3\n"
                               "output a = wrench(upper)[2]\noutput b = wrench(lower)[2]\n";
    near_to(output(text, 0), 30, 1e-11);
    near_to(output(text, 1), 20, 1e-11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balance_in_space), cmocka_unit_test(test_balance_in_plane),
        cmocka_unit_test(test_minimum_norm),     cmocka_unit_test(test_cantilever),
        cmocka_unit_test(test_wrench_in_law),    cmocka_unit_test(test_mirrored),
        cmocka_unit_test(test_measured_axis),    cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_family),           cmocka_unit_test(test_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
