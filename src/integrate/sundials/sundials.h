/* What CVODE and IDA share: vectors, a dense linear solver, and dense output.
 * The memory is SUNDIALS' own (malloc), given back by hmi_sundials_release. */
#ifndef HMI_INTEGRATE_SUNDIALS_SUNDIALS_H
#define HMI_INTEGRATE_SUNDIALS_SUNDIALS_H

#include "integrate/ode/method.h"

#ifdef HAMEL_SUNDIALS

#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>

enum { HMI_SUNDIALS_VECTORS = 4 };

/* CVodeGetDky and IDAGetDky: a derivative of the polynomial of the formula. 0: done. */
typedef int (*hmi_sundials_output)(void *solver, realtype t, int order, N_Vector to);

typedef struct hmi_sundials {
    SUNContext context;
    void *solver; /* made and freed by the method */
    hmi_sundials_output output;
    N_Vector vector[HMI_SUNDIALS_VECTORS]; /* [0]: the unknowns, of which the first are y */
    N_Vector dense;
    SUNMatrix J;
    SUNLinearSolver linear;
    double t_begin, t_end; /* of the last step */
    double *missing;       /* size of y: what the polynomial misses at t_begin */
} hmi_sundials;

/* With this many vectors of this size. false: no memory, and hmi_sundials_release is due. */
bool hmi_sundials_create(hmi_sundials *c, size_t size, int vectors);
/* After the solver was freed; everything is zero then. */
void hmi_sundials_release(hmi_sundials *c);
/* Messages of SUNDIALS go nowhere: the status says it. */
void hmi_sundials_silent(int code, const char *module, const char *function, char *message,
                         void *user);
/* The solver's step to t becomes the stepper's. */
void hmi_sundials_accept(hmi_sundials *c, hmi_stepper *s, double t);
void hmi_sundials_interpolate(const hmi_sundials *c, const hmi_stepper *s, double t, double *y);

#endif
#endif
