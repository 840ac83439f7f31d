/* The tape agrees with the graph bit by bit, on random DAGs over every operation and at special
 * values; it stays inside its work vector, reuses places, fuses and hoists. Machine code and
 * both interpreters, the one with labels and the portable one, are checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile/tape/tape.h"

/* The portable interpreter under names of its own. */
void switch_prepare(const hmi_tape *tape, const hmi_tape_values *values, double *work);
void switch_run(const hmi_tape *tape, const hmi_tape_values *values, double *work);
#define HMI_TAPE_SWITCH
#define hmi_tape_prepare   switch_prepare
#define hmi_tape_interpret switch_run
#include "compile/tape/interpreter.c"
#undef hmi_tape_prepare
#undef hmi_tape_interpret

#include "unit/expr/random_dag.h"
#include "compile/jit/assemble.h"

typedef struct engine {
    void (*prepare)(const hmi_tape *tape, const hmi_tape_values *values, double *work);
    void (*run)(const hmi_tape *tape, const hmi_tape_values *values, double *work);
} engine;

static const engine engines[] = {{hmi_tape_prepare, hmi_tape_run},
                                 {hmi_tape_prepare, hmi_tape_interpret},
                                 {switch_prepare, switch_run}};

/* ---- the graph, evaluated node by node in double ---- */

static double *evaluate_graph(const hmi_graph *g, const hmi_tape_values *values)
{
    double *v = malloc(g->nodes.count * sizeof *v);
    assert_non_null(v);
    for (hmi_expr e = 0; e < g->nodes.count; e++) {
        const hmi_node *n = hmi_node_at(g, e);
        int arity = hmi_op_arity((hmi_op)n->op);
        if (n->op == HMI_CONST)
            v[e] = hmi_constant_of(g, e)->value;
        else if (n->op == HMI_SYMBOL)
            v[e] = values->by_kind[n->a] ? values->by_kind[n->a][n->b] : 0;
        else
            v[e] = hmi_op_value((hmi_op)n->op, v[n->a], arity > 1 ? v[n->b] : 0,
                                arity > 2 ? v[n->c] : 0);
    }
    return v;
}

static bool same_bits(double x, double y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

/* ---- a work vector between guards ---- */

enum { GUARD = 16 };
static const double guard_value = -7.25e77;

static double *new_work(const hmi_tape *tape)
{
    double *memory = malloc((tape->work_size + 2 * GUARD) * sizeof *memory);
    assert_non_null(memory);
    for (size_t i = 0; i < tape->work_size + 2 * GUARD; i++)
        memory[i] = guard_value; /* the work itself starts as rubbish, too */
    return memory + GUARD;
}

static void free_work(const hmi_tape *tape, double *work)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_true(work[-1 - (ptrdiff_t)i] == guard_value);
        assert_true(work[tape->work_size + i] == guard_value);
    }
    free(work - GUARD);
}

static void check_outputs(const hmi_graph *g, const hmi_tape *tape, const double *work,
                          const hmi_expr *outputs, size_t count, const hmi_tape_values *values)
{
    double *expected = evaluate_graph(g, values);
    const double *results = hmi_tape_outputs(tape, work);
    for (size_t k = 0; k < count; k++) {
        double value = outputs[k] == HMI_NONE ? 0 : expected[outputs[k]];
        if (!same_bits(results[k], value))
            fail_msg("output %zu is %.17g instead of %.17g", k, results[k], value);
    }
    free(expected);
}

/* All engines at one set of values, run twice. */
static void check_tape(const hmi_graph *g, const hmi_expr *outputs, size_t count,
                       const hmi_tape_values *values)
{
    hmi_tape tape;
    assert_int_equal(hmi_tape_compile(&tape, g, outputs, count), HM_OK);
    assert_int_equal(tape.output_count, count);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        double *work = new_work(&tape);
        engines[i].prepare(&tape, values, work);
        for (int round = 0; round < 2; round++) {
            engines[i].run(&tape, values, work);
            check_outputs(g, &tape, work, outputs, count, values);
        }
        free_work(&tape, work);
    }
    hmi_tape_release(&tape);
}

/* ---- random DAGs ---- */

static void open_graph(hmi_graph *g)
{
    static hm_allocator allocator;
    allocator = hm_allocator_default();
    assert_int_equal(hmi_graph_init(g, &allocator), HM_OK);
}

static double special(dag_source *s)
{
    static const double values[] = {0.0,       -0.0,     1,     -1,     0.5,    INFINITY,
                                    -INFINITY, NAN,      1e308, -1e308, 1e-308, 4.9e-324,
                                    3.14159,   -2.71828, 1e16,  -1e-16, 2,      700};
    return values[dag_choose(s, sizeof values / sizeof *values)];
}

static size_t choose_outputs(const dag *d, dag_source *s, hmi_expr *outputs, size_t most)
{
    size_t count = 1 + dag_choose(s, (uint32_t)most - 1);
    for (size_t k = 0; k < count; k++) {
        uint32_t pick = dag_choose(s, 20);
        outputs[k] = pick == 0  ? HMI_NONE
                     : pick < 4 ? d->node[dag_choose(s, DAG_COORDS + DAG_PARAMS + 4)]
                     : pick < 7 && k > 0
                         ? outputs[dag_choose(s, (uint32_t)k)]
                         : d->node[d->count - 1 - dag_choose(s, (uint32_t)d->count / 2)];
    }
    return count;
}

static void test_random_dags(void **state)
{
    (void)state;
    static dag d;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        hmi_graph g;
        dag_source s = {.state = seed};
        hmi_expr outputs[64];
        open_graph(&g);
        dag_start(&d, &g, seed % 2, &s);
        dag_fill(&d, &s, seed % 5 ? 300 : 2000);
        size_t count = choose_outputs(&d, &s, outputs, 64);
        hmi_tape_values values = {
            .by_kind = {[HMI_SYM_COORD] = d.coords, [HMI_SYM_PARAM] = d.params}};
        check_tape(&g, outputs, count, &values);
        double coords[DAG_COORDS], params[DAG_PARAMS];
        for (int round = 0; round < 5; round++) {
            for (int k = 0; k < DAG_COORDS; k++)
                coords[k] = round % 2 ? special(&s) : dag_between(&s, -3, 3);
            for (int k = 0; k < DAG_PARAMS; k++)
                params[k] = special(&s);
            values.by_kind[HMI_SYM_COORD] = coords;
            values.by_kind[HMI_SYM_PARAM] = params;
            check_tape(&g, outputs, count, &values);
        }
        hmi_graph_release(&g);
    }
}

/* Every operation alone, at all pairs of special values. */
static void test_operations(void **state)
{
    (void)state;
    hmi_graph g;
    open_graph(&g);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), y = hmi_symbol(&g, HMI_SYM_COORD, 1);
    hmi_expr z = hmi_symbol(&g, HMI_SYM_COORD, 2), outputs[2 * HMI_PLAIN_OPS_END];
    size_t count = 0;
    for (int op = HMI_SYMBOL + 1; op < HMI_PLAIN_OPS_END; op++)
        if (op != HMI_POWI)
            outputs[count++] = hmi_intern(&g, (hmi_op)op, x, y, z);
    for (int n = -3; n <= 9; n++)
        outputs[count++] = hmi_intern(&g, HMI_POWI, x, hmi_number(&g, n), 0);
    dag_source s = {.state = 4};
    for (int i = 0; i < 2000; i++) {
        const double coords[3] = {special(&s), special(&s), special(&s)};
        const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = coords}};
        check_tape(&g, outputs, count, &values);
    }
    hmi_graph_release(&g);
}

/* ---- what the compiler does ---- */

static size_t count_op(const hmi_tape *tape, uint32_t op, bool prologue)
{
    size_t found = 0, count = prologue ? tape->prologue.count : tape->body.count;
    const hmi_instruction *code = prologue ? tape->prologue.data : tape->body.data;
    for (size_t i = 0; i < count; i++)
        found += code[i].op == op;
    return found;
}

static size_t table_op(hmi_op op)
{
    return HMI_TAPE_FIRST_OF_TABLE + op;
}

static void test_sine_and_cosine(void **state)
{
    (void)state;
    hmi_graph g;
    hmi_tape tape;
    open_graph(&g);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), y = hmi_symbol(&g, HMI_SYM_COORD, 1);
    hmi_expr outputs[] = {
        hmi_apply(&g, HMI_COS, x, 0, 0),
        hmi_add(&g, hmi_apply(&g, HMI_SIN, x, 0, 0), y),
        hmi_apply(&g, HMI_SIN, y, 0, 0),
    };
    assert_int_equal(hmi_tape_compile(&tape, &g, outputs, 3), HM_OK);
    assert_int_equal(count_op(&tape, HMI_TAPE_SINCOS, false), 1);
    assert_int_equal(count_op(&tape, (uint32_t)table_op(HMI_SIN), false), 1);
    assert_int_equal(count_op(&tape, (uint32_t)table_op(HMI_COS), false), 0);
    hmi_tape_release(&tape);
    for (double at = -1e6; at < 1e6; at += 997.13) {
        const double coords[] = {at, at / 3};
        const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = coords}};
        check_tape(&g, outputs, 3, &values);
    }
    hmi_graph_release(&g);
}

static void test_products_in_sums(void **state)
{
    (void)state;
    hmi_graph g;
    hmi_tape tape;
    open_graph(&g);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), y = hmi_symbol(&g, HMI_SYM_COORD, 1);
    hmi_expr z = hmi_symbol(&g, HMI_SYM_COORD, 2), u = hmi_symbol(&g, HMI_SYM_COORD, 3);
    hmi_expr shared = hmi_mul(&g, z, u), shown = hmi_mul(&g, y, u);
    hmi_expr outputs[] = {
        hmi_intern(&g, HMI_ADD, hmi_mul(&g, x, y), z, 0), /* fused */
        hmi_intern(&g, HMI_SUB, z, hmi_mul(&g, x, u), 0), /* fused */
        hmi_intern(&g, HMI_SUB, hmi_mul(&g, y, z), x, 0), /* fused */
        hmi_intern(&g, HMI_ADD, shared, x, 0),            /* used twice: not */
        hmi_intern(&g, HMI_SUB, shared, y, 0),
        shown, /* an output: not */
        hmi_intern(&g, HMI_ADD, shown, x, 0),
    };
    size_t count = sizeof outputs / sizeof *outputs;
    assert_int_equal(hmi_tape_compile(&tape, &g, outputs, count), HM_OK);
    assert_int_equal(count_op(&tape, HMI_TAPE_MUL_ADD, false), 1);
    assert_int_equal(count_op(&tape, HMI_TAPE_SUB_MUL, false), 1);
    assert_int_equal(count_op(&tape, HMI_TAPE_MUL_SUB, false), 1);
    assert_int_equal(count_op(&tape, (uint32_t)table_op(HMI_MUL), false), 2);
    hmi_tape_release(&tape);
    dag_source s = {.state = 11};
    for (int i = 0; i < 2000; i++) { /* rounded twice, not contracted */
        double coords[4];
        for (int k = 0; k < 4; k++)
            coords[k] = dag_between(&s, -10, 10) / 3;
        const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = coords}};
        check_tape(&g, outputs, count, &values);
    }
    hmi_graph_release(&g);
}

/* What depends on parameters alone runs in the prologue, and again only when asked. */
static void test_hoisting(void **state)
{
    (void)state;
    hmi_graph g;
    hmi_tape tape;
    open_graph(&g);
    hmi_expr m = hmi_symbol(&g, HMI_SYM_PARAM, 2), x = hmi_symbol(&g, HMI_SYM_COORD, 5);
    hmi_expr heavy = hmi_apply(&g, HMI_EXP, hmi_apply(&g, HMI_SIN, m, 0, 0), 0, 0);
    hmi_expr outputs[] = {hmi_mul(&g, heavy, x), heavy, m, hmi_number(&g, 2.5), HMI_NONE};
    double params[] = {0, 0, 0.5}, coords[] = {0, 0, 0, 0, 0, 3};
    const hmi_tape_values values = {
        .by_kind = {[HMI_SYM_PARAM] = params, [HMI_SYM_COORD] = coords}};
    assert_int_equal(hmi_tape_compile(&tape, &g, outputs, 5), HM_OK);
    assert_int_equal(tape.node_count, 1);
    assert_int_equal(count_op(&tape, (uint32_t)table_op(HMI_EXP), true), 1);
    assert_int_equal(count_op(&tape, (uint32_t)table_op(HMI_EXP), false), 0);
    assert_true(hmi_tape_uses(&tape, HMI_SYM_COORD) && hmi_tape_uses(&tape, HMI_SYM_PARAM));
    assert_false(hmi_tape_uses(&tape, HMI_SYM_VELOCITY));
    double *work = new_work(&tape);
    hmi_tape_prepare(&tape, &values, work);
    hmi_tape_run(&tape, &values, work);
    check_outputs(&g, &tape, work, outputs, 5, &values);
    double before = hmi_tape_outputs(&tape, work)[0];
    params[2] = 0.7;
    hmi_tape_run(&tape, &values, work);
    assert_true(hmi_tape_outputs(&tape, work)[0] == before);
    hmi_tape_prepare(&tape, &values, work);
    hmi_tape_run(&tape, &values, work);
    check_outputs(&g, &tape, work, outputs, 5, &values);
    assert_true(hmi_tape_outputs(&tape, work)[0] != before);
    free_work(&tape, work);
    hmi_tape_release(&tape);
    hmi_graph_release(&g);
}

/* A long computation needs few places. */
static void test_reuse(void **state)
{
    (void)state;
    hmi_graph g;
    hmi_tape tape;
    open_graph(&g);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), y = hmi_symbol(&g, HMI_SYM_COORD, 1), e = x;
    for (int i = 0; i < 10000; i++)
        e = hmi_add(&g, hmi_apply(&g, HMI_SIN, hmi_mul(&g, e, y), 0, 0), x);
    assert_int_equal(hmi_tape_compile(&tape, &g, &e, 1), HM_OK);
    assert_true(tape.body.count > 20000);
    assert_in_range(tape.work_size, 4, 12);
    hmi_tape_release(&tape);
    const double coords[] = {0.3, 0.7};
    const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = coords}};
    check_tape(&g, &e, 1, &values);
    hmi_graph_release(&g);
}

/* Random DAGs need far fewer places than they have nodes. */
static void test_reuse_in_dags(void **state)
{
    (void)state;
    static dag d;
    for (uint64_t seed = 40; seed < 60; seed++) {
        hmi_graph g;
        hmi_tape tape;
        dag_source s = {.state = seed};
        open_graph(&g);
        dag_start(&d, &g, false, &s);
        dag_fill(&d, &s, 3000);
        hmi_expr root = g.zero;
        for (size_t i = d.count - 200; i < d.count; i++)
            root = hmi_add(&g, root, d.node[i]);
        assert_int_equal(hmi_tape_compile(&tape, &g, &root, 1), HM_OK);
        assert_true(tape.node_count > 500);
        assert_true(tape.work_size - tape.code.spill_doubles < tape.node_count / 2);
        hmi_tape_release(&tape);
        hmi_graph_release(&g);
    }
}

/* Nothing to compute, outputs that are leaves, inputs far apart. */
static void test_edges(void **state)
{
    (void)state;
    hmi_graph g;
    open_graph(&g);
    const hmi_tape_values nothing = {{NULL}};
    check_tape(&g, NULL, 0, &nothing);
    hmi_expr none[] = {HMI_NONE, HMI_NONE};
    check_tape(&g, none, 2, &nothing);
    hmi_expr one[] = {g.one, g.zero, g.one};
    check_tape(&g, one, 3, &nothing);
    static double coords[2001];
    coords[0] = 1.5;
    coords[2000] = -2.5;
    const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = coords}};
    hmi_expr far[] = {hmi_symbol(&g, HMI_SYM_COORD, 2000), hmi_symbol(&g, HMI_SYM_COORD, 0),
                      hmi_symbol(&g, HMI_SYM_COORD, 2000)};
    check_tape(&g, far, 3, &values);
    hmi_expr sum[] = {hmi_add(&g, far[0], far[1]), far[0], hmi_add(&g, far[0], far[1])};
    check_tape(&g, sum, 3, &values);
    hmi_expr missing[] = {hmi_add(&g, hmi_symbol(&g, HMI_SYM_INPUT, 3), far[1])};
    check_tape(&g, missing, 1, &values); /* values of a kind that are not given count as 0 */
    hmi_graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_dags),     cmocka_unit_test(test_operations),
        cmocka_unit_test(test_sine_and_cosine), cmocka_unit_test(test_products_in_sums),
        cmocka_unit_test(test_hoisting),        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_reuse_in_dags),   cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
