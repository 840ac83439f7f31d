/* Random points of the configuration manifold: on it, proved, all different. */
#include "analyse_fixture.h"

#include "analyse/integrability/flag.h"

/* x^2 + y^2 + z^2 = 2 holds as balls, to 200 bits, redundant row or not. */
static void on_sphere(const char *text)
{
    fixture f;
    hmi_curve point;
    arb_t sum, last;
    open_fixture(&f, text);
    arb_init(sum);
    arb_init(last);
    hmi_curve_init(&point, &f.forms, 1, 320);
    for (int k = 0; k < 10; k++) {
        assert_int_equal(hmi_sample(&f.sampler, &point), HM_OK);
        assert_true(point.proved);
        arb_dot(sum, NULL, 0, point.z, 1, point.z, 1, 3, 320);
        arb_sub_ui(sum, sum, 2, 320);
        assert_true(arb_contains_zero(sum));
        assert_true(hmi_log2_above(sum) < -200);
        assert_false(arb_overlaps(last, point.z));
        arb_set(last, point.z);
    }
    arb_clear(sum);
    arb_clear(last);
    hmi_curve_clear(&point);
    close_fixture(&f);
}

static void sphere(void **state)
{
    (void)state;
    on_sphere("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
              "constraint c: x^2 + y^2 + z^2 = 2\ninitial x = 1, y = 1");
}

static void redundant(void **state)
{
    (void)state;
    on_sphere("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
              "constraint c: x^2 + y^2 + z^2 = 2\nconstraint d: sqrt(x^2 + y^2 + z^2) = sqrt(2)\n"
              "initial x = 1, y = 1");
}

/* The start is far from the manifold. */
static void far_start(void **state)
{
    (void)state;
    on_sphere("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
              "constraint c: x^2 + y^2 + z^2 = 2\ninitial x ~ 20, y ~ 5");
}

static void empty_manifold(void **state)
{
    (void)state;
    fixture f;
    hmi_curve point;
    open_fixture(&f, "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x^2 + y^2 = -1");
    hmi_curve_init(&point, &f.forms, 1, 320);
    assert_int_equal(hmi_sample(&f.sampler, &point), HM_ERR_NUMERIC);
    hmi_curve_clear(&point);
    close_fixture(&f);
}

/* Zero in every admissible state, and not in every state. */
static void states(void **state)
{
    (void)state;
    fixture f;
    bool zero;
    hmi_evidence evidence;
    const size_t rows[] = {0, 1};
    open_fixture(&f, "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                     "constraint c: x^2 + y^2 = 2\nconstraint d: z' = x*y' + 1\n"
                     "output a = x*x' + y*y'\noutput b = x^2 + y^2 - 2 + (z' - 1)^2 - x^2*y'^2\n"
                     "output c = z' - x*y'\ninitial x = 1, y = 1");
    const hmi_expr list[] = {f.model->outputs.data[0].expr, f.model->outputs.data[1].expr,
                             f.model->outputs.data[2].expr};
    assert_int_equal(hmi_zero_in_states(&f.sampler, rows, 2, list, 2, &zero, &evidence), HM_OK);
    assert_true(zero);
    assert_true(evidence.points >= 4 && evidence.zero < -200 && evidence.proved);
    assert_int_equal(hmi_zero_in_states(&f.sampler, rows, 2, list + 2, 1, &zero, &evidence), HM_OK);
    assert_false(zero);
    assert_int_equal(hmi_zero_in_states(&f.sampler, rows, 1, list, 2, &zero, &evidence), HM_OK);
    assert_false(zero);
    assert_int_equal(hmi_all_zero(&f.sampler, list, 1, &zero, &evidence), HM_OK);
    assert_false(zero);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere),         cmocka_unit_test(redundant), cmocka_unit_test(far_start),
        cmocka_unit_test(empty_manifold), cmocka_unit_test(states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
