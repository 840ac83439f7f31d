/* The invariants of the derived equations (derived.h), executed: see base/verify.h.
 * Takes linear time and no memory. Verified: test/unit/derive/test_verify.c
 */
#ifndef HMI_DERIVE_VERIFY_H
#define HMI_DERIVE_VERIFY_H

#include "base/verify.h"
#include "derive/derived.h"

const char *hmi_derived_verify(const hmi_derived *eq, hmi_violation *violation);

#endif
