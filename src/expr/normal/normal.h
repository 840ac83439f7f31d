/* Display normal form: an expression as a person would write it after collecting terms.
 *
 *     expression --convert--> numerator / product of divisors --display--> short expression
 *
 * The numerator is a sum of monomials with exact coefficients over atoms: symbols, functions of
 * normalised arguments, and whatever is not polynomial. sin^2 + cos^2 = 1, cosh^2 - sinh^2 = 1 and
 * sqrt(u)^2 = u are used; common factors of numerator and divisors cancel. Of the forms found
 * (as given, partly collected, expanded, factored) the one with the fewest printed symbols wins.
 *
 * What "equal" means here: the normal form has the value of the original wherever the original has
 * one. Singularities may be removed (x*y/x becomes y, sqrt(x)^2 becomes x), never introduced.
 *
 * Invariants
 *   1. Deterministic: the result depends on the graph and the calls made before only.
 *   2. Bounded: past limits on terms, work and nodes an expression is returned as it is.
 *   3. Failures of memory are sticky, as in graph.h: functions return HMI_NONE and
 *      hmi_normal_status says why.
 *   4. Nothing recurses deeper than a constant, whatever the depth of an expression.
 * Order of terms and factors is not in the DAG (a*b and b*a are one node): the printers sort
 * (factor_order.c). Verified: test/unit/expr/test_normal.c
 */
#ifndef HMI_EXPR_NORMAL_NORMAL_H
#define HMI_EXPR_NORMAL_NORMAL_H

#include "expr/graph/graph.h"

typedef struct hmi_normal hmi_normal;

/* Works on one graph, which must outlive it. NULL when there is no memory. */
hmi_normal *hmi_normal_create(hmi_graph *graph);
void hmi_normal_destroy(hmi_normal *normal);
/* A tenth of the work for each expression: what takes longer is left as it is. */
void hmi_normal_hurry(hmi_normal *normal);
/* HM_OK or HM_ERR_NOMEM, the graph's own failures included. */
hm_status hmi_normal_status(const hmi_normal *normal);

/* The normal form; memoised. HMI_NONE for HMI_NONE and when there is no memory. */
hmi_expr hmi_normal_form(hmi_normal *normal, hmi_expr e);

/* From now on symbol^2 = square, a relation that holds where the expressions are used (on a constraint, say);
 * whole squares of the symbol are replaced wherever that makes a form shorter. For a session that has seen no
 * expression yet. False where the square is no polynomial, or there is no memory (status). */
bool hmi_normal_relate(hmi_normal *normal, hmi_expr symbol, hmi_expr square);

/* How long an expression is when printed: symbols, operators and parentheses, shared parts counted
 * each time. Saturates. */
uint32_t hmi_normal_cost(hmi_normal *normal, hmi_expr e);

/* ---- closed forms of small linear systems (cramer.c) ---- */

enum { HMI_SYMBOLIC_MOST = 8 };

/* X with matrix X = rhs; matrix is n x n, rhs and out are n x columns, all row-major. The entries
 * of out are normal forms, each a fraction in lowest terms. det (may be NULL) gets the normal form
 * of the determinant. n up to HMI_SYMBOLIC_MOST.
 *   HM_ERR_NUMERIC  the determinant is identically zero; out is untouched, *det is 0
 *   HM_ERR_LIMIT    too long to be worth reading; nothing is written
 *   HM_ERR_NOMEM    */
hm_status hmi_symbolic_solve(hmi_normal *normal, size_t n, const hmi_expr *matrix, size_t columns,
                             const hmi_expr *rhs, hmi_expr *out, hmi_expr *det);

/* ---- few products (few_products.c) ---- */

/* Factors whose product is there anyway. */
typedef struct hmi_factor_pair {
    hmi_expr a, b;
} hmi_factor_pair;

/* Rewrites expressions, all together, such that they have few products of things that change in time:
 * for series, where sums and scalars cost little and each product is a convolution. Left as they are where
 * that does not help or is too much work. */
hm_status hmi_normal_few_products(hmi_normal *normal, const hmi_factor_pair *pairs,
                                  size_t pair_count, hmi_expr *list, size_t count);

/* ---- order of display (factor_order.c) ---- */

/* A factor e^power of a term, power != 0. */
typedef struct hmi_display_factor {
    hmi_expr e;
    int32_t power;
} hmi_display_factor;

/* Into the order in which factors of one product are written: numbers, parameters, time, coordinates,
 * velocities, accelerations, forces, brackets, functions; within a kind by index. Divisors
 * (power < 0) come last. */
void hmi_display_sort_factors(const hmi_graph *graph, hmi_display_factor *factors, size_t count);
/* < 0 when term a is written before term b, both sorted: by degree in what is not a parameter,
 * then factor by factor. Numeric factors are left out by the caller. */
int hmi_display_compare_terms(const hmi_graph *graph, const hmi_display_factor *a, size_t a_count,
                              const hmi_display_factor *b, size_t b_count);

#endif
