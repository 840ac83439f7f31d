/* Derivatives on the DAG: every operation against high-precision differences, random DAGs of a
 * thousand nodes against forward duals, substitution, simplification by value, and the cost bound
 * of the reverse sweep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "expr/graph/diff.h"
#include "unit/expr/random_dag.h"

static const wide tolerance = 1e-10L;

static void open_graph(hmi_graph *g)
{
    static hm_allocator allocator;
    allocator = hm_allocator_default();
    assert_int_equal(hmi_graph_init(g, &allocator), HM_OK);
}

/* ---- derivatives of a root, numerically ---- */

static wide partial_value(const hmi_adjoint *a, const wide *values, uint32_t index)
{
    for (size_t k = 0; k < a->partials.count; k++)
        if (a->partials.data[k].index == index)
            return values[a->partials.data[k].value];
    return 0;
}

/* The direction of a tangent: coordinate k moves with velocity k. */
static hmi_expr with_velocity(hmi_graph *g, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_symbol(g, HMI_SYM_VELOCITY, hmi_node_at(g, leaf)->b);
}

static hmi_expr tangent_of(hmi_graph *g, hmi_expr e)
{
    hmi_tangent tangent;
    hmi_tangent_init(&tangent, g->allocator, with_velocity, NULL, HMI_DEP(HMI_SYM_COORD));
    hmi_expr dot = hmi_tangent_of(&tangent, g, e);
    hmi_tangent_release(&tangent);
    assert_int_not_equal(dot, HMI_NONE);
    return dot;
}

/* ---- each operation ---- */

/* Central differences, extrapolated to h = 0 (Romberg): about 15 digits in long double. */
static wide difference(hmi_op op, const wide x[3], int k)
{
    enum { LEVELS = 6 };
    wide table[LEVELS], h = 1.0L / 128;
    for (int i = 0; i < LEVELS; i++, h /= 2) {
        wide up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
        up[k] += h;
        down[k] -= h;
        table[i] = (dag_value(op, up[0], up[1], up[2]) - dag_value(op, down[0], down[1], down[2])) /
                   (2 * h);
        wide factor = 4;
        for (int j = i - 1; j >= 0; j--, factor *= 4)
            table[j] = table[j + 1] + (table[j + 1] - table[j]) / (factor - 1);
    }
    return table[0];
}

/* Is the operation smooth within the step of the differences? */
static bool far_from_kinks(hmi_op op, const wide x[3])
{
    for (int i = -1; i <= 1; i++)
        for (int k = -1; k <= 1; k++)
            if (!dag_safe(op, x[0] + i * 0.02L, x[1] + k * 0.02L) ||
                !(fabsl(dag_value(op, x[0] + i * 0.02L, x[1] + k * 0.02L, x[2])) < 1e3L))
                return false;
    return true;
}

static void check_operation_at(hmi_op op, const double at[3], bool plain)
{
    hmi_graph g;
    hmi_adjoint adjoint;
    open_graph(&g);
    hmi_adjoint_init(&adjoint, g.allocator);
    hmi_expr operand[3];
    int arity = hmi_op_arity(op);
    for (uint32_t k = 0; k < 3; k++)
        operand[k] = hmi_symbol(&g, HMI_SYM_COORD, k);
    if (op == HMI_POWI)
        operand[1] = hmi_number(&g, at[1]);
    hmi_expr root = plain ? hmi_intern(&g, op, operand[0], operand[1], operand[2])
                          : hmi_apply(&g, op, operand[0], operand[1], operand[2]);
    assert_int_equal(hmi_gradient(&adjoint, &g, root, HMI_SYM_COORD), HM_OK);
    hmi_expr dot = tangent_of(&g, root);
    const wide x[3] = {at[0], at[1], at[2]};
    for (int k = 0; k < arity; k++) {
        if (op == HMI_POWI && k == 1)
            continue;
        double direction[3] = {k == 0, k == 1, k == 2};
        wide *values = dag_evaluate(&g, at, NULL, direction), expected = difference(op, x, k);
        wide reverse = partial_value(&adjoint, values, (uint32_t)k), forward = values[dot];
        if (!dag_close(reverse, expected, tolerance) || !dag_close(forward, expected, tolerance))
            fail_msg("d%s/d%d at (%g, %g, %g): reverse %.15Lg, forward %.15Lg, differences %.15Lg",
                     hmi_op_text(op), k, at[0], at[1], at[2], reverse, forward, expected);
        free(values);
    }
    hmi_adjoint_release(&adjoint);
    hmi_graph_release(&g);
}

static int check_operation(hmi_op op, dag_source *s)
{
    int checked = 0;
    for (int tries = 0; tries < 2000 && checked < 40; tries++) {
        double at[3] = {dag_between(s, -2.5, 2.5), dag_between(s, -2.5, 2.5),
                        dag_between(s, -2.5, 2.5)};
        if (op == HMI_POWI)
            at[1] = (double)(int)dag_choose(s, 9) - 3;
        if (dag_takes_condition(op, 0))
            at[0] = dag_choose(s, 2);
        const wide x[3] = {at[0], at[1], at[2]};
        if (!far_from_kinks(op, x))
            continue;
        check_operation_at(op, at, false);
        check_operation_at(op, at, true);
        checked++;
    }
    return checked;
}

/* The table is expanded, so that a new operation cannot be forgotten. */
static void test_operations(void **state)
{
    (void)state;
    dag_source s = {.state = 1};
    static const hmi_op all[] = {
#define OP(name, arity, text, value, ddx, ddy) HMI_##name,
#include "expr/graph/ops.def"
#undef OP
    };
    assert_int_equal(sizeof all / sizeof *all, HMI_OP_COUNT - HMI_SYMBOL - 1);
    for (size_t i = 0; i < sizeof all / sizeof *all && all[i] < HMI_PLAIN_OPS_END; i++)
        if (check_operation(all[i], &s) < 10)
            fail_msg("%s: too few points", hmi_op_text(all[i]));
}

/* The duals of random_dag.h know every operation as well, and agree with the differences. */
static void test_duals(void **state)
{
    (void)state;
    dag_source s = {.state = 2};
    for (int op = HMI_SYMBOL + 1; op < HMI_PLAIN_OPS_END; op++)
        for (int tries = 0; tries < 200; tries++) {
            wide x[3], partial[3];
            for (int k = 0; k < 3; k++)
                x[k] = dag_between(&s, -2.5, 2.5);
            if (op == HMI_POWI)
                x[1] = dag_choose(&s, 5) + 1;
            if (dag_takes_condition((hmi_op)op, 0))
                x[0] = dag_choose(&s, 2);
            if (!dag_partials((hmi_op)op, x[0], x[1], x[2], partial))
                fail_msg("random_dag.h has no rule for %s", hmi_op_text((hmi_op)op));
            if (!far_from_kinks((hmi_op)op, x))
                continue;
            for (int k = 0; k < hmi_op_arity((hmi_op)op); k++)
                if (!(op == HMI_POWI && k == 1) && !dag_takes_condition((hmi_op)op, k))
                    assert_true(dag_close(partial[k], difference((hmi_op)op, x, k), tolerance));
        }
}

/* ---- random DAGs ---- */

typedef struct scene {
    hmi_graph graph;
    dag d;
    hmi_expr root;
    wide dot[DAG_COORDS];
} scene;

/* A DAG of `nodes` nodes; the root adds the last few numbers, so that most of it is reached. */
static void open_scene(scene *s, uint64_t seed, size_t nodes, bool plain)
{
    dag_source source = {.state = seed};
    open_graph(&s->graph);
    dag_start(&s->d, &s->graph, plain, &source);
    dag_fill(&s->d, &source, nodes);
    assert_true(s->d.count >= nodes);
    s->root = s->graph.zero;
    memset(s->dot, 0, sizeof s->dot);
    for (size_t i = s->d.count - 50; i < s->d.count; i++) {
        if (s->d.condition[i])
            continue;
        s->root = hmi_add(&s->graph, s->root, s->d.node[i]);
        for (int k = 0; k < DAG_COORDS; k++)
            s->dot[k] += s->d.dot[i][k];
    }
    assert_int_equal(hmi_graph_status(&s->graph), HM_OK);
}

static void check_scene(uint64_t seed, bool plain)
{
    static scene s;
    hmi_adjoint adjoint;
    open_scene(&s, seed, 1000, plain);
    hmi_adjoint_init(&adjoint, s.graph.allocator);
    assert_int_equal(hmi_gradient(&adjoint, &s.graph, s.root, HMI_SYM_COORD), HM_OK);
    hmi_expr dot = tangent_of(&s.graph, s.root);
    double direction[DAG_COORDS];
    wide along = 0;
    for (int k = 0; k < DAG_COORDS; k++) {
        direction[k] = 0.5 + 0.25 * k;
        along += s.dot[k] * direction[k];
    }
    wide *values = dag_evaluate(&s.graph, s.d.coords, s.d.params, direction);
    for (uint32_t k = 0; k < DAG_COORDS; k++)
        if (!dag_close(partial_value(&adjoint, values, k), s.dot[k], tolerance))
            fail_msg("seed %d: reverse %.15Lg, dual %.15Lg", (int)seed,
                     partial_value(&adjoint, values, k), s.dot[k]);
    if (!dag_close(values[dot], along, tolerance))
        fail_msg("seed %d: forward %.15Lg, dual %.15Lg", (int)seed, values[dot], along);
    free(values);
    hmi_adjoint_release(&adjoint);
    hmi_graph_release(&s.graph);
}

static void test_random_dags(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        check_scene(seed, seed % 2);
}

/* Several roots with seeds: the gradient of their weighted sum. */
static void test_seeds(void **state)
{
    (void)state;
    static scene s;
    hmi_adjoint adjoint;
    open_scene(&s, 77, 500, false);
    hmi_adjoint_init(&adjoint, s.graph.allocator);
    hmi_expr roots[20], seeds[20];
    wide expected[DAG_COORDS] = {0};
    size_t count = 0;
    for (size_t i = s.d.count - 30; i < s.d.count && count < 20; i++) {
        if (s.d.condition[i])
            continue;
        roots[count] = s.d.node[i];
        seeds[count] = hmi_number(&s.graph, 0.5 + (double)count);
        for (int k = 0; k < DAG_COORDS; k++)
            expected[k] += (0.5L + (wide)count) * s.d.dot[i][k];
        count++;
    }
    assert_int_equal(hmi_adjoint_sweep(&adjoint, &s.graph, roots, seeds, count, HMI_SYM_COORD),
                     HM_OK);
    wide *values = dag_evaluate(&s.graph, s.d.coords, s.d.params, NULL);
    for (uint32_t k = 0; k < DAG_COORDS; k++)
        assert_true(dag_close(partial_value(&adjoint, values, k), expected[k], tolerance));
    for (size_t k = 1; k < adjoint.partials.count; k++)
        assert_true(adjoint.partials.data[k - 1].index < adjoint.partials.data[k].index);
    free(values);
    hmi_adjoint_release(&adjoint);
    hmi_graph_release(&s.graph);
}

/* ---- substitution ---- */

/* x_k -> c_k x_k with c_k a parameter: the value is that at the scaled point. */
static hmi_expr scaled(hmi_graph *g, hmi_expr leaf, void *user)
{
    (void)user;
    uint32_t k = hmi_node_at(g, leaf)->b;
    return hmi_mul(g, hmi_symbol(g, HMI_SYM_PARAM, DAG_PARAMS + k), leaf);
}

static void test_substitution(void **state)
{
    (void)state;
    for (uint64_t seed = 300; seed < 340; seed++) {
        static scene s;
        hmi_substitution substitution;
        open_scene(&s, seed, 1000, false);
        hmi_substitution_init(&substitution, s.graph.allocator, scaled, NULL,
                              HMI_DEP(HMI_SYM_COORD));
        hmi_expr replaced = hmi_substitute(&substitution, &s.graph, s.root);
        double coords[DAG_COORDS], params[DAG_PARAMS + DAG_COORDS];
        memcpy(params, s.d.params, sizeof s.d.params);
        for (int k = 0; k < DAG_COORDS; k++) {
            params[DAG_PARAMS + k] = 0.5 * (k + 1); /* exact in binary */
            coords[k] = s.d.coords[k] / params[DAG_PARAMS + k];
        }
        wide *before = dag_evaluate(&s.graph, s.d.coords, params, NULL);
        wide *after = dag_evaluate(&s.graph, coords, params, NULL);
        assert_true(dag_close(after[replaced], before[s.root], tolerance));
        free(before);
        free(after);
        hmi_substitution_release(&substitution);
        hmi_graph_release(&s.graph);
    }
}

/* ---- simplification by value ---- */

/* The same DAG twice, once through the constructors and once as it is. */
static void test_simplification(void **state)
{
    (void)state;
    for (uint64_t seed = 500; seed < 700; seed++) {
        static scene simple, plain;
        open_scene(&simple, seed, 1000, false);
        open_scene(&plain, seed, 1000, true);
        assert_int_equal(simple.d.count, plain.d.count);
        wide *x = dag_evaluate(&simple.graph, simple.d.coords, simple.d.params, NULL);
        wide *y = dag_evaluate(&plain.graph, plain.d.coords, plain.d.params, NULL);
        for (size_t i = 0; i < plain.d.count; i++) {
            assert_true(dag_close(y[plain.d.node[i]], plain.d.value[i], tolerance));
            if (!dag_close(x[simple.d.node[i]], y[plain.d.node[i]], tolerance))
                fail_msg("seed %d node %zu (%s): %.15Lg, plain %.15Lg", (int)seed, i,
                         hmi_op_text(hmi_op_of(&plain.graph, plain.d.node[i])), x[simple.d.node[i]],
                         y[plain.d.node[i]]);
        }
        free(x);
        free(y);
        hmi_graph_release(&simple.graph);
        hmi_graph_release(&plain.graph);
    }
}

/* ---- cost ---- */

static size_t reached(const hmi_graph *g, hmi_expr root)
{
    hmi_walk walk;
    hmi_walk_init(&walk, g->allocator);
    assert_int_equal(hmi_walk_begin(&walk, g), HM_OK);
    assert_int_equal(hmi_walk_add(&walk, g, root, 0xFFFF), HM_OK);
    size_t count = walk.order.count;
    hmi_walk_release(&walk);
    return count;
}

/* A gradient costs a small multiple of its function, whatever the number of variables. */
static void test_cost(void **state)
{
    (void)state;
    double worst = 0, sum = 0;
    for (uint64_t seed = 900; seed < 1000; seed++) {
        static scene s;
        hmi_adjoint adjoint;
        open_scene(&s, seed, 2000, false);
        hmi_adjoint_init(&adjoint, s.graph.allocator);
        size_t size = reached(&s.graph, s.root), before = s.graph.nodes.count;
        assert_int_equal(hmi_gradient(&adjoint, &s.graph, s.root, HMI_SYM_COORD), HM_OK);
        double ratio = (double)(s.graph.nodes.count - before) / (double)size;
        worst = ratio > worst ? ratio : worst;
        sum += ratio;
        hmi_adjoint_release(&adjoint);
        hmi_graph_release(&s.graph);
    }
    print_message("nodes of a gradient per node of its function: %.2f on average, %.2f at most\n",
                  sum / 100, worst);
    assert_true(worst <= 5);
}

/* Differentiating again costs nothing: results are remembered and interned. */
static void test_shared_results(void **state)
{
    (void)state;
    static scene s;
    open_scene(&s, 42, 1000, false);
    hmi_expr first = tangent_of(&s.graph, s.root);
    size_t nodes = s.graph.nodes.count;
    assert_int_equal(tangent_of(&s.graph, s.root), first);
    assert_int_equal(s.graph.nodes.count, nodes);
    hmi_graph_release(&s.graph);
}

/* ---- depth ---- */

enum { LONG = 1000000 };

static hmi_expr long_sum(hmi_graph *g, uint32_t symbols)
{
    hmi_expr sum = g->zero;
    for (uint32_t i = 0; i < LONG; i++) {
        hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, i % symbols);
        sum = hmi_intern(g, HMI_ADD, sum, hmi_apply(g, HMI_SIN, x, 0, 0), 0);
    }
    return sum;
}

/* A sum of a million terms leans to the left a million deep: nothing recurses over it. */
static void test_long_sum(void **state)
{
    (void)state;
    hmi_graph g;
    hmi_adjoint adjoint;
    hmi_substitution substitution;
    open_graph(&g);
    hmi_adjoint_init(&adjoint, g.allocator);
    hmi_expr sum = long_sum(&g, 1000);
    assert_true(reached(&g, sum) > LONG);
    assert_int_equal(hmi_gradient(&adjoint, &g, sum, HMI_SYM_COORD), HM_OK);
    assert_int_equal(adjoint.partials.count, 1000);
    tangent_of(&g, sum);
    hmi_substitution_init(&substitution, g.allocator, scaled, NULL, HMI_DEP(HMI_SYM_COORD));
    assert_int_not_equal(hmi_substitute(&substitution, &g, sum), HMI_NONE);
    hmi_substitution_release(&substitution);
    hmi_adjoint_release(&adjoint);
    hmi_graph_release(&g);
}

/* A million nested functions, and a sum that leans to the right. */
static void test_deep_nesting(void **state)
{
    (void)state;
    hmi_graph g;
    hmi_adjoint adjoint;
    open_graph(&g);
    hmi_adjoint_init(&adjoint, g.allocator);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), e = x, sum = x;
    for (int i = 0; i < 200000; i++) {
        e = hmi_apply(&g, HMI_SIN, e, 0, 0);
        sum = hmi_intern(&g, HMI_MUL, hmi_number(&g, i + 0.5), sum, 0);
    }
    assert_int_equal(hmi_gradient(&adjoint, &g, e, HMI_SYM_COORD), HM_OK);
    assert_int_equal(hmi_gradient(&adjoint, &g, sum, HMI_SYM_COORD), HM_OK);
    tangent_of(&g, e);
    tangent_of(&g, sum);
    hmi_adjoint_release(&adjoint);
    hmi_graph_release(&g);
}

/* ---- leaves that refuse ---- */

static hmi_expr refuse_second(hmi_graph *g, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_node_at(g, leaf)->b == 1 ? HMI_NONE : g->one;
}

static void test_refused_leaf(void **state)
{
    (void)state;
    hmi_graph g;
    hmi_tangent tangent;
    open_graph(&g);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), y = hmi_symbol(&g, HMI_SYM_COORD, 1);
    hmi_tangent_init(&tangent, g.allocator, refuse_second, NULL, HMI_DEP(HMI_SYM_COORD));
    assert_int_equal(hmi_tangent_of(&tangent, &g, hmi_mul(&g, x, y)), HMI_NONE);
    assert_int_equal(tangent.refused, y);
    assert_int_equal(hmi_graph_status(&g), HM_OK);
    assert_int_equal(hmi_tangent_of(&tangent, &g, hmi_apply(&g, HMI_SIN, x, 0, 0)),
                     hmi_apply(&g, HMI_COS, x, 0, 0));
    assert_int_equal(tangent.refused, HMI_NONE);
    hmi_tangent_release(&tangent);
    hmi_graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),   cmocka_unit_test(test_duals),
        cmocka_unit_test(test_random_dags),  cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_substitution), cmocka_unit_test(test_simplification),
        cmocka_unit_test(test_cost),         cmocka_unit_test(test_shared_results),
        cmocka_unit_test(test_long_sum),     cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_refused_leaf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
