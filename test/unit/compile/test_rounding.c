/* Bounds of rounding errors (compile/tape/rounding.h) against 256-bit ball arithmetic: no value of a tape
 * is farther from the exact one than its bound says, also where terms cancel to nothing; and the bounds
 * are not idle. */
#include "compile/tape/rounding.h"

#include "support/ball_graph.h"
#include "support/check.h"

#include "unit/expr/random_dag.h"

#include <string.h>

enum { GRAPHS = 300, NODES = 60, CANCELLATIONS = 40 };

typedef HMI_ARRAY(hmi_expr) expression_list;

/* a + b - a - b, (a + b)^2 - a^2 - 2 a b - b^2, sin(a)^2 + cos(a)^2 - 1, a/b*b - a: zero on paper. */
static hmi_expr cancel(dag *d, dag_source *s)
{
    hmi_graph *g = d->graph;
    size_t i = dag_operand(d, s, false), k = dag_operand(d, s, false);
    hmi_expr a = d->node[i], b = d->node[k], two = hmi_number(g, 2), one = hmi_number(g, 1);
#define OP(name, x, y) hmi_intern(g, HMI_##name, x, y, 0)
    switch (dag_choose(s, 4)) {
    case 0:
        return OP(SUB, OP(SUB, OP(ADD, a, b), a), b);
    case 1: {
        hmi_expr sum = OP(ADD, a, b), square = OP(MUL, sum, sum);
        square = OP(SUB, square, OP(MUL, a, a));
        square = OP(SUB, square, OP(MUL, two, OP(MUL, a, b)));
        return OP(SUB, square, OP(MUL, b, b));
    }
    case 2: {
        hmi_expr sine = OP(SIN, a, 0), cosine = OP(COS, a, 0);
        return OP(SUB, OP(ADD, OP(MUL, sine, sine), OP(MUL, cosine, cosine)), one);
    }
    default:
        return fabsl(d->value[k]) > 1e-3L ? OP(SUB, OP(MUL, OP(DIV, a, b), b), a) : one;
    }
#undef OP
}

static void collect(dag *d, dag_source *s, expression_list *list, const hm_allocator *allocator)
{
    while (d->count < NODES)
        (void)dag_grow(d, s);
    for (size_t i = 0; i < d->count; i++)
        assert_true(hmi_array_push(allocator, list, d->node[i]));
    for (int i = 0; i < CANCELLATIONS; i++)
        assert_true(hmi_array_push(allocator, list, cancel(d, s)));
}

/* By how many times its bound a value is wrong. */
static double excess(double value, double bound, arb_srcptr exact)
{
    arb_t error;
    arb_init(error);
    arb_set_d(error, value);
    arb_sub(error, error, exact, BALL_BITS);
    arb_abs(error, error);
    double left = arf_get_d(arb_midref(error), ARF_RND_UP);
    arb_clear(error);
    return left == 0 ? 0 : left / bound;
}

typedef struct tally {
    long values, wrong,
        idle; /* idle: bounds a million times the error of rounding the value once */
    double worst;
} tally;

static void compare(const hmi_graph *graph, const dag *d, const expression_list *list, tally *t,
                    const hm_allocator *allocator)
{
    hmi_tape tape;
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, allocator);
    assert_int_equal(hmi_tape_build(&tape, graph, list->data, list->count, &scratch), HM_OK);
    hmi_tape_scratch_release(&scratch);
    double *work = calloc(tape.work_size, sizeof *work),
           *error = calloc(tape.work_size, sizeof *work);
    double *before = calloc(list->count, sizeof *before);
    const hmi_tape_values values = {
        .by_kind = {[HMI_SYM_COORD] = d->coords, [HMI_SYM_PARAM] = d->params}};
    const ball_symbols symbols = {
        .by_kind = {[HMI_SYM_COORD] = d->coords, [HMI_SYM_PARAM] = d->params}};
    arb_ptr exact = _arb_vec_init((slong)graph->nodes.count);
    hmi_tape_prepare(&tape, &values, work);
    hmi_tape_run(&tape, &values, work);
    memcpy(before, hmi_tape_outputs(&tape, work), list->count * sizeof *before);
    hmi_tape_bound(&tape, &values, NULL, work, error);
    assert_memory_equal(before, hmi_tape_outputs(&tape, work), list->count * sizeof *before);
    ball_evaluate(graph, (hmi_expr)graph->nodes.count - 1, &symbols, exact);
    for (size_t i = 0; i < list->count; i++) {
        double bound = error[tape.output_slot + i];
        double over = excess(before[i], bound, exact + list->data[i]);
        t->values++;
        t->wrong += over > 1;
        t->worst = fmax(t->worst, over);
        t->idle += bound > 1e6 * 0x1p-53 * (1 + fabs(before[i]));
    }
    _arb_vec_clear(exact, (slong)graph->nodes.count);
    free(before);
    free(error);
    free(work);
    hmi_tape_release(&tape);
}

static void bounds_hold(void **state)
{
    (void)state;
    const hm_allocator plain = hm_allocator_default(), *allocator = &plain;
    tally t = {0};
    dag_source source = {.state = 7};
    static dag d;
    for (int k = 0; k < GRAPHS; k++) {
        hmi_graph graph;
        expression_list list = {0};
        assert_int_equal(hmi_graph_init(&graph, allocator), HM_OK);
        dag_start(&d, &graph, true, &source);
        collect(&d, &source, &list, allocator);
        compare(&graph, &d, &list, &t, allocator);
        hmi_array_release(allocator, &list);
        hmi_graph_release(&graph);
    }
    print_message("%ld values, worst error %.3g of its bound, %ld idle bounds\n", t.values, t.worst,
                  t.idle);
    assert_int_equal(t.wrong, 0);
    assert_true(t.worst > 0.1);           /* they are near */
    assert_true(t.idle < t.values / 100); /* and seldom far off */
}

static void given_numbers(void **state)
{
    (void)state;
    assert_true(hmi_given_error(0) == 0 && hmi_given_error(-3) == 0 && hmi_given_error(0.25) == 0);
    assert_true(hmi_given_error(0.1) > 0 && hmi_given_error(0.1) < 2e-17);
    assert_true(hmi_given_error(acos(-1)) > 1e-16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(given_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
