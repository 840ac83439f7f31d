/* The rate of the total energy in ball arithmetic: what is too small for the audit in double precision. */
#ifndef HMI_ANALYSE_ENERGY_EXACT_RATE_H
#define HMI_ANALYSE_ENERGY_EXACT_RATE_H

#include "dynamics/sim/sim.h"

#include <hamel/audit.h>

/* The sim stands at the consistent initial state. energy->rate and the shares of powers that are proved to
 * be nonzero become positive where they are 0; energy->bits: to how many bits all rates were zero, 0 where
 * that is not known. */
HM_MUST_CHECK hm_status hmi_energy_exact_rate(const hm_sim *sim, hm_energy *energy);

#endif
