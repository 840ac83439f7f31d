/* What actuators reach of the rows of servos, generically: the numbers behind relative_degree.c.
 *
 * Rows A_i q'' and forces on actuated coordinates meet in N, the answer of the passive system to forces
 * (M^-1 projected on A q'' = 0). In the inner product N, the part of a row that lies in the span of the
 * actuators is what they reach; rows whose reached parts are independent can be enforced together.
 */
#ifndef HMI_DERIVE_SERVO_REACH_H
#define HMI_DERIVE_SERVO_REACH_H

#include "base/random.h"
#include "derive/derive_internal.h"

/* The initial state as written, and points near it with other parameters: what holds at all of the
 * latter holds identically. */
enum { HMI_REACH_POINTS = 3 };
/* Coordinates and passive rows together; larger models are not looked at. */
enum { HMI_REACH_MOST = 64 };

typedef struct hmi_reach {
    size_t n, m, rows, columns;
    uint32_t *coordinate; /* of a column: the actuated coordinates of all servos, ascending */
    hmi_random random[HMI_REACH_POINTS];
    bool usable[HMI_REACH_POINTS];  /* everything is finite and the passive system regular there */
    double *part[HMI_REACH_POINTS]; /* rows x columns: reached parts of unit rows, in an orthonormal
                                       basis of the actuators' span */
    double *base[HMI_REACH_POINTS]; /* of the rows chosen so far */
} hmi_reach;

hm_status hmi_reach_create(hmi_derivation *d, hmi_reach *reach);

/* Values of expressions at a point. */
hm_status hmi_reach_values(hmi_derivation *d, const hmi_reach *reach, int point,
                           const hmi_expr *list, size_t count, double *values);

/* Evaluates the servo rows as they are now. HM_ERR_UNDETERMINED: at no point near the initial state
 * is the passive system regular. */
hm_status hmi_reach_update(hmi_derivation *d, hmi_reach *reach);

/* Marks rows of which the actuators enforce all at once; those marked already come first, then those
 * that are reached best at the initial state. Returns how many are marked. */
size_t hmi_reach_choose(const hmi_reach *reach, bool *chosen);

/* Columns (one for each chosen row) on which the chosen rows are regular, best at the initial state. */
bool hmi_reach_columns(hmi_derivation *d, const hmi_reach *reach, const bool *chosen,
                       const hmi_expr *entries, size_t *column);

#endif
