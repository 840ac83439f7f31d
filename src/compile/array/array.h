/* DAG -> array code: the form of a large repetitive tape that runs as loops over arrays.
 *
 * A system of N like pieces has N copies of each operation that differ in their operands only. Such
 * copies are collected into segments
 *     dst[k] = op(a[k], b[k], c[k]),   k = 0 .. count-1
 * whose operands are consecutive places, one place for all, or a list of places. One instruction
 * then stands for up to HMI_ARRAY_CODE_BLOCK operations, which vector units execute; a straight-line tape
 * of millions of instructions waits for its own code to arrive from memory instead.
 *
 * Invariants
 *   1. Each operation rounds as hmi_op_value does: results are those of the tape, bit by bit.
 *   2. Segments are ordered so that a value is used soon after it is made (blocks of pieces, not
 *      operation after operation over the whole system), and places are used again: what is live
 *      stays in the cache.
 *   3. Running allocates nothing and touches only the work vector.
 *
 * The work vector: the prologue's | inputs | temporaries | outputs. Code that depends on `late`
 * symbols is apart, so that what they stand for can be computed from the outputs of the first part.
 * Verified: test/unit/compile/test_array.c
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

/* Operands whose next HMI_ARRAY_CODE_BLOCK places are called from memory while a segment runs: what a large
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
    uint16_t late;                    /* kinds of symbols whose users go to the late part */
    size_t whole[HMI_SYM_KIND_COUNT]; /* this many symbols of a kind have consecutive places, used
                                         or not: the caller may keep them there (see
                                         hmi_array_code_input) */
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

/* As for tapes: once and when a parameter changed; then the first part; then the late part. */
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
