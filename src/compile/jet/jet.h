/* Jets: the Taylor coefficients of everything a tape computes, order by order.
 *
 * The idea. Along the motion every value of a tape is a power series
 *     x(t0 + s tau) = x_0 + x_1 s + x_2 s^2 + ...      (tau is a unit of time that the caller chooses)
 * and coefficient k of a result follows from the coefficients of its operands up to order k. Each
 * value has a row, which holds two numbers only: x_0, and x_k of the order at work. Everything older
 * enters through convolutions,
 *     Sum_{j=0..k} x_j y_{k-j} = (x_0 y_k + x_k y_0) + Sum_{j=1..k-1} x_j y_{k-j},
 * whose inner sum depends on earlier orders alone. The two factors of a convolution are a pair; the
 * series of all pairs lie in memory in blocks of four, and their inner sums are formed four pairs at a
 * time before the instructions of an order run (inner_sums.inc). At the end of an order the new
 * coefficients are appended to these series: that is the handoff.
 *
 * Recurrences. Sums, products, quotients and square roots have their own, and so has x^p with constant
 * p [Euler]. Every other smooth operation uses its derivatives in the table (expr/graph/ops.def):
 * r' = r_x x' + r_y y', that is
 *     k r_k = Sum_j j x_j (r_x)_{k-j} + Sum_j j y_j (r_y)_{k-j},
 * whose right side needs r up to order k - 1 only. One line of the table is therefore all that a new
 * operation takes. Operations that are piecewise constant (sign, comparisons) keep their value, and
 * `if` takes the branch that it took at order 0.    [Moore 1966; Griewank & Walther 2008, ch. 13]
 *
 * Coefficients are divided by k, not multiplied by a rounded 1/k: the error of 1/3 would be made with the
 * same sign in every step, and long motions would gain or lose energy in proportion to time.
 *
 * How a jet is used. The caller adds tapes (hmi_jet_add) and rows of its own, asks for the inner sums
 * that its own equations need (hmi_jet_convolve), seals the jet, and describes what happens at an order
 * above 0 as one or more programs (hmi_jet_program): instructions, sums, a matrix times the sums,
 * coefficients that are given, more instructions, the handoff, and links x' = y from one order to the
 * next. A program runs through the interpreter or as machine code, with the same bits. The series of
 * the motion (integrate/taylor) are built this way.
 *
 * Special paths. Each of them can be left out (hmi_jet_options), so that benchmarks show its worth.
 *   split           Where a linear solve stands in the middle of an order, the instructions fall into
 *                   two halves, before and after it, each without what vanishes there (split.c).
 *   sincos by rate  Where x' = w has a row, sin x and cos x follow from the products w sin x and
 *                   w cos x, which equations of motion contain anyway (sincos_by_rate.c).
 *   whole orders    One program does all of an order, the multiplication by the inverse included.
 *   closed          Such a program also completes the inner sums of the next order, and leaves in
 *                   memory only what that order reads (handoff.c).
 *
 * Invariants (verify.h executes them)
 *   1. A row is written by one instruction; rows never share their place (tapes reuse theirs).
 *   2. Rows that do not change in time have x_k = 0 for k > 0 and cost nothing beyond order 0.
 *   3. The bits are the same with AVX2, without it, and in machine code (emit.c). Multiplication and
 *      addition are fused where the processor can do that, as in expr/graph/math.c.
 *   4. Running allocates nothing.
 * Verified: test/unit/compile/test_jet.c, test/unit/integrate/test_jet_options.c
 */
#ifndef HMI_COMPILE_JET_JET_H
#define HMI_COMPILE_JET_JET_H

#include "base/hash.h"
#include "compile/tape/tape.h"

enum { HMI_JET_MOST_ORDER = 40 };
/* The largest matrix of a program: its product with the sums stays in registers. */
enum { HMI_JET_MOST_MATRIX = 16 };

/* An instruction. Its operands are rows until hmi_jet_seal, and from then on the places of their two
 * numbers in memory. */
typedef struct hmi_jet_code {
    uint32_t op, dst, a, b, c, p, q;
    uint32_t inner; /* the place of its inner sum; a second one lies behind it */
} hmi_jet_code;

/* Two rows that are convolved: rows or places, as above. */
typedef struct hmi_jet_pair {
    uint32_t x, y;
    uint32_t inner; /* the place of their inner sum */
} hmi_jet_pair;

/* Instructions of one tape: at order 0, and at every other order. */
typedef struct hmi_jet_segment {
    size_t zero_first, zero_end, first, end;
    size_t output; /* of jet->outputs: the rows of the tape's outputs */
    size_t first_source, end_source;
    const double *work; /* the work vector that the sources are read from */
} hmi_jet_segment;

typedef struct hmi_jet_symbol {
    hmi_symbol_kind kind;
    uint32_t index, row;
} hmi_jet_symbol;

/* x' = y, of rows. */
typedef struct hmi_jet_rate {
    uint32_t row, rate;
} hmi_jet_rate;

/* sin x and cos x where x' = w has a row: (sin x)' = w cos x and (cos x)' = -(w sin x). The products,
 * which equations of motion contain anyway, take the place of the recurrence. */
typedef struct hmi_jet_sincos_by_rate {
    uint32_t sine, cosine, w;
    uint32_t by_sine, by_cosine; /* w sin x, w cos x */
} hmi_jet_sincos_by_rate;

/* Machine code that forms jet->partial. Arguments: jet->memory, and the series at coefficient k - 1. */
typedef void hmi_jet_inner_function(double *base, const double *series);

/* Special paths, each of which a benchmark can leave out to see what it gains. hmi_jet_init turns all
 * of them on; whoever wants it otherwise does so before adding anything. */
typedef struct hmi_jet_options {
    bool split;          /* hmi_jet_split leaves out of each half what vanishes or is done there */
    bool sincos_by_rate; /* products with a known rate stand for the recurrence of sin and cos */
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
    HMI_ARRAY(uint32_t) source_row;   /* rows that are read from a prepared work vector, */
    HMI_ARRAY(const double *) source; /* and where each of them is there */
    hmi_hash interned;                /* of instructions at order 0; until hmi_jet_seal */
    HMI_ARRAY(hmi_jet_rate) rates;
    HMI_ARRAY(hmi_jet_sincos_by_rate) sincos_by_rate;
    hm_status status;
    uint32_t zero_row, one, two, minus_one;

    /* From hmi_jet_seal on. Moving: the instructions of order 0 whose rows change in time. */
    HMI_ARRAY(hmi_jet_code) moving;
    int order; /* K */
    void *allocation;
    double *memory;  /* within the allocation: x_0 and x_k of the rows, then */
    double *scale;   /* numbers of the order at work, by hmi_jet_scale */
    double *scales;  /* the same for all orders, */
    double unit;     /* in this unit of time */
    double *inner;   /* inner sums, by pair in blocks of four, */
    double *partial; /* the part of them that was known one order before, */
    double *ahead;   /* and what is known already for the next three orders */
    double *series;  /* for each four pairs their x_1, .., x_K, then their y_1, .., y_K */
    size_t block_count;
    bool fused;   /* products and sums are rounded once, however the jet runs */
    bool vectors; /* AVX2 is there */
    hmi_machine_code inner_code;
    hmi_jet_inner_function *find_part[HMI_JET_MOST_ORDER + 1]; /* by order; NULL: no code */
} hmi_jet;

/* Numbers that belong to an order. The caller sets its own before programs run. */
typedef enum hmi_jet_scale {
    HMI_JET_K,
    HMI_JET_LINK,  /* the caller's divisor of links, */
    HMI_JET_GIVEN, /* of coefficients that are given, */
    HMI_JET_RISE,  /* and factor of z in hmi_jet_list */
    HMI_JET_PART,  /* not a number: the address of jet->find_part of the next order */
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
/* The row of a symbol; it is made where there is none. Branches that are held do not change in time. */
uint32_t hmi_jet_row_of(hmi_jet *jet, hmi_symbol_kind kind, uint32_t index);
/* A row without an instruction, for the caller's values. */
uint32_t hmi_jet_new_row(hmi_jet *jet, bool constant);
/* Asks for the inner sum of these rows, before the jet is sealed. Pairs follow each other in
 * jet->pairs in the order of the calls. */
void hmi_jet_convolve(hmi_jet *jet, uint32_t x, uint32_t y);
/* Says, before tapes are added, that x' = y for rows of symbols. Sines and cosines of their sums then
 * take the short way of hmi_jet_sincos_by_rate, and the caller makes links from its products to them
 * for everything in jet->sincos_by_rate. */
void hmi_jet_set_rate(hmi_jet *jet, uint32_t row, uint32_t rate);

/* An order in two halves. The first computes rows as if the coefficients k of the `late` rows were 0;
 * from them the caller finds the late coefficients; the second half completes all rows. */
typedef struct hmi_jet_halves {
    const uint32_t *late; /* rows */
    size_t late_count;
    size_t from_zero;               /* the last so many of them are 0 at order 0 */
    const uint32_t *first, *second; /* rows that are wanted of the first half, and in the end */
    size_t first_count, second_count;
    bool *vanishes; /* first_count, set by hmi_jet_split: the row's coefficients are 0 there */
} hmi_jet_halves;

/* Splits the instructions of all tapes, and leaves out those that nobody wants. Called before rows are
 * convolved. The first half has instructions at order 0 too, which run after those of the tapes. */
hm_status hmi_jet_split(hmi_jet *jet, const hmi_jet_halves *halves, hmi_jet_segment *first,
                        hmi_jet_segment *second);

/* Lays out memory for orders up to K; nothing can be added after it. */
hm_status hmi_jet_seal(hmi_jet *jet, int order);

/* Zeroes all coefficients; called before the first expansion, and after one that was not finite. */
void hmi_jet_clear(hmi_jet *jet);
/* Reads the sources; called when parameters have changed. */
void hmi_jet_begin(hmi_jet *jet);
/* Order 0 of all segments, for rows that change in time; enough where the sources are what they were. */
void hmi_jet_run_moving(const hmi_jet *jet);
/* Fills jet->scales for hmi_jet_execute_orders: links x_{k+1} = tau/(k+1) y_k, given coefficients times
 * tau/k, rates k/tau. */
void hmi_jet_set_unit(hmi_jet *jet, double tau);
/* Called before anything else of order k >= 1: forms the inner sums. */
void hmi_jet_begin_order(const hmi_jet *jet, int k);
/* One order of one segment, orders from 0 upwards. The caller puts the coefficients of symbols first. */
void hmi_jet_run(const hmi_jet *jet, const hmi_jet_segment *segment, int k);

/* Coefficient k, which is 0 or the order at work. */
static inline double hmi_jet_get(const hmi_jet *jet, uint32_t row, int k)
{
    return jet->memory[2 * (size_t)row + (k > 0)];
}

static inline void hmi_jet_put(const hmi_jet *jet, uint32_t row, int k, double x)
{
    jet->memory[2 * (size_t)row + (k > 0)] = x;
}

#define HMI_JET_NO_PLACE UINT32_MAX

/* A sum over pairs of rows, as right sides of linear equations have them. For list l
 *     out[l] = value_k - Sum over pairs of Sum_{j=1..k} x_j y_{k-j} - w_k - rise z_k,   k >= 1. */
typedef struct hmi_jet_list {
    uint32_t first, end; /* of jet->pairs */
    uint32_t value;      /* the place of the row that is summed up to */
    uint32_t less, rise; /* the places of w and z; HMI_JET_NO_PLACE: none */
} hmi_jet_list;

void hmi_jet_sums(const hmi_jet *jet, const hmi_jet_list *lists, size_t count, double *out);

static inline uint32_t hmi_jet_place(const hmi_jet *jet, uint32_t row)
{
    (void)jet;
    return 2 * row;
}

/* A link makes x_{k+1} of one row from y_k of another: for x' = y it is the caller's factor times y_k. */
typedef enum hmi_jet_link_kind {
    HMI_JET_RATE_LINK,
    HMI_JET_MINUS_LINK, /* x' = -y */
    HMI_JET_COPY_LINK   /* x_{k+1} = y_k */
} hmi_jet_link_kind;

typedef struct hmi_jet_link {
    uint32_t row; /* HMI_JET_NO_PLACE: none */
    uint32_t source;
    uint32_t at; /* where it goes in `next` as well; HMI_JET_NO_PLACE: nowhere */
    hmi_jet_link_kind kind;
} hmi_jet_link;

/* Machine code of a program. Arguments: jet->memory, the series at coefficient k, and hmi_jet_ends;
 * where there is a matrix the numbers of the order (jet->scales) take the place of values. */
typedef void hmi_jet_function(double *base, double *series, double *values, double *next,
                              const double *matrix, double *now);

/* What is done at an order above 0, in this sequence: the instructions of a segment, sums, a matrix
 * times the sums, coefficients that are given (by that product or by the caller), the instructions of a
 * second segment, the handoff, links. */
typedef struct hmi_jet_program {
    const hmi_jet_segment *segment; /* NULL: none */
    const hmi_jet_list *lists;
    size_t list_count;
    size_t matrix_size; /* of a square matrix, by columns in blocks of four; 0: none */
    /* Rows that get the given coefficients. Those from `negated` on get the opposite; with `scaled` those
     * before it get the caller's factor times the coefficient, which is stored in `now` too. */
    const uint32_t *given;
    size_t given_count, negated;
    bool scaled;
    const hmi_jet_segment *second; /* NULL: none */
    bool handoff;                  /* coefficients k of all pairs are appended to their series */
    const hmi_jet_link *links;
    size_t link_count;
    /* For hmi_jet_execute_orders only: the program completes the inner sums of the next order, and leaves
     * in memory only coefficients that the next order reads. hmi_jet_compile clears it where it cannot
     * be done. */
    bool closed;
    bool
        links_apart; /* a link reads what another writes, so that links are not in the machine code */
    hmi_machine_code code;
    hmi_jet_function *entry; /* NULL: the interpreter runs the program */
} hmi_jet_program;

/* Makes machine code of a program of a sealed jet, and of the jet's inner sums. Where there can be none
 * that is no failure. */
hm_status hmi_jet_compile(hmi_jet *jet, hmi_jet_program *program);
void hmi_jet_program_release(hmi_jet_program *program);
/* What a program reads and writes besides the jet. */
typedef struct hmi_jet_ends {
    double *values;       /* the sums, or the coefficients that are given, in blocks of four */
    double *next;         /* what links made */
    double *now;          /* given coefficients after scaling */
    double *scratch;      /* one for each link */
    const double *matrix; /* programs that have one run as machine code only */
} hmi_jet_ends;

/* The step of a program that puts the given coefficients. */
void hmi_jet_give(const hmi_jet *jet, const hmi_jet_program *program, const hmi_jet_ends *ends);
/* The whole program without machine code; or, after machine code, the links that are apart. */
void hmi_jet_execute_interpreted(const hmi_jet *jet, const hmi_jet_program *program, int k,
                                 const hmi_jet_ends *ends);
/* Runs a program at order k >= 1. */
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

/* Is it a closed program, which runs on its own order after order? */
static inline bool hmi_jet_runs_orders(const hmi_jet *jet, const hmi_jet_program *program)
{
    return program->entry && program->closed && jet->find_part[1];
}

/* Called before order 1 of such a program. */
void hmi_jet_begin_orders(const hmi_jet *jet);
/* Orders first .. end - 1 of it; the inner sums of order `end` are formed too. `ends` belong to the first
 * order; those of each further order lie `width` doubles behind. */
void hmi_jet_execute_orders(const hmi_jet *jet, const hmi_jet_program *program, int first, int end,
                            const hmi_jet_ends *ends, size_t width);

#endif
