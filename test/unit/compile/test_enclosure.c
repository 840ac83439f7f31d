/* Tapes on intervals: compile/tape/enclosure.h. Every value of an expression on a piece of a path,
 * computed by the tape itself on numbers, lies within the enclosure, and so does every quotient of
 * differences within that of the rate. */
#include "compile/tape/enclosure.h"

#include "base/random.h"
#include "expr/graph/graph.h"
#include "support/check.h"

#include <stdlib.h>

enum { PIECES = 400, PLACES = 9 };

/* x_k(s) = p_k + v_k s + w_k sin(s + k), s in [a, b] */
typedef struct path {
    double p[2], v[2], w[2];
    double a, b;
} path;

static double place(const path *at, uint32_t k, double s)
{
    return at->p[k] + at->v[k] * s + at->w[k] * sin(s + k);
}

static hmi_enclosure symbol(const void *user, hmi_symbol_kind kind, uint32_t k)
{
    const path *at = user;
    hmi_enclosure s = {{at->a, at->b}, {1, 1}}, phase = s, sine, cosine, e;
    assert_int_equal(kind, HMI_SYM_COORD);
    phase.value = hmi_interval_add(s.value, (hmi_interval){k, k});
    hmi_enclose_sincos(phase, &sine, &cosine);
    const hmi_enclosure p = {{at->p[k], at->p[k]}, {0, 0}}, v = {{at->v[k], at->v[k]}, {0, 0}},
                        w = {{at->w[k], at->w[k]}, {0, 0}};
    e = hmi_enclose_op(HMI_MUL, v, s, s);
    e = hmi_enclose_op(HMI_ADD, p, e, e);
    return hmi_enclose_op(HMI_ADD, e, hmi_enclose_op(HMI_MUL, w, sine, s), s);
}

static double value_at(const hmi_tape *tape, const path *at, double s, double *work)
{
    double x[2] = {place(at, 0, s), place(at, 1, s)};
    const hmi_tape_values values = {.by_kind = {[HMI_SYM_COORD] = x}};
    hmi_tape_run(tape, &values, work);
    return hmi_tape_outputs(tape, work)[0];
}

/* How many pieces had a bounded enclosure. */
static int check_pieces(hmi_graph *graph, hmi_expr e, hmi_random *random)
{
    hmi_tape tape;
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, graph->allocator);
    assert_int_equal(hmi_tape_build(&tape, graph, &e, 1, &scratch), HM_OK);
    hmi_tape_scratch_release(&scratch);
    double *work = calloc(tape.work_size, sizeof *work);
    hmi_enclosure *bounds = calloc(tape.work_size, sizeof *bounds);
    const hmi_tape_values none = {{0}};
    hmi_tape_prepare(&tape, &none, work);
    hmi_tape_enclose_prepare(&tape, work, bounds);
    int bounded = 0;
    for (int i = 0; i < PIECES; i++) {
        path at;
        for (int k = 0; k < 2; k++) {
            at.p[k] = hmi_random_between(random, -3, 3);
            at.v[k] = hmi_random_between(random, -2, 2);
            at.w[k] = hmi_random_between(random, -1, 1);
        }
        at.a = hmi_random_between(random, -2, 2);
        at.b = at.a + pow(10, hmi_random_between(random, -6, 0.3));
        hmi_tape_enclose(&tape, symbol, &at, bounds);
        hmi_enclosure g = bounds[tape.output_slot];
        bounded += isfinite(g.value.lo) && isfinite(g.rate.hi) && isfinite(g.rate.lo);
        double before = NAN;
        for (int j = 0; j <= PLACES; j++) {
            double s = at.a + (at.b - at.a) * j / PLACES, y = value_at(&tape, &at, s, work);
            if (isnan(y)) {
                before = NAN;
                continue;
            }
            assert_true(g.value.lo <= y && y <= g.value.hi);
            /* differences of short pieces are mostly rounding */
            double slope = (y - before) / ((at.b - at.a) / PLACES),
                   slack = 1e-7 * (1 + fabs(slope));
            if (at.b - at.a > 1e-3 && fabs(y) < 1e4 && fabs(before) < 1e4)
                assert_true(g.rate.lo - slack <= slope && slope <= g.rate.hi + slack);
            before = y;
        }
    }
    free(work);
    free(bounds);
    hmi_tape_release(&tape);
    return bounded;
}

/* Every operation of the table by itself and on arguments that are inside its domain. */
static void each_operation_is_enclosed(void **state)
{
    (void)state;
    const hm_allocator allocator = hm_allocator_default();
    hmi_graph graph;
    hmi_random random = {11};
    assert_int_equal(hmi_graph_init(&graph, &allocator), HM_OK);
    hmi_expr x = hmi_symbol(&graph, HMI_SYM_COORD, 0), y = hmi_symbol(&graph, HMI_SYM_COORD, 1);
    hmi_expr inside = hmi_mul(&graph, hmi_number(&graph, 0.999),
                              hmi_apply(&graph, HMI_SIN, x, x, x));
    hmi_expr positive = hmi_add(&graph, hmi_number(&graph, 0.01), hmi_mul(&graph, y, y));
    for (int op = HMI_SYMBOL + 1; op < HMI_PLAIN_OPS_END; op++) {
        hmi_expr a = op == HMI_ASIN || op == HMI_ACOS                   ? inside
                     : op == HMI_LOG || op == HMI_SQRT || op == HMI_POW ? positive
                                                                        : x;
        hmi_expr b = op == HMI_DIV ? positive : op == HMI_POWI ? hmi_number(&graph, 3) : y;
        hmi_expr c = hmi_apply(&graph, HMI_LT, x, y, x);
        hmi_expr e = op == HMI_SELECT ? hmi_apply(&graph, HMI_SELECT, c, x, positive)
                     : op == HMI_AND || op == HMI_OR
                         ? hmi_apply(&graph, (hmi_op)op, c,
                                     hmi_apply(&graph, HMI_LE, y, positive, y), c)
                     : op == HMI_NOT ? hmi_apply(&graph, HMI_NOT, c, c, c)
                                     : hmi_apply(&graph, (hmi_op)op, a, b, b);
        int bounded = check_pieces(&graph, e, &random);
        /* most pieces are short: only those that meet a jump, a pole or a cut are unbounded */
        if (bounded < PIECES / 2)
            fail_msg("%s: %d of %d pieces bounded", hmi_op_text((hmi_op)op), bounded, PIECES);
    }
    hmi_graph_release(&graph);
}

static hmi_expr random_expression(hmi_graph *graph, hmi_random *random, int depth)
{
    if (depth == 0) {
        uint64_t kind = hmi_random_bits(random) % 3;
        return kind < 2 ? hmi_symbol(graph, HMI_SYM_COORD, (uint32_t)kind)
                        : hmi_number(graph, hmi_random_between(random, -3, 3));
    }
    hmi_op op = (hmi_op)(HMI_SYMBOL + 1 +
                         hmi_random_bits(random) % (HMI_PLAIN_OPS_END - HMI_SYMBOL - 1));
    hmi_expr a = random_expression(graph, random, depth - 1);
    hmi_expr b = op == HMI_POWI ? hmi_number(graph, (double)(hmi_random_bits(random) % 9) - 4)
                                : random_expression(graph, random, depth - 1);
    return hmi_apply(graph, op, a, b, random_expression(graph, random, depth - 1));
}

static void random_expressions_are_enclosed(void **state)
{
    (void)state;
    const hm_allocator allocator = hm_allocator_default();
    hmi_random random = {12};
    for (int i = 0; i < 300; i++) {
        hmi_graph graph;
        assert_int_equal(hmi_graph_init(&graph, &allocator), HM_OK);
        (void)check_pieces(&graph, random_expression(&graph, &random, 1 + i % 4), &random);
        hmi_graph_release(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_is_enclosed),
        cmocka_unit_test(random_expressions_are_enclosed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
