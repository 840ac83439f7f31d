/* Array code agrees with the graph bit by bit, with and without wide vectors: on random DAGs over
 * every operation, and on systems of many like pieces, regular and not; it stays inside its work
 * vector, and turns repetition into few segments. */
#include "support/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/array/array.h"

#include "unit/expr/random_dag.h"

/* ---- the graph, evaluated node by node ---- */

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

enum { GUARD = 16 };
static const double guard_value = -7.25e77;

/* Outputs after a run, between guards, against the graph. */
static void check_once(const hmi_array_code *code, const hmi_graph *g, const hmi_expr *outputs,
                       size_t count, const hmi_tape_values *values)
{
    double *memory = malloc((code->work_size + 2 * GUARD) * sizeof *memory), *work = memory + GUARD;
    double *expected = evaluate_graph(g, values);
    assert_non_null(memory);
    for (size_t i = 0; i < code->work_size + 2 * GUARD; i++)
        memory[i] = guard_value;
    hmi_array_code_prepare(code, values, work);
    for (int round = 0; round < 2; round++) {
        hmi_array_code_run(code, values, work);
        hmi_array_code_run_late(code, values, work);
        for (size_t k = 0; k < count; k++) {
            double value = outputs[k] == HMI_NONE ? 0 : expected[outputs[k]];
            double result = hmi_array_code_outputs(code, work)[k];
            if (!same_bits(result, value))
                fail_msg("output %zu is %.17g instead of %.17g", k, result, value);
        }
    }
    for (size_t i = 0; i < GUARD; i++)
        assert_true(memory[i] == guard_value && work[code->work_size + i] == guard_value);
    free(expected);
    free(memory);
}

static void check_array(const hmi_graph *g, const hmi_expr *outputs, size_t count, uint16_t late,
                        const hmi_tape_values *values)
{
    hmi_array_code code;
    const hmi_array_code_options options = {.late = late};
    assert_int_equal(hmi_array_code_compile(&code, g, outputs, count, &options), HM_OK);
    check_once(&code, g, outputs, count, values);
    code.wide = false;
    check_once(&code, g, outputs, count, values);
    hmi_array_code_release(&code);
}

static hm_allocator allocator;

static void open_graph(hmi_graph *g)
{
    allocator = hm_allocator_default();
    assert_int_equal(hmi_graph_init(g, &allocator), HM_OK);
}

/* ---- irregular ---- */

static void test_random_dags(void **state)
{
    (void)state;
    static dag d;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        hmi_graph g;
        dag_source s = {.state = seed};
        hmi_expr outputs[64];
        open_graph(&g);
        dag_start(&d, &g, seed % 2, &s);
        dag_fill(&d, &s, seed % 5 ? 300 : 2000);
        size_t count = 1 + dag_choose(&s, 63);
        for (size_t k = 0; k < count; k++)
            outputs[k] = dag_choose(&s, 10) ? d.node[dag_choose(&s, (uint32_t)d.count)]
                         : k                ? outputs[dag_choose(&s, (uint32_t)k)]
                                            : HMI_NONE;
        const hmi_tape_values values = {
            .by_kind = {[HMI_SYM_COORD] = d.coords, [HMI_SYM_PARAM] = d.params}};
        check_array(&g, outputs, count, seed % 3 ? 0 : HMI_DEP(HMI_SYM_COORD), &values);
        hmi_graph_release(&g);
    }
}

/* ---- repetition ---- */

enum { PIECES = 1000, MOST_OUTPUTS = 8 * PIECES };

typedef struct repeated {
    hmi_graph g;
    hmi_expr outputs[MOST_OUTPUTS];
    size_t count;
    double q[3 * PIECES], v[3 * PIECES], p[PIECES], l[PIECES];
} repeated;

static hmi_tape_values values_of(const repeated *r)
{
    return (hmi_tape_values){.by_kind = {[HMI_SYM_COORD] = r->q,
                                         [HMI_SYM_VELOCITY] = r->v,
                                         [HMI_SYM_PARAM] = r->p,
                                         [HMI_SYM_MATRIX] = r->l}};
}

static repeated *begin(uint64_t seed)
{
    repeated *r = calloc(1, sizeof *r);
    random_source random = {seed};
    assert_non_null(r);
    open_graph(&r->g);
    random_fill(&random, -2, 2, 3 * PIECES, r->q);
    random_fill(&random, -2, 2, 3 * PIECES, r->v);
    random_fill(&random, 1, 2, PIECES, r->p);
    random_fill(&random, -1, 1, PIECES, r->l);
    return r;
}

static void end(repeated *r)
{
    hmi_graph_release(&r->g);
    free(r);
}

static hmi_expr coordinate(repeated *r, uint32_t i, uint32_t k, bool interleaved)
{
    return hmi_symbol(&r->g, HMI_SYM_COORD, interleaved ? 3 * i + k : PIECES * k + i);
}

/* Piece i with its neighbour j: a distance, its gradient, a force with a late factor. */
static void add_piece(repeated *r, uint32_t i, uint32_t j, bool interleaved, bool own_parameter)
{
    hmi_graph *g = &r->g;
    hmi_expr square = g->zero, p = hmi_symbol(g, HMI_SYM_PARAM, own_parameter ? i : 0);
    hmi_expr late = hmi_symbol(g, HMI_SYM_MATRIX, i);
    for (uint32_t k = 0; k < 3; k++) {
        hmi_expr x = hmi_sub(g, coordinate(r, i, k, interleaved), coordinate(r, j, k, interleaved));
        square = hmi_add(g, square, hmi_mul(g, x, x));
        r->outputs[r->count++] = hmi_mul(g, x, p);
        r->outputs[r->count++] = hmi_sub(g, hmi_mul(g, late, x), hmi_div(g, g->one, p));
    }
    r->outputs[r->count++] = hmi_apply(g, HMI_SIN, hmi_apply(g, HMI_SQRT, square, 0, 0), 0, 0);
}

static size_t check_pieces(repeated *r)
{
    const hmi_tape_values values = values_of(r);
    hmi_array_code code;
    check_array(&r->g, r->outputs, r->count, HMI_DEP(HMI_SYM_MATRIX), &values);
    assert_int_equal(hmi_array_code_compile(&code, &r->g, r->outputs, r->count, NULL), HM_OK);
    size_t segments = code.code.count;
    hmi_array_code_release(&code);
    end(r);
    return segments;
}

/* A chain: everything proceeds by one place. */
static void test_chain(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        repeated *r = begin(3);
        for (uint32_t i = 1; i < PIECES; i++)
            add_piece(r, i, i - 1, false, own);
        assert_in_range(check_pieces(r), 1, 40 * (PIECES / HMI_ARRAY_CODE_BLOCK + 1));
    }
}

static void test_interleaved(void **state)
{
    (void)state;
    repeated *r = begin(4);
    for (uint32_t i = 1; i < PIECES; i++)
        add_piece(r, i, i - 1, true, true);
    assert_in_range(check_pieces(r), 1, 40 * (PIECES / HMI_ARRAY_CODE_BLOCK + 1));
}

/* A tree without pattern, with a hole now and then. */
static void test_irregular(void **state)
{
    (void)state;
    dag_source s = {.state = 5};
    repeated *r = begin(5);
    for (uint32_t i = 1; i < PIECES; i++)
        if (dag_choose(&s, 7))
            add_piece(r, i, dag_choose(&s, i), false, i % 2);
    assert_in_range(check_pieces(r), 1, 40 * (PIECES / HMI_ARRAY_CODE_BLOCK + 1));
}

/* A sum over all pieces is as deep as there are terms: array code declines. */
static void test_depth(void **state)
{
    (void)state;
    repeated *r = begin(6);
    hmi_graph *g = &r->g;
    hmi_array_code code;
    hmi_expr sum = g->zero;
    for (uint32_t i = 0; i < 3 * PIECES; i++) {
        hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, i);
        sum = hmi_add(g, hmi_intern(g, HMI_SIN, sum, 0, 0), x);
    }
    assert_int_equal(hmi_array_code_compile(&code, g, &sum, 1, NULL), HM_ERR_LIMIT);
    hmi_array_code_release(&code);
    end(r);
}

/* Every operation many times, each operand a vector or one value for all, and products with a sum. */
static void test_every_operation(void **state)
{
    (void)state;
    static const hmi_op ops[] = {
#define OP(name, arity, text, value, ddx, ddy) HMI_##name,
#include "expr/graph/ops.def"
#undef OP
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops && ops[i] < HMI_PLAIN_OPS_END; i++) {
        repeated *r = begin(11 + i);
        hmi_graph *g = &r->g;
        hmi_expr one = hmi_symbol(g, HMI_SYM_PARAM, 0), other = hmi_symbol(g, HMI_SYM_PARAM, 1);
        for (uint32_t k = 0; k < 64; k++) {
            hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, k), y = hmi_symbol(g, HMI_SYM_VELOCITY, k);
            hmi_expr whole = hmi_number(g, 2 + (int)(k % 2)); /* the power of POWI */
            hmi_expr second = ops[i] == HMI_POWI ? whole : y;
            r->outputs[r->count++] = hmi_intern(g, ops[i], x, second, y);
            r->outputs[r->count++] = hmi_intern(g, ops[i], one, second, x);
            r->outputs[r->count++] = hmi_intern(g, ops[i], x, ops[i] == HMI_POWI ? whole : one, y);
            hmi_expr product = hmi_mul(g, x, y), scaled = hmi_mul(g, other, y);
            r->outputs[r->count++] = hmi_add(g, product, one);
            r->outputs[r->count++] = hmi_sub(g, product, other);
            r->outputs[r->count++] = hmi_sub(g, one, product);
            r->outputs[r->count++] = hmi_sub(g, x, scaled);
            r->outputs[r->count++] = hmi_sub(g, scaled, x);
        }
        const hmi_tape_values values = values_of(r);
        check_array(g, r->outputs, r->count, 0, &values);
        check_array(g, r->outputs, r->count, HMI_DEP(HMI_SYM_VELOCITY), &values);
        end(r);
    }
}

/* ---- one segment ---- */

enum { LENGTH = 7, REGION = 2 * LENGTH };

static double segment_value(int op, double x, double y, double z)
{
    switch (op) {
    case HMI_TAPE_COPY:
        return x;
    case HMI_TAPE_MUL_ADD:
        return x * y + z;
    case HMI_TAPE_MUL_SUB:
        return x * y - z;
    case HMI_TAPE_SUB_MUL:
        return z - x * y;
    default:
        return hmi_op_value((hmi_op)(op - HMI_TAPE_FIRST_OF_TABLE), x, y, z);
    }
}

/* Where the k-th value of an operand of this region is. */
static uint32_t place_of(hmi_access access, uint32_t region, uint32_t k)
{
    uint32_t first = region * REGION;
    return access == HMI_ACCESS_VECTOR   ? first + k
           : access == HMI_ACCESS_SCALAR ? first
                                         : first + REGION - 1 - 2 * k;
}

/* Operands in regions 0, 1, 2, the result in region 3; lists go backwards over every second place. */
static void check_segment(int op, const hmi_access access[4], int prefetch, bool avx2)
{
    uint32_t list[4 * LENGTH], at[4];
    double work[4 * REGION + 2 * HMI_ARRAY_CODE_BLOCK]; /* what is prefetched is there */
    for (uint32_t r = 0; r < 4; r++) {
        for (uint32_t k = 0; k < LENGTH; k++)
            list[r * LENGTH + k] = place_of(HMI_ACCESS_LIST, r, k);
        at[r] = access[r] == HMI_ACCESS_LIST ? r * LENGTH : r * REGION;
    }
    for (uint32_t i = 0; i < 4 * REGION; i++)
        work[i] = op == HMI_TAPE_FIRST_OF_TABLE + HMI_POWI && i / REGION == 1 ? (double)(i % 4)
                                                                              : 0.1 + 0.013 * i;
    hmi_segment segment = {.op = (uint8_t)op, .count = LENGTH, .prefetch = (uint8_t)prefetch};
    segment.a = at[0], segment.a_access = (uint8_t)access[0];
    segment.b = at[1], segment.b_access = (uint8_t)access[1];
    segment.c = at[2], segment.c_access = (uint8_t)access[2];
    segment.dst = at[3], segment.dst_access = (uint8_t)access[3];
    hmi_array_code code = {.wide = avx2, .late_code = 1};
    code.code.data = &segment, code.code.count = 1;
    code.index.data = list, code.index.count = 4 * LENGTH;
    const hmi_tape_values none = {0};
    hmi_array_code_run(&code, &none, work);
    for (uint32_t k = 0; k < LENGTH; k++) {
        double x = work[place_of(access[0], 0, k)], y = work[place_of(access[1], 1, k)],
               z = work[place_of(access[2], 2, k)], made = work[place_of(access[3], 3, k)];
        if (!same_bits(made, segment_value(op, x, y, z)))
            fail_msg("operation %d with operands placed %d %d %d gives %.17g", op, access[0],
                     access[1], access[2], made);
    }
}

/* Each operation, each operand consecutive, the same for all or listed, with and without wide
 * vectors and blocks that are prefetched, whether or not the compiler makes such segments now. */
static void test_every_placing(void **state)
{
    (void)state;
    const hmi_access kinds[3] = {HMI_ACCESS_VECTOR, HMI_ACCESS_SCALAR, HMI_ACCESS_LIST};
    repeated *r = begin(3);
    hmi_array_code probe;
    hmi_expr x = hmi_symbol(&r->g, HMI_SYM_COORD, 0);
    assert_int_equal(hmi_array_code_compile(&probe, &r->g, &x, 1, NULL), HM_OK);
    bool avx2 = probe.wide;
    hmi_array_code_release(&probe);
    end(r);
    for (int op = HMI_TAPE_COPY; op < HMI_TAPE_FIRST_OF_TABLE + HMI_PLAIN_OPS_END; op++) {
        bool in_segments = op == HMI_TAPE_COPY || op >= HMI_TAPE_MUL_ADD;
        bool value = op < HMI_TAPE_FIRST_OF_TABLE ||
                     hmi_op_arity((hmi_op)(op - HMI_TAPE_FIRST_OF_TABLE)) > 0;
        for (int i = 0; i < 54 && in_segments && value; i++) {
            const hmi_access access[4] = {kinds[i % 3], kinds[i / 3 % 3], kinds[i / 9 % 3],
                                          i / 27 ? HMI_ACCESS_LIST : HMI_ACCESS_VECTOR};
            check_segment(op, access, i % 16, false);
            if (avx2)
                check_segment(op, access, i % 16, true);
        }
    }
}

/* ---- what comes from memory ---- */

enum { FAR = 150000, LINE = 8 };

/* How often the lines of the inputs at `slot` are called, and whether each is before it is read. */
static void count_calls(const hmi_array_code *code, uint32_t slot, uint8_t *calls, size_t *late)
{
    for (size_t i = 0; i < code->late_code; i++) {
        const hmi_segment *g = &code->code.data[i];
        if (g->a_access != HMI_ACCESS_VECTOR || g->a < slot || g->a >= slot + FAR)
            continue;
        for (uint32_t k = 0; k < g->count; k += LINE) {
            uint32_t here = (g->a - slot + k) / LINE, next = here + HMI_ARRAY_CODE_BLOCK / LINE;
            *late += here > HMI_ARRAY_CODE_BLOCK / LINE && calls[here] == 0;
            if (g->prefetch & HMI_PREFETCH_A)
                calls[next]++;
        }
    }
}

/* Every block of a large system's inputs is called once, before it is read; a small one's never. */
static void test_calls_ahead(void **state)
{
    (void)state;
    for (uint32_t count = 1000; count <= FAR; count += FAR - 1000) {
        hmi_graph g;
        hmi_array_code code;
        uint8_t *calls = calloc(FAR / LINE + HMI_ARRAY_CODE_BLOCK, 1);
        hmi_expr *outputs = calloc(count, sizeof *outputs);
        size_t late = 0, called = 0;
        assert_true(calls && outputs);
        open_graph(&g);
        for (uint32_t i = 0; i < count; i++) {
            hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, i);
            outputs[i] = hmi_sub(&g, hmi_mul(&g, x, x), hmi_apply(&g, HMI_SQRT, x, 0, 0));
        }
        assert_int_equal(hmi_array_code_compile(&code, &g, outputs, count, NULL), HM_OK);
        count_calls(&code, code.inputs.data[0].slot, calls, &late);
        for (uint32_t line = 0; line < FAR / LINE; line++) {
            assert_in_range(calls[line], 0, 1);
            called += calls[line];
        }
        assert_true(count == FAR ? called > FAR / LINE - 64 : called == 0);
        assert_true(count < FAR || late < 64); /* the last block, which is not whole */
        hmi_array_code_release(&code);
        hmi_graph_release(&g);
        free(outputs);
        free(calls);
    }
}

/* ---- memory ---- */

static void test_allocation_failures(void **state)
{
    (void)state;
    repeated *r = begin(7);
    for (uint32_t i = 1; i < 300; i++)
        add_piece(r, i, i % 9 ? i - 1 : i / 2, false, true);
    for (long k = 0;; k++) {
        failing_heap heap = {.armed = true, .fail_at = k};
        const hm_allocator failing = heap_allocator(&heap);
        hmi_array_code code;
        r->g.allocator = &failing;
        hm_status status = hmi_array_code_compile(&code, &r->g, r->outputs, r->count, NULL);
        hmi_array_code_release(&code);
        r->g.allocator = &allocator;
        assert_int_equal(heap.live_bytes, 0);
        if (status == HM_OK)
            break;
        assert_int_equal(status, HM_ERR_NOMEM);
    }
    end(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_dags),   cmocka_unit_test(test_chain),
        cmocka_unit_test(test_interleaved),   cmocka_unit_test(test_irregular),
        cmocka_unit_test(test_depth),         cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_calls_ahead),   cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_every_placing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
