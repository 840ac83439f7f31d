/* Linear algebra of the implicit methods: J = df/dy and solves with sigma I - J.
 *
 * y = (q, v, z) and the rows of q' = v are [0 I 0], so that q is eliminated first,
 *     dq = (r_q + dv)/sigma,
 *     (sigma I - J_r - J_q/sigma) d(v, z) = r_(v,z) + J_q r_q/sigma,
 * and n + states unknowns are left of 2 n + states. For degenerate Lagrangians (integrate/ode/degenerate.h), where q'
 * is not v, J is full and made by differences; so is that of motions with branches held or sliding
 * (switch.h), which differ from the equations as written.
 *
 * Nothing here allocates: hmi_newton_init takes its memory from a block that the caller sized by
 * hmi_newton_size.
 */
#ifndef HMI_INTEGRATE_IMPLICIT_NEWTON_H
#define HMI_INTEGRATE_IMPLICIT_NEWTON_H

#include "integrate/ode/ode.h"

typedef struct hmi_newton {
    hmi_ode *ode;
    int size;                            /* of y */
    int kinematic;                       /* leading rows that are eliminated: n, or 0 */
    int rows;                            /* size - kinematic */
    int width;                           /* of a row of J: the last column is d/dt */
    double *J;                           /* rows x width */
    double *real, sigma;                 /* LU of sigma I - J, reduced */
    double *re, *im, sigma_re, sigma_im; /* the same for a complex sigma */
    int *real_pivots, *complex_pivots;
    double *scratch; /* 3 size */
} hmi_newton;

/* Bytes of memory, a multiple of sizeof(double). */
size_t hmi_newton_size(const hmi_ode *ode, bool with_complex);
/* memory: aligned for doubles. Compiles the Jacobian where that has not been done. */
HM_MUST_CHECK hm_status hmi_newton_init(hmi_newton *newton, hmi_ode *ode, bool with_complex,
                                        void *memory);

/* J at (t, y). */
HM_MUST_CHECK hm_status hmi_newton_jacobian(hmi_newton *newton, double t, const double *y);
/* false: singular. */
HM_MUST_CHECK bool hmi_newton_factor(hmi_newton *newton, double sigma);
/* x := (sigma I - J)^-1 x */
void hmi_newton_solve(hmi_newton *newton, double *x);
HM_MUST_CHECK bool hmi_newton_factor_complex(hmi_newton *newton, double re, double im);
void hmi_newton_solve_complex(hmi_newton *newton, double *re, double *im);

/* newton_complex.c: P (re + i im) = L U with partial pivoting, row-major n x n. */
HM_MUST_CHECK bool hmi_complex_lu(int n, double *re, double *im, int *pivots);
void hmi_complex_lu_solve(int n, const double *re, const double *im, const int *pivots, double *x,
                          double *y);

#endif
