/* The solve along the tree of bodies (compile/solve/recursion.h, derive/tree_form.h) against the dense one,
 * which derives M and Q by Lagrange's equations: chains, trees, loops, in space and in the plane. */
#include "dynamics/sim/evaluation.h"
#include "dynamics/sim/motion.h"
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 160, MOST_TEXT = 1 << 18 };

typedef struct text {
    char data[MOST_TEXT];
    size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(out->data + out->length, MOST_TEXT - out->length, format, arguments);
    va_end(arguments);
    assert_true(more >= 0 && out->length + (size_t)more < MOST_TEXT);
    out->length += (size_t)more;
}

typedef struct machine {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    hmi_sim_motion *motion;
} machine;

static machine open_machine(const text *model)
{
    machine m = {.context = hm_context_create(NULL)};
    if (hm_model_parse(m.context, model->data, model->length, NULL, &m.model) != HM_OK)
        fail_msg("%s\n%s", hm_context_diagnostic(m.context, 0)->message, model->data);
    assert_int_equal(hm_system_create(m.model, &m.system), HM_OK);
    assert_int_equal(hm_sim_create(m.system, &m.sim), HM_OK);
    return m;
}

static void close_machine(machine *m)
{
    hmi_sim_motion_destroy(m->motion);
    hm_sim_destroy(m->sim);
    hm_system_destroy(m->system);
    hm_model_destroy(m->model);
    hm_context_destroy(m->context);
}

/* At a random state. True where the tape had an answer. */
static bool agrees(machine *m, random_source *random, double tolerance)
{
    size_t n = m->system->derived.n, rows = m->system->derived.constraints.count;
    double q[MOST], v[MOST];
    hmi_solution s;
    random_fill(random, -1.5, 1.5, n, q);
    random_fill(random, -2, 2, n, v);
    hm_sim_set_state(m->sim, 0.3, q, v, NULL);
    const hmi_point *at = hmi_sim_present(m->sim);
    hmi_sim_refresh(m->sim, at);
    if (!hmi_sim_motion_run(m->sim, m->motion, at))
        return false;
    hmi_sim_evaluate(m->sim, at);
    assert_int_equal(hmi_sim_accelerate_here(m->sim, at, &s), HM_OK);
    const double *out = m->motion->out, *lambda = out + m->motion->program.at.lambda;
    double size = 1 + max_norm(n, s.qdd), force = 1 + max_norm(rows, s.total_lambda);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(out[i] - s.qdd[i]) <= tolerance * size))
            fail_msg("q''[%zu] = %.17g along the tree, %.17g dense", i, out[i], s.qdd[i]);
    for (size_t i = 0; i < rows; i++)
        assert_true(fabs(lambda[i] - s.total_lambda[i]) <= tolerance * force);
    return true;
}

/* Ten random states; `wanted`: the tree has to be what is used. */
static void check_model(const text *model, bool wanted, uint64_t seed, double tolerance)
{
    machine m = open_machine(model);
    random_source random = {seed};
    int answered = 0;
    const hmi_point *at = hmi_sim_present(m.sim);
    assert_int_equal(hmi_sim_motion_create(m.sim, at, NULL, &m.motion), HM_OK);
    if (!m.motion || m.motion->program.by_tree != wanted)
        fail_msg("%s, not %s:\n%s",
                 !m.motion ? "dense"
                 : wanted  ? "M"
                           : "tree",
                 wanted ? "the tree" : "M", model->data);
    for (int k = 0; k < 10; k++)
        answered += agrees(&m, &random, tolerance);
    assert_true(answered >= 8);
    close_machine(&m);
}

static void begin(text *out, int n)
{
    out->length = 0;
    put(out, "model m\nparam a = 0.4, g = 9.81\ncoord q[1..%d]\n", n);
}

static void finish(text *out, int n, bool planar)
{
    put(out, "gravity [0, %s-g]\nfor i = 1..%d { initial q[i] = 0.3*sin(i), q[i]' = 0.2 }\n",
        planar ? "" : "0, ", n);
}

static const char *axis_of(random_source *random, char out[64])
{
    snprintf(out, 64, "[%.2f, %.2f, %.2f]", random_between(random, -1, 1),
             random_between(random, -1, 1), random_between(random, 0.1, 1));
    return out;
}

/* Long products of rotations: no entry of M is taken for zero. */
static void test_full_mass(void **state)
{
    static text model;
    random_source random = {5};
    char axis[64];
    (void)state;
    begin(&model, 70);
    for (int i = 1; i <= 70; i++) {
        put(&model, "body b%d { mass 1  inertia diag(1, 2, 2)  com [0.1, 0.2, 0.3] on ", i);
        if (i == 1)
            put(&model, "ground ");
        else
            put(&model, "b%d at [0.2, 0.1, 0.3] ", i - 1);
        put(&model, "by hinge(q[%d], %s) }\n", i, axis_of(&random, axis));
    }
    machine m = open_machine(&model);
    assert_int_equal(m.system->derived.M.column.count, 70 * 71 / 2);
    close_machine(&m);
}

/* Hinges, sliders, screws and particles; `branch`: how far back a parent may be. */
static void carried(text *out, int n, int branch, random_source *random)
{
    char axis[64];
    begin(out, n);
    for (int i = 1; i <= n; i++) {
        int parent = i - 1 - (int)random_between(random, 0, branch);
        int joint = (int)random_between(random, 0, 6);
        put(out, "body b%d { mass %.2f  inertia [[0.1,0.01,0],[0.01,a,0.003],[0,0.003,0.2]] ", i,
            random_between(random, 0.5, 3));
        put(out, "com [0.1, a/4, 0.05] on ");
        if (parent < 1)
            put(out, "ground ");
        else
            put(out, "b%d at [0.2, 0.1, %.2f] frame rotx(0.3) ", parent,
                random_between(random, -1, 1));
        put(out,
            joint == 0   ? "by slider(q[%d], %s) }\n"
            : joint == 1 ? "by screw(q[%d], %s, 0.1) }\n"
                         : "by hinge(q[%d], %s) }\n",
            i, axis_of(random, axis));
    }
    put(out, "dissipation 0.05*sum(i = 1..%d, q[i]'^2)\nforce q[1] = cos(t)\n", n);
}

static void test_trees_in_space(void **state)
{
    static text model;
    (void)state;
    for (int round = 0; round < 7; round++) {
        random_source random = {(uint64_t)round + 5};
        int n = 12 + 8 * round;
        carried(&model, n, round % 4, &random);
        finish(&model, n, false);
        check_model(&model, true, (uint64_t)round, 1e-10);
    }
}

/* Rotations and positions written out, as in a book. */
static void test_by_hand(void **state)
{
    static text model;
    (void)state;
    for (int n = 7; n <= 110; n *= 2) {
        begin(&model, n);
        put(&model, "let R0 = rotz(0)\nlet P0 = [0, 0, 0.1*sin(t)]\n");
        for (int i = 1; i <= n; i++) {
            put(&model, "let R%d = R%d*%s(q[%d])\n", i, i - 1, i % 2 ? "rotz" : "roty", i);
            put(&model, "let C%d = P%d + R%d*[0.01, 0.02, 0.2]\n", i, i - 1, i);
            put(&model, "let P%d = P%d + R%d*[0, 0, 0.4]\n", i, i - 1, i);
            put(&model, "body b%d { mass 2  inertia diag(0.1, a, 0.3)  frame R%d  at C%d }\n", i, i,
                i);
        }
        finish(&model, n, false);
        check_model(&model, true, 3, 1e-10);
    }
}

/* In the plane: carried hinges, and links by sums of sines, as bodies or by their energy. */
static void test_in_the_plane(void **state)
{
    static text model;
    (void)state;
    for (int n = 20; n <= 40; n *= 2) {
        begin(&model, n);
        put(&model, "body b1 { mass 1  inertia 0.1  com [0, -a]  on ground by hinge(q[1]) }\n");
        for (int i = 2; i <= n; i++)
            put(&model,
                "body b%d { mass 1  inertia 0.1  com [0, -a]  on b%d at [0, -0.7] by hinge(q[%d]) "
                "}\n",
                i, i - 1, i);
        finish(&model, n, true);
        check_model(&model, true, 9, 1e-9);
        begin(&model, n);
        put(&model, "let P0 = [0, 0]\n");
        for (int i = 1; i <= n; i++)
            put(&model,
                "let P%d = P%d + a*[sin(q[%d]), -cos(q[%d])]\nkinetic dot(P%d', P%d')/2\n"
                "potential g*P%d[2]\n",
                i, i - 1, i, i, i, i, i);
        for (int i = 1; i <= n; i++)
            put(&model, "initial q[%d] = 0.3*sin(%d)\n", i, i);
        check_model(&model, true, 10, 1e-9);
    }
}

/* Constraints on a tree: a small Schur complement. */
static void test_loops(void **state)
{
    static text model;
    (void)state;
    for (int round = 0; round < 4; round++) {
        random_source random = {(uint64_t)round + 50};
        int n = 24 + 8 * round;
        carried(&model, n, round % 3, &random);
        put(&model, "constraint dot(origin(b%d) - origin(b%d), origin(b%d) - origin(b%d)) = 1\n", n,
            n / 2, n, n / 2);
        put(&model, "constraint q[3]' = 0.3*q[5]'\nnonideal q[4] = 0.1*q[4]'\n");
        finish(&model, n, false);
        check_model(&model, true, (uint64_t)round, 1e-9);
    }
}

/* Quaternions: M is singular along them, and their constraints make it positive. */
static void test_quaternions(void **state)
{
    static text model;
    (void)state;
    for (int n = 12; n <= 36; n += 12) {
        begin(&model, n);
        put(&model,
            "coord e0, e1, e2, e3, f0, f1, f2, f3\ninitial e0 = 1, f0 = 0.8, f1 = 0.6\n"
            "body base { mass 5  inertia diag(1, 2, 2.5)  on ground by ball(e0, e1, e2, e3) }\n");
        for (int i = 1; i <= n; i++) {
            put(&model, "body b%d { mass 1  inertia diag(0.1, a, 0.3)  com [0.1, 0, 0.05] on ", i);
            put(&model, i < 3 ? "base at [%d, 0.1, 0.2] " : "b%d at [0.2, 0.1, 0.3] ", i - 2);
            put(&model, i == 5 ? "by ball(f0, f1, f2, f3) }\n" : "by hinge(q[%d], [%d, 1, %d]) }\n",
                i, i % 2, i % 3);
        }
        put(&model, "kinetic q[5]'^2\n");
        finish(&model, n, false);
        check_model(&model, true, (uint64_t)n, 1e-8);
    }
}

/* What is not a body of constant inertia goes by Lagrange's equations beside the others. */
static void test_mixed(void **state)
{
    static text model;
    random_source random = {77};
    (void)state;
    carried(&model, 20, 2, &random);
    put(&model, "body late { mass 1 + 0.1*sin(q[2])  at origin(b9) }\nkinetic 0.2*q[7]'^2\n"
                "mass q[5], q[5] = 0.3\nlagrangian 0.1*q[1]'*q[2]'*cos(q[3]) + 0.2*q[6]'\n"
                "potential 3*q[8]^2\n");
    finish(&model, 20, false);
    check_model(&model, true, 4, 1e-10);
}

/* A fixed matrix that is no rotation: bodies are as they were derived, not as a tree would have them. */
static void test_no_rotation(void **state)
{
    static text model;
    (void)state;
    begin(&model, 20);
    put(&model,
        "let S = [[1, 0.2, 0], [0, 1, 0], [0, 0, 1.5]]\nlet R0 = rotz(0)\nlet P0 = [0,0,0]\n");
    for (int i = 1; i <= 20; i++)
        put(&model,
            "let R%d = R%d*%s(q[%d])\nlet P%d = P%d + R%d*[0, 0.1, 0.4]\n"
            "body b%d { mass 2  inertia diag(0.1, a, 0.3)  frame %sR%d  at P%d }\n",
            i, i - 1, i % 2 ? "rotz" : "roty", i, i, i - 1, i, i, i == 7 ? "S*" : "", i, i);
    finish(&model, 20, false);
    check_model(&model, false, 6, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_mass), cmocka_unit_test(test_trees_in_space),
        cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_in_the_plane),
        cmocka_unit_test(test_loops),     cmocka_unit_test(test_quaternions),
        cmocka_unit_test(test_mixed),     cmocka_unit_test(test_no_rotation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
