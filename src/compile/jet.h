/* Jets: the Taylor coefficients of everything a tape computes, order by order.
 *
 * A row holds the coefficients x_0 .. x_K of one value along the motion,
 *     x(t0 + s tau) = x_0 + x_1 s + x_2 s^2 + ...      (tau: a unit of time, the caller's choice)
 * as a pair of numbers, x_0 and x_k of the order at work, and a series: zeros, x_1 .. x_K. Every
 * convolution is a product of two contiguous vectors, one read backwards, and its last block needs
 * no mask. At order k each instruction computes coefficient k of its row from those of its operands
 * up to k; when all are done hmi_jet_keep writes them into the series (not before: a vector must not
 * be loaded just after one of its numbers was stored, processors wait for that).
 *
 * Recurrences. + - * / sqrt have their own; x^p with constant p that of Euler; everything else that
 * is smooth follows from the table's derivatives (expr/ops.def), r' = r_x x' + r_y y', that is
 *     k r_k = Sum_j j x_j (r_x)_{k-j} + Sum_j j y_j (r_y)_{k-j},
 * whose right side needs r up to order k - 1 only: one line of the table is all that an operation
 * takes. What is piecewise constant (sign, comparisons) keeps its value, if takes the branch of
 * order 0.                                          [Moore 1966; Griewank & Walther 2008, ch. 13]
 *
 * Invariants
 *   1. A row is written by one instruction; rows never share their place (tapes reuse theirs).
 *   2. Rows that do not change in time have x_k = 0 for k > 0 and cost nothing beyond order 0.
 *   3. Sums have four partial sums on every machine: the same bits with AVX2 and without.
 *   4. Running allocates nothing.
 * Verified: test/unit/compile/test_jet.c
 */
#ifndef HMI_COMPILE_JET_H
#define HMI_COMPILE_JET_H

#include "compile/tape.h"

enum { HMI_JET_MOST_ORDER = 40 };

/* An instruction. Places are rows until hmi_jet_seal, of their pair of numbers after it. */
typedef struct hmi_jet_code {
    uint32_t op, dst, a, b, c, p, q;
} hmi_jet_code;

/* Instructions of one tape: at order 0, and at every other order. */
typedef struct hmi_jet_segment {
    size_t zero_first, zero_end, first, end;
    size_t output; /* of jet->outputs: the rows of the tape's outputs */
} hmi_jet_segment;

typedef struct hmi_jet_symbol {
    hmi_symbol_kind kind;
    uint32_t index, row;
} hmi_jet_symbol;

typedef struct hmi_jet {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_jet_code) zero, code;
    HMI_ARRAY(uint8_t) constant; /* by row: does not change in time */
    HMI_ARRAY(uint8_t) wanted;   /* by row: its series is read */
    HMI_ARRAY(uint32_t) outputs; /* rows */
    HMI_ARRAY(hmi_jet_symbol) symbols;
    HMI_ARRAY(uint32_t) source_row; /* rows that are read from a prepared work vector, */
    HMI_ARRAY(const double *) source;
    HMI_ARRAY(uint32_t) table; /* of instructions at order 0, + 1, open addressing */
    hm_status status;
    uint32_t zero_row, one, two, minus_one;

    int order;                  /* K, after hmi_jet_seal */
    size_t stride;              /* doubles of a series */
    double *series;             /* x_1 of row 0, in memory behind the pairs */
    HMI_ARRAY(uint32_t) moving; /* rows with a series to be kept */
    double *memory;
    bool vectors; /* AVX2 is there */
} hmi_jet;

void hmi_jet_init(hmi_jet *jet, const hm_allocator *allocator);
void hmi_jet_release(hmi_jet *jet);
/* Adds a tape whose prepared work vector is `work`: what the tape's prologue left there is read at
 * the start of every expansion. HM_ERR_NOMEM; release the jet then as well. */
hm_status hmi_jet_add(hmi_jet *jet, const hmi_tape *tape, const double *work,
                      hmi_jet_segment *segment);
/* The row of a symbol, made where there is none. Modes do not change in time. */
uint32_t hmi_jet_row_of(hmi_jet *jet, hmi_symbol_kind kind, uint32_t index);
/* A row without an instruction, for the caller's values. */
uint32_t hmi_jet_new_row(hmi_jet *jet, bool constant);
/* The caller will read the series of this row (hmi_jet_sums). */
void hmi_jet_want(hmi_jet *jet, uint32_t row);
/* Lays out memory for orders up to K; nothing can be added after it. */
hm_status hmi_jet_seal(hmi_jet *jet, int order);

/* Zeroes all coefficients: before the first expansion, and after one that was not finite. */
void hmi_jet_clear(hmi_jet *jet);
/* Reads the sources. */
void hmi_jet_begin(hmi_jet *jet);
/* One order of one segment. Orders from 0 upwards; operands that are symbols are the caller's. */
void hmi_jet_run(const hmi_jet *jet, const hmi_jet_segment *segment, int k);
/* After all segments of order k >= 1. */
void hmi_jet_keep(const hmi_jet *jet, int k);

/* Coefficient k of the order at work (or 0). */
static inline double hmi_jet_get(const hmi_jet *jet, uint32_t row, int k)
{
    return jet->memory[2 * (size_t)row + (k > 0)];
}

static inline void hmi_jet_put(const hmi_jet *jet, uint32_t row, int k, double x)
{
    jet->memory[2 * (size_t)row + (k > 0)] = x;
}

/* Sums over pairs of rows, as right sides of linear equations have them: of list l
 *     out[l] = value_k - Sum over pairs of Sum_{j=1..k} x_j y_{k-j},   k >= 1.
 * value, x and y are places in memory: see hmi_jet_place. */
typedef struct hmi_jet_pair {
    uint32_t x, y;
} hmi_jet_pair;

typedef struct hmi_jet_list {
    const hmi_jet_pair *first, *end;
    uint32_t value;
} hmi_jet_list;

void hmi_jet_sums(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, int k, double *out);

static inline uint32_t hmi_jet_place(const hmi_jet *jet, uint32_t row)
{
    (void)jet;
    return 2 * row;
}

#endif
