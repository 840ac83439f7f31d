/* Private to expr/normal: exact coefficients, polynomials over atoms, fractions.
 *
 * An expression is turned into a fraction of polynomials, simplified as such, and turned back. The
 * files are layers, and the sections below follow them; each calls only those before it.
 *
 *     session      memory, limits, what is known of each expression
 *     length       how long an expression is in print
 *     coefficient  ratios of 64-bit integers
 *     poly, gcd    sums of monomials, their exact division and common divisors
 *     identity     atoms (what a polynomial is made of) and sin^2 + cos^2 = 1
 *     fraction     a numerator over known divisors
 *     display      a fraction as the shortest expression (with sign, factor, angle_sums, exponentials)
 *     choose       that, or the expression as it was, or partly collected
 *     convert      an expression as a fraction, operands first
 *     normal       the normal form: the best one, built as one tree for one formula
 *
 * There is one recursion between files, display -> angle_sums (and exponentials) -> display: joining
 * cos a cos b + sin a sin b makes a new function, whose argument a - b has to be displayed.
 *
 * An atom is an expression that polynomials do not look into: a symbol, sin of something, or a sum
 * that divides (a `divisor`, which may have no expression yet). Functions of equal arguments are
 * one atom because their arguments are first brought to their best form; this is why convert calls
 * choose, and display, for what is below a function.
 *
 * Everything lives in the session's arena and is never changed once made. A function that returns
 * a pointer returns NULL when it fails and takes NULL operands, passing the failure on; why is in
 * the session: `status` (no memory) or `exceeded` (too long, too much work, coefficients beyond
 * 64 bits). A limit that was exceeded while something was merely tried is forgiven
 * (hmi_normal_forgive); the attempt then just has no result.
 */
#ifndef HMI_EXPR_NORMAL_POLY_H
#define HMI_EXPR_NORMAL_POLY_H

#include "expr/normal/normal.h"

enum {
    HMI_MOST_TERMS = 500,       /* of one polynomial */
    HMI_MOST_WORK = 1000000,    /* term operations in one call, */
    HMI_LEAST_WORK = 100000,    /* in a hurry */
    HMI_MOST_POWER = 64,        /* a higher whole power is an atom */
    HMI_MOST_DISPLAYED = 5000,  /* nodes of an expression worth normalising */
    HMI_NORMAL_MOST_DEPTH = 40, /* of alternating sums and products */
};

/* numerator/denominator in lowest terms, denominator > 0. `decimal`: something written with a
 * decimal point went into it, and it is shown that way if possible. */
typedef struct hmi_coefficient {
    int64_t n, d;
    bool decimal;
} hmi_coefficient;

typedef struct hmi_factor {
    uint32_t atom;
    int32_t power; /* never 0 */
} hmi_factor;

/* Factors ascend by atom. */
typedef struct hmi_monomial {
    const hmi_factor *factors;
    uint32_t count;
} hmi_monomial;

typedef struct hmi_poly_term {
    hmi_coefficient coefficient; /* never 0 */
    hmi_monomial monomial;
} hmi_poly_term;

/* Terms descend lexicographically (the highest power of the first atom leads): an order that
 * multiplication by a monomial keeps. Powers may be negative. No terms: zero. */
typedef struct hmi_poly {
    const hmi_poly_term *terms;
    uint32_t count;
} hmi_poly;

/* numerator / product of divisors. Divisors are atoms that have a `divisor` polynomial: primitive,
 * at least two terms; a monomial divisor is in the numerator's negative powers. */
typedef struct hmi_fraction {
    const hmi_poly *numerator;
    hmi_monomial divisors; /* powers > 0 */
} hmi_fraction;

typedef struct hmi_atom {
    hmi_expr e;                   /* HMI_NONE for a divisor that was not displayed yet */
    bool negated;                 /* a divisor is shown as -e */
    const hmi_fraction *argument; /* of sin, cos, sinh, cosh */
    const hmi_poly *square;       /* of sqrt(u), abs(u), hypot: what atom^2 is */
    const hmi_poly *divisor;      /* a sum that divides; then it is only found in `divisors` */
} hmi_atom;

/* How long something is in print: symbols and operators, and brackets by how deep they nest. */
typedef struct hmi_length {
    uint32_t cost;
    uint16_t nesting;   /* of brackets inside */
    uint16_t quotients; /* inside */
} hmi_length;

/* What stands in brackets: two more, and more yet the harder it is to take in at a glance. */
static inline hmi_length hmi_in_brackets(hmi_length a)
{
    a.cost += 2u + 3u * a.nesting + a.quotients;
    a.nesting += a.nesting < UINT16_MAX;
    return a;
}

static inline hmi_length hmi_length_add(hmi_length a, hmi_length b)
{
    uint64_t cost = (uint64_t)a.cost + b.cost;
    uint32_t quotients = (uint32_t)a.quotients + b.quotients;
    return (hmi_length){.cost = cost < UINT32_MAX / 8 ? (uint32_t)cost : UINT32_MAX / 8,
                        .nesting = a.nesting > b.nesting ? a.nesting : b.nesting,
                        .quotients = quotients < 1000 ? (uint16_t)quotients : 1000};
}

/* What is known of an expression. */
typedef struct hmi_normal_entry {
    hmi_expr e;
    hmi_expr best; /* HMI_NONE: not yet */
    hmi_expr tidy; /* the same in the order of display; HMI_NONE: not yet */
    uint32_t atom; /* UINT32_MAX: is none */
    bool converted;
    const hmi_fraction *fraction; /* NULL when converted: too long */
} hmi_normal_entry;

struct hmi_normal {
    hmi_graph *graph;
    const hm_allocator *allocator;
    hmi_arena arena;
    size_t arena_used;
    HMI_ARRAY(hmi_atom) atoms;
    HMI_ARRAY(hmi_normal_entry) records;
    HMI_ARRAY(uint32_t) record_of; /* by handle, record + 1, 0 = none */
    HMI_ARRAY(hmi_length) length;  /* by handle */
    hmi_walk walk;
    size_t work, most_work;
    bool exceeded;
    hm_status status;
    const hmi_poly *zero, *one;
};

/* ---- session (session.c) ---- */

void *hmi_normal_alloc(hmi_normal *s, size_t size);
/* A new call: its work is counted from 0. False when something failed before. */
bool hmi_normal_begin(hmi_normal *s);
/* True while nothing failed; counts the work. */
bool hmi_normal_go(hmi_normal *s, size_t work);
hmi_normal_entry *hmi_normal_entry_of(hmi_normal *s, hmi_expr e);
/* Forgets that something just tried exceeded a limit, except that of the whole work; what was learnt
 * of expressions on the way is kept. True while nothing failed. */
bool hmi_normal_forgive(hmi_normal *s);

/* ---- length in print (length.c) ---- */

hmi_length hmi_normal_length(hmi_normal *s, hmi_expr e);

/* ---- coefficients (coefficient.c) ---- */

extern const hmi_coefficient hmi_coefficient_one;
hmi_coefficient hmi_coefficient_add(hmi_normal *s, hmi_coefficient a, hmi_coefficient b);
hmi_coefficient hmi_coefficient_mul(hmi_normal *s, hmi_coefficient a, hmi_coefficient b);
hmi_coefficient hmi_coefficient_inverse(hmi_coefficient a);
hmi_coefficient hmi_coefficient_negate(hmi_coefficient a);
/* False where a constant is not an exact short number (pi, 0.1234567890123). */
bool hmi_coefficient_of(const hmi_constant *constant, hmi_coefficient *out);
/* |c| = over/under as it is shown: 9.81, 1/9.81, 3/2. */
void hmi_coefficient_shown(hmi_coefficient c, double *over, double *under);

/* ---- monomials and polynomials (poly.c) ---- */

extern const hmi_monomial hmi_monomial_one;
int hmi_monomial_compare(hmi_monomial a, hmi_monomial b);
int32_t hmi_monomial_power(hmi_monomial m, uint32_t atom);
/* a * b^k; false on failure. */
bool hmi_monomial_mul(hmi_normal *s, hmi_monomial a, hmi_monomial b, int k, hmi_monomial *out);
/* The same monomial with another power of one atom. */
bool hmi_monomial_with(hmi_normal *s, hmi_monomial m, uint32_t atom, int32_t power,
                       hmi_monomial *out);

const hmi_poly *hmi_poly_of_term(hmi_normal *s, hmi_coefficient c, hmi_monomial m);
const hmi_poly *hmi_poly_atom(hmi_normal *s, uint32_t atom, int32_t power);
/* a + c*m*b */
const hmi_poly *hmi_poly_add_scaled(hmi_normal *s, const hmi_poly *a, const hmi_poly *b,
                                    hmi_coefficient c, hmi_monomial m);
const hmi_poly *hmi_poly_add(hmi_normal *s, const hmi_poly *a, const hmi_poly *b);
const hmi_poly *hmi_poly_sub(hmi_normal *s, const hmi_poly *a, const hmi_poly *b);
const hmi_poly *hmi_poly_scale(hmi_normal *s, const hmi_poly *a, hmi_coefficient c, hmi_monomial m);
const hmi_poly *hmi_poly_mul(hmi_normal *s, const hmi_poly *a, const hmi_poly *b);
const hmi_poly *hmi_poly_pow(hmi_normal *s, const hmi_poly *a, uint32_t power);
bool hmi_poly_equal(const hmi_poly *a, const hmi_poly *b);
/* The quotient where b (at least one term) divides a exactly, else NULL. */
const hmi_poly *hmi_poly_divide(hmi_normal *s, const hmi_poly *a, const hmi_poly *b);
/* a = quotient * b + rest, for a primitive b. NULL on failure. */
const hmi_poly *hmi_poly_divide_with_rest(hmi_normal *s, const hmi_poly *a, const hmi_poly *b,
                                          const hmi_poly **rest);
/* Where a monomial content is taken: what all terms share (powers of either sign), or the lowest
 * powers, so that what is left has no negative ones. */
typedef enum hmi_content_kind { HMI_CONTENT_SHARED, HMI_CONTENT_LOWEST } hmi_content_kind;
bool hmi_poly_content(hmi_normal *s, const hmi_poly *a, hmi_content_kind kind, hmi_monomial *out);
/* The positive number that makes the coefficients whole without a common divisor. */
bool hmi_poly_numeric_content(hmi_normal *s, const hmi_poly *a, hmi_coefficient *out);
/* a = c * m * primitive: whole coefficients without common divisor, first one positive, no
 * monomial factor, no negative powers. */
const hmi_poly *hmi_poly_primitive(hmi_normal *s, const hmi_poly *a, hmi_coefficient *c,
                                   hmi_monomial *m);

/* ---- greatest common divisors (gcd.c) ---- */

/* A factor with at least two terms that the coefficients of some atom share; NULL where none is
 * found. Finds (a + b) in a c + a d + b c + b d, not in a^2 - b^2. */
const hmi_poly *hmi_poly_common_factor(hmi_normal *s, const hmi_poly *primitive);

/* Of two primitive polynomials; the constant 1 where the search was too long. */
const hmi_poly *hmi_poly_gcd(hmi_normal *s, const hmi_poly *a, const hmi_poly *b);

/* ---- atoms and identities (identity.c) ---- */

uint32_t hmi_atom_of(hmi_normal *s, hmi_expr e); /* UINT32_MAX on failure */
/* HMI_CONST for a divisor that was not displayed yet. */
hmi_op hmi_atom_op(const hmi_normal *s, uint32_t atom);
/* Another function of the same argument, for sin, cos, sinh, cosh. UINT32_MAX on failure. */
uint32_t hmi_atom_partner(hmi_normal *s, uint32_t atom, hmi_op op);
/* cos^2 -> 1 - sin^2, cosh^2 -> 1 + sinh^2, sqrt(u)^2 -> u, ... until none is left. */
const hmi_poly *hmi_poly_reduce(hmi_normal *s, const hmi_poly *a);
/* The way back: sin^2 and cos^2 where that leaves fewer terms. */
const hmi_poly *hmi_poly_shorten(hmi_normal *s, const hmi_poly *a);

/* ---- fractions (fraction.c) ---- */

const hmi_fraction *hmi_fraction_of(hmi_normal *s, const hmi_poly *numerator);
/* a + c*b */
const hmi_fraction *hmi_fraction_add(hmi_normal *s, const hmi_fraction *a, const hmi_fraction *b,
                                     hmi_coefficient c);
const hmi_fraction *hmi_fraction_mul(hmi_normal *s, const hmi_fraction *a, const hmi_fraction *b);
/* NULL without a failure flag where a is zero. */
const hmi_fraction *hmi_fraction_inverse(hmi_normal *s, const hmi_fraction *a);
const hmi_fraction *hmi_fraction_pow(hmi_normal *s, const hmi_fraction *a, int32_t power);
const hmi_fraction *hmi_fraction_negate(hmi_normal *s, const hmi_fraction *a);
/* Cancels greatest common divisors too; for what is about to be shown. */
const hmi_fraction *hmi_fraction_lowest(hmi_normal *s, const hmi_fraction *a);

/* ---- signs (sign.c) ---- */

/* Are most terms negative or, of as many, the one that is written first? Of a and -a one is. */
bool hmi_poly_is_negative(hmi_normal *s, const hmi_poly *a);
/* The same, except that b - a needs no minus in front. */
bool hmi_poly_reads_negative(hmi_normal *s, const hmi_poly *a);

/* ---- fractions to expressions (display.c, factor.c) ---- */

/* The shortest of the forms of a fraction. */
hmi_expr hmi_fraction_display(hmi_normal *s, const hmi_fraction *a);

/* An expression under construction, or only its cost: e is HMI_NONE in a dry run. */
typedef struct hmi_piece {
    hmi_expr e;
    hmi_length length;
    bool is_sum;
    bool negative; /* the piece stands for -e */
} hmi_piece;

/* coefficient * monomial * inner / divisors; inner NULL for 1. */
hmi_piece hmi_piece_product(hmi_normal *s, hmi_coefficient c, hmi_monomial m,
                            const hmi_piece *inner, hmi_monomial divisors, bool dry);
/* A polynomial: term by term; with common factors of groups of terms pulled out; and with
 * factors that are themselves sums. */
typedef enum hmi_sum_form { HMI_SUM_PLAIN, HMI_SUM_GROUPED, HMI_SUM_SPLIT } hmi_sum_form;
hmi_piece hmi_piece_sum(hmi_normal *s, const hmi_poly *a, hmi_sum_form form, bool dry);

/* ---- addition theorems (angle_sums.c) ---- */

/* cos a cos b + sin a sin b -> cos(a - b) and its kin. */
const hmi_poly *hmi_poly_join_angles(hmi_normal *s, const hmi_poly *a);
/* sin(a + b) -> sin a cos b + cos a sin b, for all sums and whole multiples. */
const hmi_poly *hmi_poly_split_angles(hmi_normal *s, const hmi_poly *a);

/* ---- exponentials (exponentials.c) ---- */

/* exp(a) exp(b)^k -> exp(a + k b) in each term; a itself where that fails. */
const hmi_poly *hmi_poly_join_exponentials(hmi_normal *s, const hmi_poly *a);

/* ---- the best form of an expression (choose.c) ---- */

hmi_expr hmi_normal_best(hmi_normal *s, hmi_expr e, int depth);

/* ---- expressions to fractions (convert.c) ---- */

/* Converts e and all below it. False on a failure of memory; else see the records. */
bool hmi_normal_convert(hmi_normal *s, hmi_expr e);

/* ---- one tree for one formula (normal.c) ---- */

hmi_expr hmi_normal_tidy(hmi_normal *s, hmi_expr e);

#endif
