/* The motion as one tape: from t, q, q', z and inputs to q'', z', powers and multipliers, the solve
 * included (schur.h).
 *
 * For systems without servos whose forces do not use reactions; C(q, q', t) is allowed:
 *     M x = Q + C + A^T lambda,  A x = b,   lambda = lambda_i + lambda_C
 * with lambda_i of the problem without C and lambda_C of (C, b = 0). Powers besides those of given
 * forces: ideal lambda_i.(A q'), nonideal C.q' + lambda_C.(A q').       (architecture.md)
 *
 * The answer counts only while the output `margin` is positive; the margin is NaN where q'', z' or a
 * power is not finite. The caller solves in another way where it is not positive. Systems whose solve
 * takes more than HMI_MOST_MOTION operations have no such tape: loops over dense arrays are faster then.
 * Verified: test/unit/dynamics/test_motion.c
 */
#ifndef HMI_COMPILE_SOLVE_MOTION_H
#define HMI_COMPILE_SOLVE_MOTION_H

#include "compile/solve/schur.h"
#include "compile/tape/tape.h"

enum { HMI_MOST_MOTION = 40000 };
/* Along a tree the operations grow like the coordinates, and nothing else is as fast: only memory for
 * the code limits them. */
enum { HMI_MOST_TREE = 1 << 20 };

typedef struct hmi_motion_request {
    hmi_graph *graph; /* grows: a copy of the one that owns the expressions */
    hmi_schur_input matrices;
    const hmi_expr *Q, *b, *C; /* C NULL: ideal constraints */
    const hmi_expr *rates;     /* z' */
    size_t rate_count;
    const hmi_expr *powers; /* of given forces */
    size_t power_count;
    bool ideal_power, nonideal_power; /* further powers, after the given ones */
} hmi_motion_request;

/* The same question along the tree of bodies, on a graph of its own. */
typedef struct hmi_motion_tree {
    hmi_graph *graph; /* grows, too */
    const hmi_tree_form *form;
    bool alone; /* the way by M does not apply */
} hmi_motion_tree;

/* Where the outputs are; q'', z', powers follow each other. */
typedef struct hmi_motion_layout {
    size_t rates, powers, margin, lambda; /* q'' is at 0; lambda: total, of the rows asked for */
    size_t power_count, count;
} hmi_motion_layout;

typedef struct hmi_motion_tape {
    hmi_tape tape;
    hmi_motion_layout at;
    bool by_tree; /* M was not formed */
} hmi_motion_tape;

/* The outputs as expressions of the request's graph, in the arena. Statuses as below. */
hm_status hmi_motion_write(const hmi_motion_request *request, hmi_arena *arena,
                           hmi_motion_layout *layout, hmi_expr **outputs);

/* HM_ERR_USAGE: M has no positive pivots; HM_ERR_LIMIT: too large. Release also after a failure. */
hm_status hmi_motion_compile(hmi_motion_tape *motion, const hmi_motion_request *request);
/* The same by whichever way takes fewer operations; tree NULL: there is but one. */
hm_status hmi_motion_compile_best(hmi_motion_tape *motion, const hmi_motion_request *request,
                                  const hmi_motion_tree *tree);
void hmi_motion_release(hmi_motion_tape *motion);

#endif
