/* The invariants of a model (model.h), executed: see base/verify.h.
 * Takes linear time and no memory. Verified: test/unit/model/test_verify.c
 */
#ifndef HMI_MODEL_VERIFY_H
#define HMI_MODEL_VERIFY_H

#include "base/verify.h"
#include "expr/graph/verify.h"
#include "model/model.h"

const char *hmi_model_verify(const hm_model *model, hmi_violation *violation);
/* How many symbols of each kind expressions of the model may have. */
hmi_symbol_counts hmi_model_symbol_counts(const hm_model *model);

#endif
