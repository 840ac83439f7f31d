/* Every allocation of a run fails once, by every method: no crash, no leak, HM_ERR_NOMEM or a run that
 * is fine. */
#include "support/heap.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <string.h>

/* Switches, events that act and record, a state, an output, values to be made consistent. */
static const char friction_text[] =
    "param mu = 0.5; coord x, y; state w' = x\n"
    "kinetic (x'^2 + y'^2)/2; potential 10*y; constraint floor: y = 0\n"
    "force x = 2*t - 1; nonideal x = -mu*abs(multiplier(floor))*sign(x')\n"
    "event far: x = 3 rising record; event wall: x = 4 rising set x' = -x'/2\n"
    "output f = reaction(y); initial x ~ 0.1, y ~ 0.2; simulate 0 .. 4.8";

/* Directions, acceleration-level rows, inputs that switch, constraints that lose rank. */
static const char more_text[] =
    "coord x, y, a, b, c; kinetic (x'^2 + y'^2 + a'^2 + b'^2 + c'^2)/2; let s = hypot(x', y')\n"
    "input u = if(t < 0.7, 1, -1); force x = u - 3*x'/s, y = -3*y'/s\n"
    "constraint acc: c'' = t; constraint rod: a^2 + b^2 = 1; constraint line: a = cos(1 + t)\n"
    "initial x' = 1, y' = 1, a ~ 0.5, b ~ 0.8; simulate 0 .. 1.5";

/* What all methods can do: positions constrained, no dissipation. */
static const char rod_text[] =
    "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y + tanh(x)\n"
    "constraint rod: x^2 + y^2 = 1; event low: x = 0.999 falling record\n"
    "initial x = 1, y = 0; simulate 0 .. 0.1 step 0.02";

static const char rolling_text[] =
    "coord x, y, th; state w' = x - w; kinetic (x'^2 + y'^2 + th'^2)/2; potential 0.3*x^2\n"
    "constraint blade: y'*cos(th) = x'*sin(th); force th = -0.1*th'\n"
    "initial th = 0.4, x' = cos(0.4), y' ~ 0.3, th' = 1; simulate 0 .. 0.1 step 0.02";

/* No q'' at all: first-order equations of a degenerate Lagrangian. */
static const char degenerate_text[] = "coord x, y; lagrangian x*y' - (x^2 + y^2)/2\n"
                                      "initial x = 1, x' ~ 0, y' ~ 0; simulate 0 .. 0.1 step 0.02";

typedef struct trial {
    const char *text, *method, *drift;
} trial;

static hm_status run_with(failing_heap *h, const void *user)
{
    const trial *now = user;
    const hm_allocator allocator = heap_allocator(h);
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    hm_run_result result;
    assert_int_equal(hm_model_parse(context, now->text, strlen(now->text), NULL, &model), HM_OK);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    assert_int_equal(hm_sim_create(system, &sim), HM_OK);
    hm_run_options options = hm_run_options_default(model);
    options.method = now->method;
    options.drift = now->drift;
    options.content = HM_FRAME_CONTENT_ALL;
    heap_arm(h);
    hm_status status = hm_sim_run(sim, &options, &result);
    heap_disarm(h);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return status;
}

static void fail_each(const char *text, const char *method, const char *drift, long at_least)
{
    const trial now = {text, method, drift};
    long reported = heap_fail_each(run_with, &now, HEAP_TRIES, HEAP_MAY_DO);
    print_message("%-8s %ld failed allocations\n", method ? method : "auto", reported);
    assert_true(reported >= at_least);
}

static void test_features(void **state)
{
    (void)state;
    fail_each(friction_text, NULL, NULL, 20);
    fail_each(more_text, NULL, NULL, 20);
}

static void test_methods(void **state)
{
    (void)state;
    for (size_t i = 0; hm_method_name(i); i++)
        fail_each(rod_text, hm_method_name(i), NULL, 20);
    fail_each(rod_text, "radau", "baumgarte", 20);
    fail_each(rod_text, "dop853", "none", 20);
}

static void test_velocity_constraints(void **state)
{
    (void)state;
    static const char *const methods[] = {"rk5", "taylor", "radau"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        fail_each(rolling_text, methods[i], NULL, 20);
}

static void test_degenerate(void **state)
{
    (void)state;
    static const char *const methods[] = {NULL, "radau", "midpoint"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        fail_each(degenerate_text, methods[i], NULL, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_velocity_constraints),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
