/* What is drawn of a model that has no `draw` statements: solids of the right mass and inertia. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <string.h>

typedef struct world {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    hm_evaluation at;
} world;

static void open_world(world *w, const char *text, bool scene)
{
    hm_model_options options = hm_model_options_default();
    *w = (world){.context = hm_context_create(NULL)};
    options.scene = scene;
    assert_int_equal(hm_model_parse(w->context, text, strlen(text), &options, &w->model), HM_OK);
    assert_int_equal(hm_system_create(w->model, &w->system), HM_OK);
    assert_int_equal(hm_sim_create(w->system, &w->sim), HM_OK);
    assert_int_equal(hm_sim_evaluate(w->sim, NULL, &w->at), HM_OK);
}

static void close_world(world *w)
{
    hm_sim_destroy(w->sim);
    hm_system_destroy(w->system);
    hm_model_destroy(w->model);
    hm_context_destroy(w->context);
}

static double value(const world *w, size_t drawing, size_t part, size_t k)
{
    return w->at.drawings[hm_model_drawing(w->model, drawing).parts[part].first + k];
}

/* A box of edges 1, 2, 3 and mass 12: J = m (b^2 + c^2)/12 and so on; its frame is turned. */
static void box(void **state)
{
    (void)state;
    world w;
    open_world(&w,
               "coord a, x\nbody b { mass 12  inertia diag(13, 10, 5)  at [x, 0, 0]  "
               "frame rotz(a) }\ninitial a = 0.3, x = 7\n",
               true);
    hm_drawing d = hm_model_drawing(w.model, 0);
    assert_int_equal(d.kind, HM_DRAWING_BOX);
    assert_string_equal(d.label, "b");
    check_number("place", value(&w, 0, 0, 0), 7, 1e-14);
    /* R diag(edges^2) R^T does not depend on the order and the signs of the axes. */
    double S[3][3] = {{0}};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 3; k++)
                S[i][j] += value(&w, 0, 1, 3 * i + k) * value(&w, 0, 1, 3 * j + k) *
                           pow(value(&w, 0, 2, k), 2);
    double c = cos(0.3), s = sin(0.3);
    check_number("xx", S[0][0], c * c * 1 + s * s * 4, 1e-12);
    check_number("xy", S[0][1], c * s * (1 - 4), 1e-12);
    check_number("yy", S[1][1], s * s * 1 + c * c * 4, 1e-12);
    check_number("zz", S[2][2], 9, 1e-12);
    close_world(&w);
}

/* J = 2/5 m r^2 of a ball, m r^2/2 of a disc. */
static void round_bodies(void **state)
{
    (void)state;
    world w;
    open_world(&w,
               "param m = 3, r = 0.5\ncoord a, b\n"
               "body ball { mass m  inertia 2/5*m*r^2*identity(3)  at [0, 0, 0]  frame rotx(a) }\n"
               "body disc { mass m  inertia m*r^2/4*diag(1, 2, 1)  at [1, 0, 0]  frame roty(b) }\n"
               "gravity [0, 0, -2*m]\n",
               true);
    assert_int_equal(hm_model_drawing(w.model, 0).kind, HM_DRAWING_SPHERE);
    check_number("radius of the ball", value(&w, 0, 1, 0), 0.5, 1e-14);
    assert_int_equal(hm_model_drawing(w.model, 1).kind, HM_DRAWING_DISC);
    check_number("radius of the disc", value(&w, 1, 2, 0), 0.5, 1e-14);
    check_number("its axis", fabs(value(&w, 1, 1, 3 * 1 + 2)), 1, 1e-14);
    double gravity[3];
    hm_model_gravity(w.model, gravity);
    check_number("down", gravity[2], -6, 1e-14);
    close_world(&w);
}

/* Coordinates are places where there are no bodies, and tell which they are. */
static void coordinates(void **state)
{
    (void)state;
    world w;
    open_world(&w, "coord theta, x, y\nkinetic x'^2 + y'^2 + theta'^2\ninitial x = 2, y = 3\n",
               true);
    hm_drawing point = hm_model_drawing(w.model, 0);
    assert_int_equal(hm_model_drawing_count(w.model), 2);
    assert_int_equal(point.kind, HM_DRAWING_POINT);
    assert_true(point.place[0] == 1 && point.place[1] == 2 && point.place[2] == -1);
    check_number("y", value(&w, 0, 0, 1), 3, 0);
    assert_int_equal(hm_model_drawing(w.model, 1).kind, HM_DRAWING_TRACE);
    close_world(&w);
}

/* Nothing is added where it was not asked for, or where something is drawn already. */
static void left_alone(void **state)
{
    (void)state;
    world w;
    open_world(&w, "coord x, y\nkinetic x'^2 + y'^2\n", false);
    assert_int_equal(hm_model_drawing_count(w.model), 0);
    close_world(&w);
    open_world(&w, "coord x, y\nkinetic x'^2 + y'^2\ndraw ground 0\n", true);
    assert_int_equal(hm_model_drawing_count(w.model), 1);
    close_world(&w);
    open_world(&w, "coord a, xi\nkinetic a'^2 + xi'^2\n", true);
    assert_int_equal(hm_model_drawing_count(w.model), 0);
    close_world(&w);
}

static size_t count_kind(const world *w, hm_drawing_kind kind, size_t *last)
{
    size_t count = 0;
    for (size_t i = 0; i < hm_model_drawing_count(w->model); i++)
        if (hm_model_drawing(w->model, i).kind == kind) {
            *last = i;
            count++;
        }
    return count;
}

/* A rod from the anchor to the point, another between two points; an ellipse is none. */
static void rods(void **state)
{
    (void)state;
    world w;
    size_t rod = 0;
    open_world(&w,
               "param l = 2, a = 0.5\ncoord x1, y1, x2, y2, x3, y3\n"
               "kinetic (x1'^2 + y1'^2 + x2'^2 + y2'^2 + x3'^2 + y3'^2)/2\n"
               "constraint one: (x1 - a)^2 + (y1 + 1)^2 = l^2\n"
               "constraint two: sqrt((x2 - x1)^2 + (y2 - y1)^2) = l\n"
               "constraint three: x3^2/4 + y3^2 = 1\n"
               "initial x1 = 2.5, y1 = -1, x2 = 4.5, y2 = -1, x3 = 2, y3 = 0\n",
               true);
    assert_int_equal(count_kind(&w, HM_DRAWING_LINE, &rod), 2);
    check_number("from", value(&w, rod - 1, 0, 0), 0.5, 1e-12);
    check_number("from", value(&w, rod - 1, 0, 1), -1, 1e-12);
    check_number("to", value(&w, rod - 1, 1, 0), 2.5, 1e-12);
    check_number("first end", value(&w, rod, 0, 0) + value(&w, rod, 1, 0), 7, 1e-12);
    close_world(&w);
}

/* y >= 1/2 is a ground; x >= 0 is none. */
static void ground(void **state)
{
    (void)state;
    world w;
    size_t at = 0;
    open_world(&w,
               "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint floor: 2*y >= 1\n"
               "constraint wall: x >= 0\ninitial x = 1, y = 3\n",
               true);
    assert_int_equal(count_kind(&w, HM_DRAWING_GROUND, &at), 1);
    check_number("height", value(&w, at, 0, 0), 0.5, 1e-12);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rods),         cmocka_unit_test(ground),      cmocka_unit_test(box),
        cmocka_unit_test(round_bodies), cmocka_unit_test(coordinates), cmocka_unit_test(left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
