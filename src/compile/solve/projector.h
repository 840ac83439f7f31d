/* The projection onto some constraints as one tape: from a state and b to
 *     d with  M d = A^T l,  A d = b
 * with M and A at that state, by the compiled solve of schur.h. For drift control (integrate/).
 *
 * b comes as the symbols HMI_SYM_MULTIPLIER, by row of the request. Beside d the natural size of each
 * row's terms comes out, Sum |A_kj x_j| with x the coordinates or the velocities, and the entries of
 * the rows, by row of the request in the order of A's pattern. The answer counts only while `margin` is
 * positive.     Verified: test/unit/integrate/test_projection.c, test_ensemble.c
 */
#ifndef HMI_COMPILE_SOLVE_PROJECTOR_H
#define HMI_COMPILE_SOLVE_PROJECTOR_H

#include "compile/solve/schur.h"
#include "compile/tape/tape.h"

typedef struct hmi_projector_request {
    hmi_graph *graph; /* grows: a copy of the one that owns the expressions */
    hmi_schur_input matrices;
    hmi_symbol_kind x; /* HMI_SYM_COORD or HMI_SYM_VELOCITY */
} hmi_projector_request;

/* d is at 0. */
typedef struct hmi_projector_tape {
    hmi_tape tape;
    size_t sizes, margin, rows;
} hmi_projector_tape;

/* HM_ERR_USAGE: M has no positive pivots; HM_ERR_LIMIT: too large. Release also after a failure. */
hm_status hmi_projector_compile(hmi_projector_tape *projector,
                                const hmi_projector_request *request);
void hmi_projector_release(hmi_projector_tape *projector);

#endif
