/* Plans: grids, lists, random columns, tables, and what is refused. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

static const char text[] = "param m = 1, L = 2; coord x, y; kinetic m*(x'^2 + y'^2)/2\n"
                           "potential x^2/2\nsimulate 0 .. 1\n";

static hm_sweep_plan *plan_of(motion *m, hm_sweep_spec spec)
{
    hm_sweep_plan *plan = NULL;
    assert_int_equal(hm_sweep_plan_create(m->context, m->model, &spec, &plan), HM_OK);
    return plan;
}

static void test_grid(void **state)
{
    (void)state;
    motion *m = motion_text(text);
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.grid = "m=1:3:5, x' = L | 2*pi|-1e-3";
    hm_sweep_plan *plan = plan_of(m, spec);
    double v[2];
    assert_int_equal(hm_sweep_plan_points(plan), 15);
    assert_int_equal(hm_sweep_plan_columns(plan), 2);
    assert_string_equal(hm_sweep_plan_name(plan, 1), "x'");
    assert_int_equal(hm_sweep_plan_levels(plan, 0), 5);
    const double speeds[] = {2, 2 * acos(-1), -1e-3};
    for (size_t k = 0; k < 15; k++) {
        hm_sweep_plan_point(plan, k, v);
        assert_true(v[0] == 1 + 0.5 * (double)(k / 3) && v[1] == speeds[k % 3]);
    }
    hm_sweep_plan_destroy(plan);
    motion_close(m);
}

/* The samples of a point do not depend on how many points there are. */
static void test_random(void **state)
{
    (void)state;
    motion *m = motion_text(text);
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.random = "m=uniform(1,2), x=normal(0,0.1), y=discrete(1|2)";
    double a[3], b[3];
    for (int sobol = 0; sobol < 2; sobol++) {
        spec.sobol = sobol;
        spec.samples = 100;
        hm_sweep_plan *few = plan_of(m, spec);
        spec.samples = 100000;
        hm_sweep_plan *many = plan_of(m, spec);
        for (size_t k = 0; k < 100; k++) {
            hm_sweep_plan_point(few, k, a);
            hm_sweep_plan_point(many, k, b);
            assert_memory_equal(a, b, sizeof a);
            assert_true(a[0] > 1 && a[0] < 2 && (a[2] == 1 || a[2] == 2));
        }
        hm_sweep_plan_destroy(few);
        hm_sweep_plan_destroy(many);
    }
    motion_close(m);
}

static void test_table(void **state)
{
    (void)state;
    motion *m = motion_text(text);
    static const char csv[] = "m,y'\n1,2\n3,4\n";
    hm_table *table;
    assert_int_equal(hm_table_parse_csv(m->context, "csv", csv, strlen(csv), &table), HM_OK);
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.points = table;
    spec.random = "x=uniform(0,1)";
    spec.samples = 3;
    hm_sweep_plan *plan = plan_of(m, spec);
    double v[3];
    assert_int_equal(hm_sweep_plan_points(plan), 6);
    hm_sweep_plan_point(plan, 4, v);
    assert_true(v[0] == 3 && v[1] == 4 && v[2] > 0 && v[2] < 1);
    hm_sweep_plan_destroy(plan);
    hm_table_destroy(table);
    motion_close(m);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *grid, *random;
        size_t samples;
        const char *says;
    } bad[] = {
        {"m=1:3", NULL, 0, "from:to:count"},
        {"m=1:3:0", NULL, 0, "whole number"},
        {"m=1:3:2.5", NULL, 0, "whole number"},
        {"q=1|2", NULL, 0, "no 'q'"},
        {"m=1|2, m=3", NULL, 0, "varied twice"},
        {"m", NULL, 0, "NAME="},
        {"m=1||2", NULL, 0, "number was expected"},
        {"m=1|zz", NULL, 0, "zz"},
        {NULL, "m=gauss(0,1)", 5, "no such distribution"},
        {NULL, "m=uniform(2,1)", 5, "a <= b"},
        {NULL, "m=uniform(1)", 5, "number of arguments"},
        {NULL, "m=normal(0,-1)", 5, "negative"},
        {NULL, "m=uniform(1,2)", 0, "number of samples"},
        {NULL, NULL, 0, "nothing is varied"},
        {"m=1|2", NULL, 9, "nothing is random"},
        {"m=1:2:300000, L=1:2:300000, x=1:2:300000", NULL, 0, "too many"},
    };
    motion *m = motion_text(text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hm_sweep_spec spec = hm_sweep_spec_default();
        hm_sweep_plan *plan;
        spec.grid = bad[i].grid;
        spec.random = bad[i].random;
        spec.samples = bad[i].samples;
        assert_int_not_equal(hm_sweep_plan_create(m->context, m->model, &spec, &plan), HM_OK);
        assert_null(plan);
        assert_true(hm_context_diagnostic_count(m->context) > 0);
        const char *message = hm_context_diagnostic(m->context, 0)->message;
        if (!strstr(message, bad[i].says))
            fail_msg("%zu: '%s' does not say '%s'", i, message, bad[i].says);
        hm_context_clear(m->context);
    }
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
