/* DAG -> array code: the form of a large repetitive tape that runs as loops over arrays.
 *
 * The idea. A system of N like pieces has N copies of each operation, which differ in their operands
 * only. A straight-line tape of millions of instructions waits for its own code to arrive from memory.
 * Array code collects the copies into segments
 *     dst[k] = op(a[k], b[k], c[k]),   k = 0 .. count-1
 * whose operands are consecutive places, one place for all, or a list of places. One segment stands for
 * up to HMI_ARRAY_CODE_BLOCK operations, which vector units execute.
 *
 * How it is built: array.c lists the operations, with products fused into the sums that use them;
 * find_runs.c gives like operations consecutive places, level by level; schedule.c cuts these runs into
 * blocks, puts the blocks into an order that is kind to the cache, and gives them places that are
 * reused. execute.c is the loop over the segments.
 *
 * The work vector: the prologue's | inputs | temporaries | outputs. Code that depends on the `late`
 * symbols stands apart, behind the rest, so that the caller can compute these symbols from outputs of
 * the first part: multipliers from the Gram matrix, say (compile/solve/block_schur.h).
 *
 * Invariants (verify.h executes them)
 *   1. Each operation rounds as hmi_op_value does: results are those of the tape, bit by bit.
 *   2. A value is used soon after it is made: segments work off one group of pieces after the other, not
 *      one operation after the other over the whole system. What is live stays in the cache.
 *   3. The result of a segment lies apart from its operands.
 *   4. Running allocates nothing and touches only the work vector.
 * Verified: test/unit/compile/test_array.c, test/unit/compile/test_verify.c
 */
#ifndef HMI_COMPILE_ARRAY_ARRAY_H
#define HMI_COMPILE_ARRAY_ARRAY_H

#include "compile/tape/tape.h"

enum { HMI_ARRAY_CODE_BLOCK = 128 };

/* How an operand (or the result) of a segment is placed. */
typedef enum hmi_access {
    HMI_ACCESS_VECTOR, /* consecutive places from here */
    HMI_ACCESS_SCALAR, /* the same place for all */
    HMI_ACCESS_LIST    /* places listed from here in `index` */
} hmi_access;

/* Operands whose next HMI_ARRAY_CODE_BLOCK places are prefetched while a segment runs: what a large
 * system reads and writes once would arrive too late otherwise. */
enum { HMI_PREFETCH_A = 1, HMI_PREFETCH_B = 2, HMI_PREFETCH_C = 4, HMI_PREFETCH_DST = 8 };

typedef struct hmi_segment {
    uint8_t op; /* hmi_tape_op */
    uint8_t dst_access, a_access, b_access, c_access;
    uint8_t prefetch; /* HMI_PREFETCH_... */
    uint16_t count;
    uint32_t dst, a, b, c;
} hmi_segment;

/* An output that does not change between changes of parameters. */
typedef struct hmi_array_code_copy {
    uint32_t dst, from;
} hmi_array_code_copy;

typedef struct hmi_array_code {
    const hm_allocator *allocator;
    hmi_tape prologue; /* constants, and what depends on parameters only */
    HMI_ARRAY(hmi_tape_input) inputs;
    HMI_ARRAY(hmi_segment) code;
    HMI_ARRAY(uint32_t) index;
    HMI_ARRAY(hmi_array_code_copy) copies;
    size_t late_code;  /* segments from here on are the late part, */
    uint16_t late;     /* which reads these kinds of symbols */
    size_t operations; /* executed by all segments together */
    size_t output_count, output_slot;
    size_t work_size; /* doubles */
    bool wide;        /* the processor has AVX2 */
} hmi_array_code;

typedef struct hmi_array_code_options {
    uint16_t late; /* kinds of symbols whose users go to the late part */
    /* This many symbols of a kind have consecutive places, used or not, where the caller may keep
     * their values: see hmi_array_code_input. */
    size_t whole[HMI_SYM_KIND_COUNT];
} hmi_array_code_options;

/* Compiles outputs (HMI_NONE entries give 0); options may be NULL. Release also after a failure. */
hm_status hmi_array_code_compile(hmi_array_code *code, const hmi_graph *graph,
                                 const hmi_expr *outputs, size_t count,
                                 const hmi_array_code_options *options);
void hmi_array_code_release(hmi_array_code *code);

/* Do segments stand for enough operations to beat the interpreter? */
bool hmi_array_code_pays(const hmi_array_code *code);

/* Where the symbols of a kind that was compiled as `whole` are in the work vector; NULL: it has none.
 * Values that are there already are not copied. */
double *hmi_array_code_input(const hmi_array_code *code, hmi_symbol_kind kind, double *work);

/* As for tapes: prepare once and after a parameter has changed; then run the first part; then the late
 * part. */
void hmi_array_code_prepare(const hmi_array_code *code, const hmi_tape_values *values,
                            double *work);
void hmi_array_code_run(const hmi_array_code *code, const hmi_tape_values *values, double *work);
void hmi_array_code_run_late(const hmi_array_code *code, const hmi_tape_values *values,
                             double *work);
static inline double *hmi_array_code_outputs(const hmi_array_code *code, double *work)
{
    return work + code->output_slot;
}

#endif
