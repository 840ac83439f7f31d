/* DAG -> tape: straight-line code over one work vector, and its interpreter.
 *
 * The idea. The graph of expressions is flattened once into instructions dst = op(a, b, c) whose
 * operands are places of one array of doubles, the work vector. The caller supplies that array, so that
 * a tape itself is immutable and any number of threads can run it. The work vector has these parts, in
 * this order:
 *     constants | inputs | hoisted values | temporaries | outputs | spill area of machine code
 * (hoisted values and temporaries may be interleaved). The prologue computes what depends on parameters
 * and constants alone, the hoisted values, and runs when those change (hmi_tape_prepare). The body runs
 * at every evaluation, by the interpreter or as machine code (compile/jit).
 *
 * Invariants (verify.h executes them)
 *   1. Instructions stand in depth-first order of the outputs. The place of a temporary is reused after
 *      its live range has ended, never before.
 *   2. The sine and the cosine of one argument are one instruction.
 *   3. Running allocates nothing and touches only the work vector.
 *   4. Each instruction rounds as hmi_op_value does: the tape agrees with the graph bit by bit.
 * Verified: test/unit/compile/test_tape.c, test/unit/compile/test_verify.c, fuzz/fuzz_engine.c
 */
#ifndef HMI_COMPILE_TAPE_TAPE_H
#define HMI_COMPILE_TAPE_TAPE_H

#include "expr/graph/graph.h"

/* The operations of a tape: those of the table (expr/graph/ops.def), and these. */
typedef enum hmi_tape_op {
    HMI_TAPE_STOP,
    HMI_TAPE_COPY,
    HMI_TAPE_SINCOS, /* dst = sin a, b = cos a */
    HMI_TAPE_SQUARE,
    HMI_TAPE_CUBE,
    HMI_TAPE_MUL_ADD, /* dst = a*b + c, rounded twice */
    HMI_TAPE_MUL_SUB, /* dst = a*b - c */
    HMI_TAPE_SUB_MUL, /* dst = c - a*b */
    HMI_TAPE_FIRST_OF_TABLE
} hmi_tape_op;

typedef struct hmi_instruction {
    uint32_t op, dst, a, b, c;
} hmi_instruction;

/* `count` consecutive symbols of one kind are copied to consecutive places. */
typedef struct hmi_tape_input {
    hmi_symbol_kind kind;
    uint32_t first, count, slot;
} hmi_tape_input;

typedef struct hmi_tape hmi_tape;

/* The values of symbols, by kind. NULL where the tape has none of a kind. */
typedef struct hmi_tape_values {
    const double *by_kind[HMI_SYM_KIND_COUNT];
} hmi_tape_values;

/* What runs a body: the interpreter, or machine code. */
typedef void hmi_tape_function(const hmi_tape *tape, const hmi_tape_values *values, double *work);

/* The body as machine code (jit.h); entry is NULL where there is none. */
typedef struct hmi_machine_code {
    hmi_tape_function *entry;
    void *pages;
    size_t size;          /* bytes */
    size_t spill_doubles; /* the spill area that the code needs behind the outputs */
} hmi_machine_code;

struct hmi_tape {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_instruction) prologue;
    HMI_ARRAY(hmi_instruction) body;
    HMI_ARRAY(double) constants;
    HMI_ARRAY(hmi_tape_input) inputs; /* parameters first */
    size_t param_inputs;              /* how many of them are parameters */
    size_t output_count, output_slot;
    size_t work_size;  /* doubles */
    size_t node_count; /* operations of the graph that the body stands for */
    hmi_tape_function *run;
    hmi_machine_code code;
};

/* Memory for building several tapes, one after the other. */
typedef struct hmi_tape_note hmi_tape_note;
typedef struct hmi_tape_scratch {
    hmi_walk walk;
    hmi_tape_note *notes;
    size_t note_capacity;
    HMI_ARRAY(uint32_t) symbols, free_slots;
} hmi_tape_scratch;
void hmi_tape_scratch_init(hmi_tape_scratch *scratch, const hm_allocator *allocator);
void hmi_tape_scratch_release(hmi_tape_scratch *scratch);
/* Instructions for the interpreter from outputs (HMI_NONE entries give 0). Release also after a
 * failure. Machine code: compile/jit/assemble.h. */
hm_status hmi_tape_build(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *outputs,
                         size_t count, hmi_tape_scratch *scratch);
void hmi_tape_release(hmi_tape *tape);

/* Fills in constants and runs the prologue: once, and again when a parameter changes. */
void hmi_tape_prepare(const hmi_tape *tape, const hmi_tape_values *values, double *work);
/* Runs the body: machine code where there is, else the interpreter, with the same bits. The outputs
 * are at work[output_slot]. */
static inline void hmi_tape_run(const hmi_tape *tape, const hmi_tape_values *values, double *work)
{
    tape->run(tape, values, work);
}
/* The interpreter, whatever hmi_tape_run does. */
void hmi_tape_interpret(const hmi_tape *tape, const hmi_tape_values *values, double *work);
static inline const double *hmi_tape_outputs(const hmi_tape *tape, const double *work)
{
    return work + tape->output_slot;
}

/* Does the tape read symbols of this kind? */
bool hmi_tape_uses(const hmi_tape *tape, hmi_symbol_kind kind);

#endif
