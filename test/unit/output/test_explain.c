/* `explain` of every stage: what has to be in the text, models that take each way of the solve, a
 * writer that stops, memory that is missing. */
#include "helpers.h"
#include "support/heap.h"
#include "support/probe.h"

#include <stdio.h>

static const hm_stage stages[] = {HM_STAGE_GRAPH, HM_STAGE_TAPE, HM_STAGE_JET, HM_STAGE_SOLVE};

static char *explain(const char *text, hm_stage stage)
{
    collected c = {0};
    probe *p = probe_text(text);
    assert_int_equal(hm_system_explain(p->system, stage, collect, &c), HM_OK);
    probe_close(p);
    return c.text;
}

static void check_part(const char *text, hm_stage stage, const char *part)
{
    char *out = explain(text, stage);
    if (!strstr(out, part))
        fail_msg("'%s' is missing in:\n%s", part, out);
    free(out);
}

/* ---- models, each with its way ---- */

static const char pendulum[] = "param m = 2, l = 1, g = 9.81\n"
                               "coord x, y\n"
                               "kinetic m/2*(x'^2 + y'^2)\npotential m*g*y\n"
                               "constraint rod: x^2 + y^2 = l^2\n";

static const char angles[] = "coord a, b\n"
                             "kinetic (a'^2 + b'^2 + a'*b'*cos(a - b))/2\n"
                             "potential cos(a) + cos(b)\n";

static const char chain[] =
    "param N = 40\n"
    "coord x[1..N], y[1..N]\n"
    "for i = 1..N { kinetic (x[i]'^2 + y[i]'^2)/2\n  potential 9.81*y[i] }\n"
    "constraint rod[1]: x[1]^2 + y[1]^2 = 1\n"
    "for i = 2..N { constraint rod[i]: (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 }\n";

static const char servo[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\n"
                            "state z' = x\n"
                            "input u = cos(t)\nforce x = u\n"
                            "servo hold: y' = 1 with gain 3\n"
                            "output speed = x'\n";

static const char friction[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential y\n"
                               "constraint floor: y = 0\n"
                               "nonideal x = -0.1*multiplier(floor)*sign(x')\n";

static const char degenerate[] = "coord x, y\nlagrangian x*y' - x^2\n";

static const char *const models[] = {pendulum, angles, chain, servo, friction, degenerate};

static void test_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
            char *out = explain(models[i], stages[k]);
            assert_true(strlen(out) > 20);
            assert_int_equal(out[strlen(out) - 1], '\n');
            free(out);
        }
}

static void test_parts(void **state)
{
    (void)state;
    check_part(pendulum, HM_STAGE_GRAPH, "m*g");
    check_part(pendulum, HM_STAGE_TAPE, "-> Q[y]");
    check_part(pendulum, HM_STAGE_TAPE, "-> A[1,x]");
    check_part(pendulum, HM_STAGE_TAPE, "parameters m, l, g");
    check_part(servo, HM_STAGE_TAPE, "-> servo A[1,y]");
    check_part(servo, HM_STAGE_TAPE, "-> z'");
    check_part(servo, HM_STAGE_TAPE, "-> speed");
    check_part(servo, HM_STAGE_TAPE, "-> u'");
    check_part(friction, HM_STAGE_TAPE, "reaction laws");
    check_part(angles, HM_STAGE_JET, "by momenta");
    check_part(angles, HM_STAGE_JET, "follow from products with");
    check_part(servo, HM_STAGE_JET, "no series: the model has servos");
    check_part(pendulum, HM_STAGE_SOLVE, "solve compiled with the equations: yes");
    check_part(pendulum, HM_STAGE_SOLVE, "order rod");
    check_part(chain, HM_STAGE_SOLVE, "array code with a sparse Gram matrix: yes");
    check_part(chain, HM_STAGE_SOLVE, "band of width 1");
    check_part(chain, HM_STAGE_SOLVE, "after the solve");
    check_part(servo, HM_STAGE_SOLVE, "servos are solved for step by step");
    check_part(friction, HM_STAGE_SOLVE, "forces depend on reactions");
    check_part(degenerate, HM_STAGE_SOLVE, "generic solve");
}

static void test_names(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++) {
        hm_stage found;
        assert_true(hm_stage_find(hm_stage_name(stages[k]), &found));
        assert_int_equal(found, stages[k]);
    }
    assert_false(hm_stage_find("stage", &(hm_stage){HM_STAGE_GRAPH}));
}

/* ---- what goes wrong ---- */

static bool stop(void *user, const char *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
    return false;
}

static bool swallow(void *user, const char *bytes, size_t length)
{
    (void)user, (void)bytes, (void)length;
    return true;
}

static void test_writer(void **state)
{
    (void)state;
    probe *p = probe_text(pendulum);
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
        assert_int_equal(hm_system_explain(p->system, stages[k], stop, NULL), HM_ERR_IO);
    probe_close(p);
}

static hm_status explain_once(failing_heap *heap, const void *user)
{
    const hm_stage *stage = user;
    const hm_allocator allocator = heap_allocator(heap);
    hm_context *context = hm_context_create(&allocator);
    hm_model *model = NULL;
    hm_system *system = NULL;
    assert_int_equal(hm_model_parse(context, pendulum, strlen(pendulum), NULL, &model), HM_OK);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    heap_arm(heap);
    hm_status status = hm_system_explain(system, *stage, swallow, NULL);
    heap_disarm(heap);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
        assert_true(heap_fail_each(explain_once, &stages[k], HEAP_TRIES, HEAP_MAY_DO) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),    cmocka_unit_test(test_parts),  cmocka_unit_test(test_names),
        cmocka_unit_test(test_writer), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
