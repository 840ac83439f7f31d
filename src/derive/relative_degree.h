/* Servos that their actuators reach only through other coordinates (relative_degree.c). */
#ifndef HMI_DERIVE_RELATIVE_DEGREE_H
#define HMI_DERIVE_RELATIVE_DEGREE_H

#include "derive/derive_internal.h"

/* Replaces rows of servos by derivatives in which the actuators appear, and says their degrees. `free`
 * are the right sides without gains. After hmi_drop_zeros. */
hm_status hmi_raise_servos(hmi_derivation *d, const hmi_expr *free);

#endif
