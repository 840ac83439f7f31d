/* The expression DAG: interning, invariants, simplification rule by rule, exact ratios, traversal,
 * constants, copies, sticky errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "expr/graph/verify.h"
#include "unit/expr/random_dag.h"

static hmi_graph graph;
static hmi_graph *const g = &graph;
static hm_allocator allocator;

static hmi_expr x, y, z, m;

static int open_graph(void **state)
{
    (void)state;
    allocator = hm_allocator_default();
    if (hmi_graph_init(g, &allocator) != HM_OK)
        return -1;
    x = hmi_symbol(g, HMI_SYM_COORD, 0);
    y = hmi_symbol(g, HMI_SYM_COORD, 1);
    z = hmi_symbol(g, HMI_SYM_VELOCITY, 0);
    m = hmi_symbol(g, HMI_SYM_PARAM, 0);
    return 0;
}

static int close_graph(void **state)
{
    (void)state;
    hmi_graph_release(g);
    return 0;
}

static hmi_expr number(double value)
{
    return hmi_number(g, value);
}

static hmi_expr f(hmi_op op, hmi_expr a)
{
    return hmi_apply(g, op, a, 0, 0);
}

/* ---- interning ---- */

static void test_equal_is_one(void **state)
{
    (void)state;
    assert_int_equal(hmi_symbol(g, HMI_SYM_COORD, 0), x);
    assert_int_not_equal(x, y);
    assert_int_not_equal(x, z);
    assert_int_equal(number(0.1), number(0.1));
    assert_int_equal(number(-0.0), number(0.0));
    hmi_expr a = hmi_mul(g, f(HMI_SIN, x), hmi_add(g, y, m));
    size_t nodes = g->nodes.count;
    assert_int_equal(hmi_mul(g, f(HMI_SIN, x), hmi_add(g, y, m)), a);
    assert_int_equal(g->nodes.count, nodes);
}

static void test_commutative(void **state)
{
    (void)state;
    static const hmi_op commuting[] = {HMI_ADD,   HMI_MUL, HMI_MIN, HMI_MAX,
                                       HMI_HYPOT, HMI_EQ,  HMI_AND, HMI_OR};
    for (size_t i = 0; i < sizeof commuting / sizeof *commuting; i++) {
        hmi_expr first = hmi_intern(g, commuting[i], y, x, 0);
        assert_int_equal(hmi_intern(g, commuting[i], x, y, 0), first);
        assert_int_equal(hmi_node_at(g, first)->a, y); /* shown as first written */
        assert_int_equal(hmi_node_at(g, first)->b, x);
    }
    static const hmi_op ordered[] = {HMI_SUB, HMI_DIV, HMI_POW, HMI_ATAN2, HMI_LT, HMI_LE};
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
        assert_int_not_equal(hmi_intern(g, ordered[i], x, y, 0),
                             hmi_intern(g, ordered[i], y, x, 0));
}

/* Operands first, equal nodes once, deps the union: over a random graph. */
static void test_invariants(void **state)
{
    (void)state;
    static dag d;
    dag_source s = {.state = 5};
    dag_start(&d, g, false, &s);
    dag_fill(&d, &s, 4000);
    assert_null(hmi_graph_verify(g, &(hmi_violation){.text = ""}));
}

static void test_many_nodes(void **state)
{
    (void)state;
    enum { MANY = 300000 };
    hmi_expr first = hmi_symbol(g, HMI_SYM_COORD, 1000);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(hmi_symbol(g, HMI_SYM_COORD, 1000 + i), first + i);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(hmi_symbol(g, HMI_SYM_COORD, 1000 + i), first + i);
}

/* One operand with very many uses, from either side, with leaves and with operations. */
static void test_many_uses(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static hmi_expr sums[MANY], differences[MANY];
    hmi_expr root = hmi_intern(g, HMI_SIN, x, 0, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        hmi_expr other = i % 2 ? hmi_symbol(g, HMI_SYM_STATE, i) : number(0.5 + i);
        sums[i] = hmi_intern(g, HMI_ADD, root, other, 0);
        differences[i] = hmi_intern(g, HMI_SUB, other, root, 0);
    }
    size_t nodes = g->nodes.count;
    for (uint32_t i = MANY; i-- > 0;) {
        hmi_expr other = i % 2 ? hmi_symbol(g, HMI_SYM_STATE, i) : number(0.5 + i);
        assert_int_equal(hmi_intern(g, HMI_ADD, other, root, 0), sums[i]);
        assert_int_equal(hmi_intern(g, HMI_SUB, other, root, 0), differences[i]);
    }
    assert_int_equal(g->nodes.count, nodes);
}

/* ---- simplification ---- */

static void same(hmi_expr a, hmi_expr b)
{
    assert_int_not_equal(a, HMI_NONE);
    assert_int_equal(a, b);
}

static void test_sums(void **state)
{
    (void)state;
    same(hmi_add(g, x, g->zero), x);
    same(hmi_add(g, g->zero, x), x);
    same(hmi_sub(g, x, g->zero), x);
    same(hmi_sub(g, g->zero, x), hmi_neg(g, x));
    same(hmi_sub(g, x, x), g->zero);
    same(hmi_add(g, x, x), hmi_mul(g, g->two, x));
    same(hmi_add(g, hmi_mul(g, number(3), x), hmi_neg(g, x)), hmi_mul(g, g->two, x));
    same(hmi_add(g, x, hmi_neg(g, y)), hmi_sub(g, x, y));
    same(hmi_sub(g, x, hmi_neg(g, y)), hmi_add(g, x, y));
    same(hmi_neg(g, hmi_neg(g, x)), x);
    same(hmi_neg(g, hmi_sub(g, x, y)), hmi_sub(g, y, x));
    same(hmi_add(g, hmi_add(g, x, number(1)), number(2)), hmi_add(g, x, number(3)));
    same(hmi_add(g, hmi_add(g, x, y), y), hmi_add(g, x, hmi_mul(g, g->two, y)));
}

static void test_cancelling(void **state)
{
    (void)state;
    hmi_expr sum = hmi_add(g, x, y), difference = hmi_sub(g, x, y);
    same(hmi_sub(g, sum, x), y);
    same(hmi_sub(g, sum, y), x);
    same(hmi_sub(g, x, sum), hmi_neg(g, y));
    same(hmi_sub(g, y, sum), hmi_neg(g, x));
    same(hmi_sub(g, difference, x), hmi_neg(g, y));
    same(hmi_sub(g, x, difference), y);
    same(hmi_add(g, difference, y), x);
    same(hmi_add(g, y, difference), x);
}

static void test_products(void **state)
{
    (void)state;
    same(hmi_mul(g, x, g->one), x);
    same(hmi_mul(g, x, g->zero), g->zero);
    same(hmi_mul(g, g->minus_one, x), hmi_neg(g, x));
    same(hmi_mul(g, x, x), hmi_pow(g, x, g->two));
    same(hmi_mul(g, hmi_pow(g, x, number(2)), hmi_pow(g, x, number(3))), hmi_pow(g, x, number(5)));
    same(hmi_mul(g, hmi_mul(g, number(2), x), hmi_mul(g, number(3), y)),
         hmi_mul(g, number(6), hmi_mul(g, x, y)));
    same(hmi_mul(g, hmi_neg(g, x), y), hmi_neg(g, hmi_mul(g, x, y)));
    same(hmi_mul(g, hmi_neg(g, x), hmi_neg(g, y)), hmi_mul(g, x, y));
    same(hmi_div(g, x, number(2)), hmi_mul(g, g->half, x));
    same(hmi_div(g, g->zero, x), g->zero);
    same(hmi_div(g, hmi_div(g, x, y), z), hmi_div(g, x, hmi_mul(g, y, z)));
    same(hmi_mul(g, hmi_div(g, x, y), z), hmi_div(g, hmi_mul(g, x, z), y));
    same(hmi_add(g, hmi_div(g, x, z), hmi_div(g, y, z)), hmi_div(g, hmi_add(g, x, y), z));
    assert_int_equal(hmi_op_of(g, hmi_div(g, x, x)), HMI_DIV); /* hides a division by zero */
}

static void test_powers(void **state)
{
    (void)state;
    same(hmi_pow(g, x, g->zero), g->one);
    same(hmi_pow(g, x, g->one), x);
    same(hmi_pow(g, x, number(-2)), hmi_div(g, g->one, hmi_pow(g, x, g->two)));
    same(hmi_pow(g, hmi_pow(g, x, g->two), number(3)), hmi_pow(g, x, number(6)));
    same(hmi_pow(g, hmi_neg(g, x), g->two), hmi_pow(g, x, g->two));
    same(hmi_pow(g, hmi_neg(g, x), number(3)), hmi_neg(g, hmi_pow(g, x, number(3))));
    same(hmi_pow(g, f(HMI_ABS, x), g->two), hmi_pow(g, x, g->two));
    same(hmi_pow(g, f(HMI_SQRT, x), g->two), x);
    same(hmi_pow(g, x, g->half), f(HMI_SQRT, x));
    same(hmi_pow(g, number(2), number(10)), number(1024));
    assert_int_equal(hmi_op_of(g, hmi_pow(g, x, y)), HMI_POW);
    assert_int_equal(hmi_op_of(g, hmi_pow(g, x, number(2.5))), HMI_POW);
}

static void test_functions(void **state)
{
    (void)state;
    same(f(HMI_SIN, g->zero), g->zero);
    same(f(HMI_COS, g->zero), g->one);
    same(f(HMI_EXP, g->zero), g->one);
    same(f(HMI_LOG, g->one), g->zero);
    same(f(HMI_SQRT, number(9)), number(3));
    same(f(HMI_SIN, hmi_neg(g, x)), hmi_neg(g, f(HMI_SIN, x)));
    same(f(HMI_COS, hmi_neg(g, x)), f(HMI_COS, x));
    same(f(HMI_COS, hmi_sub(g, x, y)), f(HMI_COS, hmi_sub(g, y, x)));
    same(f(HMI_SIN, hmi_sub(g, x, y)), hmi_neg(g, f(HMI_SIN, hmi_sub(g, y, x))));
    same(hmi_add(g, hmi_pow(g, f(HMI_SIN, x), g->two), hmi_pow(g, f(HMI_COS, x), g->two)), g->one);
    hmi_expr s2 = hmi_mul(g, m, hmi_pow(g, f(HMI_SIN, x), g->two));
    hmi_expr c2 = hmi_mul(g, m, hmi_pow(g, f(HMI_COS, x), g->two));
    same(hmi_add(g, c2, s2), m);
    assert_int_equal(hmi_op_of(g, f(HMI_SQRT, number(2))), HMI_SQRT); /* stays as written */
    assert_int_equal(hmi_op_of(g, f(HMI_SIN, number(1))), HMI_SIN);
    same(hmi_apply(g, HMI_MIN, x, x, 0), x);
    same(hmi_apply(g, HMI_HYPOT, x, g->zero, 0), hmi_apply(g, HMI_ABS, x, 0, 0));
    same(hmi_apply(g, HMI_HYPOT, g->zero, g->zero, 0), g->zero);
    same(hmi_apply(g, HMI_SELECT, g->one, x, y), x);
    same(hmi_apply(g, HMI_SELECT, g->zero, x, y), y);
    same(hmi_apply(g, HMI_SELECT, z, x, x), x);
}

/* A result that is not finite stays an operation, to be met where it is evaluated. */
/* pi/2 is the double next to it; its cosine is 0 all the same. Other angles are left alone. */
static void test_right_angles(void **state)
{
    (void)state;
    const double right = 1.5707963267948966;
    const int sines[] = {0, 1, 0, -1};
    for (int k = -9; k <= 9; k++) {
        hmi_expr angle = hmi_number(g, k * right), sine = f(HMI_SIN, angle);
        assert_true(hmi_is_const(g, sine) && hmi_is_const(g, f(HMI_COS, angle)));
        assert_true(hmi_constant_of(g, sine)->value == sines[(k + 12) % 4]);
        assert_true(hmi_constant_of(g, f(HMI_COS, angle))->value == sines[(k + 13) % 4]);
    }
    assert_false(hmi_is_const(g, f(HMI_COS, hmi_number(g, nextafter(right, 2)))));
    assert_false(hmi_is_const(g, f(HMI_SIN, g->one)));
}

static void test_not_finite(void **state)
{
    (void)state;
    assert_int_equal(hmi_op_of(g, hmi_div(g, g->one, g->zero)), HMI_DIV);
    assert_int_equal(hmi_op_of(g, hmi_pow(g, g->zero, number(-1))), HMI_DIV);
    assert_int_equal(hmi_op_of(g, f(HMI_LOG, g->zero)), HMI_LOG);
    assert_int_equal(hmi_op_of(g, f(HMI_SQRT, number(-1))), HMI_SQRT);
    assert_int_equal(hmi_op_of(g, hmi_mul(g, number(1e300), number(1e300))), HMI_MUL);
    assert_int_equal(hmi_op_of(g, hmi_div(g, x, g->zero)), HMI_DIV);
}

/* ---- ratios ---- */

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a < 0 ? -a : a;
}

static void check_ratio(hmi_expr e, int64_t n, int64_t d)
{
    int64_t divisor = gcd(n, d) * (d < 0 ? -1 : 1);
    const hmi_constant *c = hmi_constant_of(g, e);
    assert_true(hmi_is_const(g, e));
    assert_int_equal(c->numerator, n / divisor);
    assert_int_equal(c->denominator, d / divisor);
    assert_true(c->value == (double)(n / divisor) / (double)(d / divisor));
}

static void test_ratios(void **state)
{
    (void)state;
    dag_source s = {.state = 9};
    for (int i = 0; i < 20000; i++) {
        int64_t a = (int)dag_choose(&s, 401) - 200, b = 1 + dag_choose(&s, 100);
        int64_t c = (int)dag_choose(&s, 401) - 200, d = 1 + dag_choose(&s, 100);
        hmi_expr p = hmi_ratio(g, a, b), q = hmi_ratio(g, c, -d);
        check_ratio(p, a, b);
        check_ratio(q, -c, d);
        check_ratio(hmi_add(g, p, q), a * d - c * b, b * d);
        check_ratio(hmi_sub(g, p, q), a * d + c * b, b * d);
        check_ratio(hmi_mul(g, p, q), -a * c, b * d);
        if (c)
            check_ratio(hmi_div(g, p, q), -a * d, b * c);
        check_ratio(hmi_neg(g, p), -a, b);
    }
}

/* Ratios too large to keep exactly are decimals, correctly rounded. */
static void test_large_ratios(void **state)
{
    (void)state;
    hmi_expr big = number(2147483647);
    check_ratio(big, 2147483647, 1);
    hmi_expr square = hmi_mul(g, big, big);
    assert_int_equal(hmi_constant_of(g, square)->denominator, 0);
    assert_true(hmi_constant_of(g, square)->value == 2147483647.0 * 2147483647.0);
    hmi_expr tiny = hmi_div(g, g->one, square);
    assert_true(hmi_constant_of(g, tiny)->value == 1 / (2147483647.0 * 2147483647.0));
    hmi_expr third = hmi_ratio(g, 1, 3), sum = g->zero;
    for (int i = 0; i < 3; i++)
        sum = hmi_add(g, sum, third);
    same(sum, g->one);
    assert_int_not_equal(number(0.5), g->half); /* a decimal stays as written */
}

/* ---- traversal, constants, copies ---- */

static void test_walk(void **state)
{
    (void)state;
    hmi_walk walk;
    hmi_expr e = hmi_mul(g, f(HMI_SIN, x), hmi_add(g, f(HMI_SIN, x), hmi_mul(g, m, z)));
    hmi_walk_init(&walk, &allocator);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(hmi_walk_begin(&walk, g), HM_OK);
        assert_int_equal(hmi_walk_add(&walk, g, e, 0xFFFF), HM_OK);
        assert_int_equal(walk.order.count, 7); /* x, sin, m, z, m*z, sum, product: each once */
        assert_int_equal(walk.order.data[6], e);
        assert_int_equal(hmi_walk_add(&walk, g, f(HMI_SIN, x), 0xFFFF), HM_OK);
        assert_int_equal(hmi_walk_add(&walk, g, HMI_NONE, 0xFFFF), HM_OK);
        assert_int_equal(walk.order.count, 7);
        for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(hmi_walk_position(&walk, walk.order.data[i]), i);
        if (round == 1)
            walk.last = UINT32_MAX - 5; /* as after very many walks: marks begin anew */
    }
    assert_int_equal(hmi_walk_begin(&walk, g), HM_OK);
    assert_int_equal(hmi_walk_add(&walk, g, e, HMI_DEP(HMI_SYM_VELOCITY)), HM_OK);
    assert_int_equal(walk.order.count, 4); /* z, m*z, sum, product */
    hmi_walk_release(&walk);
}

static void test_constants(void **state)
{
    (void)state;
    const double params[] = {0.5};
    double value, expected = 0;
    assert_int_equal(hmi_evaluate_constant(g, hmi_mul(g, m, number(3)), params, &value), HM_OK);
    assert_true(value == 1.5);
    hmi_expr sum = g->zero, shared = m; /* deep, and shared 2^60 times over */
    for (int i = 1; i <= 1000; i++) {
        sum = hmi_add(g, sum, hmi_div(g, g->one, hmi_add(g, m, number(i))));
        expected += 1 / (0.5 + i);
    }
    for (int i = 0; i < 60; i++)
        shared = hmi_add(g, f(HMI_SIN, shared), f(HMI_COS, shared));
    assert_int_equal(hmi_evaluate_constant(g, sum, params, &value), HM_OK);
    assert_true(fabs(value - expected) < 1e-12);
    assert_int_equal(hmi_evaluate_constant(g, shared, params, &value), HM_OK);
    assert_true(isfinite(value));
    assert_int_equal(hmi_evaluate_constant(g, hmi_add(g, m, x), params, &value), HM_OK);
    assert_true(isnan(value)); /* depends on more than parameters */
    hmi_constants memo;
    double again;
    hmi_constants_init(&memo, &allocator);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(hmi_constants_value(&memo, g, shared, params, &again), HM_OK);
    assert_int_equal(hmi_evaluate_constant(g, shared, params, &value), HM_OK);
    assert_true(again == value);
    hmi_constants_release(&memo);
}

static void test_copy(void **state)
{
    (void)state;
    hmi_graph copy;
    hmi_expr e = hmi_mul(g, f(HMI_SIN, x), hmi_add(g, y, number(0.25)));
    assert_int_equal(hmi_graph_copy(&copy, g), HM_OK);
    size_t nodes = g->nodes.count;
    assert_int_equal(hmi_mul(&copy, hmi_apply(&copy, HMI_SIN, x, 0, 0),
                             hmi_add(&copy, y, hmi_number(&copy, 0.25))),
                     e);
    hmi_expr added = hmi_symbol(&copy, HMI_SYM_COORD, 99);
    assert_int_equal(added, nodes);
    assert_int_equal(g->nodes.count, nodes);
    hmi_graph_release(&copy);
}

/* ---- values ---- */

static void test_whole_powers(void **state)
{
    (void)state;
    for (int n = -64; n <= 64; n++)
        for (double base = -2; base <= 2; base += 0.25) {
            double power = hmi_powi(base, n), expected = pow(base, n);
            if (isfinite(expected) && expected != 0)
                assert_true(fabs(power - expected) <= 1e-13 * fabs(expected));
        }
    assert_true(hmi_powi(2, 100) == pow(2, 100));
    assert_true(hmi_powi(0, 0) == 1);
    assert_true(hmi_powi(3, 3) == 27);
}

static void test_op_values(void **state)
{
    (void)state;
    assert_true(hmi_op_value(HMI_LT, 1, 2, 0) == 1 && hmi_op_value(HMI_LT, 2, 2, 0) == 0);
    assert_true(hmi_op_value(HMI_SIGN, -3, 0, 0) == -1 && hmi_op_value(HMI_SIGN, 0, 0, 0) == 0);
    assert_true(hmi_op_value(HMI_SELECT, 0, 1, 2) == 2 && hmi_op_value(HMI_SELECT, 5, 1, 2) == 1);
    assert_true(hmi_op_value(HMI_MIN, 2, 1, 0) == 1 && hmi_op_value(HMI_MAX, 2, 1, 0) == 2);
    for (int op = HMI_SYMBOL + 1; op < HMI_PLAIN_OPS_END; op++) {
        wide high = dag_value((hmi_op)op, 0.3L, 2, 0.7L);
        assert_true(fabsl(hmi_op_value((hmi_op)op, 0.3, 2, 0.7) - high) < 1e-14L);
    }
}

/* ---- errors are sticky ---- */

static long allowed;

static void *running_out(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return allowed-- > 0 ? realloc(ptr, new_size) : NULL;
}

static void test_sticky_errors(void **state)
{
    (void)state;
    const hm_allocator scarce = {running_out, NULL};
    for (long most = 0; most < 30; most++) {
        hmi_graph small;
        allowed = most;
        hm_status status = hmi_graph_init(&small, &scarce);
        hmi_expr e = status == HM_OK ? hmi_symbol(&small, HMI_SYM_COORD, 0) : HMI_NONE;
        for (int i = 0; i < 5000; i++)
            e = hmi_add(&small, hmi_apply(&small, HMI_SIN, e, 0, 0), hmi_number(&small, i + 0.5));
        if (e == HMI_NONE) {
            assert_int_equal(hmi_graph_status(&small), HM_ERR_NOMEM);
            assert_int_equal(hmi_mul(&small, 0, 0), HMI_NONE);
            assert_int_equal(hmi_symbol(&small, HMI_SYM_COORD, 7), HMI_NONE);
        } else
            assert_int_equal(hmi_graph_status(&small), HM_OK);
        hmi_graph_release(&small);
    }
    assert_int_equal(hmi_add(g, HMI_NONE, x), HMI_NONE);
    assert_int_equal(hmi_apply(g, HMI_SIN, HMI_NONE, 0, 0), HMI_NONE);
    assert_int_equal(hmi_apply(g, HMI_SELECT, x, HMI_NONE, y), HMI_NONE);
    assert_int_equal(hmi_graph_status(g), HM_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_equal_is_one), TEST(test_commutative),   TEST(test_invariants),
        TEST(test_many_nodes),   TEST(test_many_uses),     TEST(test_sums),
        TEST(test_cancelling),   TEST(test_products),      TEST(test_powers),
        TEST(test_functions),    TEST(test_right_angles),  TEST(test_not_finite),
        TEST(test_ratios),       TEST(test_large_ratios),  TEST(test_walk),
        TEST(test_constants),    TEST(test_copy),          TEST(test_whole_powers),
        TEST(test_op_values),    TEST(test_sticky_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
