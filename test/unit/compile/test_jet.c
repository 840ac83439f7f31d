/* Jets: Taylor coefficients of every operation up to order 20 against Cauchy's formula in long double
 * and of compositions against nested differentiation on the graph; the same bits with AVX2, without, and
 * as machine code; singular places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile/jet/jet.h"
#include "expr/graph/diff.h"
#include "compile/jit/assemble.h"

#include <math.h>

enum { ORDER = 20, NESTED = 6 };

static void *resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}
static const hm_allocator heap = {resize, NULL};

/* ---- a motion whose series are known ---- */

/* x = 0.7 + 0.4 s - 0.3 s^2 + 0.05 s^3, y = 1.3 - 0.2 s + 0.1 s^2 as symbols of coordinates 0, 1. */
static const double path[2][4] = {{0.7, 0.4, -0.3, 0.05}, {1.3, -0.2, 0.1, 0}};

typedef enum way { PLAIN, VECTORS, MACHINE_CODE, NOT_FUSED } way;

/* The coefficients 0 .. ORDER of expression e along the path by the jets of its tape. */
static void coefficients(const hmi_graph *g, hmi_expr e, way how, double *out)
{
    hmi_tape tape;
    hmi_jet jet;
    hmi_jet_segment segment;
    assert_int_equal(hmi_tape_compile(&tape, g, &e, 1), HM_OK);
    double *work = calloc(tape.work_size + 1, sizeof *work);
    const hmi_tape_values values = {{0}};
    hmi_tape_prepare(&tape, &values, work);
    hmi_jet_init(&jet, &heap);
    jet.vectors = jet.vectors && how != PLAIN && how != NOT_FUSED;
    jet.fused = jet.fused && how != NOT_FUSED;
    assert_int_equal(hmi_jet_add(&jet, &tape, work, &segment), HM_OK);
    assert_int_equal(hmi_jet_seal(&jet, ORDER), HM_OK);
    hmi_jet_begin(&jet);
    hmi_jet_program run = {.segment = &segment}, keep = {.handoff = true};
    if (how == MACHINE_CODE) {
        assert_int_equal(hmi_jet_compile(&jet, &run), HM_OK);
        assert_int_equal(hmi_jet_compile(&jet, &keep), HM_OK);
    }
    uint32_t row = jet.outputs.data[segment.output];
    for (int k = 0; k <= ORDER; k++) {
        for (size_t i = 0; i < jet.symbols.count; i++)
            hmi_jet_put(&jet, jet.symbols.data[i].row, k,
                        k < 4 ? path[jet.symbols.data[i].index][k] : 0);
        if (k == 0) {
            hmi_jet_run(&jet, &segment, 0);
        } else {
            hmi_jet_begin_order(&jet, k);
            hmi_jet_execute(&jet, &run, k, &(hmi_jet_ends){NULL});
            hmi_jet_execute(&jet, &keep, k, &(hmi_jet_ends){NULL});
        }
        out[k] = jet.constant.data[row] && k > 0 ? 0 : hmi_jet_get(&jet, row, k);
    }
    hmi_jet_program_release(&run);
    hmi_jet_program_release(&keep);
    hmi_jet_release(&jet);
    hmi_tape_release(&tape);
    free(work);
}

/* ---- the same by differences of high order: Cauchy's formula on a circle ---- */

#include <complex.h>

typedef long double complex wide;

static wide path_at(int which, wide s)
{
    return path[which][0] + s * (path[which][1] + s * (path[which][2] + s * path[which][3]));
}

/* Complex values of operations that are analytic; *known false for others. */
static wide complex_value(hmi_op op, wide x, wide y, bool *known)
{
    switch (op) {
    case HMI_ADD:
        return x + y;
    case HMI_SUB:
        return x - y;
    case HMI_MUL:
        return x * y;
    case HMI_DIV:
        return x / y;
    case HMI_NEG:
        return -x;
    case HMI_POW:
    case HMI_POWI:
        return cpowl(x, y);
    case HMI_SQRT:
        return csqrtl(x);
    case HMI_SIN:
        return csinl(x);
    case HMI_COS:
        return ccosl(x);
    case HMI_TAN:
        return ctanl(x);
    case HMI_ASIN:
        return casinl(x);
    case HMI_ACOS:
        return cacosl(x);
    case HMI_ATAN:
        return catanl(x);
    case HMI_ATAN2:
        return catanl(x / y); /* y > 0 on the path */
    case HMI_SINH:
        return csinhl(x);
    case HMI_COSH:
        return ccoshl(x);
    case HMI_TANH:
        return ctanhl(x);
    case HMI_EXP:
        return cexpl(x);
    case HMI_LOG:
        return clogl(x);
    case HMI_HYPOT:
        return csqrtl(x * x + y * y);
    default:
        *known = false;
        return 0;
    }
}

/* c_k = 1/N Sum f(r w^j) (r w^j)^-k: exact but for terms of order k + N. Every operation converges
 * beyond r along the path (the nearest singularity is the root of x, at s = -0.93). */
static void cauchy(hmi_op op, double constant_y, double *out)
{
    enum { POINTS = 256 };
    const long double radius = 0.7L, turn = 2 * acosl(-1);
    bool known = true;
    wide sum[ORDER + 1] = {0};
    for (int j = 0; j < POINTS; j++) {
        wide w = cexpl(I * turn * j / POINTS), s = radius * w;
        wide y = constant_y != 0 ? (wide)constant_y : path_at(1, s);
        wide f = complex_value(op, path_at(0, s), y, &known), factor = 1;
        for (int k = 0; k <= ORDER; k++, factor /= s)
            sum[k] += f * factor;
    }
    assert_true(known);
    for (int k = 0; k <= ORDER; k++)
        out[k] = (double)(creall(sum[k]) / POINTS);
}

static void compare(const char *name, const double *got, const double *expected)
{
    double radius = 1; /* errors are measured at s = 0.5, well within convergence */
    for (int k = 0; k <= ORDER; k++, radius *= 0.5)
        if (!(fabs(got[k] - expected[k]) * radius <= 2e-14 * (1 + fabs(expected[k]) * radius)))
            fail_msg("%s: coefficient %d is %.17g, not %.17g", name, k, got[k], expected[k]);
}

static hmi_expr apply_to_path(hmi_graph *g, hmi_op op, double constant_y)
{
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0), y = hmi_symbol(g, HMI_SYM_COORD, 1);
    return hmi_intern(g, op, x, constant_y != 0 ? hmi_number(g, constant_y) : y, 0);
}

static void check_operation(hmi_op op, double constant_y)
{
    double got[ORDER + 1], plain[ORDER + 1], compiled[ORDER + 1], expected[ORDER + 1];
    hmi_graph g;
    assert_int_equal(hmi_graph_init(&g, &heap), HM_OK);
    hmi_expr e = apply_to_path(&g, op, constant_y);
    coefficients(&g, e, VECTORS, got);
    coefficients(&g, e, PLAIN, plain);
    coefficients(&g, e, MACHINE_CODE, compiled);
    assert_memory_equal(got, plain, sizeof got);
    assert_memory_equal(got, compiled, sizeof got);
    cauchy(op, constant_y, expected);
    compare(hmi_op_text(op), got, expected);
    coefficients(&g, e, NOT_FUSED, got); /* processors without: other bits, the same series */
    compare(hmi_op_text(op), got, expected);
    hmi_graph_release(&g);
}

/* Every smooth operation of the table, both operands moving. */
static void test_operations(void **state)
{
    (void)state;
    static const hmi_op smooth[] = {HMI_ADD,  HMI_SUB,  HMI_MUL,  HMI_DIV,   HMI_NEG,
                                    HMI_POW,  HMI_SQRT, HMI_SIN,  HMI_COS,   HMI_TAN,
                                    HMI_ASIN, HMI_ACOS, HMI_ATAN, HMI_ATAN2, HMI_SINH,
                                    HMI_COSH, HMI_TANH, HMI_EXP,  HMI_LOG,   HMI_HYPOT};
    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++)
        check_operation(smooth[i], 0);
}

/* Constant second operands take other instructions; whole powers are products. */
static void test_constant_operands(void **state)
{
    (void)state;
    static const double whole[] = {2, 3, 4, 7, -1, -2, -5, 100};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        check_operation(HMI_POWI, whole[i]);
    check_operation(HMI_POW, 1.5);
    check_operation(HMI_POW, -0.7);
    static const hmi_op two[] = {HMI_ADD, HMI_SUB, HMI_MUL, HMI_DIV, HMI_ATAN2, HMI_HYPOT};
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        check_operation(two[i], 1.25);
}

/* ---- compositions: nested differentiation on the graph ---- */

static hmi_expr along_path(hmi_graph *g, hmi_expr leaf, void *user)
{
    (void)user;
    const hmi_node node = *hmi_node_at(g, leaf);
    hmi_expr t = hmi_symbol(g, HMI_SYM_TIME, 0);
    const double *c = path[node.b];
    hmi_expr slope = hmi_add(g, hmi_number(g, c[1]), hmi_mul(g, hmi_number(g, 2 * c[2]), t));
    if (node.a == HMI_SYM_TIME)
        return g->one;
    return hmi_add(g, slope, hmi_mul(g, hmi_number(g, 3 * c[3]), hmi_mul(g, t, t)));
}

/* d^k e/ds^k at s = 0, k = 0 .. NESTED. */
static void differentiate(hmi_graph *g, hmi_expr e, double *out)
{
    double factorial = 1;
    for (int k = 0; k <= NESTED; k++) {
        hmi_tape tape;
        hmi_tangent tangent;
        const double t = 0, q[2] = {path[0][0], path[1][0]};
        hmi_tape_values values = {{0}};
        values.by_kind[HMI_SYM_TIME] = &t;
        values.by_kind[HMI_SYM_COORD] = q;
        assert_int_equal(hmi_tape_compile(&tape, g, &e, 1), HM_OK);
        double *work = calloc(tape.work_size + 1, sizeof *work);
        hmi_tape_prepare(&tape, &values, work);
        hmi_tape_run(&tape, &values, work);
        factorial *= k > 0 ? k : 1;
        out[k] = hmi_tape_outputs(&tape, work)[0] / factorial;
        free(work);
        hmi_tape_release(&tape);
        hmi_tangent_init(&tangent, &heap, along_path, NULL,
                         HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_COORD));
        e = hmi_tangent_of(&tangent, g, e);
        hmi_tangent_release(&tangent);
    }
    assert_int_equal(hmi_graph_status(g), HM_OK);
}

static void check_nested(const char *name, const double *got, const double *expected)
{
    for (int k = 0; k <= NESTED; k++)
        if (!(fabs(got[k] - expected[k]) <= 1e-10 * (1 + fabs(expected[k]))))
            fail_msg("%s: coefficient %d is %.17g, not %.17g", name, k, got[k], expected[k]);
}

static void check_composition(hmi_graph *g, hmi_expr e, const char *name)
{
    double got[ORDER + 1], compiled[ORDER + 1], expected[NESTED + 1];
    coefficients(g, e, VECTORS, got);
    coefficients(g, e, MACHINE_CODE, compiled);
    assert_memory_equal(got, compiled, sizeof got);
    differentiate(g, e, expected);
    check_nested(name, got, expected);
    coefficients(g, e, NOT_FUSED, got);
    check_nested(name, got, expected);
}

static void test_compositions(void **state)
{
    (void)state;
    hmi_graph g;
    assert_int_equal(hmi_graph_init(&g, &heap), HM_OK);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0), y = hmi_symbol(&g, HMI_SYM_COORD, 1);
    hmi_expr s = hmi_apply(&g, HMI_SIN, hmi_mul(&g, x, y), 0, 0);
    hmi_expr c = hmi_apply(&g, HMI_COS, hmi_mul(&g, x, y), 0, 0);
    hmi_expr sum = hmi_add(&g, hmi_mul(&g, s, c), hmi_mul(&g, x, hmi_number(&g, 3)));
    check_composition(&g, hmi_div(&g, sum, hmi_sub(&g, hmi_mul(&g, y, y), s)), "quotient");
    check_composition(&g, hmi_apply(&g, HMI_TANH, sum, 0, 0), "tanh");
    hmi_expr minus = hmi_sub(&g, c, hmi_mul(&g, x, s)), less = hmi_sub(&g, hmi_mul(&g, s, y), x);
    check_composition(&g, hmi_mul(&g, minus, less), "products and sums");
    /* piecewise: branches of order 0 */
    check_composition(&g, hmi_apply(&g, HMI_ABS, hmi_sub(&g, x, y), 0, 0), "abs");
    check_composition(&g, hmi_apply(&g, HMI_MIN, s, y, 0), "min");
    check_composition(&g, hmi_apply(&g, HMI_MAX, s, y, 0), "max");
    hmi_expr less_than = hmi_apply(&g, HMI_LT, x, y, 0);
    check_composition(&g, hmi_apply(&g, HMI_SELECT, less_than, s, c), "if");
    hmi_expr first = hmi_mul(&g, x, hmi_number(&g, 3)), not_less = hmi_apply(&g, HMI_LT, y, x, 0);
    check_composition(&g, hmi_apply(&g, HMI_SELECT, not_less, y, first), "else, in a register");
    check_composition(&g, hmi_mul(&g, hmi_apply(&g, HMI_SIGN, hmi_sub(&g, x, y), 0, 0), s), "sign");
    hmi_graph_release(&g);
}

/* sqrt at 0 and division by 0 are not finite; whole powers of 0 are fine. */
static void test_singular(void **state)
{
    (void)state;
    double got[ORDER + 1];
    hmi_graph g;
    assert_int_equal(hmi_graph_init(&g, &heap), HM_OK);
    hmi_expr x = hmi_symbol(&g, HMI_SYM_COORD, 0);
    hmi_expr zero = hmi_sub(&g, x, hmi_number(&g, path[0][0]));
    coefficients(&g, hmi_apply(&g, HMI_SQRT, zero, 0, 0), MACHINE_CODE, got);
    assert_false(isfinite(got[1]));
    coefficients(&g, hmi_div(&g, g.one, zero), MACHINE_CODE, got);
    assert_false(isfinite(got[0]));
    coefficients(&g, hmi_pow(&g, zero, hmi_number(&g, 4)), MACHINE_CODE, got);
    assert_true(fabs(got[4] - 0.4 * 0.4 * 0.4 * 0.4) < 1e-15 && got[3] == 0 && isfinite(got[12]));
    hmi_graph_release(&g);
}

/* ---- an order in two halves ---- */

/* Coefficient k of a symbol: coordinates as above, velocities their derivatives, a multiplier from 0. */
static double symbol_at(const hmi_jet_symbol *symbol, int k)
{
    const double *c = path[symbol->index];
    if (symbol->kind == HMI_SYM_COORD)
        return k < 4 ? c[k] : 0;
    if (symbol->kind == HMI_SYM_VELOCITY)
        return k < 3 ? (k + 1) * c[k + 1] : 0;
    return k == 0 ? 0 : pow(-0.4, k);
}

enum { FIRST = 3, WANTED = 5, OUTPUTS };

/* A tape whose orders are run in one go or in two halves; late are velocities and the multiplier. */
typedef struct halves_run {
    hmi_tape tape;
    double *work;
    hmi_jet jet;
    bool split;
    hmi_jet_segment all, half[2];
    const uint32_t *rows; /* of the outputs */
    hmi_jet_link links[8];
    size_t link_count;
    bool vanishes[FIRST];
    hmi_jet_program rise, rest;
} halves_run;

static void add_tape(halves_run *r, const hmi_graph *g, const hmi_expr *list, uint32_t late[3])
{
    assert_int_equal(hmi_tape_compile(&r->tape, g, list, OUTPUTS), HM_OK);
    r->work = calloc(r->tape.work_size + 1, sizeof *r->work);
    hmi_tape_prepare(&r->tape, &(hmi_tape_values){{0}}, r->work);
    for (uint32_t i = 0; i < 2; i++) {
        late[i] = hmi_jet_row_of(&r->jet, HMI_SYM_VELOCITY, i);
        uint32_t q = hmi_jet_row_of(&r->jet, HMI_SYM_COORD, i);
        if (r->split)
            hmi_jet_set_rate(&r->jet, q, late[i]);
    }
    late[2] = hmi_jet_row_of(&r->jet, HMI_SYM_MULTIPLIER, 0);
    assert_int_equal(hmi_jet_add(&r->jet, &r->tape, r->work, &r->all), HM_OK);
    r->rows = r->jet.outputs.data + r->all.output;
}

/* Sines and cosines from their rates; what the second half has to give. */
static size_t link_sincos_by_rate(halves_run *r, uint32_t *wanted)
{
    size_t count = 0;
    for (int i = FIRST; i < WANTED; i++)
        wanted[count++] = r->rows[i];
    for (size_t i = 0; i < r->jet.sincos_by_rate.count; i++) {
        const hmi_jet_sincos_by_rate *t = &r->jet.sincos_by_rate.data[i];
        r->links[r->link_count++] = (hmi_jet_link){t->sine, t->by_cosine, HMI_JET_NO_PLACE,
                                                   HMI_JET_RATE_LINK};
        r->links[r->link_count++] = (hmi_jet_link){t->cosine, t->by_sine, HMI_JET_NO_PLACE,
                                                   HMI_JET_MINUS_LINK};
        wanted[count++] = t->by_sine;
        wanted[count++] = t->by_cosine;
    }
    return count;
}

static void split_orders(halves_run *r, const uint32_t late[3])
{
    uint32_t wanted[WANTED + 8];
    const hmi_jet_halves halves = {.late = late,
                                   .late_count = 3,
                                   .from_zero = 1,
                                   .first = r->rows,
                                   .first_count = FIRST,
                                   .second = wanted,
                                   .second_count = link_sincos_by_rate(r, wanted),
                                   .vanishes = r->vanishes};
    size_t pairs = r->jet.pairs.count;
    assert_int_equal(r->jet.sincos_by_rate.count, r->split ? 2 : 0);
    if (!r->split)
        return;
    assert_int_equal(hmi_jet_split(&r->jet, &halves, &r->half[0], &r->half[1]), HM_OK);
    assert_true(r->jet.pairs.count < pairs); /* what nobody wants is not there */
}

static void open_run(halves_run *r, const hmi_graph *g, const hmi_expr *list, bool split, way how)
{
    uint32_t late[3];
    *r = (halves_run){.split = split};
    hmi_jet_init(&r->jet, &heap);
    r->jet.vectors = r->jet.vectors && how != PLAIN;
    add_tape(r, g, list, late);
    split_orders(r, late);
    assert_int_equal(hmi_jet_seal(&r->jet, ORDER), HM_OK);
    r->rise = (hmi_jet_program){.segment = split ? &r->half[0] : &r->all};
    r->rest = (hmi_jet_program){.segment = split ? &r->half[1] : NULL,
                                .handoff = true,
                                .links = r->links,
                                .link_count = r->link_count};
    if (how == MACHINE_CODE) {
        assert_int_equal(hmi_jet_compile(&r->jet, &r->rise), HM_OK);
        assert_int_equal(hmi_jet_compile(&r->jet, &r->rest), HM_OK);
    }
}

static void close_run(halves_run *r)
{
    hmi_jet_program_release(&r->rise);
    hmi_jet_program_release(&r->rest);
    hmi_jet_release(&r->jet);
    hmi_tape_release(&r->tape);
    free(r->work);
}

static void put_symbols(halves_run *r, int k)
{
    for (size_t i = 0; i < r->jet.symbols.count; i++)
        hmi_jet_put(&r->jet, r->jet.symbols.data[i].row, k, symbol_at(&r->jet.symbols.data[i], k));
}

static void run_order_zero(halves_run *r)
{
    hmi_jet_begin(&r->jet);
    hmi_jet_run(&r->jet, &r->all, 0);
    if (r->split)
        hmi_jet_run(&r->jet, &r->half[0], 0);
    for (size_t i = 0; i < r->link_count; i++)
        hmi_jet_put(&r->jet, r->links[i].row, 1,
                    (i % 2 ? -1 : 1) * hmi_jet_get(&r->jet, r->links[i].source, 0));
}

static void run_order(halves_run *r, int k, double first[FIRST][ORDER + 1])
{
    double scratch[8];
    const hmi_jet_ends ends = {.scratch = scratch};
    hmi_jet_begin_order(&r->jet, k);
    r->jet.scale[HMI_JET_LINK] = k + 1;
    hmi_jet_execute(&r->jet, &r->rise, k, &ends);
    for (int i = 0; i < FIRST; i++)
        first[i][k] = r->split && r->vanishes[i] ? 0 : hmi_jet_get(&r->jet, r->rows[i], k);
    put_symbols(r, k);
    hmi_jet_execute(&r->jet, &r->rest, k, &ends);
}

/* All orders; in two halves the first results go to `first`. */
static void run_tape(const hmi_graph *g, const hmi_expr *list, bool split, way how,
                     double out[WANTED][ORDER + 1], double first[FIRST][ORDER + 1])
{
    halves_run r;
    open_run(&r, g, list, split, how);
    for (int k = 0; k <= ORDER; k++) {
        put_symbols(&r, k);
        if (k == 0)
            run_order_zero(&r);
        else
            run_order(&r, k, first);
        for (int i = 0; i < WANTED; i++)
            out[i][k] = hmi_jet_get(&r.jet, r.rows[i], k);
    }
    close_run(&r);
}

/* Two momenta and a reaction; a force that needs one of them, and one of positions; what nobody wants. */
static void write_equations(hmi_graph *g, hmi_expr *list)
{
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0), y = hmi_symbol(g, HMI_SYM_COORD, 1);
    hmi_expr u = hmi_symbol(g, HMI_SYM_VELOCITY, 0), v = hmi_symbol(g, HMI_SYM_VELOCITY, 1);
    hmi_expr mu = hmi_symbol(g, HMI_SYM_MULTIPLIER, 0), three = hmi_number(g, 3);
    hmi_expr angle = hmi_add(g, x, hmi_mul(g, g->two, y)), w = hmi_add(g, u, hmi_mul(g, g->two, v));
    hmi_expr c = hmi_apply(g, HMI_COS, angle, 0, 0), s = hmi_apply(g, HMI_SIN, x, 0, 0);
    hmi_expr shape = hmi_add(g, hmi_mul(g, three, hmi_mul(g, c, w)), hmi_mul(g, s, v));
    list[0] = hmi_mul(g, three, hmi_add(g, shape, hmi_mul(g, hmi_mul(g, x, y), u)));
    list[1] = hmi_sub(g, hmi_div(g, u, hmi_add(g, three, c)), hmi_mul(g, hmi_number(g, 0.7), x));
    hmi_expr moved = hmi_mul(g, hmi_sub(g, mu, hmi_mul(g, three, mu)), c);
    list[2] = hmi_add(g, moved, hmi_mul(g, hmi_mul(g, s, mu), v));
    list[3] = hmi_add(g, hmi_mul(g, shape, hmi_mul(g, u, v)), hmi_div(g, v, hmi_add(g, three, y)));
    list[4] = hmi_mul(g, s, hmi_mul(g, x, x));
    list[5] = hmi_mul(g, hmi_mul(g, v, v), u);
}

/* What the late coefficients add to row i at order k: linear, with factors of order 0. */
static double late_part(int i, int k)
{
    const double x = path[0][0], y = path[1][0], v = path[1][1];
    const double c = cos(x + 2 * y), s = sin(x);
    double uk = k < 3 ? (k + 1) * path[0][k + 1] : 0, vk = k < 3 ? (k + 1) * path[1][k + 1] : 0;
    double mu = pow(-0.4, k);
    return i == 0   ? 3 * (3 * c * (uk + 2 * vk) + s * vk + x * y * uk)
           : i == 1 ? uk / (3 + c)
                    : (-2 * c + s * v) * mu;
}

static void test_halves(void **state)
{
    (void)state;
    static double whole[WANTED][ORDER + 1], out[3][WANTED][ORDER + 1], first[4][FIRST][ORDER + 1];
    hmi_graph g;
    hmi_expr list[OUTPUTS];
    assert_int_equal(hmi_graph_init(&g, &heap), HM_OK);
    write_equations(&g, list);
    run_tape(&g, list, false, VECTORS, whole, first[3]);
    for (int how = PLAIN; how <= MACHINE_CODE; how++)
        run_tape(&g, list, true, (way)how, out[how], first[how]);
    for (int i = FIRST; i < WANTED; i++)
        compare("second half", out[0][i], whole[i]);
    for (int k = 1; k <= ORDER; k++)
        for (int i = 0; i < FIRST; i++) {
            double expected = whole[i][k] - late_part(i, k), size = 1 + fabs(whole[i][k]);
            if (!(fabs(first[0][i][k] - expected) <= 1e-12 * size))
                fail_msg("first half, row %d, order %d: %.17g, not %.17g", i, k, first[0][i][k],
                         expected);
        }
    for (int how = VECTORS; how <= MACHINE_CODE; how++) {
        assert_memory_equal(out[0][FIRST], out[how][FIRST], (WANTED - FIRST) * sizeof out[0][0]);
        for (int i = 0; i < FIRST; i++)
            assert_memory_equal(first[0][i] + 1, first[how][i] + 1, ORDER * sizeof(double));
    }
    hmi_graph_release(&g);
}

/* ---- all of an order in one program ---- */

enum { WIDTH = 4 }; /* q, v */
static const double unit = 0.5;

/* The same tape as a motion: v_k and mu_k are a matrix times rows of the first half, q' = v. */
typedef struct motion {
    halves_run run;
    uint32_t late[3];
    hmi_jet_list lists[FIRST];
    hmi_jet_link links[10];
    hmi_jet_program whole, rise, rest;
    double matrix[4 * FIRST], values[4], scratch[10];
} motion;

static void add_coordinates(motion *m)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t q = hmi_jet_row_of(&m->run.jet, HMI_SYM_COORD, i);
        m->links[i] = (hmi_jet_link){q, m->late[i], i, HMI_JET_RATE_LINK};
    }
    memcpy(m->links + 2, m->run.links, m->run.link_count * sizeof *m->links);
}

static void make_programs(motion *m)
{
    halves_run *r = &m->run;
    for (int i = 0; i < FIRST; i++)
        m->lists[i] = (hmi_jet_list){.value = hmi_jet_place(&r->jet, r->jet.zero_row),
                                     .less = HMI_JET_NO_PLACE,
                                     .rise = r->vanishes[i] ? HMI_JET_NO_PLACE
                                                            : hmi_jet_place(&r->jet, r->rows[i])};
    for (int i = 0; i < 4 * FIRST; i++)
        m->matrix[i] = i % 4 < FIRST ? sin(1 + i) / 8 : 0;
    m->rise = (hmi_jet_program){.segment = &r->half[0], .lists = m->lists, .list_count = FIRST};
    m->rest = (hmi_jet_program){.segment = &r->half[1],
                                .handoff = true,
                                .links = m->links,
                                .link_count = 2 + r->link_count};
    m->whole = m->rise;
    m->whole.matrix_size = m->whole.given_count = FIRST;
    m->whole.given = m->late;
    m->whole.negated = 2;
    m->whole.scaled = m->whole.handoff = m->whole.closed = true;
    m->whole.second = m->rest.segment;
    m->whole.links = m->links;
    m->whole.link_count = m->rest.link_count;
}

static void open_motion(motion *m, const hmi_graph *g, const hmi_expr *list, way how)
{
    *m = (motion){.run = {.split = true}};
    hmi_jet_init(&m->run.jet, &heap);
    m->run.jet.vectors = m->run.jet.vectors && how != PLAIN;
    add_tape(&m->run, g, list, m->late);
    split_orders(&m->run, m->late);
    assert_int_equal(hmi_jet_seal(&m->run.jet, ORDER), HM_OK);
    add_coordinates(m);
    make_programs(m);
    if (how == MACHINE_CODE)
        assert_int_equal(hmi_jet_compile(&m->run.jet, &m->whole), HM_OK);
    assert_true(hmi_jet_runs_orders(&m->run.jet, &m->whole) == (m->whole.entry != NULL));
}

/* Even columns, odd columns, both. */
static void multiply(motion *m)
{
    double sum[2][4];
    bool fused = m->run.jet.fused;
    for (int j = 0; j < FIRST; j++)
        for (int i = 0; i < 4; i++) {
            double a = m->matrix[4 * j + i], *s = &sum[j % 2][i];
            *s = j < 2   ? a * m->values[j]
                 : fused ? fma(a, m->values[j], *s)
                         : a * m->values[j] + *s;
        }
    for (int i = 0; i < 4; i++)
        m->values[i] = sum[0][i] + sum[1][i];
}

static void run_slowly(motion *m, int k, const hmi_jet_ends *ends)
{
    hmi_jet *jet = &m->run.jet;
    hmi_jet_begin_order(jet, k);
    jet->scale[HMI_JET_LINK] = (k + 1) / unit;
    jet->scale[HMI_JET_GIVEN] = k / unit;
    jet->scale[HMI_JET_RISE] = k / unit;
    hmi_jet_execute(jet, &m->rise, k, ends);
    multiply(m);
    hmi_jet_give(jet, &m->whole, ends);
    hmi_jet_execute(jet, &m->rest, k, ends);
}

/* Coefficients of q and v, by the whole program where there is machine code. */
static void run_motion(motion *m, double Y[ORDER + 2][WIDTH])
{
    hmi_jet *jet = &m->run.jet;
    hmi_jet_ends ends = {.values = m->values,
                         .now = Y[1] + 2,
                         .next = Y[2],
                         .scratch = m->scratch,
                         .matrix = m->matrix};
    put_symbols(&m->run, 0);
    run_order_zero(&m->run);
    for (size_t i = 0; i < m->rest.link_count; i++) {
        double x = hmi_jet_get(jet, m->links[i].source, 0);
        hmi_jet_put(jet, m->links[i].row, 1,
                    m->links[i].kind == HMI_JET_MINUS_LINK ? -unit * x : unit * x);
    }
    if (hmi_jet_runs_orders(jet, &m->whole)) {
        hmi_jet_set_unit(jet, unit);
        hmi_jet_begin_orders(jet);
        hmi_jet_execute_orders(jet, &m->whole, 1, ORDER, &ends, WIDTH);
        return;
    }
    for (int k = 1; k < ORDER; k++, ends.now += WIDTH, ends.next += WIDTH)
        run_slowly(m, k, &ends);
}

static void test_whole_orders(void **state)
{
    (void)state;
    static double Y[3][ORDER + 2][WIDTH];
    hmi_graph g;
    hmi_expr list[OUTPUTS];
    assert_int_equal(hmi_graph_init(&g, &heap), HM_OK);
    write_equations(&g, list);
    for (int how = PLAIN; how <= MACHINE_CODE; how++)
        for (int again = 0; again < 2;
             again++) { /* what an expansion leaves is no part of the next */
            motion m;
            open_motion(&m, &g, list, (way)how);
            for (int n = 0; n <= again; n++)
                run_motion(&m, Y[how]);
            hmi_jet_program_release(&m.whole);
            close_run(&m.run);
            assert_memory_equal(Y[0], Y[how], sizeof Y[0]);
        }
    for (int k = 2; k < ORDER; k++)
        for (int i = 0; i < WIDTH; i++)
            assert_true(isfinite(Y[0][k][i]) && Y[0][k][i] != 0);
    hmi_graph_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),   cmocka_unit_test(test_constant_operands),
        cmocka_unit_test(test_compositions), cmocka_unit_test(test_singular),
        cmocka_unit_test(test_halves),       cmocka_unit_test(test_whole_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
