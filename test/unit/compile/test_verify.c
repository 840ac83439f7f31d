/* The verifiers of tapes, array code, jets, programs of the emitter and compiled solves: what the
 * library makes passes, and each kind of damage is found and named. Besides, tapes and array code of
 * random DAGs are damaged at random: whatever passes computes what it did before. */
#include "support/check.h"

#include "compile/array/verify.h"
#include "compile/jet/code.h"
#include "compile/jet/verify.h"
#include "compile/jit/assemble.h"
#include "compile/jit/verify.h"
#include "compile/solve/verify.h"
#include "compile/system/system.h"
#include "compile/tape/verify.h"

#include "unit/expr/random_dag.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hm_allocator heap;

static void expect(const char *message, const char *part)
{
    if (!message)
        fail_msg("nothing was found; expected '%s'", part);
    if (!strstr(message, part))
        fail_msg("'%s' does not say '%s'", message, part);
}

/* ---- tapes ---- */

/* Its graph has parameters, coordinates, sines, places that are used again, copies. */
typedef struct sample {
    hmi_graph g;
    hmi_expr outputs[6];
    hmi_tape tape;
    hmi_violation violation;
} sample;

enum { OUTPUTS = 6 };

static void open_sample(sample *s, bool machine_code)
{
    hmi_graph *g = &s->g;
    heap = hm_allocator_default();
    assert_int_equal(hmi_graph_init(g, &heap), HM_OK);
    g->interpreted = !machine_code;
    hmi_expr p = hmi_symbol(g, HMI_SYM_PARAM, 0), r = hmi_symbol(g, HMI_SYM_PARAM, 1);
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0), y = hmi_symbol(g, HMI_SYM_COORD, 1);
    hmi_expr v = hmi_symbol(g, HMI_SYM_VELOCITY, 0);
    hmi_expr hoisted = hmi_mul(g, hmi_apply(g, HMI_EXP, p, 0, 0), r);
    hmi_expr angle = hmi_add(g, hmi_mul(g, p, x), y);
    hmi_expr s1 = hmi_apply(g, HMI_SIN, angle, 0, 0), c1 = hmi_apply(g, HMI_COS, angle, 0, 0);
    hmi_expr deep = hmi_apply(g, HMI_EXP, hmi_mul(g, s1, v), 0, 0);
    s->outputs[0] = hmi_add(g, hmi_mul(g, deep, c1), hoisted);
    s->outputs[1] = hmi_apply(g, HMI_LOG, hmi_add(g, hmi_mul(g, x, x), hmi_number(g, 3.5)), 0, 0);
    s->outputs[2] = hmi_div(g, s->outputs[1], hmi_apply(g, HMI_TANH, deep, 0, 0));
    s->outputs[3] = s->outputs[1]; /* a copy */
    s->outputs[4] = HMI_NONE;
    s->outputs[5] = hoisted;
    assert_int_equal(hmi_tape_compile(&s->tape, g, s->outputs, OUTPUTS), HM_OK);
}

static void close_sample(sample *s)
{
    hmi_tape_release(&s->tape);
    hmi_graph_release(&s->g);
}

static const char *look(sample *s)
{
    return hmi_tape_verify(&s->tape, &s->violation);
}

static const char *look_at_values(sample *s)
{
    return hmi_tape_verify_values(&s->tape, &s->g, s->outputs, OUTPUTS, &s->violation);
}

static void test_tape_layout(void **state)
{
    (void)state;
    sample s;
    open_sample(&s, false);
    hmi_tape *t = &s.tape, good = *t;
    assert_null(look_at_values(&s));
    t->output_slot = 0;
    expect(look(&s), "constants do not lie before");
    *t = good;
    t->work_size--;
    expect(look(&s), "spill area");
    *t = good;
    t->run = hmi_tape_prepare;
    expect(look(&s), "neither the machine code nor the interpreter");
    *t = good;
    t->param_inputs = 9;
    expect(look(&s), "fewer inputs");
    t->param_inputs = 0;
    expect(look(&s), "wrong side of the parameters");
    *t = good;
    t->inputs.data[1].slot++;
    expect(look(&s), "input 1 does not lie behind");
    t->inputs.data[1].slot--;
    t->body.count--;
    expect(look(&s), "body does not stop");
    *t = good;
    t->prologue.count--;
    expect(look(&s), "prologue does not stop");
    *t = good;
    t->output_count++;
    t->work_size++;
    assert_null(look(&s));
    expect(look_at_values(&s), "outputs, not 6");
    *t = good;
    close_sample(&s);
}

/* The first instruction of the body with an operation. */
static hmi_instruction *find_op(hmi_tape *tape, uint32_t op)
{
    for (size_t i = 0; i < tape->body.count; i++)
        if (tape->body.data[i].op == op)
            return &tape->body.data[i];
    fail_msg("no instruction %u", op);
    return NULL;
}

static void test_tape_code(void **state)
{
    (void)state;
    sample s;
    open_sample(&s, false);
    hmi_tape *t = &s.tape;
    hmi_instruction *ip = find_op(t, HMI_TAPE_SINCOS), good = *ip;
    ip->op = HMI_TAPE_FIRST_OF_TABLE + HMI_OP_COUNT;
    expect(look(&s), "has no operation");
    *ip = good;
    ip->op = HMI_TAPE_STOP;
    expect(look(&s), "has no operation");
    *ip = good;
    ip->a = 10000;
    expect(look(&s), "reads place 10000");
    *ip = good;
    ip->dst = 10000;
    expect(look(&s), "writes place 10000");
    *ip = good;
    ip->a = (uint32_t)t->output_slot;
    expect(look(&s), "before it is written");
    *ip = good;
    ip->dst = 0;
    expect(look(&s), "whose value has to stay");
    ip->dst = t->inputs.data[1].slot;
    expect(look(&s), "whose value has to stay");
    *ip = good;
    ip->b = ip->dst;
    expect(look(&s), "which nobody has read");
    *ip = good;
    hmi_instruction *tanh = find_op(t, HMI_TAPE_FIRST_OF_TABLE + HMI_TANH);
    hmi_instruction *copy = find_op(t, HMI_TAPE_COPY), before = *copy;
    copy->dst = (uint32_t)t->output_slot;
    expect(look(&s), "writes output 0 again");
    *copy = before;
    assert_null(look_at_values(&s));
    tanh->op = HMI_TAPE_FIRST_OF_TABLE + HMI_ATAN;
    assert_null(look(&s));
    expect(look_at_values(&s), "computes no expression of the graph");
    close_sample(&s);
}

static void test_tape_prologue(void **state)
{
    (void)state;
    sample s;
    open_sample(&s, false);
    hmi_instruction *ip = &s.tape.prologue.data[0], good = *ip;
    ip->a = s.tape.inputs.data[1].slot; /* a coordinate */
    expect(look(&s), "prologue reads place");
    *ip = good;
    ip->dst = s.tape.inputs.data[1].slot;
    expect(look(&s), "place");
    *ip = good;
    s.tape.body.data[0].dst = s.tape.prologue.data[0].dst;
    expect(look(&s), "whose value has to stay");
    close_sample(&s);
}

/* A place that is taken again too early: every read is of a place that is written, by something
 * else. Only the values tell. */
static void test_tape_reuse(void **state)
{
    (void)state;
    sample s;
    open_sample(&s, false);
    hmi_tape *t = &s.tape;
    hmi_instruction *sincos = find_op(t, HMI_TAPE_SINCOS);
    hmi_instruction *mul = find_op(t, HMI_TAPE_FIRST_OF_TABLE + HMI_MUL);
    uint32_t cosine = sincos->b, other = mul->dst;
    for (size_t i = 0; i + 1 < t->body.count; i++) { /* the product takes the place of the cosine */
        hmi_instruction *ip = &t->body.data[i];
        if (ip < mul)
            continue;
        ip->dst = ip->dst == other ? cosine : ip->dst;
        ip->a = ip->a == other ? cosine : ip->a;
    }
    const char *message = look(&s);
    if (!message)
        message = look_at_values(&s);
    assert_non_null(message);
    close_sample(&s);
    open_sample(&s, false);
    t->constants.data[0] += 1;
    assert_null(look(&s));
    expect(look_at_values(&s), "constant 0");
    t->constants.data[0] -= 1;
    s.outputs[1] = s.outputs[0];
    expect(look_at_values(&s), "output 1 is not what was asked for");
    close_sample(&s);
}

static void test_machine_code(void **state)
{
    (void)state;
    sample s;
    open_sample(&s, true);
    assert_null(look_at_values(&s));
    s.tape.work_size--;
    expect(look(&s), "spill area");
    s.tape.work_size++;
    close_sample(&s);
}

/* ---- damage at random ---- */

static double next_input(dag_source *source)
{
    return dag_between(source, -2, 2);
}

static void run_tape(const hmi_tape *tape, uint64_t seed, double *out)
{
    dag_source source = {.state = seed};
    double numbers[16];
    hmi_tape_values values;
    double *work = calloc(tape->work_size + 1, sizeof *work);
    for (int i = 0; i < 16; i++)
        numbers[i] = next_input(&source);
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        values.by_kind[kind] = numbers;
    hmi_tape_prepare(tape, &values, work);
    hmi_tape_interpret(tape, &values, work);
    memcpy(out, hmi_tape_outputs(tape, work), tape->output_count * sizeof *out);
    free(work);
}

static bool same_numbers(const double *x, const double *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(isnan(x[i]) && isnan(y[i])) && memcmp(&x[i], &y[i], sizeof *x) != 0)
            return false;
    return true;
}

static void damage(uint32_t *number, uint32_t below, dag_source *source)
{
    *number = dag_choose(source, below);
}

static void damage_tape(hmi_tape *tape, dag_source *source)
{
    hmi_instruction *ip = &tape->body.data[dag_choose(source, (uint32_t)tape->body.count)];
    uint32_t places = (uint32_t)(tape->output_slot + tape->output_count);
    uint32_t *const fields[] = {&ip->op, &ip->dst, &ip->a, &ip->b, &ip->c};
    uint32_t which = dag_choose(source, 5);
    damage(fields[which], which ? places : HMI_TAPE_FIRST_OF_TABLE + HMI_PLAIN_OPS_END, source);
}

static size_t choose_outputs(const dag *d, dag_source *source, hmi_expr *outputs, size_t most)
{
    for (size_t k = 0; k < most; k++)
        outputs[k] = d->node[dag_choose(source, (uint32_t)d->count)];
    return most;
}

/* Returns how much of the damage was found. */
static long damage_one_tape(uint64_t seed, long rounds)
{
    static dag d;
    hmi_graph g;
    hmi_tape tape;
    hmi_violation violation;
    hmi_expr outputs[8];
    double expected[8], results[8];
    long found = 0;
    dag_source source = {.state = seed};
    assert_int_equal(hmi_graph_init(&g, &heap), HM_OK);
    g.interpreted = true;
    dag_start(&d, &g, true, &source);
    dag_fill(&d, &source, 60);
    size_t count = choose_outputs(&d, &source, outputs, 8);
    assert_int_equal(hmi_tape_compile(&tape, &g, outputs, count), HM_OK);
    run_tape(&tape, seed, expected);
    for (long i = 0; i < rounds; i++) {
        size_t bytes = tape.body.count * sizeof *tape.body.data;
        hmi_instruction *good = malloc(bytes);
        memcpy(good, tape.body.data, bytes);
        damage_tape(&tape, &source);
        if (hmi_tape_verify_values(&tape, &g, outputs, count, &violation)) {
            found++;
        } else {
            run_tape(&tape, seed, results);
            assert_true(same_numbers(results, expected, count));
        }
        memcpy(tape.body.data, good, bytes);
        free(good);
    }
    hmi_tape_release(&tape);
    hmi_graph_release(&g);
    return found;
}

static void test_random_tapes(void **state)
{
    (void)state;
    long found = 0;
    heap = hm_allocator_default();
    for (uint64_t seed = 1; seed <= 50; seed++)
        found += damage_one_tape(seed, 100);
    /* of 5000; much of the rest changes operands that are not read, more so since floor and ceil */
    assert_in_range(found, 2900, 5000);
}

/* ---- array code ---- */

enum { PIECES = 300 };

typedef struct pieces {
    hmi_graph g;
    hmi_expr outputs[3 * PIECES];
    hmi_array_code code;
    hmi_violation violation;
} pieces;

/* Like pieces with neighbours, a late part, outputs that parameters alone determine. */
static void open_pieces(pieces *s)
{
    hmi_graph *g = &s->g;
    const hmi_array_code_options options = {.late = HMI_DEP(HMI_SYM_MATRIX)};
    heap = hm_allocator_default();
    assert_int_equal(hmi_graph_init(g, &heap), HM_OK);
    hmi_expr p = hmi_symbol(g, HMI_SYM_PARAM, 0);
    for (uint32_t i = 0; i < PIECES; i++) {
        hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, i);
        hmi_expr y = hmi_symbol(g, HMI_SYM_COORD, (i + 1) % PIECES);
        hmi_expr z = hmi_symbol(g, HMI_SYM_MATRIX, i);
        hmi_expr d = hmi_sub(g, x, y), e = hmi_apply(g, HMI_EXP, hmi_mul(g, d, p), 0, 0);
        s->outputs[i] = hmi_add(g, hmi_mul(g, d, d), e);
        s->outputs[PIECES + i] = i % 7 ? hmi_mul(g, e, z) : HMI_NONE;
        s->outputs[2 * PIECES + i] = i % 3 ? hmi_apply(g, HMI_SQRT, e, 0, 0) : p;
    }
    assert_int_equal(hmi_array_code_compile(&s->code, g, s->outputs, 3 * PIECES, &options), HM_OK);
    assert_true(s->code.late_code > 0 && s->code.late_code < s->code.code.count);
    assert_true(s->code.index.count > 0 && s->code.copies.count > 0);
}

static void close_pieces(pieces *s)
{
    hmi_array_code_release(&s->code);
    hmi_graph_release(&s->g);
}

static const char *look_at_code(pieces *s)
{
    return hmi_array_code_verify(&s->code, &s->violation);
}

static void test_array_layout(void **state)
{
    (void)state;
    pieces s;
    open_pieces(&s);
    hmi_array_code *code = &s.code, good = *code;
    assert_null(look_at_code(&s));
    code->late_code = code->code.count + 1;
    expect(look_at_code(&s), "late part");
    *code = good;
    code->output_count--;
    expect(look_at_code(&s), "outputs do not end");
    *code = good;
    code->inputs.data[0].slot++;
    expect(look_at_code(&s), "input 0");
    code->inputs.data[0].slot--;
    code->copies.data[0].dst = 0;
    expect(look_at_code(&s), "copy 0");
    code->copies.data[0].dst = (uint32_t)code->output_slot + 2 * PIECES;
    code->late_code = 0; /* all of it reads symbols that are not there yet, or none */
    assert_null(look_at_code(&s));
    code->late_code = code->code.count;
    expect(look_at_code(&s), "before it is written");
    *code = good;
    code->prologue.output_slot = 0;
    expect(look_at_code(&s), "constants");
    *code = good;
    close_pieces(&s);
}

static void test_array_segments(void **state)
{
    (void)state;
    pieces s;
    open_pieces(&s);
    hmi_segment *g = &s.code.code.data[0], good = *g;
    g->count = 0;
    expect(look_at_code(&s), "0 elements");
    g->count = HMI_ARRAY_CODE_BLOCK + 1;
    expect(look_at_code(&s), "129 elements");
    *g = good;
    g->op = HMI_TAPE_SINCOS;
    expect(look_at_code(&s), "has no operation");
    *g = good;
    g->a = (uint32_t)s.code.work_size;
    expect(look_at_code(&s), "operand 0 of segment 0 is out of range");
    *g = good;
    g->b_access = 7;
    expect(look_at_code(&s), "operand 1 of segment 0 is out of range");
    g->b_access = HMI_ACCESS_LIST;
    g->b = (uint32_t)s.code.index.count;
    expect(look_at_code(&s), "operand 1 of segment 0 is out of range");
    *g = good;
    g->dst_access = HMI_ACCESS_SCALAR;
    expect(look_at_code(&s), "result of segment 0 is out of range");
    *g = good;
    g->dst = 0;
    expect(look_at_code(&s), "whose value has to stay");
    *g = good;
    g->a = g->dst;
    g->a_access = HMI_ACCESS_VECTOR;
    expect(look_at_code(&s), "before it is written");
    *g = good;
    s.code.index.data[0] = (uint32_t)s.code.work_size;
    expect(look_at_code(&s), "out of range");
    close_pieces(&s);
}

/* A segment that writes what it reads, and one that writes an output for the second time. */
static void test_array_overlap(void **state)
{
    (void)state;
    pieces s;
    bool read = false, again = false;
    open_pieces(&s);
    for (size_t i = 0; i < s.code.code.count; i++) {
        hmi_segment *g = &s.code.code.data[i], good = *g;
        g->dst = g->a;
        g->dst_access = g->a_access;
        const char *message = look_at_code(&s);
        read |= message && strstr(message, "which it reads");
        *g = good;
        if (i > 0 && s.code.code.data[i - 1].dst >= s.code.output_slot)
            g->dst = s.code.code.data[i - 1].dst;
        message = look_at_code(&s);
        again |= message && strstr(message, "again");
        *g = good;
    }
    assert_true(read && again);
    close_pieces(&s);
}

static void run_array(const hmi_array_code *code, double *out)
{
    dag_source source = {.state = 7};
    static double numbers[PIECES];
    hmi_tape_values values;
    double *work = calloc(code->work_size + 2 * HMI_ARRAY_CODE_BLOCK, sizeof *work);
    for (int i = 0; i < PIECES; i++)
        numbers[i] = next_input(&source);
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        values.by_kind[kind] = numbers;
    hmi_array_code_prepare(code, &values, work);
    hmi_array_code_run(code, &values, work);
    hmi_array_code_run_late(code, &values, work);
    memcpy(out, work + code->output_slot, code->output_count * sizeof *out);
    free(work);
}

static void damage_segment(const hmi_array_code *code, hmi_segment *g, dag_source *source)
{
    uint32_t *const places[] = {&g->dst, &g->a, &g->b, &g->c};
    uint8_t *const modes[] = {&g->dst_access, &g->a_access, &g->b_access, &g->c_access};
    uint32_t which = dag_choose(source, 10);
    if (which < 4)
        damage(places[which], (uint32_t)code->work_size, source);
    else if (which < 8)
        *modes[which - 4] = (uint8_t)dag_choose(source, 3);
    else if (which < 9)
        g->op = (uint8_t)dag_choose(source, HMI_TAPE_FIRST_OF_TABLE + HMI_PLAIN_OPS_END);
    else
        g->count = (uint16_t)dag_choose(source, HMI_ARRAY_CODE_BLOCK);
}

static void test_random_array_code(void **state)
{
    (void)state;
    static double expected[3 * PIECES], results[3 * PIECES];
    pieces s;
    dag_source source = {.state = 5};
    long found = 0;
    open_pieces(&s);
    hmi_array_code *code = &s.code;
    const hmi_expr hoisted[2] = {s.g.two, hmi_symbol(&s.g, HMI_SYM_PARAM, 0)}; /* d^2 comes first */
    assert_int_equal(code->prologue.output_count, 2);
    assert_null(
        hmi_array_code_verify_values(code, &s.g, hoisted, s.outputs, 3 * PIECES, &s.violation));
    run_array(code, expected);
    for (int i = 0; i < 1000; i++) {
        hmi_segment *g = &code->code.data[dag_choose(&source, (uint32_t)code->code.count)];
        const hmi_segment good = *g;
        damage_segment(code, g, &source);
        if (hmi_array_code_verify_values(code, &s.g, hoisted, s.outputs, 3 * PIECES,
                                         &s.violation)) {
            found++;
        } else {
            run_array(code, results);
            assert_true(same_numbers(results, expected, 3 * PIECES));
        }
        *g = good;
    }
    assert_true(found > 500);
    close_pieces(&s);
}

/* ---- jets ---- */

typedef struct jets {
    sample s;
    double *work;
    hmi_jet jet;
    hmi_jet_segment segment;
    hmi_violation violation;
} jets;

static void open_jets(jets *j)
{
    open_sample(&j->s, false);
    j->work = calloc(j->s.tape.work_size + 1, sizeof *j->work);
    hmi_jet_init(&j->jet, &heap);
    assert_int_equal(hmi_jet_add(&j->jet, &j->s.tape, j->work, &j->segment), HM_OK);
}

static void close_jets(jets *j)
{
    hmi_jet_release(&j->jet);
    close_sample(&j->s);
    free(j->work);
}

static const char *look_at_jet(jets *j)
{
    return hmi_jet_verify(&j->jet, &j->violation);
}

static const char *look_at_segment(jets *j)
{
    return hmi_jet_segments_verify(&j->jet, &j->segment, 1, &j->violation);
}

static void test_jet_order_zero(void **state)
{
    (void)state;
    jets j;
    open_jets(&j);
    hmi_jet *jet = &j.jet;
    for (int sealed = 0; sealed < 2; sealed++) {
        assert_null(look_at_jet(&j));
        hmi_jet_code *code = &jet->zero.data[jet->zero.count - 1], good = *code;
        code->op = HMI_JET_HALF_RECIPROCAL + 1;
        expect(look_at_jet(&j), "has no operation");
        *code = good;
        code->dst = 100000;
        expect(look_at_jet(&j), "writes no row");
        *code = good;
        code->a = code->dst;
        expect(look_at_jet(&j), "not there yet");
        *code = good;
        code->dst = jet->zero.data[jet->zero.count - 2].dst;
        assert_non_null(look_at_jet(&j));
        *code = good;
        uint8_t *constant = &jet->constant.data[good.dst / (sealed ? 2 : 1)];
        *constant = !*constant;
        expect(look_at_jet(&j), "is constant by");
        *constant = !*constant;
        jet->pairs.data[0].inner++;
        expect(look_at_jet(&j), "pair 0");
        jet->pairs.data[0].inner--;
        if (!sealed)
            assert_int_equal(hmi_jet_seal(jet, 5), HM_OK);
    }
    jet->moving.count--;
    expect(look_at_jet(&j), "not on the list");
    jet->moving.count++;
    jet->symbols.data[0].row = jet->zero.data[0].dst / 2;
    expect(look_at_jet(&j), "symbol 0");
    jet->symbols.data[0].row = 4;
    jet->source_row.data[0] = 100000;
    expect(look_at_jet(&j), "source 0");
    close_jets(&j);
}

static hmi_jet_code *find_code(jets *j, uint32_t op)
{
    for (size_t i = j->segment.first; i < j->segment.end; i++)
        if (j->jet.code.data[i].op == op)
            return &j->jet.code.data[i];
    fail_msg("no instruction %u", op);
    return NULL;
}

static void test_jet_orders(void **state)
{
    (void)state;
    jets j;
    open_jets(&j);
    hmi_jet *jet = &j.jet;
    for (int sealed = 0; sealed < 2; sealed++) {
        assert_null(look_at_segment(&j));
        hmi_jet_code *code = find_code(&j, HMI_JET_TIMES), good = *code;
        hmi_jet_code *last = &jet->code.data[j.segment.end - 1];
        code->op = HMI_JET_OPS;
        expect(look_at_segment(&j), "has no operation");
        *code = good;
        code->q = 100000;
        expect(look_at_segment(&j), "names no row");
        *code = good;
        code->dst = jet->one * (sealed ? 2 : 1);
        expect(look_at_segment(&j), "which is constant");
        *code = good;
        code->p = code->a;
        expect(look_at_segment(&j), "a factor of instruction");
        *code = good;
        code->a = last->dst;
        expect(look_at_segment(&j), "before its coefficient is written");
        *code = good;
        code->inner++;
        expect(look_at_segment(&j), "inner sum");
        *code = good;
        uint32_t dst = last->dst;
        last->dst = code->dst;
        expect(look_at_segment(&j), "again");
        last->dst = dst;
        j.segment.end++;
        j.segment.end += 100;
        expect(look_at_segment(&j), "outside of the code");
        j.segment.end -= 101;
        if (!sealed)
            assert_int_equal(hmi_jet_seal(jet, 5), HM_OK);
    }
    close_jets(&j);
}

static void test_jet_programs(void **state)
{
    (void)state;
    jets j;
    hmi_violation violation;
    open_jets(&j);
    hmi_jet *jet = &j.jet;
    assert_int_equal(hmi_jet_seal(jet, 5), HM_OK);
    uint32_t x = hmi_jet_row_of(jet, HMI_SYM_COORD, 0),
             v = hmi_jet_row_of(jet, HMI_SYM_VELOCITY, 0);
    hmi_jet_list list = {.value = 2 * x, .less = HMI_JET_NO_PLACE, .rise = HMI_JET_NO_PLACE};
    hmi_jet_link link = {x, v, HMI_JET_NO_PLACE, HMI_JET_RATE_LINK};
    hmi_jet_program program = {.segment = &j.segment,
                               .lists = &list,
                               .list_count = 1,
                               .given = &v,
                               .given_count = 1,
                               .links = &link,
                               .link_count = 1};
    assert_null(hmi_jet_program_verify(jet, &program, &violation));
    list.value++;
    expect(hmi_jet_program_verify(jet, &program, &violation), "sum 0 has a term");
    list.value--;
    list.end = (uint32_t)jet->pairs.count + 1;
    expect(hmi_jet_program_verify(jet, &program, &violation), "sum 0 is over pairs");
    list.end = 0;
    program.matrix_size = 2;
    expect(hmi_jet_program_verify(jet, &program, &violation), "matrix");
    program.matrix_size = 0;
    program.given = &jet->one;
    expect(hmi_jet_program_verify(jet, &program, &violation), "given coefficient 0");
    program.given = &v;
    link.source = 100000;
    expect(hmi_jet_program_verify(jet, &program, &violation), "link 0");
    close_jets(&j);
}

/* ---- programs of the emitter ---- */

static void test_emitter(void **state)
{
    (void)state;
    sample s;
    hmi_jit_program program = {.nodes = NULL};
    hmi_violation violation;
    open_sample(&s, false);
    assert_int_equal(hmi_jit_program_build(&program, &s.tape), HM_OK);
    assert_null(hmi_jit_program_verify(&program, &violation));
    uint32_t *order = program.order, first = order[0], last = order[program.node_count - 1];
    order[0] = last;
    order[program.node_count - 1] = first;
    expect(hmi_jit_program_verify(&program, &violation), "not there yet");
    order[0] = order[1];
    expect(hmi_jit_program_verify(&program, &violation), "no node of its own");
    order[0] = first;
    order[program.node_count - 1] = last;
    hmi_jit_node *node = &program.nodes[last];
    node->next_use[0] = 0;
    expect(hmi_jit_program_verify(&program, &violation), "live range of operand 0");
    node->next_use[0] = HMI_JIT_NONE;
    uint32_t result = node->result[0];
    node->result[0] = program.nodes[first].result[0] == HMI_JIT_NONE
                          ? program.nodes[first].result[1]
                          : program.nodes[first].result[0];
    expect(hmi_jit_program_verify(&program, &violation), "makes a value again");
    node->result[0] = result;
    program.values[result].next_use = 0;
    expect(hmi_jit_program_verify(&program, &violation), "begins wrong");
    hmi_jit_program_release(&program);
    close_sample(&s);
}

/* ---- compiled solves ---- */

static void test_elimination(void **state)
{
    (void)state;
    enum { N = 4 };
    hmi_graph g;
    hmi_arena arena;
    hmi_elimination e;
    hmi_margin margin;
    hmi_violation violation;
    heap = hm_allocator_default();
    assert_int_equal(hmi_graph_init(&g, &heap), HM_OK);
    hmi_arena_init(&arena, &heap);
    assert_int_equal(hmi_elimination_init(&e, &g, &arena, N, 1000), HM_OK);
    for (uint32_t i = 0; i < N; i++) {
        e.S[i * N + i] = hmi_symbol(&g, HMI_SYM_COORD, i);
        if (i > 0) /* an arrow: everything is coupled with row 0 */
            e.S[i * N] = e.S[i] = hmi_symbol(&g, HMI_SYM_VELOCITY, i);
    }
    hmi_margin_init(&margin);
    assert_int_equal(hmi_eliminate(&e, &g, 1e-5, &margin), HM_OK);
    assert_null(hmi_elimination_verify(&e, &g, &violation));
    size_t p = e.order[0];
    e.order[0] = e.order[1];
    expect(hmi_elimination_verify(&e, &g, &violation), "no row at place 0");
    e.order[0] = p;
    hmi_expr inverse = e.inverse[p];
    e.inverse[p] = HMI_NONE;
    expect(hmi_elimination_verify(&e, &g, &violation), "no pivot");
    e.inverse[p] = inverse;
    e.S[p] = g.zero; /* row 0 had an entry in the column of the first pivot */
    expect(hmi_elimination_verify(&e, &g, &violation), "of L does not come from");
    hmi_arena_release(&arena);
    hmi_graph_release(&g);
}

/* Three children for each particle: G is not a band. */
static const char tree[] =
    "param N = 61\n"
    "coord q[1..3*N]\n"
    "let D(i, j) = (q[3*i-2] - q[3*j-2])^2 + (q[3*i-1] - q[3*j-1])^2 + (q[3*i] - q[3*j])^2\n"
    "for i = 1..N { kinetic 1/2*(q[3*i-2]'^2 + q[3*i-1]'^2 + q[3*i]'^2)\n"
    "  potential 9.81*q[3*i] }\n"
    "constraint root: q[1]^2 + q[2]^2 + q[3]^2 = 1\n"
    "for i = 1..(N - 1)/3 { constraint a[i]: D(3*i - 1, i) = 1\n"
    "  constraint b[i]: D(3*i, i) = 1\n"
    "  constraint c[i]: D(3*i + 1, i) = 1 }\n";

static void test_block_schur(void **state)
{
    (void)state;
    hm_context *context = hm_context_create(NULL);
    hm_model *model;
    hm_system *system;
    hmi_violation violation;
    assert_int_equal(hm_model_parse(context, tree, strlen(tree), NULL, &model), HM_OK);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    assert_non_null(system->schur);
    hmi_block_schur *s = system->schur, good = *s;
    assert_false(s->banded);
    assert_null(hmi_block_schur_verify(s, &violation));
    uint32_t order = s->order[3];
    s->order[3] = s->order[4];
    expect(hmi_block_schur_verify(s, &violation), "the order of G");
    s->order[3] = order;
    uint32_t last = s->column[s->start[s->m] - 1];
    s->column[s->start[s->m] - 1] = 0;
    expect(hmi_block_schur_verify(s, &violation), "does not end with its diagonal");
    s->column[s->start[s->m] - 1] = last;
    uint32_t column = s->column[s->start[s->m] - 2];
    s->column[s->start[s->m] - 2] = last;
    expect(hmi_block_schur_verify(s, &violation), "do not ascend");
    s->column[s->start[s->m] - 2] = column;
    s->at.right++;
    expect(hmi_block_schur_verify(s, &violation), "laid out wrong");
    s->at = good.at;
    s->code.code.data[0].count = 0;
    expect(hmi_block_schur_verify(s, &violation), "0 elements");
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tape_layout),    cmocka_unit_test(test_tape_code),
        cmocka_unit_test(test_tape_prologue),  cmocka_unit_test(test_tape_reuse),
        cmocka_unit_test(test_machine_code),   cmocka_unit_test(test_random_tapes),
        cmocka_unit_test(test_array_layout),   cmocka_unit_test(test_array_segments),
        cmocka_unit_test(test_array_overlap),  cmocka_unit_test(test_random_array_code),
        cmocka_unit_test(test_jet_order_zero), cmocka_unit_test(test_jet_orders),
        cmocka_unit_test(test_jet_programs),   cmocka_unit_test(test_emitter),
        cmocka_unit_test(test_elimination),    cmocka_unit_test(test_block_schur),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
