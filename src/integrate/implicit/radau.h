/* What a Radau step keeps for the next: step sizes, factors, stages, the collocation polynomial. */
#ifndef HMI_INTEGRATE_IMPLICIT_RADAU_H
#define HMI_INTEGRATE_IMPLICIT_RADAU_H

#include "integrate/ode/method.h"
#include "integrate/implicit/newton.h"

typedef struct hmi_radau {
    hmi_newton newton;
    void *newton_memory;
    double rtol, atol; /* transformed */
    double newton_tolerance;
    double h;          /* of the factorisation; 0: none */
    double h_proposed; /* 0: none yet */
    double h_failed;   /* Newton did not converge in a step that long, lately */
    double h_accepted, error_accepted;
    double h_polynomial, t_end;
    double contraction; /* theta of Newton's iteration */
    double convergence; /* theta/(1 - theta) */
    int iterations, most_iterations;
    bool given; /* every step is s->step */
    bool first, rejected, has_polynomial;
    bool has_jacobian, fresh_jacobian;    /* fresh: at the present state */
    double *z[3], *w[3], *g[3], *poly[3]; /* stages, transformed stages, f there; dense output */
    double *scale, *end;                  /* end: y of the end of the last step */
} hmi_radau;

#endif
