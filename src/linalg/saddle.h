/* The saddle-point problem of constrained motion where it is well conditioned:
 *
 *     M a = r + A^T lambda,   A a = b
 *
 * It is solved once in every evaluation of the accelerations (dynamics/formulations/accelerate.c), and
 * for each order of a power series with the same M and A (integrate/taylor). Both use this solver.
 *
 * Factored (saddle.c). One reciprocal per pivot, no square roots, updates of contiguous rows:
 *
 *     M = L E L^T,   W = L^-1 A^T,   G = W^T E^-1 W,
 *     G lambda = b - W^T E^-1 L^-1 r,   a = L^-T E^-1 (L^-1 r + W lambda)
 *
 * Inverted (saddle_inverse.c). For a small system and a dozen right sides the inverse of
 * [M -A^T; A 0] is less work: one product per right side.
 *
 * When it is trusted. Each pivot is compared with the diagonal element that it is the remainder of; the
 * quotient does not depend on units. Where one is below HMI_WELL_CONDITIONED the factorisation is
 * refused, and the caller uses a rank-revealing solve.
 *
 * The shift. Where M is not positive, M + A^T V A is tried in its place (V > 0 diagonal). If that is
 * positive, then M is positive on the null space of A and the accelerations are those of M, since
 * A a = b makes the added force A^T V b - A^T V A a vanish [UW (2.7) by a shorter way]. Models with
 * quaternions need it. Inertias of the shifted matrix may be of very different size (a quaternion near
 * 1, 0, 0, 0); then every pivot is fine in its own unit and yet a is lost, so the caller asks
 * hmi_saddle_accepts, which looks at A a - b.
 *
 * Rows that are left out count as rows of zeros with multiplier 0.
 * Verified: test/unit/linalg/test_saddle.c, test/unit/dynamics/test_accelerate.c
 */
#ifndef HMI_LINALG_SADDLE_H
#define HMI_LINALG_SADDLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hmi_saddle {
    int n, m;
    const double *A;      /* m x n, the caller's */
    const bool *left_out; /* m flags, the caller's */
    bool diagonal;        /* the caller knows that M has no entry off the diagonal */
    bool shifted;         /* M + A^T V A stands in for M */

    double *L, *inverse;      /* n x n, n: 1/E */
    double *W;                /* n x m: L^-1 A^T */
    double *G, *gram_inverse; /* m x m: factored, m */
    double *LT, *GT;          /* the transposes, where there are many right sides; else NULL */
    double *weight;           /* m: V */
    double *z, *column;       /* n, max(n, m): scratch */

    int padded;          /* n + m in blocks of four; 0: the inverse is not used */
    double *K;           /* n + m columns of the inverse, `padded` numbers each */
    double *diagonal_of; /* n + m: the diagonal elements that pivots are compared with */
    bool inverted;       /* K holds the inverse of the last matrices */
    bool fused;          /* products with K use fused multiply-add: the processor must have it */
} hmi_saddle;

/* Up to this n + m there is room for the inverse. */
enum { HMI_SADDLE_MOST_INVERTED = 16 };

/* How many doubles a solver needs. `many` right sides: transposes of the factors serve them, and the
 * inverse where the system is small enough. */
size_t hmi_saddle_doubles(int n, int m, bool many);
/* Places the solver in that memory. The caller then sets A, left_out and, if known, diagonal. */
void hmi_saddle_place(hmi_saddle *s, int n, int m, bool many, double *memory);

/* Factors M and s->A. False where a pivot is small. */
bool hmi_saddle_factor(hmi_saddle *s, const double *M);
/* a and lambda for one right side (r, b), after hmi_saddle_factor. */
void hmi_saddle_solve(const hmi_saddle *s, const double *r, const double *b, double *a,
                      double *lambda);
/* Is A a = b met to rounding, and is everything finite? M as factored or inverted. */
bool hmi_saddle_accepts(const hmi_saddle *s, const double *M, const double *b, const double *a,
                        const double *lambda);

/* ---- saddle_inverse.c ---- */

/* The same for K in place of factors; needs s->padded. */
bool hmi_saddle_invert(hmi_saddle *s, const double *M);
/* answer := K right; right = (r, b), answer = (a, lambda) with room for `padded` numbers. */
void hmi_saddle_multiply(const hmi_saddle *s, const double *right, double *answer);

/* ---- between the two files ---- */

/* s->weight := V, such that a row weighs as much as the inertias it holds. */
void hmi_saddle_weigh_rows(hmi_saddle *s, const double *M);
/* |row i| |a| in the metric of the inverted mass: see natural_size in saddle.c. */
double hmi_saddle_inverse_size(const hmi_saddle *s, int i, const double *M, const double *a);

#endif
