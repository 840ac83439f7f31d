/* A derivation in progress, and what its steps share (derivation.c). */
#ifndef HMI_DERIVE_DERIVE_INTERNAL_H
#define HMI_DERIVE_DERIVE_INTERNAL_H

#include "derive/derived.h"

typedef struct hmi_derivation {
    hmi_derived *eq;
    hmi_tangent motion; /* d/dt along the motion with q'' = 0 */
    hmi_adjoint adjoint;
    hmi_expr kinetic;     /* kinetic energy, constant `mass` entries included */
    hmi_expr *servo_free; /* right sides of servos without their gains */
    size_t entries;       /* of M and A so far */
    bool variable_mass;   /* some `mass` entries are not constant */
} hmi_derivation;

/* Entries of M and A written out: a dense M of some 4000 coordinates. */
enum { HMI_MOST_ENTRIES = 1 << 24 };

/* Counts the entries that the last sweep gave; HM_ERR_LIMIT when there are too many in all. */
hm_status hmi_count_entries(hmi_derivation *d);
hm_status hmi_expr_matrix_init(hmi_derivation *d, hmi_expr_matrix *matrix, size_t rows,
                               size_t columns);
hm_status hmi_expr_matrix_push(hmi_derivation *d, hmi_expr_matrix *matrix, uint32_t column,
                               hmi_expr value);
hmi_expr *hmi_new_vector(hmi_derivation *d, size_t count);
hm_status hmi_gradient_into(hmi_derivation *d, hmi_expr e, hmi_symbol_kind by, hmi_expr *vector);
/* d/dt at q'' = 0; HMI_NONE on failure (see the graph's status). */
hmi_expr hmi_along_motion(hmi_derivation *d, hmi_expr e);

hm_status hmi_add_variable_mass(hmi_derivation *d);
hm_status hmi_derive_constraints(hmi_derivation *d);
hm_status hmi_derive_energy(hmi_derivation *d);
/* After all else: quantities in outputs, events and drawings (quantities.c). */
hm_status hmi_derive_quantities(hmi_derivation *d);
/* Warns where a dissipation function damps nothing. */
hm_status hmi_check_dissipation(hmi_derivation *d);
/* Removes entries of M, A and b that are identically zero (zeros.c). */
hm_status hmi_drop_zeros(hmi_derivation *d);

#endif
