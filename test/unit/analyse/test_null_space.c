/* Null vectors in balls, and numbers recognised from balls. */
#include "support/check.h"

#include "analyse/balls/null_space.h"

#include <math.h>

#include "base/context.h"

static const hm_allocator *standard(hm_context **context)
{
    *context = hm_context_create(NULL);
    assert_non_null(*context);
    return &(*context)->allocator;
}

static void add(hmi_echelon *e, const double *values, size_t count)
{
    arb_ptr row = _arb_vec_init((slong)count);
    for (size_t i = 0; i < count; i++)
        arb_set_d(row + i, values[i]);
    assert_int_not_equal(hmi_echelon_add(e, row, 1), HMI_UNDECIDED);
    _arb_vec_clear(row, (slong)count);
}

/* Rows times null vectors vanish; as many as columns less the rank; the last element is positive. */
static void test_null_vectors(void **state)
{
    (void)state;
    static const double rows[3][5] = {{1, 2, 0, -1, 3}, {2, 4, 1, 0, 1}, {3, 6, 1, -1, 4}};
    hm_context *context;
    hmi_echelon e;
    arb_mat_t vectors;
    assert_int_equal(hmi_echelon_init(&e, standard(&context), 5, 5, 256, false), HM_OK);
    for (size_t i = 0; i < 3; i++)
        add(&e, rows[i], 5);
    assert_int_equal(e.rank, 2);
    hmi_null_space(&e, vectors);
    assert_int_equal(arb_mat_nrows(vectors), 3);
    for (slong k = 0; k < 3; k++) {
        double last = 0;
        for (size_t i = 0; i < 3; i++) {
            double sum = 0;
            for (slong j = 0; j < 5; j++)
                sum += rows[i][j] *
                       arf_get_d(arb_midref(arb_mat_entry(vectors, k, j)), ARF_RND_NEAR);
            check_number("row times vector", sum, 0, 1e-14);
        }
        for (slong j = 0; j < 5; j++)
            if (!arb_contains_zero(arb_mat_entry(vectors, k, j)))
                last = arf_get_d(arb_midref(arb_mat_entry(vectors, k, j)), ARF_RND_NEAR);
        assert_true(last > 0);
    }
    arb_mat_clear(vectors);
    hmi_echelon_release(&e);
    hm_context_destroy(context);
    flint_cleanup();
}

static void test_full_rank(void **state)
{
    (void)state;
    static const double rows[2][2] = {{1, 1}, {1, -1}};
    hm_context *context;
    hmi_echelon e;
    arb_mat_t vectors;
    assert_int_equal(hmi_echelon_init(&e, standard(&context), 2, 2, 128, false), HM_OK);
    add(&e, rows[0], 2);
    add(&e, rows[1], 2);
    hmi_null_space(&e, vectors);
    assert_int_equal(arb_mat_nrows(vectors), 0);
    arb_mat_clear(vectors);
    hmi_echelon_release(&e);
    hm_context_destroy(context);
    flint_cleanup();
}

/* Ratios with denominators up to 360 are exact; pi and 1/361 are the nearest doubles. */
static void test_numbers(void **state)
{
    (void)state;
    hm_context *context;
    hmi_graph graph;
    arb_t x;
    bool exact = true;
    assert_int_equal(hmi_graph_init(&graph, standard(&context)), HM_OK);
    arb_init(x);
    arb_set_si(x, -7);
    arb_div_ui(x, x, 360, 256);
    assert_int_equal(hmi_ball_number(&graph, x, -100, &exact), hmi_ratio(&graph, -7, 360));
    assert_true(exact);
    arb_zero(x);
    assert_int_equal(hmi_ball_number(&graph, x, -100, &exact), graph.zero);
    assert_true(exact);
    arb_one(x);
    arb_div_ui(x, x, 361, 256);
    assert_int_equal(hmi_ball_number(&graph, x, -100, &exact), hmi_number(&graph, 1.0 / 361));
    assert_false(exact);
    exact = true;
    arb_const_pi(x, 256);
    assert_int_equal(hmi_ball_number(&graph, x, -100, &exact), hmi_number(&graph, acos(-1.0)));
    assert_false(exact);
    arb_clear(x);
    hmi_graph_release(&graph);
    hm_context_destroy(context);
    flint_cleanup();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_vectors),
        cmocka_unit_test(test_full_rank),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
