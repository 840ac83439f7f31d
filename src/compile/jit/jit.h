/* Machine code from a tape's body, by our own x86-64 emitter.
 *
 * Why our own. A tape is one basic block of arithmetic, so that three things decide how fast it is:
 * values stay in registers, calls of transcendental functions are few, and compiling takes less time
 * than a step of a simulation. The whole compiler is therefore one pass over the instructions.
 *
 *   program.c    The body in single-assignment form. It is reordered so that calls of one function stand
 *                together (four arguments are one call), and every operand learns its next use, which
 *                is the live range of its value.
 *   emit.c       Register allocation: where no register is free, the value whose next use is furthest
 *                away is spilled [Belady 1966]. The frame of the function.
 *   patterns.c   Which instructions an arithmetic operation becomes.
 *   call.c       Calls of SLEEF, one value or four at a time.
 *   sincos.c     Sine and cosine as instructions in the code, where there are not many.
 *   assemble.c   Functions side by side on executable pages (compile/tape/machine_code.h).
 *
 * Invariants (verify.h executes those of a program)
 *   1. Every instruction rounds as the interpreter's does: results agree bit by bit.
 *   2. The code allocates nothing and touches the work vector, the inputs and the stack only.
 *   3. Where the processor lacks AVX2 or FMA, where it is not an x86-64, or where no executable page
 *      can be had, there is no code, and the interpreter runs.
 * Verified: test/unit/compile/test_engine.c, test/unit/compile/test_verify.c, fuzz/fuzz_engine.c
 */
#ifndef HMI_COMPILE_JIT_JIT_H
#define HMI_COMPILE_JIT_JIT_H

#include "compile/tape/machine_code.h"
#include "compile/tape/tape.h"

/* Compiles the body for `lanes` (1 or 4) values per slot. `fallback` runs in place of the code where a
 * kind of symbol has no values. Leaves `code->entry` NULL where there is no machine code; an error
 * only when there is no memory. */
hm_status hmi_jit_compile(const hmi_tape *tape, unsigned lanes, hmi_tape_function *fallback,
                          hmi_machine_code *code);
/* The same for several bodies that are to lie side by side; their entries. code->spill_doubles is what
 * the neediest of them needs. Without code the entries are NULL. */
hm_status hmi_jit_compile_many(const hmi_tape *tapes, size_t count, unsigned lanes,
                               hmi_tape_function *fallback, hmi_machine_code *code,
                               hmi_tape_function **entries);

/* ---- between the files of the emitter ---- */

#define HMI_JIT_NONE UINT32_MAX

/* The functions that are called: SLEEF's of one value and of four, by number. */
enum { HMI_JIT_NO_CALL, HMI_JIT_SINCOS, HMI_JIT_FIRST_CALL };
typedef struct hmi_jit_function {
    int arity;
    uint64_t one, four;
} hmi_jit_function;
enum { HMI_JIT_MOST_FUNCTIONS = 32 };
/* table_calls.c: floor, ceil and what belongs to tables. */
hmi_jit_function hmi_jit_own_function(hmi_op op);
/* Where there are more sines and cosines than this, they are called: as instructions each of them, or
 * each four of them, takes some 400 bytes. */
enum { HMI_JIT_MOST_INLINE = 64 };

/* How an operation becomes instructions. */
typedef enum hmi_jit_pattern {
    HMI_JIT_UNKNOWN,
    HMI_JIT_COPY,
    HMI_JIT_BINARY,
    HMI_JIT_SWAPPABLE,
    HMI_JIT_REVERSED, /* dst = b op a */
    HMI_JIT_SQUARE,
    HMI_JIT_CUBE,
    HMI_JIT_POWER,
    HMI_JIT_SQRT,
    HMI_JIT_NEGATE,
    HMI_JIT_ABSOLUTE,
    HMI_JIT_SIGN,
    HMI_JIT_COMPARE,
    HMI_JIT_NOT,
    HMI_JIT_LOGIC,
    HMI_JIT_SELECT,
    HMI_JIT_PRODUCT_FIRST, /* a*b op c */
    HMI_JIT_PRODUCT_LAST,  /* c op a*b */
    HMI_JIT_CALL
} hmi_jit_pattern;

typedef struct hmi_jit_row {
    uint8_t pattern, operands;
    uint8_t opcode; /* of the instruction, or the function's number */
} hmi_jit_row;
hmi_jit_row hmi_jit_row_at(uint32_t op);

typedef struct hmi_jit_node {
    uint32_t operand[3];
    uint32_t next_use[3]; /* positions after this one; HMI_JIT_NONE: the last */
    uint32_t result[2];   /* values, or HMI_JIT_NONE */
    uint32_t level;       /* calls on the longest way to it, itself included */
    hmi_jit_row row;
    int8_t exponent; /* of HMI_JIT_POWER */
} hmi_jit_node;

/* Where a value lies in memory, if it does. */
enum { HMI_JIT_NOWHERE, HMI_JIT_WORK, HMI_JIT_SPILLED, HMI_JIT_INPUT /* + kind */ };
typedef struct hmi_jit_value {
    union {
        uint32_t next_use;
        uint32_t need; /* while the order is made: the first phase that reads it */
    };
    uint32_t output; /* slot to store it to, or HMI_JIT_NONE */
    uint32_t index;  /* within its base */
    union {
        uint32_t block; /* of spilled ones that came by fours; HMI_JIT_NONE for others */
        uint32_t level; /* while the order is made: calls on the way to it */
    };
    uint8_t base;
    int8_t reg; /* -1: in none */
} hmi_jit_value;

typedef struct hmi_jit_program {
    hmi_arena arena;
    hmi_jit_node *nodes; /* as in the tape */
    uint32_t *order;     /* positions in the order of execution: which node */
    size_t node_count;
    hmi_jit_value *values;
    size_t value_count;
    uint32_t kinds; /* one bit for each kind of input that is read */
    size_t sincos_count;
    bool inline_sincos; /* those are instructions, not calls */
    bool has_calls;     /* of others */
} hmi_jit_program;

static inline const hmi_jit_node *hmi_jit_node_at(const hmi_jit_program *program, size_t position)
{
    return &program->nodes[program->order[position]];
}

/* HM_ERR_LIMIT: this tape stays with the interpreter. Release also after a failure. */
hm_status hmi_jit_program_build(hmi_jit_program *program, const hmi_tape *tape);
void hmi_jit_program_release(hmi_jit_program *program);

#endif
