/* The dense output of a step as polynomials, and bounds of them over pieces of the step.
 *
 *     y_i(t + s h) = sum_k c_ik (s - origin)^k,   0 <= s <= 1
 *
 * Series give their own coefficients (origin 0); the dense output of any other method is a polynomial
 * of known degree, which is found again from its values at Chebyshev points (origin 1/2).
 *
 * A piece [a, b] has the centre m and the radius r. With d_k the coefficients about m and x = s - m,
 *
 *     y = d_0 + d_1 x + d_2 x^2 + d_3 x^3 + e x^4,   |x| <= r,  |e| <= sum_k binomial(k, 4) |c_k| R^(k-4),
 *
 * R the largest |s - origin| of the step: bounded term by term, even powers on one side only. The
 * bound of e is found once for a path, d_0 .. d_3 by Horner's rule for each piece. About the origin
 * itself all terms are at hand, and none is lumped into e. The width beyond the true range shrinks
 * with the square of the radius.
 * Verified: test/unit/integrate/test_path.c
 */
#ifndef HMI_INTEGRATE_EVENTS_PATH_H
#define HMI_INTEGRATE_EVENTS_PATH_H

#include "compile/tape/interval.h"

#include <stddef.h>

enum { HMI_PATH_MOST_DEGREE = 63 };

/* Of one component over the whole step; hmi_path_measure finds them. */
typedef struct hmi_path_bounds {
    double
        noise; /* rounding of the sums here, and of the dense output that the polynomial stands for */
    double fourth; /* |e| above */
    double rest;   /* what terms of a high power can amount to, see path.c */
} hmi_path_bounds;

typedef struct hmi_path {
    double t, h;             /* start and length of the step, */
    double end;              /* and its end, exactly */
    double origin;           /* of the powers */
    int degree;              /* at most HMI_PATH_MOST_DEGREE */
    double *coefficient;     /* of component i: coefficient[i (degree + 1) + k] */
    hmi_path_bounds *bounds; /* by component */
} hmi_path;

/* Chebyshev points of the second kind: s_j for j = 0 .. degree, from 0 to 1. */
double hmi_path_place(int degree, int j);
/* The coefficients (origin 1/2) of the polynomial with these values there; their number is
 * degree + 1, and degree at most 16. */
void hmi_path_fit(int degree, const double *value, double *coefficient);
/* How far the polynomial may be from a smooth function with these values: by the decay of its last
 * Chebyshev coefficients. */
double hmi_path_tail(int degree, const double *value);

/* path->bounds of the first `components`; before the first hmi_path_enclose. */
void hmi_path_measure(const hmi_path *path, size_t components);
/* Bounds of component i and of its derivative by s over the piece [a, b] of 0 .. 1. */
hmi_enclosure hmi_path_enclose(const hmi_path *path, size_t component, double a, double b);
/* Its value at s. */
double hmi_path_value(const hmi_path *path, size_t component, double s);

#endif
