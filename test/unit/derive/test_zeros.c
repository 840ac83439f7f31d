/* Entries of M, A and b that vanish identically are dropped from the pattern; others stay, however
 * small they are. */
#include "support/check.h"
#include "support/probe.h"

#include "derive/derived.h"

static void check_entries(const char *text, size_t mass, size_t rows)
{
    probe *p = probe_text(text);
    hmi_derived eq;
    assert_int_equal(hmi_derive_model(&eq, p->model, p->context), HM_OK);
    assert_int_equal(eq.M.value.count, mass);
    assert_int_equal(eq.constraints.A.value.count, rows);
    hmi_derived_release(&eq);
    probe_close(p);
}

#define FREE "param s = 1e-12\ncoord x, y, a\nkinetic (x'^2 + y'^2 + a'^2)/2\n"

static void zeros_are_dropped(void **state)
{
    (void)state;
    check_entries(FREE "constraint c: (cos(a)^2 + sin(a)^2 - 1)*x' + y' = 0\n", 3, 1);
    check_entries(FREE "constraint c: (sin(2*a) - 2*sin(a)*cos(a))*x' + y' = 0\n", 3, 1);
    check_entries(FREE "kinetic ((x + y)^2 - x^2 - y^2 - 2*x*y)*x'*y'\n", 3, 0);
}

static void small_entries_stay(void **state)
{
    (void)state;
    check_entries(FREE "constraint c: s*x' + y' = 0\n", 3, 2);
    check_entries(FREE "constraint c: (cos(a)^2 + sin(a)^2 - 1 + s)*x' + y' = 0\n", 3, 2);
    check_entries(FREE "kinetic s*cos(a)*x'*y'\n", 4, 0);
    check_entries(FREE "constraint c: max(a, 0)*x' + y' = 0\n", 3, 2); /* no bound: kept */
}

/* A right-hand side that vanishes becomes the number 0. */
static void right_hand_sides(void **state)
{
    (void)state;
    probe *p = probe_text(FREE "constraint c: x' = cos(a)^2 + sin(a)^2\n");
    hmi_derived eq;
    assert_int_equal(hmi_derive_model(&eq, p->model, p->context), HM_OK);
    assert_int_equal(eq.constraints.b[0], eq.graph.zero);
    hmi_derived_release(&eq);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_are_dropped),
        cmocka_unit_test(small_entries_stay),
        cmocka_unit_test(right_hand_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
