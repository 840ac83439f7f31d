/* Out of memory in single calls of the public API, on a model that is already there: allocation k of
 * the call fails, for k = 0, 1, 2, ... until nothing does. Nothing leaks, the status says that memory
 * ran out, and the object serves the next call, which has what it needs. */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char blade[] =
    "param m = 2, s = 0.2, I = 1.5\ncoord x, y, th\n"
    "kinetic m/2*(x'^2 + y'^2) + m*s*th'*(y'*cos(th) - x'*sin(th)) + I/2*th'^2\n"
    "constraint blade: y'*cos(th) = x'*sin(th)\nsymmetry turn: x = -y, y = x, th = 1\n"
    "event far: x = 9 rising record\noutput e = energy\n"
    "initial th = 0.4, x' = cos(0.4), y' = sin(0.4), th' = 0.5\nsimulate 0 .. 0.2 every 0.1\n";

static const char central[] =
    "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential -1/sqrt(x^2 + y^2 + z^2)\n"
    "initial x = 1, y' = 0.9, z' = 0.2\n";

/* Redundant rows, M singular, a law that uses the constraint force. */
static const char singular[] =
    "coord x, y, w\nkinetic (x'^2 + y'^2)/2\npotential 3*y\n"
    "constraint one: w = x + y\nconstraint two: 2*w = 2*x + 2*y\n"
    "nonideal x = -0.2*abs(reaction(y))*x'\ninitial x = 1, y = 2, w = 3, x' = 1, y' = 1, w' = 2\n";

static const char degenerate[] = "coord x, y\nlagrangian x*y' - (x^2 + y^2)/2\n"
                                 "initial x = 1, y = 0.5, x' = 0.5, y' = 1\n";

typedef struct subject {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
} subject;

typedef struct trial {
    const char *text;
    hm_status (*call)(subject *s);
} trial;

static hm_status call_with(failing_heap *h, const void *user)
{
    const trial *now = user;
    subject s = {0};
    const hm_allocator allocator = heap_allocator(h);
    s.context = hm_context_create(&allocator);
    assert_non_null(s.context);
    assert_int_equal(hm_model_parse(s.context, now->text, strlen(now->text), NULL, &s.model),
                     HM_OK);
    assert_int_equal(hm_system_create(s.model, &s.system), HM_OK);
    assert_int_equal(hm_sim_create(s.system, &s.sim), HM_OK);
    heap_arm(h);
    hm_status status = now->call(&s);
    heap_disarm(h);
    assert_int_equal(now->call(&s), HM_OK);
    hm_sim_destroy(s.sim);
    hm_system_destroy(s.system);
    hm_model_destroy(s.model);
    hm_context_destroy(s.context);
    return status;
}

/* At least so many failures must be reported. */
static void fail_each(const char *text, hm_status (*call)(subject *), long most, long at_least)
{
    const trial now = {text, call};
    long reported = heap_fail_each(call_with, &now, most, HEAP_MAY_DO);
    print_message("%ld failed allocations\n", reported);
    assert_true(reported >= at_least);
}

/* ---- the calls ---- */

static hm_status find_symmetries(subject *s)
{
    hm_symmetries *found = NULL;
    hm_symmetry_options options = hm_symmetry_options_default();
    options.steps = 20;
    hm_status status = hm_symmetries_find(s->system, &options, &found);
    if (status == HM_OK)
        assert_true(found->symmetry_count + found->integral_count > 0);
    hm_symmetries_destroy(found);
    return status;
}

static hm_status evaluate(subject *s)
{
    hm_evaluation at;
    return hm_sim_evaluate(s->sim, NULL, &at);
}

static hm_status geometry(subject *s)
{
    const hm_geometry *at;
    return hm_sim_geometry(s->sim, &at);
}

static hm_status step(subject *s)
{
    hm_run_result result;
    hm_frame frame;
    hm_status status = hm_sim_start(s->sim, NULL);
    if (status == HM_OK)
        status = hm_sim_step(s->sim);
    if (status == HM_OK)
        status = hm_sim_advance(s->sim, 0.1);
    if (status == HM_OK)
        status = hm_sim_frame(s->sim, HM_FRAME_CONTENT_ALL, &frame);
    return status == HM_OK ? hm_sim_result(s->sim, &result) : status;
}

static hm_status linearize(subject *s)
{
    hm_linearization *l = NULL;
    hm_linearize_options options = hm_linearize_options_default();
    hm_status status = hm_sim_linearize(s->sim, &options, &l);
    hm_linearization_destroy(l);
    return status;
}

static hm_status with_engines(subject *s)
{
    hm_system_options options = hm_system_options_default();
    for (hm_engine engine = HM_ENGINE_AUTO; engine <= HM_ENGINE_INTERP; engine++) {
        hm_system *system = NULL;
        options.engine = engine;
        hm_status status = hm_system_create_with(s->model, &options, &system);
        hm_system_destroy(system);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

static hm_status pseudo_inverse(subject *s)
{
    static const double W[6] = {1, 2, 3, 2, 4, 6};
    double inverse[6];
    size_t rank = 0;
    hm_status status = hm_pseudo_inverse(s->context, 2, 3, W, inverse, &rank);
    assert_true(status != HM_OK || rank == 1);
    return status;
}

/* ---- a page of plots ---- */

static bool ignore(void *user, const char *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
    return true;
}

static hm_status fill(hm_table *table)
{
    for (int i = 0; i < 30; i++) {
        double t = i / 10.0, row[] = {t, cos(t), sin(t), -sin(t), cos(t), 1, 1e-9 * t, 1e-12, NAN};
        hm_status status = hm_table_add_row(table, row);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

static hm_status draw_run(failing_heap *h, const void *user)
{
    static const char *const names[] = {"t", "x",       "y",         "x'", "y'",
                                        "E", "balance", "violation", "o"};
    const hm_allocator allocator = heap_allocator(h);
    hm_table *table = NULL;
    hm_figure *figure = NULL;
    (void)user;
    heap_arm(h);
    hm_status status = hm_table_create(&allocator, sizeof names / sizeof *names, names, &table);
    if (status == HM_OK)
        status = fill(table);
    if (status == HM_OK)
        status = hm_figure_create(&allocator, "title", "below", &figure);
    if (status == HM_OK)
        status = hm_figure_run(figure, table);
    if (status == HM_OK)
        status = hm_figure_svg(figure, ignore, NULL);
    hm_figure_destroy(figure);
    hm_table_destroy(table);
    return status;
}

/* ---- the tests ---- */

static void symmetries(void **state)
{
    (void)state;
    fail_each(blade, find_symmetries, HEAP_TRIES / 2, 5);
    fail_each(central, find_symmetries, HEAP_TRIES / 2, 5);
}

static void evaluation(void **state)
{
    (void)state;
    fail_each(singular, evaluate, HEAP_TRIES, 0); /* no allocation in an evaluation */
    fail_each(blade, geometry, HEAP_TRIES, 0);
    fail_each(degenerate, evaluate, HEAP_TRIES, 5);
}

static void stepping(void **state)
{
    (void)state;
    fail_each(blade, step, HEAP_TRIES, 20);
}

static void linearization(void **state)
{
    (void)state;
    fail_each(blade, linearize, HEAP_TRIES, 20);
    fail_each(central, linearize, HEAP_TRIES, 20);
}

static void systems(void **state)
{
    (void)state;
    fail_each(singular, with_engines, HEAP_TRIES, 20);
    fail_each(degenerate, with_engines, HEAP_TRIES, 20);
}

static void small_calls(void **state)
{
    (void)state;
    fail_each(central, pseudo_inverse, HEAP_TRIES, 1);
    assert_true(heap_fail_each(draw_run, NULL, HEAP_ALL, HEAP_MUST_NOTICE) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetries), cmocka_unit_test(evaluation),
        cmocka_unit_test(stepping),   cmocka_unit_test(linearization),
        cmocka_unit_test(systems),    cmocka_unit_test(small_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
