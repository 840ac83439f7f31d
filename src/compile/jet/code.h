/* The instructions of jets at orders above 0, and what the files of this folder call of each other:
 * build.c writes them, interpreter.c runs them, emit.c makes machine code of them.
 *
 * p and q are rows that do not change in time. Sums of every shape are one instruction, with 1, -1 or 0
 * where a factor is missing, and so are products. Runs of equal instructions are long that way, and the
 * interpreter pays for a jump to the next kind once per run only.
 */
#ifndef HMI_COMPILE_JET_CODE_H
#define HMI_COMPILE_JET_CODE_H

#include "compile/jet/jet.h"

#define HMI_JET_CODES(X)                                                                           \
    X(SCALED)        /* p a */                                                                     \
    X(LINEAR)        /* p a + q c */                                                               \
    X(LINEAR_SUB)    /* q c - p a */                                                               \
    X(TIMES)         /* a b */                                                                     \
    X(PRODUCT)       /* p (a b) + q c */                                                           \
    X(HALF)          /* a b, the coefficient of b being 0 */                                       \
    X(HALF_PRODUCT)  /* p (a b) + q c, likewise */                                                 \
    X(INNER)         /* a b, of which the inner sum alone is left */                               \
    X(INNER_PRODUCT) /* p (a b) + q c, likewise */                                                 \
    X(DIV)           /* a / b */                                                                   \
    X(DIV_CONST)     /* a / b, b constant */                                                       \
    X(CONST_DIV)     /* a / b, a constant */                                                       \
    X(SQRT)                                                                                        \
    X(POWER)     /* a^b, b constant, c: the rate of a */                                           \
    X(RATE)      /* k a_k: coefficients of s a' */                                                 \
    X(SINCOS)    /* dst = sin, c = cos of the value whose rate is a */                             \
    X(CHAIN)     /* r' = a' b, a: the rate */                                                      \
    X(CHAIN_ADD) /* r' = (what it was) + a' b */                                                   \
    X(SELECT)    /* a ? b : c */

typedef enum hmi_jet_op {
#define X(name) HMI_JET_##name,
    HMI_JET_CODES(X)
#undef X
        HMI_JET_OPS
} hmi_jet_op;

/* The op of an instruction that is left out, and of the mark that ends the last run. */
#define HMI_JET_NOTHING UINT32_MAX

/* Operations at order 0: those of tapes, and these. A rate has no value at order 0. */
enum {
    HMI_JET_RATE_OF = HMI_TAPE_FIRST_OF_TABLE + HMI_OP_COUNT,
    HMI_JET_RECIPROCAL,     /* 1/a: quotients are products with it */
    HMI_JET_HALF_RECIPROCAL /* 1/(2 a), for roots */
};

/* ---- intern.c ---- */

/* The row of an instruction at order 0; *known tells whether there was one already. */
uint32_t hmi_jet_intern(hmi_jet *jet, uint32_t op, uint32_t a, uint32_t b, uint32_t c,
                        bool constant, bool *known);

/* ---- build.c ---- */

/* Is the operation piecewise constant, so that its row does not change in time? */
bool hmi_jet_is_flat(hmi_op op);
/* The row of an operation. */
uint32_t hmi_jet_apply(hmi_jet *jet, hmi_op op, uint32_t x, uint32_t y, uint32_t z);

/* ---- sincos_by_rate.c ---- */

/* Makes the products w sin x and w cos x; false where x has no rate among the rows. */
bool hmi_jet_make_sincos_by_rate(hmi_jet *jet, uint32_t x, uint32_t sine, uint32_t cosine);
/* Is x y one of those products, so that it has to have a row? */
bool hmi_jet_is_rate_product(const hmi_jet *jet, uint32_t x, uint32_t y);

/* ---- schedule.c ---- */

/* Puts the instructions from `first` on into the order in which they run, and asks for their inner
 * sums. */
void hmi_jet_schedule(hmi_jet *jet, size_t first);
/* The rows whose coefficients of the same order an instruction reads; returns how many. */
size_t hmi_jet_operands(const hmi_jet_code *code, uint32_t rows[3]);
/* The rows that its inner sums convolve, in the order in which interpreter.c reads them; returns how
 * many sums there are. */
size_t hmi_jet_factors(const hmi_jet_code *code, hmi_jet_pair pair[2]);
/* Asks for these sums. */
void hmi_jet_convolve_code(hmi_jet *jet, hmi_jet_code *code);

/* ---- jet.c ---- */

/* How many doubles lie before the inner sums in jet->memory. */
size_t hmi_jet_doubles_of_rows(const hmi_jet *jet);

/* ---- inner_sums.inc, inner_sums_code.c ---- */

/* The first order k whose sums are made together with those of k + 1, k + 2 and k + 3. Below it the same
 * product would be added from both ends. */
enum { HMI_JET_FIRST_FOUR = 6 };
/* With more blocks than this, C does as well as machine code. */
enum { HMI_JET_MOST_BLOCKS = 64 };
/* Machine code that forms jet->partial, where there can be any. */
hm_status hmi_jet_compile_inner(hmi_jet *jet);

/* ---- interpreter.c ---- */

/* Runs a segment at an order above 0. */
void hmi_jet_interpret(const hmi_jet *jet, const hmi_jet_segment *segment);

#endif
