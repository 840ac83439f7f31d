/* Rank in ball arithmetic. */
#include "support/check.h"

#include "analyse/balls/echelon.h"

#include <math.h>

static hmi_dependence add(hmi_echelon *e, double a, double b, double c)
{
    arb_ptr row = _arb_vec_init(3);
    arb_set_d(row, a);
    arb_set_d(row + 1, b);
    arb_set_d(row + 2, c);
    hmi_dependence verdict = hmi_echelon_add(e, row, 1);
    _arb_vec_clear(row, 3);
    return verdict;
}

static void exact_rows(void **state)
{
    (void)state;
    hm_allocator heap = hm_allocator_default();
    hmi_echelon e;
    assert_int_equal(hmi_echelon_init(&e, &heap, 3, 3, 256, false), HM_OK);
    assert_int_equal(add(&e, 0, 0, 0), HMI_DEPENDENT);
    assert_int_equal(add(&e, 1, 2, 3), HMI_INDEPENDENT);
    assert_int_equal(add(&e, 2, 4, 6), HMI_DEPENDENT);
    assert_int_equal(add(&e, 1, 2, 3 + 0x1p-50), HMI_INDEPENDENT); /* small, but proved */
    assert_int_equal(add(&e, 0, 1e-200, 0), HMI_INDEPENDENT);      /* a row is its own scale */
    assert_int_equal(add(&e, 5, -7, 11), HMI_DEPENDENT);
    assert_int_equal(e.rank, 3);
    hmi_echelon_release(&e);
    flint_cleanup();
}

/* Numbers that are doubles only: rounding is zero. */
static void inexact_rows(void **state)
{
    (void)state;
    hm_allocator heap = hm_allocator_default();
    hmi_echelon e;
    assert_int_equal(hmi_echelon_init(&e, &heap, 3, 3, 256, true), HM_OK);
    assert_int_equal(add(&e, 1, 2, 3), HMI_INDEPENDENT);
    assert_int_equal(add(&e, 1, 2, 3 + 0x1p-50), HMI_DEPENDENT);
    assert_int_equal(add(&e, 1, 2, 3 + 0x1p-30), HMI_INDEPENDENT);
    assert_true(e.zero < -43 && e.zero > -60);
    hmi_echelon_release(&e);
    flint_cleanup();
}

/* A wide ball about 0 is no zero. */
static void wide_balls(void **state)
{
    (void)state;
    hm_allocator heap = hm_allocator_default();
    hmi_echelon e;
    arb_ptr row = _arb_vec_init(3);
    assert_int_equal(hmi_echelon_init(&e, &heap, 3, 3, 256, false), HM_OK);
    assert_int_equal(add(&e, 1, 0, 0), HMI_INDEPENDENT);
    arb_one(row);
    mag_set_ui_2exp_si(arb_radref(row + 1), 1, -20);
    assert_int_equal(hmi_echelon_add(&e, row, 1), HMI_UNDECIDED);
    mag_set_ui_2exp_si(arb_radref(row + 1), 1, -220);
    assert_int_equal(hmi_echelon_add(&e, row, 1), HMI_DEPENDENT);
    _arb_vec_clear(row, 3);
    hmi_echelon_release(&e);
    flint_cleanup();
}

static void bounds(void **state)
{
    (void)state;
    arb_t x;
    arb_init(x);
    assert_true(hmi_log2_above(x) == -INFINITY && hmi_log2_below(x) == -INFINITY);
    arb_set_d(x, -8);
    assert_true(fabs(hmi_log2_above(x) - 3) < 1e-6 && fabs(hmi_log2_below(x) - 3) < 1e-6);
    mag_set_ui(arb_radref(x), 4);
    assert_true(hmi_log2_above(x) >= log2(12) && hmi_log2_below(x) <= 2);
    arb_clear(x);
    flint_cleanup();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_rows),
        cmocka_unit_test(inexact_rows),
        cmocka_unit_test(wide_balls),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
