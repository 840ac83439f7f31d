/* Motion without multipliers, where constraints give velocities explicitly.
 *
 * Rows on velocities that are linear in them, and of which each can be solved for a velocity of its own with
 * a number as its coefficient (a rolling disc: x' = r cos(yaw) spin'), make all velocities functions
 *     v = v(q, u, t)
 * of those that are left, u. With B = dv/du virtual displacements are B du, constraint forces do no work on
 * them, and  B^T (p' - F) = 0  with F = dL/dq + forces says                  [Voronets 1901; Maggi 1896]
 *     P' = B^T F + B'^T p,      P = B^T p.
 * These are fewer equations than M q'' = Q + A^T lambda, A q'' = b, and with like terms collected
 * (expr/normal/normal.h: B often brings sin^2 + cos^2) shorter ones. Such rows are independent at every state.
 * Verified: test/unit/derive/test_voronets.c
 */
#ifndef HMI_DERIVE_VORONETS_H
#define HMI_DERIVE_VORONETS_H

#include "derive/derived.h"

/* Coordinates, at most: collecting terms of more takes long. */
enum { HMI_MOST_VORONETS = 24 };

typedef struct hmi_voronets {
    size_t n, coordinates;
    uint32_t *independent; /* n: the coordinates of u, ascending */
    hmi_expr *velocity;    /* coordinates: v(q, u, t); u are symbols of velocities themselves */
    hmi_expr *momentum;    /* n: P */
    hmi_expr *force;       /* n: P' */
} hmi_voronets;

/* Is it such a model? Its rows are then independent at every state. */
bool hmi_rows_are_explicit(const hmi_derived *d);
/* graph: a copy of the one that owns the equations; it grows. HM_ERR_USAGE: not such a model, or one whose
 * equations are long. */
hm_status hmi_voronets_find(hmi_voronets *x, const hmi_derived *d, hmi_graph *graph,
                            hmi_arena *arena);

/* Expressions of the model in q, u, t. */
hm_status hmi_voronets_express(const hmi_voronets *x, hmi_graph *graph, hmi_expr *list,
                               size_t count);
/* out[n] := de/du of an expression in q, u, t. */
hm_status hmi_voronets_gradient(const hmi_voronets *x, hmi_graph *graph, hmi_adjoint *adjoint,
                                hmi_expr e, hmi_expr *out);
/* out[k] := d/dt of list[k](q, u, z, t), u held; rates: z'. */
hm_status hmi_voronets_along_motion(const hmi_voronets *x, hmi_graph *graph, const hmi_expr *rates,
                                    const hmi_expr *list, size_t count, hmi_expr *out);

#endif
