/* The stages of an explicit Runge-Kutta step as machine code, on four lanes.
 *
 *     Y_i = y + h sum_j a_ij K_j,   K_i = f(t + c_i h, Y_i)
 *
 * A stage is the motion tape (compile/solve/motion.h) behind instructions that compute its arguments. Sums
 * stay in registers and read no memory but K. Each sum rounds as integrate/rk/rk.c does, first the
 * products and then the sums from left to right, so that a lane gets the bits of a scalar run.
 *
 * What comes after them is compiled too, without the motion: the new state y + h sum_j b_j K_j and the
 * sums of the error estimates.
 *
 * All stages share one work vector: that of the motion tape, then
 *     h | t | c, a, b, e | scratch | y | K_0 | K_1 | .. | K_stages | end
 * where a row K_i is y' (width), the margin, and room for Y_i, which the last stage leaves there; `end`
 * is the new state and the estimates, width each.
 * For small tapes, since there is one copy of the motion for each stage.
 * Verified: test/unit/integrate/test_ensemble.c
 */
#ifndef HMI_COMPILE_JIT_RK_STAGES_H
#define HMI_COMPILE_JIT_RK_STAGES_H

#include "compile/tape/tape.h"

enum { HMI_MOST_STAGES = 16 };

typedef struct hmi_stages_request {
    const hmi_tape *motion; /* lives longer */
    size_t n, size, width;  /* coordinates, components of a state, with works */
    size_t margin;          /* output of the motion */
    int stages;
    const double (*a)[HMI_MOST_STAGES], *c, *b; /* stages rows; stages */
    const double (*e)[HMI_MOST_STAGES]; /* `estimates` rows of sums of K; of no later stage */
    int estimates;
} hmi_stages_request;

typedef struct hmi_stages {
    const hmi_tape *motion;
    size_t n, width, margin; /* as requested */
    int count, estimates;
    hmi_tape_function *run[HMI_MOST_STAGES + 1]; /* from 1 on; run[count]: what comes after them */
    hmi_machine_code code;
    size_t h, t, y, K, stride, end; /* slots; from a row of K to the next */
    size_t numbers, number_count;   /* c, a, b, e */
    double *number;
    size_t work_size; /* doubles, of all lanes */
} hmi_stages;

/* run[1] is NULL where there is no machine code, or it would be large. Release also after a failure. */
hm_status hmi_stages_compile(hmi_stages *stages, const hmi_stages_request *request);
void hmi_stages_release(hmi_stages *stages);
/* Puts c, a, b, e in place; once. */
void hmi_stages_fill(const hmi_stages *stages, double *work);
/* After a change of the parameters of a lane; K then has what does not depend on the state. */
void hmi_stages_prepare(const hmi_stages *stages, const hmi_tape_values *values, size_t lane,
                        double *work);

#endif
