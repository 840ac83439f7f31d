/* Jets: the Taylor coefficients of everything a tape computes, order by order.
 *
 * A row holds the coefficients x_0 .. x_K of one value along the motion,
 *     x(t0 + s tau) = x_0 + x_1 s + x_2 s^2 + ...      (tau: a unit of time, the caller's choice)
 * of which it holds x_0 and x_k of the order at work. At order k each instruction computes coefficient
 * k of its row from those of its operands up to k. Convolutions
 *     Sum_{j=0..k} x_j y_{k-j} = (x_0 y_k + x_k y_0) + Sum_{j=1..k-1} x_j y_{k-j}
 * have an inner sum that earlier orders have made ready: hmi_jet_begin_order finds all of them at once,
 * four convolutions side by side, before the instructions run, or a program that is all of an order (closed)
 * completes those of the next one (inner_sums.inc, handoff.c). For that every convolution has the
 * series of its x and of its y in memory, by fours: hmi_jet_hand_off adds the coefficients of an order.
 *
 * Recurrences. + - * / sqrt have their own; x^p with constant p that of Euler; everything else that
 * is smooth follows from the table's derivatives (expr/graph/ops.def), r' = r_x x' + r_y y', that is
 *     k r_k = Sum_j j x_j (r_x)_{k-j} + Sum_j j y_j (r_y)_{k-j},
 * whose right side needs r up to order k - 1 only: one line of the table is all that an operation
 * takes. What is piecewise constant (sign, comparisons) keeps its value, if takes the branch of
 * order 0.                                          [Moore 1966; Griewank & Walther 2008, ch. 13]
 *
 * Invariants
 *   1. A row is written by one instruction; rows never share their place (tapes reuse theirs).
 *   2. Rows that do not change in time have x_k = 0 for k > 0 and cost nothing beyond order 0.
 *   3. The same bits with AVX2, without, and in machine code (emit.c); with fused multiply-add where
 *      the processor has it, as in expr/graph/math.c.
 *   4. Running allocates nothing.
 * Verified: test/unit/compile/test_jet.c
 */
#ifndef HMI_COMPILE_JET_JET_H
#define HMI_COMPILE_JET_JET_H

#include "base/hash.h"
#include "compile/tape/tape.h"

enum { HMI_JET_MOST_ORDER = 40 };
/* The largest matrix of a program: its product with the sums stays in registers. */
enum { HMI_JET_MOST_MATRIX = 16 };

/* An instruction. Places are rows until hmi_jet_seal, of their pair of numbers after it. */
typedef struct hmi_jet_code {
    uint32_t op, dst, a, b, c, p, q;
    uint32_t inner; /* place of the inner sum; of a second one behind it */
} hmi_jet_code;

/* Rows that are convolved; places after hmi_jet_seal. */
typedef struct hmi_jet_pair {
    uint32_t x, y;
    uint32_t inner; /* as above */
} hmi_jet_pair;

/* Instructions of one tape: at order 0, and at every other order. */
typedef struct hmi_jet_segment {
    size_t zero_first, zero_end, first, end;
    size_t output; /* of jet->outputs: the rows of the tape's outputs */
    size_t first_source, end_source;
    const double *work; /* that they are in */
} hmi_jet_segment;

typedef struct hmi_jet_symbol {
    hmi_symbol_kind kind;
    uint32_t index, row;
} hmi_jet_symbol;

/* x' = y, of rows. */
typedef struct hmi_jet_rate {
    uint32_t row, rate;
} hmi_jet_rate;

/* sin x and cos x where x' = w has a row: then (sin x)' = w cos x and (cos x)' = -(w sin x), and the
 * products, which equations of motion have anyway, stand for the recurrence. */
typedef struct hmi_jet_sincos_by_rate {
    uint32_t sine, cosine, w;
    uint32_t by_sine, by_cosine; /* w sin x, w cos x */
} hmi_jet_sincos_by_rate;

/* Machine code of inner sums, of jet->partial: the numbers, coefficients k - 1 of the series. */
typedef void hmi_jet_inner_function(double *base, const double *series);

/* Special paths, each of which a benchmark can leave out to see what it gains. hmi_jet_init turns all
 * of them on; whoever wants it otherwise does so before adding anything. */
typedef struct hmi_jet_options {
    bool split;          /* hmi_jet_split leaves out of each half what vanishes or is done there */
    bool sincos_by_rate; /* products with a known rate stand for the recurrence of sin and cos */
    bool schedule;       /* machine code runs in an order that waits little: schedule_code.c */
    bool whole_orders;   /* one program for all of an order, its matrix included */
    bool closed;         /* such a program completes the inner sums of the next order itself */
} hmi_jet_options;

typedef struct hmi_jet {
    const hm_allocator *allocator;
    hmi_jet_options options;
    HMI_ARRAY(hmi_jet_code) zero, code;
    HMI_ARRAY(uint8_t) constant;   /* by row: does not change in time */
    HMI_ARRAY(hmi_jet_pair) pairs; /* of all convolutions */
    HMI_ARRAY(uint32_t) outputs;   /* rows */
    HMI_ARRAY(hmi_jet_symbol) symbols;
    HMI_ARRAY(uint32_t) source_row; /* rows that are read from a prepared work vector, */
    HMI_ARRAY(const double *) source;
    hmi_hash interned; /* of instructions at order 0; until hmi_jet_seal */
    HMI_ARRAY(hmi_jet_rate) rates;
    HMI_ARRAY(hmi_jet_sincos_by_rate) sincos_by_rate;
    hm_status status;
    uint32_t zero_row, one, two, minus_one;

    HMI_ARRAY(hmi_jet_code)
    moving; /* those at order 0 whose rows change in time, after hmi_jet_seal */
    double reciprocal[HMI_JET_MOST_ORDER + 3]; /* 1/k */
    int order;                                 /* K, after hmi_jet_seal */
    void *allocation;
    double *memory;  /* in it: x_0, x_k of the rows, then */
    double *scale;   /* by hmi_jet_scale, of the order at work */
    double *scales;  /* the same of all orders, */
    double unit;     /* for this unit of time */
    double *inner;   /* by pair, in blocks of four, */
    double *partial; /* what was known one order before, */
    double *ahead;   /* and part of it of the next three orders */
    double *series;  /* by four pairs: their x_1, .., x_K, then their y_1, .., y_K */
    size_t block_count;
    bool fused;   /* multiplications and additions are, as the processor can: in all three ways */
    bool vectors; /* AVX2 is there */
    hmi_machine_code inner_code;
    hmi_jet_inner_function *find_part[HMI_JET_MOST_ORDER + 1]; /* by order; NULL: no code */
} hmi_jet;

/* Numbers of an order; those of the caller are set before programs run. */
typedef enum hmi_jet_scale {
    HMI_JET_K,
    HMI_JET_INVERSE, /* 1/k */
    HMI_JET_LINK,    /* the factor of links, */
    HMI_JET_GIVEN,   /* of coefficients that are given, */
    HMI_JET_RISE,    /* and of what is taken from sums: the caller's; */
    HMI_JET_PART,    /* the bytes of jet->find_part of the next order */
    HMI_JET_SCALES = 8
} hmi_jet_scale;

void hmi_jet_init(hmi_jet *jet, const hm_allocator *allocator);
void hmi_jet_release(hmi_jet *jet);
/* Adds a tape whose prepared work vector is `work`: what the tape's prologue left there is read at
 * the start of every expansion. HM_ERR_NOMEM; release the jet then as well. */
hm_status hmi_jet_add(hmi_jet *jet, const hmi_tape *tape, const double *work,
                      hmi_jet_segment *segment);
/* The tape's work vector has moved. */
void hmi_jet_rebind(hmi_jet *jet, hmi_jet_segment *segment, const double *work);
/* The row of a symbol, made where there is none. Modes do not change in time. */
uint32_t hmi_jet_row_of(hmi_jet *jet, hmi_symbol_kind kind, uint32_t index);
/* A row without an instruction, for the caller's values. */
uint32_t hmi_jet_new_row(hmi_jet *jet, bool constant);
/* The caller wants the inner sum of these rows; before the jet is sealed. One pair follows the other in
 * jet->pairs. */
void hmi_jet_convolve(hmi_jet *jet, uint32_t x, uint32_t y);
/* Before tapes are added: x' = y of rows that are symbols, so that sines and cosines of their sums take
 * the short way of hmi_jet_sincos_by_rate. The caller then makes its links: see jet->sincos_by_rate. */
void hmi_jet_set_rate(hmi_jet *jet, uint32_t row, uint32_t rate);

/* An order in two halves: the first finds rows with the coefficients k of `late` ones taken as 0, from
 * which the caller finds these; the second completes all rows. */
typedef struct hmi_jet_halves {
    const uint32_t *late; /* rows: see above */
    size_t late_count;
    size_t from_zero;               /* so many of them, the last, are 0 at order 0 */
    const uint32_t *first, *second; /* rows wanted of the first half, and in the end */
    size_t first_count, second_count;
    bool *vanishes; /* first_count: the row's coefficients are 0 */
} hmi_jet_halves;

/* Of all tapes; instructions that nobody wants are left out. Before rows are convolved. The first half has
 * instructions at order 0 too: they come after those of the tapes. */
hm_status hmi_jet_split(hmi_jet *jet, const hmi_jet_halves *halves, hmi_jet_segment *first,
                        hmi_jet_segment *second);

/* Lays out memory for orders up to K; nothing can be added after it. */
hm_status hmi_jet_seal(hmi_jet *jet, int order);

/* Zeroes all coefficients: before the first expansion, and after one that was not finite. */
void hmi_jet_clear(hmi_jet *jet);
/* Reads the sources. */
void hmi_jet_begin(hmi_jet *jet);
/* Order 0 of all segments where sources are what they were: rows that change in time. */
void hmi_jet_run_moving(const hmi_jet *jet);
/* Before series with x' = y for x_{k+1} = tau/(k+1) y_k, coefficients that are given a_{k-1} tau/k, and rates
 * k/tau: jet->scales, for hmi_jet_execute_orders. */
void hmi_jet_set_unit(hmi_jet *jet, double tau);
/* Before anything else of order k >= 1. */
void hmi_jet_begin_order(const hmi_jet *jet, int k);
/* One order of one segment. Orders from 0 upwards; operands that are symbols are the caller's. */
void hmi_jet_run(const hmi_jet *jet, const hmi_jet_segment *segment, int k);

/* Coefficient k of the order at work (or 0). */
static inline double hmi_jet_get(const hmi_jet *jet, uint32_t row, int k)
{
    return jet->memory[2 * (size_t)row + (k > 0)];
}

static inline void hmi_jet_put(const hmi_jet *jet, uint32_t row, int k, double x)
{
    jet->memory[2 * (size_t)row + (k > 0)] = x;
}

#define HMI_JET_NO_PLACE UINT32_MAX

/* Sums over pairs of rows, as right sides of linear equations have them: of list l
 *     out[l] = value_k - Sum over pairs of Sum_{j=1..k} x_j y_{k-j} - w_k - rise z_k,   k >= 1. */
typedef struct hmi_jet_list {
    uint32_t first, end; /* of jet->pairs */
    uint32_t value;      /* a place, as those of the pairs */
    uint32_t less, rise; /* the places of w and z; HMI_JET_NO_PLACE: none */
} hmi_jet_list;

void hmi_jet_sums(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, double *out);

static inline uint32_t hmi_jet_place(const hmi_jet *jet, uint32_t row)
{
    (void)jet;
    return 2 * row;
}

/* x_{k+1} of a row from y_k of another: the caller's factor times it, for x' = y. */
typedef enum hmi_jet_link_kind {
    HMI_JET_RATE_LINK,
    HMI_JET_MINUS_LINK, /* x' = -y */
    HMI_JET_COPY_LINK   /* x_{k+1} = y_k */
} hmi_jet_link_kind;

typedef struct hmi_jet_link {
    uint32_t row; /* HMI_JET_NO_PLACE: none */
    uint32_t source;
    uint32_t at; /* where in `next` it goes as well; HMI_JET_NO_PLACE: nowhere */
    hmi_jet_link_kind kind;
} hmi_jet_link;

/* Machine code: the numbers, coefficients k of the series, and hmi_jet_ends; where there is a matrix the
 * numbers of the order instead of values. */
typedef void hmi_jet_function(double *base, double *series, double *values, double *next,
                              const double *matrix, double *now);

/* What is done at an order above 0, in this order: the instructions of a segment, sums, a matrix times
 * the sums, coefficients that are given (by that or by the caller), a second segment, keeping, links. As machine code where there can be some: see emit.c. */
typedef struct hmi_jet_program {
    const hmi_jet_segment *segment; /* NULL: none */
    const hmi_jet_list *lists;
    size_t list_count;
    size_t matrix_size;    /* of a square matrix, by columns in blocks of four; 0: none */
    const uint32_t *given; /* rows; those from `negated` on get the opposite of what is given, */
    size_t given_count, negated;
    bool scaled; /* those before it the caller's factor times it, stored in `now` too */
    const hmi_jet_segment *second; /* NULL: none */
    bool handoff; /* append coefficient k of every convolution to its series: hmi_jet_hand_off */
    const hmi_jet_link *links;
    size_t link_count;
    bool
        closed; /* for hmi_jet_execute_orders only: it completes the inner sums of the next order, and
                  * leaves in memory only coefficients that the next order reads */
    bool links_apart; /* a link reads what another writes: not in machine code */
    hmi_machine_code code;
    hmi_jet_function *entry; /* of the code; NULL: none */
} hmi_jet_program;

/* Of a sealed jet, whose inner sums become machine code too; no code is no failure. */
hm_status hmi_jet_compile(hmi_jet *jet, hmi_jet_program *program);
void hmi_jet_program_release(hmi_jet_program *program);
/* What a program reads and writes besides the jet. */
typedef struct hmi_jet_ends {
    double *values;       /* the sums, or what is given; in blocks of four */
    double *next;         /* what links made */
    double *now;          /* what was given, scaled */
    double *scratch;      /* one for each link */
    const double *matrix; /* programs with one have no other way to run than machine code */
} hmi_jet_ends;

/* The part of a program that puts coefficients which are given. */
void hmi_jet_give(const hmi_jet *jet, const hmi_jet_program *program, const hmi_jet_ends *ends);
/* The same without machine code, or what is left to do after it. */
void hmi_jet_execute_interpreted(const hmi_jet *jet, const hmi_jet_program *program, int k,
                                 const hmi_jet_ends *ends);
/* Order k >= 1. */
static inline void hmi_jet_execute(const hmi_jet *jet, const hmi_jet_program *program, int k,
                                   const hmi_jet_ends *ends)
{
    if (program->entry)
        program->entry(jet->memory, jet->series + 4 * (k - 1),
                       program->matrix_size ? jet->scale : ends->values, ends->next, ends->matrix,
                       ends->now);
    if (!program->entry || program->links_apart)
        hmi_jet_execute_interpreted(jet, program, k, ends);
}

/* Can a program run on its own, order after order? */
static inline bool hmi_jet_runs_orders(const hmi_jet *jet, const hmi_jet_program *program)
{
    return program->entry && program->closed && jet->find_part[1];
}

/* Before order 1 of such a program. */
void hmi_jet_begin_orders(const hmi_jet *jet);
/* Orders first .. end - 1 of it; the inner sums of order `end` are made too. ends are those of the first, and
 * of the others `width` further. */
void hmi_jet_execute_orders(const hmi_jet *jet, const hmi_jet_program *program, int first, int end,
                            const hmi_jet_ends *ends, size_t width);

#endif
