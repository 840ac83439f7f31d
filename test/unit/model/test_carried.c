/* Bodies that carry bodies, and free bodies: the same accelerations as frames written by hand. */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 32 };

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
        fail_msg("%s", hm_context_diagnostic(m.context, 0)->message);
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

/* The value of coordinate `name` of another machine. */
static double find(const machine *m, const double *values, const char *name)
{
    for (size_t i = 0; i < hm_model_coordinate_count(m->model); i++)
        if (strcmp(hm_model_coordinate_name(m->model, i), name) == 0)
            return values[i];
    fail_msg("no coordinate %s", name);
    return NAN;
}

/* Random states with quaternions e0 .. e3 of length 1 and velocities along the sphere. */
static void random_state(const machine *m, random_source *random, double *q, double *v)
{
    size_t n = hm_model_coordinate_count(m->model);
    random_fill(random, -1, 1, n, q);
    random_fill(random, -1, 1, n, v);
    for (size_t i = 0; i + 3 < n; i++) {
        const char *name = hm_model_coordinate_name(m->model, i);
        double norm = 0, along = 0;
        if (!strstr(name, "e0"))
            continue;
        for (size_t k = i; k < i + 4; k++)
            norm += q[k] * q[k];
        for (size_t k = i; k < i + 4; k++) {
            q[k] /= sqrt(norm);
            along += q[k] * v[k];
        }
        for (size_t k = i; k < i + 4; k++)
            v[k] -= along * q[k];
    }
}

static void same_motion(const char *first, const char *second)
{
    machine a = open_machine(first), b = open_machine(second);
    size_t n = hm_model_coordinate_count(a.model);
    random_source random = {7};
    double q[MOST], v[MOST], p[MOST], w[MOST];
    assert_int_equal(n, hm_model_coordinate_count(b.model));
    assert_true(n <= MOST);
    for (int trial = 0; trial < 5; trial++) {
        hm_evaluation e, f;
        random_state(&a, &random, q, v);
        for (size_t i = 0; i < n; i++) {
            p[i] = find(&a, q, hm_model_coordinate_name(b.model, i));
            w[i] = find(&a, v, hm_model_coordinate_name(b.model, i));
        }
        hm_sim_set_state(a.sim, 0, q, v, NULL);
        hm_sim_set_state(b.sim, 0, p, w, NULL);
        assert_int_equal(hm_sim_evaluate(a.sim, NULL, &e), HM_OK);
        assert_int_equal(hm_sim_evaluate(b.sim, NULL, &f), HM_OK);
        double expected[MOST];
        for (size_t i = 0; i < n; i++)
            expected[i] = find(&b, f.qdd, hm_model_coordinate_name(a.model, i));
        check_close("q''", n, e.qdd, expected, 1e-10);
        check_number("energy", e.total, f.total, 1e-12);
    }
    close_machine(&a);
    close_machine(&b);
}

#define SPACE "gravity [0, 0.3, -9.81]\n"

static void joints_in_space(void **state)
{
    (void)state;
    same_motion("coord a, s, p, u, w\n" SPACE "body base { mass 2 inertia diag(1, 2, 3) com [0.1, "
                "0, 0.2] on ground by hinge(a, [0, 0, 2]) }\n"
                "body arm { mass 1 inertia diag(2, 1, 1) com [0, 0, 0.3] on base at [0.5, 0, 0] "
                "frame rotx(0.4) by slider(s, [1, 1, 0]) }\n"
                "body rod { mass 0.5 inertia diag(1, 1, 0.2) on arm at [0, 0.1, 0] by screw(p, [0, "
                "1, 0], 0.3) }\n"
                "body tip { mass 0.2 inertia identity(3) com [0.3, 0, 0] on rod by universal(u, "
                "[1, 0, 0], w, [0, 1, 0]) }\n",
                "coord a, s, p, u, w\n" SPACE
                "let R1 = rotz(a), R2 = R1*rotx(0.4), R3 = R2*roty(p), R4 = R3*rotx(u)*roty(w)\n"
                "let O2 = R1*([0.5, 0, 0] + rotx(0.4)*[s/sqrt(2), s/sqrt(2), 0])\n"
                "let O3 = O2 + R2*([0, 0.1, 0] + [0, 0.3*p/(2*pi), 0])\n"
                "body base { mass 2 inertia diag(1, 2, 3) at R1*[0.1, 0, 0.2] frame R1 }\n"
                "body arm { mass 1 inertia diag(2, 1, 1) at O2 + R2*[0, 0, 0.3] frame R2 }\n"
                "body rod { mass 0.5 inertia diag(1, 1, 0.2) at O3 frame R3 }\n"
                "body tip { mass 0.2 inertia identity(3) at O3 + R4*[0.3, 0, 0] frame R4 }\n");
}

static void ball_cylinder_weld(void **state)
{
    (void)state;
    same_motion("coord e0, e1, e2, e3, c, d\n" SPACE
                "body last { mass 1 com [0, 0, 1] on plate by weld }\n" /* its parent comes later */
                "body top { mass 1 inertia diag(1, 2, 3) com [0, 0, 0.5] on ground at [1, 0, 0] by "
                "ball(e0, e1, e2, e3) }\n"
                "body plate { mass 1 inertia diag(1, 1, 2) on top at [0, 0, 1] by cylinder(c, d, "
                "[0, 0, 1]) }\n",
                "coord e0, e1, e2, e3, c, d\n" SPACE
                "let R = quat(e0, e1, e2, e3), S = R*rotz(c), O = [1, 0, 0] + R*[0, 0, 1 + d]\n"
                "body top { mass 1 inertia diag(1, 2, 3) at [1, 0, 0] + R*[0, 0, 0.5] frame R }\n"
                "body plate { mass 1 inertia diag(1, 1, 2) at O frame S }\n"
                "body last { mass 1 at O + S*[0, 0, 1] }\n");
}

static void free_bodies(void **state)
{
    (void)state;
    same_motion("gravity [0, 0, -9.81]\nbody b { mass 2 inertia diag(1, 2, 3) free }\n"
                "constraint pin: point(b, [0, 0.2, 0]) = [0, 0, 0]\n"
                "force [0, 1, 0] at point(b, [1, 0, 0])\n",
                "coord b_x, b_y, b_z, b_e0, b_e1, b_e2, b_e3\ngravity [0, 0, -9.81]\n"
                "let P = [b_x, b_y, b_z], R = quat(b_e0, b_e1, b_e2, b_e3)\n"
                "body b { mass 2 inertia diag(1, 2, 3) at P frame R }\n"
                "constraint pin: P + R*[0, 0.2, 0] = [0, 0, 0]\n"
                "force [0, 1, 0] at P + R*[1, 0, 0]\n");
    same_motion(
        "gravity [0, -9.81]\nfor i = 1..2 { body b[i] { mass i inertia 0.1 free planar } }\n"
        "constraint rod: norm(point(b[1], [0, 1]) - origin(b[2])) = 1 + 0*b_a[2]\n",
        "coord b_x[1..2], b_y[1..2], b_a[1..2]\ngravity [0, -9.81]\n"
        "for i = 1..2 { body b[i] { mass i inertia 0.1 at [b_x[i], b_y[i]] angle b_a[i] } }\n"
        "constraint rod: norm([b_x[1] - sin(b_a[1]), b_y[1] + cos(b_a[1])] - "
        "[b_x[2], b_y[2]]) = 1\n");
}

static void trees_in_the_plane(void **state)
{
    (void)state;
    same_motion("param N = 4\ncoord q[1..N]\ngravity [0, -9.81]\n"
                "body link[0] { on ground by weld at [0, 0] }\n"
                "for i = 1..N { body link[i] { mass 1 inertia 0.1 com [0, -0.5] on link[i-1] "
                "at [0, if(i > 1, -1, 0)] by hinge(q[i]) } }\n",
                "param N = 4\ncoord q[1..N]\ngravity [0, -9.81]\nlet A[0] = 0, P[0] = [0, 0]\n"
                "for i = 1..N {\n let A[i] = A[i-1] + q[i]\n"
                " let P[i] = P[i-1] + [sin(A[i]), -cos(A[i])]\n"
                " body link[i] { mass 1 inertia 0.1 at (P[i] + P[i-1])/2 angle A[i] }\n}\n");
}

static void places(void **state)
{
    (void)state;
    const char *model = "coord q, s\ngravity [0, 0, -1]\n"
                        "body a { mass 1 inertia identity(3) com [0, 1, 0] on ground at [1, 2, 3] "
                        "by hinge(q, [0, 0, 3]) }\n"
                        "body c { mass 1 on a by slider(s, [2, 0, 0]) }\n";
    const char *at = "q = 1.5707963267948966, s = 0.5, q' = 2, s' = 1";
    const double origin[3] = {1, 2, 3}, center[3] = {0, 2, 3}, point[3] = {1, 3, 7},
                 rate[3] = {-1, 1, 0}, carried[3] = {1, 2.5, 3};
    check_values(model, "origin(a)", at, 3, origin);
    check_values(model, "center(a)", at, 3, center);
    check_values(model, "point(a, [1, 0, 4])", at, 3, point);
    check_values(model, "origin(c)", at, 3, carried);
    check_values(model, "origin(c)'", at, 3, rate);
    check_value(model, "frame(c)[2,1]", at, 1);
    check_value(model, "omega(frame(c))[3]", at, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_in_space), cmocka_unit_test(ball_cylinder_weld),
        cmocka_unit_test(free_bodies),     cmocka_unit_test(trees_in_the_plane),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
