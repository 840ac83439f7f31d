/* Bytes -> any DAG at all, any doubles -> interpreter, machine code, array code, four lanes portably
 * and as machine code: outputs must agree bit by bit; so must its jets, interpreted, by vectors and as
 * machine code. Everything that is compiled has to pass its verifier. */
#include "compile/array/verify.h"
#include "compile/jit/assemble.h"
#include "compile/jit/jit.h"
#include "compile/jit/lanes.h"
#include "compile/tape/verify.h"
#include "expr/graph/verify.h"
#include "jets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 3000, SYMBOLS = 8, MOST_OUTPUTS = 64 };

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

static void require_sound(const char *violation)
{
    require(!violation, violation ? violation : "");
}

typedef struct source {
    const uint8_t *bytes;
    size_t size;
} source;

static uint32_t next(source *s, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes && s->size; i++, s->size--)
        value = value << 8 | *s->bytes++;
    return value;
}

/* Usual numbers, special ones, and any bits. */
static double next_number(source *s)
{
    static const double special[] = {0.0,      -0.0,      1,   -1,    0.5,
                                     INFINITY, -INFINITY, NAN, 1e308, 4.9e-324};
    uint32_t pick = next(s, 1);
    if (pick < 20)
        return special[pick % (sizeof special / sizeof *special)];
    if (pick < 200)
        return (double)next(s, 2) / 9000 - 3.5;
    uint64_t bits = (uint64_t)next(s, 4) << 32 | next(s, 4);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- the DAG ---- */

typedef struct dag {
    hmi_graph graph;
    hmi_expr node[MOST_NODES];
    size_t count;
} dag;

static void add_leaves(dag *d)
{
    static const hmi_symbol_kind kinds[] = {HMI_SYM_TIME,  HMI_SYM_PARAM, HMI_SYM_COORD,
                                            HMI_SYM_STATE, HMI_SYM_INPUT, HMI_SYM_VELOCITY,
                                            HMI_SYM_MODE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint32_t k = 0; k < SYMBOLS; k++)
            d->node[d->count++] = hmi_symbol(&d->graph, kinds[i], k);
    d->node[d->count++] = hmi_number(&d->graph, 0.1);
    d->node[d->count++] = hmi_number(&d->graph, -3);
}

/* Mostly of late nodes, so that it becomes deep. */
static hmi_expr operand(const dag *d, source *s)
{
    uint32_t back = next(s, 1);
    if (back >= 128)
        return d->node[next(s, 2) % d->count];
    return d->node[d->count - 1 - back % d->count];
}

static void add_node(dag *d, source *s)
{
    hmi_op op = (hmi_op)(HMI_SYMBOL + 1 + next(s, 1) % (HMI_PLAIN_OPS_END - HMI_SYMBOL - 1));
    hmi_expr a = operand(d, s), b = hmi_op_arity(op) > 1 ? operand(d, s) : 0;
    hmi_expr c = hmi_op_arity(op) > 2 ? operand(d, s) : 0;
    if (op == HMI_POWI)
        b = hmi_number(&d->graph, (int8_t)next(s, 1));
    d->node[d->count++] = hmi_intern(&d->graph, op, a, b, c);
}

/* ---- the engines ---- */

typedef struct inputs {
    double value[HMI_LANES][SYMBOLS], interleaved[HMI_LANES * SYMBOLS];
    hmi_tape_values one[HMI_LANES], four;
} inputs;

/* All kinds of symbols read the same numbers; of one kind there may be none. */
static void choose_inputs(inputs *in, source *s)
{
    uint32_t missing = next(s, 1);
    for (int lane = 0; lane < HMI_LANES; lane++)
        for (int k = 0; k < SYMBOLS; k++)
            in->interleaved[HMI_LANES * k + lane] = in->value[lane][k] = next_number(s);
    for (uint32_t kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        for (int lane = 0; lane < HMI_LANES; lane++)
            in->one[lane].by_kind[kind] = kind == missing ? NULL : in->value[lane];
        in->four.by_kind[kind] = kind == missing ? NULL : in->interleaved;
    }
}

static void compare(const char *what, const double *results, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        require((isnan(results[i]) && isnan(expected[i])) ||
                    memcmp(&results[i], &expected[i], sizeof *results) == 0,
                what);
}

static void run_lanes(const hmi_tape_lanes *lanes, const inputs *in, hmi_tape_function *run,
                      double *outputs)
{
    double *work = malloc((lanes->work_size + 1) * sizeof *work);
    hmi_tape_prepare_lanes(lanes, &in->four, work);
    run(lanes->tape, &in->four, work);
    memcpy(outputs, hmi_tape_lanes_outputs(lanes, work),
           HMI_LANES * lanes->tape->output_count * sizeof *outputs);
    free(work);
}

static void run_one(const hmi_tape *tape, const inputs *in, int lane, hmi_tape_function *run,
                    double *outputs)
{
    double *work = malloc((tape->work_size + 1) * sizeof *work);
    hmi_tape_prepare(tape, &in->one[lane], work);
    run(tape, &in->one[lane], work);
    for (size_t k = 0; k < tape->output_count; k++)
        outputs[HMI_LANES * k + (size_t)lane] = hmi_tape_outputs(tape, work)[k];
    free(work);
}

static void check(const hmi_tape *tape, const inputs *in)
{
    double expected[HMI_LANES * MOST_OUTPUTS], results[HMI_LANES * MOST_OUTPUTS];
    size_t count = HMI_LANES * tape->output_count;
    hmi_tape_lanes lanes;
    require(hmi_tape_lanes_init(&lanes, tape) == HM_OK, "memory");
    for (int lane = 0; lane < HMI_LANES; lane++) {
        run_one(tape, in, lane, hmi_tape_interpret, expected);
        run_one(tape, in, lane, tape->run, results);
    }
    compare("machine code", results, expected, count);
    run_lanes(&lanes, in, hmi_tape_interpret_lanes, results);
    compare("four lanes", results, expected, count);
    run_lanes(&lanes, in, lanes.run, results);
    compare("machine code of four lanes", results, expected, count);
    hmi_tape_lanes_release(&lanes);
}

static void run_array(const hmi_array_code *code, const inputs *in, int lane, double *outputs)
{
    double *work = malloc((code->work_size + 1) * sizeof *work);
    hmi_array_code_prepare(code, &in->one[lane], work);
    hmi_array_code_run(code, &in->one[lane], work);
    hmi_array_code_run_late(code, &in->one[lane], work);
    for (size_t k = 0; k < code->output_count; k++)
        outputs[HMI_LANES * k + (size_t)lane] = hmi_array_code_outputs(code, work)[k];
    free(work);
}

/* What is too deep for array code stays with the tape. */
static void check_array(const hmi_tape *tape, const dag *d, const hmi_expr *list, const inputs *in)
{
    double expected[HMI_LANES * MOST_OUTPUTS], results[HMI_LANES * MOST_OUTPUTS];
    const hmi_array_code_options options = {.late = HMI_DEP(HMI_SYM_STATE)};
    hmi_array_code code;
    hm_status status = hmi_array_code_compile(&code, &d->graph, list, tape->output_count, &options);
    require(status == HM_OK || status == HM_ERR_LIMIT, "memory");
    for (int lane = 0; lane < HMI_LANES && status == HM_OK; lane++) {
        run_one(tape, in, lane, hmi_tape_interpret, expected);
        run_array(&code, in, lane, results);
    }
    if (status == HM_OK) {
        require_sound(hmi_array_code_verify(&code, &(hmi_violation){.text = ""}));
        compare("array code", results, expected, HMI_LANES * tape->output_count);
    }
    hmi_array_code_release(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static dag d;
    static inputs in;
    const hm_allocator allocator = hm_allocator_default();
    source s = {data, size};
    hmi_expr outputs[MOST_OUTPUTS];
    hmi_tape tape;
    d.count = 0;
    require(hmi_graph_init(&d.graph, &allocator) == HM_OK, "memory");
    choose_inputs(&in, &s);
    add_leaves(&d);
    while (s.size > 0 && d.count < MOST_NODES)
        add_node(&d, &s);
    size_t count = d.count < MOST_OUTPUTS ? d.count : MOST_OUTPUTS;
    for (size_t k = 0; k < count; k++)
        outputs[k] = d.node[d.count - 1 - k * d.count / count];
    require(hmi_tape_compile(&tape, &d.graph, outputs, count) == HM_OK, "compile");
    require_sound(hmi_graph_verify(&d.graph, &(hmi_violation){.text = ""}));
    require_sound(
        hmi_tape_verify_values(&tape, &d.graph, outputs, count, &(hmi_violation){.text = ""}));
    check(&tape, &in);
    check_array(&tape, &d, outputs, &in);
    check_jets(&tape, &in.one[0], in.interleaved, HMI_LANES * SYMBOLS);
    hmi_tape_release(&tape);
    hmi_graph_release(&d.graph);
    return 0;
}
